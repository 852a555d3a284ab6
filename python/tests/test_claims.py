"""The rule of claims: the same verdicts as those of `ackord paper`, and noise never decides."""

import doctest
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from ackord import claims
from ackord.claims import Allowed, Claim, Direction, Estimate, Verdict
from hypothesis import given
from hypothesis import strategies as st

PAPERS = Path(__file__).resolve().parents[2] / "papers"
KEPT = sorted(PAPERS.glob("*/claims.json"))

TWELVE = claims.within(12.0, 3.0, "")
AS_CLAIMED = Direction("more", 5.0, 1.0)
OPPOSITE = Direction("more", -5.0, 1.0)
OPEN = Direction("more", 0.5, 1.0)


def of(allowed: Allowed, direction: Direction, mean: float, half: float | None) -> Claim:
    measured = Estimate(10, mean, None, half, mean, mean)
    return claims.paper("one", "", "", measured, allowed, direction=direction)


def judged(allowed: Allowed, direction: Direction, mean: float, half: float | None) -> tuple[Verdict, int | None]:
    claim = of(allowed, direction, mean, half)
    return claim.verdict, claim.runs_to_decide


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.parent.name)
def test_every_kept_claim_has_the_verdict_that_the_command_gave_it(file: Path) -> None:
    kept = json.loads(file.read_text())
    assert kept, "a reproduction has claims"
    for data in kept:
        # Verdict and runs to decide are judged anew, everything else is written as it was read.
        assert Claim.of(data).data() == data


def test_all_six_reproductions_are_judged() -> None:
    verdicts = {claim["verdict"] for file in KEPT for claim in json.loads(file.read_text())}
    assert len(KEPT) == 6 and verdicts == {"holds", "differs", "fails", "undecided"}


def test_inside_holds_outside_is_told_by_the_direction() -> None:
    for direction in (AS_CLAIMED, OPPOSITE, OPEN):
        assert judged(TWELVE, direction, 12.0, 3.0) == ("holds", None)
    assert judged(TWELVE, AS_CLAIMED, 20.0, 4.9) == ("differs", None)
    assert judged(TWELVE, OPPOSITE, 4.0, 4.9) == ("fails", None)
    # Not a bit more than before is no direction that more runs would show.
    assert judged(TWELVE, Direction("more", 0.0, 0.0), 4.0, 0.0) == ("fails", None)


def test_the_runs_that_would_decide_bring_the_interval_down_to_the_distance() -> None:
    # From 1.0 of 10 runs to 0.5: four times as many, and one more.
    assert judged(claims.at_least(10.0), AS_CLAIMED, 10.5, 1.0) == ("undecided", 41)
    # Outside, and the direction is open: 0.5 with a half width of 1.
    assert judged(TWELVE, OPEN, 1.0, 1.0) == ("undecided", 41)
    # At the very edge none would do, and a single run decides nothing.
    assert judged(claims.at_least(10.0), AS_CLAIMED, 10.0, 1.0) == ("undecided", None)
    assert judged(TWELVE, AS_CLAIMED, 12.0, None) == ("undecided", None)


numbers = st.floats(-1e6, 1e6)
halves = st.floats(0.0, 1e6)
limits = st.one_of(
    st.builds(claims.at_least, numbers),
    st.builds(claims.at_most, numbers),
    st.builds(claims.within, numbers, halves, st.just("")),
    st.builds(lambda low, wide: claims.between(low, low + wide), numbers, halves),
)
directions = st.builds(Direction, st.just(""), numbers, st.one_of(st.none(), halves))


@given(limits, directions, numbers, halves, halves, halves)
def test_more_noise_leaves_a_verdict_or_makes_it_undecided(
    allowed: Allowed, direction: Direction, mean: float, half: float, more: float, more_of_direction: float
) -> None:
    calm = of(allowed, direction, mean, half)
    blurred = None if direction.ci95 is None else direction.ci95 + more_of_direction
    noisy = of(allowed, replace(direction, ci95=blurred), mean, half + more)
    assert noisy.verdict in (calm.verdict, "undecided")


@given(limits, directions, numbers, halves)
def test_a_verdict_is_the_same_for_the_opposite_of_everything(
    allowed: Allowed, direction: Direction, mean: float, half: float
) -> None:
    here = of(allowed, direction, mean, half)
    there = of(replace(allowed, low=-allowed.high, high=-allowed.low), direction, -mean, half)
    assert (there.verdict, there.runs_to_decide) == (here.verdict, here.runs_to_decide)


@given(limits, directions, numbers, halves)
def test_only_what_is_undecided_asks_for_more_runs(
    allowed: Allowed, direction: Direction, mean: float, half: float
) -> None:
    claim = of(allowed, direction, mean, half)
    assert claim.runs_to_decide is None or (claim.verdict == "undecided" and claim.runs_to_decide > 0)


@given(limits, directions, st.one_of(numbers, st.just(math.nan), st.just(math.inf)), st.one_of(st.none(), halves))
def test_a_claim_comes_back_from_its_json(
    allowed: Allowed, direction: Direction, mean: float, half: float | None
) -> None:
    claim = of(allowed, direction, mean, half).since(half is None, "So it is.")
    data = json.loads(json.dumps(claim.data(), allow_nan=False))
    assert Claim.of(data).data() == data == claim.data()


def test_the_example_of_the_module_is_right() -> None:
    assert doctest.testmod(claims) == (0, 5)


def test_a_sentence_is_said_only_if_it_is_true() -> None:
    claim = replace(of(TWELVE, OPEN, 12.0, 0.5), why="twice as many").since(True, "So it is.").since(False, "Never.")
    assert claim.why == "twice as many. So it is." and claim.contradicted == ("Never.",)
    assert claim.data()["contradicted"] == ["Never."]


def test_without_a_direction_a_value_differs_on_either_side_and_never_fails() -> None:
    measured = Estimate(10, 12.0, 0.5, 0.5, 11.0, 13.0)
    for claimed, verdict in {8.0: "differs", 12.0: "holds", 16.0: "differs"}.items():
        claim = claims.paper("one", "", "", measured, claims.value(claimed, 0.1, "a tenth"))
        assert (claim.verdict, claim.paper) == (verdict, claimed)


def test_intervals_follow_their_means() -> None:
    two = claims.estimate([1.0, 3.0])
    assert two.mean == 2.0 and two.ci95 == pytest.approx(12.7062, rel=1e-5)
    assert (two.ci95, (two + 1.0).mean, (two - 1.0).min) == ((two + 1.0).ci95, 3.0, 0.0)
    assert ((-2.0 * two).ci95, (-2.0 * two).min, (-2.0 * two).max) == (2.0 * (two.ci95 or 0), -6.0, -2.0)
    assert abs(-two) == two and abs(two) == two
    exact = Estimate.exact(4.0)
    assert ((two / exact).ci95, (two - exact).ci95) == ((two.ci95 or 0) / 4.0, two.ci95)
    assert (two - two).ci95 == math.sqrt(2.0 * (two.ci95 or 0) * (two.ci95 or 0))
    assert claims.estimate([7.0]) == Estimate(1, 7.0, None, None, 7.0, 7.0)


def test_a_ratio_of_pairs_knows_what_pairs_have_in_common() -> None:
    above, below = [2.0, 4.0, 8.0], [1.0, 2.0, 4.0]
    paired = claims.ratio(above, below)
    apart = claims.estimate(above) / claims.estimate(below)
    assert (paired.mean, paired.ci95) == (2.0, 0.0)
    assert apart.mean == 2.0 and apart.ci95 is not None and apart.ci95 > 3.0
    for nothing in ([], [1.0]):
        with pytest.raises(ValueError, match="no pairs"):
            claims.ratio(nothing, below)
    with pytest.raises(ValueError, match="a value at least"):
        claims.estimate([])


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=20))
def test_the_interval_shrinks_when_the_same_spread_is_seen_more_often(values: list[float]) -> None:
    once, twice = claims.estimate(values), claims.estimate(values * 2)
    assert once.ci95 is not None and twice.ci95 is not None
    assert twice.ci95 < once.ci95 or (once.std_dev or 0.0) < 1e-9
