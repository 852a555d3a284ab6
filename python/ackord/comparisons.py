"""The same scenario with one key varied, over several seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ackord import _ackord
from ackord._ackord import Checked
from ackord._progress import Meter
from ackord._values import Value, as_words
from ackord.scenario import Scenario, checked

__all__ = ["Comparison", "compare"]


class Comparison:
    """What a comparison came to: means with 95 % intervals, by variant."""

    def __init__(self, comparison: _ackord.Comparison) -> None:
        self._comparison = comparison

    @property
    def json(self) -> str:
        """The results in the bytes of ``ackord compare --json``."""
        return self._comparison.json

    @property
    def data(self) -> dict[str, Any]:
        """The same as dictionaries and lists."""
        data: dict[str, Any] = json.loads(self._comparison.json)
        return data

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes ``report.html``, JSON, CSV and plots into ``folder``; the paths of the files."""
        return [Path(path) for path in self._comparison.write(folder)]


def compare(
    scenario: Scenario | Checked | str | PathLike[str],
    key: str,
    values: Sequence[Value],
    *,
    runs: int = 1,
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Runs a scenario with each of ``values`` at ``key``, ``runs`` times with a seed of its own each.

    Every variant has the same seeds, so that what differs between variants is not the draw.

    Args:
        scenario: the name of a built-in one, a path, or a :class:`Scenario`.
        key: a path, as ``--vary`` takes it: ``"flows.*.tcp.congestion"``.
        values: what stands there, one variant each.
        runs: how many runs of each variant; intervals need two or more.
        seed: of the first run of each variant; the next has the next.
        set: further changes, for every variant.
        progress: whether to show a bar; by itself on a terminal and in a notebook.
    """
    sound = checked(scenario, set)
    vary = f"{key}=" + ",".join(as_words(value) for value in values)
    with Meter(sound.name, progress) as meter:
        return Comparison(_ackord.compare(sound, vary, runs, seed, meter))
