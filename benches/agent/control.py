#!/usr/bin/env python3
"""Treated connections beside those left alone within one run of the agent, in its words and in the client's.

  benches/agent/control.py [TURNS] [--noisy]      100 connections for each; $ACKORD may name the program

A Python client writes twice and reads, 20 times on each connection, a new process for each, to a server of this
project and to redis-server: both on this machine and outside the agent's control group, as if they were elsewhere. The
agent leaves half of the connections alone. Beside the shares of time that are lost by its status (95 % intervals by
connection) stand the medians that the client measures, treated being what finds TCP_NODELAY on its socket without having
set it; and the extremes, which tell whether any connection is between the two. Root; says SKIPPED where something lacks.
Nothing is left behind.
"""
import shutil, sys, time
from programs import EXCHANGES, SERVER, World, listening, numbers, quiet, told

CLIENT = EXCHANGES.replace("print(", "print(c.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), ")
REDIS = ["redis-server", "--port", "7902", "--save", "", "--bind", "127.0.0.1"]
PATTERNS = [
    ("a Python client", 7901, [sys.executable, "-c", SERVER], ("a" * 50, "b" * 50, 100)),
    ("redis-server, SET", 7902, REDIS, (r"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n", r"$5\r\nvalue\r\n", 5)),
]


def connection(world, port, first, second, answer):
    """Whether it was treated, and the median of its exchanges, ms."""
    nodelay, median = world.run([sys.executable, "-c", CLIENT, "127.0.0.1", str(port), "20", first, second, str(answer)]).split()
    return nodelay != "0", float(median)


def lost(estimate):
    half = estimate["ci95"]
    return f"{estimate['mean']:.2f}" + ("" if half is None else f" ± {half:.2f}")


def measured(medians):
    return f"{told(medians).strip()} ({min(medians):.3f} to {max(medians):.3f})" if medians else "none"


def main():
    turns = numbers(100)
    with World() as world:
        patterns = [one for one in PATTERNS if shutil.which(one[2][0])]
        for _, port, server, _ in patterns:
            world.start(server, outside=True)
            listening(port)
        quiet()
        world.agent('by = "port"\nlevers = "nodelay"\ncontrol = "50 %"\n')
        medians = {}
        for name, port, _, words in patterns:
            # Before it knows what is lost it only looks.
            world.until_standing(f"port-{port}", "nodelay", "at-work", lambda: connection(world, port, *words))
            medians[name] = {True: [], False: []}
        for _ in range(turns):
            for name, port, _, words in patterns:
                is_treated, median = connection(world, port, *words)
                medians[name][is_treated].append(median)
        time.sleep(2)
        print(f"{turns} connections each, half of them to be left alone; 95 % intervals; in brackets the extremes\n")
        print("| write, write, read, 0 ms | connections | time lost, % (agent) | exchange, median, ms (client) |\n| --- | --- | --- | --- |")
        for name, port, *_ in patterns:
            said = world.lever(f"port-{port}", "nodelay")["lost_percent"]
            for group, is_treated in (("treated", True), ("control", False)):
                called = {"treated": "treated", "control": "left alone"}[group]
                print(f"| {name}, {called} | {said[group]['samples']} | {lost(said[group])} | {measured(medians[name][is_treated])} |")
            print(f"| {name}, difference | | {lost(said['difference'])} | |")


if __name__ == "__main__":
    main()
