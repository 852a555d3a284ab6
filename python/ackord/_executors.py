"""What runs the tasks of a sweep or a fleet: threads, processes, Dask or Ray, behind one small face.

A worker that dies takes its task with it; the task is run once more elsewhere. What a task comes to
depends on the task alone, so that this changes nothing.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from ackord._ackord import InputError, RunError
from ackord._work import Done, Job, Plan, Run, work

#: Tasks that wait at an executor, per worker, so that none is ever idle.
WAITING = 2
#: A task whose worker died this often is a task that kills workers.
MOST_DEATHS = 5


class Executor(Protocol):
    """Takes tasks and gives what came of them, in whatever order."""

    workers: int

    def submit(self, job: Job, runs: list[Any]) -> None:
        """Hands a task over."""

    def some(self) -> list[Done]:
        """Waits for one or more."""

    def give_up(self) -> None:
        """Nobody wants the tasks under way any more."""

    def close(self) -> None:
        """Ends what was made for these tasks."""


def gaps(done: list[range], whole: int) -> list[range]:
    """The runs that are still to be made."""
    ends = [0, *(end for some in sorted(done, key=lambda some: some.start) for end in (some.start, some.stop)), whole]
    return [gap for gap in map(range, ends[::2], ends[1::2]) if gap]


def finished(plan: Plan, missing: list[range], executor: Executor, task_s: float) -> Iterator[Done]:
    """Tasks as they are done. Their size follows the time that runs took so far."""
    waiting = deque(missing)
    left = sum(map(len, missing))
    ran, took_s = 0, 0.0
    under_way = 0
    most = executor.workers * WAITING

    def next_task() -> list[Run]:
        nonlocal left
        size = 1 if ran == 0 else max(1, round(task_s * ran / max(took_s, 1e-6)))
        # At the end tasks get smaller, so that all workers end at about the same time.
        size = min(size, max(1, left // max(1, most)))
        gap = waiting.popleft()
        if gap[size:]:
            waiting.appendleft(gap[size:])
        left -= len(gap[:size])
        return [plan.run(number) for number in gap[:size]]

    while True:
        while under_way < most and waiting:
            executor.submit(plan.job, next_task())
            under_way += 1
        if under_way == 0:
            return
        for done in executor.some():
            under_way -= 1
            ran += len(done.runs)
            took_s += done.took_s
            yield done


@contextmanager
def executor_of(on: object) -> Iterator[Executor]:
    """The executor that ``on`` names; one that was made here is closed at the end."""
    executor = _executor(on)
    try:
        yield executor
    except BaseException:
        executor.give_up()
        raise
    finally:
        executor.close()


def _executor(on: object) -> Executor:
    if on is None or on == "threads":
        return _Threads()
    if on == "processes":
        return _Processes()
    if isinstance(on, futures.Executor):
        return _Futures(on, getattr(on, "_max_workers", None) or _processors())
    if on == "ray" or getattr(on, "__name__", None) == "ray":
        return _Ray()
    if hasattr(on, "scheduler_info") and hasattr(on, "submit"):
        return _Dask(on)
    raise InputError(
        f"`on` is {on!r}: nothing, 'processes', 'ray', a concurrent.futures.Executor or a"
        " dask.distributed.Client is allowed"
    )


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Futures:
    """An executor of the standard library, which is somebody else's."""

    def __init__(self, pool: futures.Executor, workers: int) -> None:
        self.workers = workers
        self._pool = pool
        self._under_way: set[futures.Future[Done]] = set()

    def submit(self, job: Job, runs: list[Any]) -> None:
        self._under_way.add(self._pool.submit(work, job, runs))

    def some(self) -> list[Done]:
        done, self._under_way = futures.wait(
            self._under_way, return_when=futures.FIRST_COMPLETED
        )
        return [future.result() for future in done]

    def give_up(self) -> None:
        for future in self._under_way:
            future.cancel()

    def close(self) -> None:
        """It is not ours."""


class _Threads(_Futures):
    """Threads of this process."""

    def __init__(self) -> None:
        super().__init__(futures.ThreadPoolExecutor(_processors()), _processors())
        self._given_up = threading.Event()

    def submit(self, job: Job, runs: list[Any]) -> None:
        self._under_way.add(self._pool.submit(work, job, runs, self._go_on))

    def _go_on(self, _: float) -> None:
        if self._given_up.is_set():
            raise RunError("the work was given up")

    def give_up(self) -> None:
        # Otherwise the pool would wait for the runs under way, however long they are.
        self._given_up.set()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class _Processes:
    """Processes of this machine, which are started anew when one dies."""

    def __init__(self) -> None:
        self.workers = _processors()
        self._tasks: dict[futures.Future[Done], tuple[Job, list[Any]]] = {}
        self._deaths = 0
        self._pool = futures.ProcessPoolExecutor(self.workers)

    def submit(self, job: Job, runs: list[Any]) -> None:
        try:
            future = self._pool.submit(work, job, runs)
        except BrokenProcessPool:
            self._anew()
            future = self._pool.submit(work, job, runs)
        self._tasks[future] = (job, runs)

    def some(self) -> list[Done]:
        found: list[Done] = []
        while not found:
            done, _ = futures.wait(self._tasks, return_when=futures.FIRST_COMPLETED)
            lost: list[tuple[Job, list[Any]]] = []
            for future in done:
                task = self._tasks.pop(future)
                try:
                    found.append(future.result())
                except BrokenProcessPool:
                    lost.append(task)
            if lost:
                # With one process all others of the pool end, and every task that was under way.
                lost += self._tasks.values()
                self._tasks.clear()
                self._anew()
                for job, runs in lost:
                    self.submit(job, runs)
        return found

    def _anew(self) -> None:
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            raise RunError(f"a worker process died {self._deaths} times; the work is given up")
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = futures.ProcessPoolExecutor(self.workers)

    def give_up(self) -> None:
        """Ends the workers amid their runs: those that the pool has handed out it would wait for."""
        # Python 3.14 has `terminate_workers` for this.
        for process in list((self._pool._processes or {}).values()):
            process.terminate()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class _Dask:
    """A Dask cluster: its scheduler runs the tasks of a dead worker elsewhere."""

    def __init__(self, client: Any) -> None:
        self._client = client
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        self.workers = max(1, sum(worker["nthreads"] for worker in workers))
        self._under_way: set[Any] = set()

    def submit(self, job: Job, runs: list[Any]) -> None:
        future = self._client.submit(work, job, runs, pure=False, retries=MOST_DEATHS)
        self._under_way.add(future)

    def give_up(self) -> None:
        self._client.cancel(list(self._under_way))

    def close(self) -> None:
        """The cluster is not ours."""

    def some(self) -> list[Done]:
        from distributed import wait  # type: ignore[import-not-found, unused-ignore]

        done = wait(list(self._under_way), return_when="FIRST_COMPLETED").done  # type: ignore[no-untyped-call, unused-ignore]
        self._under_way -= set(done)
        found = self._client.gather(list(done))
        for future in done:
            # Nobody asks again: the worker may forget it.
            future.release()
        return list(found)


class _Ray:
    """A Ray cluster: tasks of a dead worker are run once more."""

    def __init__(self) -> None:
        import ray  # type: ignore[import-not-found, unused-ignore]

        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        self._ray = ray
        self._work = ray.remote(max_retries=MOST_DEATHS)(work)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
        self.workers = max(1, int(resources.get("CPU", 1)))
        self._under_way: list[Any] = []
        # The same for every task: put into the store once.
        self._job: Any = None

    def submit(self, job: Job, runs: list[Any]) -> None:
        if self._job is None:
            self._job = self._ray.put(job)
        self._under_way.append(self._work.remote(self._job, runs))

    def give_up(self) -> None:
        for task in self._under_way:
            self._ray.cancel(task, force=True)

    def close(self) -> None:
        """Whoever uses Ray again goes on with it."""

    def some(self) -> list[Done]:
        done, self._under_way = self._ray.wait(self._under_way, num_returns=1)
        found: list[Done] = self._ray.get(done)
        return found
