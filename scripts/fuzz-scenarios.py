#!/usr/bin/env python3
"""Runs scenarios whose values lie at the ends of their ranges, and checks how the program behaves.

Each file has one to three flows over one to three links. Mechanisms and the values of their knobs are drawn from
what `ackord list mechanisms --json` declares: the least value, the largest, the default, or one in between. For each
file `ackord check` must end with 0 or 2, within seconds. If it ends with 0, `ackord run` must

- emit its first event within a second,
- end with 0, or with 1 and a message; never by a panic or a signal,
- stay within the memory limit,
- end within 0.2 s of SIGTERM, which it gets 0.2 s after its first event.

The same seed draws the same files. A file that fails is kept in the folder --keep, with what the program printed.

Usage: fuzz-scenarios.py ACKORD [--files N] [--seed N] [--jobs N] [--slack FACTOR] [--keep DIR]
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

FIRST_EVENT_S = 1.0
TERM_AFTER_S = 0.2
TERM_WITHIN_S = 0.2
CHECK_WITHIN_S = 5.0
MEMORY_BYTES = 4 << 30

# Where a family stands in a scenario file, if not in a `tcp` table under its own name.
LINK_KEYS = {
    "queue": "queue", "loss-model": "loss", "jitter": "jitter", "outage": "outage", "medium": "medium",
    "corruption": "corrupt", "duplication": "duplicate", "rate-changes": "rate_changes",
    "shaper": "shaper", "policer": "policer",
}
TCP_KEYS = ["congestion", "loss", "recovery", "ack", "nagle"]
RATES = ["1 bit/s", "1 kbit/s", "1 Mbit/s", "100 Mbit/s", "10 Gbit/s", "1000 Gbit/s", "9000000 Gbit/s"]
DELAYS = ["0 s", "1 ns", "1 ms", "50 ms", "10 s", "9000000 s"]
DURATIONS = ["1 ns", "10 ms", "1 s", "20 s", "100000 s", "9000000 s"]
FLOWS = ["a", "b", "c"]


class Files:
    """Draws scenario files."""

    def __init__(self, mechanisms: list[dict]) -> None:
        self.families: dict[str, list[dict]] = {}
        for mechanism in mechanisms:
            self.families.setdefault(mechanism["family"], []).append(mechanism)

    def file(self, of: random.Random) -> str:
        """Returns the text of one file."""
        hosts = ["x", "y"]
        lines = ['version = 1', 'name = "ends"', f'duration = "{of.choice(DURATIONS)}"']
        lines += [f"[hosts.{host}]" + self.processing(of) for host in hosts]
        ways = of.randint(1, 3)
        nodes = ["x", *[f"r{index}" for index in range(1, ways)], "y"]
        lines += [f"[routers.{node}]" for node in nodes[1:-1]]
        for index in range(ways):
            lines += self.link(of, f"l{index}", nodes[index], nodes[index + 1])
        if ways > 1 and of.random() < 0.2:
            lines += ["[[proxies]]", 'at = "r1"', 'link = "l1"', f'proxy = {self.choice(of, "proxy")}']
        lines += ["[tcp]", *self.tcp(of)]
        for name in FLOWS[: of.randint(1, 3)]:
            lines += ["[[flows]]", f'name = "{name}"', 'from = "x"', 'to = "y"',
                      f'traffic = {self.choice(of, "traffic")}']
            if of.random() < 0.2:
                lines.append(f'start = "{of.choice(DELAYS)}"')
        return "\n".join(lines) + "\n"

    def processing(self, of: random.Random) -> str:
        return f'\nprocessing = {self.choice(of, "processing")}' if of.random() < 0.1 else ""

    def link(self, of: random.Random, name: str, start: str, end: str) -> list[str]:
        lines = ["[[links]]", f'name = "{name}"', f'from = "{start}"', f'to = "{end}"',
                 f'rate = "{of.choice(RATES)}"', f'delay = "{of.choice(DELAYS[:5] * 4 + DELAYS)}"']
        for family, key in LINK_KEYS.items():
            if of.random() < (0.6 if family == "queue" else 0.12):
                lines.append(f"{key} = {self.choice(of, family)}")
        if of.random() < 0.3:
            lines += ["[links.reverse]", f'rate = "{of.choice(RATES)}"']
        return lines

    def tcp(self, of: random.Random) -> list[str]:
        lines = []
        if of.random() < 0.5:
            lines.append(f'profile = "{of.choice(["rfc", "linux", "ns2"])}"')
        lines += [f"{key} = {self.choice(of, key)}" for key in TCP_KEYS if of.random() < 0.4]
        if of.random() < 0.5:
            [endpoint] = self.families["endpoint"]
            lines += self.knobs(of, endpoint, share=0.1)
        return lines

    def choice(self, of: random.Random, family: str) -> str:
        mechanism = of.choice(self.families[family])
        knobs = self.knobs(of, mechanism, share=of.choice([0.0, 0.1, 0.3, 0.6]))
        return "{ " + ", ".join([f'kind = "{mechanism["name"]}"', *knobs]) + " }"

    def knobs(self, of: random.Random, mechanism: dict, share: float) -> list[str]:
        """Returns `name = value` of a share of the knobs, and of all that have to be given."""
        chosen = [knob for knob in mechanism["knobs"]
                  if of.random() < share or "has to be given" in knob["doc"]]
        return [f'{knob["name"]} = {value(of, knob)}' for knob in chosen]


def value(of: random.Random, knob: dict) -> str:
    """Returns a value of the knob as a file has it: at an end of its range, its default, or between."""
    kind, extent, default = knob["kind"], knob["range"], knob["default"]
    if kind == "choice":
        return f'"{of.choice(extent.split(", "))}"'
    if kind == "packets-or-bytes":
        return f'"{of.choice(["1 packets", "1 B", "1000000 packets", "1 GB", "50 packets", "64 kB"])}"'
    ends = re.search(r"([0-9.]+)( [a-zA-Z%/]+)? to ([0-9.]+) ?([a-zA-Z%/ ]*)$", extent)
    assert ends, extent
    least, least_unit, most, unit = ends.groups()
    least_unit = (least_unit or " " + unit).strip()
    ends = [f"{least} {least_unit}".strip(), f"{most} {unit}".strip()]
    if kind in ("number", "per-flow"):
        number = of.choice([least, most, str((float(least) + float(most)) / 2)])
        return f"{{ a = {number} }}" if kind == "per-flow" else number
    if kind.endswith("-list"):
        # Lists that go together are of one length, and times are in order.
        return f'["{ends[0]}", "{ends[1]}"]'
    between = [] if default is None else [default]
    if kind == "count":
        between.append(f"{of.randint(int(least), int(most))} {unit}")
    return f'"{of.choice(ends + between)}"'


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def trouble(code: int, printed: str) -> str | None:
    """Returns what is wrong with how a program ended, if anything is."""
    if code < 0:
        return f"ended by signal {-code}"
    if code not in (0, 1, 2, 130) or "panicked" in printed:
        return f"exit code {code}"
    return "exit code 1 without a message" if code == 1 and not printed.strip() else None


def check(ackord: str, path: Path) -> tuple[str | None, str]:
    """Returns what is wrong with `ackord check`, and "sound" or "refused", or what it printed."""
    try:
        done = subprocess.run([ackord, "check", path], capture_output=True, text=True,
                              timeout=CHECK_WITHIN_S, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        return f"check took more than {CHECK_WITHIN_S} s", ""
    wrong = trouble(done.returncode, done.stderr)
    if wrong or done.returncode not in (0, 2):
        return wrong or f"check: exit code {done.returncode}", done.stderr
    return None, "sound" if done.returncode == 0 else "refused"


def run(ackord: str, path: Path, slack: float) -> tuple[str | None, str]:
    """Returns what is wrong with `ackord run`, and what it printed."""
    command = [ackord, "run", path, "--events", "/dev/fd/1", "--json", "/dev/null", "--yes"]
    printed = path.with_suffix(".stderr")
    with open(printed, "wb") as stderr:
        begun = time.monotonic()
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, preexec_fn=limited)
    assert program.stdout
    wrong = None
    first = os.read(program.stdout.fileno(), 1) if ready(program, FIRST_EVENT_S * slack) else None
    if first is None:
        wrong = f"no event within {FIRST_EVENT_S * slack:.1f} s"
    ended = drain(program, TERM_AFTER_S)
    if not ended:
        asked = time.monotonic()
        program.send_signal(signal.SIGTERM)
        if not drain(program, TERM_WITHIN_S * slack):
            wrong = wrong or f"still running {time.monotonic() - asked:.2f} s after SIGTERM"
            program.kill()
            drain(program, 10.0)
            return f"{wrong} (begun {time.monotonic() - begun:.1f} s ago)", printed.read_text()
    text = printed.read_text(errors="replace")
    return wrong or trouble(program.returncode, text), text


def ready(program: subprocess.Popen, seconds: float) -> bool:
    """Waits for output, or for its end."""
    import select
    readable, _, _ = select.select([program.stdout], [], [], seconds)
    return bool(readable)


def drain(program: subprocess.Popen, seconds: float) -> bool:
    """Reads for at most `seconds`. Returns whether the program has ended."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if ready(program, left) and not os.read(program.stdout.fileno(), 1 << 20):
            try:
                program.wait(max(left, 0.01))
                return True
            except subprocess.TimeoutExpired:
                return False
    return program.poll() is not None


def attempt(ackord: str, files: Files, seed: int, keep: Path, slack: float) -> str:
    """Tries the file of one seed. Returns "sound", "refused", or what is wrong with it."""
    path = keep / f"{seed}.toml"
    path.write_text(files.file(random.Random(seed)))
    wrong, printed = check(ackord, path)
    verdict = printed
    if not wrong and verdict == "sound":
        wrong, printed = run(ackord, path, slack)
    if wrong:
        path.with_suffix(".stderr").write_text(f"{wrong}\n\n{printed}")
        return f"{path}: {wrong}"
    for made in (path, path.with_suffix(".stderr")):
        made.unlink(missing_ok=True)
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ackord")
    parser.add_argument("--files", type=int, default=200, help="how many to try (200)")
    parser.add_argument("--seed", type=int, default=1, help="of the first file; the next has the next (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once (all processors)")
    parser.add_argument("--slack", type=float, default=1.0, help="multiplies the two time limits (1)")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz-scenarios"), help="where failing files go")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run([options.ackord, "list", "mechanisms", "--json"], capture_output=True, check=True)
    files = Files(json.loads(listed.stdout))
    counts: dict[str, int] = {"sound": 0, "refused": 0}
    wrong = 0
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        seeds = range(options.seed, options.seed + options.files)
        verdicts = pool.map(lambda seed: attempt(options.ackord, files, seed, options.keep, options.slack), seeds)
        for number, verdict in enumerate(verdicts, 1):
            if verdict in counts:
                counts[verdict] += 1
            else:
                wrong += 1
                print(verdict, flush=True)
            if number % 1000 == 0:
                print(f"{number} files, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"{options.files} files: {counts['sound']} ran, {counts['refused']} were refused, {wrong} failed, "
          f"in {time.monotonic() - begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
