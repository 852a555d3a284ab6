"""What the paper says, with our verdicts and the measured facts behind them; and what this project says of
itself.

The paper gives its figures as pictures, which are lost, and one number: DAD-SD is about 8 % above DAD on
average. "About" is taken as a quarter of it, two percentage points either way.
"""

from __future__ import annotations

from collections.abc import Iterator

from ackord.claims import (
    Claim, above, at_least, at_most, below, directed, mean, paper, project, value,
)  # fmt: skip
from curves import Curve, Measured, above_percent, quotients
from policies import BESIDE, CONTESTS
from runs import FIGURES
from tables import ns2

#: The paper's only number (§4.2): per cent that DAD-SD is above DAD on average.
GAIN_PERCENT = 8.0
#: What "about" allows, of the number.
ABOUT = 0.25
#: "Holds up beside" somebody: at least so much of it, in per cent.
BESIDE_RIVALS = 95.0
#: How far a curve may be from ns-2's, in per cent.
FIDELITY_PERCENT = 10.0

#: The readings of what is compared: how low either threshold may fall, on which recovery, whether Table 1's
#: listing is meant to the letter.
READINGS = {
    "gain": ("dad", "dad-sd"),
    "gain-no-floor": ("dad-no-floor", "dad-sd-no-floor"),
    "gain-no-floor-of-dad-sd": ("dad", "dad-sd-no-floor"),
    "gain-no-floor-of-dad": ("dad-no-floor", "dad-sd"),
    "gain-on-reno": ("dad-on-reno", "dad-sd-on-reno"),
    "gain-literal-table": ("dad", "dad-sd-literal"),
}


def claims(measured: Measured) -> list[Claim]:
    """Every claim, the paper's first."""

    def each() -> Iterator[Claim]:
        for interval in FIGURES:
            for name, (first, second) in READINGS.items():
                yield gain(measured, interval, name, first, second)
            yield timeouts(measured, interval)
            yield above_newreno(measured, interval)
        for interval in FIGURES:
            yield from fidelity(measured, interval)
        for interval in FIGURES:
            yield from contests(measured, interval)

    return list(each())


def gain(measured: Measured, interval: int, name: str, first: str, second: str) -> Claim:
    """§4.2: DAD-SD about 8 % above DAD on average."""
    dad, sd = measured.curves[first, interval], measured.curves[second, interval]
    goodputs = [[it.mean for tau, it in curve.goodput.items() if tau > 0] for curve in (dad, sd)]
    alike = mean(100.0 * (ours / theirs - 1.0) for theirs, ours in zip(*goodputs, strict=True))
    spreads = [
        curve.spread_percent
        for curve in measured.alphas
        if (curve.interval_ms, curve.policy.name) == (interval, second)
    ]
    why = (
        f"Every tau weighing alike it is {alike:+.1f} %. In 1000 s "
        + counted(
            dad,
            "{} has {:.1f} timeouts, {:.0f} fast recoveries, {:.0f} of them undone, and {:.0f} needless"
            " retransmissions; ",
        )
        + counted(sd, "{} {:.1f}, {:.0f}, {:.0f} and {:.0f}. ")
        + "Absolute goodput, mean over the figure: "
        + "{:.3f} and {:.3f} Mbit/s.".format(*map(mean, goodputs))
    )
    if spreads:
        why += f" With alpha goodput changes by {max(spreads):.0f} % at most."
    ours = above_percent(sd, dad)
    return paper(
        f"fig{FIGURES[interval]}.{name}",
        f"{sd.policy.label} above {dad.policy.label}, mean over the figure, every {interval} ms",
        "%",
        ours,
        value(GAIN_PERCENT, ABOUT, '"about" in the text: a quarter'),
        direction=above("above", ours, 0.0),
        why=why,
    )


def counted(curve: Curve, words: str) -> str:
    """Words with a policy's name and what it does in 1000 s."""
    columns = "timeouts", "fast_recoveries", "undone_reductions", "needless_retransmissions"
    return words.format(curve.policy.label, *(curve.count(column).mean for column in columns))


def timeouts(measured: Measured, interval: int) -> Claim:
    """§4.2: DAD's thresholds jump and lead to timeouts; DAD-SD's do less so."""
    dad, sd, newreno = (
        measured.curves[name, interval].count("timeouts") for name in ("dad", "dad-sd", "newreno")
    )
    return paper(
        f"fig{FIGURES[interval]}.timeouts",
        f"timeouts in 1000 s that DAD-SD has fewer than DAD, every {interval} ms",
        "",
        dad - sd,
        at_least(0.0),
        direction=above("fewer", dad - sd, 0.0),
        why=f"DAD has {dad.mean:.2f}, DAD-SD {sd.mean:.2f}, NewReno {newreno.mean:.2f}.",
    ).since(
        dad.mean < newreno.mean,
        "The detection timer is one round trip, shorter than the retransmission timeout, and sends what is"
        " missing before that expires, whatever the threshold",
    )


def above_newreno(measured: Measured, interval: int) -> Claim:
    """The figures' point: under reordering both do better than a threshold of three."""
    by_tau = quotients(measured.curves["dad-sd", interval], measured.curves["newreno", interval])
    at = min((tau for tau in by_tau if tau > 0), key=lambda tau: by_tau[tau].mean)
    return paper(
        f"fig{FIGURES[interval]}.above-newreno",
        f"DAD-SD over NewReno, the least over tau > 0, every {interval} ms",
        "times",
        by_tau[at],
        at_least(1.0),
        direction=above("above NewReno", by_tau[at], 1.0),
        why=f"the least is at tau {at:g}",
    )


def fidelity(measured: Measured, interval: int) -> Iterator[Claim]:
    """Our senders against ns-2's, at the tau where they differ most."""
    points = list(ns2(measured, interval))
    for name in BESIDE:
        worst = max(
            (point for point in points if point.policy.name == name),
            key=lambda point: (abs(point.difference_percent).mean, point.tau),
        )
        off = abs(worst.difference_percent)
        yield project(
            f"ns2.{interval}ms.{name}",
            f"{worst.policy.label} off ns-2's, the most over tau, every {interval} ms",
            "%",
            off,
            at_most(FIDELITY_PERCENT),
            direction=below("within a half", off, 50.0),
            why=f"at tau {worst.tau:g} ours is {worst.ours.mean:.3f} Mbit/s,"
            f" ns-2's {worst.ns2.mean:.3f} +- {worst.ns2.ci95:.3f}",
        )


def contests(measured: Measured, interval: int) -> Iterator[Claim]:
    """This project's claim: practical DAD-SD holds up beside RACK and beside fixed(30)."""
    for contest in CONTESTS:
        ours = measured.curves[contest.practical, interval]
        for name, rival in {"rack": contest.rack, "fixed-30": contest.fixed_30}.items():
            theirs = measured.curves[rival, interval]
            by_tau = quotients(ours, theirs)
            at = min(by_tau, key=lambda tau: by_tau[tau].mean)
            words = ", ".join(f"{tau:g} {100.0 * it.mean:.0f}" for tau, it in by_tau.items())
            yield project(
                f"practical.{interval}ms.{contest.practical}.{name}",
                f"practical DAD-SD over {theirs.policy.label} on {contest.endpoint}, least over tau,"
                f" every {interval} ms",
                "%",
                by_tau[at] * 100.0,
                at_least(BESIDE_RIVALS),
                direction=directed("above it over all tau", above_percent(ours, theirs)),
                why=f"at tau {at:g}; by tau: {words}",
            )
