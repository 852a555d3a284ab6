"""The pages of the repository, and what stands for files that are no pages: `sources` of programs and scenarios,
notebooks, and the modules of the Python package."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

import forge
import notebooks
import reference

ROOT = Path(__file__).parents[2]
MAP = "docs/README.md"
NOTEBOOKS = "python/notebooks"
PICTURES = (".png", ".svg")
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_LANGUAGES = {".c": "c", ".h": "c", ".json": "json", ".py": "python", ".rs": "rust", ".sh": "sh", ".toml": "toml"}
_MODULES = "python/ackord/"


@dataclass
class Pages:
    """Every page as Markdown, by its path, which is that of the repository where there is one."""

    texts: dict[str, str] = field(default_factory=dict)
    #: Files that are shown as they are, and those that belong to a page.
    pictures: set[str] = field(default_factory=set)
    extra: dict[str, bytes] = field(default_factory=dict)
    #: Pages that only links lead to.
    sources: set[str] = field(default_factory=set)
    #: The pages that stand for files that are no pages.
    stands_for: dict[str, str] = field(default_factory=dict)

    def target(self, page: str, link: str) -> str:
        """The page or file that a link of `page` leads to."""
        path = normpath(str(PurePosixPath(page).parent / link))
        return self.stands_for.get(path, path)

    def title(self, page: str) -> str:
        """The heading of a page."""
        first = re.search(r"^# (.+)$", self.texts[page], re.MULTILINE)
        return first.group(1).replace("`", "") if first else page


@dataclass(frozen=True)
class Repository:
    """What is under version control, and what is new and not ignored."""

    root: Path = ROOT

    @cached_property
    def files(self) -> list[str]:
        """Paths from the root, in order."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout
        return sorted({name for name in listed.split("\0") if name and (self.root / name).is_file()})

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def pages(self) -> Pages:
        """All of them."""
        pages = Pages()
        for name in self.files:
            if name.endswith(".md"):
                pages.texts[name] = forge.read(self.read(name))
            elif name.endswith(PICTURES):
                pages.pictures.add(name)
            elif name.endswith(".ipynb"):
                page = name.removesuffix(".ipynb") + ".md"
                text, pictures = notebooks.page(self.read(name), PurePosixPath(page).stem)
                pages.texts[page] = forge.read(text)
                folder = str(PurePosixPath(page).parent)
                pages.extra |= {f"{folder}/{picture}": data for picture, data in pictures.items()}
                pages.stands_for[name] = page
            elif name.startswith(_MODULES):
                pages.stands_for[name] = reference.INDEX
        pages.texts |= reference.pages(self.root / "python")
        self._show_sources(pages)
        return pages

    def _show_sources(self, pages: Pages) -> None:
        """Pages for the other files and folders that links lead to, and for what those lead to."""
        fresh = list(pages.texts)
        while fresh:
            page = fresh.pop()
            for link in links(pages.texts[page]):
                target = pages.target(page, link)
                if target in pages.texts or target in pages.pictures or target in pages.extra:
                    continue
                text = self._source(target)
                if text is not None:
                    name = f"{target}.md"
                    pages.texts[name] = text
                    pages.sources.add(name)
                    pages.stands_for[target] = name
                    fresh.append(name)

    def _source(self, path: str) -> str | None:
        head = f"---\nsearch:\n  exclude: true\n---\n\n# `{path}`\n\n"
        if path in self.files:
            language = _LANGUAGES.get(PurePosixPath(path).suffix, "text")
            return f"{head}`````{language}\n{self.read(path).rstrip()}\n`````\n"
        folder = PurePosixPath(path)
        inside = [name for name in self.files if PurePosixPath(name).parent == folder]
        if not inside:
            return None
        rows = (f"- [{PurePosixPath(name).name}]({relpath(name, folder.parent)})" for name in inside)
        return head + "\n".join(rows) + "\n"


def links(text: str) -> list[str]:
    """What a page's relative links lead to, without anchors. Not in blocks of code."""
    found = []
    fence = ""
    for line in text.splitlines():
        mark = forge.FENCE.match(line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif mark:
            fence = mark.group(1)
        else:
            found += [link for _, link, _ in LINK.findall(line) if ":" not in link]
    return found
