"""Algorithms in Python: the same events as the ones in Rust, and what they get wrong."""

from pathlib import Path

import ackord as ak
import in_python as in_python  # registers them by name
import pytest

#: Ten senders say enough in a few seconds.
SHORTER = {"dumbbell": {"duration": "5 s"}}
QUANTITIES = ("cwnd", "ssthresh", "rtt", "sent", "retransmitted", "acked", "delivered")


def the_same(scenario: str, key: str, kinds: tuple[object, str], folder: Path) -> ak.Result:
    """Both kinds give the same event log, byte for byte, and the same tables and series."""
    logs = [folder / name for name in ("rust.jsonl", "python.jsonl")]
    one, other = (
        ak.run(scenario, set={key: kind} | SHORTER.get(scenario, {}), events=log)  # type: ignore[dict-item]
        for kind, log in zip(kinds, logs, strict=True)
    )
    rust, python = (log.read_bytes() for log in logs)
    assert rust.count(b"\n") > 500, "too short to show anything"
    assert rust == python
    for table in ("flows", "links", "queues", "transfers"):
        rows = [getattr(result, table).rows() for result in (one, other)]
        for row in rows[0] + rows[1]:
            row.pop("queue", None)
        assert rows[0] == rows[1], table
    for quantity in QUANTITIES:
        assert one.series(quantity).to_ipc() == other.series(quantity).to_ipc(), quantity
    return one


@pytest.mark.parametrize("control", ["reno", "vegas"])
@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell", "fades", "bufferbloat"])
def test_a_control_in_python_does_what_it_does_in_rust(scenario: str, control: str, tmp_path: Path) -> None:
    the_same(scenario, "flows.*.tcp.congestion", (control, f"{control}-in-python"), tmp_path)


@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell", "delayed-ack-stall"])
def test_delayed_acks_in_python_are_those_in_rust(scenario: str, tmp_path: Path) -> None:
    the_same(scenario, "flows.*.tcp.ack", ("delayed", "delayed-in-python"), tmp_path)


@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell", "fades"])
def test_a_fixed_threshold_in_python_is_the_one_in_rust(scenario: str, tmp_path: Path) -> None:
    the_same(scenario, "flows.*.tcp.loss", ("fixed", "fixed-in-python"), tmp_path)


def test_drop_tail_in_python_is_the_one_in_rust(tmp_path: Path) -> None:
    rust = {"kind": "drop-tail", "limit": "50 packets"}
    kinds = (rust, "drop-tail-in-python")
    one = the_same("reno-against-vegas", "links.bottleneck.queue", kinds, tmp_path)
    assert one.queues.column("dropped_packets")[0] > 0


def test_a_queue_marks_and_pushes_out() -> None:
    class Marking(ak.Queue, name="marking"):
        def __init__(self) -> None:
            self.waiting: list[ak.Packet] = []

        def enqueue(self, now: float, packet: ak.Packet) -> bool:
            self.waiting.append(packet)
            if len(self.waiting) > 20:
                self.drop(self.waiting.pop(0))
            return True

        def dequeue(self, now: float) -> ak.Packet | None:
            packet = self.waiting.pop(0)
            if len(self.waiting) > 10:
                self.mark(packet)
            return packet

    def bottleneck(ecn: bool) -> dict[str, float]:
        change = {"links.bottleneck.queue": "marking", "tcp.ecn": ecn}
        queues = ak.run("reno-against-vegas", set=change).queues.rows()
        return next(queue for queue in queues if queue["queue"] == "marking")

    # Marks keep the queue short; without ECN only what is pushed out tells the senders.
    assert bottleneck(ecn=True)["dropped_packets"] < bottleneck(ecn=False)["dropped_packets"]
    assert bottleneck(ecn=False)["max_length_packets"] <= 21


def test_a_queue_that_gives_what_it_has_not_is_refused() -> None:
    class Twice(ak.Queue, name="twice"):
        def enqueue(self, now: float, packet: ak.Packet) -> bool:
            self.last = packet
            return True

        def dequeue(self, now: float) -> ak.Packet | None:
            return self.last

    with pytest.raises(ak.AlgorithmError, match="`dequeue` answered .* is allowed") as raised:
        ak.run("reno-against-vegas", set={"links.bottleneck.queue": "twice"})
    assert "link `bottleneck`" in raised.value.whose


def test_an_exception_ends_the_run_with_time_flow_and_traceback() -> None:
    class Faulty(ak.CongestionControl, name="faulty"):
        def on_ack(self, now: float, ack: ak.AckSample) -> None:
            if now > 1.0:
                raise LookupError("no such window")

        def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
            pass

    with pytest.raises(ak.AlgorithmError, match="`faulty` of flow `download` .server.") as raised:
        ak.run("lossy-wifi", set={"flows.download.tcp.congestion": "faulty"})
    assert 1.0 < raised.value.time_s < 1.5
    cause = raised.value.__cause__
    assert isinstance(cause, LookupError) and cause.__traceback__ is not None


@pytest.mark.parametrize("nonsense", [-1, float("nan"), "wide", None, 0, float("inf"), [1]])
def test_a_window_that_cannot_be_is_refused_with_what_is_allowed(nonsense: object) -> None:
    class Nonsense(ak.CongestionControl, name="nonsense"):
        def on_ack(self, now: float, ack: ak.AckSample) -> None:
            self.cwnd = nonsense  # type: ignore[assignment]

        def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
            pass

    with pytest.raises(ak.AlgorithmError, match="`cwnd` is .* allowed"):
        ak.run("lossy-wifi", set={"flows.download.tcp.congestion": "nonsense"})


def test_names_that_are_taken_or_are_none_are_refused() -> None:
    with pytest.raises(ak.InputError, match="`reno` already"):
        type("Mine", (ak.CongestionControl,), {}, name="reno")
    with pytest.raises(ak.InputError, match="no name of a mechanism"):
        type("Mine", (ak.CongestionControl,), {}, name="My Own")
