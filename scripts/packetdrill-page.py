#!/usr/bin/env python3
"""Plays the public packetdrill suites and compares the results with those in docs/packetdrill.md.

    scripts/packetdrill-page.py [--write]

--write writes the results into the page. The environment variable PACKETDRILL_SUITES names a folder with two checkouts,
`packetdrill` (google/packetdrill, with its program built) and `tcp-testsuite` (freebsd-net/tcp-testsuite), of the
commits in scripts/packetdrill-suites.toml. Without the variable, the checkouts or root it prints a line that starts with
SKIPPED. LIBRARY names another build of the library than target/debug.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import packetdrill_freebsd

HERE = Path(__file__).resolve().parent.parent
PAGE = HERE / "docs/packetdrill.md"
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->\n"
PROGRAM = "packetdrill/gtests/net/packetdrill/packetdrill"
# Scripts played by one run of packetdrill-suite.sh.
AT_ONCE = 20


def skipped(why):
    print(f"SKIPPED packetdrill_suites: {why}")
    sys.exit(0)


def digest(folder):
    """Returns a digest of all scripts below `folder`, their names included."""
    sum_of_all = hashlib.sha256()
    for script in sorted(folder.rglob("*.pkt")):
        sum_of_all.update(str(script.relative_to(folder)).encode() + b"\0" + script.read_bytes() + b"\0")
    return sum_of_all.hexdigest()


def checkouts(suites):
    """Returns the folder of the checkouts; the test is skipped if they are not those of the pinned commits."""
    named = os.environ.get("PACKETDRILL_SUITES")
    if not named:
        skipped("PACKETDRILL_SUITES names no folder with the suites")
    if os.geteuid() != 0:
        skipped("packetdrill and its network namespaces need root")
    folder = Path(named).resolve()
    if not os.access(folder / PROGRAM, os.X_OK):
        skipped(f"there is no {folder / PROGRAM}")
    for suite in suites:
        found = digest(folder / suite["folder"])
        if found != suite["digest"]:
            skipped(f"{folder / suite['folder']} has other scripts than commit {suite['commit']} (digest {found})")
    return folder


def play(folder, suite, ip, scripts):
    """Plays scripts of `folder` with one IP version and returns those that pass."""
    environment = os.environ | {"IP": ip, "FLAGS": suite.get("flags", "")}
    environment.setdefault("LIBRARY", str(HERE / "target/debug/libackord_packetdrill.so"))
    if "mtu" in suite:
        environment["MTU"] = str(suite["mtu"])
    program = Path(os.environ["PACKETDRILL_SUITES"]).resolve() / PROGRAM
    command = [HERE / "scripts/packetdrill-suite.sh", program, *(folder / script for script in scripts)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    passed = re.findall(r"^OK +(.*)$", said, re.MULTILINE)
    return {str(Path(path).relative_to(folder)) for path in passed}


def of_google(suite, folder):
    """Returns (folder, IP version, scripts) of what is to be played, and what is not counted."""
    folder = folder / suite["folder"]
    scripts = sorted(str(script.relative_to(folder)) for script in folder.rglob("*.pkt"))
    left_out = Counter()
    for entry in suite["not_counted"]:
        for script in [script for script in scripts if matches(script, entry)]:
            scripts.remove(script)
            left_out[entry["why"]] += 1
    return [(folder, ip, scripts) for ip in suite["ip"]], left_out


def of_freebsd(suite, folder, rewritten):
    left_out = packetdrill_freebsd.rewrite(folder / suite["folder"], rewritten)
    batches = []
    for ip in suite["ip"]:
        below = rewritten / ip
        batches.append((below, ip, sorted(str(script.relative_to(below)) for script in below.rglob("*.pkt"))))
    return batches, left_out


def matches(script, entry):
    return any(fnmatch(script, pattern) for pattern in entry["scripts"])


def played(suite, batches):
    """Returns the scripts that pass with every IP version they are played with, and those that do not."""
    runs = [
        (folder, suite, ip, scripts[at : at + AT_ONCE])
        for folder, ip, scripts in batches
        for at in range(0, len(scripts), AT_ONCE)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(lambda run: play(*run), runs))
    failed = {script for run, ok in zip(runs, passed) for script in run[3] if script not in ok}
    return {script for _, _, scripts in batches for script in scripts} - failed, failed


def complaints(suite, passed, failed):
    """Returns what is wrong with the reasons that the data file gives."""
    for entry in suite["fails"]:
        for pattern in entry["scripts"]:
            if not any(fnmatch(script, pattern) for script in passed | failed):
                yield f"{pattern}: there is no such script"
    for script in sorted(passed):
        if any(matches(script, entry) for entry in suite["fails"]):
            yield f"{script}: passes, but is listed as failing"
    for script in sorted(failed):
        if not any(matches(script, entry) for entry in suite["fails"]):
            yield f"{script}: fails without a reason"


def one_line(text):
    return " ".join(text.split())


def results(suite, left_out, passed, failed):
    lines = [f"### {suite['name']}", "", f"Commit `{suite['commit'][:12]}`, played with {', '.join(suite['ip'])}."]
    lines += ["", "| scripts | |", "| ---: | --- |"]
    lines += [f"| {len(passed) + len(failed)} | counted |", f"| {len(passed)} | pass |"]
    lines += [f"| {len(failed)} | fail |", "", "| not counted | why |", "| ---: | --- |"]
    lines += [f"| {count} | {one_line(why)} |" for why, count in left_out.items()]
    lines += ["", "| fail | scripts | why |", "| ---: | --- | --- |"]
    for entry in suite["fails"]:
        count = sum(matches(script, entry) for script in failed)
        names = ", ".join(f"`{pattern.removesuffix('.pkt')}`" for pattern in entry["scripts"])
        lines.append(f"| {count} | {names} | {one_line(entry['why'])} |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    suites = tomllib.loads((HERE / "scripts/packetdrill-suites.toml").read_text())["suite"]
    folder = checkouts(suites)
    subprocess.run(["cargo", "build", "--quiet", "--package", "ackord-packetdrill"], cwd=HERE, check=True)
    wrong, parts = [], []
    for suite in suites:
        with tempfile.TemporaryDirectory() as scratch:
            rewritten = suite.get("rewrite") == "freebsd"
            batches, left_out = of_freebsd(suite, folder, Path(scratch)) if rewritten else of_google(suite, folder)
            passed, failed = played(suite, batches)
        print(f"{suite['name']}: {len(passed)} of {len(passed) + len(failed)} pass")
        wrong += complaints(suite, passed, failed)
        parts.append(results(suite, left_out, passed, failed))
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    expected = before + BEGIN + "\n" + "\n".join(parts) + "\n" + END + after
    if wrong:
        sys.exit("\n".join(["scripts/packetdrill-suites.toml:", *wrong]))
    if sys.argv[1:]:
        PAGE.write_text(expected)
    elif page != expected:
        sys.exit("docs/packetdrill.md has other results; write them with scripts/packetdrill-page.py --write")


if __name__ == "__main__":
    main()
