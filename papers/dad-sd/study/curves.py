"""What was measured, as curves: a policy at one interval, from tau to tau; and what theory says beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, reduce

import numpy as np
import polars as pl
from ackord.claims import Estimate, estimate, ratio
from policies import BY_NAME, Policy
from runs import PAPER, PLACE, Extent, mean_delay_ms

PAYLOAD_BYTES = 1500.0
HEADER_BYTES = 40.0
LOSS = 0.001
HOP_MBIT_S = 3.0
WINDOW_PACKETS = 500.0

#: Payload that the hop can carry.
CAPACITY_MBIT_S = HOP_MBIT_S * PAYLOAD_BYTES / (PAYLOAD_BYTES + HEADER_BYTES)


@dataclass(frozen=True)
class Curve:
    """A policy at one interval: its runs in the order of tau and seed."""

    policy: Policy
    interval_ms: int
    runs: pl.DataFrame

    @cached_property
    def cells(self) -> dict[float, pl.DataFrame]:
        """The runs by tau."""
        return {cell["tau"][0]: cell for cell in self.runs.partition_by("tau", maintain_order=True)}

    def over_tau(self, column: str) -> dict[float, Estimate]:
        """A column's estimates by tau."""
        return {tau: estimate(cell[column]) for tau, cell in self.cells.items()}

    @cached_property
    def goodput(self) -> dict[float, Estimate]:
        """In Mbit/s, by tau."""
        return self.over_tau("goodput_mbit_s")

    def by_seed(self, column: str, *, weight: float = 1.0, reordered: bool = False) -> list[float]:
        """A column summed over the taus, or over those with reordering, seed by seed."""
        cells = [cell for tau, cell in self.cells.items() if tau > 0 or not reordered]
        # One tau after the other, as `ackord paper` sums: Polars' and NumPy's sums have another order.
        sums: list[float] = reduce(np.add, (cell[column].to_numpy() * weight for cell in cells)).tolist()
        return sums

    def count(self, column: str) -> Estimate:
        """A column averaged over the taus."""
        return estimate(self.by_seed(column, weight=1.0 / len(self.cells)))


@dataclass(frozen=True)
class Measured:
    """The runs of the figures and of the study of alpha."""

    extent: Extent
    figures: pl.DataFrame
    alpha: pl.DataFrame

    @cached_property
    def curves(self) -> dict[tuple[str, int], Curve]:
        """By policy and interval, in the order of the tables."""
        return {
            (name, interval): Curve(BY_NAME[name], interval, runs)
            for (interval, name), runs in self.figures.partition_by(
                "interval_ms", "policy", maintain_order=True, as_dict=True
            ).items()
        }

    def of_interval(self, interval_ms: int) -> list[Curve]:
        """The curves of a figure."""
        return [curve for curve in self.curves.values() if curve.interval_ms == interval_ms]

    @cached_property
    def alphas(self) -> list[AlphaCurve]:
        """The study of alpha, by interval, form and tau."""
        cells = self.alpha.partition_by(*PLACE, maintain_order=True)
        return [
            AlphaCurve(
                BY_NAME[runs["policy"][0]],
                runs["interval_ms"][0],
                runs["tau"][0],
                {
                    cell["alpha"][0]: estimate(cell["goodput_mbit_s"])
                    for cell in runs.partition_by("alpha", maintain_order=True)
                },
            )
            for runs in cells
        ]


@dataclass(frozen=True)
class AlphaCurve:
    """Goodput of a form of DAD-SD against alpha, at one place."""

    policy: Policy
    interval_ms: int
    tau: float
    goodput: Mapping[float, Estimate]

    @property
    def best(self) -> float:
        """The alpha of the highest mean goodput."""
        return max(self.goodput, key=lambda alpha: (self.goodput[alpha].mean, alpha))

    @property
    def spread_percent(self) -> float:
        """How far the worst alpha falls below the best, in per cent of the best."""
        worst = min(it.mean for it in self.goodput.values())
        return 100.0 * (1.0 - worst / self.goodput[self.best].mean)


def quotients(one: Curve, other: Curve) -> dict[float, Estimate]:
    """Goodput of one over that of another, seed by seed, by tau."""
    return {
        tau: ratio(cell["goodput_mbit_s"].to_list(), other.cells[tau]["goodput_mbit_s"].to_list())
        for tau, cell in one.cells.items()
    }


def above_percent(one: Curve, other: Curve) -> Estimate:
    """How much one is above another: each seed's goodputs summed over the taus with reordering."""
    ours, theirs = (curve.by_seed("goodput_mbit_s", reordered=True) for curve in (one, other))
    return estimate(100.0 * (mine / its - 1.0) for mine, its in zip(ours, theirs, strict=True))


@cache
def ns2_band() -> tuple[str, dict[tuple[str, int, float], Estimate]]:
    """What ns-2 says about the same path: its version, and goodput by sender, interval and tau."""
    band = json.loads((PAPER / "ns2" / "band.json").read_text())
    return band["version"], {
        (sender["name"], curve["interval_ms"], point["tau"]): Estimate(
            1, (it := point["goodput_mbit_s"])["mean"], 0.0, it["ci95"], it["mean"], it["mean"]
        )
        for sender in band["senders"]
        for curve in sender["curves"]
        for point in curve["points"]
    }


def base_rtt_s(tau: float) -> float:
    """The round trip without queues: the drawn mean both ways, two access links of 1 ms each way, and the
    transmissions of a data packet."""
    packet_bits = (PAYLOAD_BYTES + HEADER_BYTES) * 8.0
    sending = packet_bits / (HOP_MBIT_S * 1e6) + 2.0 * packet_bits / 10e6
    return (2.0 * mean_delay_ms(tau) + 4.0) / 1e3 + sending


def mathis_mbit_s(rtt_s: float) -> float:
    """Mathis et al. 1997 Eq. 3, an acknowledgment for every packet: sqrt(3/2) segments per round trip and
    root of the loss probability."""
    return math.sqrt(1.5) / (rtt_s * math.sqrt(LOSS)) * PAYLOAD_BYTES * 8.0 / 1e6


def padhye_mbit_s(rtt_s: float, timeout_s: float) -> float:
    """Padhye et al. 1998 Eq. 30, an acknowledgment for every packet, with this first timeout."""
    p = LOSS
    timeouts = min(3.0 * math.sqrt(3.0 * p / 8.0), 1.0) * p * (1.0 + 32.0 * p * p)
    spent = rtt_s * math.sqrt(2.0 * p / 3.0) + timeout_s * timeouts
    return min(1.0 / spent, WINDOW_PACKETS / rtt_s) * PAYLOAD_BYTES * 8.0 / 1e6
