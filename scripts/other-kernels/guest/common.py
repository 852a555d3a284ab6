"""What every check in a guest uses: results, commands, and what a daemon may leave behind."""
import collections, glob, json, os, shutil, subprocess, sys, time

RESULT = "/result"
ACKORD = "/usr/bin/ackord"
DAEMONS = ("agent", "gateway")


class Lacking(Exception):
    """This kernel lacks what a check needs; the text names it."""


class Failed(Exception):
    """A check did not pass."""


def check(daemon, what, function, *arguments):
    """Runs one check and records its result. Returns whether it passed."""
    began = time.monotonic()
    try:
        state, detail = "ok", function(*arguments) or ""
    except Lacking as lacking:
        state, detail = "lacking", str(lacking)
    except Failed as failed:
        state, detail = "failed", str(failed)
    except Exception as error:  # A check that cannot run has not passed.
        state, detail = "failed", f"{type(error).__name__}: {error}"
    line = "\t".join((daemon, what, state, " ".join(str(detail).split())))
    with open(f"{RESULT}/results.tsv", "a") as file:
        print(line, file=file)
    print(f"[{time.monotonic() - began:6.1f} s] {line}", flush=True)
    return state == "ok"


def run(*argv, fails=False, timeout=90, **more):
    """The standard output of a command, with its standard error if it may fail."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          env=os.environ | {"NO_COLOR": "1", "LC_ALL": "C"}, **more)
    if done.returncode and not fails:
        raise Failed(f"{' '.join(argv)}: exit code {done.returncode}: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout + (done.stderr if fails else "")


def keep(name, text):
    """Keeps a text among the results."""
    with open(f"{RESULT}/{name}", "w") as file:
        file.write(text)


def status(daemon, state=None):
    """A daemon's status; None before it answers."""
    asked = subprocess.run([ACKORD, daemon, "status", "--json", *(["--state", state] if state else [])], capture_output=True)
    return None if asked.returncode else json.loads(asked.stdout)


def until(what, function, seconds=120):
    """Waits until a function returns something true, and returns that. An emulated processor is slow."""
    ends = time.monotonic() + seconds
    while True:
        found = function()
        if found:
            return found
        if time.monotonic() > ends:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.2)


def property_of(daemon, name):
    return run("systemctl", "show", f"ackord-{daemon}", f"--property={name}", "--value").strip()


def health(found):
    """The findings of a status, in words."""
    return "; ".join(one.get("message") or one.get("what") or json.dumps(one) for one in found["health"])


class Process:
    """A process that ends with its block; its output is kept in a file."""

    def __init__(self, name, *argv, **more):
        self.name, self.path = name, f"{RESULT}/{name}.log"
        with open(self.path, "ab") as to:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=to, stderr=to,
                                            env=os.environ | {"NO_COLOR": "1"}, **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Ends it, and returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise Failed(f"{self.name} did not end within 20 s of SIGTERM")
        return self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.path) as file:
            return file.read()


def marks():
    """What a daemon may change in this kernel: programs, filters, queues, rules, routes, devices and sysctls."""
    programs = json.loads(run("bpftool", "-j", "prog", "show") or "[]")
    # systemd's own come and go with units; the kernel has one for input devices.
    names = [f"program {one['type']} {one.get('name', '')}" for one in programs
             if not one.get("name", "").startswith(("sd_", "hid_")) and one["type"] != "cgroup_device"]
    lines = names + run("ip", "rule").splitlines() + run("ip", "-6", "rule").splitlines()
    lines += [f"route {line}" for line in run("ip", "route", "show", "table", "all").splitlines()]
    for path in glob.glob("/sys/class/net/*"):
        device = os.path.basename(path)
        lines.append(f"device {device}")
        for way in ("ingress", "egress"):
            lines += [f"{device} {way} {line}" for line in run("tc", "filter", "show", "dev", device, way, fails=True).splitlines()]
        for line in run("tc", "qdisc", "show", "dev", device).splitlines():
            lines.append(f"{device} {' '.join(line.split()[:2])}")
    for name in ("tcp_pingpong_thresh", "ip_forward"):
        path = f"/proc/sys/net/ipv4/{name}"
        if os.path.exists(path):
            lines.append(f"{name} {open(path).read().strip()}")
    return collections.Counter(lines)


def nothing_left(before, seconds=5):
    """Fails if a daemon left something in the kernel or in its state directory."""
    ends = time.monotonic() + seconds
    while True:
        added, gone = marks() - before, before - marks()
        if not added and not gone:
            break
        # The kernel frees programs after their last user has gone.
        if time.monotonic() > ends:
            raise Failed(f"left behind: {list(added)}; missing: {list(gone)}")
        time.sleep(0.2)
    return "nothing in bpftool, tc, ip rule, ip route and ip link"


def finish():
    """Writes all results to the disk that the host reads."""
    for daemon in DAEMONS:
        keep(f"journal-{daemon}.txt", run("journalctl", "-o", "short-monotonic", "-u", f"ackord-{daemon}", fails=True))
    keep("kernel.txt", run("dmesg", fails=True))
    run("tar", "-C", RESULT, "-cf", "/dev/vdb", ".")
    os.sync()


def reset(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
