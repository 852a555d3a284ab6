"""This study beside the report of ``ackord paper dad-sd``: every number, every verdict, every word."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report import JSON


@dataclass
class Comparison:
    """How far two reports are from each other."""

    numbers: int = 0
    words: int = 0
    #: Relative differences of the numbers that are not the same to the last bit, by where they are.
    inexact: dict[str, float] = field(default_factory=dict)
    #: Words, verdicts, and values that one of them has not.
    different: list[str] = field(default_factory=list)

    @property
    def worst(self) -> float:
        """The largest relative difference of two numbers."""
        return max(self.inexact.values(), default=0.0)

    def add(self, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        """Values of both by where they are."""
        for where in ours | theirs:
            one, other = ours.get(where, "nothing"), theirs.get(where, "nothing")
            if not (_is_number(one) and _is_number(other)):
                self.words += 1
                self.different += [f"{where}: {one!r} and {other!r}"] if one != other else []
                continue
            self.numbers += 1
            if one != other:
                self.inexact[where] = abs(one - other) / max(abs(one), abs(other))

    def __str__(self) -> str:
        lines = [
            f"{self.words} words, verdicts and reasons: {len(self.different)} differ",
            *self.different[:20],
            f"{self.numbers} numbers: {self.numbers - len(self.inexact)} are equal to the last bit",
        ]
        if self.inexact:
            where = max(self.inexact, key=lambda where: self.inexact[where])
            lines.append(f"the largest relative difference of the others is {self.worst:.1e}: {where}")
        return "\n".join(lines)


def compared(ours: Path, theirs: Path) -> Comparison:
    """Two folders of a report: the JSON, and every table that ours has, by the order of its columns."""
    comparison = Comparison()
    comparison.add(*(dict(leaves(json.loads((folder / JSON).read_text()))) for folder in (ours, theirs)))
    for file in sorted(ours.glob("*.csv")):
        with file.open(newline="") as lines:
            headings = next(csv.reader(lines))
        comparison.add(*(dict(cells(folder / file.name, headings)) for folder in (ours, theirs)))
    return comparison


def leaves(data: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The values of JSON with their paths; claims by their names."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, f"{where}.{key}" if where else key)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            name = value.get("id", number) if isinstance(value, dict) else number
            yield from leaves(value, f"{where}[{name}]")
    else:
        yield where, data


def cells(table: Path, headings: list[str]) -> Iterator[tuple[str, Any]]:
    """The cells of a CSV file, its own headings left out."""
    with table.open(newline="") as lines:
        for row, values in enumerate(csv.reader(lines)):
            if row > 0:
                for heading, value in zip(headings, values, strict=True):
                    yield f"{table.name}[{row}].{heading}", _as_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_number(value: str) -> Any:
    try:
        return float(value)
    except ValueError:
        return value
