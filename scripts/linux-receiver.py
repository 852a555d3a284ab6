#!/usr/bin/env python3
"""When does a kernel acknowledge? Plays a TCP peer, segment by segment, over a TUN device in a network
namespace of its own and prints when the acknowledgments came.

    ackord kernel shell --leap -- python3 scripts/linux-receiver.py [--json] [scenario ...]
    sudo python3 scripts/linux-receiver.py

The first asks a stock kernel in simulated time, the second this machine's. Nothing is left behind: the
namespace ends with the process. The same scripts run against the `linux` acknowledgment policy in
crates/tcp/tests/linux_receiver.rs; docs/linux-receiver.md compares.
"""

import os
import select
import socket
import struct
import sys
import threading
import time

from linux_path import Host, checksum, on_a_tick, sleep_until, tell

PEER, HOST, PORT = "10.77.0.2", "10.77.0.1", 7777
FIN, SYN, PSH, ACK = 1, 2, 8, 16


class Tun:
    def __init__(self):
        self.fd = Host(HOST, PEER, {}).tun

    def read(self, until):
        """The next TCP packet of the kernel, with the time it came, or None."""
        while True:
            left = until - time.monotonic()
            if left <= 0:
                return None
            # select(2) may be late by a thousandth of what it waits.
            if not select.select([self.fd], [], [], min(left, 0.02))[0]:
                continue
            packet = os.read(self.fd, 65536)
            now = time.monotonic()
            if packet[0] >> 4 == 4 and packet[9] == 6:
                return now, packet


class Peer:
    """A sender with SACK on; positions count from the first octet of data. With timestamps it
    echoes the kernel's clock as it would arrive a round trip later."""

    next_port = 40000

    def __init__(self, tun, rtt, timestamps=False):
        self.tun, self.start, self.rtt = tun, None, rtt
        Peer.next_port += 1
        self.port = Peer.next_port
        self.iss = 1000
        self.acks, self.data, self.clocks = [], [], []
        self.timestamps = timestamps
        options = bytes([2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 1, 1])
        opened = on_a_tick(after=0.001)
        self.packet(self.iss, 0, SYN, b"", options + self.stamp())
        got = self.wait_for(lambda flags: flags & SYN)
        self.irs = struct.unpack(">I", got[24:28])[0]
        self.rcv_nxt = self.irs + 1
        self.start = opened + rtt
        sleep_until(self.start)
        self.packet(self.iss + 1, self.rcv_nxt, ACK, b"", self.stamp())

    def stamp(self):
        """The timestamps option of a segment that leaves now."""
        if not self.timestamps:
            return b""
        now = time.monotonic()
        echo = 0
        for came, value in self.clocks:
            if came <= now - self.rtt or echo == 0:
                echo = value
        return struct.pack(">BBBBII", 1, 1, 8, 10, int(now * 1000) & 0xFFFFFFFF, echo)

    def note_clock(self, packet, now):
        options = packet[40:20 + (packet[32] >> 4) * 4]
        at = options.find(bytes([8, 10]))
        if self.timestamps and at >= 0:
            self.clocks.append((now, struct.unpack(">I", options[at + 2:at + 6])[0]))

    def wait_for(self, wanted):
        while True:
            got = self.tun.read(time.monotonic() + 3)
            assert got, "the kernel does not answer"
            packet = got[1]
            self.note_clock(packet, got[0])
            if struct.unpack(">H", packet[22:24])[0] == self.port and wanted(packet[33]):
                return packet

    def packet(self, seq, ack, flags, payload, options=b""):
        header = struct.pack(">HHIIBBHHH", self.port, PORT, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                             (20 + len(options)) << 2, flags, 60000, 0, 0) + options
        ends = socket.inet_aton(PEER) + socket.inet_aton(HOST)
        pseudo = ends + struct.pack(">BBH", 0, 6, len(header) + len(payload))
        check = checksum(pseudo + header + payload)
        header = header[:16] + struct.pack(">H", check) + header[18:]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(header) + len(payload), 0, 0, 64, 6, 0)
        ip += ends
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        os.write(self.tun.fd, ip + header + payload)

    def collect(self, until):
        """Takes in what comes until then: (time, acknowledged, octets of data)."""
        while True:
            got = self.tun.read(until)
            if not got:
                return
            now, packet = got
            if struct.unpack(">H", packet[22:24])[0] != self.port:
                continue
            self.note_clock(packet, now)
            seq, ack = struct.unpack(">II", packet[24:32])
            payload = len(packet) - 20 - (packet[32] >> 4) * 4
            if payload:
                self.rcv_nxt = seq + payload
            at = (now - self.start) * 1000
            self.acks.append((round(at, 2), ack - self.iss - 1, payload))

    def send(self, at_ms, offset, length, flags=ACK):
        """A segment at that time after the handshake."""
        self.collect(self.start + at_ms / 1000)
        sent = (time.monotonic() - self.start) * 1000
        self.packet(self.iss + 1 + offset, self.rcv_nxt, flags, b"x" * length, self.stamp())
        self.data.append((round(sent, 2), offset, length))

    def finish(self, at_ms):
        self.collect(self.start + at_ms / 1000)
        return self.data, self.acks


class Application(threading.Thread):
    """The kernel's side: accepts, and reads or does not."""

    def __init__(self, habit):
        super().__init__(daemon=True)
        self.habit = habit
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((HOST, PORT))
        self.listener.listen()
        self.start()

    def run(self):
        connection, _ = self.listener.accept()
        self.listener.close()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        received = 0
        while self.habit != "leave":
            data = connection.recv(1 << 20)
            if not data:
                break
            received += len(data)
            if self.habit.startswith("answer") and received >= int(self.habit.split()[1]):
                received = 0
                connection.send(b"y" * 10)
        while self.habit == "leave" or data == b"":
            time.sleep(1)


def writes(peer, count, length, gap_ms, flags=ACK | PSH, start=5):
    for number in range(count):
        peer.send(start + number * gap_ms, number * length, length, flags)


def lone_unread(tun):
    Application("leave")
    peer = Peer(tun, 0.001)
    writes(peer, 20, 100, 60)
    return peer.finish(20 * 60 + 300)


def lone_read(tun):
    Application("read")
    peer = Peer(tun, 0.001)
    writes(peer, 24, 100, 60)
    return peer.finish(24 * 60 + 300)


def lone_full_read(tun):
    """Full-sized segments one by one, without PSH, to a prompt reader."""
    Application("read")
    peer = Peer(tun, 0.001)
    writes(peer, 24, 1460, 60, ACK)
    return peer.finish(24 * 60 + 300)


def lone_full_push_read(tun):
    Application("read")
    peer = Peer(tun, 0.001)
    writes(peer, 24, 1460, 60)
    return peer.finish(24 * 60 + 300)


def bulk_read(tun):
    Application("read")
    peer = Peer(tun, 0.001)
    writes(peer, 116, 1460, 1, ACK)
    return peer.finish(400)


def bulk_stamped(tun):
    """Bursts of 10, 20, 40 and then 60 full segments each 40 ms, on a path of 40 ms with
    timestamps, as a sender in slow start leaves them."""
    Application("read")
    peer = Peer(tun, 0.04, timestamps=True)
    number = 0
    for burst, length in enumerate([10, 20, 40, 60, 60, 60, 60, 60]):
        for place in range(length):
            peer.send(5 + burst * 40 + place * 0.5, number * 1448, 1448, ACK)
            number += 1
    return peer.finish(500)


def bulk_unread(tun):
    Application("leave")
    peer = Peer(tun, 0.001)
    writes(peer, 40, 1460, 1, ACK)
    return peer.finish(400)


def far_waits(tun):
    """Lone unread writes on a path of 300 ms: waits in vain double the timeout."""
    Application("leave")
    peer = Peer(tun, 0.3)
    writes(peer, 16, 100, 10)
    for number in range(4):
        peer.send(300 + number * 250, 1600 + number * 100, 100, ACK | PSH)
    return peer.finish(1600)


def far_gaps(tun):
    """Gaps of 30 ms on a path of 300 ms, nobody reads: what becomes of the timeout."""
    Application("leave")
    peer = Peer(tun, 0.3)
    writes(peer, 16, 100, 10)
    # One wait in vain, and the timeout is 80 ms; then each gap halves its way to twice itself.
    peer.send(300, 1600, 100, ACK | PSH)
    for number in range(12):
        peer.send(400 + number * 30, 1700 + number * 100, 100, ACK | PSH)
    return peer.finish(1200)


def pause(tun):
    """Sixteen, two that wait, a pause of a second, twenty more."""
    Application("leave")
    peer = Peer(tun, 0.001)
    writes(peer, 18, 100, 60)
    for number in range(20):
        peer.send(2500 + number * 60, 1800 + number * 100, 100, ACK | PSH)
    return peer.finish(4200)


def answers(tun):
    """Write-write-read: two writes 1 ms after the acknowledgment of the first, one answer."""
    Application("answer 200")
    peer = Peer(tun, 0.001)
    at = 5
    for number in range(6):
        peer.send(at, number * 200, 100, ACK | PSH)
        first = peer.data[-1][0]
        while not any(ack >= number * 200 + 100 for _, ack, _ in peer.acks):
            peer.collect(time.monotonic() + 0.0001)
        at = peer.acks[-1][0] + 1
        peer.send(at, number * 200 + 100, 100, ACK | PSH)
        at = peer.data[-1][0] + 20
    return peer.finish(at + 300)


def fin(tun):
    """The end of the stream, alone, to an application that stays."""
    Application("read")
    peer = Peer(tun, 0.001)
    writes(peer, 2, 100, 10)
    peer.send(100, 200, 0, ACK | FIN)
    return peer.finish(500)


def out_of_order(tun, stamped=False):
    """Twenty small segments, which spend the budget; then one missing and 40 above it in a few
    milliseconds, on 40 ms; then the gap is filled."""
    Application("read")
    peer = Peer(tun, 0.04, stamped)
    writes(peer, 20, 100, 2, ACK)
    for number in range(40):
        peer.send(100 + number * 0.3, (21 + number) * 100, 100)
    peer.send(140, 20 * 100, 100)
    return peer.finish(400)


def out_of_order_stamped(tun):
    """The same with timestamps, from which the receiver knows the round-trip time."""
    return out_of_order(tun, stamped=True)


def duplicate(tun):
    """After the budget is spent, a segment that had been received; then five lone ones."""
    Application("leave")
    peer = Peer(tun, 0.001)
    writes(peer, 17, 100, 60)
    peer.send(1100, 0, 100)
    for number in range(5):
        peer.send(1160 + number * 60, 1700 + number * 100, 100, ACK | PSH)
    return peer.finish(1800)


SCENARIOS = [lone_unread, lone_read, lone_full_read, lone_full_push_read, bulk_read,
             bulk_stamped, bulk_unread, far_waits, far_gaps, pause, answers, fin, out_of_order,
             out_of_order_stamped, duplicate]


def report(name, data, acks):
    print(f"== {name}")
    pure = [ack for ack in acks if ack[2] == 0]
    print(f"   {len(data)} segments, {len(pure)} pure acknowledgments, {len(acks) - len(pure)} on data")
    waits = []
    for at, offset, length in data:
        end = offset + length
        covered = [when for when, ack, _ in acks if ack >= end and when >= at]
        waits.append(f"{covered[0] - at:.1f}" if covered else "-")
    print("   waits ms:", " ".join(waits))
    if name.startswith("out_of_order"):
        print("   acks:", " ".join(f"{at}:{ack}" for at, ack, _ in acks[-20:]))


def main():
    names = [name for name in sys.argv[1:] if name != "--json"]
    tun, answers = Tun(), {}
    for scenario in SCENARIOS:
        if not names or scenario.__name__ in names:
            data, acks = scenario(tun)
            if "--json" not in sys.argv:
                report(scenario.__name__, data, acks)
            # When, the next octet that it asks for, octets of data on it.
            answers[scenario.__name__] = acks
            time.sleep(0.1)
    if "--json" in sys.argv:
        tell(answers)


if __name__ == "__main__":
    main()
