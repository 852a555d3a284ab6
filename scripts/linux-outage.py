#!/usr/bin/env python3
"""What does this machine's kernel make of an outage, or of losses, when a middle box helps? A bulk
flow runs between two namespaces over a path in this process:

    sender -- 10 Mbit/s, 10 ms, drop-tail queue -- middle box -- 100 Mbit/s, 10 ms -- receiver

The hop behind the box is dead for a while in both directions, or loses packets at random towards
the receiver; the box knows of the outage without delay.

    sudo python3 scripts/linux-outage.py outage
    sudo python3 scripts/linux-outage.py loss --json loss.json
    python3 scripts/linux-outage.py figures --from outage.json loss.json --figures figures.json

`--help` lists the rest. docs/linux-outage.md sets the figures beside `profile = "linux"`. Nothing
is left behind, also on Ctrl-C: namespaces and devices end with the processes.
"""

import argparse
import ctypes
import itertools
import json
import os
import signal
import socket
import struct
import sys
import time
from collections import OrderedDict
from multiprocessing import get_context

from linux_figures import keep, load, table
from linux_path import Host, Link, Path, Segment, before, tcp_info

SENDER, RECEIVER, PORT = "10.99.0.1", "10.99.0.2", 5001
SECONDS, RATE, DELAY, QUEUE, OUTAGE_AT = 10.0, 10e6, 0.010, 100, 3.0
OUTAGE_HELPS = "none freeze freeze-test replay replay+freeze shrink reserve reserve+replay".split()
LOSS_HELPS = "none local+suppress local".split()
# Buffers that tune themselves would keep a sender without SACK at a few hundred segments.
SO_SNDBUFFORCE, SO_RCVBUFFORCE, BUFFER = 32, 33, 4 << 20
PHASE = 0.0008  # The runs of a set-up begin their outage at another place between two packets.
RESERVE, RESERVE_FROM, RELEASE_EVERY = 15, 1.0, 0.17


class Box:
    """Sees both directions, caches what is not acknowledged, and helps as it is told to."""

    def __init__(self, path, help_, down, up):
        self.path, self.help, self.down, self.up = path, help_, down, up
        self.cache, self.last_ack, self.newest, self.held = OrderedDict(), None, None, []
        self.scale, self.dead, self.highest = 0, False, None
        self.resent, self.first_seen, self.local_rtt = {}, {}, 0.03
        self.injected = self.suppressed = self.reserve = 0

    def from_sender(self, at, packet):
        segment = Segment(packet)
        if segment.payload:
            self.cache[segment.seq] = segment
            self.first_seen[segment.seq] = at
            self.resent.pop(segment.seq, None)
            if self.highest is None or before(self.highest, segment.end):
                self.highest = segment.end
        self.down(at, packet)

    def from_receiver(self, at, packet):
        segment = Segment(packet)
        if segment.flags & 2:
            self.scale = (segment.option(3) or b"\0")[0]
            return self.up(at, packet)
        if self.last_ack is None or before(self.last_ack, segment.ack):
            self.prune(at, segment)
        elif self.help.startswith("local") and self.repeats(segment) and self.repair(at, segment):
            if "suppress" in self.help:
                self.suppressed += 1
                return None
        self.newest = segment
        if "reserve" not in self.help:
            return self.up(at, packet)
        self.held.append(segment)
        if self.path.now() > RESERVE_FROM and len(self.held) > self.reserve:
            # Built up slowly, so that the sender never waits for long.
            self.reserve = min(RESERVE, self.reserve + 0.25)
        while len(self.held) > self.reserve:
            self.up(at, self.held.pop(0).packet)

    def repeats(self, segment):
        """Whether it is a duplicate acknowledgment."""
        return segment.ack == self.last_ack and not segment.payload

    def prune(self, at, segment):
        acked = [seq for seq in self.cache if before(seq, segment.ack)]
        if acked and not any(seq in self.resent for seq in acked):
            sample = at - self.first_seen[acked[-1]]
            self.local_rtt += (sample - self.local_rtt) / 8
        for seq in acked:
            self.resent.pop(seq, None)
            del self.cache[seq], self.first_seen[seq]
        self.last_ack = segment.ack

    def repair(self, at, segment):
        """A duplicate acknowledgment: sends what is missing again, unless that is under way. True
        if it is in the cache, so that the sender need not hear of it."""
        if self.last_ack not in self.cache:
            return False
        edges = segment.option(5) or b""
        blocks = list(struct.iter_unpack("!II", edges))
        highest = max((end for _, end in blocks), key=lambda end: end - self.last_ack & 0xFFFFFFFF,
                      default=(self.last_ack + 1) & 0xFFFFFFFF)
        for seq, missing in self.cache.items():
            if not before(seq, highest):
                break
            arrived = any(not before(seq, start) and before(seq, end) for start, end in blocks)
            if not arrived and at - self.resent.get(seq, 0) > 1.5 * self.local_rtt:
                self.resend(at, missing)
        return True

    def resend(self, at, segment):
        self.resent[segment.seq] = at
        self.injected += 1
        self.down(at, segment.packet)

    def watch(self, at):
        """The local timer: the oldest segment, if nothing has been heard of it for long."""
        if self.help.startswith("local") and self.cache:
            seq, oldest = next(iter(self.cache.items()))
            since = self.resent.get(seq, self.first_seen[seq])
            if at - since > max(0.06, 2 * self.local_rtt):
                self.resend(at, oldest)

    def tell_sender(self, at, window):
        self.injected += 1
        self.up(at, self.newest.with_window(window, keep_sack=False))

    def outage_begins(self, at):
        self.dead = True
        if "freeze" in self.help:
            self.tell_sender(at, 0)
        elif self.help == "shrink":
            octets = (self.highest - self.last_ack) & 0xFFFFFFFF
            self.tell_sender(at, (octets + (1 << self.scale) - 1) >> self.scale)
        elif "reserve" in self.help:
            self.release(at)

    def release(self, at):
        """One of the acknowledgments held back, with the window closed."""
        if self.dead and self.held:
            self.up(at, self.held.pop(0).with_window(0))
            self.path.at(at + RELEASE_EVERY, self.release)

    def outage_ends(self, at):
        self.dead = False
        again = list(self.cache.values()) if "replay" in self.help else []
        if self.help == "freeze-test":
            again = list(self.cache.values())[:1]
        for segment in again:
            self.injected += 1
            self.down(at, segment.packet)
        while self.held:
            self.up(at, self.held.pop(0).packet)
        if "reserve" in self.help:
            self.tell_sender(at, self.newest.window)


class Flow:
    """The two applications, and what is noted about them."""

    def __init__(self, path, sender, receiver, outage_end):
        self.path, self.sender, self.receiver = path, sender, receiver
        self.delivered, self.samples, self.outage_end = 0, [], outage_end
        self.sent_up_to = self.new_data_at = None
        self.chunk = b"x" * 65536

    def write(self):
        try:
            while self.sender.send(self.chunk) == len(self.chunk):
                pass
        except BlockingIOError:
            pass

    def read(self):
        try:
            while data := self.receiver.recv(1 << 18):
                self.delivered += len(data)
        except BlockingIOError:
            pass

    def note_sent(self, segment):
        if segment.payload and (self.sent_up_to is None or before(self.sent_up_to, segment.end)):
            if self.path.now() < self.outage_end:
                self.sent_up_to = segment.end

    def note_arrival(self, segment):
        if self.path.now() >= self.outage_end and self.new_data_at is None and segment.payload:
            if not before(segment.seq, self.sent_up_to):
                self.new_data_at = self.path.now()

    def sample(self, _):
        info = tcp_info(self.sender)
        keys = ("snd_cwnd", "snd_ssthresh", "unacked", "rto", "rtt", "backoff", "ca_state",
                "reordering")
        self.samples.append([round(self.path.now(), 3), *(info[key] for key in keys)])


def connect(setup):
    """The sender's socket, made while in its namespace."""
    client = socket.socket()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, setup["congestion"].encode())
    client.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
    client.setblocking(False)
    return client


def tracer(path, trace, where):
    def note(packet):
        if trace is not None:
            s = Segment(packet)
            trace.append(f"{path.now():.4f} {where} seq={s.seq} ack={s.ack} len={s.payload} "
                         f"win={s.window} opt={s.options.hex()}")
    return note


def run(setup):
    """One flow of ten seconds; returns what came of it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except OSError:
        pass  # Lateness will tell.
    sysctls = dict(tcp_timestamps=int(setup["timestamps"]), tcp_sack=int(setup["sack"]))
    left = Host(SENDER, RECEIVER, sysctls)
    client = connect(setup)
    right = Host(RECEIVER, SENDER, sysctls)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    listener.bind((RECEIVER, PORT))
    listener.listen()
    time.sleep(0.05 + 0.3 * ((setup["run"] * 0.618) % 1))
    path, trace = Path(), [] if setup.get("trace") else None
    begins = OUTAGE_AT + setup["run"] * PHASE
    outage = (begins, begins + setup["outage"])
    flow = Flow(path, client, None, outage[1])
    notes = {where: tracer(path, trace, where) for where in ("sent", "got", "ack")}

    def to_host(host, note):
        def deliver(_, packet):
            note(packet)
            if host is right:
                flow.note_arrival(Segment(packet))
            os.write(host.tun, packet)
        return deliver

    quick = dict(rate=100e6, delay=DELAY, queue=1000, outage=outage)
    slow = dict(rate=RATE, delay=DELAY, queue=setup["queue"])
    down = Link(path, deliver=to_host(right, notes["got"]), loss=setup["loss"],
                seed=setup["run"], **quick)
    up = Link(path, deliver=to_host(left, notes["ack"]), **slow)
    box = Box(path, setup["help"], down.send, up.send)
    first = Link(path, deliver=box.from_sender, **slow)
    back = Link(path, deliver=box.from_receiver, **quick)

    def leave(at, packet):
        notes["sent"](packet)
        flow.note_sent(Segment(packet))
        first.send(at, packet)

    def accept():
        flow.receiver, _ = listener.accept()
        flow.receiver.setblocking(False)
        del path.readers[listener]
        path.readers[flow.receiver] = flow.read

    path.from_tun(left, leave)
    path.from_tun(right, back.send)
    path.readers[listener] = accept
    path.writers[client] = flow.write
    path.every(0.02, flow.sample)
    path.every(0.01, box.watch)
    if setup["outage"]:
        path.at(path.start + outage[0], box.outage_begins)
        path.at(path.start + outage[1], box.outage_ends)
    client.connect_ex((RECEIVER, PORT))
    path.run(SECONDS)
    if trace is not None:
        with open(setup["trace"], "w") as file:
            file.write("\n".join(trace) + "\n")
    return report(setup, flow, left.counters(), path, box, first)


def report(setup, flow, counters, path, box, first):
    new_data = None
    if setup["outage"] and flow.new_data_at is not None:
        new_data = round(flow.new_data_at - flow.outage_end, 3)
    wanted = ("TCPTimeouts", "TCPLossProbes", "TCPSpuriousRTOs", "TCPTSReorder", "TCPSACKReorder",
              "TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo", "TCPFastRetrans",
              "TCPSlowStartRetrans", "TCPFromZeroWindowAdv", "TCPToZeroWindowAdv", "PAWSEstab",
              "TCPSackRecovery", "TCPLostRetransmit", "TCPDSACKRecv", "TCPDSACKOfoRecv",
              "TCPDSACKRecvSegs", "TCPDSACKIgnoredDubious", "TCPDSACKIgnoredOld",
              "TCPDSACKIgnoredNoUndo")
    return dict(
        setup, mbytes=flow.delivered / 1e6, new_data_after_s=new_data,
        retransmissions=counters["RetransSegs"], timeouts=counters["TCPTimeouts"],
        counters={name: counters[name] for name in wanted if counters.get(name)},
        injected=box.injected, suppressed=box.suppressed, queue_drops=first.drops,
        late_ms_p99=round(path.lateness_ms(0.99), 2), late_ms_max=round(path.lateness_ms(1), 2),
        samples=flow.samples)


def child(setup, pipe):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # It must not outlive its parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send(run(setup))


def run_all(setups, parallel):
    """Runs them a few at a time, each in a process of its own, and ends those on the way out."""
    context, waiting, running, results = get_context("fork"), list(setups), {}, []
    try:
        while waiting or running:
            while waiting and len(running) < parallel:
                mine, theirs = context.Pipe(duplex=False)
                process = context.Process(target=child, args=(waiting.pop(0), theirs))
                process.start()
                theirs.close()
                running[process] = (mine, time.monotonic())
            for process, (mine, since) in list(running.items()):
                if mine.poll(0.02):
                    try:
                        results.append(mine.recv())
                        line(results[-1])
                    except EOFError:
                        print("a run failed", file=sys.stderr)
                elif time.monotonic() - since < SECONDS + 10:
                    continue
                process.kill()
                process.join()
                del running[process]
    finally:
        for process in running:
            process.kill()
            process.join()
    return results


def line(result):
    options = " ".join(name for name in ("timestamps", "sack") if result[name])
    print(f"{result['congestion']:6}{options:16}{result['help']:15}outage {result['outage']:.1f} s "
          f"loss {result['loss']:.2f} run {result['run']}: {result['mbytes']:.2f} MB, new data "
          f"after {result['new_data_after_s']} s, {result['retransmissions']} retransmissions, "
          f"{result['timeouts']} timeouts, late {result['late_ms_p99']} ms", file=sys.stderr)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("what", choices=("outage", "loss", "figures"),
                           help="what the hop suffers, or figures of earlier runs")
    arguments.add_argument("--help-by", nargs="+", help="which helps; all by default")
    arguments.add_argument("--congestion", nargs="+", default=["reno", "cubic"])
    arguments.add_argument("--timestamps", nargs="+", choices=("on", "off"), default=["on"])
    arguments.add_argument("--sack", nargs="+", choices=("on", "off"), default=["on"])
    arguments.add_argument("--outage", nargs="+", type=float, default=[1.5, 2.5], help="seconds")
    arguments.add_argument("--loss", nargs="+", type=float, default=[0.01, 0.05])
    arguments.add_argument("--queue", type=int, default=QUEUE, help="packets")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--parallel", type=int, default=2)
    arguments.add_argument("--trace", help="writes every packet of the last run to this file")
    arguments.add_argument("--json", help="writes all figures, with samples of TCP_INFO")
    arguments.add_argument("--from", nargs="+", default=[], dest="earlier",
                           help="files that --json wrote, for `figures`")
    arguments.add_argument("--figures", help="writes what each set-up came to")
    given = arguments.parse_args()
    if given.what == "figures":
        kernel, results = load(given.earlier)
        table(results)
        return keep(given.figures, kernel, results) if given.figures else None
    helps = given.help_by or (OUTAGE_HELPS if given.what == "outage" else LOSS_HELPS)
    pains = [(outage, 0.0) for outage in given.outage]
    if given.what == "loss":
        pains = [(0.0, loss) for loss in given.loss]
    on = lambda word: word == "on"
    setups = [
        dict(congestion=congestion, timestamps=on(stamps), sack=on(sack), help=help_,
             outage=outage, loss=loss, run=number, queue=given.queue, trace=given.trace)
        for congestion, stamps, sack, help_, (outage, loss), number in itertools.product(
            given.congestion, given.timestamps, given.sack, helps, pains, range(given.runs))]
    results = run_all(setups, given.parallel)
    table(results)
    if given.figures:
        keep(given.figures, os.uname().release, results)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(dict(kernel=os.uname().release, runs=results), file, indent=1)


main()
