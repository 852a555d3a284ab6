#!/usr/bin/env python3
"""Writes a capture of many short connections, for what a connection costs in time and memory.

Usage: benches/diagnose/flows.py FILE [CONNECTIONS]      100000 unless said otherwise: 2.2 million packets

Each connection has a handshake, a question, an answer of eight segments and its end; they run side by side, so that
all of them are open at once.
"""

import socket
import struct
import sys

STEPS = 22


def packet(connection, at_us, from_client, seq, ack, flags, length, options=b""):
    """A frame without its payload, as it stands in a capture with a snap length of 96."""
    client = struct.pack("!I", 0x0A000000 + connection // 60000), 1024 + connection % 60000
    server = socket.inet_aton("192.0.2.1"), 443
    (src, sport), (dst, dport) = (client, server) if from_client else (server, client)
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, (5 + len(options) // 4) << 4, flags, 65000, 0, 0) + options
    total = 20 + len(tcp) + length
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, total, at_us & 0xFFFF, 0x4000, 64, 6, 0, src, dst)
    kept = ip + tcp
    return struct.pack("<IIII", at_us // 1000000, at_us % 1000000, len(kept), total) + kept


def main():
    name = sys.argv[1]
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    options = bytes([2, 4, 5, 180, 1, 3, 3, 7])
    mss = 1460
    steps = [(True, 0, 0, 2, 0), (False, 0, 1, 18, 0), (True, 1, 1, 16, 0), (True, 1, 1, 24, 300)]
    for segment in range(8):
        steps.append((False, 1 + segment * mss, 301, 16, mss))
        steps.append((True, 301, 1 + (segment + 1) * mss, 16, 0))
    steps += [(False, 1 + 8 * mss, 301, 17, 0), (True, 301, 2 + 8 * mss, 17, 0)]
    assert len(steps) == STEPS
    with open(name, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 101))
        at = 1_700_000_000_000_000
        for step in steps:
            from_client, seq, ack, flags, length = step
            for connection in range(connections):
                at += 1
                syn = options if flags & 2 else b""
                out.write(packet(connection, at, from_client, seq, ack, flags, length, syn))


main()
