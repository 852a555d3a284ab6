"""Sweeps on Dask and Ray, with workers that are killed amid their work."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import ackord as ak
import polars as pl
import pytest
from polars.testing import assert_frame_equal

GRID = {"links.bottleneck.queue.limit": ["20 packets", "50 packets"]}
# Some seconds, so that a worker can be killed amid its work.
RUNS = {"grid": GRID, "seeds": 2500, "set": {"duration": "10 s"}}


@pytest.fixture(scope="module")
def expected() -> Iterator[list[pl.DataFrame]]:
    yield frames(ak.sweep("reno-against-vegas", **RUNS))  # type: ignore[arg-type]


def frames(sweep: ak.Sweep) -> list[pl.DataFrame]:
    return [pl.DataFrame(table) for table in (sweep.flows, sweep.links, sweep.runs)]


def the_same(sweep: ak.Sweep, expected: list[pl.DataFrame]) -> None:
    for one, other in zip(frames(sweep), expected, strict=True):
        assert_frame_equal(one, other)


def kill_later(workers: Callable[[], list[int]]) -> Callable[[], list[int]]:
    """Kills one of the worker processes as soon as one is at work; asked at the end, says which."""
    killed: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 30
        while not killed and time.monotonic() < until:
            for process in workers()[:1]:
                # Some of its work is done by then, much is not.
                time.sleep(0.5)
                os.kill(process, signal.SIGKILL)
                killed.append(process)
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()

    def ended() -> list[int]:
        thread.join()
        return killed

    return ended


def test_a_dask_cluster_gives_the_same_tables_with_a_worker_killed(
    expected: list[pl.DataFrame],
) -> None:
    distributed = pytest.importorskip("distributed", reason="SKIPPED: no Dask here")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:

        def processes() -> list[int]:
            return [worker.pid for worker in cluster.workers.values()]

        killed = kill_later(processes)
        sweep = ak.sweep("reno-against-vegas", on=client, **RUNS)  # type: ignore[arg-type]
        assert killed()
    the_same(sweep, expected)


def test_a_ray_cluster_gives_the_same_tables_with_a_worker_killed(
    expected: list[pl.DataFrame],
) -> None:
    ray: Any = pytest.importorskip("ray", reason="SKIPPED: no Ray here")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:

        @ray.remote
        def process() -> int:
            return os.getpid()

        def processes() -> list[int]:
            # The workers that are busy: what Ray has started beside them does not matter.
            listed = [p for p in os.listdir("/proc") if p.isdigit()]
            found = []
            for number in listed:
                try:
                    with open(f"/proc/{number}/cmdline", "rb") as file:
                        if file.read().startswith(b"ray::work"):
                            found.append(int(number))
                except OSError:
                    continue
            return found

        killed = kill_later(processes)
        sweep = ak.sweep("reno-against-vegas", on="ray", **RUNS)  # type: ignore[arg-type]
        assert killed()
    finally:
        ray.shutdown()
    the_same(sweep, expected)
