"""Finished runs of a sweep: in memory, or in a Parquet data set with which a later call goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Protocol

from ackord._ackord import InputError, Table
from ackord._work import Done

__all__ = ["TABLES", "Store", "Tables", "store_in"]

#: The tables, each a folder of the data set. That of runs is written last: a part counts when it is there.
TABLES = ("flows", "links", "runs")
#: A file of a task's runs, from the first to the last, also while it is written.
_PART = re.compile(r"part-(\d+)-(\d+)\.(parquet|partial)")


class Tables(Protocol):
    """Has the tables of a sweep."""

    def tables(self, name: str) -> list[Table]:
        """The parts of a table."""


class Store(Tables, Protocol):
    """Takes what comes of tasks."""

    def done(self) -> list[range]:
        """The runs that it has already."""

    def take(self, done: Done) -> None:
        """Keeps what came of a task."""


def store_in(folder: Path | None, identity: dict[str, Any]) -> Store:
    """A store for the sweep of this identity."""
    return _Memory() if folder is None else _DataSet(folder, json.loads(json.dumps(identity)))


class _Memory:
    def __init__(self) -> None:
        self._parts: list[tuple[Table, Table, Table]] = []

    def done(self) -> list[range]:
        return []

    def take(self, done: Done) -> None:
        self._parts.append(done.tables)

    def tables(self, name: str) -> list[Table]:
        return [part[TABLES.index(name)] for part in self._parts]


class _DataSet:
    """A file per task and table. Nothing of it stays in memory."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self._folder = folder
        plan = folder / "sweep.json"
        if plan.exists():
            there = json.loads(plan.read_text())
            different = sorted(key for key in identity if there.get(key) != identity[key])
            if different:
                raise InputError(
                    f"`{folder}` has another sweep: {', '.join(different)} differ; name another folder"
                )
        for name in TABLES:
            (folder / name).mkdir(parents=True, exist_ok=True)
        if not plan.exists():
            partial = folder / "sweep.json.partial"
            partial.write_text(json.dumps(identity, indent=1))
            partial.rename(plan)
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Parts of tasks that were stopped while they were written: their runs will be made again."""
        finished = {part.name for part in self._parts("runs")}
        for name in TABLES:
            for path in (self._folder / name).iterdir():
                # What somebody else put there is left alone.
                if _PART.fullmatch(path.name) and path.name not in finished:
                    path.unlink()

    def _parts(self, name: str) -> list[Path]:
        parts = (self._folder / name).glob("part-*.parquet")
        return sorted(part for part in parts if _PART.fullmatch(part.name))

    def done(self) -> list[range]:
        ends = (_PART.fullmatch(part.name) for part in self._parts("runs"))
        return [range(int(found[1]), int(found[2]) + 1) for found in ends if found]

    def take(self, done: Done) -> None:
        file = f"part-{done.runs[0]:08}-{done.runs[-1]:08}.parquet"
        for name, table in zip(TABLES, done.tables, strict=True):
            table.write_parquet(self._folder / name / file)

    def tables(self, name: str) -> list[Table]:
        return [Table.read_parquet(part) for part in self._parts(name)]

