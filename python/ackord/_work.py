"""A task of a sweep: what executors carry to their workers, and what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ackord import _ackord
from ackord._ackord import Table
from ackord.algorithms import register, registered

__all__ = ["Done", "File", "Job", "Run", "work"]

#: A scenario: its name, its text, where its files are, and changes.
File = tuple[str, str, str | None, list[tuple[str, str]]]
#: A run, as the module takes it.
Run = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What all tasks of a sweep have in common."""

    file: File
    algorithms: dict[tuple[str, str], type]


@dataclass(frozen=True)
class Done:
    """What came of a task."""

    runs: range
    tables: tuple[Table, Table, Table]
    #: Time that its runs took, in seconds.
    took_s: float


def work(job: Job, runs: list[Run], told: Callable[[float], None] | None = None) -> Done:
    """One task: some runs, one after the other. Executors call this in their workers; what ``told`` raises
    when it is called now and then ends it."""
    known = registered()
    for (family, name), cls in job.algorithms.items():
        if known.get((family, name)) is not cls:
            register(family, name, cls)
    began = time.perf_counter()
    tables = _ackord.run_batch(job.file, runs, told)
    return Done(range(runs[0]["number"], runs[-1]["number"] + 1), tables, time.perf_counter() - began)
