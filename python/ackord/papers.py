"""Papers, reproduced: every number beside ours, with a verdict."""

from __future__ import annotations

from typing import Any

from ackord import _ackord
from ackord._progress import Meter
from ackord._report import Report

__all__ = ["Reproduction", "names", "run"]


class Reproduction(Report):
    """What a reproduction came to."""

    @property
    def claims(self) -> list[dict[str, Any]]:
        """What the paper says and what we found, with verdicts."""
        claims: list[dict[str, Any]] = self.data["claims"]
        return claims

    def __repr__(self) -> str:
        return f"<ackord.papers.Reproduction with {len(self.claims)} claims>"


def names() -> dict[str, str]:
    """The papers: titles by name."""
    return dict(_ackord.paper_names())


def run(name: str, *, quick: bool = False, progress: bool | None = None) -> Reproduction:
    """Reproduces a paper.

    Args:
        name: one of :func:`names`: ``"dad-sd"``.
        quick: whether to make only as many runs as its claims need.
        progress: whether to show a bar; by itself on a terminal and in a notebook.

    Raises:
        InputError: if there is no such paper; the message has the nearest name.
    """
    with Meter(name, progress) as meter:
        return Reproduction(meter.of(lambda: _ackord.run_paper(name, quick, meter)))
