#!/usr/bin/env python3
"""What the agent does for real programs, with and without, in turns.

  benches/agent/programs.py [TURNS] [--only NAME,NAME]      5 turns; $ACKORD may name the program

Each turn runs every pattern without an agent and with one (control share 0, all treated): request and answer of a
Python client that writes twice, of the same against redis-server, psql's own driver against PostgreSQL, curl, rsync over
ssh's place (a pipe is no socket: rsync's own daemon), git's own daemon; from this machine, and 20 ms away through
`ackord shell`. Means with 95 % intervals by Student's t over the turns. Root; says SKIPPED where something lacks. Nothing
is left behind.
"""
import json, math, os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ACKORD = os.environ.get("ACKORD") or os.path.join(
    os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target")), "release", "ackord")
T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}

EXCHANGES = r"""
import socket, sys, time
host, port, count, first, second, answer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *[bytes(w, 'ascii').decode('unicode_escape').encode() for w in sys.argv[4:6]], int(sys.argv[6])
c = socket.create_connection((host, port))
took = []
for _ in range(count):
    began = time.perf_counter()
    c.sendall(first); c.sendall(second)
    n = 0
    while n < answer: n += len(c.recv(answer - n))
    took.append(time.perf_counter() - began)
print(sorted(took)[count // 2] * 1e3)
"""
SERVER = r"""
import socket, sys, threading
def serve(c):
    while True:
        n = 0
        while n < 100:
            d = c.recv(100 - n)
            if not d: return
            n += len(d)
        c.sendall(b'x' * 100)
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('0.0.0.0', 7901)); s.listen(64)
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
"""


def cgroup_root():
    for line in open("/proc/self/mountinfo"):
        before, behind = line.split(" - ", 1)
        if behind.startswith("cgroup2"):
            return before.split(" ")[4]
    sys.exit("SKIPPED: no control groups of version 2")


def remove(group):
    """A control group whose last processes are about to end."""
    for _ in range(50):
        try:
            return os.rmdir(group)
        except OSError:
            time.sleep(0.1)


class World:
    """Control groups for programs and for the agent, and a folder; nothing is left of it when it is closed."""

    def __init__(self):
        if os.geteuid():
            sys.exit("SKIPPED: programs in the kernel take root")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.group = os.path.join(cgroup_root(), f"ackord-bench-{os.getpid()}")
        self.agents_group = self.group + "-agent"
        os.mkdir(self.group)
        os.mkdir(self.agents_group)
        self.folder = tempfile.mkdtemp(prefix="ackord-bench-")
        self.state = os.path.join(self.folder, "state")
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def enter(self, group=None):
        with open(os.path.join(group or self.group, "cgroup.procs"), "w") as procs:
            procs.write(str(os.getpid()))

    def start(self, argv, outside=False, **more):
        """Begins a program that goes on, in the group unless it is to be one of elsewhere."""
        more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL,
                "preexec_fn": None if outside else self.enter} | more
        process = subprocess.Popen(argv, **more)
        self.running.append(process)
        return process

    def end(self, process):
        self.running.remove(process)
        process.terminate()
        process.wait()

    def run(self, argv):
        done = subprocess.run(argv, preexec_fn=self.enter, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120)
        if done.returncode:
            raise RuntimeError(f"{argv[:4]}: {done.stderr[-300:]}")
        return done.stdout

    def agent(self, lines='control = "0 %"\n', before=()):
        """Begins an agent with these lines of configuration; what it says is in `log`."""
        config, log = (os.path.join(self.folder, name) for name in ("agent.toml", "log"))
        with open(config, "w") as file:
            file.write(f'cgroup = "{self.group}"\n{lines}\n[turns]\nuntreated = "0 %"\n[metrics]\nlisten = "none"\n[state]\ndirectory = "{self.state}"\n')
        with open(log, "w") as to:
            process = subprocess.Popen([*before, ACKORD, "agent", "run", config], stdin=subprocess.DEVNULL, stderr=to,
                                       preexec_fn=lambda: self.enter(self.agents_group), env=os.environ | {"NO_COLOR": "1"})
        self.running.append(process)
        while self.status() is None:
            if process.poll() is not None:
                raise RuntimeError(self.log())
            time.sleep(0.1)
        return process

    def log(self):
        with open(os.path.join(self.folder, "log")) as log:
            return log.read()

    def status(self):
        """What the agent says of itself; nothing before it does."""
        asked = subprocess.run([ACKORD, "agent", "status", "--json", "--state", self.state], capture_output=True)
        return None if asked.returncode else json.loads(asked.stdout)

    def lever(self, application, lever):
        """A lever of an application in the agent's words; nothing before it knows one."""
        levers = (one["levers"] for one in self.status()["applications"] if application == one["name"])
        return next((one for one in next(levers, []) if one["lever"] == lever), None)

    def until_standing(self, application, lever, standing, step, most=200):
        """Takes steps until a lever stands like this. Answers how many it took."""
        for steps in range(1, most + 1):
            step()
            found = self.lever(application, lever)
            if found and found["standing"]["state"] == standing:
                return steps
        raise RuntimeError(f"{lever} of {application} is not {standing}: {found}\n{self.log()}")

    def close(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The agent, which came last, takes back what it did before anything else ends.
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for group in (self.group, self.agents_group):
            # Children of what was ended.
            with open(os.path.join(group, "cgroup.kill"), "w") as kill:
                kill.write("1")
            remove(group)
        shutil.rmtree(self.folder, ignore_errors=True)


def numbers(default):
    """How many turns the command line asks for."""
    return int(next((word for word in sys.argv[1:] if word.isdigit()), default))


def quiet():
    """Waits until nobody compiles, unless that does not matter."""
    if "--noisy" not in sys.argv:
        subprocess.run(["bash", "-c", ". benches/quiet.sh; nobody_compiles"], cwd=TOP, check=True)


def listening(port):
    for _ in range(100):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"nobody listens at {port}")


def away(argv, *more):
    """The same from behind a link of 20 ms each way; this machine is 100.64.0.1 there."""
    return [ACKORD, "shell", "--delay", "20ms", *more, "--"] + argv


def patterns(world):
    """Name, unit, and what gives a figure."""
    world.start([sys.executable, "-c", SERVER])
    listening(7901)
    exchange = lambda host, port, first, second, answer, count=20: [
        sys.executable, "-c", EXCHANGES, host, str(port), str(count), first, second, str(answer)]
    plain = ("a" * 50, "b" * 50, 100)
    yield "write-write-read, 0 ms", "ms", lambda: float(world.run(exchange("127.0.0.1", 7901, *plain)))
    yield "write-write-read, 20 ms", "ms", lambda: float(world.run(away(exchange("100.64.0.1", 7901, *plain))))
    if shutil.which("redis-server"):
        world.start(["redis-server", "--port", "7902", "--save", "", "--bind", "0.0.0.0", "--protected-mode", "no"])
        listening(7902)
        # As a client writes that sends the command's head and its argument by themselves.
        words = (r"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n", r"$5\r\nvalue\r\n", 5)
        yield "redis SET in two writes, 0 ms", "ms", lambda: float(world.run(exchange("127.0.0.1", 7902, *words)))
        yield "redis SET in two writes, 20 ms", "ms", lambda: float(world.run(away(exchange("100.64.0.1", 7902, *words))))
    postgres = sorted(os.listdir("/usr/lib/postgresql")) if os.path.isdir("/usr/lib/postgresql") else []
    if postgres and shutil.which("runuser"):
        bin_dir = f"/usr/lib/postgresql/{postgres[-1]}/bin"
        data = os.path.join(world.folder, "pg")
        os.chmod(world.folder, 0o755)
        subprocess.run(["install", "-d", "-o", "postgres", data], check=True)
        as_postgres = ["runuser", "-u", "postgres", "--"]
        subprocess.run(as_postgres + [f"{bin_dir}/initdb", "-A", "trust", "-D", data], check=True, capture_output=True)
        world.start(as_postgres + [f"{bin_dir}/postgres", "-D", data, "-p", "7903", "-k", data])
        listening(7903)
        time.sleep(1)
        query = os.path.join(world.folder, "select.sql")
        with open(query, "w") as file:
            file.write("SELECT 1;\n")
        call = as_postgres + [f"{bin_dir}/pgbench", "-h", "127.0.0.1", "-p", "7903", "-n", "-t", "300", "-f", query, "postgres"]

        def pgbench():
            line = next(line for line in world.run(call).splitlines() if "latency average" in line)
            return float(line.split("=")[1].split()[0])
        yield "pgbench SELECT 1, 0 ms", "ms", pgbench
    files = os.path.join(world.folder, "files")
    os.mkdir(files)
    with open(os.path.join(files, "bulk"), "wb") as bulk:
        bulk.write(os.urandom(1 << 20) * 64)
    with open(os.path.join(files, "short"), "wb") as short:
        short.write(b"x" * 10_000)
    world.start([sys.executable, "-m", "http.server", "7904", "--directory", files])
    listening(7904)

    def timed(argv, count=1):
        def measure():
            began = time.perf_counter()
            for _ in range(count):
                world.run(argv)
            return (time.perf_counter() - began) / count * 1e3
        return measure
    curl = lambda host, name: ["curl", "-sS", "-o", "/dev/null", f"http://{host}:7904/{name}"]
    yield "curl, 64 MiB, 0 ms", "ms", timed(curl("127.0.0.1", "bulk"))
    yield "curl, 10 kB, 0 ms", "ms", timed(curl("127.0.0.1", "short"), 5)
    yield "curl, 10 kB, 20 ms", "ms", timed(away(curl("100.64.0.1", "short")))
    if shutil.which("rsync"):
        conf = os.path.join(world.folder, "rsyncd.conf")
        with open(conf, "w") as file:
            file.write(f"use chroot = no\n[files]\npath = {files}\nuid = root\n")
        world.start(["rsync", "--daemon", "--no-detach", "--port", "7905", "--config", conf])
        listening(7905)
        copy = os.path.join(world.folder, "copy")
        yield "rsync, 64 MiB, 0 ms", "ms", timed(["rsync", "-a", "--ignore-times", "--whole-file", "rsync://127.0.0.1:7905/files/", copy])
    if shutil.which("git"):
        repository = os.path.join(world.folder, "repository")
        subprocess.run(["git", "init", "-q", repository], check=True)
        for number in range(200):
            with open(os.path.join(repository, f"{number}"), "wb") as file:
                file.write(os.urandom(20_000))
        git = ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(git + ["add", "."], check=True)
        subprocess.run(git + ["commit", "-qm", "files"], check=True)
        world.start(["git", "daemon", "--reuseaddr", "--export-all", "--port=7906", f"--base-path={world.folder}"])
        listening(7906)

        def clone():
            to = os.path.join(world.folder, "clone")
            shutil.rmtree(to, ignore_errors=True)
            return timed(["git", "clone", "-q", "git://127.0.0.1:7906/repository", to])()
        yield "git clone, 4 MB, 0 ms", "ms", clone


def interval(values):
    """A mean, and half its 95 % interval by Student's t."""
    if len(values) < 2:
        return statistics.mean(values), math.nan
    # Beyond the table: z, and the first two terms that the degrees of freedom add (off by less than 0.003).
    z, free = 1.95996, len(values) - 1
    t = T.get(len(values)) or z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def told(values, digits=3):
    mean, half = interval(values)
    return f"{mean:9.{digits}f}" + ("" if math.isnan(half) else f" ± {half:.{digits}f}")


def main():
    turns = numbers(5)
    only = next((sys.argv[at + 1].split(",") for at, word in enumerate(sys.argv) if word == "--only"), None)
    world = World()
    try:
        chosen = [one for one in patterns(world) if not only or any(one[0].startswith(name) for name in only)]
        figures = {one[0]: {"without": [], "with": []} for one in chosen}
        for turn in range(turns):
            for how in ["without", "with"] if turn % 2 == 0 else ["with", "without"]:
                agent = world.agent() if how == "with" else None
                if agent:
                    # What the agent has to see first: it knows nobody when it begins.
                    for name, _, measure in chosen:
                        measure()
                    time.sleep(1.5)
                for name, _, measure in chosen:
                    figures[name][how].append(measure())
                if agent:
                    world.end(agent)
        print(f"{'':32} {'without':>20} {'with':>20}   ({turns} turns, 95 % intervals)")
        for name, unit, _ in chosen:
            print(f"{name:32} {told(figures[name]['without']):>20} {told(figures[name]['with']):>20}   {unit}")
    finally:
        world.close()


if __name__ == "__main__":
    main()
