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
