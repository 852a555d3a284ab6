"""A lasting iperf3 through a router, where a gateway begins and ends again and again: what of the goodput is left with it,
each time in proportion to the seconds before and after. Run by forwarding.sh, which makes the network.

  lasting.py SENDER ROUTER ADDRESS CONNECTIONS TURNS ACKORD STATE
"""
import json, math, statistics, subprocess, sys, time

sender, router, address, connections, turns, ackord, state = sys.argv[1:]
turns = int(turns)
# Of each phase the first seconds are not counted: a gateway knows what is fast after one, and TCP settles.
PHASE, SETTLES = 5.0, 2.0
T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def in_router(argv):
    return subprocess.Popen(["ip", "netns", "exec", router] + argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


iperf = subprocess.Popen(["ip", "netns", "exec", sender, "iperf3", "--client", address, "--parallel", connections, "--time",
                          str(int(2 + (2 * turns + 1) * PHASE)), "--interval", "0.1", "--json"],
                         stdout=subprocess.PIPE, text=True)
began = time.time()
time.sleep(2)
phases = []
for phase in range(2 * turns + 1):
    gateway, at = None, time.time() - began
    if phase % 2:
        gateway = in_router([ackord, "gateway", "run", "--wan", "wan0", "--lan", "lan0", "--remedy", "proxy-tcp", "--state", state])
    time.sleep(PHASE - 0.3)
    phases.append((at + SETTLES, time.time() - began))
    if gateway:
        subprocess.run([ackord, "gateway", "stop", "--state", state], capture_output=True)
        gateway.wait()
intervals = [one["sum"] for one in json.loads(iperf.communicate()[0])["intervals"]]
means = [statistics.mean(one["bits_per_second"] for one in intervals if start < one["start"] and one["end"] < end)
         for start, end in phases]
left = [2 * means[at] / (means[at - 1] + means[at + 1]) for at in range(1, len(means), 2)]
half = T.get(len(left), 2.0) * statistics.stdev(left) / math.sqrt(len(left)) if len(left) > 1 else math.nan
print(f"{connections:12} {statistics.mean(means[::2]) / 1e9:7.2f}   {statistics.mean(left):.3f} ± {half:.3f}   "
      + " ".join(f"{one:.2f}" for one in left))
