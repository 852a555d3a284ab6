"""Plots: what is drawn is what the tables have."""

from pathlib import Path

import ackord as ak
import matplotlib
import pytest
from ackord import plot

matplotlib.use("Agg")


def test_a_curve_per_flow_holds_to_the_end_of_the_run() -> None:
    result = ak.run("reno-against-vegas", set={"duration": "10 s"})
    axes = plot.series(result, "cwnd")
    reno, vegas = axes.get_lines()
    assert [reno.get_label(), vegas.get_label()] == ["reno", "vegas"]
    assert [reno.get_color(), vegas.get_color()] == list(plot.COLOURS[:2])
    assert reno.get_xdata()[-1] == vegas.get_xdata()[-1] == result.duration_s
    assert axes.get_ylabel() == "cwnd (kB)"
    with pytest.raises(ak.InputError, match="there are: reno, vegas"):
        plot.series(result, "cwnd", of="cubic")


def test_results_on_the_same_axes_have_names_and_colours_of_their_own_and_room() -> None:
    change = {"duration": "5 s", "links.bottleneck.queue.limit": "5 packets"}
    short, long = (ak.run("reno-against-vegas", set=it) for it in (change, {"duration": "5 s"}))
    axes = plot.series(short, "rtt", of="reno", label="short")
    plot.series(long, "rtt", of="reno", label="long", ax=axes)
    first, second = axes.get_lines()
    assert [first.get_label(), second.get_label()] == ["short", "long"]
    assert [first.get_color(), second.get_color()] == list(plot.COLOURS[:2])
    assert max(second.get_ydata()) > max(first.get_ydata())
    assert axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > max(second.get_ydata())


def test_means_of_a_sweep_have_their_intervals() -> None:
    key = "links.bottleneck.queue.limit"
    sweep = ak.sweep(
        "reno-against-vegas", grid={key: ["20 packets", "50 packets"]}, seeds=3, set={"duration": "5 s"}
    )
    axes = plot.means(sweep, "goodput_bit_s", x=key, by="flow")
    assert len(axes.containers) == 2
    with pytest.raises(ak.InputError, match="no column `nothing`"):
        plot.means(sweep, "nothing", x=key)


def test_variants_of_a_comparison_stand_with_their_intervals() -> None:
    compared = ak.compare(
        "reno-against-vegas", "links.bottleneck.queue.limit", ["20 packets", "50 packets"], runs=3,
        set={"duration": "5 s"},
    )  # fmt: skip
    axes = plot.comparison(compared)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["20 packets", "50 packets"]
    assert [bars.get_label() for bars in axes.containers] == ["reno", "vegas"]
    assert axes.get_ylabel() == "goodput_bit_s (Mbit/s)"
    drawn = axes.containers[0].lines[0].get_ydata()  # type: ignore[attr-defined]
    flow = compared.data["variants"][0]["flows"][0]
    assert drawn[0] == pytest.approx(flow["goodput_bit_s"]["mean"] / 1e6)
    assert plot.comparison(compared, "jain_index").get_ylabel() == "jain_index"
    with pytest.raises(ak.InputError, match="no metric `nothing`"):
        plot.comparison(compared, "nothing")


def test_causes_are_bars_with_the_greatest_at_the_top(tmp_path: Path) -> None:
    ak.run("lossy-wifi", set={"duration": "5 s"}, pcap=tmp_path)
    found = ak.diagnose(next(tmp_path.glob("*at-server*")))
    axes = plot.causes(found)
    assert axes.get_yticklabels()[-1].get_text() == found.causes[0]["cause"] == "random-loss"
    assert axes.patches[-1].get_width() == pytest.approx(found.causes[0]["seconds"])  # type: ignore[attr-defined]
    with pytest.raises(ak.InputError, match="there are: 0"):
        plot.causes(found, connection=7)


def test_a_distribution_rises_from_zero_to_one_with_a_curve_per_value() -> None:
    result = ak.run("reno-against-vegas", set={"duration": "10 s"})
    table = result.series("rtt")
    axes = plot.cdf(table, "rtt_s", by="flow")
    reno, vegas = axes.get_lines()
    assert [reno.get_label(), vegas.get_label()] == ["reno", "vegas"]
    values = sorted(row["rtt_s"] * 1e3 for row in table if row["flow"] == "reno")
    assert list(reno.get_xdata()) == pytest.approx([values[0], *values])
    shares = list(reno.get_ydata())
    assert shares[0] == 0.0 and shares[-1] == 1.0 and shares == sorted(shares)
    assert shares[1 + len(values) // 2] == pytest.approx(0.5, abs=1 / len(values))
    assert axes.get_xlabel() == "rtt_s (ms)"
    with pytest.raises(ak.InputError, match="did you mean `rtt_s`"):
        plot.cdf(table, "rtt")
    with pytest.raises(ak.InputError, match="has no numbers"):
        plot.cdf(table, "flow")


def test_boxes_have_the_median_of_each_value() -> None:
    key = "links.bottleneck.queue.limit"
    sweep = ak.sweep(
        "reno-against-vegas", grid={key: ["20 packets", "50 packets"]}, seeds=5, set={"duration": "5 s"}
    )
    axes = plot.boxes(sweep.flows, "goodput_bit_s", by=key)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["20 packets", "50 packets"]
    few = sorted(row["goodput_bit_s"] / 1e6 for row in sweep.flows if row[key] == "20 packets")
    # Horizontal lines: caps of whiskers, and medians.
    drawn = [list(line.get_ydata()) for line in axes.get_lines()]
    assert pytest.approx([(few[4] + few[5]) / 2] * 2) in drawn
    assert axes.get_ylabel() == "goodput_bit_s (Mbit/s)"
