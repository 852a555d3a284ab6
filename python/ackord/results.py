"""Results from the files that ``save`` writes."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from ackord import comparisons, runs, sweeps
from ackord._ackord import InputError
from ackord._archive import Archive

__all__ = ["load"]

_Any = runs.Result | comparisons.Comparison | sweeps.Sweep

_KINDS: dict[str, Callable[[Archive], _Any]] = {
    "run": runs.saved,
    "comparison": comparisons.saved,
    "sweep": sweeps.saved,
}


def load(path: str | PathLike[str]) -> _Any:
    """Reads a result that ``save`` has written: of a run, a comparison or a sweep.

    Raises:
        InputError: if there is no such file, it is no such result, or another version wrote it.
    """
    archive = Archive.read(path)
    kind = _KINDS.get(archive.kind)
    if kind is None:
        raise InputError(f"`{path}` is of kind {archive.kind!r}: {', '.join(_KINDS)} are allowed")
    return kind(archive)
