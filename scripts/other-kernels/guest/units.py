"""Both daemons as units that start before what they work on exists; upgrades, ends by force, and a foreign program."""
import collections, json, os, re, sys, time
import network
from common import (ACKORD, DAEMONS, Failed, Lacking, Process, check, health, keep, marks, nothing_left, property_of,
                    run, status, until)
from shell import HERE, STALLED_MS, TREATED_MS, exchange

PORT = 7200
#: Log lines of one unit that may have the same text.
MOST_ALIKE = 4


def main():
    runs = {"gateway": check("gateway", "waits for interfaces at boot", waits, "gateway", "wan0"),
            "agent": check("agent", "waits for a control group at boot", agent_waits)}
    network.lay_wan()
    network.lay_lan()
    with network.server():
        if runs["gateway"]:
            check("gateway", "works when they appear", gateway_works)
            check("gateway", "an interface goes and comes back", comes_back)
        if runs["agent"]:
            check("agent", "works when it appears", agent_works)
        for daemon in DAEMONS:
            if runs[daemon]:
                check(daemon, "kill -9 of the unit", killed, daemon)
        check("both", "upgrade in a transfer", upgrade, runs)
        if runs["agent"]:
            check("agent", "foreign sock_ops program", foreign)
    run("systemctl", "stop", "late", fails=True)
    network.remove()
    check("both", "stop leaves nothing", stops)
    for daemon in DAEMONS:
        check(daemon, "log lines do not repeat", repeats, daemon)


def installed():
    """The package was installed into the root file system before the boot."""
    with open(f"{HERE}/enabled") as file:
        enabled = file.read().split()
    if enabled:
        raise Failed(f"the installation enables {enabled}")
    return run(ACKORD, "--version").strip()


def current(daemon):
    """A unit's status, as soon as it has one."""
    return until(f"a status of the {daemon}", lambda: status(daemon))


def waits(daemon, word):
    try:
        until(f"ackord-{daemon} is active", lambda: property_of(daemon, "ActiveState") == "active")
    except Failed as failed:
        raise Failed(f"{failed}; {run('journalctl', '-u', f'ackord-{daemon}', '-o', 'cat')[-600:]}") from failed
    found = until("its status", lambda: status(daemon))
    words = until(f"{word} in its health", lambda: word in health(found) and health(found) or found.update(status(daemon)))
    return words


def agent_waits():
    """Where the kernel cannot run it, the unit fails and says why without filling the journal."""
    with open("/result/agent-probe.json") as file:
        needed = [one for one in json.load(file) if one["is_needed"] and not one["is_there"]]
    if needed:
        state = property_of("agent", "ActiveState"), property_of("agent", "SubState"), property_of("agent", "NRestarts")
        lines = run("journalctl", "-b", "-u", "ackord-agent", "-o", "cat", fails=True).splitlines()
        raise Lacking(f"unit {' '.join(state)} restarts, {len(lines)} lines in the journal; last: {lines[-1] if lines else ''}")
    return waits("agent", "late.service")


def gateway_works():
    until("packets of both interfaces", lambda: len(current("gateway")["rings"]) == 2)
    for _ in range(3):
        network.fetch(1_000_000)
    time.sleep(1.5)
    found = current("gateway")
    if not found["injected_segments"] or found["queues"][0]["state"]["state"] != "steering":
        raise Failed(f"{found['injected_segments']} injected; {found['queues'][0]['state']}; {health(found)}")
    return f"3 transfers of 1 MB, sha256 as sent, {found['injected_segments']} segments injected; health: {health(found) or 'no findings'}"


def comes_back():
    run("ip", "link", "del", "lan0")
    until("lan0 in its health", lambda: "lan0" in health(current("gateway")))
    run("ip", "netns", "del", "air")
    run("ip", "netns", "del", "mob")
    time.sleep(1)
    network.lay_lan()
    until("packets of both interfaces", lambda: len(current("gateway")["rings"]) == 2 and not health(current("gateway")))
    before = current("gateway")["injected_segments"]
    for _ in range(3):
        network.fetch(1_000_000)
    time.sleep(1.5)
    return f"3 transfers, {status('gateway')['injected_segments'] - before} segments injected"


def agent_works():
    run("systemd-run", "--unit=late", sys.executable, f"{HERE}/transfers.py", "stalls", str(PORT))
    until("the server", lambda: run("ss", "-Htln", f"sport = :{PORT}"))
    until("no findings", lambda: "late.service" not in health(current("agent")))
    took = [exchange(PORT) for _ in range(12)]
    keep("agent-late.json", json.dumps(current("agent"), indent=1))
    with open("/result/agent-probe.json") as file:
        nodelay = next(one for one in json.load(file) if one["what"] == "nodelay")
    if not nodelay["is_there"]:
        raise Lacking(f"it follows late.service, and cannot treat it; the probe: {nodelay['found']}")
    if took[0] < STALLED_MS or sorted(took[-5:])[2] > TREATED_MS:
        raise Failed(f"exchanges took {took} ms")
    return f"{took[0]:.1f} ms per exchange, {sorted(took[-5:])[2]:.1f} ms treated"


def killed(daemon):
    """The unit is killed in a transfer, starts again, and the transfer is whole."""
    pid = property_of(daemon, "MainPID")
    going = network.Stream()
    run("systemctl", "kill", "-s", "KILL", f"ackord-{daemon}")
    began = time.monotonic()
    until("it runs again", lambda: property_of(daemon, "MainPID") not in ("0", pid) and status(daemon))
    return f"again after {time.monotonic() - began:.0f} s; {going.finish()}"


def upgrade(runs):
    """A newer package in the middle of a transfer, and of exchanges on one connection."""
    pids = {daemon: property_of(daemon, "MainPID") for daemon in DAEMONS if runs[daemon]}
    exchanges = Process("exchanges", sys.executable, f"{HERE}/transfers.py", "once", "127.0.0.1", str(PORT), "300", "0.1") \
        if runs["agent"] else None
    going = network.Stream()
    keep("dpkg-upgrade.txt", run("dpkg", "--force-unsafe-io", "-i", f"{HERE}/new.deb", timeout=400))
    for daemon, pid in pids.items():
        until(f"a new ackord-{daemon}", lambda: property_of(daemon, "MainPID") not in ("0", pid) and status(daemon))
    words = going.finish()
    if exchanges:
        until("the exchanges end", lambda: exchanges.process.poll() is not None)
        if exchanges.process.returncode:
            raise Failed(f"the connection of exchanges did not survive: {exchanges.log()}")
        words += "; a connection of 300 exchanges survived"
    return f"{words}; new processes of {' and '.join(pids) or 'no unit'}"


def foreign():
    """A program that shares its hook with no other, at the agent's control group."""
    if not os.path.exists(f"{HERE}/foreign.o"):
        raise Lacking("the host had no clang to build a foreign program with")
    cgroup, pinned = "/sys/fs/cgroup/system.slice", "/sys/fs/bpf/foreign"
    run("systemctl", "stop", "ackord-agent")
    run("bpftool", "prog", "load", f"{HERE}/foreign.o", pinned, "type", "sockops")
    run("bpftool", "cgroup", "attach", cgroup, "sock_ops", "pinned", pinned)
    try:
        began = run("date", "+%s.%N").strip()
        run("systemctl", "start", "--no-block", "ackord-agent")
        time.sleep(20)
        state = property_of("agent", "ActiveState")
        restarts = property_of("agent", "NRestarts")
        words = health(status("agent") or {"health": []})
        lines = run("journalctl", "-u", "ackord-agent", "-o", "cat", "-S", f"@{began}").splitlines()
        keep("agent-foreign.txt", "\n".join(lines))
    finally:
        run("bpftool", "cgroup", "detach", cgroup, "sock_ops", "pinned", pinned)
        os.unlink(pinned)
    if len(lines) > 12 or int(restarts or 0) > 2:
        raise Failed(f"{state}, {restarts} restarts and {len(lines)} lines in 20 s; health: {words}")
    until("it follows late.service again", lambda: "foreign" not in health(status("agent") or {"health": []}))
    return f"{state}, {restarts} restarts, {len(lines)} lines in 20 s; health: {words}"


def stops():
    run("systemctl", "stop", "ackord-gateway", "ackord-agent")
    run("sysctl", "-q", "-w", "net.ipv4.ip_forward=0")
    # What a machine has that no daemon has touched: the rules of routes, and nothing else.
    left = [line for line in marks() if line.startswith(("program ", "ackord", "device ackord")) or "7411" in line]
    left += [line for line in run("tc", "qdisc", "show").splitlines() if "clsact" in line]
    for folder in ("/run/ackord", "/run/ackord-gateway"):
        files = os.listdir(folder) if os.path.isdir(folder) else []
        left += [f"{folder}/{name}" for name in files if not name.endswith(".lock")]
    if left:
        raise Failed(f"left behind: {left}")
    return "no programs, no filters, no rules, no devices, no files"


def repeats(daemon):
    """The same message again and again helps no operator."""
    lines = run("journalctl", "-b", "-o", "cat", "-u", f"ackord-{daemon}", fails=True).splitlines()
    alike = collections.Counter(re.sub(r"[0-9]+(\.[0-9]+)?", "N", re.sub(r"^\S+Z +", "", line)) for line in lines)
    worst = [f"{count} times: {line}" for line, count in alike.most_common(3)
             if count > MOST_ALIKE and daemon in line + daemon and "systemd" not in line]
    own = [one for one in worst if not re.search(r"(Start|Stopp|Reload)(ed|ing) |ackord-\w+\.service: |Deactivated", one)]
    if own:
        raise Failed("; ".join(own))
    return f"{len(lines)} lines"


def purges():
    run("dpkg", "--purge", "ackord")
    left = [path for path in ("/usr/bin/ackord", "/var/lib/ackord", "/run/ackord/agent.journal") if os.path.exists(path)]
    if left:
        raise Failed(f"left behind: {left}")
    for daemon in DAEMONS:
        if property_of(daemon, "ActiveState") not in ("inactive", "failed"):
            raise Failed(f"ackord-{daemon} is {property_of(daemon, 'ActiveState')}")
    return "nothing is left"
