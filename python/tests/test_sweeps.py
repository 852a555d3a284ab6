"""Sweeps: one table whatever ran them, also where workers die."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import ackord as ak
import polars as pl
import pytest
from conftest import Campaign, frames
from polars.testing import assert_frame_equal

GRID = {"links.bottleneck.queue.limit": ["20 packets", "50 packets"]}


def swept(**how: Any) -> list[pl.DataFrame]:
    seeds = how.pop("seeds", 6)
    return frames(ak.sweep("reno-against-vegas", grid=GRID, seeds=seeds, set={"duration": "5 s"}, **how))


def the_same(some: list[pl.DataFrame], others: list[pl.DataFrame]) -> None:
    for one, other in zip(some, others, strict=True):
        assert_frame_equal(one, other)


def test_every_point_has_every_seed_in_the_order_of_the_plan() -> None:
    flows, _, runs = swept()
    assert runs["run"].to_list() == list(range(12))
    assert runs["seed"].to_list() == [1, 2, 3, 4, 5, 6] * 2
    assert flows.height == 24 and runs["error"].null_count() == 12
    one = ak.run("reno-against-vegas", seed=3, set={"duration": "5 s", "links.bottleneck.queue.limit": "50 packets"})
    alone = one.flows.column("goodput_bit_s")
    assert flows.filter(pl.col("run") == 8)["goodput_bit_s"].to_list() == alone


def test_points_that_are_no_grid_have_columns_of_their_own() -> None:
    points = [
        ak.Point({"flows.*.tcp.congestion": "cubic", "duration": "3 s"}, who="CUBIC", seconds=3),
        ak.Point({"duration": "5 s"}, who="as it was", seconds=5.5),
    ]
    g = ak.sweep("reno-against-vegas", points=points, grid=GRID, seeds=[7])
    flows, runs = pl.DataFrame(g.flows), pl.DataFrame(g.runs)
    assert runs["who"].to_list() == ["CUBIC"] * 2 + ["as it was"] * 2
    assert runs["seconds"].to_list() == [3.0, 3.0, 5.5, 5.5]
    assert runs[next(iter(GRID))].to_list() == ["20 packets", "50 packets"] * 2
    one = ak.run("reno-against-vegas", seed=7, set={**points[0].set, next(iter(GRID)): "50 packets"})
    assert flows.filter(pl.col("run") == 1)["goodput_bit_s"].to_list() == one.flows.column("goodput_bit_s")


def test_points_without_names_are_their_paths() -> None:
    queue = next(iter(GRID))
    points = [{queue: limit} for limit in GRID[queue]]
    g = ak.sweep("reno-against-vegas", points=points, seeds=6, set={"duration": "5 s"})
    the_same([pl.DataFrame(table) for table in (g.flows, g.links, g.runs)], swept())


def test_what_is_wrong_with_points_is_told_before_anything_runs() -> None:
    def swept(*points: Any, **more: Any) -> None:
        ak.sweep("reno-against-vegas", points=points, **more)

    for nonsense in ((), ("duration",), ({"duration": "3 s"}, 7)):
        with pytest.raises(ak.InputError, match="`points` "):
            swept(*nonsense)
    with pytest.raises(ak.InputError, match="not the same columns everywhere: duration, and then seed; name them"):
        swept({"duration": "3 s"}, {"seed": 3})
    with pytest.raises(ak.InputError, match="column `run`, which is there already"):
        swept(ak.Point({}, run=1))
    with pytest.raises(ak.InputError, match="which is there already"):
        swept({next(iter(GRID)): "20 packets"}, grid=GRID)
    with pytest.raises(ak.InputError, match="did you mean `cubic`"):
        swept(ak.Point({}, n=1), ak.Point({"flows.*.tcp.congestion": "cubik"}, n=2))


def test_processes_and_threads_give_the_same_tables() -> None:
    with ProcessPoolExecutor(2) as pool:
        the_same(swept(), swept(on=pool))


def test_a_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = swept(out=tmp_path)
    parts = sorted((tmp_path / "runs").glob("*.parquet"))
    for part in parts[::2]:
        part.unlink()
    kept = {part: part.stat().st_mtime_ns for part in parts[1::2]}
    the_same(whole, swept(out=tmp_path))
    assert {part: part.stat().st_mtime_ns for part in kept} == kept, "what was there is not run again"
    assert pl.read_parquet(tmp_path / "runs" / "*.parquet").height == 12
    with pytest.raises(ak.InputError, match="another sweep: seeds differ"):
        swept(out=tmp_path, seeds=7)


def test_what_a_killed_sweep_left_half_written_is_written_again(tmp_path: Path) -> None:
    whole = swept(out=tmp_path)
    parts = sorted((tmp_path / "runs").glob("*.parquet"))
    for part in parts[1:4]:
        # Killed between the tables of flows and of runs, and in the middle of a file.
        part.unlink()
        part.with_suffix(".partial").write_bytes(b"PAR1")
    notes = tmp_path / "runs" / "notes.txt"
    notes.write_text("somebody else's")
    the_same(whole, swept(out=tmp_path))
    assert notes.exists()
    for name, table in zip(("flows", "links", "runs"), whole, strict=True):
        there = pl.read_parquet(tmp_path / name / "*.parquet").sort("run", maintain_order=True)
        assert_frame_equal(there, table)


def test_longer_tasks_have_more_runs(tmp_path: Path) -> None:
    one, more = swept(out=tmp_path / "short", task_s=1e-6), swept(out=tmp_path / "long", task_s=60)
    the_same(one, more)
    files = [len(list((tmp_path / name / "runs").iterdir())) for name in ("short", "long")]
    assert files[0] == 12 and files[1] < 12


def kill_one_worker(marker: str, killed: list[int]) -> None:
    """Kills the first child process whose command line has `marker`, as soon as there is one."""
    until = time.monotonic() + 20
    while not killed and time.monotonic() < until:
        for process in Path("/proc").iterdir():
            if not process.name.isdigit() or int(process.name) == os.getpid():
                continue
            try:
                command = (process / "cmdline").read_bytes().decode(errors="replace")
                parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if marker in command and parent == os.getpid():
                time.sleep(0.3)
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(int(process.name))
                return
        time.sleep(0.01)


@pytest.fixture
def two_processors() -> Iterator[None]:
    """However many there are: with more, a campaign would be over before a worker can be killed."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:2])
    yield
    os.sched_setaffinity(0, before)


def test_a_killed_process_costs_nothing_but_time(campaign: Campaign, two_processors: None) -> None:
    killed: list[int] = []
    killer = threading.Thread(target=kill_one_worker, args=(Path(sys.executable).name, killed))
    killer.start()
    campaign.is_the_same_with(on="processes")
    killer.join()
    assert killed, "no worker was there to be killed"


def test_what_is_wrong_with_a_grid_is_told_before_anything_runs() -> None:
    with pytest.raises(ak.InputError, match="no value at `tcp.congestion`"):
        ak.sweep("lossy-wifi", grid={"tcp.congestion": []})
    with pytest.raises(ak.InputError, match="did you mean `cubic`"):
        ak.sweep("lossy-wifi", grid={"tcp.congestion": ["reno", "cubik"]})
    with pytest.raises(ak.InputError, match="a list of values"):
        ak.sweep("lossy-wifi", grid={"tcp.congestion": "reno"})
    with pytest.raises(ak.InputError, match="from 1 on"):
        ak.sweep("lossy-wifi", grid={}, seeds=0)
    for nonsense in (0, -1.5, float("nan"), float("inf"), "long"):
        with pytest.raises(ak.InputError, match="`task_s` is"):
            ak.sweep("lossy-wifi", grid={}, task_s=nonsense)  # type: ignore[arg-type]
    with pytest.raises(ak.InputError, match="`on` is 'clouds'"):
        ak.sweep("lossy-wifi", grid={}, on="clouds")
