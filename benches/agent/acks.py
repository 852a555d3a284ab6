#!/usr/bin/env python3
"""How long a slow reader's peer waits for the acknowledgment of a lone write: without an agent, with `delayed-ack`, and
with `[quick]`.

  benches/agent/acks.py [TURNS] [--noisy]      10 turns; $ACKORD may name the program

The reader takes a connection and reads nothing; the writer sends 50 octets and, once they are acknowledged (SIOCOUTQ,
asked for every 0.2 ms), the next. Each has a network of its own, a veth pair between them: routes with `quickack`, as
`[quick]` has them, do not reach a host itself. Each turn is one connection each way, in random order; its first four
seconds, in which the agent has to see what is lost, are not counted, the other four are. Medians and 95th percentiles of
the writes, means with 95 % intervals by Student's t over the turns. Root; says SKIPPED where something lacks. Nothing is
left behind.
"""
import math, os, random, shutil, statistics, subprocess, sys
from programs import World, numbers, quiet, told

LEARNT_FOR, COUNTED_FOR = 4, 4
READER = r"""
import socket, time
s = socket.socket(); s.bind(('10.9.0.2', 0)); s.listen(1)
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
time.sleep(600)
"""
WRITER = r"""
import fcntl, socket, struct, sys, time
SIOCOUTQ = 0x5411
c = socket.create_connection(('10.9.0.2', int(sys.argv[1])))
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
counted = time.perf_counter() + int(sys.argv[2])
end = counted + int(sys.argv[3])
took = []
while (began := time.perf_counter()) < end:
    c.sendall(b'a' * 50)
    while struct.unpack('i', fcntl.ioctl(c, SIOCOUTQ, b'0000'))[0]: time.sleep(0.0002)
    if began >= counted: took.append((time.perf_counter() - began) * 1e3)
print('\n'.join(map(str, took)))
"""
LEVER = 'levers = "delayed-ack"\ncontrol = "0 %"\n'
WAYS = {"without": None, "`delayed-ack`": LEVER, "`delayed-ack`, `[quick]`": LEVER + "[quick]\n"}


class Ends:
    """Two networks with a cable between them."""

    def __init__(self):
        self.names = [f"ackord-acks-{os.getpid()}-{end}" for end in ("writer", "reader")]

    def inside(self, end):
        return ["nsenter", f"--net=/run/netns/{self.names[end]}"]

    def __enter__(self):
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True)
            writer, reader = self.names
            ip = lambda *words: subprocess.run(["ip", "-n", *words], check=True)
            ip(writer, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", reader)
            for name, address in ((writer, "10.9.0.1/24"), (reader, "10.9.0.2/24")):
                ip(name, "addr", "add", address, "dev", "eth0")
                ip(name, "link", "set", "lo", "up")
                ip(name, "link", "set", "eth0", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


def connection(world, ends, lines):
    """How long each acknowledgment took, ms."""
    agent = world.agent(lines, ends.inside(1)) if lines else None
    reader = world.start([*ends.inside(1), sys.executable, "-c", READER], stdout=subprocess.PIPE, text=True)
    words = [reader.stdout.readline().strip(), str(LEARNT_FOR), str(COUNTED_FOR)]
    # Not in the group: as if it was somewhere else, as it is.
    said = subprocess.run([*ends.inside(0), sys.executable, "-c", WRITER, *words], check=True, capture_output=True, text=True)
    world.end(reader)
    if agent:
        world.end(agent)
    return sorted(map(float, said.stdout.split()))


def main():
    turns = numbers(10)
    for tool in ("ip", "nsenter"):
        if not shutil.which(tool):
            sys.exit(f"SKIPPED: no {tool}")
    figures = {way: [] for way in WAYS}
    with World() as world, Ends() as ends:
        for _ in range(turns):
            for way in random.sample(list(WAYS), len(WAYS)):
                quiet()
                took = connection(world, ends, WAYS[way])
                figures[way].append((statistics.median(took), took[math.ceil(0.95 * len(took)) - 1], len(took) / COUNTED_FOR))
    print(f"{turns} connections each way; 95 % intervals\n")
    print("| a lone write's acknowledgment | median, ms | 95th percentile, ms | writes a second |\n| --- | --- | --- | --- |")
    for way, runs in figures.items():
        median, late, rate = zip(*runs)
        print(f"| {way} | {told(median).strip()} | {told(late).strip()} | {told(rate, 0).strip()} |")


if __name__ == "__main__":
    main()
