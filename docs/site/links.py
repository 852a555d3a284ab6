"""Follows every link of the finished site: pages, pictures, style sheets, scripts and anchors that are within it.

Nothing of it may be fetched from elsewhere; where a reader may go is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class _Found:
    #: Anchors, and addresses with the tags that they stand in.
    anchors: set[str] = field(default_factory=set)
    addresses: list[tuple[str, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = _Found()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.found.anchors.add(value)
            elif name in ("href", "src", "data", "poster"):
                self.found.addresses.append((tag, value))
            elif name == "srcset":
                self.found.addresses += [(tag, one.split()[0]) for one in value.split(",")]


def broken(site: Path) -> list[str]:
    """What leads nowhere, a line each."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    return [complaint for path in pages for complaint in _complaints(site, path, pages)]


def _read(path: Path) -> _Found:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.found


def _complaints(site: Path, path: Path, pages: dict[Path, _Found]) -> Iterator[str]:
    name = path.relative_to(site)
    for tag, address in pages[path].addresses:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            if tag != "a" and parts.scheme != "data":
                yield f"{name}: <{tag}> is fetched from elsewhere: {address}"
            continue
        # The page of what is not found is shown anywhere, so its addresses begin at the top.
        below = site if parts.path.startswith("/") else path.parent
        target = (below / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_relative_to(site) or not target.is_file():
            yield f"{name}: the link to {address} leads nowhere"
        elif parts.fragment and target in pages and not parts.fragment.startswith("__"):
            if unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: the link to {address} has no such anchor"
