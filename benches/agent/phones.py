#!/usr/bin/env python3
"""Short downloads of a phone from a sender that grows with every acknowledgment, with the agent's quick acknowledgments
and without, beside the simulator's figures.

  benches/agent/phones.py [TURNS]      6 turns

The sender is this project's TCP (Reno, growth per acknowledgment), the phone this machine's kernel, the path is emulated
between them (`ackord live run --ours server`): 100 Mbit/s, 20 ms each way, a connection for each transfer. The agent is
in the phone's network, with `quick-ack` asked for; the first transfers, of which it learns what the usual one is, are not
counted. Simulated: the receiver `linux`, and `ari` with what the usual transfer is. Means with 95 % intervals by Student's
t over the turns. Root; says SKIPPED where something lacks. Nothing is left behind.
"""
import statistics, sys
from hosts import Hosts, told

SIZES = ["100 kB", "300 kB", "1 MB"]
LEARNT_FROM, COUNTED = 11, 8
HEAD = """version = 1
name = "phones"
purpose = "Short downloads of a phone from a sender that grows with every acknowledgment"
seed = {seed}
duration = "{duration} s"
[hosts.phone]
[hosts.server]
[[links]]
name = "access"
from = "server"
to = "phone"
rate = "100 Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop-tail", limit = "200 packets" }}
[tcp]
profile = "linux"
loss = "fixed"
congestion = {{ kind = "reno", growth = "per-ack" }}
"""
FLOW = """[[flows]]
name = "transfer-{number}"
from = "phone"
to = "server"
sends = "server"
start = "{start} s"
traffic = {{ kind = "transfers", size = "{size}", count = 1 }}
{receiver}
"""


def scenario(size, seed, receiver=""):
    # The agent begins once the hosts are there.
    starts = [3 + number for number in range(LEARNT_FROM + COUNTED)]
    flows = [FLOW.format(number=n, start=start, size=size, receiver=receiver) for n, start in enumerate(starts)]
    return HEAD.format(seed=seed, duration=starts[-1] + 2) + "".join(flows)


def time_and_acks(flows):
    flows = flows[LEARNT_FROM:]
    return (statistics.mean(flow["transfers"]["time_ms"]["mean"] for flow in flows),
            statistics.mean(flow["acks_sent"] for flow in flows))


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    with Hosts() as hosts:
        print(f"{'time of a transfer, ms':24} {'without':>16} {'simulated':>10} {'with':>16} {'simulated':>10}"
              f"   ACKs without, with   ({turns} turns, 95 % intervals)")
        for size in SIZES:
            usual = f'receiver_tcp = {{ ack = {{ kind = "ari", most_sent = "{size}" }} }}'
            stock, quick = (time_and_acks(hosts.simulated(scenario(size, 1, receiver)))[0] for receiver in ("", usual))
            runs = {False: [], True: []}
            for turn in range(turns):
                for treated in [False, True] if turn % 2 == 0 else [True, False]:
                    agent = 'levers = ["quick-ack"]\n[quick]\n' if treated else None
                    runs[treated].append(time_and_acks(hosts.live(
                        scenario(size, turn + 1), ["--ours", "server"], agent)))
            hosts.forget()
            times = {treated: told([one[0] for one in runs[treated]]) for treated in runs}
            acks = [statistics.mean(one[1] for one in runs[treated]) for treated in (False, True)]
            print(f"{size:24} {times[False]:>16} {stock:10.1f} {times[True]:>16} {quick:10.1f}"
                  f"   {acks[0]:.0f}, {acks[1]:.0f}", flush=True)


if __name__ == "__main__":
    main()
