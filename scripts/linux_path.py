"""A path in user space between two stock kernels: each end is a network namespace of its own with one
TUN device, and every packet passes through this process, which may delay it, lose it or add to it.

`Host` is an end, `Link` one direction of a hop, `Path` the loop that moves packets when they are due;
`on_a_tick` and `tell` are for scripts that ask a kernel. Nothing has a name outside the process:
namespaces and devices end with it, however it ends.
"""

import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import socket
import struct
import subprocess
import time
from collections import deque
from pathlib import Path as File

CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


# A timer strikes on a tick of the kernel, a longer one on each eighth: eight of 4 ms.
EIGHT_TICKS = 0.032
PR_SET_TIMERSLACK = 29


def sleep_until(end):
    time.sleep(max(0, end - time.monotonic()))


def on_a_tick(after=0.0):
    """Waits for the next eighth tick of 4 ms, and so long after it; gives the time planned. On a kernel
    in simulated time these are its ticks, and all that is measured from here on is exact."""
    libc.prctl(PR_SET_TIMERSLACK, 1)
    start = (time.monotonic() // EIGHT_TICKS + 1) * EIGHT_TICKS + after
    sleep_until(start)
    return start


def tell(answers):
    """Prints what a kernel answered, by name, each on a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items()]
    release = json.dumps(os.uname().release)
    print('{"kernel": %s, "answers": {\n%s\n}}' % (release, ",\n".join(lines)))


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Host:
    """One end: a namespace with its TUN device. The process is in it until it makes another."""

    def __init__(self, address, peer, sysctls):
        if libc.unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "no network namespace of my own (root is needed)")
        for name, value in sysctls.items():
            File(f"/proc/sys/net/ipv4/{name}").write_text(str(value))
        self.address, self.tun = address, os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, 0x400454CA, struct.pack("16sH22s", b"outage", 0x1001, b""))
        for line in ("link set lo up", f"addr add {address} peer {peer} dev outage",
                     "link set outage up"):
            subprocess.run(["ip", *line.split()], check=True)
        # Opened here, they go on counting for this namespace.
        self.counter_files = [os.open(f"/proc/self/net/{name}", os.O_RDONLY)
                              for name in ("snmp", "netstat")]

    def counters(self):
        """TcpExt and the other counters of this namespace, by name."""
        counts = {}
        for fd in self.counter_files:
            lines = os.pread(fd, 1 << 16, 0).decode().splitlines()
            for names, values in zip(lines[::2], lines[1::2]):
                counts.update(zip(names.split()[1:], map(int, values.split()[1:])))
        return counts


class Arrivals:
    """The packets of a TUN device, and how late this process was, at most, in looking after them."""

    def __init__(self, tun):
        self.tun, self.late = tun, 0.0

    def until(self, end):
        """Every TCP segment over IPv4 that comes until then, with the time it was read."""
        while True:
            began = time.monotonic()
            # Often, so that no standstill goes unseen.
            patience = min(max(end - began, 0), 0.01)
            ready = select.select([self.tun], [], [], patience)[0]
            now = time.monotonic()
            self.late = max(self.late, now - began - patience)
            if ready:
                packet = os.read(self.tun, 70000)
                if packet[0] >> 4 == 4 and packet[9] == 6:
                    yield now, packet
            elif now >= end:
                return

    def in_time(self, budget, attempt):
        """What attempt(0) gives; attempt(1) and attempt(2) where this process was later than the
        budget meanwhile, and at last (None, how late)."""
        for number in range(3):
            self.late = 0.0
            try:
                result = attempt(number)
            except (Exception, SystemExit):
                if self.late <= budget:
                    raise
            if self.late <= budget:
                return result, self.late
        return None, self.late


class Segment:
    """A TCP segment in its IPv4 packet, as far as a middle box looks at it."""

    def __init__(self, packet):
        self.packet = packet
        self.head = (packet[0] & 15) * 4
        words = struct.unpack("!IIBBH", packet[self.head + 4:self.head + 16])
        self.seq, self.ack, offset, self.flags, self.window = words
        self.options = packet[self.head + 20:self.head + (offset >> 4) * 4]
        self.payload = len(packet) - self.head - (offset >> 4) * 4

    @property
    def end(self):
        return (self.seq + self.payload) & 0xFFFFFFFF

    def option(self, kind):
        """What an option carries, or None."""
        at = 0
        while at < len(self.options) and self.options[at] != 0:
            if self.options[at] == 1:
                at += 1
                continue
            length = max(2, self.options[at + 1])
            if self.options[at] == kind:
                return self.options[at + 2:at + length]
            at += length
        return None

    def with_window(self, window, keep_sack=True):
        """A pure acknowledgment like this one with another window, and perhaps without SACK."""
        options = self.options
        if not keep_sack:
            stamps = self.option(8)
            options = b"\x01\x01\x08\x0a" + stamps if stamps else b""
        ports = self.packet[self.head:self.head + 4]
        tcp = ports + struct.pack("!IIBBHHH", self.seq, self.ack, (20 + len(options)) << 2, 16,
                                  window, 0, 0) + options
        ends = self.packet[12:20]
        pseudo = ends + struct.pack("!BBH", 0, 6, len(tcp))
        tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + ends
        return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp


def before(one, other):
    """Whether a sequence number lies before another."""
    return 0 < (other - one) & 0xFFFFFFFF < 1 << 31


class Link:
    """One direction of a hop: a drop-tail queue, a rate, a delay, random loss, and an outage that
    takes what leaves the transmitter meanwhile and what is on its way when it begins."""

    def __init__(self, path, rate, delay, queue, deliver, loss=0.0, outage=(0, 0), seed=0):
        self.path, self.rate, self.delay, self.queue = path, rate, delay, queue
        self.deliver, self.loss, self.outage = deliver, loss, outage
        self.random, self.leaving, self.drops, self.lost = random.Random(seed), deque(), 0, 0

    def send(self, at, packet):
        """Takes a packet that arrives at `at`: a planned time, so that lateness does not add up."""
        while self.leaving and self.leaving[0] <= at:
            self.leaving.popleft()
        if len(self.leaving) > self.queue:
            self.drops += 1
            return
        start = max(at, self.leaving[-1]) if self.leaving else at
        gone = start + len(packet) * 8 / self.rate
        self.leaving.append(gone)
        since = gone - self.path.start
        dead = since < self.outage[1] and since + self.delay > self.outage[0]
        if dead or self.random.random() < self.loss:
            self.lost += 1
            return
        self.path.at(gone + self.delay, self.deliver, packet)


class Path:
    """The loop: what is due is done, packets of the hosts and octets of the applications move."""

    def __init__(self):
        self.start, self.due, self.count, self.lateness = time.monotonic(), [], 0, []
        self.readers, self.writers = {}, {}

    def at(self, when, act, *arguments):
        self.count += 1
        heapq.heappush(self.due, (when, self.count, act, arguments))

    def every(self, period, act):
        """Calls `act` from now on, one period apart."""
        def again(when):
            act(when)
            self.at(when + period, again)
        self.at(self.start + period, again)

    def now(self):
        return time.monotonic() - self.start

    def run(self, seconds):
        end = self.start + seconds
        while (now := time.monotonic()) < end:
            while self.due and self.due[0][0] <= now:
                when, _, act, arguments = heapq.heappop(self.due)
                self.lateness.append(now - when)
                act(when, *arguments)
                now = time.monotonic()
            wait = min(end, self.due[0][0] if self.due else end) - now
            ready = select.select(list(self.readers), list(self.writers), [], max(0, wait))
            for fd in ready[0]:
                self.readers[fd]()
            for fd in ready[1]:
                self.writers[fd]()

    def from_tun(self, host, take):
        """Hands each TCP packet that a host sends to `take`."""
        def read():
            for _ in range(64):
                try:
                    packet = os.read(host.tun, 70000)
                except BlockingIOError:
                    return
                if packet[0] >> 4 == 4 and packet[9] == 6:
                    take(time.monotonic(), packet)
        self.readers[host.tun] = read

    def lateness_ms(self, quantile):
        ordered = sorted(self.lateness) or [0]
        return ordered[min(len(ordered) - 1, int(len(ordered) * quantile))] * 1000


INFO = ("rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent "
        "last_data_recv last_ack_recv pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss "
        "reordering rcv_rtt rcv_space total_retrans").split()


def tcp_info(sock):
    """TCP_INFO as a dictionary (cwnd and ssthresh in segments, times in microseconds)."""
    raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    info = dict(zip(INFO, struct.unpack("=24I", raw[8:104])))
    info.update(zip(("state", "ca_state", "retransmits", "probes", "backoff"), raw))
    return info
