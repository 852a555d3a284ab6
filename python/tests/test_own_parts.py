"""Traffic, loss models, recoveries and middleboxes in Python: as those in Rust, and what they get wrong."""

import math
from collections.abc import Callable
from pathlib import Path

import ackord as ak
import in_python  # noqa: F401  registers the classes
import pytest
from ackord.scenario import Value
from test_algorithms import the_same

#: A download over a wireless link behind a router.
BOX = "fading-access-point"
SHORT: dict[str, Value] = {"duration": "10 s"}


def run(scenario: str, changes: dict[str, Value], **rest: object) -> ak.Result:
    return ak.run(scenario, set=SHORT | changes, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize("scenario", ["lossy-wifi", "dumbbell"])
def test_a_recovery_in_python_does_what_it_does_in_rust(scenario: str, tmp_path: Path) -> None:
    one = the_same(scenario, "flows.*.tcp.recovery", ("newreno", "newreno-in-python"), tmp_path)
    assert max(one.flows.column("fast_recoveries")) > 1


def test_bulk_traffic_in_python_is_that_in_rust(tmp_path: Path) -> None:
    kinds = ({"kind": "bulk", "size": "5 MB"}, {"kind": "bulk-in-python", "total": "5 MB"})
    the_same("lossy-wifi", "flows.download.traffic", kinds, tmp_path)


def test_transfers_in_python_are_those_in_rust(tmp_path: Path) -> None:
    kinds = ({"kind": "transfers", "size": "20 kB", "gap": "300 ms"}, "transfers-in-python")
    one = the_same("lossy-wifi", "flows.download.traffic", kinds, tmp_path)
    assert one.flows.column("transfers_completed")[0] > 100


def test_an_inline_middlebox_that_forwards_everything_changes_nothing(tmp_path: Path) -> None:
    class Through(ak.Middlebox, name="through"):
        def handle(self, now: float, packet: ak.Datagram, heading: str) -> bool:
            return True

    class Watching(ak.Middlebox, name="watching"):
        def observe(self, now: float, packet: ak.Datagram, heading: str) -> None:
            pass

    logs = []
    for box in ("none", "through", "watching"):
        result = run(BOX, {"proxies.base.proxy": box}, events=tmp_path / box)
        logs.append((tmp_path / box).read_bytes())
    assert logs[0].count(b"\n") > 500
    assert logs[0] == logs[1] == logs[2]
    assert result.proxies.column("seen")[0] > 500


def test_a_middlebox_that_rewrites_the_window_limits_the_rate() -> None:
    class Narrow(ak.Middlebox, name="narrow"):
        """Caps the window that receivers announce."""

        window: int = ak.knob(8, low=1, high=65535, unit="units of the scaled window", doc="The largest")

        def handle(self, now: float, packet: ak.Datagram, heading: str) -> bool | ak.Datagram:
            if packet.syn or packet.window is None or packet.window <= self.window:
                return True
            return packet.replace(window=self.window)

    still: dict[str, Value] = {"links.air.loss": "none", "tcp.window_scaling": True}
    free = run(BOX, still)
    capped = run(BOX, still | {"proxies.base.proxy": {"kind": "narrow", "window": 8}})
    wide = run(BOX, still | {"proxies.base.proxy": {"kind": "narrow", "window": 65535}})
    rate = [result.flows.column("goodput_bit_s")[0] for result in (free, capped, wide)]
    assert rate[1] < rate[0] / 2
    assert rate[2] == rate[0]


def test_packets_that_a_middlebox_holds_arrive_later() -> None:
    class Delay(ak.Middlebox, name="delay"):
        """Holds each packet towards the mobile host for a while."""

        by: float = ak.knob("30 ms", high="1 s", doc="For how long")

        def __init__(self) -> None:
            self.held: list[tuple[float, ak.Datagram]] = []

        def handle(self, now: float, packet: ak.Datagram, heading: str) -> bool:
            if heading == "fixed":
                return True
            self.held.append((now + self.by, packet))
            self.deadline = self.held[0][0]
            return False

        def on_deadline(self, now: float) -> None:
            # A nanosecond: times are whole ones inside.
            while self.held and self.held[0][0] <= now + 1e-9:
                self.release(self.held.pop(0)[1])
            if self.held:
                self.deadline = self.held[0][0]

    box = "proxies.base.proxy"
    shortest = [
        run(BOX, {box: kind}).flows.column("rtt_min_ms")[0] for kind in ("none", "delay", {"kind": "delay", "by": "50 ms"})
    ]
    assert shortest[1] - shortest[0] == pytest.approx(30, abs=0.1)
    assert shortest[2] - shortest[0] == pytest.approx(50, abs=0.1)


def test_losses_in_python_are_as_many_as_declared_and_follow_the_seed(tmp_path: Path) -> None:
    drawn: list[list[bool]] = []

    class Bernoulli(ak.LossModel, name="bernoulli"):
        """Loses each packet by itself."""

        per_packet: float = ak.knob("1 %", doc="The probability")

        def __init__(self) -> None:
            self.fates: list[bool] = []
            drawn.append(self.fates)

        def loses(self, now: float, size: int) -> bool:
            self.fates.append(self.random.random() < self.per_packet)
            return self.fates[-1]

    def dropped(loss: Value, seed: int) -> int:
        run("lossy-wifi", {"links.wifi.loss": loss}, seed=seed, events=tmp_path / "events")
        return (tmp_path / "events").read_text().count('"reason":"RandomLoss"')

    own: Value = {"kind": "bernoulli", "per_packet": "3 %"}
    assert dropped(own, 5) == sum(map(sum, drawn)) > 0
    again, drawn[:] = list(drawn), []
    dropped(own, 5)
    assert drawn == again
    drawn.clear()
    dropped(own, 6)
    assert drawn != again
    # Data and acknowledgments, of which each direction draws its own.
    fates = [fate for fates in drawn for fate in fates]
    assert len(drawn) == 2 and drawn[0] != drawn[1]
    spread = math.sqrt(len(fates) * 0.03 * 0.97)
    assert abs(sum(fates) - 0.03 * len(fates)) < 4 * spread
    # As the one in Rust, within what both vary.
    kinds: list[Value] = [{"kind": "random", "per_packet": "3 %"}, own]
    goodput = ak.sweep("lossy-wifi", seeds=20, grid={"links.wifi.loss": kinds}, set=SHORT).flows.column("goodput_bit_s")
    parts = (goodput[:20], goodput[20:])
    means = [sum(part) / 20 for part in parts]
    squares = sum((it - mean) ** 2 for part, mean in zip(parts, means, strict=True) for it in part)
    assert abs(means[0] - means[1]) < 4 * math.sqrt(squares / 19 / 20)


def answering(base: type, method: str, answer: object) -> type:
    """A class of which one method answers something."""
    return type("Wrong", (base,), {method: lambda *_: answer}, name="wrong")


def test_answers_that_cannot_be_are_refused_with_what_is_allowed() -> None:
    cases: list[tuple[type, str, object, str, dict[str, Value], str, str]] = [
        (ak.LossModel, "loses", 3, "lossy-wifi", {"links.wifi.loss": "wrong"}, "`loses` answered 3", "link `wifi.reverse`"),
        (ak.Traffic, "step", ak.Write(10**9), "lossy-wifi", {"flows.download.traffic": "wrong"}, "Write", "download"),
        (ak.Traffic, "step", 12, "lossy-wifi", {"flows.download.traffic": "wrong"}, "None to wait", "download"),
        (ak.Middlebox, "handle", None, BOX, {"proxies.base.proxy": "wrong"}, "True to forward", "middlebox `base`"),
        (ak.Recovery, "on_enter", None, "lossy-wifi", {"flows.*.tcp.recovery": "wrong"}, "no `", "download"),
    ]
    for base, method, answer, scenario, change, why, whose in cases:
        answering(base, method, answer)
        with pytest.raises(ak.AlgorithmError, match=why) as raised:
            run(scenario, change)
        assert whose in raised.value.whose, base


def test_a_middlebox_cannot_release_what_it_does_not_hold() -> None:
    class Twice(ak.Middlebox, name="twice-released"):
        def handle(self, now: float, packet: ak.Datagram, heading: str) -> bool:
            self.release(packet)
            return True

    with pytest.raises(ak.AlgorithmError, match="does not hold"):
        run(BOX, {"proxies.base.proxy": "twice-released"})


@pytest.mark.parametrize("methods", [(), ("observe", "handle")])
def test_a_middlebox_observes_or_handles(methods: tuple[str, ...]) -> None:
    body: dict[str, Callable[..., bool]] = {method: lambda *_: True for method in methods}
    with pytest.raises(ak.InputError, match="one of them is allowed"):
        type("Both", (ak.Middlebox,), body, name="both")


def test_traffic_in_python_is_refused_at_kernels() -> None:
    change: dict[str, Value] = {"flows.download.traffic": "bulk-in-python", "hosts.station.kernel": "6.12"}
    with pytest.raises(ak.InputError, match="flow `download` is a class in Python"):
        run("lossy-wifi", change)
    with pytest.raises(ak.InputError, match="flow `download` is a class in Python"):
        ak.live_run("lossy-wifi", set={"flows.download.traffic": "bulk-in-python"})
