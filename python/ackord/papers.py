"""Papers, reproduced: every number beside ours, with a verdict."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from ackord import _ackord
from ackord._progress import Meter

__all__ = ["Reproduction", "names", "run"]


class Reproduction:
    """What a reproduction came to."""

    def __init__(self, paper: _ackord.Paper) -> None:
        self._paper = paper

    @property
    def json(self) -> str:
        """Claims and every table in the bytes of ``ackord paper --json``."""
        return self._paper.json

    @property
    def data(self) -> dict[str, Any]:
        """The same as dictionaries and lists."""
        data: dict[str, Any] = json.loads(self._paper.json)
        return data

    @property
    def claims(self) -> list[dict[str, Any]]:
        """What the paper says and what we found, with verdicts."""
        claims: list[dict[str, Any]] = self.data["claims"]
        return claims

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes ``report.html``, JSON, CSV and plots into ``folder``; the paths of the files."""
        return [Path(path) for path in self._paper.write(folder)]


def names() -> dict[str, str]:
    """The papers: titles by name."""
    return dict(_ackord.paper_names())


def run(name: str, *, quick: bool = False, progress: bool | None = None) -> Reproduction:
    """Reproduces a paper; ``quick`` with as few runs as its claims need."""
    with Meter(name, progress) as meter:
        return Reproduction(_ackord.run_paper(name, quick, meter))
