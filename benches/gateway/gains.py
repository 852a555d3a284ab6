"""What the gateway's remedies and its queue do to a link and to everything that shares it: eight emulated links.

  benches/gateway/gains.py [--ackord PROGRAM] [--seconds S] [--runs N] [--parallel N] [--json FILE] [LINK ...]

Stock kernels of this machine at the server, the router and the mobile host, CUBIC, the real gateway process on the
router, and the emulator in link.c for the wireless link, which shares no code with Ackord. For S seconds the mobile host
  downloads 2 x 5 MB at a time, over and over, each over a new connection,
  requests 50 kB twice a second over a new connection (short), and
  sends 64 bytes ten times a second that come back (keystroke),
while the server sends it a call: 1.2 kB of UDP, 50 times a second. Each condition is run N times; run k of every
condition has the same seed of losses and fades. Numbers are means over runs; in parentheses the ratio to no gateway of
the same run, with the 95 % interval of its geometric mean. Prints a Markdown table for each link. Root, gcc and an
`ackord` built in release mode are needed.
"""
import argparse, concurrent.futures, json, math, os, shutil, socket, statistics, struct, subprocess, sys, tempfile, threading, time

from advice import HERE, Network, run

# Name, rate in Mbit/s, round trip in ms (8 of it wireless), loss each way in %, (fade s, every s), queue in bytes.
LINKS = [
    ("clean", 20, 44, 0.0, (0, 0), 250_000),
    ("loss-0.3", 20, 44, 0.3, (0, 0), 250_000),
    ("loss-1", 20, 44, 1.0, (0, 0), 250_000),
    ("loss-3", 10, 60, 3.0, (0, 0), 125_000),
    ("fades", 20, 44, 0.0, (1.5, 6), 250_000),
    ("loss-fades", 20, 44, 1.0, (1.5, 6), 250_000),
    ("short-queue", 20, 44, 0.3, (0, 0), 20_000),
    ("slow", 5, 100, 1.0, (0, 0), 60_000),
]
ALONE = ("proxy-tcp", "snoop", "m-tcp")
CONDITIONS = [("none", None, False)] + [(one, one, False) for one in ALONE] \
    + [("fq-codel", "none", True)] + [(f"{one}, fq-codel", one, True) for one in ALONE]
OUTCOMES = [("downloads, Mbit/s", "total", 2), ("5 MB, s", "download", 1), ("short p50, ms", "short50", 0), ("short p95, ms", "short95", 0),
            ("keystroke p50, ms", "key50", 0), ("keystroke p95, ms", "key95", 0), ("UDP lost, %", "udp_lost", 1),
            ("UDP p95, ms", "udp95", 0), ("air bytes per byte", "air", 2)]
PORTS = {"echo": 8081, "udp": 8082}
DOWNLOAD, SHORT = 5_000_000, 50_000


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else math.nan


def server(seconds):
    """Echoes what comes, and sends a call to the mobile host; files are served by advice.py."""
    def echo(client):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := client.recv(4096):
            client.sendall(data)
    listener = socket.create_server(("0.0.0.0", PORTS["echo"]))
    threading.Thread(target=lambda: [threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start() for _ in iter(int, 1)],
                     daemon=True).start()
    call = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    number = 0
    while time.monotonic() - began < seconds:
        call.sendto(struct.pack("!Id", number, time.monotonic()) + bytes(1188), ("10.2.0.2", PORTS["udp"]))
        number += 1
        time.sleep(max(0, began + number / 50 - time.monotonic()))
    time.sleep(5)


def mobile(seconds):
    """Runs all traffic of the mobile host and prints what it measured."""
    end = time.monotonic() + seconds
    found = {"bytes": 0, "downloads": [], "shorts": [], "keys": [], "udp": []}
    lock = threading.Lock()

    def get(size):
        at = time.monotonic()
        with socket.create_connection(("10.1.0.1", 8080), timeout=120) as stream:
            stream.sendall(b"%16d" % size)
            left = size
            while left and (chunk := stream.recv(1 << 16)):
                left -= len(chunk)
                if time.monotonic() < end:
                    with lock:
                        found["bytes"] += len(chunk)
        return time.monotonic() - at

    def downloads():
        while time.monotonic() < end:
            found["downloads"].append(get(DOWNLOAD))

    def shorts():
        due = time.monotonic()
        while time.monotonic() < end:
            found["shorts"].append(get(SHORT))
            due = max(due + 0.5, time.monotonic() + 0.05)
            time.sleep(max(0, due - time.monotonic()))

    def keys():
        with socket.create_connection(("10.1.0.1", PORTS["echo"]), timeout=120) as stream:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while time.monotonic() < end:
                at = time.monotonic()
                stream.sendall(bytes(64))
                left = 64
                while left:
                    left -= len(stream.recv(left))
                found["keys"].append(time.monotonic() - at)
                time.sleep(max(0, at + 0.1 - time.monotonic()))

    def call():
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(("10.2.0.2", PORTS["udp"]))
        listener.settimeout(2)
        while True:
            try:
                number, sent = struct.unpack("!Id", listener.recv(2048)[:12])
            except TimeoutError:
                return
            found["udp"].append((number, time.monotonic() - sent))

    threads = [threading.Thread(target=one) for one in (downloads, downloads, shorts, keys, call)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(found))


def measure(link, condition, seed, options, emulator):
    """Outcomes of one run."""
    name, remedy, queue = condition
    network = Network((f"{link[0][:4]}{seed}{CONDITIONS.index(condition)}",) + link[1:5] + (0,), emulator, seed, link[5])
    try:
        space_s, space_r, space_m = network.spaces
        gateway = None
        if remedy:
            arguments = ["--queue", "fq-codel", "--rate", f"{link[1] * 0.9:g}mbit"] if queue else []
            gateway = network.on_router(options.ackord, "gateway", "run", "--wan", "wan0", "--lan", "lan0", "--remedy", remedy, "--control", "0%",
                                        "--untreated", "0%", "--state", tempfile.mkdtemp(), *arguments,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = lambda space, role, **more: subprocess.Popen(
            ["ip", "netns", "exec", space, sys.executable, os.path.abspath(__file__), role, str(options.seconds)], text=True, stdout=subprocess.PIPE, **more)
        sender = end(space_s, "--server", stdin=subprocess.PIPE)
        sender.stdout.readline()
        time.sleep(1)
        assert gateway is None or gateway.poll() is None, (link, condition)
        air = lambda: int(run("ip", "netns", "exec", space_r, "cat", "/sys/class/net/lan0/statistics/tx_bytes"))
        before = air()
        receiver = end(space_m, "--mobile")
        sender.stdin.write("\n")
        sender.stdin.flush()
        found = json.loads(receiver.communicate()[0])
        sent = air() - before
        sender.communicate()
        if gateway:
            gateway.terminate()
            gateway.wait()
    finally:
        network.close()
    delays = [delay for _, delay in found["udp"]]
    received = found["bytes"] + 64 * len(found["keys"]) + 1200 * len(delays)
    return {
        "total": found["bytes"] * 8e-6 / options.seconds,
        "download": statistics.mean(found["downloads"]),
        "short50": 1e3 * percentile(found["shorts"], 0.5), "short95": 1e3 * percentile(found["shorts"], 0.95),
        "key50": 1e3 * percentile(found["keys"], 0.5), "key95": 1e3 * percentile(found["keys"], 0.95),
        "udp_lost": 100 * (1 - len(delays) / (50 * options.seconds)), "udp95": 1e3 * percentile(delays, 0.95),
        "air": sent / received,
    }


# Student's t, 97.5 %, by degrees of freedom.
T = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]


def cell(outcome, digits, runs, base):
    """The mean, and the ratio to `base` with its interval."""
    values = [one[outcome] for one in runs]
    text = f"{statistics.mean(values):.{digits}f}"
    if runs is base:
        return text
    if any(one[outcome] <= 0 for one in runs + base):
        return text
    logs = [math.log(one[outcome] / other[outcome]) for one, other in zip(runs, base)]
    mean = statistics.mean(logs)
    if len(logs) < 2:
        return f"{text} ({math.exp(mean):.2f})"
    half = T[min(len(logs) - 1, len(T) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{text} ({math.exp(mean):.2f} [{math.exp(mean - half):.2f}, {math.exp(mean + half):.2f}])"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ackord", default=os.path.join(HERE, "../../target/release/ackord"))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--conditions", help="names, separated by semicolons; all unless given")
    parser.add_argument("--json")
    parser.add_argument("links", nargs="*")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIPPED: namespaces take root")
        return
    for tool in ("ip", "sysctl", os.environ.get("CC", "cc")):
        if not shutil.which(tool):
            print(f"SKIPPED: no {tool}")
            return
    emulator = os.path.join(tempfile.mkdtemp(), "link")
    run(os.environ.get("CC", "cc"), "-O2", "-o", emulator, os.path.join(HERE, "link.c"))
    wanted = options.conditions.split(";") if options.conditions else [name for name, *_ in CONDITIONS]
    conditions = [one for one in CONDITIONS if one[0] in wanted or one[0] == "none"]
    links = [link for link in LINKS if not options.links or link[0] in options.links]
    # Conditions of one run are neighbours in time, so that what else this machine does strikes them alike.
    jobs = [(link, condition, seed) for link in links for seed in range(1, options.runs + 1) for condition in conditions]
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        outcomes = list(pool.map(lambda job: measure(*job, options, emulator), jobs))
    for link in links:
        name, mbit, rtt_ms, loss, (fade_s, every_s), queue = link
        fades = f", fades of {fade_s:g} s about every {every_s:g} s" if every_s else ""
        print(f"\n**{name}**: {mbit} Mbit/s, RTT {rtt_ms} ms, {loss:g} % loss each way{fades}, queue {queue // 1000} kB\n")
        print("| | " + " | ".join(title for title, *_ in OUTCOMES) + " |")
        print("| --- |" + " --- |" * len(OUTCOMES))
        of = lambda condition: [found for job, found in zip(jobs, outcomes) if job[0] is link and job[1] is condition]
        base = of(conditions[0])
        for condition in conditions:
            runs = base if condition is conditions[0] else of(condition)
            print(f"| {condition[0]} | " + " | ".join(cell(key, digits, runs, base) for _, key, digits in OUTCOMES) + " |", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump([{"link": job[0][0], "condition": job[1][0], "seed": job[2], **found} for job, found in zip(jobs, outcomes)], file)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--server"]:
        server(float(sys.argv[2]))
    elif sys.argv[1:2] == ["--mobile"]:
        mobile(float(sys.argv[2]))
    else:
        main()
