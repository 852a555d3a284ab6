#!/usr/bin/env python3
"""When does a kernel send? Plays a TCP receiver, segment by segment, over a TUN device in a network
namespace of its own and prints what left when.

    ackord kernel shell --leap -- python3 scripts/linux-sender.py [--json]
    sudo python3 scripts/linux-sender.py

The first asks a stock kernel in simulated time, the second this machine's. Nothing is left behind: the
namespace ends with the process. The same scripts run against `profile = "linux"` in
crates/tcp/tests/linux_sender.rs; docs/linux-sender.md compares.
"""

import os
import select
import socket
import struct
import sys
import time

from linux_path import Host, checksum, on_a_tick, sleep_until, tell

HOST, PEER, PORT, MSS = "10.88.0.1", "10.88.0.2", 9000, 1000
SYN, ACK = 2, 16
RTT = 0.04


class Receiver:
    """One connection that the kernel opens; segments are numbered from 0."""

    def __init__(self, tun, unanswered=0):
        self.tun, self.port, self.seq = tun, None, 1000
        self.sock = socket.socket()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.sock.setblocking(False)
        opened = on_a_tick()
        self.sock.connect_ex((PEER, PORT))
        syn = self.take(1)
        while not syn["flags"] & SYN:
            syn = self.take(1)
        self.port, self.iss = syn["port"], syn["seq"]
        for _ in range(unanswered):
            while not (again := self.take(5))["flags"] & SYN:
                pass
            opened = again["at"]
        sleep_until(opened + RTT)
        # MSS 1000, SACK permitted, window scale 10.
        options = b"\x02\x04\x03\xe8\x04\x02\x01\x01\x01\x03\x03\x0a"
        self.put(self.iss + 1, SYN | ACK, options)
        self.seq += 1
        self.take(1)

    def put(self, ack, flags, options=b""):
        words = (20 + len(options)) // 4 << 4
        fields = (PORT, self.port, self.seq, ack & 0xFFFFFFFF, words, flags, 60000, 0, 0)
        tcp = struct.pack("!HHIIBBHHH", *fields) + options
        source, target = socket.inet_aton(PEER), socket.inet_aton(HOST)
        pseudo = source + target + struct.pack("!BBH", 0, 6, len(tcp))
        tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + source + target
        os.write(self.tun, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp)

    def take(self, seconds):
        end = time.monotonic() + seconds
        while select.select([self.tun], [], [], max(0, end - time.monotonic()))[0]:
            packet = os.read(self.tun, 70000)
            if packet[0] >> 4 != 4 or packet[9] != 6:
                continue
            tcp = packet[(packet[0] & 15) * 4 :]
            port, target, seq, _, offset, flags = struct.unpack("!HHIIBB", tcp[:14])
            if target != PORT or self.port not in (None, port):
                continue
            payload = len(tcp) - (offset >> 4) * 4
            return dict(at=time.monotonic(), port=port, seq=seq, flags=flags, payload=payload)
        return None

    def left(self, seconds):
        """Segments that leave within this time, as (milliseconds since then, number)."""
        since, seen = time.monotonic(), []
        end = since + seconds
        while time.monotonic() < end:
            segment = self.take(end - time.monotonic())
            if segment and segment["payload"]:
                number = (segment["seq"] - self.iss - 1) % (1 << 32) // MSS
                seen.append((round((segment["at"] - since) * 1000, 1), number))
        return seen

    def ack(self, number, sack=()):
        edges = [self.iss + 1 + MSS * edge & 0xFFFFFFFF for block in sack for edge in block]
        blocks = b"".join(struct.pack("!I", edge) for edge in edges)
        options = b"\x01\x01\x05" + bytes([2 + len(blocks)]) + blocks if sack else b""
        self.put(self.iss + 1 + number * MSS, ACK, options)

    def write(self, segments):
        self.sock.send(b"x" * MSS * segments)

    def close(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        self.left(0.05)


def lost_tail(r):
    r.write(10)
    r.left(RTT)
    for number in range(1, 8):
        r.ack(number)
    return r.left(0.5)


def lone_segment(r):
    r.write(1)
    return r.left(0.7)[1:]


def hole(sacked):
    def play(r):
        r.write(10)
        r.left(RTT)
        r.ack(0, [(1, 1 + sacked)])
        return r.left(0.1)

    return play


def pause(seconds):
    def play(r):
        r.write(40)
        last = 0
        while last < 40:
            for _, number in r.left(RTT):
                last = number + 1
                r.ack(last)
        time.sleep(seconds)
        r.write(100)
        return len(r.left(0.03))

    return play


def cwnd(r):
    info = r.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack("=I", info[80:84])[0]


def trickle(segments, rounds):
    """Forty delivered, then so few a round trip: cwnd after each round."""

    def play(r):
        r.write(40)
        last = 0
        while last < 40:
            for _, number in r.left(RTT):
                last = number + 1
                r.ack(last)
        windows = []
        for _ in range(rounds):
            r.write(segments)
            for _, number in r.left(RTT):
                r.ack(number + 1)
            time.sleep(0.005)
            windows.append(cwnd(r))
        return windows

    return play


def first_window(r):
    r.write(100)
    return len(r.left(0.03))


def used(segments):
    def play(r):
        r.write(segments)
        r.left(RTT)
        for number in range(1, segments + 1):
            r.ack(number)
        time.sleep(0.01)
        r.write(100)
        return len(r.left(0.03))

    return play


def late(r):
    r.write(200)
    first = r.left(0.9)[10:]
    r.ack(1)
    answer = [number for _, number in r.left(0.02)]
    r.ack(2)
    rest = [number for _, number in r.left(0.02)]
    return dict(first=first, answer=answer, rest=rest, cwnd=cwnd(r))


def scripts():
    """Name, what is printed before the answer, what is played, and how many SYNs go unanswered."""
    yield "lost_tail", "ten sent, seven acknowledged; left since, ms", lost_tail, 0
    yield "lone_segment", "one sent; left again, ms", lone_segment, 0
    for sacked in (1, 2, 3):
        yield f"hole_{sacked}", f"{sacked} SACKed above a hole; left since, ms", hole(sacked), 0
    for ms in (100, 300, 500, 1500):
        title = f"forty delivered, pause of {ms} ms; left at once"
        yield f"pause_{ms}_ms", title, pause(ms / 1000), 0
    for segments in (4, 5, 6, 8):
        yield f"used_{segments}", f"{segments} of ten used; left at once", used(segments), 0
    for segments in (1, 4, 20):
        title = f"forty delivered, then {segments} a round trip; cwnd"
        yield f"trickle_{segments}", title, trickle(segments, 30), 0
    for lost in (0, 1, 2):
        yield f"syn_lost_{lost}", f"SYN lost {lost} times; left at once", first_window, lost
    yield "late", "nothing for 0.9 s, then two acknowledgments; left, ms", late, 0


def main():
    tun, answers = Host(HOST, PEER, {}).tun, {}
    for name, title, play, unanswered in scripts():
        receiver = Receiver(tun, unanswered)
        answers[name] = play(receiver)
        receiver.close()
        if "--json" not in sys.argv:
            print(f"{title}: {answers[name]}")
    if "--json" in sys.argv:
        tell(answers)


main()
