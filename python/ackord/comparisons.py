"""The same scenario with one key varied, over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from ackord import _ackord
from ackord._ackord import Checked
from ackord._progress import Meter
from ackord._report import Report
from ackord._values import Value, as_words
from ackord.scenario import Scenario, checked

__all__ = ["Comparison", "compare"]


class Comparison(Report):
    """What a comparison came to: means with 95 % intervals, by variant."""

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Every variant: its ``label``, how many ``runs``, and per metric ``mean``, half of the 95 % interval
        ``ci95``, ``min`` and ``max``; those of each flow under ``flows``, of each link under ``links``."""
        variants: list[dict[str, Any]] = self.data["variants"]
        return variants

    def __repr__(self) -> str:
        return f"<ackord.Comparison of {', '.join(variant['label'] for variant in self.variants)}>"


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

    Raises:
        InputError: if the scenario is not sound, or one of the values has no place at ``key``.
        RunError: if a run could not be done.
    """
    sound = checked(scenario, set)
    vary = f"{key}=" + ",".join(as_words(value) for value in values)
    with Meter(sound.name, progress) as meter:
        return Comparison(meter.of(lambda: _ackord.compare(sound, vary, runs, seed, meter)))
