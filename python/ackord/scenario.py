"""Scenarios: built-in ones, files, and those that are put together here."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from ackord import _ackord
from ackord._ackord import Checked, InputError
from ackord._values import Value, changes, line

__all__ = ["Scenario", "Value", "scenarios"]


def scenarios() -> dict[str, str]:
    """The built-in scenarios: what each asks, by name."""
    return {name: tomllib.loads(text)["purpose"] for name, text in _ackord.library()}


class Scenario:
    """A scenario that is put together: hosts, links, flows, and what is chosen for them.

    Values with a dimension are texts with their unit: ``"20 ms"``, ``"10 Mbit/s"``, ``"64 kB"``. A
    mechanism is its name or a dict of ``kind`` and its knobs: ``{"kind": "cubic", "hystart": "off"}``.
    Nothing is checked before the scenario is used, or :meth:`check` is called; then by the checker of
    the command line, which names key, value, what is allowed and the nearest valid name.

    Examples:
        >>> s = Scenario(duration="5 s")
        >>> s.host("a"); s.host("b")
        >>> s.link("a", "b", rate="10 Mbit/s", delay="20 ms", queue="fq-codel")
        >>> s.flow("a", "b", congestion="cubic")

    Args:
        name: what reports call it.
        duration: of a run, in simulated time.
        seed: what every random draw derives from.
        purpose: the question that it asks, in a line.
        tcp: the ``tcp`` table of all flows: ``{"profile": "linux"}``.
    """

    def __init__(
        self,
        name: str = "scenario",
        *,
        duration: str = "30 s",
        seed: int = 1,
        purpose: str = "put together in Python",
        tcp: Mapping[str, Value] | None = None,
    ) -> None:
        self._document: dict[str, Any] = {
            "version": 1,
            "name": name,
            "purpose": purpose,
            "duration": duration,
            "seed": seed,
        }
        if tcp is not None:
            self._document["tcp"] = dict(tcp)
        #: Where files that it names are looked for; None for the working directory.
        self.folder: Path | None = None

    @classmethod
    def of(cls, text: str, folder: str | PathLike[str] | None = None) -> Self:
        """The scenario of a file's text; files it names are looked for in ``folder``.

        Raises:
            InputError: if it is no TOML; the message says where.
        """
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            # The checker says where and why.
            _ackord.check("scenario", text, [])
            raise
        scenario = cls()
        scenario._document = document
        scenario.folder = None if folder is None else Path(folder)
        return scenario

    @classmethod
    def open(cls, name_or_path: str | PathLike[str]) -> Self:
        """A built-in scenario by its name, or a file (``.toml``).

        Raises:
            InputError: if there is none, or it is not sound.
        """
        given = fspath(name_or_path)
        text = Checked.open(given, []).text
        folder = Path(given).parent if given.endswith(".toml") or "/" in given else None
        return cls.of(text, folder)

    def host(self, name: str, **keys: Value) -> None:
        """Adds a host; ``count=10`` makes a group of ten, together ``name-*``."""
        self._document.setdefault("hosts", {})[name] = keys

    def router(self, name: str, **keys: Value) -> None:
        """Adds a router. Flows begin and end at hosts; only routers forward packets."""
        self._document.setdefault("routers", {})[name] = keys

    def link(self, a: str, b: str, /, *, name: str | None = None, **keys: Value) -> None:
        """Adds a duplex link from ``a`` to ``b``; ``reverse={...}`` says how the way back differs."""
        label = {} if name is None else {"name": name}
        self._document.setdefault("links", []).append({**label, "from": a, "to": b, **keys})

    def flow(self, client: str, server: str, /, *, name: str | None = None, **keys: Value) -> None:
        """Adds a flow that ``client`` opens towards ``server``; ``flow-1``, ``flow-2`` where it has no name.

        Keys of a flow (``traffic``, ``start``, ``sends``, ...) are its own; every other key is one of its
        ``tcp`` table: ``congestion="cubic"``, ``ack={"kind": "delayed", "timeout": "40 ms"}``.
        """
        flows = self._document.setdefault("flows", [])
        flow: dict[str, Any] = {"name": name or f"flow-{len(flows) + 1}", "from": client, "to": server}
        flow |= {key: value for key, value in keys.items() if key in _flow_keys()}
        flow.setdefault("traffic", "bulk")
        tcp = {key: value for key, value in keys.items() if key not in _flow_keys()}
        if tcp:
            # A `tcp` that is no table is refused by the checker, with what is allowed.
            given = flow.get("tcp", {})
            flow["tcp"] = {**given, **tcp} if isinstance(given, Mapping) else given
        flows.append(flow)

    def set(self, key: str, value: Value) -> None:
        """Sets a key of the file's top: ``duration``, ``seed``, ``tcp``, ``record``, ..."""
        self._document[key] = value

    def toml(self) -> str:
        """The scenario as a file."""
        return _toml(self._document)

    def check(self, set: Mapping[str, Value] | None = None) -> Checked:
        """The scenario, found sound.

        Raises:
            InputError: with file, key, given value, what is allowed, and the nearest valid name.
        """
        name = self._document.get("name", "scenario")
        return _ackord.check(f"{name}.toml", self.toml(), changes(set), self.folder)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._document == other._document

    def __repr__(self) -> str:
        return f"<ackord.Scenario {self._document.get('name')}>"


@cache
def _flow_keys() -> frozenset[str]:
    """The keys of a flow, by the schema."""
    schema = json.loads(_ackord.schema())
    items = schema["properties"]["flows"]["items"]
    if "$ref" in items:
        items = schema["$defs"][items["$ref"].rsplit("/", 1)[1]]
    return frozenset(items["properties"])


def _toml(document: Mapping[str, Any]) -> str:
    """A document with its tables under headings, what is inside them in one line each."""
    lines: list[str] = []
    tables: list[str] = []
    for key, value in document.items():
        if key in ("hosts", "routers") and isinstance(value, Mapping):
            for name, inside in value.items():
                tables += ["", f"[{key}.{name}]", *_lines(f"{key}.{name}", inside)]
        elif isinstance(value, list) and value and all(isinstance(it, Mapping) for it in value):
            for it in value:
                tables += ["", f"[[{key}]]", *_lines(key, it)]
        elif isinstance(value, Mapping):
            tables += ["", f"[{key}]", *_lines(key, value)]
        else:
            lines.append(line("", key, value))
    return "\n".join(lines + tables) + "\n"


def _lines(path: str, table: Any) -> list[str]:
    if not isinstance(table, Mapping):
        raise InputError(f"`{path}` is {table!r}: a dict of its keys is allowed")
    return [line(path, key, value) for key, value in table.items()]


def checked(
    scenario: Scenario | Checked | str | PathLike[str], set: Mapping[str, Value] | None
) -> Checked:
    """A scenario of whatever form, with changes, found sound."""
    if isinstance(scenario, Scenario):
        return scenario.check(set)
    if isinstance(scenario, Checked):
        if set:
            return _ackord.check(f"{scenario.name}.toml", scenario.text, changes(set))
        return scenario
    if isinstance(scenario, (str, PathLike)):
        return Checked.open(fspath(scenario), changes(set))
    raise InputError(
        f"a scenario is {scenario!r}: the name of a built-in one, a path or an ackord.Scenario is allowed"
    )
