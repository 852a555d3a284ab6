"""The tables of the study: figures 2 and 3 as numbers, contests, costs, bounds, alpha, ns-2's band beside.

A row is a dict; a mean has its interval in the column after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from ackord.claims import Estimate
from curves import CAPACITY_MBIT_S, Curve, Measured, base_rtt_s, mathis_mbit_s, ns2_band, padhye_mbit_s
from policies import BESIDE, CONTESTS, Policy
from runs import FIGURES

Row = dict[str, Any]

#: Counts per 1000 s of transfer, and what tables call them.
COUNTS = {
    "timeouts": "timeouts",
    "fast_recoveries": "fast recoveries",
    "retransmitted": "retransmitted",
    "needless_retransmissions": "needlessly",
    "undone_reductions": "undone",
}


def tables(measured: Measured) -> dict[str, pl.DataFrame]:
    """Every table by its name."""
    rows: dict[str, list[Row]] = {}
    for interval, figure in FIGURES.items():
        curves = measured.of_interval(interval)
        rows[f"figure-{figure}"] = [goodput(curve) for curve in curves]
        rows[f"practical-{interval}ms"] = list(contests(measured, interval))
        rows[f"cost-{interval}ms"] = [cost(curve) for curve in curves]
        rows[f"bounds-{interval}ms"] = list(bounds(measured.curves["practical", interval]))
        rows[f"ns-2-{interval}ms"] = [beside(point) for point in ns2(measured, interval)]
    rows["alpha"] = list(alpha(measured))
    rows["points"] = [flat(row) for row in points(measured)]
    return {name: pl.DataFrame(of, infer_schema_length=None) for name, of in rows.items()}


def with_interval(heading: str, it: Estimate) -> Row:
    return {heading: it.mean, f"± {heading}": it.ci95}


def goodput(curve: Curve) -> Row:
    """A figure's curve as numbers: a column per tau, Mbit/s."""
    by_tau = {f"{tau:g}": it.mean for tau, it in curve.goodput.items()}
    return {"policy": curve.policy.label, "on": curve.policy.endpoint, **by_tau}


def contests(measured: Measured, interval: int) -> Iterator[Row]:
    """Practical DAD-SD beside RACK-TLP and fixed(30), at every tau."""
    for contest in CONTESTS:
        names = contest.practical, contest.rack, contest.fixed_30
        ours, rack, fixed = (measured.curves[name, interval].goodput for name in names)
        for tau, it in ours.items():
            yield {
                "on": contest.endpoint,
                "tau": tau,
                **with_interval("practical (Mbit/s)", it),
                **with_interval("RACK-TLP (Mbit/s)", rack[tau]),
                **with_interval("fixed(30) (Mbit/s)", fixed[tau]),
                "/ RACK (%)": 100.0 * it.mean / rack[tau].mean,
                "/ fixed(30) (%)": 100.0 * it.mean / fixed[tau].mean,
            }


def cost(curve: Curve) -> Row:
    """What a policy does in 1000 s, mean over the taus."""
    counts = {heading: curve.count(column).mean for column, heading in COUNTS.items()}
    return {"policy": curve.policy.label, "on": curve.policy.endpoint, **counts}


def bounds(practical: Curve) -> Iterator[Row]:
    """The hop's payload capacity, and a Reno sender held by the 0.1 % loss alone: with the round trip of the
    queueless path, and with the one measured under practical DAD-SD, which fills the path best of the
    paper's kind."""
    for tau, it in practical.over_tau("rtt_mean_ms").items():
        base_s, rtt_s = base_rtt_s(tau), it.mean / 1e3
        yield {
            "tau": tau,
            "base RTT (ms)": base_s * 1e3,
            "measured (ms)": rtt_s * 1e3,
            "capacity (Mbit/s)": CAPACITY_MBIT_S,
            "Mathis (Mbit/s)": min(mathis_mbit_s(base_s), CAPACITY_MBIT_S),
            "at measured RTT (Mbit/s)": min(mathis_mbit_s(rtt_s), CAPACITY_MBIT_S),
            # Four round trips is the usual stand-in for the first timeout.
            "Padhye (Mbit/s)": min(padhye_mbit_s(rtt_s, 4.0 * rtt_s), CAPACITY_MBIT_S),
        }


def alpha(measured: Measured) -> Iterator[Row]:
    """Which alpha of Eq. 1, and how much it matters."""
    for curve in measured.alphas:
        yield {
            "form": curve.policy.label,
            "every (ms)": curve.interval_ms,
            "tau": curve.tau,
            **with_interval("alpha 0 (Mbit/s)", curve.goodput[0.0]),
            **with_interval("0.5 (Mbit/s)", curve.goodput[0.5]),
            **with_interval("0.95 (Mbit/s)", curve.goodput[0.95]),
            "best alpha": curve.best,
            "there (Mbit/s)": curve.goodput[curve.best].mean,
            "worst below best (%)": curve.spread_percent,
        }


@dataclass(frozen=True)
class Beside:
    """A point of ours beside ns-2's."""

    policy: Policy
    interval_ms: int
    tau: float
    ours: Estimate
    ns2: Estimate

    @property
    def difference_percent(self) -> Estimate:
        """Ours above (or, negative, below) ns-2's, in per cent of it."""
        return (self.ours / self.ns2 - 1.0) * 100.0


def ns2(measured: Measured, interval: int) -> Iterator[Beside]:
    """Every point that both have."""
    _, band = ns2_band()
    for name, sender in BESIDE.items():
        curve = measured.curves[name, interval]
        for tau, ours in curve.goodput.items():
            if theirs := band.get((sender, interval, tau)):
                yield Beside(curve.policy, interval, tau, ours, theirs)


def beside(point: Beside) -> Row:
    return {
        "sender": point.policy.label,
        "tau": point.tau,
        **with_interval("ns-2 (Mbit/s)", point.ns2),
        **with_interval("ours (Mbit/s)", point.ours),
        "difference (%)": point.difference_percent.mean,
    }


def points(measured: Measured) -> Iterator[Row]:
    """Everything measured: a row per policy, interval and tau, with estimates."""
    for curve in measured.curves.values():
        columns = {column: curve.over_tau(column) for column in ("goodput_mbit_s", *COUNTS)}
        rtt = curve.over_tau("rtt_mean_ms")
        for tau in curve.cells:
            yield {
                "policy": curve.policy.name,
                "endpoint": curve.policy.endpoint,
                "interval_ms": curve.interval_ms,
                "tau": tau,
                **{column: of[tau] for column, of in columns.items()},
                "rtt_mean_ms": rtt[tau].mean,
            }


def flat(row: Row) -> Row:
    """A row whose estimates are two columns each."""
    flat: Row = {}
    for name, it in row.items():
        flat |= with_interval(name, it) if isinstance(it, Estimate) else {name: it}
    return flat


def as_data(measured: Measured) -> Row:
    """What the JSON has of them, as ``ackord paper dad-sd --json`` has it."""
    return {
        "effort": measured.extent.effort,
        "seeds": measured.extent.seeds,
        "transfer_s": float(measured.extent.transfer_s),
        "points": [
            {name: asdict(it) if isinstance(it, Estimate) else it for name, it in row.items()}
            for row in points(measured)
        ],
        "alpha": [
            {
                "policy": curve.policy.name,
                "interval_ms": curve.interval_ms,
                "tau": curve.tau,
                "best_alpha": curve.best,
                "spread_percent": curve.spread_percent,
                "goodput_mbit_s": [[alpha, it.mean] for alpha, it in curve.goodput.items()],
            }
            for curve in measured.alphas
        ],
        "ns2": [
            {
                "policy": point.policy.name,
                "interval_ms": interval,
                "tau": point.tau,
                "ours_mbit_s": point.ours.mean,
                "ns2_mbit_s": point.ns2.mean,
                "difference_percent": point.difference_percent.mean,
            }
            for interval in FIGURES
            for point in ns2(measured, interval)
        ],
    }
