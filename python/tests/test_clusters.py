"""Sweeps on Dask and Ray, with workers that are killed amid their work."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Campaign


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


def test_a_dask_cluster_gives_the_same_tables_with_a_worker_killed(campaign: Campaign) -> None:
    distributed = pytest.importorskip("distributed", reason="SKIPPED: no Dask here")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:

        def processes() -> list[int]:
            return [worker.pid for worker in cluster.workers.values()]

        killed = kill_later(processes)
        campaign.is_the_same_with(on=client)
        assert killed()


def test_a_ray_cluster_gives_the_same_tables_with_a_worker_killed(campaign: Campaign) -> None:
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
        campaign.is_the_same_with(on="ray")
        assert killed()
    finally:
        ray.shutdown()
