#!/usr/bin/env python3
"""What does a kernel do about explicit congestion notification? Plays the other end, segment by
segment, over a TUN device in a network namespace of its own.

    ackord kernel shell --leap -- python3 scripts/linux-ecn.py [--json]
    sudo python3 scripts/linux-ecn.py

The first asks a stock kernel in simulated time, the second this machine's. Nothing is left behind: the
namespace ends with the process. The same scripts run against `profile = "linux"` in
crates/tcp/tests/linux_ecn.rs; docs/linux-ecn.md compares.
"""

import os
import select
import socket
import struct
import sys
import time

from linux_path import Host, checksum, on_a_tick, sleep_until, tell

HOST, PEER, PORT, MSS = "10.89.0.1", "10.89.0.2", 9000, 1000
FIN, SYN, PSH, ACK, ECE, CWR = 1, 2, 8, 16, 64, 128
NOT_ECT, ECT0, CE = 0, 2, 3
RTT = 0.04
FIELDS = {NOT_ECT: "-", 1: "ECT1", ECT0: "ECT0", CE: "CE"}


def tcp_ecn(value):
    with open("/proc/sys/net/ipv4/tcp_ecn", "w") as knob:
        knob.write(str(value))


def names(flags):
    pairs = ((SYN, "SYN"), (FIN, "FIN"), (ACK, "ACK"), (ECE, "ECE"), (CWR, "CWR"))
    return "+".join(name for bit, name in pairs if flags & bit)


class Peer:
    """The far end of one connection of the kernel's."""

    def __init__(self, tun, ours, theirs):
        self.tun, self.ours, self.theirs = tun, ours, theirs
        self.seq, self.nxt = 1000, 0

    def put(self, flags, ack=0, payload=0, options=b"", field=NOT_ECT, seq=None):
        words = (20 + len(options)) // 4 << 4
        seq = self.seq if seq is None else seq
        fields = (self.ours, self.theirs, seq, ack & 0xFFFFFFFF, words, flags, 60000, 0, 0)
        tcp = struct.pack("!HHIIBBHHH", *fields) + options + b"x" * payload
        source, target = socket.inet_aton(PEER), socket.inet_aton(HOST)
        pseudo = source + target + struct.pack("!BBH", 0, 6, len(tcp))
        tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
        head = struct.pack("!BBHHHBBH", 0x45, field, 20 + len(tcp), 0, 0x4000, 64, 6, 0)
        ip = head + source + target
        os.write(self.tun, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp)

    def take(self, seconds):
        end = time.monotonic() + seconds
        while select.select([self.tun], [], [], max(0, end - time.monotonic()))[0]:
            packet = os.read(self.tun, 70000)
            if packet[0] >> 4 != 4 or packet[9] != 6:
                continue
            tcp = packet[(packet[0] & 15) * 4 :]
            port, target, seq, ack, offset, flags = struct.unpack("!HHIIBB", tcp[:14])
            if target != self.ours or self.theirs not in (None, port):
                continue
            payload = len(tcp) - (offset >> 4) * 4
            return dict(
                at=time.monotonic(),
                port=port,
                seq=seq,
                ack=ack,
                flags=flags,
                payload=payload,
                field=packet[1] & 3,
            )
        return None

    def all(self, seconds):
        end, seen = time.monotonic() + seconds, []
        while time.monotonic() < end:
            segment = self.take(end - time.monotonic())
            if segment:
                seen.append(segment)
        return seen


# MSS 1000, SACK permitted, window scale 10.
OPTIONS = b"\x02\x04\x03\xe8\x04\x02\x01\x01\x01\x03\x03\x0a"


class Sender(Peer):
    """We send, the kernel receives."""

    port = 40000

    def __init__(self, tun, flags=SYN | ECE | CWR, mode=2):
        tcp_ecn(mode)
        Sender.port += 1
        super().__init__(tun, Sender.port, PORT)
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((HOST, PORT))
        self.listener.listen()
        opened = on_a_tick()
        self.put(flags, options=OPTIONS)
        answer = self.take(1)
        self.syn_ack = answer
        self.seq += 1
        self.nxt = answer["seq"] + 1
        self.due = opened + RTT
        sleep_until(self.due)
        self.put(ACK, self.nxt)
        self.sock, _ = self.listener.accept()

    def data(self, field=ECT0, flags=0, wait=0.1):
        """Sends a segment; what is acknowledged within the wait: (milliseconds, whether with ECE)."""
        sleep_until(self.due)
        since, self.due = self.due, self.due + wait
        self.put(ACK | flags, self.nxt, MSS, field=field)
        self.seq += MSS
        acks = self.all(self.due - time.monotonic())
        return [(round((ack["at"] - since) * 1000, 1), bool(ack["flags"] & ECE)) for ack in acks]

    def close(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        self.listener.close()
        self.all(0.05)


class Receiver(Peer):
    """The kernel sends, we receive; segments are numbered from 0."""

    def __init__(self, tun, answer=ECE, lose=0, mode=1):
        tcp_ecn(mode)
        super().__init__(tun, PORT, None)
        self.sock = socket.socket()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.sock.setblocking(False)
        on_a_tick()
        self.sock.connect_ex((PEER, PORT))
        self.syns = []
        while len(self.syns) <= lose:
            segment = self.take(2)
            if segment and segment["flags"] & SYN:
                self.syns.append(segment)
        syn = self.syns[-1]
        self.theirs, self.iss = syn["port"], syn["seq"]
        sleep_until(syn["at"] + RTT)
        self.put(SYN | ACK | answer, self.iss + 1, options=OPTIONS)
        self.seq += 1
        self.take(1)

    def write(self, segments):
        self.sock.send(b"x" * MSS * segments)

    def left(self, seconds=0.01):
        """What leaves: (number, CWR or not, ECN field)."""
        seen = []
        for s in self.all(seconds):
            if s["payload"]:
                first = (s["seq"] - self.iss - 1) % (1 << 32) // MSS
                seen.append((first, "CWR" if s["flags"] & CWR else "", FIELDS[s["field"]]))
        return seen

    def ack(self, number, flags=0, sack=()):
        edges = [self.iss + 1 + MSS * edge & 0xFFFFFFFF for block in sack for edge in block]
        blocks = b"".join(struct.pack("!I", edge) for edge in edges)
        options = b"\x01\x01\x05" + bytes([2 + len(blocks)]) + blocks if sack else b""
        self.put(ACK | flags, self.iss + 1 + number * MSS, options=options)

    def cwnd(self):
        """tcpi_snd_cwnd, in segments."""
        info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return struct.unpack("24I", info[8:104])[18]

    def close(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        self.all(0.05)


def handshakes(tun):
    """What the kernel says of ECN in handshakes, by the value of tcp_ecn and the peer's words."""
    found = {}
    for mode in (0, 1, 2):
        for flags in (SYN | ECE | CWR, SYN | ECE, SYN):
            peer = Sender(tun, flags, mode)
            answer = names(peer.syn_ack["flags"])
            found[f"tcp_ecn={mode}, {names(flags)} arrives; answer"] = answer
            peer.close()
    for mode in (0, 1, 2):
        peer = Receiver(tun, mode=mode)
        found[f"tcp_ecn={mode}, connects; SYN"] = names(peer.syns[0]["flags"])
        peer.close()
    peer = Receiver(tun, lose=1)
    found["tcp_ecn=1, SYN lost; SYNs"] = [names(syn["flags"]) for syn in peer.syns]
    peer.write(1)
    found["tcp_ecn=1, SYN lost, SYN-ACK with ECE; data"] = peer.left()
    peer.close()
    for answer in (ECE, ECE | CWR, 0):
        peer = Receiver(tun, answer)
        peer.write(1)
        found[f"tcp_ecn=1, SYN-ACK with {names(answer) or 'neither'}; data"] = peer.left()
        peer.close()
    return found


def echoes(tun):
    """Beyond the quick acknowledgments, a segment each 100 ms: when each is acknowledged, and how."""
    peer, found = Sender(tun), []
    for _ in range(40):
        peer.data(wait=0.005)
    peer.data(wait=0.1)
    for what, field, flags in (
        ("ECT0", ECT0, 0),
        ("CE", CE, 0),
        ("ECT0", ECT0, 0),
        ("ECT0", ECT0, 0),
        ("ECT0", ECT0, 0),
        ("CE", CE, 0),
        ("ECT0", ECT0, 0),
        ("CWR", ECT0, CWR),
        ("ECT0", ECT0, 0),
        ("CE with CWR", CE, CWR),
        ("CWR", ECT0, CWR),
        ("not capable", NOT_ECT, 0),
        ("ECT0", ECT0, 0),
        ("ECT0", ECT0, 0),
    ):
        found.append((what, peer.data(field, flags)))
    peer.close()
    return found


def answers(tun, marked, lost=None):
    """Every segment is acknowledged in turn, some with ECE; one may be lost. What each lets out."""
    peer, found = Receiver(tun), []
    peer.write(300)
    queue = [number for number, _, _ in peer.left(RTT)]
    hole, highest = None, -1
    for _ in range(60):
        number = queue.pop(0)
        if number == lost:
            hole, lost = number, None
            continue
        highest = max(highest, number)
        hole = None if number == hole else hole
        flags = ECE if number in marked else 0
        if hole is None:
            peer.ack(highest + 1, flags)
        else:
            peer.ack(hole, flags, [(hole + 1, highest + 1)])
        left = peer.left(0.004)
        queue += [number for number, _, _ in left]
        if number >= min(marked):
            found.append((number, left))
    found = dict(left=found, cwnd=peer.cwnd())
    peer.close()
    return found


def main():
    tun = Host(HOST, PEER, {}).tun
    found = dict(
        handshakes=handshakes(tun),
        echoes=echoes(tun),
        marked=answers(tun, range(12, 34)),
        marked_and_lost=answers(tun, (12, 13), 20))
    if "--json" in sys.argv:
        return tell(found)
    for title, answer in found["handshakes"].items():
        print(f"{title}: {answer}")
    print("beyond the quick acknowledgments, a segment each 100 ms; acknowledged after ms, with ECE:")
    for what, acked in found["echoes"]:
        print(f"  {what}: {acked}")
    for name, title in (("marked", "12 to 33 acknowledged with ECE: acknowledged, left"),
                        ("marked_and_lost", "12 and 13 with ECE, 20 lost")):
        print(title)
        for number, left in found[name]["left"]:
            print(f"  {number}: {left}")
        print(f"  cwnd at the end: {found[name]['cwnd']}")


main()
