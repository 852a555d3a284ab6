"""Many runs of a scenario at many points: on this machine's threads, or wherever an executor runs them.

Whatever runs them, in whatever order, the tables are the same: a row per run and flow, per run and
link, and per run, in the order of the plan.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

from ackord import _ackord
from ackord import _html as html
from ackord._ackord import Checked, InputError, Table, __version__
from ackord._archive import Archive
from ackord._executors import executor_of, finished, gaps
from ackord._progress import Meter
from ackord._store import Tables, store_in
from ackord._values import Value, as_words, changes
from ackord._work import File, Run, SweepJob
from ackord.algorithms import registered
from ackord.scenario import Scenario, checked

__all__ = ["Point", "Sweep", "sweep"]

#: Columns that say where a row comes from.
_BOOKKEEPING = ("scenario_hash", "version")
#: Columns that every table has, or one of them.
_TAKEN = {"run", "seed", "flow", "link", "scenario_hash", "version", "error"}


class Sweep:
    """What a sweep came to. Each table has the number of the run, its seed and its point.

    A table is put together when it is first asked for. Where a sweep has millions of runs, better read
    the files of its data set: ``polars.scan_parquet("out/flows/*.parquet")``.

    It can be pickled; :meth:`save` writes it to a file that :func:`ackord.load` reads.
    """

    def __init__(self, store: Tables) -> None:
        self._store = store

    @cached_property
    def flows(self) -> Table:
        """A row per run and flow."""
        return self._table("flows")

    @cached_property
    def links(self) -> Table:
        """A row per run and direction of a link."""
        return self._table("links")

    @cached_property
    def runs(self) -> Table:
        """A row per run, with the scenario's hash, the program's version, and ``error`` where it failed."""
        return self._table("runs")

    def _table(self, name: str) -> Table:
        return Table.concat(self._store.tables(name)).sorted_by_run()

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the three tables to one file; :func:`ackord.load` reads it. For millions of runs, ``out=`` makes
        a data set that grows during the sweep."""
        return self._archive().save(path)

    def _archive(self) -> Archive:
        tables = {"flows": self.flows, "links": self.links, "runs": self.runs}
        return Archive("sweep", {}, {f"tables/{name}.arrow": it.to_ipc() for name, it in tables.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._archive().to_bytes(),)

    def _repr_html_(self) -> str:
        failed = sum(error is not None for error in self.runs.column("error"))
        title = f"{len(self.runs)} runs" + (f", {failed} of which failed" if failed else "")
        return html.titled(title, html.table(self.runs, _BOOKKEEPING), html.note("flows and links have rows per run, too"))

    def __repr__(self) -> str:
        return f"<ackord.Sweep of {len(self.runs)} runs>"


class _Saved:
    """The tables of a sweep as an archive has them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def tables(self, name: str) -> list[Table]:
        return [self._archive.table(f"tables/{name}")]


def saved(archive: Archive) -> Sweep:
    """A sweep from its archive."""
    try:
        sweep = Sweep(_Saved(archive))
        # Read at once, so that a damaged archive is noticed here.
        sweep.flows, sweep.links, sweep.runs  # noqa: B018
    except (KeyError, ValueError, _ackord.RunError) as error:
        raise InputError(f"the archive of a sweep is damaged: {error}") from error
    return sweep


def _unpickled(data: bytes) -> Sweep:
    return saved(Archive.read(data))


class Point:
    """A point of a sweep: what it changes in the scenario, and the columns that tell it from others.

    Examples:
        >>> Point({"links.hop.delay": "90 ms", "tcp.loss": "dad"}, policy="DAD", tau=0.2)
        Point({'links.hop.delay': '90 ms', 'tcp.loss': 'dad'}, policy='DAD', tau=0.2)
    """

    def __init__(self, set: Mapping[str, Value], /, **columns: Value) -> None:
        #: Values by path, as ``--set`` takes them.
        self.set = dict(set)
        #: What its rows say of it. Without any, its paths and values.
        self.columns = columns or dict(set)

    def at(self, grid: Mapping[str, Value]) -> Point:
        """This point with those of a grid's values on top."""
        return Point({**self.set, **grid}, **{**self.columns, **grid})

    def __repr__(self) -> str:
        return f"Point({self.set}{''.join(f', {key}={value!r}' for key, value in self.columns.items())})"


@dataclass
class _Plan:
    """Every run of a sweep, numbered."""

    job: SweepJob
    points: list[Point]
    seeds: list[int]
    # Columns whose values are all numbers.
    numeric: frozenset[str] = field(default_factory=frozenset)

    def __len__(self) -> int:
        return len(self.points) * len(self.seeds)

    def run(self, number: int) -> Run:
        point = self.points[number // len(self.seeds)]
        columns = [
            (name, float(value) if name in self.numeric else as_words(value))  # type: ignore[arg-type]
            for name, value in point.columns.items()
        ]
        return {
            "number": number,
            "seed": self.seeds[number % len(self.seeds)],
            "changes": changes(point.set),
            "point": columns,
        }

    def identity(self) -> dict[str, Any]:
        """What must be the same for a data set to be gone on with."""
        points = [(point.set, point.columns) for point in self.points]
        return {"version": __version__, "file": self.job.file, "points": points, "seeds": self.seeds}


def sweep(
    scenario: Scenario | Checked | str | PathLike[str],
    *,
    grid: Mapping[str, Sequence[Value]] | None = None,
    points: Sequence[Point | Mapping[str, Value]] | None = None,
    seeds: int | Sequence[int] = 1,
    set: Mapping[str, Value] | None = None,
    on: object = None,
    out: str | PathLike[str] | None = None,
    task_s: float = 1.5,
    progress: bool | None = None,
) -> Sweep:
    """Runs a scenario at every point with every seed.

    Args:
        scenario: the name of a built-in one, a path, or a :class:`Scenario`.
        grid: values by path, as ``--set`` takes them; every combination is a point.
        points: the points one by one, where they are no grid: each a dict of values by path, or a
            :class:`Point` that names its columns. With a grid, too, each of them at all of the grid.
        seeds: how many, counted from the scenario's own, or which.
        set: further changes, at every point.
        on: what runs them: nothing for this process's threads, ``"processes"``, a
            ``concurrent.futures.Executor``, a ``dask.distributed.Client``, or ``"ray"``.
        out: a folder for the tables as one Parquet data set each. Finished runs that it has of the
            same sweep are not run again: a sweep that was stopped goes on where it was.
        task_s: about how long a task is to take, in seconds: as many runs as that go into one. Each is
            a file of every table; a large campaign on a large cluster wants longer ones.
        progress: whether to show a bar; by itself on a terminal and in a notebook.

    Raises:
        InputError: if there is no point, or the scenario is not sound at one of them.
    """
    if not (isinstance(task_s, (int, float)) and 0 < task_s < inf):
        raise InputError(f"`task_s` is {task_s!r}: a number of seconds above 0 is allowed")
    base = checked(scenario, set)
    plan = _plan(scenario, base, _points(points, grid), seeds, set)
    store = store_in(None if out is None else Path(out), plan.identity())
    missing = gaps(store.done(), len(plan))
    left = sum(map(len, missing))
    with Meter(base.name, progress) as meter, executor_of(on) as executor:
        for done in finished(plan, missing, executor, task_s):
            store.take(done)
            left -= len(done.runs)
            meter(1 - left / len(plan))
    return Sweep(store)


def _points(
    points: Sequence[Point | Mapping[str, Value]] | None,
    grid: Mapping[str, Sequence[Value]] | None,
) -> list[Point]:
    """Every point, each with the same columns."""
    combined = _combined({} if grid is None else grid)
    if points is None:
        return combined
    if isinstance(points, (str, Mapping)) or not isinstance(points, Sequence):
        raise InputError(f"`points` is {points!r}: a list of dicts, or of ackord.Point, is allowed")
    if not points:
        raise InputError("`points` is an empty list: at least one is needed")
    each: list[Point] = []
    for point in points:
        if not isinstance(point, (Point, Mapping)):
            raise InputError(f"`points` has {point!r}: a dict of paths and values, or a Point, is allowed")
        each.append(point if isinstance(point, Point) else Point(point))
        names = each[-1].columns.keys()
        if names != each[0].columns.keys():
            raise InputError(
                f"`points` has not the same columns everywhere: {', '.join(each[0].columns)}, and then"
                f" {', '.join(names)}; name them: ackord.Point({{...}}, policy=\"dad\")"
            )
        if twice := names & (_TAKEN | combined[0].columns.keys()):
            raise InputError(f"`points` has a column `{min(twice)}`, which is there already")
    return [point.at(more.set) for point in each for more in combined]


def _combined(grid: Mapping[str, Sequence[Value]]) -> list[Point]:
    if not isinstance(grid, Mapping):
        raise InputError(f"`grid` is {grid!r}: a dict of paths and lists of values is allowed")
    for path, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise InputError(f"`grid` has {values!r} at `{path}`: a list of values is allowed")
        if not values:
            raise InputError(f"`grid` has no value at `{path}`: a grid of no point has nothing to run")
    return [Point(dict(zip(grid, values, strict=True))) for values in product(*grid.values())]


def _plan(
    scenario: Scenario | Checked | str | PathLike[str],
    base: Checked,
    points: list[Point],
    seeds: int | Sequence[int],
    set: Mapping[str, Value] | None,
) -> _Plan:
    if isinstance(seeds, bool) or isinstance(seeds, int) and seeds < 1:
        raise InputError(f"`seeds` is {seeds!r}: a number from 1 on, or a list of seeds, is allowed")
    listed = [base.seed + n for n in range(seeds)] if isinstance(seeds, int) else list(seeds)
    if not listed:
        raise InputError("`seeds` is an empty list: at least one is needed")
    folder = _folder(scenario)
    file: File = (f"{base.name}.toml", base.text, folder, changes(set))
    used: dict[tuple[str, str], type] = {}
    for point in points:
        # Each is looked at before anything runs: nobody wants to hear of it after an hour.
        sound = _ackord.check(file[0], file[1], file[3] + changes(point.set), folder)
        used |= {key: registered()[key] for key in sound.algorithms}
    numeric = frozenset(
        name for name in points[0].columns if all(_is_number(point.columns[name]) for point in points)
    )
    return _Plan(SweepJob(file, used), points, listed, numeric)


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _folder(scenario: Scenario | Checked | str | PathLike[str]) -> str | None:
    if isinstance(scenario, Scenario):
        return None if scenario.folder is None else os.fspath(scenario.folder)
    if isinstance(scenario, (str, PathLike)):
        given = os.fspath(scenario)
        return str(Path(given).parent) if given.endswith(".toml") or "/" in given else None
    return None
