"""Captures: causes whose seconds add up, remedies as the command line predicts them, clear errors."""

import subprocess
from pathlib import Path

import ackord as ak
import polars as pl
import pytest


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A download over a link that loses packets at random."""
    folder = tmp_path_factory.mktemp("captures")
    ak.run("lossy-wifi", set={"duration": "10 s"}, pcap=folder)
    return next(folder.glob("*at-server*"))


def test_the_seconds_of_causes_add_up_to_the_duration_of_their_connection(tmp_path: Path) -> None:
    ak.run("bufferbloat", set={"duration": "10 s"}, pcap=tmp_path)
    found = ak.diagnose(next(tmp_path.glob("*at-home*")))
    assert len(found.connections) == 2
    for connection in found.connections:
        of_it = [cause for cause in found.causes if cause["connection"] == connection["id"]]
        assert sum(cause["seconds"] for cause in of_it) == pytest.approx(connection["duration_s"], abs=1e-6)
        assert sum(cause["share"] for cause in of_it) == pytest.approx(1.0, abs=1e-6)
        assert [cause["seconds"] for cause in of_it] == sorted((c["seconds"] for c in of_it), reverse=True)
    table = pl.DataFrame(found.causes)
    assert table.columns == ["connection", "cause", "seconds", "share", "confidence"]
    assert table.filter(pl.col("connection") == 0)["cause"][0] == "queueing-own"


def test_random_loss_is_what_costs_most_where_packets_are_lost_at_random(capture: Path) -> None:
    found = ak.diagnose(capture)
    assert found.causes[0]["cause"] == "random-loss" and found.causes[0]["share"] > 0.5
    assert found.remedies == [], "nobody asked for them"


def test_a_diagnosis_has_the_bytes_of_the_command_line(capture: Path, command: str) -> None:
    def said(*words: str) -> str:
        done = [command, "diagnose", "--json", "-", *words, str(capture)]
        return subprocess.run(done, check=True, capture_output=True, text=True).stdout

    assert ak.diagnose(capture).json == said("--no-predict")
    predicted = ak.diagnose(capture, predict=True)
    assert predicted.json == said()
    best = predicted.remedies[0]
    # No gain is above what the path allows: there the interval ends.
    assert best["low_percent"] < best["high_percent"]
    assert best["low_percent"] <= best["gain_percent"] <= best["high_percent"]
    assert {"bbr", "snoop"} <= {remedy["remedy"] for remedy in predicted.remedies}
    assert predicted.causes == ak.diagnose(capture).causes


def test_what_is_no_capture_is_refused(tmp_path: Path, command: str) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a capture")
    for predict in (False, True):
        with pytest.raises(ak.InputError, match=r"notes\.txt"):
            ak.diagnose(text, predict=predict)
