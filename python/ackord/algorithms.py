"""Your own algorithms: a class with a name, usable by that name in every scenario.

Examples:
    >>> import ackord as ak
    >>> class Halver(ak.CongestionControl, name="halver"):
    ...     def on_established(self, now, sizes):
    ...         self.smss = sizes.smss
    ...     def on_ack(self, now, ack):
    ...         if ack.cwnd_limited:
    ...             self.cwnd += self.smss * self.smss / self.cwnd
    ...     def on_congestion(self, now, event):
    ...         if isinstance(event, (ak.Loss, ak.Timeout)):
    ...             self.cwnd = max(self.cwnd / 2, self.smss)
    >>> ak.run("lossy-wifi", set={"flows.download.tcp.congestion": "halver"})  # doctest: +SKIP

Times are in simulated seconds, sizes in bytes, rates in bit/s. The object is told the same facts as the
controls in Rust, and decides the same; it never sees the scoreboard and never sends. What it raises
ends the run with an :class:`AlgorithmError` that has the simulated time and the flow.
"""

from __future__ import annotations

import random
from enum import StrEnum
from typing import Any, ClassVar

from ackord import _ackord
from ackord._ackord import (
    AckSample,
    Arrival,
    Delivered,
    Established,
    Flight,
    InputError,
    Loss,
    LossFacts,
    LostSegment,
    Mark,
    Packet,
    RateSample,
    Recovered,
    RecoveryAck,
    RecoveryEntry,
    Restart,
    Spurious,
    Timeout,
    Undone,
)
from ackord.knobs import declared_by

__all__ = [
    "AckPolicy",
    "CongestionControl",
    "CongestionEvent",
    "LossDetector",
    "Queue",
    "Recovery",
    "RecoveryStep",
    "Undo",
    "Verdict",
]

#: A sign of congestion, or the end of a recovery.
CongestionEvent = Loss | Mark | Timeout | Undone | Restart | Recovered

#: The classes that have a name, by family and name.
_registered: dict[tuple[str, str], type] = {}


def register(family: str, name: str, cls: type) -> None:
    """Makes a class known by its name; a later one of the same name takes its place."""
    knobs = declared_by(cls)
    own = next(base for base in cls.__mro__ if "_family" in vars(base))
    for taken in knobs:
        if hasattr(own, taken) or taken in own.__annotations__:
            raise InputError(f"knob `{taken}` of `{name}`: {own.__name__} has an attribute of this name already")
    summary = next(iter((cls.__doc__ or "").strip().splitlines()), "").rstrip(".")
    declared = [knob.declaration(key) for key, knob in knobs.items()]
    _ackord.register(family, name, cls, summary or f"the class {cls.__qualname__}", declared)
    _registered[family, name] = cls


def registered() -> dict[tuple[str, str], type]:
    """The classes that have a name: what a worker of a sweep has to know, too."""
    return dict(_registered)


class _Algorithm:
    """What has a name by which scenarios choose it. Its knobs are declared with :func:`ackord.knob`."""

    _family: ClassVar[str]
    #: The name by which scenarios choose it: the ``name=`` of the class.
    name: ClassVar[str]

    def __init_subclass__(cls, *, name: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if name is not None:
            cls.name = name
            register(cls._family, name, cls)


class CongestionControl(_Algorithm):
    """Decides how much may be outstanding.

    A connection makes an object of its own, without arguments. After every call ``cwnd``, ``ssthresh``
    and ``pacing_rate`` are read. In fast recovery the loss recovery decides what leaves; the control
    hears of the loss once and of the end of the recovery once.

    A class that has :meth:`on_rate_sample` keeps a model of the path, as BBR does: the sender then keeps what
    delivery-rate samples need (draft-ietf-ccwg-bbr-06 §4.1).
    """

    _family = "congestion"

    #: The congestion window, in bytes; the initial window at first.
    cwnd: float
    #: The slow-start threshold, in bytes; infinite while there is none.
    ssthresh: float
    #: The rate at which segments leave, in bit/s; None where acknowledgments pace them.
    pacing_rate: float | None = None
    #: How a loss is answered that was detected without the timer: "as-recovery", by "slow-start" from one
    #: segment whatever the recovery would do, or "own-window": cwnd bounds what is in the network meanwhile.
    loss_answer: ClassVar[str] = "as-recovery"

    _models_path: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None, **rest: Any) -> None:
        cls._models_path = cls.on_rate_sample is not CongestionControl.on_rate_sample
        super().__init_subclass__(name=name, **rest)

    def on_established(self, now: float, sizes: Established) -> None:
        """The connection is established; ``cwnd`` is the initial window by now."""

    def on_ack(self, now: float, ack: AckSample) -> None:
        """New data was acknowledged, outside fast recovery."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_ack`")

    def on_congestion(self, now: float, event: CongestionEvent) -> None:
        """Congestion, or the end of a recovery."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_congestion`")

    def on_rate_sample(self, now: float, sample: RateSample) -> bool | None:
        """An acknowledgment delivered something, in whatever phase the sender is; after the other calls for it.

        True marks what is sent from now on as limited by the application: its samples tell nothing of the
        path's capacity.
        """
        raise NotImplementedError

    def on_segment_lost(self, now: float, lost: LostSegment) -> None:
        """A segment was declared lost; told to classes with :meth:`on_rate_sample`."""

    def on_restart_from_idle(self, now: float) -> None:
        """A segment is about to leave after a time with nothing in flight and nothing to send; told to classes
        with :meth:`on_rate_sample`."""


class AckPolicy(_Algorithm):
    """Decides when the receiver acknowledges.

    A connection makes an object of its own, without arguments. What no policy may change is the
    connection's own: segments that the sequence check refuses are acknowledged at once, and a window
    that opens is announced (RFC 9293 §3.8.6.2.2).
    """

    _family = "ack"

    def on_segment(self, now: float, arrival: Arrival) -> float | None:
        """A data segment was accepted: None to acknowledge now, or until when that may wait."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_segment`")

    def on_ack_sent(self, now: float, with_data: bool) -> None:
        """An acknowledgment left, on a segment of its own or with data."""


class Verdict(StrEnum):
    """What a loss detector makes of the facts."""

    #: The oldest outstanding segment is lost.
    LOST = "lost"


class Undo(StrEnum):
    """How much of a reduction is taken back."""

    #: cwnd and ssthresh are again what they were when the recovery began.
    RESTORE = "restore"
    #: The same, but cwnd grows back by slow start.
    SLOW_START_BACK = "slow-start-back"
    #: As RFC 4015 §3 answers a spurious timeout.
    EIFEL_RESPONSE = "eifel-response"
    #: ssthresh is what it was before the last recovery, and cwnd doubles.
    DOUBLE_CWND = "double-cwnd"


class LossDetector(_Algorithm):
    """Decides when a segment is lost.

    A connection makes an object of its own, without arguments. After every call ``duplicate_threshold``,
    ``reordering_seen`` and ``deadline`` are read.
    """

    _family = "loss"

    #: DupThresh: how many segments above a hole make it lost (RFC 6675 §4).
    duplicate_threshold: int = 3
    #: Whether segments have been seen to overtake each other.
    reordering_seen: bool = False
    #: When :meth:`on_timer` is called, in seconds; None for never.
    deadline: float | None = None
    #: Which transmissions it judges by time: None, "everything" or "retransmissions".
    by_time: ClassVar[str | None] = None
    #: What a lost retransmission means: it "repeats", as on Linux, or "reduces" a second time (RFC 5681 §4.3).
    lost_retransmission: ClassVar[str] = "repeats"
    #: How long the peer may hold back the acknowledgment of a lone segment, in seconds, where tail loss
    #: probes are to be sent (RFC 8985 §7); None for none.
    tail_probe: ClassVar[float | None] = None
    #: How much later than they are due its timers expire, in seconds.
    timer_slack: ClassVar[float] = 0.0

    def on_ack(self, now: float, facts: LossFacts) -> Verdict | Undo | int | None:
        """A duplicate acknowledgment came outside recovery, or one of new data.

        None to wait, bytes of new data that may be sent beyond cwnd meanwhile (limited transmit),
        ``Verdict.LOST``, or how to undo a recovery that what arrived shows to be unnecessary.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `on_ack`")

    def on_timer(self, now: float, facts: LossFacts) -> Verdict | Undo | int | None:
        """The deadline passed."""
        return None

    def on_delivered(self, now: float, delivered: Delivered) -> None:
        """A segment has newly been reported to have arrived; told to detectors that judge by time."""

    def overdue(self, facts: LossFacts) -> float | None:
        """For how long, in seconds, a segment may be in flight before it is lost; None for ever."""
        return None

    def on_event(self, event: str) -> None:
        """"fast-recovery", "timeout", "retransmission-overdue" or "dsack"."""

    def on_spurious(self, now: float, spurious: Spurious) -> Undo | None:
        """A recovery turned out to be unnecessary: what to give back, if anything."""
        return None


class RecoveryStep(StrEnum):
    """What a recovery does about a partial acknowledgment."""

    #: Fast recovery is over.
    EXIT = "exit"
    #: The oldest outstanding segment is lost, too, and is retransmitted now.
    RETRANSMIT_OLDEST = "retransmit-oldest"


class Recovery(_Algorithm):
    """Decides how much may be sent during fast recovery.

    A connection makes an object of its own, without arguments. The loss detector decides that a segment is lost, the
    congestion control what becomes of cwnd, and the connection has the scoreboard. Calls have no time of their own.
    """

    _family = "recovery"

    #: What answers a detected loss: "fast-recovery", or "slow-start" from one segment.
    response: ClassVar[str] = "fast-recovery"
    #: Whether a loss begins a recovery while data of an earlier one is outstanding: "allowed", "after-recover" (RFC
    #: 6582 section 3.2) or "beyond-recover", with SACK too.
    reentry: ClassVar[str] = "after-recover"
    #: Which partial acknowledgments restart the retransmission timer without SACK: the "first" or "each".
    partial_ack_timer: ClassVar[str] = "first"
    #: Whether the tail of a window is retransmitted once when there is nothing else to send (RFC 6675 section 4 rule 4).
    rescues: ClassVar[bool] = False
    #: The recovery in Rust that takes its place where the peer does not speak SACK. None for one that does not read
    #: SACK: its sender ignores SACK blocks.
    without_sack: ClassVar[str | None] = None

    def on_enter(self, entry: RecoveryEntry) -> None:
        """Fast recovery begins, with ssthresh and cwnd already reduced."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_enter`")

    def on_arrival(self) -> None:
        """An acknowledgment arrived during fast recovery, whatever it acknowledges."""

    def on_ack(self, ack: RecoveryAck) -> RecoveryStep | None:
        """A duplicate or a partial acknowledgment arrived during fast recovery.

        None to continue; a step in answer to a partial one.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `on_ack`")

    def on_sent(self, size: int) -> None:
        """So many bytes were sent during fast recovery, new or not."""

    def allowance(self, flight: Flight) -> float:
        """How many bytes may be sent now: 0 to 2^40. Changes nothing of the object."""
        raise NotImplementedError(f"{type(self).__name__} has no `allowance`")

    def on_exit(self, flight: Flight) -> float | None:
        """Fast recovery ends: a bound on cwnd in bytes, or None. Changes nothing of the object."""
        return None


class Queue(_Algorithm):
    """Decides what waits for a link, in which order it leaves, and what dies instead.

    A direction of a link makes an object of its own, without arguments. Work-conserving: while
    packets wait, ``dequeue`` gives one, unless it drops them all.
    """

    _family = "queue"

    #: The link's rate, in bit/s; known in ``__init__`` already, as are the others.
    rate: int
    #: The link's propagation delay, in seconds.
    delay: float
    #: Random numbers that the run's seed decides.
    random: random.Random

    def __new__(cls) -> Queue:
        queue = super().__new__(cls)
        queue._dropped = []
        queue._marked = []
        return queue

    _dropped: list[Packet]
    _marked: list[Packet]

    def drop(self, packet: Packet) -> None:
        """Drops a packet that was taken and waits."""
        self._dropped.append(packet)

    def mark(self, packet: Packet) -> None:
        """Marks a packet that was taken (RFC 3168); nothing where it cannot be marked."""
        self._marked.append(packet)

    def enqueue(self, now: float, packet: Packet) -> bool:
        """A packet arrived: True to take it, False to drop it."""
        raise NotImplementedError(f"{type(self).__name__} has no `enqueue`")

    def dequeue(self, now: float) -> Packet | None:
        """The packet to be transmitted from now on; None only where all that waited is dropped."""
        raise NotImplementedError(f"{type(self).__name__} has no `dequeue`")
