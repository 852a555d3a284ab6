"""Values of Python as values of a scenario file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w

from ackord._ackord import InputError

#: A value of a scenario file: a text (with its unit: "20 ms"), a number, a switch, a list or a table.
Value = str | int | float | bool | list[Any] | Mapping[str, Any]


def as_words(value: Value) -> str:
    """``value`` as a column of a table has it."""
    return value if isinstance(value, str) else in_toml("", value)


def in_toml(path: str, value: Any) -> str:
    """``value`` as one line of TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(line(path, key, it) for key, it in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(in_toml(path, it) for it in value) + "]"
    if isinstance(value, bool):
        return '"on"' if value else '"off"'
    if not isinstance(value, (str, int, float)):
        kind = type(value).__name__
        raise InputError(
            f"`{path}` is {value!r}, of type {kind}: a text, a number, a switch, a list or a dict is allowed"
        )
    return tomli_w.dumps({"it": value}).removeprefix("it = ").rstrip("\n")


def line(path: str, key: str, value: Any) -> str:
    """A key of the table at ``path`` with its value, as a line of TOML."""
    name = tomli_w.dumps({key: 0}).removesuffix(" = 0\n")
    return f"{name} = {in_toml(f'{path}.{key}' if path else key, value)}"


def changes(given: Mapping[str, Value] | None) -> list[tuple[str, str]]:
    """Changes of a scenario: paths with values as texts."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InputError(f"`set` is {given!r}: a dict of paths and values is allowed")
    return [(path, in_toml(path, value)) for path, value in given.items()]


#: What people read instead of a unit, and how much of the unit it is.
LARGER = {"bit/s": ("Mbit/s", 1e6), "B": ("kB", 1e3), "s": ("ms", 1e-3)}
#: The units that ends of metrics' names stand for.
_ENDINGS = {"_bit_s": "bit/s", "_bytes": "B", "_ms": "ms", "_s": "s", "_percent": "%", "_packets": "packets"}


def unit_of(metric: str) -> str:
    """The unit that the end of a metric's name stands for; nothing where it has none."""
    return next((unit for end, unit in _ENDINGS.items() if metric.endswith(end)), "")
