#!/usr/bin/env python3
"""What does this machine's kernel do about explicit congestion notification? Plays the other end,
segment by segment, over a TUN device in a network namespace of its own.

    sudo unshare --net python3 scripts/linux-ecn.py

Nothing is left behind: the namespace ends with the process. The same scripts run against
`profile = "linux"` in crates/tcp/tests/linux_ecn.rs; docs/linux-ecn.md compares.
"""

import fcntl
import os
import select
import socket
import struct
import subprocess
import time

HOST, PEER, PORT, MSS = "10.89.0.1", "10.89.0.2", 9000, 1000
FIN, SYN, PSH, ACK, ECE, CWR = 1, 2, 8, 16, 64, 128
NOT_ECT, ECT0, CE = 0, 2, 3
RTT = 0.04
FIELDS = {NOT_ECT: "-", 1: "ECT1", ECT0: "ECT0", CE: "CE"}


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def open_tun():
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22s", b"ecnprobe", 0x1001, b""))
    for line in ("link set lo up", f"addr add {HOST}/24 dev ecnprobe", "link set ecnprobe up"):
        subprocess.run(["ip", *line.split()], check=True)
    return tun


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
        end = time.time() + seconds
        while select.select([self.tun], [], [], max(0, end - time.time()))[0]:
            packet = os.read(self.tun, 70000)
            if packet[0] >> 4 != 4 or packet[9] != 6:
                continue
            tcp = packet[(packet[0] & 15) * 4 :]
            port, target, seq, ack, offset, flags = struct.unpack("!HHIIBB", tcp[:14])
            if target != self.ours or self.theirs not in (None, port):
                continue
            payload = len(tcp) - (offset >> 4) * 4
            return dict(
                at=time.time(),
                port=port,
                seq=seq,
                ack=ack,
                flags=flags,
                payload=payload,
                field=packet[1] & 3,
            )
        return None

    def all(self, seconds):
        end, seen = time.time() + seconds, []
        while time.time() < end:
            segment = self.take(end - time.time())
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
        self.put(flags, options=OPTIONS)
        answer = self.take(1)
        self.syn_ack = answer
        self.seq += 1
        self.nxt = answer["seq"] + 1
        time.sleep(RTT)
        self.put(ACK, self.nxt)
        self.sock, _ = self.listener.accept()

    def data(self, field=ECT0, flags=0, wait=0.1):
        """Sends a segment; what is acknowledged within the wait: (milliseconds, flags)."""
        since = time.time()
        self.put(ACK | flags, self.nxt, MSS, field=field)
        self.seq += MSS
        return [(round((s["at"] - since) * 1000), names(s["flags"])) for s in self.all(wait)]

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
        self.sock.connect_ex((PEER, PORT))
        self.syns = []
        while len(self.syns) <= lose:
            segment = self.take(2)
            if segment and segment["flags"] & SYN:
                self.syns.append(segment)
        syn = self.syns[-1]
        self.theirs, self.iss = syn["port"], syn["seq"]
        time.sleep(RTT)
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
    for mode in (0, 1, 2):
        for flags in (SYN | ECE | CWR, SYN | ECE, SYN):
            peer = Sender(tun, flags, mode)
            answer = names(peer.syn_ack["flags"])
            print(f"tcp_ecn={mode}, {names(flags)} arrives; answer: {answer}")
            peer.close()
    for mode in (0, 1, 2):
        peer = Receiver(tun, mode=mode)
        print(f"tcp_ecn={mode}, connects; SYN: {names(peer.syns[0]['flags'])}")
        peer.close()
    peer = Receiver(tun, lose=1)
    print(f"tcp_ecn=1, SYN lost; SYNs: {[names(syn['flags']) for syn in peer.syns]}", end="; ")
    peer.write(1)
    print(f"data after a SYN-ACK with ECE: {peer.left()}")
    peer.close()
    for answer in (ECE, ECE | CWR, 0):
        peer = Receiver(tun, answer)
        peer.write(1)
        print(f"tcp_ecn=1, SYN-ACK with {names(answer) or 'neither'}; data: {peer.left()}")
        peer.close()


def echoes(tun):
    peer = Sender(tun)
    for _ in range(40):
        peer.data(wait=0.005)
    peer.all(0.1)
    print("beyond the quick acknowledgments, a segment each 100 ms; acknowledged after ms, with:")
    for what, field, flags in (
        ("ECT0", ECT0, 0),
        ("CE", CE, 0),
        ("ECT0", ECT0, 0),
        ("ECT0", ECT0, 0),
        ("ECT0", ECT0, 0),
        ("CE again", CE, 0),
        ("ECT0", ECT0, 0),
        ("CWR", ECT0, CWR),
        ("ECT0", ECT0, 0),
        ("CE with CWR", CE, CWR),
        ("CWR", ECT0, CWR),
        ("not capable", NOT_ECT, 0),
        ("ECT0", ECT0, 0),
        ("ECT0", ECT0, 0),
    ):
        print(f"  {what}: {peer.data(field, flags)}")
    peer.close()


def answers(tun, title, marked, lost=None):
    """Every segment is acknowledged in turn, some with ECE; one may be lost. What each lets out."""
    peer = Receiver(tun)
    peer.write(300)
    queue = [number for number, _, _ in peer.left(RTT)]
    print(title)
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
            print(f"  {number}: {left}")
    print(f"  cwnd at the end: {peer.cwnd()}")
    peer.close()


def main():
    tun = open_tun()
    handshakes(tun)
    echoes(tun)
    answers(tun, "12 to 33 acknowledged with ECE: acknowledged, left", range(12, 34))
    answers(tun, "12 and 13 with ECE, 20 lost", (12, 13), 20)


main()
