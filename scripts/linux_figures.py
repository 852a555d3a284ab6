"""What the runs of linux-outage.py come to: a table to read, and figures to keep, for each set-up."""

import json
import statistics

SETUP = ("congestion", "timestamps", "sack", "help", "outage", "loss")


def by_setup(results):
    """The runs of each set-up, in the order of the first of each."""
    groups = {}
    for result in results:
        groups.setdefault(tuple(result[name] for name in SETUP), []).append(result)
    return groups


def on_off(yes):
    return "on" if yes else "off"


def spread(runs, name, digits):
    """The median, the least and the most; None stands for what never happened."""
    values = [run[name] for run in runs if run[name] is not None]
    if not values:
        return "never"
    low, high = min(values), max(values)
    never = "" if len(values) == len(runs) else f", never in {len(runs) - len(values)}"
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f}-{high:.{digits}f}{never})"


def table(results):
    """A row for each set-up: the median of its runs and their spread."""
    print("| sender | timestamps | SACK | help | outage s | loss | MB delivered | new data after s "
          "| retransmissions | timeouts | late p99 ms |")
    print("| --- " * 11 + "|")
    for (congestion, stamps, sack, help_, outage, loss), runs in by_setup(results).items():
        late = max(run["late_ms_p99"] for run in runs)
        new = spread(runs, "new_data_after_s", 2) if outage else ""
        print(f"| {congestion} | {on_off(stamps)} | {on_off(sack)} | {help_} | {outage:g} "
              f"| {loss:g} | {spread(runs, 'mbytes', 2)} | {new} "
              f"| {spread(runs, 'retransmissions', 0)} | {spread(runs, 'timeouts', 0)} "
              f"| {late:.1f} |")


def summary(values):
    """Every run, and what they come to; None where any run has none."""
    rounded = [None if value is None else round(value, 3) for value in values]
    if None in rounded:
        return dict(runs=rounded, mean=None, least=None, most=None)
    return dict(runs=rounded, mean=round(statistics.mean(rounded), 3), least=min(rounded),
                most=max(rounded))


def keep(file, kernel, results):
    """Writes MB delivered and the time to new data of every set-up, one to a line."""
    lines = []
    for setup, runs in by_setup(results).items():
        row = dict(zip(SETUP, setup))
        row["outage_s"] = row.pop("outage")
        row.update(
            mbytes=summary([run["mbytes"] for run in runs]),
            new_data_after_s=summary([run["new_data_after_s"] for run in runs]),
            timeouts=[run["timeouts"] for run in runs],
            late_ms_p99=max(run["late_ms_p99"] for run in runs))
        if not row["outage_s"]:
            del row["new_data_after_s"]
        lines.append(json.dumps(row))
    with open(file, "w") as out:
        out.write('{"kernel": "Linux %s", "setups": [\n' % kernel.split("-")[0])
        out.write(",\n".join(lines) + "\n]}\n")


def load(files):
    """The kernel and all runs of files that `--json` wrote."""
    kernels, results = set(), []
    for name in files:
        with open(name) as file:
            told = json.load(file)
        kernels.add(told["kernel"])
        results += told["runs"]
    if len(kernels) != 1:
        raise SystemExit(f"figures of one kernel, not of {sorted(kernels)}")
    return kernels.pop(), results
