"""Park, Kim, Han, Kwon, Lee and Chung 2008: a smoothed duplicate-acknowledgment threshold lets TCP live with
packet reordering. The reproduction ``ackord paper dad-sd`` as a study in Python.

| file | what |
| --- | --- |
| ``policies.py`` | who is compared, as data |
| ``runs.py`` | the paper's path and numbers, what is run, what is taken from each run |
| ``curves.py`` | goodput against tau and alpha, with intervals; theory's bounds, ns-2's band |
| ``tables.py`` | the tables |
| ``verdicts.py`` | the claims, with measured reasons |
| ``figures.py`` | the plots |
| ``report.py`` | the files that are written |
| ``compared.py`` | all of it beside the report of the command |

It needs ``polars``, ``scipy`` and ``matplotlib``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compared import compared
from curves import Measured
from report import JSON, as_json, in_words, write
from runs import FULL, QUICK, run
from verdicts import claims


def main() -> int:
    given = arguments()
    extent = QUICK if given.quick else FULL
    with executor(given.on) as on:
        measured = Measured(extent, *run(extent, out=given.out, on=on))
    judged = claims(measured)
    if given.json == "-":
        print(as_json(measured, judged), end="")
    else:
        print(in_words(judged))
        if given.json is not None:
            Path(given.json).write_text(as_json(measured, judged))
    if given.out is not None:
        write(measured, judged, given.out)
    if given.compare is None:
        return 0
    comparison = compared(given.out, given.compare)
    print(comparison, file=sys.stderr)
    return 1 if comparison.different else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("study", description="TCP-DAD-SD under reordering, as a study in Python")
    parser.add_argument("--quick", action="store_true", help="four taus, four seeds, 250 s")
    parser.add_argument("--out", type=Path, metavar="DIR", help="tables, plots, JSON; resumes")
    parser.add_argument("--on", choices=("threads", "processes", "dask", "ray"), help="what makes the runs")
    parser.add_argument("--json", metavar="FILE|-", help="the results as JSON, `-` to standard output")
    parser.add_argument("--compare", type=Path, metavar="DIR", help="beside that report of `ackord paper`")
    given = parser.parse_args()
    if given.compare is not None and given.out is None:
        parser.error("--compare needs --out, whose files are compared")
    if given.compare is not None and not (given.compare / JSON).exists():
        parser.error(f"`{given.compare}` has no {JSON}: `ackord paper dad-sd --out DIR` writes one")
    return given


@contextmanager
def executor(name: str | None) -> Iterator[object]:
    """What ``ackord.sweep`` takes: for Dask, a cluster of this machine's processors."""
    if name != "dask":
        yield name
        return
    from distributed import Client

    with Client() as client:  # type: ignore[no-untyped-call, unused-ignore]
        yield client


if __name__ == "__main__":
    sys.exit(main())
