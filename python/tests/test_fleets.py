"""Many captures: the same rows whatever runs it, one data set with the command line, reasons for what is no capture."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ackord as ak
import matplotlib
import polars as pl
import pytest
from ackord import plot
from polars.testing import assert_frame_equal

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of three runs, and a text."""
    folder = tmp_path_factory.mktemp("captures")
    for seed in (1, 2, 3):
        ak.run("lossy-wifi", seed=seed, set={"duration": "3 s"}, pcap=folder / str(seed))
    (folder / "notes.txt").write_text("not a capture")
    return folder


def frames(fleet: ak.Fleet) -> list[pl.DataFrame]:
    tables = (fleet.connections, fleet.causes, fleet.remedies, fleet.files)
    return [pl.DataFrame(table) for table in tables]


@pytest.fixture(scope="module")
def expected(captures: Path) -> list[pl.DataFrame]:
    return frames(ak.diagnose_many(captures))


def test_every_capture_has_the_rows_of_its_own_diagnosis(captures: Path) -> None:
    fleet = ak.diagnose_many(captures)
    connections, causes, remedies, files = frames(fleet)
    assert files.height == len(list(captures.rglob("*.pcapng"))) + 1 and remedies.is_empty()
    assert files["error"].drop_nulls().len() == 1 and "notes.txt" in files["error"].drop_nulls()[0]
    for path in captures.rglob("*.pcapng"):
        one = ak.diagnose(path)
        of_it = causes.filter(pl.col("file") == str(path.resolve()))
        assert of_it["seconds"].to_list() == [cause["seconds"] for cause in one.causes]
        began = one.connections[0]["began_ns"]
        assert of_it["time"][0] == datetime.fromtimestamp(began // 1000 / 1e6, UTC)
    assert causes["seconds"].sum() == pytest.approx(connections["duration_s"].sum())
    assert isinstance(fleet.files.column("time")[0], datetime | None)
    assert fleet.causes.units["seconds"] == "s"


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_what_runs_it_changes_nothing(captures: Path, expected: list[pl.DataFrame], on: str) -> None:
    for one, other in zip(frames(ak.diagnose_many(captures, on=on, task_s=0.01)), expected, strict=True):
        assert_frame_equal(one, other)


def test_dask_changes_nothing(captures: Path, expected: list[pl.DataFrame]) -> None:
    distributed = pytest.importorskip("distributed", reason="SKIPPED: no Dask here")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        for one, other in zip(frames(ak.diagnose_many(captures, on=client)), expected, strict=True):
            assert_frame_equal(one, other)


def test_ray_changes_nothing(captures: Path, expected: list[pl.DataFrame]) -> None:
    ray: Any = pytest.importorskip("ray", reason="SKIPPED: no Ray here")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        for one, other in zip(frames(ak.diagnose_many(captures, on="ray")), expected, strict=True):
            assert_frame_equal(one, other)
    finally:
        ray.shutdown()


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}


def test_a_data_set_is_that_of_the_command_line_and_each_continues_the_other(
    captures: Path, tmp_path: Path, command: str, expected: list[pl.DataFrame]
) -> None:
    def program(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, "diagnose", *words], check=True, capture_output=True, text=True)

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    fleet = ak.diagnose_many([captures / "1", captures / "notes.txt"], out=ours)
    assert pl.DataFrame(fleet.files).height < expected[3].height
    done = program(str(captures), "--out", str(ours), "--json", "-")
    assert f"{pl.DataFrame(fleet.files).height - 1} of them known" in done.stderr
    whole = ak.diagnose_many(captures, out=theirs)
    assert below(ours) == below(theirs)
    for one, other in zip(frames(whole), expected, strict=True):
        assert_frame_equal(one, other)
    assert whole.summary.data["hosts"][0]["lost_s"] > 0
    of_theirs = program("show", str(theirs), "--json", "-").stdout
    assert done.stdout == of_theirs and pytest.approx(whole.summary.data["lost_s"]) == fleet_lost(of_theirs)


def fleet_lost(text: str) -> float:
    import json

    lost: float = json.loads(text)["lost_s"]
    return lost


def test_mistakes_are_told(tmp_path: Path) -> None:
    def refused(call: Callable[[], object], says: str) -> None:
        with pytest.raises(ak.InputError, match=says):
            call()

    refused(lambda: ak.diagnose_many(tmp_path / "nowhere"), "nowhere")
    refused(lambda: ak.diagnose_many(tmp_path), "there is no file in")
    (tmp_path / "notes.txt").write_text("not a capture")
    refused(lambda: ak.diagnose_many(tmp_path), r"none of 1 files can be read.*notes\.txt")
    refused(lambda: ak.diagnose_many(tmp_path, task_s=0), "`task_s` is 0")
    refused(lambda: ak.diagnose_many(tmp_path, on="clouds"), "`on` is 'clouds'")


def test_plots_have_the_sums_of_the_tables(captures: Path, tmp_path: Path) -> None:
    fleet = ak.diagnose_many(captures)
    lost = pl.DataFrame(fleet.causes)["lost_s"].sum()
    bars = plot.hosts(fleet).containers[0]
    assert sum(bar.get_width() for bar in bars) == pytest.approx(lost)  # type: ignore[attr-defined]
    stacked = [bar.get_height() for bars in plot.hours(fleet).containers for bar in bars]  # type: ignore[attr-defined]
    assert sum(stacked) == pytest.approx(lost)
    widths = sum(bar.get_width() for bar in plot.causes(fleet).containers[0])  # type: ignore[attr-defined]
    assert widths == pytest.approx(pl.DataFrame(fleet.causes)["seconds"].sum(), rel=0.03)
    with pytest.raises(ak.InputError, match="`connection` is for one diagnosis"):
        plot.causes(fleet, connection=0)
    written = fleet.summary.write(tmp_path / "report")
    assert {"report.html", "summary.json", "hosts.svg"} <= {path.name for path in written}
