#!/usr/bin/env python3
"""A gateway's queue over a cellular link that plays a trace: `--rate auto`, constant rates, and no gateway.

  benches/gateway/rate.py [--ackord PROGRAM] [--seconds S] [--json FILE] [TRACE ...]

Stock kernels of this machine at the server, the router and the phone, CUBIC, the real gateway process on the router, and
the emulator in link.c for the radio link, which shares no code with Ackord: 20 ms there and back, 1000 full packets of
drop-tail queue, each run from the beginning of the trace. Two downloads fill the link; a voice flow of 50 datagrams per
second of 188 bytes shares it. Of each condition, after five seconds that are left out: payload of the downloads per second,
one-way delay of the voice flow (mean, 95th percentile), voice datagrams lost. The constant rates are the 10th, 50th and
90th percentile of the trace's seconds; the limits of `auto` are 100 kbit/s and 100 Mbit/s, whatever the trace. Prints a
Markdown table. Root and gcc are needed; nothing is left behind.
"""
import argparse, json, os, shutil, socket, statistics, struct, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
SETTLES = 5.0
WIRED_US, AIR_US = 15_000, 10_000
MODEM = 1_500_000
NOTHING = ["--rate-min", "100kbit", "--rate-max", "100mbit"]


def serve(port):
    """Sends each client bytes for as long as it takes them."""
    def answer(client):
        try:
            while True:
                client.sendall(bytes(1 << 16))
        except OSError:
            client.close()
    listener = socket.create_server(("0.0.0.0", port))
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=answer, args=(client,), daemon=True).start()


def speak(address, port, seconds):
    """Sends numbered datagrams with the time of their sending (the clock of all namespaces is one)."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    began = time.monotonic()
    for number in range(int(seconds * 50)):
        time.sleep(max(0, began + number / 50 - time.monotonic()))
        sender.sendto(struct.pack("!Id", number, time.monotonic()) + bytes(148), (address, port))
    print(json.dumps({"sent": int((seconds - SETTLES) * 50)}))


def listen(address, port, voice_port, seconds):
    """Downloads twice and takes in the voice flow; prints bytes and delays after the beginning."""
    began, counted, delays = time.monotonic(), [0, 0], []
    def download(which):
        time.sleep(which)
        with socket.create_connection((address, port)) as server:
            server.settimeout(seconds)
            while (now := time.monotonic() - began) < seconds:
                got = len(server.recv(1 << 16))
                if now >= SETTLES:
                    counted[which] += got
    threads = [threading.Thread(target=download, args=(which,), daemon=True) for which in range(2)]
    voice = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    voice.bind(("0.0.0.0", voice_port))
    voice.settimeout(0.2)
    print("ready", flush=True)
    for thread in threads:
        thread.start()
    # What is under way at the end still arrives.
    while time.monotonic() - began < seconds + 3:
        try:
            number, sent_at = struct.unpack("!Id", voice.recv(2000)[:12])
        except TimeoutError:
            continue
        if number >= SETTLES * 50:
            delays.append(time.monotonic() - sent_at)
    print(json.dumps({"bytes": sum(counted), "delays": delays}))


def run(*argv):
    return subprocess.run([str(word) for word in argv], check=True, text=True, capture_output=True).stdout


class Network:
    """Server, router and phone in namespaces, with an emulated link on either side of the router."""

    def __init__(self, emulator, trace):
        self.spaces = [f"rate-{os.getpid()}-{end}" for end in "srm"]
        self.processes = []
        server, router, phone = self.spaces
        for space in self.spaces:
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
            run("ip", "netns", "exec", space, "sysctl", "-q", "-w", "net.ipv4.tcp_no_metrics_save=1")
        self.start(emulator, server, "eth0", router, "wan0", WIRED_US, 1e9, 1e7, 0, 0, 0, 1)
        self.start(emulator, router, "lan0", phone, "eth0", AIR_US, 10e6, MODEM, 0, 0, 0, 1, trace)
        for space, device, address in [(server, "eth0", "10.1.0.1"), (router, "wan0", "10.1.0.2"),
                                       (router, "lan0", "10.2.0.1"), (phone, "eth0", "10.2.0.2")]:
            run("ip", "-n", space, "addr", "add", address + "/24", "dev", device)
            run("ip", "-n", space, "link", "set", device, "up", "txqueuelen", 1000)
        run("ip", "-n", server, "route", "add", "default", "via", "10.1.0.2", "congctl", "cubic")
        run("ip", "-n", phone, "route", "add", "default", "via", "10.2.0.1")
        run("ip", "netns", "exec", router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.start("ip", "netns", "exec", server, sys.executable, __file__, "--serve", 8080)

    def start(self, *argv):
        process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout.readline() == "ready\n", argv
        return process

    def beside(self, which, *argv):
        argv = ["ip", "netns", "exec", self.spaces[which], *map(str, argv)]
        return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


def measure(options, emulator, trace, queue):
    """Goodput and delays with a queue of these options; without any there is no gateway."""
    network = Network(emulator, trace)
    state = tempfile.mkdtemp()
    status = None
    try:
        if queue:
            gateway = network.beside(1, options.ackord, "gateway", "run", "--wan", "wan0", "--lan", "lan0",
                                     "--queue", "fq-codel", *queue, "--state", state)
            network.processes.append(gateway)
            for _ in range(100):
                if subprocess.run([options.ackord, "gateway", "status", "--state", state], capture_output=True).returncode == 0:
                    break
                time.sleep(0.1)
            assert gateway.poll() is None, queue
        listener = network.start("ip", "netns", "exec", network.spaces[2], sys.executable, __file__, "--listen", "10.1.0.1",
                                 8080, 9000, options.seconds)
        sent = json.loads(network.beside(0, sys.executable, __file__, "--speak", "10.2.0.2", 9000, options.seconds).communicate()[0])
        if queue:
            status = json.loads(run(options.ackord, "gateway", "status", "--state", state, "--json"))["queues"][0]
        found = json.loads(listener.communicate()[0])
        if queue:
            run(options.ackord, "gateway", "stop", "--state", state)
    finally:
        network.close()
        shutil.rmtree(state, ignore_errors=True)
    delays = sorted(found["delays"]) or [float("nan")]
    return {"goodput": 8e-6 * found["bytes"] / (options.seconds - SETTLES), "mean": 1e3 * statistics.mean(delays),
            "p95": 1e3 * delays[int(0.95 * (len(delays) - 1))], "lost": sent["sent"] - len(found["delays"]), "queue": status}


def percentiles(trace):
    """The 10th, 50th and 90th percentile of the rates of its seconds, Mbit/s."""
    with open(trace) as file:
        at = [int(line) for line in file]
    seconds = [0] * max(1, at[-1] // 1000)
    for millis in at:
        if (millis - 1) // 1000 < len(seconds):
            seconds[max(0, millis - 1) // 1000] += 1504 * 8e-6
    seconds.sort()
    return [seconds[round(share * (len(seconds) - 1))] for share in (0.1, 0.5, 0.9)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ackord", default=os.path.join(HERE, "../../target/release/ackord"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json")
    parser.add_argument("traces", nargs="*", default=[os.path.join(HERE, "../../scenarios/traces/cellular.trace")])
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIPPED: namespaces take root")
        return
    for tool in ("ip", "sysctl", os.environ.get("CC", "cc")):
        if not shutil.which(tool):
            print(f"SKIPPED: no {tool}")
            return
    folder = tempfile.mkdtemp()
    emulator = os.path.join(folder, "link")
    run(os.environ.get("CC", "cc"), "-O2", "-o", emulator, os.path.join(HERE, "link.c"))
    print("| trace | queue | downloads, Mbit/s | voice, mean, ms | 95th percentile, ms | lost |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    everything = {}
    for trace in options.traces:
        shares = [(f"fq-codel, {rate:.2f} Mbit/s (p{share})", ["--rate", f"{int(rate * 1e3)}kbit"])
                  for share, rate in zip((10, 50, 90), percentiles(trace))]
        for name, queue in [("fq-codel, auto", ["--rate", "auto", *NOTHING]), *shares, ("none", [])]:
            found = everything[f"{trace}: {name}"] = measure(options, emulator, trace, queue)
            print(f"| {os.path.basename(trace)} | {name} | {found['goodput']:.2f} | {found['mean']:.0f} | {found['p95']:.0f} "
                  f"| {found['lost']} |", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(everything, file)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    elif sys.argv[1:2] == ["--speak"]:
        speak(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    elif sys.argv[1:2] == ["--listen"]:
        listen(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
