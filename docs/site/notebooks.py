"""A notebook as Markdown, with the outputs that it was saved with; nothing is run."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

#: Pictures, best first.
_PICTURES = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def page(text: str, stem: str) -> tuple[str, dict[str, bytes]]:
    """The Markdown of a notebook (format 4), and its pictures by names that begin with `stem`."""
    notebook = json.loads(text)
    if notebook.get("nbformat") != 4:
        raise ValueError(f"{stem}: format {notebook.get('nbformat')!r} of notebooks: 4 is allowed")
    language = notebook["metadata"].get("language_info", {}).get("name", "python")
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(_fenced(language, source))
            for output in cell["outputs"]:
                parts += _output(output, stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


def _output(output: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> list[str]:
    kind = output["output_type"]
    if kind == "stream":
        # What goes to stderr is progress and complaints of a terminal.
        return [_fenced("text", "".join(output["text"]))] if output["name"] == "stdout" else []
    if kind == "error":
        return [_fenced("text", "\n".join(output["traceback"]))]
    data = {mime: "".join(value) for mime, value in output["data"].items() if isinstance(value, (str, list))}
    for mime, ending in _PICTURES.items():
        if mime in data:
            name = f"{stem}-{len(pictures) + 1}.{ending}"
            content = data[mime]
            pictures[name] = content.encode() if ending == "svg" else base64.b64decode(content)
            return [f"![Output]({name})"]
    if "text/html" in data:
        # A table with its own style sheet; the site has one. Blank lines would end the block.
        html = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
        html = re.sub(r"<table[^>]*>", "<table>", html)
        return ["\n".join(line for line in html.splitlines() if line.strip())]
    if "text/markdown" in data:
        return [data["text/markdown"]]
    return [_fenced("text", data["text/plain"])] if "text/plain" in data else []


def _fenced(language: str, text: str) -> str:
    return f"`````{language}\n{_COLOURS.sub('', text).rstrip()}\n`````"
