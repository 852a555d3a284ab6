"""Knobs of classes in Python: declared as class attributes, set like those of the mechanisms in Rust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ackord import _ackord
from ackord._ackord import InputError

__all__ = ["knob"]


class Knob:
    """A knob that a class declares. Objects have its value in place of it."""

    def __init__(
        self,
        default: bool | int | float | str,
        low: int | float | str | None,
        high: int | float | str | None,
        unit: str,
        choices: Sequence[str],
        doc: str,
        source: str,
    ) -> None:
        self.default = default
        self.low = low
        self.high = high
        self.unit = unit
        self.choices = choices
        self.doc = doc
        self.source = source

    def __get__(self, owner: object | None, cls: type) -> Any:
        # Objects that a run makes have their value; one that is made by hand has the default.
        return self if owner is None else _ackord.knob_default(self.declaration("knob"))

    @property
    def kind(self) -> str:
        """One of "switch", "choice", "count", "number" and "quantity"."""
        match self.default:
            case bool():
                return "switch"
            case int():
                return "count"
            case float():
                return "number"
            case str():
                return "choice" if self.choices else "quantity"
        kind = type(self.default).__name__
        raise InputError(
            f"the default of a knob is {self.default!r} ({kind}): True or False, a number, a text with its unit, or "
            "one of `choices` is allowed"
        )

    def declaration(self, name: str) -> dict[str, Any]:
        """The knob under its name, as the module in Rust takes it."""
        kind = self.kind
        if kind in ("switch", "choice") and (self.low is not None or self.high is not None):
            raise InputError(f"knob `{name}`: `low` and `high` are for numbers and quantities")
        return {
            "name": name,
            "kind": kind,
            "default": _text(name, self.default),
            "low": None if self.low is None else _text(name, self.low),
            "high": None if self.high is None else _text(name, self.high),
            "unit": self.unit or name,
            "choices": list(self.choices),
            "doc": self.doc if kind != "number" or not self.unit else f"{self.doc} ({self.unit})",
            "source": self.source,
        }


def _text(name: str, value: bool | int | float | str) -> str:
    """A value as a scenario file has it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"knob `{name}`: {value!r} is no value, no `low` and no `high`; without a bound there is none")
    return value if isinstance(value, str) else repr(value)


def knob(
    default: bool | int | float | str,
    *,
    low: int | float | str | None = None,
    high: int | float | str | None = None,
    unit: str = "",
    choices: Sequence[str] = (),
    doc: str = "",
    source: str = "",
) -> Any:
    """Declares a knob: a setting of an algorithm, with a value per scenario.

    The default decides what the knob takes. Objects have the value as an attribute before ``__init__`` is called.

    ================================  ======================================  ==========================
    default                           a scenario may say                      objects have
    ================================  ======================================  ==========================
    ``True``, ``False``               ``"on"``, ``"off"``, true, false        a bool
    ``3``                             a whole number from 0 on                an int
    ``0.7``                           a number                                a float
    ``"20 ms"``                       a time                                  a float, in seconds
    ``"64 kB"``                       an amount of data                       an int, in bytes
    ``"10 Mbit/s"``                   a rate                                  an int, in bit/s
    ``"5 %"``                         a share, 0 % to 100 %                   a float from 0 to 1
    one of ``choices``                one of them                             a str
    ================================  ======================================  ==========================

    Args:
        default: the value where a scenario says nothing.
        low: the smallest value, written like the default; without it that of the kind, -10^12 for numbers.
        high: the largest; without it that of the kind, 10^12 for numbers.
        unit: what a whole number counts (``"segments"``), or the unit of a number; the name of the knob without it.
        choices: the words that are allowed.
        doc: what it does, in a line.
        source: where the default is from.

    Examples:
        >>> import ackord as ak
        >>> class Gentle(ak.CongestionControl, name="gentle-doc"):
        ...     beta: float = ak.knob(0.7, low=0.1, high=0.95, doc="What is left of cwnd after a loss")
        >>> ak.run("lossy-wifi", set={"flows.download.tcp.congestion": "gentle-doc",
        ...                           "flows.download.tcp.congestion.beta": 0.5})  # doctest: +SKIP
    """
    return Knob(default, low, high, unit, tuple(choices), doc, source)


def declared_by(cls: type) -> dict[str, Knob]:
    """The knobs of a class by name: those of its bases first."""
    found: dict[str, Knob] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            # What a subclass sets to something else is no knob any more.
            found.pop(name, None)
            if isinstance(value, Knob):
                found[name] = value
    return found
