"""Many captures, each diagnosed by itself: on this machine's threads, or wherever an executor runs them.

The rows are those of ``ackord diagnose FOLDER --out DATASET``, and the data set is the same: either continues
what the other has begun. Its columns are listed in the documentation of the diagnosis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from os import PathLike, fspath
from typing import Any

from ackord import _ackord
from ackord._ackord import InputError, Table
from ackord._executors import executor_of, finished, gaps
from ackord._progress import Meter
from ackord._report import Report
from ackord._work import FleetJob, Run

__all__ = ["Fleet", "diagnose_many"]

#: A part of the data set: tables of connections, causes, remedies and files.
_Four = tuple[Table, Table, Table, Table]


class Fleet:
    """Diagnoses of many captures, as tables: of those of a call, or of the whole data set with ``out=``.

    Each table has the columns ``file`` and ``host``; those of connections, causes and remedies have the
    connection's number in its capture, ``time`` (its first packet, UTC), and both ends. Rows are in the order
    of the captures' paths. A table is put together when it is first used: of a very large data set better read
    the files, ``polars.scan_parquet("out/causes/*.parquet")``.
    """

    def __init__(self, parts: Sequence[_Four]) -> None:
        self._parts = sorted(parts, key=lambda part: str(part[3].column("file")[0]))

    @cached_property
    def connections(self) -> Table:
        """A row per capture and connection: 32 columns, ``duration_s`` and ``lost_s`` in seconds."""
        return self._table(0)

    @cached_property
    def causes(self) -> Table:
        """A row per connection and cause. The ``seconds`` of a connection add up to its ``duration_s``;
        ``lost_s`` are those that a remedy could give back."""
        return self._table(1)

    @cached_property
    def remedies(self) -> Table:
        """A row per connection and remedy, the best one first, gains in percent; none without ``predict=True``."""
        return self._table(2)

    @cached_property
    def files(self) -> Table:
        """A row per capture, with ``error`` if it could not be read and ``damage`` if not to its end."""
        return self._table(3)

    @cached_property
    def summary(self) -> Report:
        """The sums of ``ackord diagnose show``: hosts, hours, causes, the worst connections. ``summary.data``
        has them as dictionaries, ``summary.write(folder)`` writes ``report.html`` and plots."""
        return Report(_ackord.FleetSummary(self._parts))

    def _table(self, number: int) -> Table:
        return Table.concat([_ackord.fleet_no_rows()[number], *(part[number] for part in self._parts)])

    def __repr__(self) -> str:
        return f"<ackord.Fleet of {len(self._parts)} captures>"


@dataclass
class _Plan:
    """Every capture of a call, numbered."""

    job: FleetJob
    files: list[Any]

    def run(self, number: int) -> Run:
        return {"number": number, "file": self.files[number]}


def diagnose_many(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    on: object = None,
    out: str | PathLike[str] | None = None,
    host: str | None = None,
    predict: bool = False,
    task_s: float = 1.5,
    progress: bool | None = None,
) -> Fleet:
    """Diagnoses every capture by itself and returns all of them as tables.

    Args:
        files: captures and folders of captures, or one of them. Folders are searched at any depth, without
            names that begin with a dot.
        on: what runs it: nothing or ``"threads"`` for this process's threads, ``"processes"``, a
            ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or ``"ray"``. Workers read the files
            themselves: on other machines they need the same paths.
        out: a folder for the tables as one Parquet data set. Captures that it has are not diagnosed again, unless
            their length, time of change, ``host`` or ``predict`` differ.
        host: the name of the host at which the captures were taken; without it the address that is an end of
            most connections of a capture.
        predict: whether to simulate what would help the three connections of each capture that lost most time,
            which takes seconds for each.
        task_s: about how long a task is to take, in seconds: as many captures as that go into one.
        progress: whether to show a bar; without it, on a terminal and in a notebook.

    Raises:
        InputError: if a path does not exist, there is no file, none can be read as a capture, or another
            program is writing the data set.

    Examples:
        >>> fleet = ackord.diagnose_many("captures/", out="out/fleet")  # doctest: +SKIP
        >>> polars.DataFrame(fleet.causes).group_by("host").agg(polars.sum("lost_s"))  # doctest: +SKIP
    """
    if not (isinstance(task_s, (int, float)) and 0 < task_s < inf):
        raise InputError(f"`task_s` is {task_s!r}: a number of seconds above 0 is allowed")
    given = [files] if isinstance(files, (str, PathLike)) else list(files)
    listed = _ackord.fleet_files([fspath(path) for path in given])
    plan = _Plan(FleetJob(host, predict), listed)
    folder = None if out is None else _ackord.FleetFolder(out)
    numbers = range(len(listed)) if folder is None else folder.missing(listed, host, predict)
    left = len(numbers)
    parts: list[_Four] = []
    errors: list[str] = []
    known = [range(number, number + 1) for number in sorted(set(range(len(listed))) - set(numbers))]
    with Meter("diagnosing", progress) as meter, executor_of(on) as executor:
        for done in finished(plan, gaps(known, len(listed)), executor, task_s):
            for name, tables, error in done.tables:
                errors += [] if error is None else [error]
                if folder is None:
                    parts.append(tables)
                else:
                    folder.take(name, tables)
            left -= len(done.runs)
            meter(1 - left / len(listed))
    if len(errors) == len(listed):
        raise InputError(f"none of {len(listed)} files can be read; the first: {errors[0]}")
    return Fleet(parts if folder is None else folder.parts())
