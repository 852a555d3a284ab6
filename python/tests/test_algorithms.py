"""Algorithms in Python: the same events as the ones in Rust, and what they get wrong."""

import ackord as ak
import pytest

QUANTITIES = ("cwnd", "ssthresh", "rtt", "sent", "retransmitted", "acked", "delivered")


class Reno(ak.CongestionControl, name="reno-in-python"):
    """RFC 5681, as the control `reno` has it."""

    def on_established(self, now: float, sizes: ak.Established) -> None:
        self.cwnd = sizes.initial_window
        self.smss = sizes.smss
        self.carried = 0

    def on_ack(self, now: float, ack: ak.AckSample) -> None:
        if not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + self.smss, self.ssthresh)
        else:
            step, self.carried = divmod(self.carried + self.smss * self.smss, int(self.cwnd))
            self.cwnd += step

    def reduce(self, flight_size: int) -> None:
        self.ssthresh = max(int(min(flight_size, self.cwnd) * 0.5), 2 * self.smss)

    def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
        self.carried = 0
        match event:
            case ak.Loss():
                self.reduce(event.flight_size)
                self.cwnd = self.smss if event.slow_start else self.ssthresh
            case ak.Mark():
                self.reduce(event.flight_size)
                self.cwnd = self.ssthresh
            case ak.Timeout():
                if not event.repeated:
                    self.reduce(event.flight_size)
                self.cwnd = self.smss
            case ak.Undone() | ak.Restart():
                self.cwnd = max(event.cwnd, self.smss)
                self.ssthresh = max(event.ssthresh, 2 * self.smss)
            case ak.Recovered() if event.cwnd_at_most is not None:
                self.cwnd = max(min(self.cwnd, event.cwnd_at_most), self.smss)


class Delayed(ak.AckPolicy, name="delayed-in-python"):
    """RFC 5681 §4.2, as the policy `delayed` has it."""

    def __init__(self) -> None:
        self.due: float | None = None

    def on_segment(self, now: float, arrival: ak.Arrival) -> float | None:
        if arrival.order != "in-order" or arrival.unacknowledged >= 2 * arrival.full_size:
            return None
        if self.due is None:
            self.due = now + 0.2
        return self.due

    def on_ack_sent(self, now: float, with_data: bool) -> None:
        self.due = None


class Fixed(ak.LossDetector, name="fixed-in-python"):
    """RFC 5681 §3.2 with limited transmit, as the detector `fixed` has it."""

    def on_ack(self, now: float, facts: ak.LossFacts) -> ak.Verdict | ak.Undo | int | None:
        if not facts.leave_doubt():
            return None
        if facts.reaches(3):
            return ak.Verdict.LOST
        return facts.smss * min(facts.duplicate_acks, 2)


class DropTail(ak.Queue, name="drop-tail-in-python"):
    """First in, first out; fifty packets."""

    def __init__(self) -> None:
        self.waiting: list[ak.Packet] = []

    def enqueue(self, now: float, packet: ak.Packet) -> bool:
        if len(self.waiting) == 50:
            return False
        self.waiting.append(packet)
        return True

    def dequeue(self, now: float) -> ak.Packet | None:
        return self.waiting.pop(0)


def the_same(one: ak.Result, other: ak.Result) -> None:
    for table in ("flows", "links", "queues", "transfers"):
        rows = [getattr(result, table).rows() for result in (one, other)]
        for row in rows[0] + rows[1]:
            row.pop("queue", None)
        assert rows[0] == rows[1], table
    for quantity in QUANTITIES:
        assert one.series(quantity).rows() == other.series(quantity).rows(), quantity


@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell", "fades", "bufferbloat"])
def test_reno_in_python_does_what_reno_does(scenario: str) -> None:
    key = "flows.*.tcp.congestion"
    the_same(ak.run(scenario, set={key: "reno"}), ak.run(scenario, set={key: "reno-in-python"}))


@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell", "delayed-ack-stall"])
def test_delayed_acks_in_python_are_those_in_rust(scenario: str) -> None:
    key = "flows.*.tcp.ack"
    the_same(ak.run(scenario, set={key: "delayed"}), ak.run(scenario, set={key: "delayed-in-python"}))


@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell", "fades"])
def test_a_fixed_threshold_in_python_is_the_one_in_rust(scenario: str) -> None:
    key = "flows.*.tcp.loss"
    the_same(ak.run(scenario, set={key: "fixed"}), ak.run(scenario, set={key: "fixed-in-python"}))


def test_drop_tail_in_python_is_the_one_in_rust() -> None:
    key = "links.bottleneck.queue"
    rust = {key: {"kind": "drop-tail", "limit": "50 packets"}}
    one = ak.run("reno-against-vegas", set=rust)  # type: ignore[arg-type]
    assert one.queues.column("dropped_packets")[0] > 0
    the_same(one, ak.run("reno-against-vegas", set={key: "drop-tail-in-python"}))


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
