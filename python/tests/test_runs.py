"""One run: the same bytes as the command line's, tables that Arrow's readers take, clear errors."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import ackord as ak
import polars as pl
import pyarrow as pa
import pytest


def test_a_run_gives_the_bytes_of_the_command_line(command: str, tmp_path: Path) -> None:
    words = ["run", "lossy-wifi", "--seed", "7", "--set", "flows.download.tcp.congestion=bbr"]
    by_command = subprocess.run(
        [command, *words, "--json", "-", "--pcap", tmp_path / "command", "--snaplen", "all",
         "--events", tmp_path / "command.jsonl"],
        check=True, capture_output=True, text=True,
    )
    change = {"flows.download.tcp.congestion": "bbr"}
    here = ak.run("lossy-wifi", seed=7, set=change, pcap=tmp_path / "here",
                  events=tmp_path / "here.jsonl")
    assert (tmp_path / "command.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert here.json == by_command.stdout
    captures = sorted(path.name for path in (tmp_path / "command").iterdir())
    assert captures and captures == sorted(path.name for path in (tmp_path / "here").iterdir())
    for name in captures:
        assert (tmp_path / "command" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_tables_are_taken_by_polars_and_pyarrow_with_their_units() -> None:
    result = ak.run("lossy-wifi", set={"duration": "5 s"})
    flows = pl.DataFrame(result.flows)
    assert flows["flow"].to_list() == ["download"]
    goodput = flows["goodput_bit_s"][0]
    assert 0 < goodput <= 20e6, "no more than the link has"
    assert result.flows.units["goodput_bit_s"] == "bit/s"
    assert result.flows.units["bytes_delivered"] == "B"
    assert flows.schema["retransmitted_segments"] == pl.UInt64, "what is counted is whole"
    assert flows.schema["goodput_bit_s"] == pl.Float64
    # Tables of the command line show it in percent.
    assert result.links.units["utilisation"] == "" and result.links.column("utilisation")[0] <= 1
    field = pa.table(result.flows).schema.field("goodput_bit_s")
    assert field.metadata == {b"unit": b"bit/s"}
    assert result.flows.rows()[0]["goodput_bit_s"] == goodput
    json_says = json.loads(result.json)["flows"][0]["goodput_bit_s"]
    assert goodput == pytest.approx(json_says, rel=1e-12)


def test_series_are_rows_of_time_name_and_value() -> None:
    result = ak.run("lossy-wifi", set={"duration": "5 s"})
    cwnd = pl.DataFrame(result.series("cwnd"))
    assert cwnd.columns == ["time_s", "flow", "cwnd_bytes"]
    assert cwnd["time_s"].is_sorted() and cwnd["time_s"].max() <= 5.0
    with pytest.raises(ak.InputError, match="did you mean `cwnd`"):
        result.series("cwn")
    with pytest.raises(ak.InputError, match="series=True"):
        ak.run("lossy-wifi", set={"duration": "1 s"}, series=False).series("cwnd")


def test_other_threads_go_on_during_a_run() -> None:
    counted = 0
    over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    ak.run("dumbbell", set={"duration": "20 s"})
    over.set()
    thread.join()
    assert counted >= 3


@pytest.mark.parametrize(
    "work",
    [
        "ak.run('dumbbell', set=long)",
        "ak.compare('dumbbell', 'tcp.congestion', ['reno', 'cubic'], runs=2, set=long)",
        "ak.sweep('dumbbell', seeds=4, set=long)",
        "ak.sweep('dumbbell', seeds=4, set=long, on='processes')",
    ],
)
def test_ctrl_c_ends_it(work: str) -> None:
    text = f"import ackord as ak; print('begun', flush=True); long = {{'duration': '36000 s'}}; {work}"
    run = subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert run.stdout is not None and run.stdout.readline() == "begun\n"
    time.sleep(0.7)
    # As a terminal does: to the whole group of processes.
    os.killpg(run.pid, signal.SIGINT)
    try:
        # The runs would take minutes.
        _, errors = run.communicate(timeout=20)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in errors


def test_what_is_wrong_is_told_with_key_value_and_what_is_allowed() -> None:
    with pytest.raises(ak.InputError) as raised:
        ak.run("lossy-wifi", set={"flows.download.tcp.congestion": "cubik"})
    text = str(raised.value)
    assert "cubik" in text and "did you mean `cubic`" in text
    assert raised.value.paths == ("flows.download.tcp.congestion",)
    with pytest.raises(ak.InputError, match="lossy-wifi") as raised:
        ak.run("lossy-wify")
    assert raised.value.paths == ()
    with pytest.raises(ak.InputError, match="`links.0.queue` is <object"):
        ak.run("lossy-wifi", set={"links.0.queue": object()})  # type: ignore[dict-item]
    with pytest.raises(ak.InputError, match="a path or an ackord.Scenario"):
        ak.run(7)  # type: ignore[arg-type]


def test_a_comparison_gives_the_bytes_of_the_command_line(command: str) -> None:
    words = ["compare", "lossy-wifi", "--vary", "flows.*.tcp.congestion=reno,cubic", "--runs", "2"]
    words += ["--set", "duration=5 s", "--json", "-"]
    by_command = subprocess.run([command, *words], check=True, capture_output=True, text=True)
    here = ak.compare(
        "lossy-wifi", "flows.*.tcp.congestion", ["reno", "cubic"], runs=2, set={"duration": "5 s"}
    )
    assert here.json == by_command.stdout


def test_a_capture_is_diagnosed_as_on_the_command_line(tmp_path: Path) -> None:
    ak.run("delayed-ack-stall", pcap=tmp_path)
    found = ak.diagnose(next(tmp_path.glob("*at-client*")))
    assert len(found.connections) == 1
    with pytest.raises(ak.InputError, match="no-such.pcap"):
        ak.diagnose("no-such.pcap")
