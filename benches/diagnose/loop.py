#!/usr/bin/env python3
"""The whole loop of a diagnosis with real parts: capture, diagnose, do what it says, capture again, verify.

  benches/diagnose/loop.py [gateway] [agent] [--quick] [--keep DIR]      both loops; $ACKORD may name the program

- *gateway*: a phone downloads from a web server through a gateway. The link to the phone loses everything for a second or
  two now and then, and single packets besides (`ackord shell` within another: three networks, the kernel of each forwards
  and has its own TCP). Each download meets fades of its own, the same ones without and with the remedy.
- *agent*: a client writes twice and reads, again and again, over a path of some milliseconds.

Each is captured by tcpdump and diagnosed; the first remedy that is a command of this program is begun by that command,
with names of interfaces and of the control group for those of the advice, a folder of its own, and nobody left alone; the
same is done and captured again; and the prediction is held against both captures (`ackord diagnose --verify`) and against
what the clients' own clocks say. What is printed is Markdown. `--keep` leaves captures and reports in a folder. Root; says
SKIPPED where something lacks. Nothing is left behind.
"""
import json, os, random, shutil, subprocess, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))
from hosts import keeper
from programs import ACKORD, EXCHANGES, SERVER, World, interval, quiet

QUICK = "--quick" in sys.argv
# The link to the phone, and the wire behind the gateway.
LINK = ["--rate", "12mbit", "--delay", "20ms", "--limit", "60", "--loss-down", "0.3%"]
WIRE = ["--rate", "1gbit", "--delay", "10ms"]
MEGABYTES, PERIOD_S, DOWNLOADS = 3, 15, 3 if QUICK else 7
# The client of the other loop.
AWAY = ["--rate", "100mbit", "--delay", "5ms"]
EXCHANGES_EACH, CONNECTIONS = 20, 4 if QUICK else 10
# A web server whose kernel has CUBIC, as Linux has it unless told otherwise.
WEB = r"""
import functools, http.server, socket, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("0.0.0.0", 8000), handler)
server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
server.serve_forever()
"""
PHONE = r"""
import json, subprocess, sys, time
began, url, period, count = time.monotonic(), sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
print(flush=True)
for number in range(1, count + 1):
    time.sleep(max(0, began + number * period - time.monotonic()))
    said = subprocess.run(["curl", "-sS", "-o", "/dev/null", "--max-time", str(2 * period), "-w",
                           "%{time_total} %{size_download}", url], capture_output=True, text=True)
    print(said.stdout, said.stderr, flush=True)
"""


HEAD = """# The whole loop, live

What a capture says, what was done about it, and what came of it, on stock kernels: all below is what `{command}` printed,
with Linux {kernel} on {cores} cores, as root. Means and gains have 95 % intervals. *Measured* is by the captures alone, as if
connections before and after had nothing in common ([how](diagnose.md)); the clients' own clocks stand below it.
"""


class Networks:
    """A server's network, and others behind emulated links, one behind the other; gone when it is closed."""

    def __init__(self, world):
        self.world, self.name = world, f"ackord-loop-{os.getpid()}"
        self.server = ["nsenter", f"--net=/run/netns/{self.name}"]

    def __enter__(self):
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run(["ip", "-n", self.name, "link", "set", "lo", "up"], check=True)
        return self

    def __exit__(self, *_):
        for process in reversed(list(self.world.running)):
            self.world.end(process)
        subprocess.run(["ip", "netns", "del", self.name], check=True)

    def behind(self, inside, link, command=("sh", "-c", "echo; exec sleep 3600")):
        """A network behind a link: what enters it, and the shell, whose command says a line when it begins."""
        shell = self.world.start([*inside, ACKORD, "shell", "--quiet", "--realtime-priority", *link, "--", *command],
                                 outside=True, stdout=subprocess.PIPE, text=True)
        shell.stdout.readline()
        return ["nsenter", "--net", f"--target={keeper(shell, 0)}"], shell


def device(inside, of):
    """The device of a network whose name begins so."""
    links = json.loads(subprocess.run([*inside, "ip", "-json", "link"], check=True, capture_output=True).stdout)
    return next(link["ifname"] for link in links if link["ifname"].startswith(of))


def capture(world, inside, interface, file):
    process = world.start([*inside, "tcpdump", "-Z", "root", "-i", interface, "-s", "128", "-B", "65536", "-w", file, "tcp"],
                          outside=True, stderr=subprocess.PIPE, text=True)
    while "listening" not in process.stderr.readline():
        pass
    return process


def answer(world, argv, name):
    """What the program says, as text and as data."""
    data = world.path(f"{name}.json")
    done = subprocess.run([ACKORD, *argv, "--json", data], capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1", "COLUMNS": "110"})
    if done.returncode:
        raise RuntimeError(f"{argv}: {done.stderr}")
    with open(world.path(f"{name}.txt"), "w") as text:
        text.write(done.stdout)
    with open(data) as file:
        return json.load(file)


def advice(diagnosis):
    """The first remedy that is a command of this program, of the connection that lost most."""
    advised = [one for connection in diagnosis["connections"] for one in connection["remedies"]]
    names = sorted({one["remedy"] for one in advised if one["command"].startswith("ackord ")},
                   key=lambda name: -max(one["gain_percent"] for one in advised if one["remedy"] == name))
    return next((one for name in names for one in advised if one["remedy"] == name), None)


def span(of):
    return "" if of is None else f"{of[0]:.1f} to {of[1]:.1f}"


def tell_diagnosis(diagnosis, where):
    connections = diagnosis["connections"]
    seconds = {}
    for connection in connections:
        for cause in connection["causes"]:
            seconds[cause["cause"]] = seconds.get(cause["cause"], 0) + cause["seconds"]
    print(f"{len(connections)} connections, {sum(seconds.values()):.1f} s, {where}:\n\n| cause | s |\n| --- | --- |")
    for cause, of in sorted(seconds.items(), key=lambda it: -it[1]):
        if of >= 0.01 * sum(seconds.values()):
            print(f"| {cause} | {of:.1f} |")
    print("\n| connection | remedy | gain, % | 95 % interval | where | command |\n| --- | --- | --- | --- | --- | --- |")
    for connection in connections:
        for one in connection["remedies"]:
            print(f"| {connection['id']} | {one['remedy']} | {one['gain_percent']:.1f} | {span(one['ci95'])} | {one['where']} | `{one['command']}` |")
    print()


def tell_verification(rows, clock, what):
    print("| less time, % | predicted | 95 % interval | measured | 95 % interval | verdict |\n| --- | --- | --- | --- | --- | --- |")
    for where, said in rows:
        print(f"| {where} | {said['predicted_percent']:.1f} | {span(said['predicted_ci95'])} | {said['measured_percent']:.1f} "
              f"| {span(said['measured_ci95'])} | {said['verdict']} |")
    print(f"\n{what}:\n\n| | without | with |\n| --- | --- | --- |")
    for number, pair in enumerate(zip(*clock), 1):
        print(f"| {number} | {pair[0]:.3f} | {pair[1]:.3f} |")
    (without, half), (with_it, other) = map(interval, clock)
    print(f"| mean | {without:.3f} ± {half:.3f} | {with_it:.3f} ± {other:.3f} |")
    saved, half = interval([100 * (one - another) / without for one, another in zip(*clock)])
    print(f"\nBy these clocks {saved:.1f} ± {half:.1f} % less time, pair by pair.\n")


def fades():
    """Two in the way of each download: when, and for how long; the same each time."""
    drawn = random.Random(11)
    for number in range(1, DOWNLOADS + 1):
        at = number * PERIOD_S
        for _ in range(2):
            at += drawn.uniform(0.7, 2.0)
            lasts = drawn.uniform(0.8, 2.2)
            yield f"{at:.2f}s+{lasts:.2f}s"
            at += lasts


def gateway(world):
    with Networks(world) as networks:
        folder = world.path("files")
        os.makedirs(folder)
        with open(os.path.join(folder, "film"), "wb") as film:
            film.write(os.urandom(MEGABYTES * 1_000_000))
        world.start([*networks.server, sys.executable, "-c", WEB, folder], outside=True)
        router, _ = networks.behind(networks.server, WIRE)
        wan, server_side = device(router, "ackord"), device(networks.server, "ackout")
        places = {"at the server": (networks.server, server_side, "server"), "at the gateway": (router, wan, "gateway")}

        def series(name, command=None):
            url = "http://100.64.0.1:8000/film"
            _, phone = networks.behind(router, [*LINK, "--fade", ",".join(fades())],
                                       [sys.executable, "-c", PHONE, url, str(PERIOD_S), str(DOWNLOADS)])
            began = time.monotonic()
            captures = [capture(world, inside, interface, world.path(f"{name}-{short}.pcap"))
                        for inside, interface, short in places.values()]
            beside = None
            if command:
                beside = world.start([*router, *command(wan, device(router, "ackout"))], outside=True, stderr=subprocess.PIPE,
                                     text=True)
                state = ["--state", world.state]
                while subprocess.run([ACKORD, "gateway", "status", "--json", *state], capture_output=True).returncode:
                    if beside.poll() is not None or time.monotonic() > began + PERIOD_S - 1:
                        raise RuntimeError(f"no gateway: {beside.stderr.read() if beside.poll() else ''}")
                    time.sleep(0.1)
            times = []
            for line in phone.stdout:
                seconds, octets, *said = line.split()
                if int(octets) != MEGABYTES * 1_000_000:
                    raise RuntimeError(f"a download was not whole: {line}")
                times.append(float(seconds))
            phone.wait()
            world.running.remove(phone)
            if beside:
                status = subprocess.run([ACKORD, "gateway", "status", *state], capture_output=True, text=True).stdout
                with open(world.path("gateway-status.txt"), "w") as file:
                    file.write(status)
                world.end(beside)
            # tcpdump gets packets a second late.
            time.sleep(2)
            for process in captures:
                world.end(process)
            return times

        print("## A link that fades: the gateway\n")
        print(f"{DOWNLOADS} downloads of {MEGABYTES} MB by curl from Python's http.server; server, gateway and phone are stock kernels,\n"
              f"the server's with CUBIC. Gateway to phone: `{' '.join(LINK)}`, two fades of 0.8 to 2.2 s in the way of each download;\n"
              f"server to gateway: `{' '.join(WIRE)}`.\n")
        without = series("before")
        found = {}
        for where, (_, _, short) in places.items():
            found[where] = answer(world, ["diagnose", world.path(f"before-{short}.pcap")], f"diagnosis-{short}")
            tell_diagnosis(found[where], f"captured {where}")
        chosen = advice(found["at the server"])
        if chosen is None:
            return print("It advises no command of this program.\n")
        more = ["--control", "0%", "--state", world.state]
        names = lambda wan, lan: {"ackord": ACKORD, "eth0": wan, "wlan0": lan}
        command = lambda wan, lan: [names(wan, lan).get(word, word) for word in chosen["command"].split()] + more
        # What the program is called where it is installed.
        said = " ".join(("ackord", *command(wan, "ackout0")[1:-2]))
        print(f"Done: `{said}`; the last words leave nobody alone, since before and after are compared.\n")
        with_it = series("after", command)
        rows = []
        for where, (_, _, short) in places.items():
            files = [world.path(f"{name}-{short}.pcap") for name in ("before", "after")]
            rows.append((where, answer(world, ["diagnose", "--verify", *files, "--remedy", chosen["remedy"]], f"verify-{short}")))
        tell_verification(rows, (without, with_it), "Each download by curl's clock, s")
        print("How long a fade lasted is known from a capture only by what the sender repeated: a repetition was lost, the next\n"
              "one, after twice the time, arrived. The model tries all lengths between; an interval is as wide as they make it.\n")


def agent(world):
    with Networks(world) as networks:
        world.start([*networks.server, sys.executable, "-c", SERVER], outside=True)
        client, _ = networks.behind(networks.server, AWAY)
        interface = device(client, "ackord")
        words = [*client, sys.executable, "-c", EXCHANGES, "100.64.0.1", "7901", str(EXCHANGES_EACH), "a" * 50, "b" * 50, "100"]
        connection = lambda: float(world.run(words))

        def series(name):
            process = capture(world, client, interface, world.path(f"{name}.pcap"))
            times = [connection() for _ in range(CONNECTIONS)]
            # tcpdump gets packets a second late.
            time.sleep(2)
            world.end(process)
            return times

        print("## A client that writes twice: the agent\n")
        print(f"{CONNECTIONS} connections of {EXCHANGES_EACH} exchanges each: two writes of 50 octets, an answer of 100; stock kernels at both ends,\n"
              f"`{' '.join(AWAY)}` between them.\n")
        without = series("stalls")
        found = answer(world, ["diagnose", world.path("stalls.pcap")], "diagnosis-client")
        tell_diagnosis(found, "captured at the client")
        chosen = advice(found)
        if chosen is None:
            return print("It advises no command of this program.\n")
        print(f"Done: `{chosen['command'].replace('--all', '--cgroup GROUP')} --control 0%`.\n")
        command = chosen["command"].replace("--all", f"--cgroup {world.group}").replace("ackord", ACKORD, 1).split()
        lever = command[command.index("--lever") + 1]
        process = world.start([*command, "--control", "0%", "--state", world.state], outside=True, stderr=subprocess.PIPE, text=True)
        for steps in range(1, 100):
            connection()
            if process.poll() is not None:
                raise RuntimeError(process.stderr.read())
            status = world.status() or {"applications": []}
            if any(one["lever"] == lever and one["standing"]["state"] == "at-work"
                   for application in status["applications"] for one in application["levers"]):
                break
        else:
            raise RuntimeError(f"the lever was never at work: {status}")
        print(f"Connections until the agent had seen enough: {steps}.\n")
        with_it = series("cured")
        world.end(process)
        files = [world.path(f"{name}.pcap") for name in ("stalls", "cured")]
        said = answer(world, ["diagnose", "--verify", *files, "--remedy", chosen["remedy"]], "verify-client")
        tell_verification([("at the client", said)], (without, with_it), "Each connection's median exchange by the client's clock, ms")
        print("The client's clock tells of exchanges alone; a connection has its opening and its closing, too, which no remedy\n"
              "shortens: its FIN waits for a delayed acknowledgment.\n")


def main():
    for tool in ("ip", "nsenter", "tcpdump", "curl"):
        if not shutil.which(tool):
            sys.exit(f"SKIPPED: no {tool}")
    keep = sys.argv[sys.argv.index("--keep") + 1] if "--keep" in sys.argv else None
    loops = [loop for loop in (gateway, agent) if loop.__name__ in sys.argv] or [gateway, agent]
    with World() as world:
        world.path = lambda name: os.path.join(world.folder, name)
        if agent in loops and subprocess.run([ACKORD, "agent", "probe"], capture_output=True).returncode:
            sys.exit("SKIPPED: no agent's programs here: `make agent`, and `ackord agent probe` says more")
        words = [word for word in sys.argv[1:] if word not in ("--keep", "--noisy", keep)]
        print(HEAD.format(command=" ".join(["benches/diagnose/loop.py", *words]), kernel=os.uname().release.split("-")[0],
                          cores=os.cpu_count()))
        try:
            for loop in loops:
                quiet()
                loop(world)
        finally:
            if keep:
                shutil.copytree(world.folder, keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("files", "state"))


if __name__ == "__main__":
    main()
