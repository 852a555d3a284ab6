"""Claims beside what was measured, judged by one rule: that of the reproduced papers.

A claim *holds* if the whole 95 % interval of our mean lies inside what is allowed. Where the whole interval
lies outside, it *differs* if the claimed direction is confirmed and *fails* if the opposite one is, the
direction's own interval leaving zero out. Whatever is not told apart so is *undecided*, with an estimate of
how many runs would tell. The rule looks at numbers only, and every number that it looks at is in the claim.

>>> ours = estimate([2.1, 2.0, 2.2])
>>> allowed = value(2.0, 0.1, "stated beforehand: a tenth")
>>> faster = above("faster", ours, 1.0)
>>> claim = paper("table2.gain", "twice as fast", "times", ours, allowed, direction=faster)
>>> claim.verdict, claim.runs_to_decide
('undecided', 20)

Intervals need ``scipy``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ackord._estimates import Estimate, estimate, mean, ratio

__all__ = [
    "Allowed", "Claim", "Claimant", "Direction", "Estimate", "Verdict", "above", "at_least", "at_most",
    "below", "between", "directed", "estimate", "mean", "paper", "project", "ratio", "value", "within",
]  # fmt: skip

#: What became of a claim, best first.
Verdict = Literal["holds", "differs", "fails", "undecided"]
#: Whose claim it is.
Claimant = Literal["paper", "project"]

#: More runs than these nobody makes.
_MOST_RUNS = 1e15 - 1
_BY_ITSELF = "none claimed, a value by itself: more than nothing"


@dataclass(frozen=True)
class Allowed:
    """What a claim allows, in its unit: from ``low`` to ``high``; both are."""

    #: How it is said.
    kind: Literal["value", "at-least", "at-most", "between"]
    #: The least that is allowed.
    low: float
    #: The most that is allowed.
    high: float
    #: The claimed value, where there is one.
    value: float | None = None
    #: How far from it ours may be.
    tolerance: float | None = None
    #: Where the tolerance is from.
    tolerance_from: str | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Allowed:
        """The same from a claim's JSON."""
        match data["kind"]:
            case "value":
                return within(_number(data["value"]), _number(data["tolerance"]), data["tolerance_from"])
            case "at-least":
                return at_least(_number(data["low"]))
            case "at-most":
                return at_most(_number(data["high"]))
            case "between":
                return between(_number(data["low"]), _number(data["high"]))
            case kind:
                raise ValueError(f"`kind` is {kind!r}: value, at-least, at-most, between are allowed")

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        keys = {
            "value": ("value", "tolerance", "tolerance_from"),
            "at-least": ("low",),
            "at-most": ("high",),
            "between": ("low", "high"),
        }
        return {"kind": self.kind} | {key: _finite(getattr(self, key)) for key in keys[self.kind]}


def within(value: float, tolerance: float, tolerance_from: str) -> Allowed:
    """This value, give or take so much."""
    return Allowed("value", value - tolerance, value + tolerance, value, tolerance, tolerance_from)


def value(value: float, share: float, tolerance_from: str) -> Allowed:
    """This value, give or take a share of it."""
    return within(value, share * abs(value), tolerance_from)


def at_least(low: float) -> Allowed:
    """No less."""
    return Allowed("at-least", low, math.inf)


def at_most(high: float) -> Allowed:
    """No more."""
    return Allowed("at-most", -math.inf, high)


def between(low: float, high: float) -> Allowed:
    """No less and no more."""
    return Allowed("between", low, high)


@dataclass(frozen=True)
class Direction:
    """The claimed direction, as a measured number that is positive where it is as claimed."""

    #: What is compared with what: ``"above Reno"``.
    what: str
    #: Mean over the runs; positive as claimed, negative the other way.
    measured: float
    #: Half of its 95 % interval; absent for a single run, zero where no chance enters.
    ci95: float | None


def directed(what: str, as_claimed: Estimate) -> Direction:
    """Claimed: that this is positive."""
    return Direction(what, as_claimed.mean, as_claimed.ci95)


def above(what: str, measured: Estimate, than: float) -> Direction:
    """Claimed: more than this."""
    return directed(what, measured - than)


def below(what: str, measured: Estimate, than: float) -> Direction:
    """Claimed: less than this."""
    return directed(what, -(measured - than))


@dataclass(frozen=True)
class Claim:
    """One thing that is claimed, what was found, and all that the verdict is made of."""

    #: Stable name: ``"table1.512k.fairness"``.
    id: str
    #: Whose claim it is.
    by: Claimant
    #: What is claimed, in words.
    what: str
    #: Unit of the numbers; empty for plain ones.
    unit: str
    #: The paper's number, where it gives one.
    paper: float | None
    #: What is allowed.
    allowed: Allowed
    #: The claimed direction, and how far it is borne out.
    direction: Direction
    #: Ours: the mean over the runs.
    measured: float
    #: Half of its 95 % interval; absent for a single run, zero where no chance enters.
    ci95: float | None
    #: How many runs.
    runs: int
    #: Why, in measured figures.
    why: str = ""
    #: Sentences that would say why if our own figures did not contradict them.
    contradicted: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """What became of it."""
        return _judge(self)[0]

    @property
    def runs_to_decide(self) -> int | None:
        """How many runs would decide what is undecided; nothing where none would."""
        return _judge(self)[1]

    def since(self, condition: bool, sentence: str) -> Claim:
        """With a sentence that is true only under this condition, or told to be contradicted."""
        if not condition:
            return replace(self, contradicted=(*self.contradicted, sentence))
        why = self.why.rstrip()
        between = " " if why.endswith((".", ";", ":")) else ". "
        return replace(self, why=f"{why}{between}{sentence}" if why else sentence)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Claim:
        """A claim of ``claims.json``. Its verdict is judged anew."""
        direction = data["direction"]
        return cls(
            id=data["id"],
            by=data["by"],
            what=data["what"],
            unit=data["unit"],
            paper=data["paper"],
            allowed=Allowed.of(data["allowed"]),
            direction=Direction(direction["what"], _number(direction["measured"]), direction["ci95"]),
            measured=_number(data["measured"]),
            ci95=data["ci95"],
            runs=data["runs"],
            why=data["why"],
            contradicted=tuple(data.get("contradicted", ())),
        )

    def data(self) -> dict[str, Any]:
        """As ``claims.json`` has it."""
        direction = self.direction
        data = {
            "id": self.id,
            "by": self.by,
            "what": self.what,
            "unit": self.unit,
            "paper": _finite(self.paper),
            "allowed": self.allowed.data(),
            "direction": {
                "what": direction.what,
                "measured": _finite(direction.measured),
                "ci95": _finite(direction.ci95),
            },
            "measured": _finite(self.measured),
            "ci95": _finite(self.ci95),
            "runs": self.runs,
            "verdict": self.verdict,
            "runs_to_decide": self.runs_to_decide,
            "why": self.why,
        }
        return data | ({"contradicted": list(self.contradicted)} if self.contradicted else {})


def paper(
    id: str,
    what: str,
    unit: str,
    measured: Estimate,
    allowed: Allowed,
    *,
    direction: Direction | None = None,
    published: float | None = None,
    why: str = "",
) -> Claim:
    """A claim of the paper's.

    Args:
        id: a stable name: ``"table1.512k.fairness"``.
        what: what is claimed, in words.
        unit: of its numbers; empty for plain ones.
        measured: ours.
        allowed: what is allowed.
        direction: the claimed one. Without it the claim is of a value by itself, such as a baseline: that
            something was measured at all is as much as can be borne out.
        published: the paper's number, where it is not the allowed one.
        why: what else was measured, and nothing concluded from it; :meth:`Claim.since` concludes.
    """
    return Claim(
        id=id,
        by="paper",
        what=what,
        unit=unit,
        paper=allowed.value if published is None else published,
        allowed=allowed,
        direction=direction or directed(_BY_ITSELF, measured),
        measured=measured.mean,
        ci95=measured.ci95,
        runs=measured.runs,
        why=why,
    )


def project(
    id: str,
    what: str,
    unit: str,
    measured: Estimate,
    allowed: Allowed,
    *,
    direction: Direction | None = None,
    published: float | None = None,
    why: str = "",
) -> Claim:
    """A claim of one's own; arguments as for :func:`paper`."""
    claim = paper(id, what, unit, measured, allowed, direction=direction, published=published, why=why)
    return replace(claim, by="project")


def _judge(claim: Claim) -> tuple[Verdict, int | None]:
    edges = claim.allowed.low, claim.allowed.high
    half = claim.ci95
    if half is None or not math.isfinite(half) or not math.isfinite(claim.measured):
        return "undecided", None
    low, high = claim.measured - half, claim.measured + half
    if edges[0] <= low and high <= edges[1]:
        return "holds", None
    away, of_direction = claim.direction.measured, claim.direction.ci95
    told: Verdict | None = None
    if of_direction is not None and math.isfinite(away):
        told = "differs" if away > of_direction else "fails" if away <= -of_direction else None
    if not (high < edges[0] or low > edges[1]):
        to = [abs(claim.measured - edge) for edge in edges if not math.isnan(edge)]
        return "undecided", _enough(claim.runs, half, min(to, default=math.nan))
    if told is not None:
        return told, None
    of_direction = math.inf if of_direction is None else of_direction
    return "undecided", _enough(claim.runs, of_direction, abs(away))


def _enough(runs: int, half: float, distance: float) -> int | None:
    """How many runs bring a half width that ``runs`` leave down to this distance: it shrinks with their
    square root. Not modelled: that Student's t falls with more runs, too."""
    if distance == 0.0 or not math.isfinite(distance):
        return None
    times = half / distance
    needed = runs * (times * times)
    return math.ceil(needed) + 1 if needed <= _MOST_RUNS else None


def _number(written: float | None) -> float:
    """JSON has no other word than ``null`` for what is no finite number."""
    return math.nan if written is None else written


def _finite(number: Any) -> Any:
    return None if isinstance(number, float) and not math.isfinite(number) else number
