"""The paper's path and numbers, and what is taken from every run.

Nothing is tuned to the paper's numbers: the path is in ``reordering.toml``, each choice with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ackord as ak
import numpy as np
import polars as pl
from ackord.scenario import Value
from policies import BY_NAME, POLICIES, Policy

PAPER = Path(__file__).resolve().parent.parent
SCENARIO = PAPER / "reordering.toml"

#: How often the delay is drawn anew, in milliseconds, and the figure that shows it (Park et al. 2008 §4.1).
FIGURES = {50: 2, 250: 3}
#: tau in tenths: 0, 0.2 .. 2.
TAUS = tuple(range(0, 21, 2))
#: The transfer begins then, in seconds (§4.1).
START_S = 10
#: The weight of Eq. 1, which the paper leaves to the user.
ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
#: The forms of DAD-SD that have one.
FORMS = ("dad-sd", "dad-sd-no-floor", "practical")

#: What is taken from the sweep's table of flows.
TAKEN = (
    "bytes_delivered",
    "timeouts",
    "fast_recoveries",
    "retransmitted_segments",
    "packets_dropped",
    "undone_reductions",
    "rtt_mean_ms",
)
#: What tells a cell from others: its runs differ in their seeds.
PLACE = ("policy", "interval_ms", "tau")


@dataclass(frozen=True)
class Extent:
    """How much is run. tau in tenths."""

    effort: str
    taus: Sequence[int]
    seeds: int
    alpha_taus: Sequence[int]
    alpha_seeds: int
    transfer_s: int


QUICK = Extent("quick", (0, 4, 10, 20), 4, (4, 20), 3, 250)
FULL = Extent("full", TAUS, 20, (4, 10, 20), 10, 1000)


def mean_delay_ms(tau: float) -> float:
    """The hop's mean delay (§4.1)."""
    return 50 + 200 * tau


def points(policies: Sequence[Policy], taus: Sequence[int], transfer_s: int) -> Iterator[ak.Point]:
    """Every policy at every tau, with the delay redrawn every 50 and 250 ms."""
    for interval_ms in FIGURES:
        for policy in policies:
            for tenths in taus:
                path: dict[str, Value] = {
                    "links.hop.delay": f"{50 + 20 * tenths} ms",
                    # 200 tau / 3 ms, to the nanosecond.
                    "links.hop.jitter.deviation": f"{tenths * 20_000_000 // 3} ns",
                    "links.hop.jitter.every": f"{interval_ms} ms",
                    "duration": f"{START_S + transfer_s} s",
                }
                yield ak.Point(
                    path | policy.changes(), policy=policy.name, interval_ms=interval_ms, tau=tenths / 10
                )


def run(extent: Extent, *, out: Path | None = None, on: object = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The runs of the figures and of the study of alpha: a row each, seeds from 1 on in every cell."""
    figures = ak.sweep(
        SCENARIO,
        points=list(points(POLICIES, extent.taus, extent.transfer_s)),
        seeds=range(1, extent.seeds + 1),
        out=None if out is None else out / "runs" / "figures",
        on=on,
    )
    alpha = ak.sweep(
        SCENARIO,
        points=list(points([BY_NAME[form] for form in FORMS], extent.alpha_taus, extent.transfer_s)),
        grid={"tcp.loss.alpha": ALPHAS},
        seeds=range(1, extent.alpha_seeds + 1),
        out=None if out is None else out / "runs" / "alpha",
        on=on,
    )
    return samples(figures, extent), samples(alpha, extent).rename({"tcp.loss.alpha": "alpha"})


def samples(sweep: ak.Sweep, extent: Extent) -> pl.DataFrame:
    """The flow of every run. A run that failed ends the study."""
    failed = pl.DataFrame(sweep.runs).filter(pl.col("error").is_not_null())
    if failed.height:
        raise ak.RunError(f"run {failed['run'][0]}: {failed['error'][0]}")
    return pl.DataFrame(sweep.flows).with_columns(pl.col("interval_ms").cast(pl.Int64)).pipe(measured, extent)


def measured(flows: pl.DataFrame, extent: Extent) -> pl.DataFrame:
    """What is measured of a run: goodput is payload over the length of the transfer, start included, and
    counts are for 1000 s of transfer. Retransmissions are needless beyond the data packets that died:
    the simulator knows, a sender does not."""
    # NumPy's division: Polars multiplies by the reciprocal of a constant, which rounds twice.
    it = {name: flows[name].cast(pl.Float64).fill_null(0).to_numpy() for name in TAKEN}
    it["needless"] = np.maximum(it["retransmitted_segments"] - it["packets_dropped"], 0)

    def per_1000_s(name: str) -> np.ndarray:
        return it[name] * 1e3 / extent.transfer_s

    place = [name for name in (*PLACE, "tcp.loss.alpha", "seed") if name in flows.columns]
    return flows.select(place).with_columns(
        goodput_mbit_s=it["bytes_delivered"] * 8.0 / extent.transfer_s / 1e6,
        timeouts=per_1000_s("timeouts"),
        fast_recoveries=per_1000_s("fast_recoveries"),
        retransmitted=per_1000_s("retransmitted_segments"),
        needless_retransmissions=per_1000_s("needless"),
        undone_reductions=per_1000_s("undone_reductions"),
        # Whole microseconds, as the journal of `ackord paper` keeps them.
        rtt_mean_ms=np.floor(it["rtt_mean_ms"] * 1e3) / 1e3,
    )
