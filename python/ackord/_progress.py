"""Progress of long work: a line on a terminal or in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

_WIDTH = 24
#: Work that is done sooner shows nothing, and what is shown changes no more often, in seconds.
_AFTER_S = 0.5
_EVERY_S = 0.1


class Meter:
    """Shows the share that is done, and takes it away at the end."""

    def __init__(self, what: str, shown: bool | None) -> None:
        self._what = what
        self._screen: _Terminal | _Notebook | None = None
        if "ipykernel" in sys.modules and shown is not False:
            self._screen = _Notebook()
        elif sys.stderr.isatty() if shown is None else shown:
            self._screen = _Terminal()
        self._next_s = time.monotonic() + _AFTER_S
        self._drawn = False
        self._stopped = False

    def __call__(self, share: float) -> None:
        if self._stopped:
            raise KeyboardInterrupt
        now_s = time.monotonic()
        if self._screen is None or now_s < self._next_s:
            return
        filled = round(share * _WIDTH)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._screen.show(f"{self._what} [{bar}] {share:4.0%}")
        self._next_s = now_s + _EVERY_S
        self._drawn = True

    def of(self, work: Callable[[], T]) -> T:
        """Does work that tells of its progress from threads of its own, so that Ctrl-C ends it.

        Python hears of a signal in its main thread alone, which has to wait where it can.
        """
        with ThreadPoolExecutor(1) as pool:
            doing = pool.submit(work)
            try:
                return doing.result()
            except KeyboardInterrupt:
                self._stopped = True
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._screen is not None and self._drawn:
            self._screen.show("")


class _Terminal:
    """One line of standard error, written over."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, line: str) -> None:
        blank = "" if line else " " * self._width + "\r"
        sys.stderr.write(f"\r{blank}{line}")
        sys.stderr.flush()
        self._width = len(line)


class _Notebook:
    """One output of the cell, replaced: a stream would keep every line that it was sent."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, line: str) -> None:
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        data = {"text/plain": line}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        else:
            self._handle.update(data, raw=True)
