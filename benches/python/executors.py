"""What distributing a sweep costs: the time of the whole against the time that its runs took.

Run with the Python of `make python`:
out/python/bin/python benches/python/executors.py threads|processes|dask|ray [RUNS]
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import ackord as ak
from ackord import _work, sweeps

LIMITS = [f"{packets} packets" for packets in range(10, 101, 10)]


def main(how: str, runs: int) -> None:
    took = 0.0
    finished = sweeps._finished

    def counted(*of: Any) -> Iterator[_work.Done]:
        nonlocal took
        for done in finished(*of):
            took += done.took_s
            yield done

    sweeps._finished = counted
    with ExitStack() as stack:
        on: Any = how
        workers = 2
        if how == "dask":
            import distributed

            cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
            on = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
        elif how == "ray":
            import ray

            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
            stack.callback(ray.shutdown)
        began = time.perf_counter()
        swept = ak.sweep(
            "reno-against-vegas", on=on, seeds=runs // len(LIMITS), set={"duration": "10 s"},
            grid={"links.bottleneck.queue.limit": LIMITS},
        )  # fmt: skip
        wall = time.perf_counter() - began
    print(f"{how}: {len(swept.runs)} runs in {wall:.1f} s, {took:.1f} s of it in {workers} workers")
    print(f"overhead {100 * (workers * wall / took - 1):.1f} %")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
