#!/usr/bin/env python3
"""Runs the paper's simulation (section 4) in ns-3 and writes band.json.

The band is what an independent simulator says about the same set-up: twenty runs of each timeout,
with and without errors. Needs Debian's libns3-dev and a C++ compiler. Takes about two minutes.
"""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["core", "network", "internet", "point-to-point", "applications", "wifi", "mobility"]
TIMEOUTS_S = [0.2, 0.0009, 0.0008]
ERRORS_PER_BYTE = [1e-5, 0.0]
SEEDS = range(1, 21)
FIGURES = ["acks", "data_segments_sent", "data_segments_received",
           "short_segments_received", "cwnd_mean_bytes", "done_s", "gap_median_ms"]


def build(folder):
    program = pathlib.Path(folder) / "delayed_ack"
    command = ["g++", "-std=c++17", "-O1", "-o", str(program), str(HERE / "delayed_ack.cc")]
    command += [f"-lns3-{library}" for library in LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return program


def run(program, timeout, errors, seed):
    command = [str(program), f"--timeout={timeout}", f"--errors={errors}", f"--seed={seed}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def setup(program, timeout, errors):
    runs = [run(program, timeout, errors, seed) for seed in SEEDS]
    figures = {name: [run[name] for run in runs] for name in FIGURES}
    return {
        "timeout_ms": timeout * 1e3,
        "errors_per_byte": errors,
        "runs": len(runs),
        "median": {name: statistics.median(values) for name, values in figures.items()},
        **figures,
        # cwnd in bytes every tenth of a second, of the first run.
        "first_run_cwnd_bytes": runs[0]["cwnd"],
    }


def main():
    if shutil.which("g++") is None:
        sys.exit("band.py needs g++ and ns-3 (apt-get install g++ libns3-dev)")
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        setups = [setup(program, timeout, errors)
                  for errors in ERRORS_PER_BYTE for timeout in TIMEOUTS_S]
    band = {"simulator": "ns-3.37 (Debian)", "setups": setups}
    # One line a list of numbers keeps the file readable.
    text = json.dumps(band, indent=1)
    text = "\n".join(squeeze(text.splitlines()))
    (HERE / "band.json").write_text(text + "\n", encoding="utf-8")


def squeeze(lines):
    """Joins the lines of each list of numbers."""
    joined = []
    for line in lines:
        inside = joined and joined[-1].count("[") > joined[-1].count("]")
        if inside and not joined[-1].endswith("\"setups\": ["):
            joined[-1] += line.strip() if line.strip().startswith("]") else line.strip() + " "
        else:
            joined.append(line)
    return joined


if __name__ == "__main__":
    main()
