"""Means over runs with their 95 % intervals, and how they are combined.

Sums run in the order given, as those of ``ackord paper`` do, so that the same runs give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import add
from typing import Self

__all__ = ["Estimate", "estimate", "mean", "ratio"]


@dataclass(frozen=True)
class Estimate:
    """A mean over runs with what is known of its spread.

    A constant may be added to it and it may be multiplied by one. Differences and quotients of two
    estimates are those of independent runs, quotients to first order; for runs that belong together pair
    by pair there is :func:`ratio`.
    """

    #: How many runs.
    runs: int
    #: The arithmetic mean.
    mean: float
    #: Sample standard deviation; absent for a single run.
    std_dev: float | None
    #: Half width of the 95 % interval of the mean by Student's t; absent for a single run.
    ci95: float | None
    #: The smallest.
    min: float
    #: The largest.
    max: float

    @classmethod
    def exact(cls, number: float) -> Self:
        """A number that no chance enters."""
        return cls(1, number, 0.0, 0.0, number, number)

    def __add__(self, constant: float) -> Estimate:
        return replace(self, mean=self.mean + constant, min=self.min + constant, max=self.max + constant)

    def __mul__(self, factor: float) -> Estimate:
        low, high = sorted((self.min * factor, self.max * factor))
        size = abs(factor)
        return Estimate(
            self.runs,
            self.mean * factor,
            None if self.std_dev is None else self.std_dev * size,
            None if self.ci95 is None else self.ci95 * size,
            low,
            high,
        )

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Estimate:
        return self * -1.0

    def __abs__(self) -> Estimate:
        """How large it is. The sign is that of the mean: single values may become negative."""
        return -self if self.mean < 0.0 else self

    def __sub__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            return self + -other
        return self._beside(other, self.mean - other.mean, (1.0, 1.0))

    def __truediv__(self, other: Estimate) -> Estimate:
        quotient = self.mean / other.mean
        return self._beside(other, quotient, (1.0 / other.mean, quotient / other.mean))

    def _beside(self, other: Estimate, mean: float, by: tuple[float, float]) -> Estimate:
        """A mean whose interval follows from both, by how much it changes with each of them."""
        half = None
        if self.ci95 is not None and other.ci95 is not None:
            one, two = self.ci95 * by[0], other.ci95 * by[1]
            half = math.sqrt(one * one + two * two)
        return Estimate(min(self.runs, other.runs), mean, None, half, mean, mean)


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean, summed in the order given."""
    values = list(values)
    # Not `sum`: since Python 3.12 it compensates for rounding.
    return reduce(add, values, 0.0) / len(values)


def estimate(values: Iterable[float]) -> Estimate:
    """Mean, spread and interval of one value per run.

    Raises:
        ValueError: if there are none.
    """
    values = list(values)
    n = len(values)
    if n == 0:
        raise ValueError("an estimate needs a value at least")
    centre = mean(values)
    deviation = half = None
    if n > 1:
        deviation = math.sqrt(reduce(add, ((it - centre) * (it - centre) for it in values), 0.0) / (n - 1))
        half = _t_975(n - 1) * deviation / math.sqrt(n)
    return Estimate(n, centre, deviation, half, min(values), max(values))


def ratio(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """The quotient of the means of runs that belong together pair by pair, by the scatter of what each pair
    is off it. The mean of the quotients would be too high where runs scatter widely.

    Raises:
        ValueError: if there is no run, or one without a partner.
    """
    if not above or len(above) != len(below):
        raise ValueError(f"{len(above)} and {len(below)} runs are no pairs")
    denominator = mean(below)
    quotient = mean(above) / denominator
    off = [quotient + (one - quotient * two) / denominator for one, two in zip(above, below, strict=True)]
    return replace(estimate(off), mean=quotient)


@cache
def _t_975(degrees_of_freedom: int) -> float:
    """The 0.975 quantile of Student's t."""
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    return float(special.stdtrit(degrees_of_freedom, 0.975))
