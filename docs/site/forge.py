"""Markdown as a forge reads it (CommonMark with tables), for a reader that differs in four places.

A list may follow a paragraph without a blank line. What is in a list's item is indented by the width of its marker, and
not by four. `\\|` in the code of a table's cell is a bar. `<ts 410 ecr 410>` is text, as no attribute begins with a
digit.
"""

from __future__ import annotations

import re

FENCE = re.compile(r"\s*(```+|~~~+)")
_ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])( +)")
_CODE = re.compile(r"(`+[^`]*`+)")


def read(text: str) -> str:
    """The same document for Python-Markdown."""
    lines: list[str] = []
    # How far each list that we are in indents what is in its items.
    offsets: list[int] = []
    fence = ""
    before = ""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if fence:
            lines.append(_moved(line, offsets))
            fence = "" if line.strip() == fence else fence
            continue
        item = _ITEM.match(line)
        if line.strip():
            while offsets and indent < offsets[-1] and (item or not before.strip()):
                offsets.pop()
        if item and not offsets and before.strip() and not _ITEM.match(before):
            if item.group(2) in "-*+1.1)":
                lines.append("")
            else:
                # A sentence that ends with a number, wrapped before it.
                item = None
        opened = FENCE.match(line)
        fence = opened.group(1) if opened else ""
        lines.append(_moved(line if opened else _inline(line), offsets))
        if item:
            offsets.append(item.end())
        before = line
    return "\n".join(lines) + "\n"


def _moved(line: str, offsets: list[int]) -> str:
    """A line of a list's item, indented by four for each list around it."""
    if not offsets or not line.strip():
        return line
    indent = len(line) - len(line.lstrip(" "))
    return " " * (4 * len(offsets) + max(0, indent - offsets[-1])) + line.lstrip(" ")


def _inline(line: str) -> str:
    """Code in cells, and angle brackets outside code."""
    parts = _CODE.split(line)
    table = line.startswith("|")
    for n, part in enumerate(parts):
        if n % 2 == 0:
            parts[n] = re.sub(r"<(?=[a-z]+ [0-9])", "&lt;", part)
        elif table:
            parts[n] = part.replace("\\|", "|")
    return "".join(parts)
