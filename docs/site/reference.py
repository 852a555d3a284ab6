"""The reference of the Python package, read off its source: nothing is imported, so nothing has to be built.

A page for each public module, with the names of its `__all__`. What the module in Rust exports is on the page of the
module that it is for: facts with the algorithms that are told them, states with simulations, errors and tables on pages of their own. A name of
`ackord.__all__` that no page has, and a public name without a docstring, fail the build.
"""

from __future__ import annotations

import re
from pathlib import Path

import comments
import griffe
from mkdocs.exceptions import PluginError

FOLDER = "docs/reference"
INDEX = f"{FOLDER}/README.md"
_PRIVATE = "ackord._ackord"
_FROM_RUST = {"errors": "Errors", "tables": "Tables"}
#: The modules of classes that scenarios choose by name, with the facts these receive.
_WITH_FACTS = ("algorithms", "paths", "traffic")


def pages(search: Path) -> dict[str, str]:
    """The pages as Markdown with the directives of mkdocstrings."""
    package = _package(search)
    names = _by_page(package)
    complaints = [it for listed in names.values() for name in listed for it in _undocumented(package, name)]
    if complaints:
        raise PluginError("no docstring: " + ", ".join(complaints))
    texts = {INDEX: _index(package, names)}
    for page, listed in names.items():
        module = package.modules.get(page)
        lines = [f"# {_title(page)}", ""]
        if module is not None and module.docstring:
            lines += [_markdown(module.docstring.value), ""]
        # What one calls, before what it gives.
        for name in sorted(listed, key=lambda name: not _object(package, name).is_function):
            lines += [f"::: {name}", *_options(_object(package, name)), ""]
        texts[f"{FOLDER}/{page}.md"] = "\n".join(lines)
    return texts


def missing(site: Path) -> list[str]:
    """Public names that the finished site has no place for."""
    package = _package(Path(__file__).parents[2] / "python")
    html = "".join(page.read_text(encoding="utf-8") for page in sorted((site / FOLDER).glob("*.html")))
    have = set(re.findall(r'id="(ackord\.[\w.]+)"', html))
    wanted = [name for listed in _by_page(package).values() for name in listed]
    return [f"{FOLDER}: no `{name}`" for name in wanted if name not in have]


def _package(search: Path) -> griffe.Module:
    package = griffe.load(
        "ackord",
        search_paths=[search],
        allow_inspection=False,
        extensions=griffe.load_extensions(comments.Comments),
    )
    assert isinstance(package, griffe.Module)
    return package


def _by_page(package: griffe.Module) -> dict[str, list[str]]:
    """The public names by page, as one writes them: `ackord.run`, `ackord.papers.run`."""
    modules = {name: module for name, module in package.modules.items() if not name.startswith("_")}
    silent = [name for name, module in modules.items() if not module.exports]
    if silent:
        raise PluginError(f"public modules of the package without `__all__`: {', '.join(silent)}")
    public = [str(name) for name in package.exports or []]
    unknown = [name for name in public if name not in package.members]
    if unknown:
        raise PluginError(f"`ackord.__all__` has names that the package has not: {', '.join(unknown)}")
    names: dict[str, list[str]] = {page: [] for page in sorted([*modules, *_FROM_RUST])}
    for page, module in modules.items():
        for export in map(str, module.exports or []):
            here = f"{module.path}.{export}"
            reexported = export in public and package[export].canonical_path == here
            names[page].append(f"ackord.{export}" if reexported else here)
    for export in public:
        if package[export].canonical_path.startswith(_PRIVATE):
            names[_page_of_rust(export, modules)].append(f"ackord.{export}")
    placed = {name for listed in names.values() for name in listed}
    lost = [name for name in public if f"ackord.{name}" not in placed and name not in modules]
    if lost:
        raise PluginError(f"no page of the reference has {', '.join(lost)}")
    return {page: listed for page, listed in names.items() if listed}


def _page_of_rust(export: str, modules: dict[str, griffe.Module]) -> str:
    if export.endswith("Error"):
        return "errors"
    if export.endswith("State"):
        return "simulation"
    with_facts = (page for page in _WITH_FACTS if export in modules[page].members)
    return next(with_facts, "tables")


def _object(package: griffe.Module, name: str) -> griffe.Object | griffe.Alias:
    thing: griffe.Object | griffe.Alias = package[name.removeprefix("ackord.")]
    return thing


def _undocumented(package: griffe.Module, name: str) -> list[str]:
    """The name, and what is public in it, where it has no docstring."""
    thing = _object(package, name)
    found = [] if thing.has_docstring else [name]
    if thing.is_class:
        members = thing.all_members.items()
        public = ((member, it) for member, it in members if not member.startswith("_"))
        found += [f"{name}.{member}" for member, it in public if not it.has_docstring]
    return found


def _options(thing: griffe.Object | griffe.Alias) -> list[str]:
    """How a directive shows it: a constructor where its parameters are explained, not of what others make."""
    explained = thing.is_class and thing.docstring and "Args:" in thing.docstring.value
    return ["    options:", "      merge_init_into_class: true"] if explained else []


def _title(page: str) -> str:
    return _FROM_RUST.get(page, page.capitalize())


def _index(package: griffe.Module, names: dict[str, list[str]]) -> str:
    assert package.docstring is not None
    lines = ["# Python reference", "", _markdown(package.docstring.value), ""]
    for page, listed in names.items():
        lines += [f"**[{_title(page)}]({page}.md)**", "", "| name | |", "| --- | --- |"]
        for name in listed:
            docstring = _object(package, name).docstring
            summary = docstring.value.partition("\n\n")[0].replace("\n", " ") if docstring else ""
            lines.append(f"| [`{name}`]({page}.md#{name}) | {_markdown(summary)} |")
        lines.append("")
    return "\n".join(lines)


def _markdown(docstring: str) -> str:
    """A docstring that stands outside mkdocstrings: examples become blocks of code."""
    lines: list[str] = []
    shown: list[str] = []
    for line in [*docstring.splitlines(), ""]:
        if (code := line.strip()).startswith((">>>", "...")):
            shown.append(code[4:].removesuffix("# doctest: +SKIP").rstrip())
            continue
        if shown:
            lines += ["", "~~~python", *shown, "~~~"]
            shown = []
        lines.append(line)
    return "\n".join(lines).replace("``", "`").replace("Examples:", "For example:").strip()
