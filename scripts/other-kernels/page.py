#!/usr/bin/env python3
"""Writes docs/kernels-tested.md from the results of guests.

  scripts/other-kernels/page.py FOLDER     a folder per kernel in it, with results.tsv and guest.tsv
"""
import os, sys

HEAD = """# Kernels on which both daemons were tested

The package of `make package` in a Debian 12 with systemd 252, under kernels of Debian and Ubuntu in qemu, without hardware \
acceleration unless stated. Written by

```sh
make other-kernels
```

which fetches the kernels by apt. A kernel that cannot be \
fetched is skipped.

| mark | meaning |
| --- | --- |
| ok | the check passed |
| - | the kernel lacks what the check needs, and the program names it (below) |
| failed | the check failed (below) |
| | not tried |

"""
MARKS = {"ok": "ok", "lacking": "-", "failed": "**failed**"}


def rows(path):
    with open(path) as file:
        return [line.rstrip("\n").split("\t") for line in file]


def version(name):
    return [int(part) for part in name.split(".")]


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def main(folder):
    names = sorted((one for one in os.listdir(folder) if os.path.exists(f"{folder}/{one}/results.tsv")), key=version)
    results = {name: {tuple(row[:2]): (row[2:] + [""])[:2] for row in rows(f"{folder}/{name}/results.tsv")} for name in names}
    guests = {name: dict(rows(f"{folder}/{name}/guest.tsv")) for name in names}
    checks = []
    for name in names:
        checks += [one for one in results[name] if one not in checks and one[1] != "finished"]
    out = [HEAD, "| kernel | release | package version | machine | seconds |\n| --- | --- | --- | --- | --- |"]
    machine = {"tcg": "emulated", "kvm": "KVM"}
    for name in names:
        guest = guests[name]
        out.append(f"| {name} | {guest['release']} | {guest['package']} | {machine[guest['accelerator']]} | {guest['seconds']} |")
    out.append("\n| check | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for daemon, what in sorted(checks, key=lambda one: one[0]):
        marks = [MARKS[results[name][daemon, what][0]] if (daemon, what) in results[name] else "" for name in names]
        label = what if daemon == "both" else f"{daemon}: {what}"
        out.append(f"| {label} | {' | '.join(marks)} |")
    out.append("\nWhat the checks report. Times of an emulated processor are no measure of a real one.\n")
    for daemon, what in sorted(checks, key=lambda one: one[0]):
        out.append(f"- **{what if daemon == 'both' else f'{daemon}: {what}'}**")
        for name in names:
            state, detail = results[name].get((daemon, what), ("", ""))
            if detail:
                out.append(f"  - {name}: {'failed: ' if state == 'failed' else ''}{cell(detail)}")
    print("\n".join(out))


main(sys.argv[1])
