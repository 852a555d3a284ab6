"""Knobs of classes in Python: set, refused, listed and swept like those of the mechanisms in Rust."""

from pathlib import Path

import ackord as ak
import pytest
from ackord.scenario import Value

KEY = "flows.download.tcp.congestion"
SHORT: dict[str, Value] = {"duration": "3 s"}


class Knobbed(ak.CongestionControl, name="knobbed"):
    """Gives way as its knob says.

    Nothing else.
    """

    beta: float = ak.knob(0.7, low=0.1, high=0.95, doc="What is left of cwnd after a loss", source="RFC 9438")
    wait: float = ak.knob("20 ms", low="1 ms", high="1 s")
    buffer: int = ak.knob("64 kB")
    rate: int = ak.knob("10 Mbit/s")
    share: float = ak.knob("5 %")
    segments: int = ak.knob(3, low=1, high=10, unit="segments")
    mode: str = ak.knob("slow", choices=["slow", "fast"])
    gentle: bool = ak.knob(True)

    values: tuple[object, ...] = ()

    def __init__(self) -> None:
        Knobbed.values = (
            self.beta, self.wait, self.buffer, self.rate, self.share, self.segments, self.mode, self.gentle,
        )  # fmt: skip

    def on_established(self, now: float, sizes: ak.Established) -> None:
        self.smss = sizes.smss

    def on_ack(self, now: float, ack: ak.AckSample) -> None:
        if ack.cwnd_limited:
            self.cwnd += self.smss * self.smss / self.cwnd

    def on_congestion(self, now: float, event: ak.CongestionEvent) -> None:
        match event:
            case ak.Loss() | ak.Mark() | ak.Timeout():
                self.ssthresh = self.cwnd = max(self.cwnd * self.beta, self.smss)
            case ak.Undone() | ak.Restart():
                self.cwnd = event.cwnd


DEFAULTS = (0.7, 0.02, 64_000, 10_000_000, 0.05, 3, "slow", True)


def test_objects_have_the_values_of_the_scenario_before_they_are_initialised() -> None:
    ak.run("lossy-wifi", set=SHORT | {KEY: "knobbed"})
    assert Knobbed.values == DEFAULTS
    ak.run("lossy-wifi", set=SHORT | {KEY: "knobbed", f"{KEY}.beta": 0.5, f"{KEY}.wait": "30 ms", f"{KEY}.gentle": False})
    assert Knobbed.values == (0.5, 0.03, *DEFAULTS[2:7], False)
    table: Value = {"kind": "knobbed", "buffer": "1 MB", "rate": "1 Gbit/s", "share": "7 %", "segments": 7, "mode": "fast"}
    ak.run("lossy-wifi", set=SHORT | {KEY: table})
    assert Knobbed.values == (*DEFAULTS[:2], 1_000_000, 1_000_000_000, 0.07, 7, "fast", True)


@pytest.mark.parametrize(
    ("knob", "value", "why"),
    [
        ("beta", 2.0, "`2` is out of range: 0.1 to 0.95"),
        ("wait", "2 s", "`2 s` is out of range: 1 ms to 1 s"),
        ("wait", 3, "`3` has no unit"),
        ("segments", 1.5, "`1.5` is not a whole number of segments"),
        ("mode", "medium", "`medium` is not one of slow, fast"),
        ("gentle", "perhaps", "`perhaps` is not one of on, off"),
        ("bta", 0.5, "did you mean `beta`?"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(knob: str, value: Value, why: str) -> None:
    with pytest.raises(ak.InputError) as raised:
        ak.run("lossy-wifi", set=SHORT | {KEY: {"kind": "knobbed", knob: value}})
    assert why in str(raised.value)
    assert raised.value.paths == (f"{KEY}.{knob}",)


def test_the_nearest_name_may_be_that_of_a_class() -> None:
    with pytest.raises(ak.InputError, match="did you mean `knobbed`"):
        ak.run("lossy-wifi", set={KEY: "knobed"})


def test_knobs_are_in_the_canonical_form_and_the_hash() -> None:
    hashes = set()
    for beta in (0.5, 0.6):
        s = ak.Scenario.open("lossy-wifi").check({KEY: {"kind": "knobbed", "beta": beta}})
        assert f"beta = {beta}" in s.canonical()
        hashes.add(s.hash)
    assert len(hashes) == 2


def test_mechanisms_lists_classes_with_their_knobs() -> None:
    (listed,) = ak.mechanisms("knobbed")
    assert (listed.family, listed.summary) == ("congestion", "Gives way as its knob says")
    beta = listed.knobs[0]
    assert (beta.name, beta.range, beta.default, beta.source) == ("beta", "0.1 to 0.95", "0.7", "RFC 9438")
    assert beta.doc == "What is left of cwnd after a loss"
    assert "knobbed: Gives way as its knob says." in str(listed) and "1 to 10 segments" in str(listed)
    assert {"reno", "cubic", "knobbed"} <= {mechanism.name for mechanism in ak.mechanisms("congestion")}
    with pytest.raises(ak.InputError, match="did you mean `vegas`"):
        ak.mechanisms("vegass")


@pytest.mark.parametrize("on", [None, "processes"])
def test_knobs_are_axes_of_sweeps(on: str | None) -> None:
    grid: dict[str, list[Value]] = {f"{KEY}.beta": [0.2, 0.9]}
    swept = ak.sweep("lossy-wifi", seeds=3, grid=grid, set={"duration": "10 s", KEY: "knobbed"}, on=on)
    assert swept.runs.column("error") == [None] * 6
    cwnd = swept.flows.column("cwnd_mean_bytes")
    assert swept.flows.column(f"{KEY}.beta") == [0.2] * 3 + [0.9] * 3
    assert all(less < more for less, more in zip(cwnd[:3], cwnd[3:], strict=True))


def test_comparisons_vary_knobs() -> None:
    compared = ak.compare("lossy-wifi", f"{KEY}.beta", [0.2, 0.9], set={"duration": "10 s", KEY: "knobbed"})
    means = [variant["flows"][0]["cwnd_mean_bytes"]["mean"] for variant in compared.variants]
    assert means[0] < means[1]


@pytest.mark.parametrize(
    ("knob", "why"),
    [
        (ak.knob(2.0, low=0.0, high=1.0), "the default of `k` is not valid"),
        (ak.knob("soon"), "`soon` is no quantity with its unit"),
        (ak.knob("soon", choices=["now", "later"]), "`soon` is not one of now, later"),
        (ak.knob(-1), "not a whole number"),
        (ak.knob(float("inf")), "no value"),
        (ak.knob("5 %", low="1 %"), "0 % to 100 %"),
        (ak.knob("20 ms", low="5 bytes"), "knob `k`"),
        (ak.knob([1]), "the default of a knob is"),  # type: ignore[arg-type]
        (ak.knob(True, low=0), "are for numbers"),
    ],
)
def test_declarations_that_cannot_be_are_refused(knob: object, why: str) -> None:
    with pytest.raises(ak.InputError, match=why):
        type("Wrong", (ak.Queue,), {"k": knob}, name="wrong-knob")


@pytest.mark.parametrize("name", ["rate", "drop", "enqueue", "kind", "K"])
def test_names_that_an_algorithm_needs_are_no_knobs(name: str) -> None:
    with pytest.raises(ak.InputError, match=f"`{name}`"):
        type("Wrong", (ak.Queue,), {name: ak.knob(1.0)}, name="wrong-knob")


def test_a_subclass_has_the_knobs_of_its_bases_but_for_those_it_fixes() -> None:
    class Fixed(Knobbed, name="knobbed-fixed"):
        beta = 0.6
        extra: float = ak.knob(1.0)

    names = [knob.name for knob in ak.mechanisms("knobbed-fixed")[0].knobs]
    assert "beta" not in names and names[-1] == "extra" and "wait" in names
    ak.run("lossy-wifi", set=SHORT | {KEY: "knobbed-fixed"})
    assert Knobbed.values[0] == 0.6


def test_an_object_made_by_hand_has_the_defaults(tmp_path: Path) -> None:
    assert Knobbed().wait == 0.02 and Knobbed.values == DEFAULTS
