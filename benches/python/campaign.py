"""What a campaign of millions of runs takes on a cluster, worked out from what is measured here.

Measured on this machine: how long a run takes, what a task sends and what comes back, what a data set
weighs, and what a task costs the scheduler in time and memory, with tasks that take no time. The rest is
multiplication, which is printed with it.

Run with the Python of `make python`:
out/python/bin/python benches/python/campaign.py dask|ray [RUNS] [CORES] [SECONDS_A_TASK] [SECONDS_A_RUN]
"""

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ackord as ak
import psutil
from ackord import _executors, _work, sweeps

#: Runs from which the sizes are taken, and tasks from which the scheduler's cost is.
SAMPLE, TASKS = 5_000, 20_000


class Weighing(futures.Executor):
    """Runs tasks here and now, and weighs what they send and bring back."""

    def __init__(self) -> None:
        self.there = self.back = 0
        #: What the runs took, and the time of this process that is none of the driver's, in seconds.
        self.took_s = self.aside_s = 0.0

    def submit(self, work: Any, /, job: Any, runs: Any) -> futures.Future[Any]:  # type: ignore[override]
        began = time.process_time()
        done = work(job, runs)
        self.took_s += done.took_s
        self.there += len(pickle.dumps((job, runs)))
        self.back += len(pickle.dumps(done))
        self.aside_s += time.process_time() - began
        future: futures.Future[Any] = futures.Future()
        future.set_result(done)
        return future


@dataclass
class Run:
    """What one run costs: seconds of a core, bytes, seconds of the driver."""

    took_s: float
    there: float
    back: float
    parquet: float
    driver_s: float


def one_run(task_s: float) -> Run:
    """Means over a sweep of some runs in tasks of such a length."""
    grid = {"links.bottleneck.queue.limit": [f"{packets} packets" for packets in range(10, 101, 10)]}
    weighing = Weighing()
    with tempfile.TemporaryDirectory() as out:
        began = time.process_time()
        ak.sweep("reno-against-vegas", grid=grid, seeds=SAMPLE // 10, set={"duration": "10 s"}, on=weighing,
                 out=out, task_s=task_s, progress=False)  # fmt: skip
        driver_s = time.process_time() - began - weighing.aside_s
        parquet = sum(file.stat().st_size for file in Path(out).rglob("*.parquet"))
    sums = (weighing.took_s, weighing.there, weighing.back, parquet, driver_s)
    return Run(*(total / SAMPLE for total in sums))


def main(how: str, runs: int, cores: int, task_s: float, run_s: float) -> None:
    run = one_run(task_s)
    with (on_dask if how == "dask" else on_ray)() as (executor, scheduler):
        task_cost_s, grown, peak = empty_tasks(executor, scheduler)
    per_task = max(1, round(task_s / run_s))
    tasks = runs / per_task
    work_s = runs * run_s / cores
    busy_s = tasks * task_cost_s + runs * run.driver_s
    memory = peak + max(0.0, grown) * max(0.0, tasks - TASKS)
    waiting = cores * sweeps.WAITING
    to_gb, back_gb, kept_gb = (runs * each / 1e9 for each in (run.there, run.back, run.parquet))
    print(f"""\
Measured here with {how}:
  a run          {run.took_s * 1e3:.1f} ms; sends {run.there:.0f} B, brings back {run.back:.0f} B, \
is {run.parquet:.0f} B of Parquet
  the driver     {run.driver_s * 1e6:.0f} us a run to plan and write it
  an empty task  {task_cost_s * 1e3:.2f} ms there and back; the scheduler grows by {grown:.0f} B, \
to {peak / 1e6:.0f} MB after {TASKS:,}
Worked out for {runs:,} runs of {run_s * 1e3:g} ms on {cores:,} cores in tasks of {task_s:g} s \
({per_task} runs):
  work           {work_s:,.0f} s
  tasks          {tasks:,.0f}, {tasks / work_s:.0f} a second; {waiting:,} under way at a time
  scheduler      {memory / 1e6:,.0f} MB; it and the driver are busy for {busy_s:,.0f} s, \
{100 * busy_s / work_s:.0f} % of the work's time
  network        {to_gb:.1f} GB to workers, {back_gb:.1f} GB back, {8e3 * back_gb / work_s:.0f} Mbit/s
  data set       {kept_gb:.1f} GB in {3 * tasks:,.0f} files""")


def empty_tasks(executor: Any, scheduler: psutil.Process) -> tuple[float, float, int]:
    """Seconds a task, by how many bytes a task the scheduler grew, and to what."""
    job = _work.Job(("", "", None, []), {})
    run = {"number": 0, "seed": 1, "changes": [], "point": []}

    def pass_through(count: int) -> None:
        under_way = 0
        left = count
        while left or under_way:
            while left and under_way < executor.workers * sweeps.WAITING:
                executor.submit(job, [run])
                left, under_way = left - 1, under_way + 1
            under_way -= len(executor.some())

    pass_through(2000)
    before = scheduler.memory_info().rss
    began = time.perf_counter()
    pass_through(TASKS)
    took = time.perf_counter() - began
    after = scheduler.memory_info().rss
    return took / TASKS, (after - before) / TASKS, after


def nothing(job: _work.Job, runs: list[Any]) -> list[int]:
    """A task of no time."""
    return [run["number"] for run in runs]


@contextmanager
def on_dask() -> Iterator[tuple[Any, psutil.Process]]:
    """A scheduler and two workers, each a process of its own."""
    import distributed

    _executors.work = nothing  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/scheduler.json"
        python = [sys.executable, "-m"]
        common = ["--scheduler-file", file, "--no-dashboard"]
        base = [*python, "distributed.cli.dask_scheduler", *common, "--host", "127.0.0.1", "--port", "0"]
        workers = [*python, "distributed.cli.dask_worker", *common, "--nthreads", "1", "--nworkers", "2",
                   "--local-directory", folder]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
        with (
            subprocess.Popen(base, **quiet) as scheduler,  # type: ignore[call-overload]
            subprocess.Popen(workers, **quiet) as nanny,  # type: ignore[call-overload]
        ):
            try:
                with distributed.Client(scheduler_file=file) as client:
                    client.wait_for_workers(2)
                    yield _executors._Dask(client), psutil.Process(scheduler.pid)
            finally:
                for process in (nanny, scheduler):
                    process.terminate()


@contextmanager
def on_ray() -> Iterator[tuple[Any, psutil.Process]]:
    """Ray on this machine with two workers; its scheduler's memory is that of the global control store."""
    import ray as library

    _executors.work = nothing  # type: ignore[assignment]
    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        stores = [p for p in psutil.process_iter(["name"]) if p.info["name"] == "gcs_server"]
        yield _executors._Ray(), max(stores, key=lambda process: process.create_time())
    finally:
        library.shutdown()


if __name__ == "__main__":
    words = sys.argv[1:]
    if not words or words[0] not in ("dask", "ray"):
        sys.exit(__doc__)
    # A run of the reproduction of DAD-SD takes 59 ms: 1000 s of one flow.
    runs, cores, task_s, run_s = (*words[1:], *["10000000", "1000", "30", "0.059"][len(words) - 1 :])
    main(words[0], int(runs), int(cores), float(task_s), float(run_s))
