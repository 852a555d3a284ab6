"""Tables and results as notebooks show them: compact, escaped, in the colours of the page around them."""

from __future__ import annotations

import json
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackord._values import LARGER, unit_of

if TYPE_CHECKING:
    from ackord._ackord import Table

#: More rows than these are cut in the middle.
_MOST_ROWS = 20
#: With up to so many rows and more columns than these, each row becomes a column.
_FEW_ROWS, _MANY_COLUMNS = 6, 10
_HEIGHT = "24em"
# Borders and shades of half transparent grey: they are seen on light pages and on dark ones.
_TABLE = "margin:.3em 0;border-collapse:collapse;font-size:90%;font-variant-numeric:tabular-nums"
_HEAD = "text-align:{};padding:.15em .6em;border-bottom:1px solid rgba(128,128,128,.6);background:none"
_CELL = "text-align:{};padding:.1em .6em;border:none;background:none;white-space:nowrap"
_NOTE = "opacity:.7;font-size:85%;margin:.3em 0"


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel."""
    return "ipykernel" in sys.modules


def table(of: Table, without: Iterable[str] = ()) -> str:
    """A table, with units under the names; columns that have no values are left out, and those named."""
    hidden = set(without)
    values = {name: of.column(name) for name in of.column_names if name not in hidden}
    filled = {name: column for name, column in values.items() if any(it is not None for it in column)}
    shown = filled or values
    titles, columns = [], []
    for name, column in shown.items():
        unit, size = _scale(of.units.get(name, ""), column)
        titles.append((name, unit))
        columns.append([_text(it, size) for it in column])
    rows = list(zip(*columns, strict=True))
    note = f"{len(of)} row{'s' * (len(of) != 1)}"
    if len(shown) < len(values):
        note += f", {len(values) - len(shown)} columns without values not shown"
    if 0 < len(rows) <= _FEW_ROWS and len(titles) > _MANY_COLUMNS:
        sideways = [[name, unit, *cells] for (name, unit), cells in zip(titles, columns, strict=True)]
        return _framed(_rows([("", ""), ("unit", ""), *[("", "")] * len(rows)], sideways), note)
    return _framed(_rows(titles, _cut(rows)), note)


def of_rows(rows: Iterable[Mapping[str, Any]], units: Mapping[str, str] | None = None) -> str:
    """Rows of the same keys as a table without a frame; a unit is that of the key's ending unless it is given."""
    listed = list(rows)
    names = list(listed[0]) if listed else []
    titles, columns = [], []
    for name in names:
        column = [row[name] for row in listed]
        unit, size = _scale((units or {}).get(name, unit_of(name)), column)
        titles.append((name, unit))
        columns.append([_text(it, size) for it in column])
    return _rows(titles, _cut(list(zip(*columns, strict=True))))


def titled(title: str, *parts: str) -> str:
    """Parts below a line that says what they are."""
    return f"<div><div><strong>{escape(title)}</strong></div>{''.join(parts)}</div>"


def note(text: str) -> str:
    """A line in small print."""
    return f'<div style="{_NOTE}">{escape(text)}</div>'


class Shown:
    """A report in a frame of a notebook. It needs no network."""

    def __init__(self, page: str, height_px: int) -> None:
        self._page, self._height_px = page, height_px

    def _repr_html_(self) -> str:
        # The page's scripts run in the frame and cannot reach the notebook.
        return (
            f'<iframe srcdoc="{escape(self._page)}" sandbox="allow-scripts allow-popups allow-downloads" '
            f'style="width:100%;height:{self._height_px}px;border:1px solid rgba(128,128,128,.4)"></iframe>'
        )

    def __repr__(self) -> str:
        return "<the report, in notebooks>"


def show(write: Callable[[Path], list[Path]], height_px: int) -> Shown | Path:
    """Shows the report that ``write`` writes: in a frame of a notebook, in a browser elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="ackord-"))
    page = next(path for path in write(folder) if path.name == "report.html")
    if in_notebook():
        return Shown(page.read_text(encoding="utf-8"), height_px)
    webbrowser.open(page.as_uri())
    return page


def _scale(unit: str, column: Sequence[Any]) -> tuple[str, float]:
    """What numbers of a column are shown in, and how much of their unit that is."""
    numbers = [abs(it) for it in column if isinstance(it, (int, float)) and it == it]
    larger, size = LARGER.get(unit, (unit, 1.0))
    if unit == "s":
        # Milliseconds where seconds would be small fractions.
        return (larger, size) if numbers and max(numbers) < 1.0 else ("s", 1.0)
    return (larger, size) if numbers and max(numbers) >= size else (unit, 1.0)


def _text(value: Any, size: float) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    if isinstance(value, int) and size == 1.0:
        return str(value)
    if isinstance(value, (int, float)):
        return f"{value / size:.4g}" if abs(value / size) < 1e4 else f"{value / size:.0f}"
    return json.dumps(value, default=str)


def _cut(rows: list[Any]) -> list[Any]:
    if len(rows) <= _MOST_ROWS:
        return rows
    half = _MOST_ROWS // 2
    return [*rows[:half], ["…"] * len(rows[0]), *rows[-half:]]


def _rows(titles: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> str:
    def is_number(at: int) -> bool:
        # In a table turned on its side, names stand among the numbers.
        cells = [_is_number(row[at]) for row in rows if row[at] not in ("", "…")]
        return bool(cells) and 2 * sum(cells) >= len(cells)

    sides = ["right" if is_number(at) else "left" for at in range(len(titles))]
    heads = "".join(
        f'<th style="{_HEAD.format(side)}">{escape(name)}'
        + (f'<br><span style="font-weight:normal;opacity:.7">{escape(unit)}</span>' if unit else "")
        + "</th>"
        for (name, unit), side in zip(titles, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL.format(side)}">{escape(cell)}</td>'
            for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    head = f"<thead><tr>{heads}</tr></thead>" if any(name for name, _ in titles) else ""
    return f'<table style="{_TABLE}">{head}<tbody>{body}</tbody></table>'


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _framed(inside: str, text: str) -> str:
    return f'<div style="max-height:{_HEIGHT};overflow:auto">{inside}</div>{note(text)}'
