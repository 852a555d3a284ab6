"""A task of a sweep or a fleet: what executors carry to their workers, and what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ackord import _ackord
from ackord._ackord import Table
from ackord.algorithms import register, registered

__all__ = ["Done", "File", "FleetJob", "Job", "Plan", "Run", "SweepJob", "work"]

#: A scenario: its name, its text, where its files are, and changes.
File = tuple[str, str, str | None, list[tuple[str, str]]]
#: A run, as the module takes it.
Run = dict[str, Any]


#: Called with the share that is done; what it raises ends the work.
Told = Callable[[float], None] | None


class Job(Protocol):
    """What all tasks have in common: how one is done."""

    def do(self, runs: list[Run], told: Told) -> Any:
        """Does some runs, one after the other, and returns what the store takes."""


class Plan(Protocol):
    """Numbered runs."""

    @property
    def job(self) -> Job:
        """What all of them have in common."""

    def run(self, number: int) -> Run:
        """One of them. Its ``number`` is among its values."""


@dataclass(frozen=True)
class SweepJob:
    """Runs of a scenario: tables of flows, links and runs."""

    file: File
    algorithms: dict[tuple[str, str], type]

    def do(self, runs: list[Run], told: Told) -> tuple[Table, Table, Table]:
        known = registered()
        for (family, name), cls in self.algorithms.items():
            if known.get((family, name)) is not cls:
                register(family, name, cls)
        return _ackord.run_batch(self.file, runs, told)


@dataclass(frozen=True)
class FleetJob:
    """Captures, each diagnosed by itself: a part of the data set for each."""

    host: str | None
    predict: bool

    def do(self, runs: list[Run], told: Told) -> list[Any]:
        return _ackord.fleet_parts([run["file"] for run in runs], self.host, self.predict, told)


@dataclass(frozen=True)
class Done:
    """What came of a task."""

    runs: range
    #: What its job returned.
    tables: Any
    #: Time that its runs took, in seconds.
    took_s: float


def work(job: Job, runs: list[Run], told: Told = None) -> Done:
    """One task: some runs, one after the other. Executors call this in their workers; what ``told`` raises
    when it is called now and then ends it."""
    began = time.perf_counter()
    tables = job.do(runs, told)
    return Done(range(runs[0]["number"], runs[-1]["number"] + 1), tables, time.perf_counter() - began)
