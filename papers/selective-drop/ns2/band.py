#!/usr/bin/env python3
"""Runs the paper's drop-tail experiments in ns-2 and writes band.json.

The band is what another, independent simulator says about the same links: one figure for the
paper's simultaneous start, and the spread over twenty pairs of start times within a second.
Needs Debian's ns2 and nothing else. Takes about a minute.
"""

import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LINKS = [("512 kbit/s, 5 ms", "512Kb", "5ms"), ("1.5 Mbit/s, 2 ms", "1.5Mb", "2ms"),
         ("2 Mbit/s, 2 ms", "2Mb", "2ms"), ("5 Mbit/s, 2 ms", "5Mb", "2ms")]
# Windows of 20 and 30 are ns-2's default and the width of the paper's Fig. 3; 1000 never limits.
VARIANTS = [("window 1000", {"window": 1000}), ("window 30", {"window": 30}),
            ("window 20", {"window": 20}),
            ("window 1000, headers equal", {"window": 1000, "headers": "equal"})]
SEEDS = range(1, 21)
BOTH_AT_ONCE = (("Reno", 0.0), ("Vegas", 0.0))
FULL = 0.99  # a link counts as filled at this share of its rate


def ns2(senders, **settings):
    """One run; `senders` are (kind, start in seconds)."""
    command = ["ns", str(HERE / "reno_vegas.tcl")]
    for name, value in settings.items():
        command += [f"-{name}", str(value)]
    command += ["-senders", " ".join(f"{kind} {at}" for kind, at in senders)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def goodputs(run):
    return [flow["goodput_kbit_s"] for flow in run["flows"]]


def fairness(rates):
    """Smallest over largest goodput, in per cent (the paper's definition)."""
    return round(100 * min(rates) / max(rates), 2)


def spread(values):
    return {"mean": round(statistics.mean(values), 2), "min": min(values), "max": max(values)}


def starts(seed):
    """Two start times within a second, to the millisecond so that others can repeat them."""
    draw = random.Random(seed)
    return (("Reno", draw.randrange(1000) / 1000), ("Vegas", draw.randrange(1000) / 1000))


def link_band(name, rate, delay, settings):
    reno, vegas = goodputs(ns2(BOTH_AT_ONCE, rate=rate, delay=delay, **settings))
    runs = []
    for seed in SEEDS:
        senders = starts(seed)
        rates = goodputs(ns2(senders, rate=rate, delay=delay, **settings))
        runs.append({"seed": seed, "start_s": [at for _, at in senders], "reno": rates[0],
                     "vegas": rates[1], "fairness": fairness(rates)})
    values = [run["fairness"] for run in runs]
    return {
        "name": name,
        "nominal": {"reno": reno, "vegas": vegas, "fairness": fairness([reno, vegas])},
        "random_start": {
            "runs": len(runs), "fairness": values, **spread(values),
            "reno": spread([run["reno"] for run in runs]),
            "vegas": spread([run["vegas"] for run in runs]),
            "each": runs,
        },
    }


def window_sweep():
    """The paper's Fig. 3: both flows with the same largest window, 2 Mbit/s and 5 ms."""
    rows = []
    for window in range(1, 31):
        run = ns2(BOTH_AT_ONCE, rate="2Mb", delay="5ms", window=window)
        rates = goodputs(run)
        rows.append({"window": window, "reno": rates[0], "vegas": rates[1],
                     "sum": round(sum(rates), 2), "fairness": fairness(rates),
                     "wire_sum": round(sum(f["wire_kbit_s"] for f in run["flows"]), 2)})
    return rows


def smallest_window(access_delay):
    """The paper's Fig. 6: the smallest window with which one Reno flow fills 2 Mbit/s."""
    rows = []
    for delay in (1, 3, 5, 10):
        for window in range(1, 31):
            run = ns2((("Reno", 0.0),), rate="2Mb", delay=f"{delay}ms", window=window,
                      accessdelay=access_delay)
            wire = run["flows"][0]["wire_kbit_s"]
            if wire >= FULL * 2000:
                rows.append({"delay_ms": delay, "window": window, "wire_kbit_s": wire})
                break
    return rows


def version():
    query = ["dpkg-query", "-W", "-f", "${Version}", "ns2"]
    if shutil.which("dpkg-query") is None:
        return "unknown"
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout or "unknown"


def main():
    if shutil.which("ns") is None:
        sys.exit("ns-2 is missing: apt-get install ns2")
    bands = {name: [link_band(*link, settings) for link in LINKS] for name, settings in VARIANTS}
    result = {
        "what": "TCP Reno against TCP Vegas over a drop-tail queue in ns-2; rates in kbit/s of "
                "payload, fairness = smallest / largest in per cent",
        "set_up": {"queue_packets": 50, "payload_bytes": 1000, "duration_s": 100,
                   "access": "10 Mbit/s, 1 ms", "vegas_alpha": 1, "vegas_beta": 3,
                   "delayed_ack": False, "minimum_rto_s": 0.2,
                   "header_bytes": "Reno 40, Vegas none (an ns-2 habit) unless headers equal"},
        "command": "python3 papers/selective-drop/ns2/band.py",
        "version": f"ns2 {version()}",
        "links": bands[VARIANTS[0][0]],
        "variants": [{"name": name, "links": bands[name]} for name, _ in VARIANTS[1:]],
        "window_sweep": window_sweep(),
        "smallest_window": {
            "filled_at": FULL,
            "access 1 ms": smallest_window("1ms"),
            "access 1.5 ms": smallest_window("1.5ms"),
        },
    }
    text = json.dumps(result, indent=1)
    (HERE / "band.json").write_text(text + "\n")
    for variant, links in bands.items():
        for link in links:
            print(f"{variant:28} {link['name']:18} at once {link['nominal']['fairness']:6.2f} %"
                  f"   random starts {link['random_start']['mean']:6.2f} % "
                  f"({link['random_start']['min']} to {link['random_start']['max']})")
    for access in ("access 1 ms", "access 1.5 ms"):
        found = [row["window"] for row in result["smallest_window"][access]]
        print(f"smallest window, {access}: {found}")


if __name__ == "__main__":
    main()
