#!/usr/bin/env python3
"""What the agent does for real programs, with and without, in turns.

  benches/agent/programs.py [TURNS] [--only NAME,NAME]      5 turns

Each turn runs every pattern without an agent and with one (control share 0, all treated): request and answer of a
Python client that writes twice, of the same against redis-server, psql's own driver against PostgreSQL, curl, rsync over
ssh's place (a pipe is no socket: rsync's own daemon), git's own daemon; from this machine, and 20 ms away through
`ackord shell`. Means with 95 % intervals by Student's t over the turns. Root; says SKIPPED where something lacks. Nothing
is left behind.
"""
import json, math, os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ACKORD = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target")), "release", "ackord")
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
    def __init__(self):
        if os.geteuid():
            sys.exit("SKIPPED: programs in the kernel take root")
        self.group = os.path.join(cgroup_root(), f"ackord-bench-{os.getpid()}")
        os.mkdir(self.group)
        self.folder = tempfile.mkdtemp(prefix="ackord-bench-")
        self.running = []

    def enter(self):
        with open(os.path.join(self.group, "cgroup.procs"), "w") as procs:
            procs.write(str(os.getpid()))

    def start(self, argv, **more):
        process = subprocess.Popen(argv, preexec_fn=self.enter, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, **more)
        self.running.append(process)
        return process

    def run(self, argv):
        done = subprocess.run(argv, preexec_fn=self.enter, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120)
        if done.returncode:
            raise RuntimeError(f"{argv[:4]}: {done.stderr[-300:]}")
        return done.stdout

    def agent(self):
        state = os.path.join(self.folder, "state")
        process = subprocess.Popen([ACKORD, "agent", "run", "--cgroup", self.group, "--control", "0%", "--state", state],
                                   stderr=subprocess.DEVNULL)
        while subprocess.run([ACKORD, "agent", "status", "--state", state], capture_output=True).returncode:
            time.sleep(0.1)
        return process

    def close(self):
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        remove(self.group)


def listening(port):
    for _ in range(100):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"nobody listens at {port}")


def away(argv):
    """The same from behind a link of 20 ms each way; this machine is 100.64.0.1 there."""
    return [ACKORD, "shell", "--delay", "20ms", "--"] + argv


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


def told(values):
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:9.3f}"
    return f"{mean:9.3f} ± {T.get(len(values), 2.0) * statistics.stdev(values) / math.sqrt(len(values)):.3f}"


def main():
    turns = int(next((word for word in sys.argv[1:] if word.isdigit()), 5))
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
                    agent.send_signal(signal.SIGTERM)
                    agent.wait()
        print(f"{'':32} {'without':>20} {'with':>20}   ({turns} turns, 95 % intervals)")
        for name, unit, _ in chosen:
            print(f"{name:32} {told(figures[name]['without']):>20} {told(figures[name]['with']):>20}   {unit}")
    finally:
        world.close()


if __name__ == "__main__":
    main()
