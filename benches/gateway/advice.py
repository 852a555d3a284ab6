"""What `ackord gateway advise` forecasts, compared with what the gateway then gains: ten emulated links.

  benches/gateway/advice.py [--ackord PROGRAM] [--seconds S] [--parallel N] [--captures FOLDER] [--json FILE] [LINK ...]
  benches/gateway/advice.py --again FILE --captures FOLDER [--ackord PROGRAM] [LINK ...]

The truth is measured: stock kernels of this machine at the server, the router and the mobile host, CUBIC, the real
gateway process on the router, and the emulator in link.c for the wireless link, which shares no code with Ackord.
On each link downloads of one size are made one after the other, each over a new connection, for S seconds per
condition and at least ten times: without a gateway, while `advise` observes the LAN interface; with Proxy TCP; with
Snoop, for all connections (no control group, no untreated turns). The measured gain is the share of the mean download
time (connect to end of file) that is no longer needed, with a 95 % bootstrap interval. Prints a Markdown table; its last
columns are the ratio of the two download times with the remedy, as shares of that without (forecast / measured), and
whether that is within 25 % of 1 or the forecast gain within the measured interval. Root, gcc and an `ackord` built in
release mode are needed. Other links: k to o were drawn at random (seed 2026), `reno` and `bbr` have other senders.

With --again nothing is measured: the times are those of --json FILE, and the forecasts are made anew, by
`ackord gateway advise --capture`, from the captures in FOLDER.
"""
import argparse, concurrent.futures, json, os, random, shutil, signal, socket, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
# Name, rate in Mbit/s, round trip in ms (8 of it wireless), loss each way in %, (fade s, every s), bytes of a download;
# the sender's congestion control, unless it is CUBIC.
LINKS = [
    ("a", 20, 44, 1.0, (0, 0), 1_000_000),
    ("b", 20, 44, 1.0, (1.5, 6), 1_000_000),
    ("c", 20, 44, 0.0, (1.5, 6), 1_000_000),
    ("d", 10, 80, 0.3, (0, 0), 1_000_000),
    ("e", 50, 20, 1.0, (0, 0), 5_000_000),
    ("f", 50, 60, 0.3, (0, 0), 5_000_000),
    ("g", 2, 100, 3.0, (0, 0), 100_000),
    ("h", 5, 150, 1.0, (1.0, 8), 300_000),
    ("i", 10, 40, 0.0, (0, 0), 500_000),
    ("j", 30, 100, 3.0, (0, 0), 1_000_000),
]
# Not used to develop the prediction: drawn by `drawn(2026)`, and two with other senders.
OTHERS = 5
SENDERS = [
    ("reno", 20, 44, 1.0, (0, 0), 1_000_000, "reno"),
    ("bbr", 20, 44, 1.0, (0, 0), 1_000_000, "bbr"),
]
REMEDIES = ("proxy-tcp", "snoop")
LEAST_DOWNLOADS = 10
AIR_MS = 8


def drawn(seed):
    """Links drawn at random, in the range of those above."""
    rng = random.Random(seed)
    log = lambda low, high: low * (high / low) ** rng.random()
    links = []
    for number in range(OTHERS):
        fades = (round(rng.uniform(0.5, 2), 1), round(rng.uniform(5, 10))) if rng.random() < 0.3 else (0, 0)
        loss = round(log(0.1, 3), 2) if rng.random() < 0.8 else 0.0
        links.append((chr(ord("k") + number), round(log(2, 50)), round(log(20, 150)), loss, fades, round(log(1e5, 5e6), -5)))
    return [link[:-1] + (int(link[-1]),) for link in links]


def serve(port):
    """Sends each client as many bytes as it asks for, and closes."""
    def answer(client):
        size = int(client.recv(16))
        client.sendall(bytes(size))
        client.close()
    listener = socket.create_server(("0.0.0.0", port))
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=answer, args=(client,), daemon=True).start()


def fetch(address, port, size, seconds):
    """Prints the times of downloads, one after the other."""
    began, times = time.monotonic(), []
    while time.monotonic() - began < seconds or len(times) < LEAST_DOWNLOADS:
        at = time.monotonic()
        with socket.create_connection((address, port)) as server:
            server.sendall(b"%16d" % size)
            got = 0
            while chunk := server.recv(1 << 16):
                got += len(chunk)
        assert got == size, (got, size)
        times.append(time.monotonic() - at)
        time.sleep(0.05)
    print(json.dumps(times))


def run(*argv, **more):
    return subprocess.run([str(word) for word in argv], check=True, text=True, capture_output=True, **more).stdout


class Network:
    """Server, router and mobile host in namespaces, with an emulated link on either side of the router."""

    def __init__(self, link, program, seed, queue=None):
        name, mbit, rtt_ms, loss, (fade_s, every_s), _, *control = link
        self.spaces = [f"adv-{os.getpid()}-{name}-{end}" for end in "srm"]
        self.processes = []
        server, router, mobile = self.spaces
        for space in self.spaces:
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
            # What one download has learned is nothing to the next.
            run("ip", "netns", "exec", space, "sysctl", "-q", "-w", "net.ipv4.tcp_no_metrics_save=1")
        queue = queue or max(30_000, mbit * 1e6 / 8 * 0.1)
        wired_us = (rtt_ms - AIR_MS) * 500
        self.start(program, server, "eth0", router, "wan0", wired_us, 1e9, 1e7, 0, 0, 0, seed)
        self.start(program, router, "lan0", mobile, "eth0", AIR_MS * 500, mbit * 1e6, queue, loss / 100, fade_s, every_s, seed)
        for space, device, address in [(server, "eth0", "10.1.0.1"), (router, "wan0", "10.1.0.2"),
                                       (router, "lan0", "10.2.0.1"), (mobile, "eth0", "10.2.0.2")]:
            run("ip", "-n", space, "addr", "add", address + "/24", "dev", device)
            run("ip", "-n", space, "link", "set", device, "up", "txqueuelen", 1000)
        run("ip", "-n", server, "route", "add", "default", "via", "10.1.0.2", "congctl", *(control or ["cubic"]))
        run("ip", "-n", mobile, "route", "add", "default", "via", "10.2.0.1")
        run("ip", "netns", "exec", router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.start("ip", "netns", "exec", server, sys.executable, __file__, "--serve", 8080)

    def start(self, *argv):
        process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout.readline() == "ready\n", argv

    def on_router(self, *argv, **more):
        return subprocess.Popen(["ip", "netns", "exec", self.spaces[1], *map(str, argv)], text=True, **more)

    def download(self, size, seconds):
        return json.loads(run("ip", "netns", "exec", self.spaces[2], sys.executable, __file__, "--fetch", "10.1.0.1", 8080, size, seconds))

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait()
        for space in self.spaces:
            run("ip", "netns", "del", space)


def measure(link, options, emulator):
    """The download times of each condition, and what `advise` printed."""
    found = {}
    for which, condition in enumerate(("none",) + REMEDIES):
        network = Network(link, emulator, seed=100 * which + ord(link[0][0]))
        try:
            beside = []
            if condition == "none":
                beside.append(network.on_router(options.ackord, "gateway", "advise", "--lan", "lan0", "--for", "1h", "--json",
                                                stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                if options.captures:
                    path = os.path.join(options.captures, link[0] + ".pcap")
                    beside.append(network.on_router("tcpdump", "-i", "lan0", "-s", 96, "-w", path, stderr=subprocess.DEVNULL))
            else:
                state = tempfile.mkdtemp()
                beside.append(network.on_router(options.ackord, "gateway", "run", "--wan", "wan0", "--lan", "lan0", "--remedy", condition,
                                                "--control", "0%", "--untreated", "0%", "--state", state, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            time.sleep(1)
            assert all(process.poll() is None for process in beside), (link, condition)
            found[condition] = network.download(link[5], options.seconds)
            for process in beside:
                process.send_signal(signal.SIGINT)
            output, remarks = beside[0].communicate()
            if condition == "none":
                found["remarks"] = remarks
                found["advice"] = json.loads(output) if output else None
            for process in beside[1:]:
                process.wait()
        finally:
            network.close()
    return found


def gain(before, after, draws=2000):
    """How much shorter the mean of `after` is, in percent, with its bootstrap interval."""
    of = lambda one, other: 100 * (1 - statistics.mean(other) / statistics.mean(one))
    rng = random.Random(1)
    drawn = sorted(of(rng.choices(before, k=len(before)), rng.choices(after, k=len(after))) for _ in range(draws))
    return of(before, after), drawn[draws // 40], drawn[-draws // 40]


def forecasts(found):
    """The forecast of each remedy, as gain and interval in percent."""
    forecast = (found["advice"] or {}).get("forecast") or {"remedies": []}
    return {one["remedy"]: (one["gain_percent"], *one["ci95"], one["nothing_to_gain"]) for one in forecast["remedies"]}


def shown(link, found):
    """A line of the table for each remedy."""
    name, mbit, rtt_ms, loss, (fade_s, every_s), size, *_ = link
    fades = f"{fade_s:g} s every {every_s:g} s" if every_s else "no"
    size = f"{size // 1000} kB" if size < 1e6 else f"{size / 1e6:g} MB"
    expected = forecasts(found)
    for remedy in REMEDIES:
        measured, low, high = gain(found["none"], found[remedy])
        told, ratio, good = (found["advice"] or {}).get("no_forecast", "no advice"), "", ""
        if remedy in expected:
            percent, least, most, nothing = expected[remedy]
            told = f"{percent:.0f} ({least:.0f} to {most:.0f})" + (", nothing" if nothing else "")
            times = (100 - percent) / (100 - measured)
            ratio, good = f"{times:.2f}", "yes" if abs(times - 1) <= 0.25 or low <= percent <= high else "no"
        print(f"| {name} | {mbit} | {rtt_ms} | {loss:g} | {fades} | {size} | {remedy} | {len(found['none'])}, {len(found[remedy])} "
              f"| {statistics.mean(found['none']):.2f} | {told} | {measured:.0f} ({low:.0f} to {high:.0f}) | {ratio} | {good} |", flush=True)


def again(link, options):
    """Measured times of an earlier call, with forecasts made anew."""
    with open(options.again) as file:
        found = json.load(file)[link[0]]
    path = os.path.join(options.captures, link[0] + ".pcap")
    found["advice"] = json.loads(run(options.ackord, "gateway", "advise", "--capture", path, "--predict-for", f"{options.predict_for} s", "--json"))
    return found


def table(links, all_found):
    print("| link | Mbit/s | RTT, ms | loss, % | fades | size | remedy | downloads | mean time, s | forecast gain, % | measured gain, % | times | within |")
    print("|" + " --- |" * 13, flush=True)
    for link, found in zip(links, all_found):
        shown(link, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ackord", default=os.path.join(HERE, "../../target/release/ackord"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--parallel", type=int, default=5)
    parser.add_argument("--captures")
    parser.add_argument("--json")
    parser.add_argument("--again")
    parser.add_argument("--predict-for", type=float, default=30)
    parser.add_argument("links", nargs="*")
    options = parser.parse_args()
    known = LINKS + drawn(2026) + SENDERS
    links = [link for link in known if link[0] in options.links] if options.links else LINKS
    if options.again:
        table(links, (again(link, options) for link in links))
        return
    if os.geteuid() != 0:
        print("SKIPPED: namespaces take root")
        return
    for tool in ("ip", "sysctl", os.environ.get("CC", "cc")) + (("tcpdump",) if options.captures else ()):
        if not shutil.which(tool):
            print(f"SKIPPED: no {tool}")
            return
    emulator = os.path.join(tempfile.mkdtemp(), "link")
    run(os.environ.get("CC", "cc"), "-O2", "-o", emulator, os.path.join(HERE, "link.c"))
    done = {}

    def kept(link):
        found = done[link[0]] = measure(link, options, emulator)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(dict(done), file)
        return found

    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        table(links, list(pool.map(kept, links)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    elif sys.argv[1:2] == ["--fetch"]:
        fetch(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
