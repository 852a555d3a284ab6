"""``ackord sweep``: what it writes is read back by everybody, and is what a sweep in Python comes to."""

import subprocess
from pathlib import Path
from typing import Any

import ackord as ak
import duckdb
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

STUDY = """
version = 1
name = "two-points"
scenario = "lossy-wifi"
seeds = 3
series = ["cwnd"]
[set]
duration = "2 s"
[grid]
links.wifi.delay = ["10 ms", "20 ms"]
"""


@pytest.fixture(scope="module")
def swept(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "study.toml").write_text(STUDY)
    out = folder / "out"
    subprocess.run([command, "sweep", folder / "study.toml", "--out", out, "--csv"], check=True, capture_output=True)
    return out


def same_run(row: dict[str, Any]) -> None:
    assert row["run"] == 5 and row["seed"] == 3
    assert row["links.wifi.delay"] == "20 ms" and row["links.wifi.delay_s"] == 0.02
    assert row["version"] == ak.__version__ and len(row["scenario_hash"]) == 16


def test_duckdb_polars_and_pandas_read_the_same(swept: Path) -> None:
    by_polars = pl.read_parquet(swept / "flows" / "*.parquet")
    assert len(by_polars) == 6
    same_run(by_polars.row(5, named=True))
    by_pandas = pd.read_parquet(swept / "flows")
    same_run(by_pandas.iloc[5].to_dict())
    by_duckdb = duckdb.sql(f"select * from '{swept}/flows/*.parquet' order by run")
    same_run(dict(zip(by_duckdb.columns, by_duckdb.fetchall()[5], strict=True)))
    goodput = by_polars["goodput_bit_s"].to_list()
    assert by_pandas["goodput_bit_s"].to_list() == goodput
    assert [row[0] for row in by_duckdb.project("goodput_bit_s").fetchall()] == goodput
    assert pl.read_csv(swept / "flows.csv")["goodput_bit_s"].to_list() == goodput


def test_every_table_says_of_each_row_which_run_it_is_of(swept: Path) -> None:
    for table in ["runs", "flows", "links", "queues", "series/cwnd"]:
        frame = pl.read_parquet(swept / table / "*.parquet")
        same_run(frame.filter(pl.col("run") == 5).row(0, named=True))
        assert frame["run"].unique().sort().to_list() == [0, 1, 2, 3, 4, 5]


def test_columns_know_their_unit(swept: Path) -> None:
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    (part,) = (swept / "flows").iterdir()
    schema = pq.read_schema(part)
    units = {name: (schema.field(name).metadata or {}).get(b"unit") for name in schema.names}
    assert units["goodput_bit_s"] == b"bit/s" and units["rtt_mean_ms"] == b"ms"
    assert units["links.wifi.delay_s"] == b"s" and units["flow"] is None


def test_a_sweep_in_python_comes_to_the_same_tables(swept: Path) -> None:
    grid = {"links.wifi.delay": ["10 ms", "20 ms"]}
    sweep = ak.sweep("lossy-wifi", grid=grid, seeds=3, set={"duration": "2 s"})
    for table in ["flows", "links", "runs"]:
        in_python = pl.DataFrame(getattr(sweep, table))
        frame = pl.read_parquet(swept / table / "*.parquet")
        assert_frame_equal(frame.select(in_python.columns), in_python)


NAMED = """
version = 1
name = "named"
scenario = "lossy-wifi"
[set]
duration = "2 s"
[axes.loss]
key = "links.wifi.loss"
values = { none = "none", some = { kind = "random", per_packet = "1 %" } }
"""


def test_names_of_axes_and_values_are_columns_and_cells_as_in_python(command: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(NAMED)
    out = tmp_path / "out"
    subprocess.run([command, "sweep", tmp_path / "study.toml", "--out", out], check=True, capture_output=True)
    by_duckdb = duckdb.sql(f"select loss, goodput_bit_s from '{out}/flows/*.parquet' order by run")
    points = [
        ak.Point({"links.wifi.loss": "none"}, loss="none"),
        ak.Point({"links.wifi.loss": {"kind": "random", "per_packet": "1 %"}}, loss="some"),
    ]
    sweep = ak.sweep("lossy-wifi", points=points, set={"duration": "2 s"})
    in_python = pl.DataFrame(sweep.flows)
    assert by_duckdb.fetchall() == list(in_python.select("loss", "goodput_bit_s").iter_rows())
