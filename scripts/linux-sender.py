#!/usr/bin/env python3
"""When does this machine's kernel send? Plays a TCP receiver, segment by segment, over a TUN device
in a network namespace of its own and prints what left when.

    sudo unshare --net python3 scripts/linux-sender.py

Nothing is left behind: the namespace ends with the process. The same scripts run against
`profile = "linux"` in crates/tcp/tests/linux_sender.rs; docs/linux-sender.md compares.
"""

import fcntl
import os
import select
import socket
import struct
import subprocess
import time

HOST, PEER, PORT, MSS = "10.88.0.1", "10.88.0.2", 9000, 1000
SYN, ACK = 2, 16
RTT = 0.04


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def open_tun():
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22s", b"sendprobe", 0x1001, b""))
    for line in ("link set lo up", f"addr add {HOST}/24 dev sendprobe", "link set sendprobe up"):
        subprocess.run(["ip", *line.split()], check=True)
    return tun


class Receiver:
    """One connection that the kernel opens; segments are numbered from 0."""

    def __init__(self, tun, unanswered=0):
        self.tun, self.port, self.seq = tun, None, 1000
        self.sock = socket.socket()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.sock.setblocking(False)
        self.sock.connect_ex((PEER, PORT))
        syn = self.take(1)
        while not syn["flags"] & SYN:
            syn = self.take(1)
        self.port, self.iss = syn["port"], syn["seq"]
        for _ in range(unanswered):
            while not self.take(5)["flags"] & SYN:
                pass
        time.sleep(RTT)
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
        end = time.time() + seconds
        while select.select([self.tun], [], [], max(0, end - time.time()))[0]:
            packet = os.read(self.tun, 70000)
            if packet[0] >> 4 != 4 or packet[9] != 6:
                continue
            tcp = packet[(packet[0] & 15) * 4 :]
            port, target, seq, _, offset, flags = struct.unpack("!HHIIBB", tcp[:14])
            if target != PORT or self.port not in (None, port):
                continue
            payload = len(tcp) - (offset >> 4) * 4
            return dict(at=time.time(), port=port, seq=seq, flags=flags, payload=payload)
        return None

    def left(self, seconds, since=None):
        """Segments that leave within this time, as (milliseconds since `since`, number)."""
        since, end, seen = since or time.time(), time.time() + seconds, []
        while time.time() < end:
            segment = self.take(end - time.time())
            if segment and segment["payload"]:
                number = (segment["seq"] - self.iss - 1) % (1 << 32) // MSS
                seen.append((round((segment["at"] - since) * 1000), number))
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


def script(tun, title, play, unanswered=0):
    receiver = Receiver(tun, unanswered)
    print(f"{title}: {play(receiver)}")
    receiver.close()


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
    return first, answer, rest, f"cwnd {cwnd(r)}"


def main():
    tun = open_tun()
    script(tun, "ten sent, seven acknowledged; left since", lost_tail)
    script(tun, "one sent; left again", lone_segment)
    for sacked in (1, 2, 3):
        script(tun, f"{sacked} SACKed above a hole; left since", hole(sacked))
    for seconds in (0.1, 0.3, 0.5, 1.5):
        script(tun, f"forty delivered, pause of {seconds} s; left at once", pause(seconds))
    for segments in (4, 5, 6, 8):
        script(tun, f"{segments} of ten used; left at once", used(segments))
    for segments in (1, 4, 20):
        title = f"forty delivered, then {segments} a round trip; cwnd"
        script(tun, title, trickle(segments, 30))
    for lost in (0, 1, 2):
        script(tun, f"SYN lost {lost} times; left at once", first_window, lost)
    script(tun, "nothing for 0.9 s, then two acknowledgments; left", late)


main()
