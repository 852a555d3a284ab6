"""Emulated paths between hosts of which one has an agent in its network (`ackord live run`)."""
import json, os, shutil, signal, subprocess, sys, tempfile, time
from programs import ACKORD, cgroup_root, interval, remove

HEAD = """cgroup = "{group}"
by = "cgroup"
control = "0 %"
"""
REST = """
[metrics]
listen = "none"
[state]
directory = "{folder}/state"
[history]
store = "{folder}/history.redb"
"""


class Hosts:
    """A control group for all of them, and a folder, as long as they are needed."""

    def __enter__(self):
        if os.geteuid():
            sys.exit("SKIPPED: programs in the kernel take root")
        if not shutil.which("nsenter"):
            sys.exit("SKIPPED: no nsenter")
        if subprocess.run([ACKORD, "agent", "probe"], capture_output=True).returncode:
            sys.exit("SKIPPED: no agent's programs here: `make agent`, and `ackord agent probe` says more")
        self.group = os.path.join(cgroup_root(), f"ackord-hosts-{os.getpid()}")
        os.mkdir(self.group)
        self.folder = tempfile.mkdtemp(prefix="ackord-hosts-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)
        remove(self.group)

    def path(self, name):
        return os.path.join(self.folder, name)

    def written(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def forget(self):
        """What an agent has learnt."""
        if os.path.exists(self.path("history.redb")):
            os.remove(self.path("history.redb"))

    def simulated(self, scenario):
        results = self.path("simulated.json")
        subprocess.run([ACKORD, "run", self.written("simulated.toml", scenario), "--json", results], check=True,
                       capture_output=True)
        return json.load(open(results))["flows"]

    def live(self, scenario, words=(), agent=None, host=0):
        """What flows came to; an agent with these lines of configuration is in the network of the kernel host of this
        number."""
        results = self.path("live.json")
        enter = lambda: open(os.path.join(self.group, "cgroup.procs"), "w").write(str(os.getpid()))
        run = subprocess.Popen([ACKORD, "live", "run", self.written("live.toml", scenario), "--json", results, *words],
                               preexec_fn=enter, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if agent is not None:
            config = self.written("agent.toml", HEAD.format(group=self.group) + agent + REST.format(folder=self.folder))
            beside = subprocess.Popen(["nsenter", "--net", f"--target={keeper(run, host)}", ACKORD, "agent", "run", config],
                                      stderr=subprocess.PIPE)
        said = run.communicate(timeout=120)[1]
        if agent is not None:
            has_ended = beside.poll() is not None
            beside.send_signal(signal.SIGTERM)
            agent_said = beside.communicate(timeout=10)[1].decode()
            if has_ended:
                raise RuntimeError(agent_said)
        if run.returncode:
            raise RuntimeError(said.decode())
        return json.load(open(results))["flows"]


def keeper(run, host):
    """The process that keeps the network of a host."""
    own = os.readlink("/proc/self/ns/net")
    for _ in range(100):
        with open(f"/proc/{run.pid}/task/{run.pid}/children") as children:
            pids = sorted(map(int, children.read().split()))
        there = []
        for pid in pids:
            try:
                if os.readlink(f"/proc/{pid}/ns/net") != own:
                    there.append(pid)
            except OSError:
                pass
        if len(there) > host:
            return there[host]
        time.sleep(0.02)
    raise RuntimeError("no host came up")


def told(values):
    """A mean with its 95 % interval."""
    mean, half = interval(values)
    return f"{mean:.1f} ± {half:.1f}"
