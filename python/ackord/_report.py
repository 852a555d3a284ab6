"""What every result has: its JSON, and the files of its report."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from ackord._html import Shown, show


class _Reported(Protocol):
    @property
    def json(self) -> str: ...
    def write(self, folder: str | PathLike[str]) -> list[Any]: ...


class Report:
    """A result that has a report."""

    def __init__(self, reported: _Reported) -> None:
        self._reported = reported

    @property
    def json(self) -> str:
        """The results in the bytes that the command of the same name writes with ``--json``."""
        return self._reported.json

    @property
    def data(self) -> dict[str, Any]:
        """The same as dictionaries and lists."""
        data: dict[str, Any] = json.loads(self.json)
        return data

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes ``report.html``, JSON, CSV and plots into ``folder``; the paths of the files."""
        return [Path(path) for path in self._reported.write(folder)]

    def show(self, *, height_px: int = 720) -> Shown | Path:
        """Shows the interactive report: in a frame of a notebook, offline, too. Elsewhere it opens in a browser,
        and the path of its file is returned.

        Args:
            height_px: how high the frame is, in pixels.
        """
        return show(self.write, height_px)
