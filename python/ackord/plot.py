"""Plots by matplotlib, in the colours of the reports. Needs ``matplotlib``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ackord._ackord import InputError
from ackord._values import LARGER, unit_of
from ackord.claims import Estimate, estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ackord._ackord import Table
    from ackord.captures import Diagnosis
    from ackord.comparisons import Comparison
    from ackord.fleets import Fleet
    from ackord.runs import Result
    from ackord.sweeps import Sweep

__all__ = [
    "COLOURS",
    "boxes",
    "causes",
    "cdf",
    "comparison",
    "estimates",
    "hosts",
    "hours",
    "means",
    "series",
]

#: To be told apart by everybody; the order of the reports.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b")

#: Quantities that hold until they change, and are no line between two points.
_STEPS = {"cwnd", "ssthresh", "queue-packets", "queue-bytes"}
#: Quantities that are points.
_POINTS = {"rtt", "retransmitted", "drops"}
#: Causes that no remedy shortens: the path, the applications, and what nobody knows.
_NOTHING_TO_GAIN = {"set-up", "client-idle", "server-idle", "path-limited", "capture-artefact", "unknown"}


def series(
    result: Result, quantity: str, *, of: str | None = None, label: str | None = None, ax: Axes | None = None
) -> Axes:
    """A quantity against time, a curve per flow or link.

    Args:
        result: what a run came to, with its series.
        quantity: as :meth:`Result.series` takes it.
        of: only this flow or link.
        label: what to call the result, where axes show several.
        ax: where to draw, if not on axes of its own; what they show already keeps its colours.

    Raises:
        InputError: if the run kept no such quantity, or there is no such flow or link.
    """
    table = result.series(quantity)
    time, whose, value = table.column_names
    rows = list(zip(table.column(time), table.column(whose), table.column(value), strict=True))
    names = list(dict.fromkeys(name for _, name, _ in rows))
    if of is not None:
        if of not in names:
            raise InputError(f"no {whose} is called `{of}`; there are: {', '.join(names)}")
        names = [of]
    axes = _axes(ax)
    unit, size = LARGER.get(table.units[value], (table.units[value], 1.0))
    for name in names:
        title = name if label is None else label if len(names) == 1 else f"{label}, {name}"
        look: dict[str, Any] = {"color": COLOURS[len(axes.get_lines()) % len(COLOURS)], "label": title}
        at = [t for t, one, _ in rows if one == name]
        values = [v / size for _, one, v in rows if one == name]
        if quantity in _POINTS:
            axes.plot(at, values, ".", markersize=2, **look)
        else:
            held = quantity in _STEPS
            if held and at:
                at, values = [*at, result.duration_s], [*values, values[-1]]
            axes.plot(at, values, drawstyle="steps-post" if held else "default", linewidth=1.2, **look)
    _finish(axes, "time (s)", f"{quantity} ({unit})", len(axes.get_lines()))
    return axes


def means(
    sweep: Sweep, metric: str, *, x: str, by: str | None = None, ax: Axes | None = None
) -> Axes:
    """Means over seeds with 95 % intervals (Student's t), a curve per value of ``by``.

    Args:
        sweep: what a sweep came to; the metric is looked for in its flows, links and runs.
        metric: a column: ``"goodput_bit_s"``.
        x: a path of the grid, along the axis.
        by: another one, a curve per value; with ``"flow"`` or ``"link"`` a curve each.
        ax: where to draw, if not on axes of its own.

    Raises:
        InputError: if there is no such column.
    """
    table = next((t for t in (sweep.flows, sweep.links, sweep.runs) if metric in t.column_names), None)
    if table is None:
        raise InputError(f"the sweep has no column `{metric}`")
    curves: dict[Any, dict[Any, list[float]]] = {}
    keys = table.column(by) if by else [metric] * len(table)
    for key, at, value in zip(keys, table.column(x), table.column(metric), strict=True):
        if value is not None:
            curves.setdefault(key, {}).setdefault(at, []).append(value)
    given = table.units.get(metric, "")
    unit, size = LARGER.get(given, (given, 1.0))
    of = {
        str(key): {at: estimate(values) * (1.0 / size) for at, values in points.items()}
        for key, points in curves.items()
    }
    return estimates(of, x=x, y=f"{metric} ({unit})" if unit else metric, ax=ax)


def estimates(
    curves: Mapping[str, Mapping[Any, Estimate]], *, x: str, y: str, ax: Axes | None = None, **style: Any
) -> Axes:
    """Means with their intervals, a curve per name.

    Args:
        curves: estimates by where they stand along the axis, by name.
        x: what is along the axis, with its unit.
        y: what the estimates are of, with its unit.
        ax: where to draw, if not on axes of its own.
        style: what matplotlib's ``errorbar`` takes: ``linestyle``, ``marker``.
    """
    axes = _axes(ax)
    look: dict[str, Any] = {"marker": "o", "markersize": 4, "capsize": 3, "linewidth": 1.2} | style
    for (name, points), colour in zip(curves.items(), COLOURS, strict=False):
        means = [it.mean for it in points.values()]
        halves = [it.ci95 or 0.0 for it in points.values()]
        axes.errorbar(list(points), means, yerr=halves, **{"color": colour, "label": name} | look)
    _finish(axes, x, y, len(curves))
    return axes


def comparison(
    compared: Comparison, metric: str = "goodput_bit_s", *, ax: Axes | None = None
) -> Axes:
    """Means of variants with 95 % intervals (Student's t), a point per flow or link of each.

    Args:
        compared: what a comparison came to.
        metric: one of its JSON, of flows, links or whole runs: ``"goodput_bit_s"``, ``"p99_delay_ms"``,
            ``"jain_index"``.
        ax: where to draw, if not on axes of its own.

    Raises:
        InputError: if there is no such metric.
    """
    variants = compared.variants
    points: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for at, variant in enumerate(variants):
        places = [(metric, variant), *((part["name"], part) for part in variant["flows"] + variant["links"])]
        for name, place in places:
            if isinstance(place.get(metric), dict):
                points.setdefault(name, []).append((at, place[metric]))
    if not points:
        raise InputError(f"the comparison has no metric `{metric}`")
    given = unit_of(metric)
    unit, size = LARGER.get(given, (given, 1.0))
    axes = _axes(ax)
    for number, (name, estimates) in enumerate(points.items()):
        # Side by side, where there are several.
        beside = (number - (len(points) - 1) / 2) * 0.12
        axes.errorbar(
            [at + beside for at, _ in estimates],
            [it["mean"] / size for _, it in estimates],
            yerr=[(it["ci95"] or 0.0) / size for _, it in estimates],
            fmt="o", markersize=5, capsize=4, linewidth=1.4, label=name,
            color=COLOURS[number % len(COLOURS)],
        )  # fmt: skip
    axes.set_xticks(range(len(variants)), [variant["label"] for variant in variants])
    axes.set_xlim(-0.5, len(variants) - 0.5)
    _finish(axes, compared.data["varied"], f"{metric} ({unit})" if unit else metric, len(points))
    return axes


def cdf(
    table: Table, metric: str, *, by: str | None = None, ax: Axes | None = None
) -> Axes:
    """The empirical distribution of a column: the share of values up to each, a curve per value of ``by``.

    Args:
        table: of a run, a sweep or a fleet: ``r.series("rtt")``, ``r.transfers``, ``g.flows``.
        metric: a column of numbers: ``"rtt_s"``, ``"goodput_bit_s"``.
        by: another column, a curve per value of it.
        ax: where to draw, if not on axes of its own.

    Raises:
        InputError: if there is no such column, or it has no numbers.
    """
    samples, title = _samples(table, metric, by)
    axes = _axes(ax)
    for name, values in samples.items():
        colour = COLOURS[len(axes.get_lines()) % len(COLOURS)]
        ordered = sorted(values)
        shares = [(at + 1) / len(ordered) for at in range(len(ordered))]
        # From the smallest value on, where the share is zero just before it.
        axes.plot(
            [ordered[0], *ordered], [0.0, *shares],
            drawstyle="steps-post", linewidth=1.2, color=colour, label=name,
        )  # fmt: skip
    _finish(axes, title, "share of values", len(axes.get_lines()))
    axes.set_ylim(0, 1.02)
    return axes


def boxes(
    table: Table, metric: str, *, by: str | None = None, ax: Axes | None = None
) -> Axes:
    """Box plots of a column, a box per value of ``by``: quartiles and median, whiskers to the furthest value
    within 1.5 interquartile ranges of the box, and each value beyond them.

    Args:
        table: of a run, a sweep or a fleet: ``g.flows``, ``r.transfers``.
        metric: a column of numbers: ``"goodput_bit_s"``.
        by: another column, a box per value of it.
        ax: where to draw, if not on axes of its own.

    Raises:
        InputError: if there is no such column, or it has no numbers.
    """
    samples, title = _samples(table, metric, by)
    axes = _axes(ax)
    drawn = axes.boxplot(
        list(samples.values()), tick_labels=list(samples), patch_artist=True, widths=0.5,
        medianprops={"color": "black"}, flierprops={"marker": ".", "markersize": 4},
    )  # fmt: skip
    for number, box in enumerate(drawn["boxes"]):
        box.set(facecolor=COLOURS[number % len(COLOURS)], alpha=0.6)
    _finish(axes, by or "", title, 0)
    return axes


def _samples(table: Table, metric: str, by: str | None) -> tuple[dict[str, list[float]], str]:
    """The numbers of a column by the values of another, in what people read, and what the axis is called."""
    given = table.units.get(metric, unit_of(metric))
    unit, size = LARGER.get(given, (given, 1.0))
    values = table.column(metric)
    names = [metric] * len(values) if by is None else table.column(by)
    samples: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, (int, float)):
            samples.setdefault(str(name), []).append(value / size)
    if not samples:
        raise InputError(f"the column `{metric}` has no numbers")
    return samples, f"{metric} ({unit})" if unit else metric


def causes(
    diagnosis: Diagnosis | Fleet, *, connection: int | None = None, ax: Axes | None = None
) -> Axes:
    """Where the time went: a bar per cause, in seconds, the greatest at the top.

    Time that a remedy could give back is in one colour, what the path and the applications take in grey.
    What is less than a thousandth of the whole is left out.

    Args:
        diagnosis: what captures said, of one diagnosis or of a fleet.
        connection: only this one of a diagnosis, by its number; otherwise all together.
        ax: where to draw, if not on axes of its own.

    Raises:
        InputError: if there is no such connection, or a fleet is given with one.
    """
    seconds = _seconds(diagnosis, connection)
    whole = sum(seconds.values())
    shown = sorted((it for it in seconds.items() if it[1] >= whole / 1000), key=lambda it: it[1])
    axes = _axes(ax)
    colours = [COLOURS[6] if name in _NOTHING_TO_GAIN else COLOURS[1] for name, _ in shown]
    bars = axes.barh([name for name, _ in shown], [value for _, value in shown], color=colours, height=0.6)
    axes.bar_label(bars, [f"{value:.2f} s, {value / whole:.1%}" for _, value in shown], padding=4)
    axes.margins(x=0.2)
    _finish(axes, "time (s)", "", 0)
    axes.grid(visible=False, axis="y")
    return axes


def _seconds(diagnosis: Diagnosis | Fleet, connection: int | None) -> dict[str, float]:
    """Seconds by cause."""
    listed = diagnosis.causes
    if not isinstance(listed, list):
        if connection is not None:
            raise InputError("`connection` is for one diagnosis: in a fleet each capture has its own numbers")
        return {it["cause"]: it["seconds"] for it in diagnosis.summary.data["causes"]}  # type: ignore[union-attr]
    there = sorted({cause["connection"] for cause in listed})
    if connection is not None and connection not in there:
        raise InputError(f"no connection has the number {connection}; there are: {', '.join(map(str, there))}")
    seconds: dict[str, float] = {}
    for cause in listed:
        if connection in (None, cause["connection"]):
            seconds[cause["cause"]] = seconds.get(cause["cause"], 0.0) + cause["seconds"]
    return seconds


def hosts(fleet: Fleet, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Time that remedies could give back: a bar per host, in seconds, the worst at the top.

    Args:
        fleet: diagnoses of many captures.
        most: how many hosts, the worst ones.
        ax: where to draw, if not on axes of its own.
    """
    shown = fleet.summary.data["hosts"][:most][::-1]
    axes = _axes(ax)
    lost = [host["lost_s"] for host in shown]
    bars = axes.barh([host["host"] for host in shown], lost, color=COLOURS[1], height=0.6)
    axes.bar_label(bars, [f"{value:.2f} s" for value in lost], padding=4)
    axes.margins(x=0.2)
    _finish(axes, "time lost (s)", "", 0)
    axes.grid(visible=False, axis="y")
    return axes


def hours(fleet: Fleet, *, ax: Axes | None = None) -> Axes:
    """Time that remedies could give back: a bar per hour in which connections began (UTC), in seconds, with
    the six causes that cost most on top of each other; all others are one.

    Args:
        fleet: diagnoses of many captures.
        ax: where to draw, if not on axes of its own.
    """
    listed = fleet.summary.data["hours"]
    totals: dict[str, float] = {}
    for hour in listed:
        for cause, lost_s in hour["causes"].items():
            totals[cause] = totals.get(cause, 0.0) + lost_s
    ranked = sorted(totals, key=lambda cause: -totals[cause])
    axes = _axes(ax)
    at = [datetime.fromtimestamp(hour["hour_ns"] / 1e9, UTC) for hour in listed]
    below = [0.0] * len(listed)
    groups = [(cause, [cause]) for cause in ranked[:6]] + ([("others", ranked[6:])] if ranked[6:] else [])
    for (name, causes), colour in zip(groups, COLOURS, strict=False):
        lost = [sum(hour["causes"].get(cause, 0.0) for cause in causes) for hour in listed]
        # Widths of axes of time are in days.
        axes.bar(at, lost, bottom=below, width=0.8 / 24, align="edge", color=colour, label=name)  # type: ignore[arg-type]
        below = [one + other for one, other in zip(below, lost, strict=True)]
    _finish(axes, "hour (UTC)", "time lost (s)", len(groups))
    return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    return axes


def _finish(axes: Axes, x: str, y: str, curves: int) -> None:
    from matplotlib.lines import Line2D

    axes.set(xlabel=x, ylabel=y)
    axes.grid(visible=True, color="#e9eaec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if y:
        # Of everything that is drawn by now: limits that were set once stay.
        axes.autoscale(axis="y")
        axes.set_ylim(bottom=0)
    if curves > 1:
        # Points as small as those of a series could not be told apart.
        for handle in axes.legend(frameon=False).legend_handles:
            if isinstance(handle, Line2D) and handle.get_marker() == ".":
                handle.set_markersize(8)
