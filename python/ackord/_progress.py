"""Progress of long work: a line on a terminal or in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

_WIDTH = 24


class Meter:
    """Shows the share that is done, and takes it away at the end."""

    def __init__(self, what: str, shown: bool | None) -> None:
        self._what = what
        self._shown = _somebody_looks() if shown is None else shown
        self._drawn = False

    def __call__(self, share: float) -> None:
        if not self._shown:
            return
        filled = round(share * _WIDTH)
        bar = "#" * filled + "." * (_WIDTH - filled)
        sys.stderr.write(f"\r{self._what} [{bar}] {share:4.0%}")
        sys.stderr.flush()
        self._drawn = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * (len(self._what) + _WIDTH + 8) + "\r")
            sys.stderr.flush()


def _somebody_looks() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
