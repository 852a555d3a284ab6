"""Both daemons as they are run from a shell."""
import json, os, statistics, sys, time
import network
from common import ACKORD, Failed, Lacking, Process, check, health, keep, marks, nothing_left, reset, run, status, until

HERE = os.path.dirname(os.path.abspath(__file__))
CGROUP = "/sys/fs/cgroup/smoke"
STATE = "/tmp/ackord-smoke"
STALLS = 7100
#: A delayed ACK of Linux lasts 40 ms; a treated exchange is far from that even on an emulated processor.
STALLED_MS, TREATED_MS = 35, 25


def main():
    os.makedirs(CGROUP, exist_ok=True)
    if check("agent", "run", agent_runs):
        check("agent", "nodelay: stalling server", treats)
        check("agent", "stop leaves nothing", agent_ends, "stop")
        check("agent", "kill -9 leaves nothing", agent_ends, "kill")
    network.lay_wan()
    network.lay_lan()
    with network.server():
        check("gateway", "transfers without it", transfers, 3)
        check("gateway", "proxy-tcp and fq-codel, 1 % loss", gateway_helps)
        check("gateway", "stop in a transfer", gateway_ends, "stop")
        check("gateway", "kill -9 in a transfer", gateway_ends, "kill")
    network.remove()


def probe_agent():
    # Without levers it ends with an error after its list.
    found, _ = json.JSONDecoder().raw_decode(run(ACKORD, "agent", "probe", "--json", fails=True))
    keep("agent-probe.json", json.dumps(found, indent=1))
    missing = [f"{one['what']}: {one['found']}" for one in found if not one["is_there"]]
    return "missing: " + "; ".join(missing) if missing else "nothing is missing"


def probe_gateway():
    found = json.loads(run(ACKORD, "gateway", "probe", "--json", fails=True))
    keep("gateway-probe.json", json.dumps(found, indent=1))
    less = [f"{one['what']} {one['state']}: {one['reason']}" for one in found
            if one["state"] != "ok" and "forwarding" not in one["what"]]
    return "; ".join(less) or "nothing is missing"


def agent(*options):
    return Process("agent", ACKORD, "agent", "run", "--cgroup", CGROUP, "--state", STATE, "--control", "0%", *options)


def ready(process, daemon):
    def answers():
        if process.process.poll() is not None:
            raise Failed(f"ended with exit code {process.process.returncode}: {process.log()[-600:]}")
        return status(daemon, STATE)
    return until(f"a status of the {daemon}", answers)


def agent_runs():
    """It runs, or names what this kernel lacks, as the probe does."""
    reset(STATE)
    with agent() as process:
        try:
            found = ready(process, "agent")
        except Failed as failed:
            words = process.log().strip()
            probed = [one["what"] for one in json.load(open("/result/agent-probe.json")) if one["is_needed"] and not one["is_there"]]
            if process.process.returncode != 1 or not probed:
                raise
            raise Lacking(f"{words} (the probe: {', '.join(probed)})") from failed
        return health(found)


def entering():
    with open(f"{CGROUP}/cgroup.procs", "w") as procs:
        procs.write(str(os.getpid()))


def exchange(port, count=12):
    """The median of exchanges on a new connection, ms."""
    return float(run(sys.executable, f"{HERE}/transfers.py", "once", "127.0.0.1", str(port), str(count)))


def treats():
    """A server writes twice, so its second write waits for the client's delayed ACK; the server is treated."""
    lever = "nodelay"
    probed = {one["what"]: one for one in json.load(open("/result/agent-probe.json"))}
    if not probed[lever]["is_there"]:
        raise Lacking(f"the probe: {probed[lever]['found']}")
    reset(STATE)
    port = STALLS + 1
    with Process("stalls", sys.executable, f"{HERE}/transfers.py", "stalls", str(port),
                 preexec_fn=entering), agent("--lever", lever) as process:
        ready(process, "agent")
        until("the server", lambda: run("ss", "-Htln", f"sport = :{port}"))
        before = exchange(port)
        took = [exchange(port) for _ in range(12)]
        keep(f"agent-{lever}.json", json.dumps(status("agent", STATE), indent=1))
        after = statistics.median(took[-5:])
    if before < STALLED_MS:
        raise Failed(f"the exchange did not stall: {before:.1f} ms")
    if after > TREATED_MS:
        raise Failed(f"{before:.1f} ms per exchange, then {after:.1f} ms")
    return f"{before:.1f} ms per exchange, {after:.1f} ms treated"


def agent_ends(how):
    reset(STATE)
    before = marks()
    with Process("stalls", sys.executable, f"{HERE}/transfers.py", "stalls", str(STALLS), preexec_fn=entering), \
            agent("--quick") as process:
        ready(process, "agent")
        until("the server", lambda: run("ss", "-Htln", f"sport = :{STALLS}"))
        for _ in range(4):
            exchange(STALLS, 4)
        if how == "kill":
            process.kill()
            rolled = run(ACKORD, "agent", "rollback", "--state", STATE, fails=True)
        else:
            rolled = run(ACKORD, "agent", "stop", "--state", STATE)
            process.end()
        left = nothing_left(before)
    # Locks stay, and after an end by force a socket that nothing listens at, until the next start.
    files = [name for name in os.listdir(STATE) if not name.endswith((".lock", ".sock" if how == "kill" else ".lock"))]
    if files:
        raise Failed(f"left in the state directory: {files}")
    return f"{left}; {rolled}"


def transfers(count, octets=1_000_000):
    took = [network.fetch(octets) for _ in range(count)]
    return f"{count} transfers of {octets} bytes, sha256 as sent, median {statistics.median(took):.2f} s"


def gateway(*options):
    return Process("gateway", ACKORD, "gateway", "run", "--wan", "wan0", "--lan", "lan0", "--state", STATE, "--remedy", "proxy-tcp",
                   "--queue", "fq-codel", "--rate", "18mbit", "--control", "0%", "--untreated", "0%", *options)


def gateway_helps():
    reset(STATE)
    with gateway() as process:
        ready(process, "gateway")
        said = transfers(4)
        time.sleep(1.5)
        found = status("gateway", STATE)
        keep("gateway-status.json", json.dumps(found, indent=1))
    queue = found["queues"][0]
    if queue["state"]["state"] != "steering" or queue["packets"] < 1000:
        raise Failed(f"{said}; the queue: {queue['state']}, {queue['packets']} packets")
    if found["injected_segments"] < 10:
        raise Failed(f"{said}; {found['injected_segments']} segments injected")
    return f"{said}; {found['injected_segments']} segments injected, {queue['packets']} packets queued"


def gateway_ends(how):
    reset(STATE)
    before = marks()
    with gateway() as process:
        ready(process, "gateway")
        going = network.Stream()
        if how == "kill":
            process.kill()
            words = going.finish()
            undone = run(ACKORD, "gateway", "stop", "--state", STATE, fails=True)
        else:
            undone = run(ACKORD, "gateway", "stop", "--state", STATE)
            process.end()
            words = going.finish()
    left = nothing_left(before)
    return f"{words}; {left}; {undone}"

