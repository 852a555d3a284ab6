"""Goodput against tau and against alpha as plots: the paper's figures, and who else there is, few curves at
a time."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")

from ackord import plot
from curves import CAPACITY_MBIT_S, Measured, base_rtt_s, mathis_mbit_s, ns2_band
from matplotlib import pyplot
from matplotlib.axes import Axes
from policies import BESIDE, BY_NAME
from runs import FIGURES, FORMS, TAUS

GOODPUT = "goodput (Mbit/s)"
GREY = plot.COLOURS[6]

#: Plots by the ending of their file's name: what is above, and whose curves.
GROUPS = {
    "paper": (
        "TCP-DAD and TCP-DAD-SD beside the senders they are to improve",
        ("reno", "newreno", "sack", "dad", "dad-sd", "dad-sd-literal"),
    ),
    "floor": (
        "How low the threshold may fall: to 3, or as low as it is led",
        ("newreno", "dad", "dad-sd", "dad-no-floor", "dad-sd-no-floor"),
    ),
    "thresholds": (
        "DAD-SD beside a fixed threshold",
        ("newreno", "fixed-10", "fixed-30", "dad-sd", "dad-sd-literal", "practical"),
    ),
    "literature": (
        "Other answers to reordering",
        ("dad-sd", "ba-ewma", "ncr", "dcr", "pr", "eifel"),
    ),
    "modern": (
        "Practical DAD-SD, RACK-TLP and fixed(30)",
        ("fixed-30-full", "practical-full", "rack", "fixed-30-linux", "practical-linux", "rack-linux"),
    ),
    "bounds": (
        "What the 0.1 % loss alone allows a Reno sender, and what is reached",
        ("newreno", "dad-sd", "practical", "practical-full"),
    ),
}  # fmt: skip


def draw(measured: Measured, folder: Path) -> None:
    """Writes every plot into the folder, as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    for interval, figure in FIGURES.items():
        for name in GROUPS:
            save(group(measured, interval, name), folder / f"fig-{figure}-{name}.svg")
        save(ns2(measured, interval), folder / f"ns-2-{interval}.svg")
    for form in FORMS:
        save(alpha(measured, form), folder / f"alpha-{form}.svg")


def group(measured: Measured, interval: int, name: str) -> Axes:
    """Some policies of a figure against tau."""
    title, policies = GROUPS[name]
    axes = plot.estimates(
        {BY_NAME[policy].full_label: measured.curves[policy, interval].goodput for policy in policies},
        x="tau",
        y=GOODPUT,
    )
    axes.axhline(CAPACITY_MBIT_S, color=GREY, linestyle="--", linewidth=1, label="payload capacity")
    if name == "bounds":
        taus = [tenths / 10 for tenths in TAUS]
        loss_alone = [min(mathis_mbit_s(base_rtt_s(tau)), CAPACITY_MBIT_S) for tau in taus]
        axes.plot(taus, loss_alone, color=GREY, linestyle=":", label="Mathis, RTT without queue")
    axes.set_title(f"Fig. {FIGURES[interval]}: {title} (every {interval} ms)", fontsize="medium")
    axes.legend(frameon=False, fontsize="small")
    return axes


def ns2(measured: Measured, interval: int) -> Axes:
    """ns-2's curves beside ours: points are ns-2's, lines are ours."""
    _, band = ns2_band()
    label = {sender: BY_NAME[policy].label for policy, sender in BESIDE.items()}
    ours = {
        label[sender]: measured.curves[policy, interval].goodput for policy, sender in BESIDE.items()
    }
    theirs = {
        f"{label[sender]}, ns-2": {
            tau: it for (name, every, tau), it in band.items() if (name, every) == (sender, interval)
        }
        for sender in BESIDE.values()
    }
    axes = plot.estimates(ours, x="tau", y=GOODPUT, marker="")
    plot.estimates(theirs, x="tau", y=GOODPUT, ax=axes, linestyle="none")
    axes.set_yscale("log")
    axes.autoscale(axis="y")
    axes.set_title(f"ns-2 (points) and ours (lines), every {interval} ms", fontsize="medium")
    axes.legend(frameon=False, fontsize="small", ncols=2)
    return axes


def alpha(measured: Measured, form: str) -> Axes:
    """Goodput of a form of DAD-SD against alpha: a colour per tau, dashed where the delay changes slowly."""
    axes: Axes | None = None
    for interval, style in zip(FIGURES, ({"marker": "o"}, {"marker": "s", "linestyle": "--"}), strict=True):
        curves = {
            f"tau {curve.tau:g}, {interval} ms": curve.goodput
            for curve in measured.alphas
            if (curve.policy.name, curve.interval_ms) == (form, interval)
        }
        axes = plot.estimates(curves, x="alpha", y=GOODPUT, ax=axes, **style)
    assert axes is not None
    axes.set_title(f"{BY_NAME[form].label}: goodput against alpha (95 % intervals)", fontsize="medium")
    axes.legend(frameon=False, fontsize="small", ncols=2)
    return axes


def save(axes: Axes, file: Path) -> None:
    figure = axes.get_figure()
    assert figure is not None
    figure.savefig(file)  # type: ignore[union-attr, unused-ignore]
    pyplot.close("all")
