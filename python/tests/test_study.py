"""The study of DAD-SD in Python beside `ackord paper dad-sd`: the same numbers, verdicts and words.

Everything but the half widths of intervals is equal to the last bit: the runs are the same, and both add in the same
order. Half widths have a quantile of Student's t, which two libraries round differently.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ackord as ak
import polars as pl
import pytest
from ackord.scenario import checked

STUDY = Path(__file__).resolve().parents[2] / "papers" / "dad-sd" / "study"
sys.path.insert(0, str(STUDY))

import compared  # noqa: E402
import curves  # noqa: E402
import policies  # noqa: E402
import report  # noqa: E402
import runs  # noqa: E402
import verdicts  # noqa: E402

#: The largest relative difference that was seen with these numbers of seeds is 1.5e-15.
T_QUANTILE = 1e-14


def are_equal(ours: Path, theirs: Path) -> compared.Comparison:
    found = compared.compared(ours, theirs)
    assert not found.different, found
    assert found.worst < T_QUANTILE, found
    halves = [where for where in found.inexact if where.endswith(".ci95") or ".±" in where]
    assert len(halves) == len(found.inexact), found
    assert found.numbers > 10_000 and found.words > 1_000
    return found


def command(out: Path, *more: str) -> None:
    """`ackord paper dad-sd --quick`."""
    told = [sys.executable, "-m", "ackord", "paper", "dad-sd", "--quick", "--out", str(out), *more]
    subprocess.run(told, check=True, capture_output=True)


def invented(scenario: str, seed: int, scatter: float) -> dict[str, Any]:
    """What a run might have come to."""
    of_cell, of_run = random.Random(scenario), random.Random(f"{scenario} {seed}")
    goodput = of_cell.uniform(0.05, 2.9) * of_run.uniform(1 - scatter, 1 + scatter)
    segments = round(goodput * 1e6 / 8 * 250 / 1500)
    return {
        "bytes_delivered": segments * 1500,
        "segments_sent": segments,
        "retransmitted": round(segments * of_cell.random() * of_run.random() / 10),
        "dropped": round(segments / 1000 * of_run.uniform(0.5, 1.5)),
        "timeouts": of_run.randrange(20),
        "fast_recoveries": round(of_cell.uniform(50, 800) * of_run.uniform(1 - scatter, 1 + scatter)),
        "undone": of_run.randrange(50),
        "rtt_mean_us": of_run.randrange(100_000, 900_000),
        "cwnd_mean_bytes": 30_000,
    }


def as_flow(run: dict[str, Any]) -> dict[str, Any]:
    """As a sweep's table of flows has it."""
    return {
        "bytes_delivered": run["bytes_delivered"],
        "timeouts": run["timeouts"],
        "fast_recoveries": run["fast_recoveries"],
        "retransmitted_segments": run["retransmitted"],
        "packets_dropped": run["dropped"],
        "undone_reductions": run["undone"],
        # Between two whole microseconds, of which the lower one is kept.
        "rtt_mean_ms": (run["rtt_mean_us"] + 0.5) / 1e3,
    }


def quick_points(alpha: bool) -> Iterator[ak.Point]:
    quick = runs.QUICK
    if not alpha:
        yield from runs.points(policies.POLICIES, quick.taus, quick.transfer_s)
        return
    forms = [policies.BY_NAME[form] for form in runs.FORMS]
    for point in runs.points(forms, quick.alpha_taus, quick.transfer_s):
        yield from (point.at({"tcp.loss.alpha": weight}) for weight in runs.ALPHAS)


def hash_of(point: ak.Point) -> str:
    return checked(runs.SCENARIO, point.set).hash


@pytest.mark.parametrize("scatter", [0.02, 0.5])
def test_the_same_runs_come_to_the_same_numbers_verdicts_and_words(tmp_path: Path, scatter: float) -> None:
    """A journal of invented runs, by which the command makes none but those that are missing in it: it finds each by
    the scenario's hash and the seed, so that both plan the same runs. A few are left out, and both make these."""
    real = list(runs.points(policies.POLICIES[::3], [10], runs.QUICK.transfer_s))
    made = pl.DataFrame(ak.sweep(runs.SCENARIO, points=real, seeds=[2]).flows).to_dicts()
    flow_of = {(hash_of(point), 2): flow for point, flow in zip(real, made, strict=True)}
    journal: dict[tuple[str, int], dict[str, Any]] = {}
    frames = []
    for alpha, seeds in ((False, runs.QUICK.seeds), (True, runs.QUICK.alpha_seeds)):
        rows = []
        for point in quick_points(alpha):
            for key in ((hash_of(point), seed) for seed in range(1, seeds + 1)):
                if key not in flow_of:
                    journal[key] = invented(*key, scatter)
                flow = flow_of[key] if key in flow_of else as_flow(journal[key])
                rows.append({**{name: flow[name] for name in runs.TAKEN}, **point.columns, "seed": key[1]})
        frames.append(runs.measured(pl.DataFrame(rows, infer_schema_length=None), runs.QUICK))
    measured = curves.Measured(runs.QUICK, frames[0], frames[1].rename({"tcp.loss.alpha": "alpha"}))
    report.write(measured, verdicts.claims(measured), tmp_path / "ours")

    theirs = tmp_path / "theirs"
    theirs.mkdir()
    lines = [
        {"scenario": scenario, "seed": seed, "version": ak.__version__, "kept": "dad-sd 1", "run": run}
        for (scenario, seed), run in journal.items()
    ]
    (theirs / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command(theirs, "--resume")
    added = (theirs / "runs.jsonl").read_text().splitlines()[len(lines) :]
    assert {(line["scenario"], line["seed"]) for line in map(json.loads, added)} == set(flow_of)
    are_equal(tmp_path / "ours", theirs)


@pytest.mark.long
def test_the_quick_study_is_the_quick_reproduction(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    command(theirs)
    study = [sys.executable, str(STUDY), "--quick", "--out", str(tmp_path / "ours"), "--compare", str(theirs)]
    told = subprocess.run(study, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    are_equal(tmp_path / "ours", theirs)
    plots = {path.stem for path in (tmp_path / "ours" / "plots").glob("*.svg")}
    assert plots == {path.stem for path in (theirs / "plots").glob("*.svg")}


def test_a_difference_is_found() -> None:
    found = compared.Comparison()
    found.add({"a": 1.0, "b": "holds", "c": 2}, {"a": 1.0 + 1e-12, "b": "fails", "d": 2})
    assert 0.9e-12 < found.worst < 1.1e-12
    assert found.different == ["b: 'holds' and 'fails'", "c: 2 and 'nothing'", "d: 'nothing' and 2"]


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, str(STUDY), "--quick", "--out", str(tmp_path), "--compare", str(tmp_path / "none")],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 2 and "has no paper.json" in told.stderr
