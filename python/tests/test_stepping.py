"""Runs in steps: the bytes of ordinary runs, exact states, changes that take effect, errors that help."""

import json
from pathlib import Path
from typing import Any

import ackord as ak
import pytest

#: Library scenarios are cut to this, so that all of them take seconds.
CUT_S = 3.0


def short(name: str) -> ak.Checked:
    """A built-in scenario that lasts no longer than the tests of all of them can afford."""
    whole = ak.Scenario.open(name).check()
    return ak.Scenario.open(name).check({"duration": f"{min(whole.duration_s, CUT_S)} s"})


def library() -> list[str]:
    return [name for name in ak.scenarios() if "kernel" not in ak.Scenario.open(name).toml()]


@pytest.mark.parametrize("name", library())
def test_steps_without_changes_give_the_bytes_of_an_ordinary_run(name: str) -> None:
    try:
        scenario = short(name)
    except ak.InputError as error:
        # A flow of some begins later than that.
        assert "start" in str(error)
        scenario = ak.Scenario.open(name).check()
    expected = ak.run(scenario)
    end_s = scenario.duration_s
    patterns: list[list[float]] = [
        [],
        [0.0, end_s / 3, end_s / 3, end_s],
        [end_s * part / 41 for part in range(1, 42)],
    ]
    for times in patterns:
        sim = ak.Simulation(scenario)
        for time in times:
            sim.run_until(time)
            assert sim.flows is not None and sim.links
        result = sim.finish()
        assert result.json == expected.json
        for quantity in ("cwnd", "queue-packets", "drops"):
            assert result.series(quantity).to_ipc() == expected.series(quantity).to_ipc()


def test_events_file_of_steps_is_that_of_an_ordinary_run(tmp_path: Path) -> None:
    change = {"duration": "5 s"}
    ak.run("lossy-wifi", set=change, events=tmp_path / "run.jsonl")
    sim = ak.Simulation("lossy-wifi", set=change, events=tmp_path / "steps.jsonl")
    for part in range(1, 30):
        sim.run_until(part / 6)
    sim.finish()
    # Where links run ahead, drops are reported late: the same lines in another order.
    runs, steps = ((tmp_path / name).read_text().splitlines() for name in ("run.jsonl", "steps.jsonl"))
    assert sorted(runs) == sorted(steps)


def test_states_are_those_of_the_series_and_events_at_that_time() -> None:
    sim = ak.Simulation("bufferbloat", set={"duration": "20 s"})
    states = []
    lengths = {"uplink": 0}
    for event in ("PacketEnqueued", "PacketDequeued"):
        sim.on(event, lambda it: lengths.update({it["link"]: it["queue_packets"]}))
    for until in ("4 s", 8, 12.5):
        sim.run_until(until)
        flow, link = sim.flow("upload"), sim.link("uplink")
        assert link.queue_packets == lengths["uplink"] > 10
        states.append((sim.time_s, flow.cwnd_bytes, flow.delivered_bytes))
        assert flow.srtt_s is not None and flow.srtt_s > 0.03 and flow.pipe_bytes <= flow.flight_bytes
    result = sim.finish()

    def at(quantity: str, of: str, time_s: float) -> float:
        time, name, value = result.series(quantity).column_names
        rows = [row for row in result.series(quantity) if row[name] == of and row[time] <= time_s]
        return float(rows[-1][value])

    assert [state[0] for state in states] == [4.0, 8.0, 12.5]
    for time_s, cwnd, delivered in states:
        assert at("cwnd", "upload", time_s) == cwnd
        assert at("delivered", "upload", time_s) == delivered


def test_a_changed_rate_takes_effect_and_is_in_the_report() -> None:
    sim = ak.Simulation("bufferbloat", set={"duration": "20 s"})
    sim.run_until(10)
    before = sim.flow("upload").delivered_bytes
    sim.set({"links.uplink.rate": "500 kbit/s", "links.uplink.queue.limit": "20 kB"})
    assert sim.link("uplink").rate_bit_s == 500_000
    sim.run_until(18)
    assert 8 * (sim.flow("upload").delivered_bytes - before) < 8 * 500_000
    result = sim.finish()
    changes = [(10.0, "links.uplink.rate", '"500 kbit/s"'), (10.0, "links.uplink.queue.limit", '"20 kB"')]
    assert [(it["at_s"], it["key"], it["value"]) for it in result.data["changes"]] == changes
    assert "changes" not in ak.run("bufferbloat", set={"duration": "6 s"}).data


def test_the_same_changes_give_the_same_bytes() -> None:
    def once() -> str:
        sim = ak.Simulation("lossy-wifi", seed=3, set={"duration": "5 s"})
        sim.run_until("1 s")
        sim.set({"links.wifi.loss": {"kind": "random", "per_packet": "3 %"}, "links.wifi.delay": "30 ms"})
        sim.run_for("500 ms")
        sim.steer(cwnd_bytes=60_000, pacing_rate_bit_s=4e6)
        return sim.finish().json

    assert once() == once()


def test_what_cannot_be_changed_is_refused_with_what_can() -> None:
    sim = ak.Simulation("bufferbloat", set={"duration": "6 s"})
    sim.run_until("1 s")
    for path, value in (
        ("flows.upload.tcp.congestion", "bbr"), ("seed", 3), ("links.uplink.queue", "fq-codel"),
    ):  # fmt: skip
        with pytest.raises(ak.InputError, match=r"`links\.\*\.rate`, `links\.\*\.delay`"):
            sim.set({path: value})
    with pytest.raises(ak.InputError, match="did you mean `uplink`"):
        sim.set({"links.uplnk.rate": "1 Mbit/s"})
    with pytest.raises(ak.InputError, match="rate"):
        sim.set({"links.uplink.rate": "1 apple"})
    with pytest.raises(ak.InputError, match="did you mean `upload`"):
        sim.flow("uplod")
    with pytest.raises(ak.InputError, match="there are 2 connections"):
        sim.flow()
    with pytest.raises(ak.InputError, match="the simulation is at 1"):
        sim.run_until("500 ms")
    for wrong in (0, -5, float("nan"), 1e300, True):
        with pytest.raises(ak.InputError, match="cwnd_bytes"):
            sim.steer("upload", cwnd_bytes=wrong)
    assert sim.changes == []
    sim.finish()
    with pytest.raises(ak.RunError, match="the simulation has ended"):
        sim.run_for(1)


def test_events_are_received_while_they_happen() -> None:
    sim = ak.Simulation("lossy-wifi", set={"duration": "4 s"})
    seen: list[dict[str, Any]] = []
    sim.on("PacketDropped", seen.append)
    lengths: list[int] = []
    sim.on("PacketEnqueued", lambda event: lengths.append(event["queue_packets"]))
    sim.run_until("2 s")
    until = len(seen)
    assert until > 0 and all(event["time_s"] <= 2.0 for event in seen)
    assert {(event["event"], event["flow"]) for event in seen} == {("PacketDropped", "download")}
    assert {event["link"] for event in seen} <= {"wifi", "wifi.reverse"} and max(lengths) > 1
    result = sim.finish()
    dropped = sum(row["dropped_packets"] for row in result.queues)
    assert len(seen) == dropped > until
    assert result.json == ak.run("lossy-wifi", set={"duration": "4 s"}).json
    with pytest.raises(ak.InputError, match="did you mean `PacketDropped`"):
        ak.Simulation("lossy-wifi").on("PacketDroped", print)


def test_an_exception_of_a_callback_ends_the_step_and_not_the_simulation() -> None:
    sim = ak.Simulation("lossy-wifi", set={"duration": "4 s"})
    reached: list[str] = []

    def callback(event: dict[str, Any]) -> None:
        if not reached:
            reached.append(event["event"])
            sim.flow("download")

    sim.on("PacketDropped", callback)
    with pytest.raises(ak.RunError, match="not in a callback"):
        sim.run_until("4 s")
    assert 0 < sim.time_s < 4
    assert sim.finish().json == ak.run("lossy-wifi", set={"duration": "4 s"}).json


def test_a_steered_window_holds() -> None:
    sim = ak.Simulation("lossy-wifi", set={"duration": "10 s"})
    sim.run_until("2 s")
    sim.steer(cwnd_bytes=20 * 1448)
    for _ in range(20):
        sim.run_for("200 ms")
        state = sim.flow()
        assert state.cwnd_bytes == 20 * 1448 and state.pipe_bytes <= state.cwnd_bytes
    before = sim.flow().sent_segments
    sim.steer(cwnd_bytes=1e6, pacing_rate_bit_s=2e6)
    sim.run_for("2 s")
    sent = 8 * 1460 * (sim.flow().sent_segments - before) / 2
    assert 1.9e6 < sent < 2.1e6, "the pacing rate bounds it"
    assert sim.changes[0].key == "flows.download.tcp.congestion"


def test_a_result_where_the_simulation_stands() -> None:
    sim = ak.Simulation("lossy-wifi", set={"duration": "10 s"})
    sim.run_until("3 s")
    result = sim.finish(to_end=False)
    assert json.loads(result.json)["ending"] == "interrupted" and result.duration_s == 3.0
