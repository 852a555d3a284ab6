"""The files of the study, and its claims in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ackord as ak
from ackord.claims import Claim
from curves import Measured
from figures import draw
from tables import as_data, tables

#: The results, as `ackord paper dad-sd --out DIR` calls them.
JSON = "paper.json"


def as_json(measured: Measured, judged: Sequence[Claim]) -> str:
    """The results in the shape of ``ackord paper dad-sd --json``."""
    results: dict[str, Any] = {
        "paper": "dad-sd",
        "version": ak.__version__,
        "seed": 1,
        "claims": [claim.data() for claim in judged],
        "tables": as_data(measured),
    }
    return json.dumps(results, indent=2, ensure_ascii=False) + "\n"


def write(measured: Measured, judged: Sequence[Claim], folder: Path) -> None:
    """Tables as CSV, plots as SVG, everything as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / JSON).write_text(as_json(measured, judged))
    for name, table in tables(measured).items():
        table.write_csv(folder / f"{name}.csv")
    draw(measured, folder / "plots")


def in_words(judged: Sequence[Claim]) -> str:
    """A line per claim, and how many of whom came to what."""
    lines = []
    for claim in judged:
        half = "" if claim.ci95 is None else f" ± {claim.ci95:.3g}"
        lines.append(f"{claim.verdict:<10} {claim.id:<42} {claim.measured:.4g}{half} {claim.unit}")
    counts = Counter((claim.by, claim.verdict) for claim in judged)
    lines += [f"the {by}'s claims: {count} {verdict}" for (by, verdict), count in sorted(counts.items())]
    return "\n".join(lines)
