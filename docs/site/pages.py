"""The pages of the site and their order: hooks of mkdocs.

Pages are the repository's own, where they are, so that links among them hold here and there; `repository.py` finds
them. docs/README.md is their map: its headings are the site's parts, its links the pages, and the README of a folder
stands for the folder. A page that is in neither place fails the build, as does a name of the Python package that the
reference lacks (`reference.py`) and a link of the finished site that leads nowhere (`links.py`).
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any

import links
import reference
import repository
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from repository import LINK, MAP, NOTEBOOKS, Pages, Repository

Entry = str | dict[str, Any]

_pages = Pages()
#: READMEs with pages below them.
_folders: set[str] = set()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds every page and picture, and says in which order they are."""
    global _pages
    _pages = Repository().pages()
    _folders.clear()
    for name, text in _pages.texts.items():
        hidden = name in _pages.sources
        inclusion = InclusionLevel.NOT_IN_NAV if hidden else InclusionLevel.INCLUDED
        files.append(File.generated(config, name, content=text, inclusion=inclusion))
    for name in sorted(_pages.pictures):
        files.append(File.generated(config, name, abs_src_path=str(repository.ROOT / name)))
    for name, data in _pages.extra.items():
        files.append(File.generated(config, name, content=data))
    config.nav = navigation(_pages)
    return files


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keeps READMEs in their lists: the theme takes any for the page of its whole part, whose own is below a title."""
    for page in nav.pages:
        if page.is_index and page.file.src_uri not in _folders:
            # Its address is that of an index still, once it is known.
            assert page.file.url and page.file.abs_dest_path
            page.file.name = "page"
        if page.file.src_uri == "README.md":
            nav.homepage = page
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to files that are no pages to the pages that show them."""
    here = page.file.src_uri

    def led(link: re.Match[str]) -> str:
        path = link.group(2)
        target = _pages.target(here, path)
        if target in _pages.stands_for.values() and not path.endswith(".md"):
            path = relpath(target, PurePosixPath(here).parent)
        return f"{link.group(1)}{path}{link.group(3)}"

    return LINK.sub(led, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Says in which language a page is, for readers aloud, hyphens and fonts."""
    if page.file.src_uri.endswith(".ko.md"):
        return output.replace('<html lang="en"', '<html lang="ko"', 1)
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """Looks at what was built."""
    complaints = links.broken(Path(config.site_dir)) + reference.missing(Path(config.site_dir))
    if complaints:
        raise PluginError("\n".join(complaints))


def navigation(pages: Pages) -> list[Entry]:
    """The site's parts, by the map."""
    parts: list[Entry] = []
    listed = listing(pages, MAP)
    for part, entries in listed.items():
        places: list[Entry] = []
        for title, page in entries:
            if page not in pages.texts:
                raise PluginError(f"{MAP}: `{title}` leads to no page: {page}")
            index = PurePosixPath(page).name == "README.md" and "/" in page
            below = folder(pages, page, listed) if index else [page]
            places.append({title: below if len(below) > 1 else page})
        if not parts:
            places.insert(1, MAP)
        if reference.INDEX in (page for _, page in entries):
            places[1:1] = _notebooks(pages, listed)
        first = next(iter(places[0].values())) if isinstance(places[0], dict) else None
        # A part that is a folder has the folder's pages for its own.
        parts.append({part: [*first, *places[1:]] if isinstance(first, list) else places})
    nowhere = set(pages.texts) - pages.sources - set(flat(parts))
    if nowhere:
        raise PluginError(
            f"{MAP} leads to none of these pages, nor is one of them below a README that it leads to: "
            + ", ".join(sorted(nowhere))
        )
    return parts


def _notebooks(pages: Pages, listed: dict[str, list[tuple[str, str]]]) -> list[Entry]:
    """The folder of notebooks, if there is one that the map does not name: behind the page on the package."""
    there = {page for entries in listed.values() for _, page in entries}
    loose = sorted(page for page in pages.texts if page.startswith(f"{NOTEBOOKS}/") and page not in there)
    index = f"{NOTEBOOKS}/README.md"
    below = folder(pages, index, listed) if index in loose else list[Entry](loose)
    return [{"Notebooks": below}] if below else []


def listing(pages: Pages, page: str) -> dict[str, list[tuple[str, str]]]:
    """The links in a page's lists by the heading or bold line above them: titles and pages."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for line in pages.texts[page].splitlines():
        if head := re.fullmatch(r"## (.+)|\*\*([^*]+)\*\*", line):
            heading = head.group(1) or head.group(2)
        elif entry := re.match(r"- \[([^\]]+)\]\(([^)#:]+)\)", line):
            found.setdefault(heading, []).append((entry.group(1), pages.target(page, entry.group(2))))
    return found


def folder(pages: Pages, index: str, listed: dict[str, list[tuple[str, str]]]) -> list[Entry]:
    """A folder's README and the pages below it, in the order in which it leads to them."""
    elsewhere = {index, *(page for entries in listed.values() for _, page in entries)}
    home = PurePosixPath(index).parent
    below = [
        page
        for page in pages.texts
        if home in PurePosixPath(page).parents and page not in elsewhere | pages.sources
    ]
    order = [pages.target(index, link) for link in repository.links(pages.texts[index])]
    below.sort(key=lambda page: (order.index(page) if page in order else len(order), page))
    readmes = {PurePosixPath(page).parent for page in below if page.endswith("/README.md")}
    groups = {
        page: group
        for group, entries in listing(pages, index).items()
        for _, page in entries
        if f"**{group}**" in pages.texts[index]
    }
    entries: list[Entry] = [index]
    for page in below:
        parents = PurePosixPath(page).parents
        nearest = [parent for parent in parents if parent in readmes]
        # What is below another README belongs to that one.
        if nearest and not (nearest[-1] == PurePosixPath(page).parent and page.endswith("/README.md")):
            continue
        entry: Entry = page
        if nearest and any(nearest[-1] in PurePosixPath(other).parents for other in below if other != page):
            entry = {pages.title(page): folder(pages, page, listed)}
        group = groups.get(page)
        if group is None:
            entries.append(entry)
        elif isinstance(entries[-1], dict) and group in entries[-1]:
            entries[-1][group].append(entry)
        else:
            entries.append({group: [entry]})
    if len(entries) > 1:
        _folders.add(index)
    return entries


def flat(entries: list[Entry]) -> list[str]:
    """The pages of a navigation."""
    found = []
    for entry in entries:
        if isinstance(entry, str):
            found.append(entry)
        else:
            for inside in entry.values():
                found += [inside] if isinstance(inside, str) else flat(inside)
    return found
