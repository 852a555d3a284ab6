#!/usr/bin/env python3
"""How a lever is withdrawn that does not help, or harms: why, and after how many connections.

  benches/agent/withdrawn.py [TURNS] [--only NAME]      3 turns; $ACKORD may name the program

Each turn begins an agent with `nodelay`, half of the connections left alone, `enough = 20` and `each = 8` under [end],
for each of three programs that lose time to Nagle's algorithm:

- *as before*: it writes twice and reads, and once the lever is at work it writes once: nothing is lost any more;
- *own option*: it has switched TCP_NODELAY off itself, which is never touched;
- *thin link*: 600 writes of 20 octets, 1 ms between them, through 128 kbit/s with a queue of four packets and 20 ms each
  way (`ackord shell`): in a packet each they are more than the link carries.

Shown are connections of the program until the lever began, and from then on, treated and left alone, until it was
withdrawn; what the agent's log said; and of how many connections after that TCP_NODELAY was on. Root; says SKIPPED where
something lacks. Nothing is left behind.
"""
import sys, time
from programs import EXCHANGES, SERVER, World, away, listening, numbers

# The option, asked for again: the last word of a connection.
ASKED = "print(c.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))"
CLIENT = EXCHANGES.replace("print(sorted(took)[count // 2] * 1e3)", ASKED)
OWN = CLIENT.replace("took = []", "took = []\nc.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)")
STREAM = r"""
import socket, sys, time
c = socket.create_connection((sys.argv[1], int(sys.argv[2])))
began = time.perf_counter()
for number in range(600):
    c.sendall(b'a' * 20)
    time.sleep(max(0, began + number / 1e3 - time.perf_counter()))
""" + ASKED + r"""
c.shutdown(socket.SHUT_WR)
while c.recv(100): pass
"""
# Takes what comes.
SINK = r"""
import socket, threading
def serve(c):
    while c.recv(65536): pass
    c.close()
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('0.0.0.0', 7902)); s.listen(64)
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
"""
CONFIG = 'by = "port"\nlevers = "nodelay"\ncontrol = "50 %"\n[end]\nenough = 20\neach = 8\n'
AFTER = 10


def programs(world):
    """Name, port, what is run until the lever begins, and what after that."""
    python = lambda code, *words: [sys.executable, "-c", code, *words]
    exchange = lambda code, *writes: python(code, "127.0.0.1", "7901", "12", *writes, "100")
    twice, once = ("a" * 50, "b" * 50), ("a" * 100, "")
    yield "as before", 7901, exchange(CLIENT, *twice), exchange(CLIENT, *once)
    yield "own option", 7901, exchange(OWN, *twice), exchange(OWN, *twice)
    thin = away(python(STREAM, "100.64.0.1", "7902"), "--rate", "128kbit", "--limit", "4")
    yield "thin link", 7902, thin, thin


def withdrawn(world, port, before, after):
    """Connections before it began, treated and left alone since, the log's line, and of how many it was on after all."""
    agent = world.agent(CONFIG)
    application = f"port-{port}"
    began = world.until_standing(application, "nodelay", "at-work", lambda: world.run(before))
    world.until_standing(application, "nodelay", "withdrawn", lambda: world.run(after))
    lost = world.lever(application, "nodelay")["lost_percent"]
    time.sleep(0.3)
    on = sum(world.run(after).strip() != "0" for _ in range(AFTER))
    world.end(agent)
    line = next(line for line in world.log().splitlines() if "withdrawn" in line)
    return [began, lost["treated"]["samples"], lost["control"]["samples"], line.split(maxsplit=1)[1].strip(), on]


def main():
    turns = numbers(3)
    with World() as world:
        world.start([sys.executable, "-c", SERVER], outside=True)
        world.start([sys.executable, "-c", SINK], outside=True)
        listening(7901)
        listening(7902)
        print("| program | until it begins | treated | left alone | the log | on after that |\n| --- | --- | --- | --- | --- | --- |")
        only = next((sys.argv[at + 1] for at, word in enumerate(sys.argv) if word == "--only"), "")
        for name, port, before, after in programs(world):
            for _ in range(turns if name.startswith(only) else 0):
                began, treated, control, line, on = withdrawn(world, port, before, after)
                print(f"| {name} | {began} | {treated} | {control} | `{line}` | {on} of {AFTER} |", flush=True)


if __name__ == "__main__":
    main()
