"""Plots: what is drawn is what the tables have."""

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


def test_means_of_a_sweep_have_their_intervals() -> None:
    key = "links.bottleneck.queue.limit"
    sweep = ak.sweep(
        "reno-against-vegas", grid={key: ["20 packets", "50 packets"]}, seeds=3, set={"duration": "5 s"}
    )
    axes = plot.means(sweep, "goodput_bit_s", x=key, by="flow")
    assert len(axes.containers) == 2
    mean, half = plot.mean_and_half_width([1.0, 2.0, 3.0])
    # Student's t with two degrees of freedom: 4.303 times the deviation over the root of three.
    assert mean == 2.0 and half == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    with pytest.raises(ak.InputError, match="no column `nothing`"):
        plot.means(sweep, "nothing", x=key)
