"""Algorithms that answer anything at all: a run ends well or with an `AlgorithmError`, and never with a panic.

A panic would be a `PanicException`, which is no `Exception`.
"""

from typing import Any

import ackord as ak
from hypothesis import given, settings
from hypothesis import strategies as st

numbers = (
    st.integers()
    | st.integers(2**60, 2**66)
    | st.floats()
    | st.sampled_from([0, 1, 1460, 1e15, 2**63, 2**64 - 1, 1e19, 1e308, 5e-324])
)
anything: st.SearchStrategy[Any] = (
    numbers
    | st.none()
    | st.booleans()
    | st.text(max_size=3)
    | st.lists(st.integers(), max_size=2)
    | st.sampled_from([ak.Verdict.LOST, object(), ak.Verdict])
)


def answers(*sound: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Answered one after the other, from the start when all are used up; most of them sound."""
    some = st.one_of(*sound)
    return st.lists(some | some | some | anything, min_size=1, max_size=4)


class Answers:
    """What the algorithms below say next."""

    def __init__(self) -> None:
        self.these: list[Any] = [0]
        self.asked = 0

    def set(self, these: list[Any]) -> None:
        self.these, self.asked = these, 0

    def next(self) -> Any:
        self.asked += 1
        return self.these[self.asked % len(self.these)]


NEXT = Answers()


class AnyWindow(ak.CongestionControl, name="any-window"):
    def on_ack(self, now: float, ack: ak.AckSample) -> None:
        self.cwnd = NEXT.next()

    def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
        self.ssthresh = NEXT.next()
        self.pacing_rate = NEXT.next()

    def on_rate_sample(self, now: float, sample: ak.RateSample) -> Any:
        answer = NEXT.next()
        return answer if not isinstance(answer, int) else None


class AnyWait(ak.AckPolicy, name="any-wait"):
    def on_segment(self, now: float, arrival: ak.Arrival) -> Any:
        answer = NEXT.next()
        return now + answer if isinstance(answer, float) else answer


class AnyVerdict(ak.LossDetector, name="any-verdict"):
    def on_ack(self, now: float, facts: ak.LossFacts) -> Any:
        return NEXT.next()


class AnyPacket(ak.Queue, name="any-packet"):
    def __init__(self) -> None:
        self.waiting: list[ak.Packet] = []

    def enqueue(self, now: float, packet: ak.Packet) -> Any:
        answer = NEXT.next()
        if answer is True:
            self.waiting.append(packet)
        return answer

    def dequeue(self, now: float) -> Any:
        answer = NEXT.next()
        if answer is True:
            self.drop(self.waiting[0])
        return answer if not isinstance(answer, bool) else self.waiting.pop(0)


def ends(**change: ak.scenario.Value) -> None:
    try:
        ak.run("lossy-wifi", set={"duration": "2 s", **change}, series=False)
    except ak.AlgorithmError as error:
        assert "allowed" in str(error)


@settings(max_examples=100, deadline=None)
@given(answers(st.integers(1, 10**7)))
def test_any_window(these: list[Any]) -> None:
    NEXT.set(these)
    ends(**{"flows.download.tcp.congestion": "any-window"})


@settings(max_examples=60, deadline=None)
@given(answers(st.none(), st.floats(0, 3)))
def test_any_wait_for_an_acknowledgment(these: list[Any]) -> None:
    NEXT.set(these)
    ends(**{"flows.download.tcp.ack": "any-wait"})


@settings(max_examples=60, deadline=None)
@given(answers(st.none(), st.integers(0, 10**5), st.sampled_from(list(ak.Verdict) + list(ak.Undo))), anything, anything)
def test_any_verdict_of_loss(these: list[Any], probe: Any, slack: Any) -> None:
    NEXT.set(these)
    AnyVerdict.tail_probe, AnyVerdict.timer_slack = probe, slack
    ends(**{"flows.download.tcp.loss": "any-verdict"})


@settings(max_examples=60, deadline=None)
@given(answers(st.just(True), st.booleans()))
def test_any_packet_from_a_queue(these: list[Any]) -> None:
    NEXT.set(these)
    ends(**{"links.0.queue": "any-packet"})
