#!/usr/bin/env python3
"""What a kernel answers to each kind of segment in each state of a connection.

    ackord kernel shell --leap -- python3 scripts/linux-states.py [--json]
    sudo python3 scripts/linux-states.py [--json]

The first asks a stock kernel in simulated time, the second this machine's. In a network namespace of its own it brings one connection after another into a state, over a TUN
device whose other end this process is, sends it one segment, and notes what leaves and in which state
the connection is then. Half a minute of its time; nothing is left behind. The test
crates/cli/tests/linux_states.rs does the same to our endpoint and sets the two side by side; docs/linux-states.md has the table.
"""

import itertools
import json
import os
import socket
import struct
import sys
import time

from linux_path import Arrivals, Host, Segment, checksum

PEER, HOST = "10.79.0.2", "10.79.0.1"
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
ISS = 5000
# How late this process may be, in seconds: what is looked for comes within 60 ms, and what must not be
# taken for it, a segment sent again, after 200 ms.
LATE = 0.05
# MSS, SACK permitted, window scale 7; no timestamps, which PAWS would look at.
OPTIONS = bytes([2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7])
STATES = ["SYN-SENT", "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2", "CLOSE-WAIT",
          "CLOSING", "LAST-ACK", "TIME-WAIT"]
# Flags; sequence number from RCV.NXT; acknowledgment from SND.NXT; bytes.
STIMULI = {
    "reset, exact": (RST, 0, None, 0),
    "reset inside the window": (RST, 10, None, 0),
    "reset just below the window": (RST, -1, None, 0),
    "reset that acknowledges": (RST | ACK, 0, 0, 0),
    "SYN inside the window": (SYN, 100, None, 0),
    "SYN below the window": (SYN, -3000, None, 0),
    "the SYN-ACK again": (SYN | ACK, -1, 0, 0),
    "acknowledgment": (ACK, 0, 0, 0),
    "acknowledgment of one byte unsent": (ACK, 0, 1, 0),
    "acknowledgment from long ago": (ACK, 0, -90000, 0),
    "acknowledgment below the window": (ACK, -1, 0, 0),
    "acknowledgment beyond the window": (ACK, 9000000, 0, 0),
    "ten bytes in order": (ACK | PSH, 0, 0, 10),
    "ten bytes without ACK": (PSH, 0, None, 10),
    "ten bytes, unsent acknowledged": (ACK | PSH, 0, 1, 10),
    "FIN in order": (FIN | ACK, 0, 0, 0),
    "FIN below the window": (FIN | ACK, -1, 0, 0),
}
# As /proc/net/tcp numbers them (include/net/tcp_states.h).
BY_CODE = {1: "ESTABLISHED", 2: "SYN-SENT", 3: "SYN-RECEIVED", 4: "FIN-WAIT-1", 5: "FIN-WAIT-2",
           6: "TIME-WAIT", 8: "CLOSE-WAIT", 9: "LAST-ACK", 11: "CLOSING"}


class Peer:
    """The other end of the TUN device."""

    def __init__(self, host):
        self.tun, self.arrivals, self.came = host.tun, Arrivals(host.tun), []

    def take(self, seconds):
        """Takes in what comes for so long."""
        end = time.monotonic() + seconds
        self.came.extend(packet for _, packet in self.arrivals.until(end))

    def of(self, port):
        """What came to this port of ours."""
        to = lambda packet: struct.unpack("!H", packet[22:24])[0]
        return [Segment(packet) for packet in self.came if to(packet) == port]

    def wait(self, port, wanted):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            self.take(0.002)
            for segment in self.of(port):
                if wanted(segment):
                    return segment
        sys.exit(f"the kernel does not answer at port {port}")

    def send(self, ports, seq, ack, flags, payload=b"", options=b""):
        head = struct.pack("!HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                           (20 + len(options)) << 2, flags, 500, 0, 0) + options
        ends = socket.inet_aton(PEER) + socket.inet_aton(HOST)
        pseudo = ends + struct.pack("!BBH", 0, 6, len(head) + len(payload))
        head = head[:16] + struct.pack("!H", checksum(pseudo + head + payload)) + head[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(head) + len(payload), 0, 0, 64, 6, 0) + ends
        os.write(self.tun, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + head + payload)


class Case:
    """A connection of the kernel's in one of the states."""

    def __init__(self, peer, port, state, listener):
        self.peer, self.port = peer, port
        self.sock = None
        # What the kernel expects next, and how many numbers it has sent.
        self.rcv_nxt, sent = ISS + 1, 1
        if state == "SYN-RECEIVED":
            self.ports = (port, listener.getsockname()[1])
            peer.send(self.ports, ISS, 0, SYN, options=OPTIONS)
            self.iss = peer.wait(port, lambda segment: segment.flags & SYN).seq
            self.snd_nxt = self.iss + 1
            return
        self.sock = socket.socket()
        self.sock.setblocking(False)
        self.sock.connect_ex((PEER, port))
        syn = peer.wait(port, lambda segment: segment.flags & SYN)
        self.iss = syn.seq
        self.ports = (port, struct.unpack("!H", syn.packet[20:22])[0])
        if state != "SYN-SENT":
            peer.take(0.02)
            peer.send(self.ports, ISS, self.iss + 1, SYN | ACK, options=OPTIONS)
            peer.wait(port, lambda segment: segment.flags == ACK)
        closes = ("FIN-WAIT-1", "FIN-WAIT-2", "CLOSING", "TIME-WAIT")
        if state in closes:
            self.sock.shutdown(socket.SHUT_WR)
            peer.wait(port, lambda segment: segment.flags & FIN)
            sent += 1
        if state == "FIN-WAIT-2":
            peer.send(self.ports, self.rcv_nxt, self.iss + 2, ACK)
        if state in ("CLOSE-WAIT", "CLOSING", "LAST-ACK", "TIME-WAIT"):
            acked = 2 if state == "TIME-WAIT" else 1
            peer.send(self.ports, self.rcv_nxt, self.iss + acked, FIN | ACK)
            self.rcv_nxt += 1
            peer.wait(port, lambda segment: segment.ack == self.rcv_nxt)
        if state == "LAST-ACK":
            self.sock.shutdown(socket.SHUT_WR)
            peer.wait(port, lambda segment: segment.flags & FIN)
            sent += 1
        self.snd_nxt = self.iss + sent

    def state(self):
        with open("/proc/self/net/tcp") as sockets:
            for line in sockets:
                _, _, remote, code = line.split()[:4]
                if remote.endswith(f":{self.port:04X}"):
                    return BY_CODE[int(code, 16)]
        return "none"

    def meets(self, stimulus):
        """What leaves after the stimulus, counted from the two initial numbers."""
        flags, seq, ack, length = stimulus
        self.peer.take(0.02)
        before = len(self.peer.of(self.port))
        acknowledged = 0 if ack is None else self.snd_nxt + ack
        self.peer.send(self.ports, self.rcv_nxt + seq, acknowledged, flags, b"x" * length)
        self.peer.take(0.06)
        short = lambda number, base: ((number - base + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
        return [{"flags": left.flags, "seq": short(left.seq, self.iss),
                 "ack": short(left.ack, ISS) if left.flags & ACK else 0}
                for left in self.peer.of(self.port)[before:]]

    def end(self):
        if self.sock:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.sock.close()


def flags_of(flags):
    return "".join(name for bit, name in [(SYN, "S"), (FIN, "F"), (RST, "R"), (PSH, "P"), (ACK, ".")]
                   if flags & bit)


def played(peer, port, state, stimulus, listener):
    """A connection brought into the state, and what came of the stimulus."""
    case = Case(peer, port, state, listener)
    try:
        before = case.state()
        if before != state:
            sys.exit(f"{before} instead of {state}")
        answers, after = case.meets(stimulus), case.state()
    finally:
        case.end()
    flags, seq, ack, length = stimulus
    return {"flags": flags, "seq": seq, "ack": ack, "octets": length, "answers": answers,
            "after": after}


def main():
    peer = Peer(Host(HOST, PEER, {}))
    listener = socket.socket()
    listener.bind((HOST, 7000))
    listener.listen()
    found, undecided = [], []
    ports = itertools.count(20001)
    for state in STATES:
        for name, stimulus in STIMULI.items():
            case, late = peer.arrivals.in_time(
                LATE, lambda _: played(peer, next(ports), state, stimulus, listener))
            what = {"state": state, "stimulus": name}
            if case is None:
                undecided.append({**what, "late_ms": late * 1000})
            else:
                found.append(what | case)
    if "--json" in sys.argv:
        print(json.dumps({"kernel": os.uname().release, "cases": found, "undecided": undecided}))
        return
    print(f"Linux {os.uname().release}")
    for case in undecided:
        print(f"  {case['state']:13} {case['stimulus']:36} undecided (busy): this process was late by "
              f"{case['late_ms']:.0f} ms")
    for case in found:
        said = "; ".join(f"{flags_of(left['flags'])} {left['seq']} ack {left['ack']}"
                         for left in case["answers"]) or "-"
        print(f"  {case['state']:13} {case['stimulus']:36} {said:28} {case['after']}")


if __name__ == "__main__":
    main()
