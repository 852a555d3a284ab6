#!/usr/bin/env python3
"""What a kernel says and does, knob by knob of `profile = "linux"`.

    ackord kernel shell --leap -- python3 scripts/linux-profile.py [--json]
    sudo python3 scripts/linux-profile.py [--json]

The first asks a stock kernel in simulated time, the second this machine's. In a network namespace of its
own it reads the kernel's settings, asks fresh sockets, and plays a peer over a TUN device to see what
leaves: the SYN, what becomes of it when nobody answers, the first flight, acknowledgments, TIME-WAIT. Ten
seconds of its time; nothing is left behind. The test crates/cli/tests/linux_profile.rs compares the answers
with the profile, docs/linux-profile.md shows them side by side.
"""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path as File

from linux_path import Arrivals, Host, Segment, checksum, tcp_info

PEER, HOST = "10.79.0.2", "10.79.0.1"
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
# Newer than Python's own names.
TCP_RTO_MAX_MS, TCP_RTO_MIN_US, TCP_DELACK_MAX_US = 44, 45, 46
ON = {0: "off", 1: "on"}
# What stands for a value: the kernel has no such file or option; or whoever asked was too late for an
# answer.
NOT_THERE, UNDECIDED = "not there", "undecided (busy)"


def sysctl(name):
    """Its words; none where the kernel has no such file."""
    file = File(f"/proc/sys/net/ipv4/{name}")
    return file.read_text().split() if file.exists() else []


class Answers:
    """What the kernel said: knobs of the profile, and what has no knob."""

    def __init__(self):
        self.knobs, self.others = [], []

    def knob(self, knob, value, how):
        self.knobs.append({"knob": knob, "value": value, "how": how})

    def other(self, what, value, how):
        self.others.append({"what": what, "value": value, "how": how})

    def setting(self, knob, name, meaning):
        """A knob that is a sysctl: what its value is called here, or its digits and a unit."""
        words = sysctl(name)
        if not words:
            return self.knob(knob, NOT_THERE, f"net.ipv4.{name}")
        raw = int(words[0])
        value = meaning(raw) if callable(meaning) else meaning.get(raw, f"({raw})")
        self.knob(knob, value, f"net.ipv4.{name} = {raw}")


def settings(answers):
    """What the kernel keeps in files."""
    for knob, name, meaning in [
        ("sack", "tcp_sack", ON),
        ("dsack", "tcp_dsack", ON),
        ("timestamps", "tcp_timestamps", {0: "off", 1: "on", 2: "on"}),
        ("window_scaling", "tcp_window_scaling", ON),
        ("ecn", "tcp_ecn", {0: "off", 1: "on", 2: "accept"}),
        ("frto", "tcp_frto", {0: "off", 1: "on", 2: "on"}),
        ("idle_restart", "tcp_slow_start_after_idle", {0: "off", 1: "decay"}),
        ("loss", "tcp_recovery", lambda bits: "rack" if bits & 1 else "fixed"),
        ("loss.tlp", "tcp_early_retrans", {0: "off", 3: "on"}),
        ("rto_min", "tcp_rto_min_us", lambda micros: f"{micros / 1000:g} ms"),
        ("rto_max", "tcp_rto_max_ms", lambda millis: f"{millis / 1000:g} s"),
        ("max_retransmissions", "tcp_retries2", str),
        ("syn_ack_retransmissions", "tcp_synack_retries", str),
        ("syn_linear_timeouts", "tcp_syn_linear_timeouts", str),
        ("ack.sack_compression_delay", "tcp_comp_sack_delay_ns", lambda ns: f"{ns / 1e6:g} ms"),
        ("ack.sack_compression_limit", "tcp_comp_sack_nr", str),
        ("ack.pingpong_threshold", "tcp_pingpong_thresh", str),
        ("r1_retransmissions", "tcp_retries1", str),
        ("time_wait_resets", "tcp_rfc1337", {0: "accept", 1: "ignore"}),
        ("receive_buffer_tuning", "tcp_moderate_rcvbuf", ON),
    ]:
        answers.setting(knob, name, meaning)
    tries, linear = (" ".join(sysctl(name)) for name in ("tcp_syn_retries", "tcp_syn_linear_timeouts"))
    answers.knob("syn_retransmissions", str(int(tries) + int(linear or 0)),
                 f"net.ipv4.tcp_syn_retries = {tries}, and tcp_syn_linear_timeouts = {linear}")
    largest = sysctl("tcp_wmem")[2]
    answers.knob("send_buffer", f"{largest} B", f"net.ipv4.tcp_wmem = {' '.join(sysctl('tcp_wmem'))}")
    for name in ("tcp_rmem", "tcp_orphan_retries", "tcp_fin_timeout", "tcp_keepalive_time",
                 "tcp_keepalive_intvl", "tcp_keepalive_probes", "tcp_notsent_lowat", "tcp_invalid_ratelimit", "tcp_challenge_ack_limit",
                 "tcp_reordering", "tcp_max_reordering", "tcp_min_rtt_wlen",
                 "tcp_pacing_ss_ratio", "tcp_pacing_ca_ratio", "tcp_mtu_probing",
                 "tcp_fastopen", "tcp_no_metrics_save", "tcp_shrink_window", "tcp_adv_win_scale",
                 "tcp_abort_on_overflow", "tcp_autocorking"):
        answers.other(f"net.ipv4.{name}", " ".join(sysctl(name)), "sysctl")


def cubic(answers):
    """The module's constants, and what new connections get."""
    module = File("/sys/module/tcp_cubic/parameters")
    if not module.exists():
        for knob in ("c", "beta", "fast_convergence", "hystart"):
            answers.knob(f"congestion.{knob}", NOT_THERE, str(module))
        return
    value = lambda name: int((module / name).read_text())
    scale, beta, detect = value("bic_scale"), value("beta"), value("hystart_detect")
    how = lambda name: f"/sys/module/tcp_cubic/parameters/{name} = {value(name)}"
    answers.knob("congestion.c", f"{scale * 10 / 1024:.4f}", how("bic_scale"))
    answers.knob("congestion.beta", f"{beta / 1024:.4f}", how("beta"))
    answers.knob("congestion.fast_convergence", ON[value("fast_convergence")],
                 how("fast_convergence"))
    word = {1: "train", 2: "delay", 3: "delay-and-train"}[detect] if value("hystart") else "off"
    answers.knob("congestion.hystart", word, f"{how('hystart')}, hystart_detect = {detect}")
    chosen = sysctl("tcp_congestion_control")[0]
    available = sysctl("tcp_available_congestion_control")
    # What a machine's owner has chosen is no property of the kernel; a new namespace inherits it.
    answers.knob("congestion", "cubic" if "cubic" in available else chosen,
                 f"net.ipv4.tcp_congestion_control = {chosen}, available: {', '.join(available)}")


def fresh_socket(answers):
    """What a socket has before it does anything."""
    sock = socket.socket()
    tcp = lambda option: sock.getsockopt(socket.IPPROTO_TCP, option)
    info = tcp_info(sock)
    answers.knob("rto_initial", f"{info['rto'] / 1e6:g} s", f"TCP_INFO of a new socket: rto "
                 f"{info['rto']} us")
    answers.other("cwnd of a new socket", info["snd_cwnd"], "TCP_INFO")
    answers.other("reordering of a new socket", info["reordering"], "TCP_INFO")
    for knob, name, unit in [("keepalive_idle", "TCP_KEEPIDLE", " s"),
                             ("keepalive_interval", "TCP_KEEPINTVL", " s"),
                             ("keepalive_probes", "TCP_KEEPCNT", "")]:
        value = tcp(getattr(socket, name))
        answers.knob(knob, f"{value}{unit}", f"{name} of a new socket: {value}")
    on = sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    answers.knob("keepalive", ON[on], f"SO_KEEPALIVE of a new socket: {on}")
    limit = tcp(socket.TCP_USER_TIMEOUT)
    answers.knob("user_timeout", f"{limit} ms" if limit else "none",
                 f"TCP_USER_TIMEOUT of a new socket: {limit}")
    for name, option in [("TCP_LINGER2", socket.TCP_LINGER2), ("TCP_MAXSEG", socket.TCP_MAXSEG),
                         ("TCP_SYNCNT", socket.TCP_SYNCNT), ("TCP_NODELAY", socket.TCP_NODELAY),
                         ("TCP_QUICKACK", socket.TCP_QUICKACK), ("TCP_RTO_MAX_MS", TCP_RTO_MAX_MS),
                         ("TCP_RTO_MIN_US", TCP_RTO_MIN_US), ("TCP_DELACK_MAX_US", TCP_DELACK_MAX_US)]:
        try:
            answers.other(name, tcp(option), "getsockopt")
        except OSError:
            answers.other(name, "unknown here", "getsockopt")
    buffer = lambda name: sock.getsockopt(socket.SOL_SOCKET, getattr(socket, name))
    answers.other("SO_RCVBUF", buffer("SO_RCVBUF"), "getsockopt, with what a packet takes in the kernel")
    answers.knob("send_buffer_initial", f"{buffer('SO_SNDBUF')} B",
                 f"SO_SNDBUF of a new socket: {buffer('SO_SNDBUF')}")
    # Times are kept in whole ticks: what is set comes back rounded up.
    try:
        kept = set()
        for micros in range(50_000, 75_000, 500):
            sock.setsockopt(socket.IPPROTO_TCP, TCP_RTO_MIN_US, micros)
            kept.add(tcp(TCP_RTO_MIN_US))
        kept = sorted(kept)
        tick = min(later - earlier for earlier, later in zip(kept, kept[1:]))
        for knob in ["ack.tick", "timer_tick"]:
            answers.knob(knob, f"{tick / 1000:g} ms", f"TCP_RTO_MIN_US reads in steps of {tick} us")
    except OSError:
        for knob in ["ack.tick", "timer_tick"]:
            answers.knob(knob, NOT_THERE, "TCP_RTO_MIN_US")
    sock.close()


class Peer:
    """The other end of the TUN device; what the kernel sends is kept with the time it came."""

    def __init__(self, host):
        self.tun, self.arrivals, self.came = host.tun, Arrivals(host.tun), []

    def take(self, until):
        """Takes in what comes until then."""
        self.came.extend(self.arrivals.until(until))

    def of(self, port):
        """What came to or from this port of ours: (time, Segment)."""
        ports = lambda packet: struct.unpack("!HH", packet[20:24])
        return [(at, Segment(packet)) for at, packet in self.came if port in ports(packet)[1:]]

    def wait(self, port, wanted, seconds=10.0):
        """The next segment to this port of ours that is wanted."""
        seen, end = len(self.of(port)), time.monotonic() + seconds
        while time.monotonic() < end:
            self.take(min(end, time.monotonic() + 0.002))
            for at, segment in self.of(port)[seen:]:
                if wanted(segment):
                    return at, segment
        sys.exit(f"the kernel does not answer at port {port}")

    def send(self, ports, seq, ack, flags, payload=b"", options=b"", window=65535):
        ours, theirs = ports
        head = struct.pack("!HHIIBBHHH", ours, theirs, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                           (20 + len(options)) << 2, flags, window, 0, 0) + options
        ends = socket.inet_aton(PEER) + socket.inet_aton(HOST)
        pseudo = ends + struct.pack("!BBH", 0, 6, len(head) + len(payload))
        head = head[:16] + struct.pack("!H", checksum(pseudo + head + payload)) + head[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(head) + len(payload), 0, 0, 64, 6, 0) + ends
        os.write(self.tun, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + head + payload)


def option_names(options):
    """The options' names in order, as they stand."""
    names, at = [], 0
    known = {2: "mss", 3: "window scale", 4: "sack permitted", 8: "timestamps"}
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at, _ = at + 1, names.append("nop")
            continue
        names.append(known.get(options[at], str(options[at])))
        at += max(2, options[at + 1])
    return names


def dial(port):
    """A socket of the kernel's on its way to our port."""
    sock = socket.socket()
    # In a namespace the default may be set to unrestricted controls only; for a socket all will do.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    sock.setblocking(False)
    sock.connect_ex((PEER, port))
    return sock


# MSS, SACK permitted, window scale 7: what the peer says in its SYN.
OPTIONS = bytes([2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7])


class Connection:
    """A connection that the kernel opens to a port of ours; no timestamps, so that segments are
    of a round size, and a handshake long enough that no probe is sent meanwhile."""

    def __init__(self, peer, port):
        self.peer, self.port, self.sock = peer, port, dial(port)
        _, syn = peer.wait(port, lambda segment: segment.flags & SYN)
        peer.take(time.monotonic() + 0.06)
        self.theirs = struct.unpack("!H", syn.packet[20:22])[0]
        self.irs, self.iss = syn.seq, 5000
        self.ports = (port, self.theirs)
        self.acked = self.irs + 1
        peer.send(self.ports, self.iss, self.irs + 1, SYN | ACK, options=OPTIONS)
        peer.wait(port, lambda segment: segment.flags & ACK)
        self.sent = 0

    def data(self):
        return [(at, segment) for at, segment in self.peer.of(self.port) if segment.payload]

    def acknowledge(self, upto, **more):
        self.peer.send(self.ports, self.iss + 1 + self.sent, upto, ACK, **more)

    def give(self, octets, flags=ACK):
        self.peer.send(self.ports, self.iss + 1 + self.sent, self.acked, flags, b"x" * octets)
        self.sent += octets


def first_flight(answers, peer, port):
    connection = Connection(peer, port)
    start = time.monotonic()
    connection.sock.send(b"y" * 100_000)
    peer.take(start + 0.05)
    data = connection.data()
    payloads = {segment.payload for _, segment in data}
    # Without offload to the device each packet is a segment; a batch would show as a larger one.
    segments = sum(-(-segment.payload // 1460) for _, segment in data)
    answers.knob("initial_window", str(segments), f"{segments} segments leave at once to a peer "
                 "that says nothing more")
    spread = (data[-1][0] - data[0][0]) * 1000
    answers.other("how long the first flight takes to leave", f"{spread:.1f} ms",
                  f"TUN; packets of {sorted(payloads)} octets")
    buffer = connection.sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    answers.knob("send_buffer_tuning", "on" if buffer > int(sysctl("tcp_wmem")[1]) else "off",
                 f"SO_SNDBUF once it is connected: {buffer}")
    info = tcp_info(connection.sock)
    answers.other("timeout after a handshake of 60 ms", f"{info['rto'] / 1000:g} ms",
                  f"TCP_INFO; rtt {info['rtt'] / 1000:.1f} ms")
    connection.sock.close()


def minshall(answers, peer, port):
    """A full segment and a small one are out at once under Minshall's rule; the second small one
    waits for the first, and for nothing under no rule."""
    connection = Connection(peer, port)
    connection.sock.send(b"y" * 1560)
    peer.take(time.monotonic() + 0.02)
    first = len(connection.data())
    connection.sock.send(b"y" * 100)
    peer.take(time.monotonic() + 0.02)
    second = len(connection.data()) - first
    word = {(2, 0): "minshall", (1, 0): "on", (2, 1): "off"}.get((first, second), "?")
    answers.knob("nagle", word, f"of 1460 and 100 octets {first} segments leave at once, of 100 "
                 f"more {second}")
    connection.sock.close()


def delayed(answers, peer, port):
    """Small segments that nobody reads: how many are acknowledged at once, and how long the next
    waits."""
    connection = Connection(peer, port)
    waits = []
    for _ in range(19):
        at = time.monotonic()
        connection.give(100, ACK | PSH)
        came, _ = peer.wait(port, lambda segment: segment.flags & ACK)
        waits.append((came - at) * 1000)
        peer.take(time.monotonic() + 0.004)
    at_once = next((n for n, wait in enumerate(waits) if wait > 25), len(waits))
    answers.knob("ack.quick_ack_limit", str(at_once), f"small segments {at_once} and fewer are "
                 f"acknowledged at once, the next after {waits[min(at_once, 18)]:.0f} ms")
    connection.sock.close()


def time_wait(answers, peer, port):
    """The kernel closes first; what its table says of the time that is left."""
    connection = Connection(peer, port)
    connection.sock.close()
    _, fin = peer.wait(port, lambda segment: segment.flags & FIN)
    half = timer_of("fin-wait-2", connection, fin.seq + 1, ACK)
    answers.knob("fin_wait_2_timeout", f"{half} s", "ss --options: what is left of FIN-WAIT-2 "
                 "without an owner, rounded up")
    whole = timer_of("time-wait", connection, fin.seq + 1, FIN | ACK)
    answers.knob("time_wait", f"{whole} s", f"ss --options: timewait, rounded up from what is left")


def timer_of(state, connection, ack, flags):
    """Sends this, and reads how many seconds the state it leads to will last."""
    connection.peer.send(connection.ports, connection.iss + 1, ack, flags)
    listed = ""
    began = time.monotonic()
    end = began + 10
    while time.monotonic() < end and "timewait," not in listed:
        connection.peer.take(time.monotonic() + 0.01)
        listed = subprocess.run(["ss", "-Htno", "state", state], capture_output=True, text=True,
                                check=True).stdout
        listed = "\n".join(line for line in listed.splitlines() if f":{connection.port} " in line)
    # Rounded up below, it is whole seconds as long as it is read within the first.
    arrivals = connection.peer.arrivals
    arrivals.late = max(arrivals.late, time.monotonic() - began - 0.9)
    left = re.search(r"timewait,(?:(\d+)min)?(?:(\d+)(?:\.\d+)?sec)?", listed)
    minutes, seconds = (int(part or 0) for part in left.groups())
    return minutes * 60 + seconds + 1 if seconds else minutes * 60


def challenges(answers, peer, port):
    """Resets inside the window but not at its edge, and SYNs: how many challenges, how far apart."""
    connection = Connection(peer, port)
    before = len(peer.of(port))
    start = time.monotonic()
    while time.monotonic() < start + 1.2:
        peer.send(connection.ports, connection.iss + 1000, 0, RST)
        peer.take(time.monotonic() + 0.02)
    times = [(at - start) * 1000 for at, _ in peer.of(port)[before:]]
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    shown = ", ".join(f"{at:.0f}" for at in times)
    interval = int(sysctl("tcp_invalid_ratelimit")[0])
    # The resets come every 20 ms, and both ends of a gap are read a little late.
    late = peer.arrivals.late * 1000
    if not gaps or not all(interval - late <= gap < interval + 30 + 2 * late for gap in gaps):
        interval = 0
    answers.knob("challenge_ack_limit", "1" if interval else "?", f"a reset every 20 ms is challenged "
                 f"after {shown} ms")
    answers.knob("challenge_ack_interval", f"{interval} ms", f"the same; "
                 f"net.ipv4.tcp_invalid_ratelimit = {sysctl('tcp_invalid_ratelimit')[0]}")
    connection.sock.close()


STAMPS = bytes([1, 1, 8, 10])


def passive(answers, peer, port):
    """The kernel listens: what answers a SYN that comes again, and data without a timestamp."""
    listener = socket.socket()
    listener.bind((HOST, 7001))
    listener.listen()
    peer.send((port, 7001), 100, 0, SYN, options=OPTIONS)
    peer.wait(port, lambda segment: segment.flags & SYN)
    peer.take(time.monotonic() + 0.1)
    before = len(peer.of(port))
    peer.send((port, 7001), 100, 0, SYN, options=OPTIONS)
    peer.take(time.monotonic() + 0.1)
    again = [segment.flags for _, segment in peer.of(port)[before:]]
    word = {(SYN | ACK,): "syn-ack", (ACK,): "acknowledged"}.get(tuple(again), str(again))
    answers.knob("repeated_syn", word, "a SYN sent twice to a listener")

    stamps = lambda value, echo: STAMPS + struct.pack("!II", value, echo)
    ports = (port + 1, 7001)
    peer.send(ports, 100, 0, SYN, options=OPTIONS + stamps(1, 0))
    _, reply = peer.wait(port + 1, lambda segment: segment.flags & SYN)
    clock, = struct.unpack("!I", reply.option(8)[:4])
    peer.send(ports, 101, reply.seq + 1, ACK, options=stamps(2, clock))
    peer.send(ports, 101, reply.seq + 1, ACK | PSH, b"x" * 100)
    peer.take(time.monotonic() + 0.3)
    taken = any(segment.ack == 201 for _, segment in peer.of(port + 1))
    answers.knob("missing_timestamps", "accept" if taken else "drop",
                 "100 octets without a timestamp where both ends agreed on them")
    listener.close()


def lost_syns(answers, peer, port):
    """How often a SYN may be lost without the first flight being one segment; and ten of larger
    segments."""
    mtu(1500)
    flights = {}
    for losses in (0, 1, 2):
        sock = dial(port + losses)
        for _ in range(losses + 1):
            _, syn = peer.wait(port + losses, lambda segment: segment.flags & SYN)
        flights[losses] = flight(peer, sock, port + losses, syn)
    tolerated = max(losses for losses, segments in flights.items() if segments > 1)
    answers.knob("syn_losses_tolerated", str(tolerated), "first flights after 0, 1, 2 lost SYNs: "
                 + ", ".join(str(flights[losses]) for losses in (0, 1, 2)))
    mtu(9000)
    sock = dial(port + 3)
    _, syn = peer.wait(port + 3, lambda segment: segment.flags & SYN)
    large = flight(peer, sock, port + 3, syn, bytes([2, 4, 35, 0, 1, 3, 3, 7]))
    word = {10: "none", 2: "rfc-3390"}.get(large, f"({large})")
    answers.knob("initial_window_bound", word, f"{large} segments of 8960 octets leave at once")


def mtu(octets):
    subprocess.run(["ip", "link", "set", "outage", "mtu", str(octets)], check=True)


def flight(peer, sock, port, syn, options=OPTIONS):
    """How many segments leave at once after the handshake."""
    theirs, = struct.unpack("!H", syn.packet[20:22])
    peer.take(time.monotonic() + 0.06)
    peer.send((port, theirs), 5000, syn.seq + 1, SYN | ACK, options=options)
    peer.wait(port, lambda segment: segment.flags & ACK)
    peer.send((port, theirs), 5001, syn.seq + 1, ACK, window=60000)
    peer.take(time.monotonic() + 0.01)
    sock.send(b"y" * 200_000)
    peer.take(time.monotonic() + 0.05)
    sock.close()
    mss, = struct.unpack("!H", options[2:4])
    data = [segment for _, segment in peer.of(port) if segment.payload]
    return sum(-(-segment.payload // mss) for segment in data)


def stamp(segment):
    return struct.unpack("!I", segment.option(8)[:4])[0]


def silence(answers, peer, syn, listener_port, started, seconds):
    """SYNs and SYN-ACKs that nobody answers, each since its first: by their own stamps, which do not
    depend on when they are read."""
    peer.take(started + seconds)
    schedules = {}
    for name, port, flags in [("syn", syn, SYN), ("syn_ack", listener_port, SYN | ACK)]:
        stamps = [stamp(left) for _, left in peer.of(port) if left.flags & (SYN | ACK) == flags]
        schedules[name] = [((at - stamps[0]) & 0xFFFFFFFF) / 1000 for at in stamps]
        shown = ", ".join(f"{at:.2f}" for at in schedules[name])
        answers.other(f"{name.upper().replace('_', '-')} to a silent peer leaves at", f"{shown} s",
                      f"TUN, {seconds} s long; timestamps of the segments")
    return schedules


def the_syn(answers, peer, port):
    (first, syn), *_, (last, again) = (
        (at, segment) for at, segment in peer.of(port) if segment.flags & SYN)
    mss, = struct.unpack("!H", syn.option(2))
    answers.knob("mss", f"{mss} B", f"the SYN over an MTU of 1500: {mss}")
    passed, ticks = (last - first) * 1000, (stamp(again) - stamp(syn)) & 0xFFFFFFFF
    answers.knob("clock_granularity", f"{passed / ticks:.1f} ms".replace(".0 ", " "),
                 f"stamps of two SYNs: {ticks} ticks in {passed:.0f} ms")
    return {"options": option_names(syn.options), "window": syn.window, "mss": mss,
            "window_scale": syn.option(3)[0], "ttl": syn.packet[8],
            "flags": syn.flags, "do_not_fragment": bool(syn.packet[6] & 0x40)}


# What is asked over the device; by how many seconds this process may be late meanwhile, for the
# answers to be worth something; the knobs that are answered.
PARTS = [
    (first_flight, 0.05, ("initial_window", "send_buffer_tuning")),
    (minshall, 0.05, ("nagle",)),
    (delayed, 0.01, ("ack.quick_ack_limit",)),
    (time_wait, 0.05, ("fin_wait_2_timeout", "time_wait")),
    (challenges, 0.01, ("challenge_ack_limit", "challenge_ack_interval")),
    (passive, 0.05, ("repeated_syn", "missing_timestamps")),
    (lost_syns, 0.05, ("syn_losses_tolerated", "initial_window_bound")),
]


def in_time(answers, peer, part, port, within, knobs):
    """Takes over the answers of a part, or says that they are undecided; how late it was, in ms."""

    def attempt(number):
        own = Answers()
        part(own, peer, port + 10 * number)
        return own

    own, late = peer.arrivals.in_time(within, attempt)
    if own is None:
        own = Answers()
        for knob in knobs:
            own.knob(knob, UNDECIDED, f"late by {late * 1000:.0f} ms where {within * 1000:.0f} ms are "
                     "borne")
    answers.knobs += own.knobs
    answers.others += own.others
    return late * 1000 if own.knobs[0]["value"] == UNDECIDED else 0.0


def main():
    host = Host(HOST, PEER, {})
    answers = Answers()
    settings(answers)
    cubic(answers)
    fresh_socket(answers)
    peer = Peer(host)
    started = time.monotonic()
    silent = dial(9000)
    listener = socket.socket()
    listener.bind((HOST, 7000))
    listener.listen()
    peer.send((9005, 7000), 100, 0, SYN, options=OPTIONS + STAMPS + struct.pack("!II", 1, 0))
    late_ms = 0.0
    for number, (part, within, knobs) in enumerate(PARTS):
        late_ms = max(late_ms, in_time(answers, peer, part, 9100 + 100 * number, within, knobs))
    schedules = silence(answers, peer, 9000, 9005, started, 9)
    syn = the_syn(answers, peer, 9000)
    for name, value in syn.items():
        answers.other(f"SYN: {name.replace('_', ' ')}",
                      ", ".join(value) if isinstance(value, list) else value, "TUN")
    silent.close()
    found = {"kernel": os.uname().release, "late_ms": late_ms, "knobs": answers.knobs, "others": answers.others,
             "schedules": schedules, "syn": syn}
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    print(f"Linux {found['kernel']}")
    for answer in answers.knobs + answers.others:
        name = answer.get("knob") or answer["what"]
        print(f"  {name:34} {answer['value']!s:28} {answer['how']}")


if __name__ == "__main__":
    main()
