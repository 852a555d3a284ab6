"""Algorithms in Python: the same events as the ones in Rust, and what they get wrong."""

import itertools
from pathlib import Path

import ackord as ak
import in_python
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
    # Beside profile "linux" the control in Rust has Linux's knobs; the class has those of the papers.
    knobs = {"vegas": {"alpha": 1, "beta": 3, "gamma": 1, "loss_factor": 0.75}}
    rust = {"kind": control, "growth": "per-ack"} | knobs.get(control, {})
    the_same(scenario, "flows.*.tcp.congestion", (rust, f"{control}-in-python"), tmp_path)


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


def test_a_model_of_the_path_hears_what_it_may_believe(tmp_path: Path) -> None:
    heard: list[Sampling] = []

    class Sampling(in_python.Reno, name="sampling"):
        def __init__(self) -> None:
            self.samples: list[ak.RateSample] = []
            self.lost: list[ak.LostSegment] = []
            heard.append(self)

        def on_rate_sample(self, now: float, sample: ak.RateSample) -> None:
            self.samples.append(sample)

        def on_segment_lost(self, now: float, segment: ak.LostSegment) -> None:
            self.lost.append(segment)

    # Whoever only listens changes nothing.
    result = the_same("lossy-wifi", "flows.*.tcp.congestion", ("reno", "sampling"), tmp_path)
    flow = result.flows.rows()[0]
    # That of the end that sends.
    sender = max(heard, key=lambda one: len(one.samples))
    samples, lost = sender.samples, sender.lost
    rates = [sample.delivery_rate for sample in samples if sample.delivery_rate is not None]
    # Never faster than the link; and where the window is the limit, as fast as the path is.
    assert 10e6 < max(rates) <= 20e6
    assert samples[-1].total_delivered >= flow["size_bytes"]
    assert all(one.total_delivered <= other.total_delivered for one, other in itertools.pairwise(samples))
    assert min(sample.rtt for sample in samples if sample.rtt is not None) * 1e3 >= flow["rtt_min_ms"] - 1e-6
    # Of each loss once, and of spurious ones too.
    assert len(lost) >= flow["fast_recoveries"] > 0
    assert sum(segment.bytes for segment in lost) == sum(sample.newly_lost for sample in samples)


def test_a_rate_that_a_model_sets_is_the_pace_of_the_sender() -> None:
    class Half(ak.CongestionControl, name="half-the-rate"):
        """Sends at half of the highest rate it has seen delivered, once it has seen enough."""

        loss_answer = "own-window"

        def on_established(self, now: float, sizes: ak.Established) -> None:
            self.best = 0.0

        def on_ack(self, now: float, ack: ak.AckSample) -> None:
            if self.pacing_rate is None:
                self.cwnd += ack.acked

        def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
            pass

        def on_rate_sample(self, now: float, sample: ak.RateSample) -> None:
            self.best = max(self.best, sample.delivery_rate or 0.0)
            if now > 2.0:
                # 30 ms of it: a round trip and a half.
                self.pacing_rate, self.cwnd = self.best / 2, self.best * 0.03 / 8

    change = {"tcp.profile": "linux", "flows.download.tcp.congestion": "half-the-rate", "duration": "12 s"}
    paced = ak.run("lossy-wifi", set=change)
    at, got = (paced.series("delivered").column(name) for name in ("time_s", "delivered_offset_bytes"))
    later = [(t, b) for t, b in zip(at, got, strict=True) if 4 < t < 11]
    rate = 8 * (later[-1][1] - later[0][1]) / (later[-1][0] - later[0][0])
    # Half of what the link carries, less the hundredth that it loses.
    assert rate == pytest.approx(20e6 * 1448 / 1500 / 2 * 0.99, rel=0.03)


def test_tail_loss_probes_are_a_detectors_to_ask_for() -> None:
    class Probing(in_python.Fixed, name="probing"):
        tail_probe = 0.025

    short = {
        "links.wifi.loss": {"kind": "random", "per_packet": "5 %"},
        "flows.download.traffic": {"kind": "transfers", "size": "20 kB", "gap": "300 ms"},
        "duration": "60 s",
    }
    # The last segments of short transfers are retransmitted sooner, with every seed.
    runs = ak.sweep("lossy-wifi", grid={"flows.*.tcp.loss": ["probing", "fixed-in-python"]}, seeds=5, set=short)
    took = runs.flows.column("transfer_mean_ms")
    assert all(probed < waited for probed, waited in zip(took[:5], took[5:], strict=True))


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


class Ending(ak.CongestionControl, name="ending"):
    """Ends the program in a callback, as Ctrl-C does."""

    error: type[BaseException] = KeyboardInterrupt

    def on_ack(self, now: float, ack: ak.AckSample) -> None:
        if now > 1.0:
            raise self.error("now")

    def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
        pass


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_ends_it_from_a_callback_too(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ending, "error", error)
    key, short = "flows.download.tcp.congestion", {"duration": "5 s"}
    with pytest.raises(error, match="now"):
        ak.run("lossy-wifi", set=short | {key: "ending"})
    with pytest.raises(error, match="now"):
        ak.sweep("lossy-wifi", seeds=2, set=short | {key: "ending"})
    with pytest.raises(error, match="now"):
        ak.compare("lossy-wifi", key, ["reno", "ending"], set=short)


def test_an_exception_in_a_comparison_is_raised_with_its_cause_and_not_again() -> None:
    key, short = "flows.download.tcp.congestion", {"duration": "5 s"}
    type("Failing", (Ending,), {"error": LookupError}, name="failing")
    with pytest.raises(ak.AlgorithmError, match="`failing` of .*now") as raised:
        ak.compare("lossy-wifi", key, ["reno", "failing"], set=short)
    assert isinstance(raised.value.__cause__, LookupError)
    assert len(ak.compare("lossy-wifi", key, ["reno", "cubic"], set=short).variants) == 2


@pytest.mark.parametrize("way", ["links.bottleneck.queue", "links.bottleneck.reverse.queue"])
def test_a_queue_of_ones_own_in_one_direction_leaves_the_keys_of_the_other(way: str) -> None:
    scenario = ak.Scenario.open("reno-against-vegas")
    bottleneck = next(link for link in scenario._document["links"] if link["name"] == "bottleneck")
    bottleneck["queue"] = {"kind": "drop-tail", "limit": "50 packets"}
    bottleneck["reverse"] = {"queue": {"limit": "20 packets"}}
    canonical = scenario.check({way: "drop-tail-in-python"}).canonical()
    forward, reverse = canonical.split("[links.reverse]")[:2]
    own, other = (forward, reverse) if way == "links.bottleneck.queue" else (reverse, forward)
    assert 'kind = "drop-tail-in-python"' in own and 'kind = "drop-tail-in-python"' not in other
    limit = "20 packets" if other is reverse else "50 packets"
    assert f'queue = {{ kind = "drop-tail", limit = "{limit}" }}' in other


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
