"""What there is to choose from: mechanisms and their knobs, your own among them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ackord import _ackord

__all__ = ["KnobInfo", "Mechanism", "mechanisms"]


@dataclass(frozen=True)
class KnobInfo:
    """A knob, as it is listed."""

    #: The key in a scenario.
    name: str
    #: "number", "span", "choice", ...
    kind: str
    #: The values that are allowed, with their unit.
    range: str
    #: As a scenario file has it; None where the mechanism works it out itself.
    default: str | None
    #: What it does.
    doc: str
    #: Where the default is from.
    source: str
    #: What the profiles set it to: "profile", "value" and "source" of each.
    profiles: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True)
class Mechanism:
    """A mechanism that scenarios choose by its name. ``print`` shows it as ``ackord list mechanisms`` does."""

    #: What it is one of: "congestion", "queue", "loss-model", ...
    family: str
    #: What scenarios choose it by.
    name: str
    #: What it does, in a line.
    summary: str
    #: The paper or the RFC; empty for a class in Python.
    source: str
    #: Its settings.
    knobs: tuple[KnobInfo, ...]
    _text: str
    #: The profiles that choose it, by name.
    profiles: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self._text


def mechanisms(name: str | None = None) -> list[Mechanism]:
    """The mechanisms with their knobs, those that are registered in this process included.

    Args:
        name: only those of this name, or of this family ("congestion", "queue", ...).

    Raises:
        InputError: if no mechanism and no family has the name; with the nearest that there is.

    Examples:
        >>> import ackord as ak
        >>> [knob.name for knob in ak.mechanisms("vegas")[0].knobs][:2]
        ['alpha', 'beta']
    """
    found = []
    for entry, text in _ackord.mechanisms(name):
        fields = json.loads(entry)
        knobs = tuple(
            KnobInfo(**knob | {"profiles": tuple(knob["profiles"])}) for knob in fields.pop("knobs")
        )
        profiles = tuple(fields.pop("profiles"))
        found.append(Mechanism(**fields, knobs=knobs, profiles=profiles, _text=text))
    return found
