"""The same scenario with one key varied, over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ackord import _ackord
from ackord import _html as html
from ackord._ackord import Checked, InputError
from ackord._archive import Archive, report_members, write_members
from ackord._progress import Meter
from ackord._report import Report
from ackord._values import Value, as_words
from ackord.scenario import Scenario, checked

__all__ = ["Comparison", "compare"]


class Comparison(Report):
    """What a comparison came to: means with 95 % intervals, by variant.

    It can be pickled; :meth:`save` writes it to a file that :func:`ackord.load` reads.
    """

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Every variant: its ``label``, how many ``runs``, and per metric ``mean``, half of the 95 % interval
        ``ci95``, ``min`` and ``max``; those of each flow under ``flows``, of each link under ``links``."""
        variants: list[dict[str, Any]] = self.data["variants"]
        return variants

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the comparison to a file, with its report; :func:`ackord.load` reads it."""
        return self._archive().save(path)

    def _archive(self) -> Archive:
        if isinstance(self._reported, _Saved):
            return self._reported.archive
        members = {"results.json": self.json.encode(), **report_members(self.write)}
        return Archive("comparison", {}, members)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._archive().to_bytes(),)

    def _repr_html_(self) -> str:
        data, rows = self.data, []
        for variant in data["variants"]:
            row = {data["varied"]: variant["label"], "runs": variant["runs"]}
            for metric in ("total_goodput_bit_s", "jain_index"):
                if variant.get(metric):
                    row[metric] = variant[metric]["mean"]
                    row[f"± {metric}"] = variant[metric]["ci95"]
            rows.append(row)
        names = list(dict.fromkeys(name for row in rows for name in row))
        filled = [{name: row.get(name) for name in names} for row in rows]
        more = html.note("means; ± is half of the 95 % interval; `variants` has all metrics")
        return html.titled(str(data["scenario"]), html.of_rows(filled), more)

    def __repr__(self) -> str:
        return f"<ackord.Comparison of {', '.join(variant['label'] for variant in self.variants)}>"


class _Saved:
    """A comparison as an archive has it."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.json = archive.text("results.json")

    def write(self, folder: str | PathLike[str]) -> list[Any]:
        """Writes the report's files."""
        return write_members(self.archive, folder)


def saved(archive: Archive) -> Comparison:
    """A comparison from its archive."""
    try:
        return Comparison(_Saved(archive))
    except (KeyError, ValueError) as error:
        raise InputError(f"the archive of a comparison is damaged: {error}") from error


def _unpickled(data: bytes) -> Comparison:
    return saved(Archive.read(data))


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
