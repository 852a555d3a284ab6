#!/usr/bin/env python3
"""What the timer of a packet ring's open block costs a machine that forwards (packet(7), tp_retire_blk_tov): iperf3
through a router between three network namespaces, one connection a run, beside two sockets that are bound to nothing and
have a ring whose blocks are handed over after so many milliseconds; in turns, in random order.

  benches/gateway/timer.py [TURNS [MILLISECONDS...]]      7 turns; 1 4 20 1000

Medians of the goodput, Gbit/s, and the share of that without. Root; nothing is left behind.
"""
import json, os, random, socket, statistics, struct, subprocess, sys

SOL_PACKET, RX_RING, VERSION = 263, 5, 10


def rings(millis):
    """Two of 256 blocks of 128 KiB each, as a gateway has them."""
    both = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in range(2)]
    for one in both:
        one.setsockopt(SOL_PACKET, VERSION, 2)
        one.setsockopt(SOL_PACKET, RX_RING, struct.pack("7I", 1 << 17, 256, 1 << 17, 256, millis, 0, 0))
    return both


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    kinds = [0] + [int(word) for word in sys.argv[2:] or ["1", "4", "20", "1000"]]
    if os.geteuid():
        sys.exit("SKIPPED: namespaces take root")
    s, r, m = names = [f"timer-{one}-{os.getpid()}" for one in "srm"]
    run = lambda words: subprocess.run(words.split(), check=True, capture_output=True, text=True).stdout
    server = None
    try:
        for name in names:
            run(f"ip netns add {name}")
        for end, device, net in ((s, "wan0", 1), (m, "lan0", 2)):
            run(f"ip -n {r} link add {device} type veth peer name eth0 netns {end}")
            run(f"ip -n {end} addr add 10.{net}.0.2/24 dev eth0")
            run(f"ip -n {r} addr add 10.{net}.0.1/24 dev {device}")
            run(f"ip -n {end} link set eth0 up")
            run(f"ip -n {r} link set {device} up")
            run(f"ip -n {end} route add default via 10.{net}.0.1")
        run(f"ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1")
        server = subprocess.Popen(["ip", "netns", "exec", m, "iperf3", "--server"], stdout=subprocess.DEVNULL)
        figures = {kind: [] for kind in kinds}
        for _ in range(turns):
            for kind in random.sample(kinds, len(kinds)):
                held = rings(kind) if kind else []
                said = json.loads(run(f"ip netns exec {s} iperf3 --client 10.2.0.2 --omit 1 --time 3 --json"))
                figures[kind].append(said["end"]["sum_received"]["bits_per_second"] / 1e9)
                for one in held:
                    one.close()
        without = statistics.median(figures[0])
        for kind, each in figures.items():
            what = f"blocks of {kind} ms" if kind else "no ring"
            print(f"{what:20} {statistics.median(each):6.2f}  {statistics.median(each) / without:.2f}   "
                  + " ".join(f"{one:.1f}" for one in each))
    finally:
        if server:
            server.kill()
            server.wait()
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


if __name__ == "__main__":
    main()
