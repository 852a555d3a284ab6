"""An emulated network in a guest: servers, this machine as the router, a lossy link, and a mobile host.

    namespace srv        this machine        namespace air               namespace mob
    srv0 ──────────── wan0        lan0 ──── air0 ═ bridge ═ air1 ──────── mob0
    10.1.0.2       10.1.0.1      10.2.0.1       loss, delay             10.2.0.2

Packets are lost in `air`, behind the interface that a gateway observes.
"""
import os, subprocess, sys, tempfile, threading, time
from common import Failed, Process, run

HERE = os.path.dirname(os.path.abspath(__file__))
PORT = 7000


def sh(text):
    for line in text.strip().splitlines():
        run(*line.split())


def lay_wan():
    """Lays the side of the servers."""
    sh("""
        ip netns add srv
        ip link add wan0 type veth peer name srv0 netns srv
        ip addr add 10.1.0.1/24 dev wan0
        ip link set wan0 up
        ip -n srv addr add 10.1.0.2/24 dev srv0
        ip -n srv link set srv0 up
        ip -n srv link set lo up
        ip -n srv route add default via 10.1.0.1
        sysctl -q -w net.ipv4.ip_forward=1
    """)


def lay_lan(loss="1%", delay="10ms"):
    """Lays the side of the mobile host, with losses both ways."""
    sh(f"""
        ip netns add air
        ip netns add mob
        ip link add lan0 type veth peer name air0 netns air
        ip -n air link add air1 type veth peer name mob0 netns mob
        ip -n air link add br0 type bridge
        ip -n air link set air0 master br0
        ip -n air link set air1 master br0
        ip -n air link set br0 up
        ip -n air link set air0 up
        ip -n air link set air1 up
        ip -n mob addr add 10.2.0.2/24 dev mob0
        ip -n mob link set mob0 up
        ip -n mob link set lo up
        ip -n mob route add default via 10.2.0.1
        ip addr add 10.2.0.1/24 dev lan0
        ip link set lan0 up
        tc -n air qdisc add dev air1 root netem delay {delay} loss {loss} limit 1000
        tc -n air qdisc add dev air0 root netem delay {delay} loss {loss} limit 1000
    """)


def remove():
    for name in ("srv", "air", "mob"):
        run("ip", "netns", "del", name, fails=True)
    for name in ("wan0", "lan0"):
        run("ip", "link", "del", name, fails=True)


def server():
    """Serves files of pseudo-random bytes in `srv`."""
    process = Process("server", "ip", "netns", "exec", "srv", sys.executable, f"{HERE}/transfers.py", "serve", str(PORT))
    for _ in range(100):
        done = subprocess.run(["ip", "netns", "exec", "srv", "ss", "-Htln", f"sport = :{PORT}"], capture_output=True)
        if done.stdout.strip():
            return process
        time.sleep(0.1)
    raise Failed(f"no server: {process.log()[-300:]}")


def client(*words):
    """A client at the mobile host. Returns seconds and bytes; fails if a byte was wrong."""
    argv = ["ip", "netns", "exec", "mob", sys.executable, f"{HERE}/transfers.py", *words]
    seconds, octets = run(*argv, timeout=300).split()
    return float(seconds), int(octets)


def fetch(octets):
    """A transfer to the mobile host. Returns its seconds."""
    return client("fetch", "10.1.0.2", str(PORT), str(octets))[0]


class Stream:
    """A transfer that goes on while something else is done."""

    def __init__(self):
        self.error, self.result, self.flag = None, None, tempfile.mktemp(prefix="stream-", dir="/run")
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        time.sleep(2)

    def work(self):
        try:
            self.result = client("stream", "10.1.0.2", str(PORT), self.flag)
        except Exception as error:
            self.error = error

    def finish(self):
        """Lets it end two seconds later. Returns what it came to, in words."""
        time.sleep(2)
        open(self.flag, "w").close()
        self.thread.join(200)
        os.unlink(self.flag)
        if self.error or self.result is None:
            raise self.error or Failed("a transfer did not end within 200 s")
        return f"a transfer of {self.result[1]} bytes in {self.result[0]:.0f} s, sha256 as sent"
