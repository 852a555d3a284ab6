"""Algorithms of this project, written again in Python by the rules of the same papers and RFCs."""

import ackord as ak


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


class Vegas(ak.CongestionControl, name="vegas-in-python"):
    """Brakmo and Peterson 1995, as the control `vegas` has it: once per round trip, keep between one and
    three segments waiting in the queue."""

    def on_established(self, now: float, sizes: ak.Established) -> None:
        self.cwnd, self.smss = sizes.initial_window, sizes.smss
        self.base_rtt: int | None = None
        self.grows = True  # In slow start every other round only, so that a round at a fixed window is measured.
        self.restart_round()

    def restart_round(self) -> None:
        self.round_end: int | None = None
        self.rtts: list[int] = []
        self.step = self.left = 0

    def on_ack(self, now: float, ack: ak.AckSample) -> None:
        if ack.rtt is not None:
            # In whole nanoseconds, as the simulator counts.
            self.rtts.append(round(ack.rtt * 1e9))
            self.base_rtt = min(self.base_rtt or self.rtts[-1], self.rtts[-1])
        if self.round_end is None or 0 < (ack.snd_una - self.round_end) % 2**32 < 2**31:
            rtts, self.rtts, self.round_end = self.rtts, [], ack.snd_nxt
            if rtts:
                self.end_round(sum(rtts) // len(rtts), ack.flight_size)
        if not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            if self.grows:
                self.cwnd = min(self.cwnd + self.smss, self.ssthresh)
        else:
            step = min(self.step, self.left)
            self.left -= step
            self.cwnd += step

    def end_round(self, rtt: int, flight_size: int) -> None:
        assert self.base_rtt is not None
        waiting = flight_size / self.smss * (1 - self.base_rtt / rtt)
        if self.cwnd < self.ssthresh:
            self.grows = not self.grows
            if self.grows and waiting > 1:
                self.ssthresh = 2 * self.smss
                self.cwnd = max(self.cwnd - int(self.cwnd) // 8, self.ssthresh)
                self.left = 0
            return
        self.left = 0
        if waiting > 3:
            self.cwnd = max(self.cwnd - self.smss, 2 * self.smss)
        elif waiting < 1:
            # One segment more over the next round.
            acks = max(int(self.cwnd) // self.smss, 1)
            self.step, self.left = -(-self.smss // acks), self.smss

    def reduce(self, flight_size: int, factor: float) -> None:
        self.ssthresh = max(int(min(flight_size, self.cwnd) * factor), 2 * self.smss)

    def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
        self.restart_round()
        match event:
            case ak.Loss():
                self.reduce(event.flight_size, 0.75)
                self.cwnd = self.smss if event.slow_start else self.ssthresh
            case ak.Mark():
                self.reduce(event.flight_size, 0.75)
                self.cwnd = self.ssthresh
            case ak.Timeout():
                if not event.repeated:
                    self.reduce(event.flight_size, 0.5)
                self.cwnd = self.smss
                self.grows = True
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


class NewReno(ak.Recovery, name="newreno-in-python"):
    """RFC 6582, as the recovery `newreno` has it."""

    def on_enter(self, entry: ak.RecoveryEntry) -> None:
        self.inflation = entry.flight.smss * entry.duplicate_acks

    def on_ack(self, ack: ak.RecoveryAck) -> ak.RecoveryStep | None:
        flight = ack.flight
        if not ack.partial:
            self.inflation += flight.smss
            return None
        deflated = max(flight.cwnd + self.inflation - ack.acked, 0)
        self.inflation = deflated + (flight.smss if ack.acked >= flight.smss else 0) - flight.cwnd
        return ak.RecoveryStep.RETRANSMIT_OLDEST

    def allowance(self, flight: ak.Flight) -> float:
        return max(flight.cwnd + self.inflation - flight.flight_size, 0)

    def on_exit(self, flight: ak.Flight) -> float | None:
        return max(flight.flight_size, flight.smss) + flight.smss


class Bulk(ak.Traffic, name="bulk-in-python"):
    """As fast as TCP takes it, up to a size, as `bulk` does it."""

    total: int = ak.knob("20 MB", low="1 B", doc="How much to send")

    def __init__(self) -> None:
        self.size = self.left = self.total

    def step(self, now: float, room: int, drained: bool) -> ak.Step | None:
        if not self.left:
            return ak.Close()
        size = min(room, self.left)
        self.left -= size
        return ak.Write(size) if size else None


class Collector(ak.Traffic):
    """The other end of `Transfers`: reports each when its last byte has been read."""

    length: int
    read = index = 0

    def on_data(self, now: float, size: int) -> None:
        self.read += size

    def step(self, now: float, room: int, drained: bool) -> ak.Step | None:
        if self.read < self.length:
            return None
        self.read -= self.length
        self.index += 1
        return ak.TransferCompleted(self.index - 1, self.length)


class Transfers(ak.Traffic, name="transfers-in-python"):
    """Transfers of one length, each a pause after the one before is acknowledged, as `transfers` does it."""

    length: int = ak.knob("20 kB", low="1 B", doc="Length of a transfer")
    gap: float = ak.knob("300 ms", doc="Pause between transfers")
    other_end = Collector
    waits_for_acks = True

    def __init__(self) -> None:
        self.index = self.left = 0
        self.phase = "pause"

    def step(self, now: float, room: int, drained: bool) -> ak.Step | None:
        if self.phase == "draining" and drained:
            self.phase, self.deadline = "pause", now + self.gap
        if self.phase == "pause" and self.deadline is None:
            self.phase, self.left = "writing", self.length
            self.index += 1
            return ak.TransferBegan(self.index - 1, self.length)
        if self.phase != "writing" or not room:
            return None
        size = min(self.left, room)
        self.left -= size
        if not self.left:
            self.phase = "draining"
        return ak.Write(size)
