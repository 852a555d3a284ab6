"""Notebooks: each is executed, and shows what it showed when it was committed.

``BLESS=1`` writes what they show now. Pictures are not compared, nor are cells with the tag ``varies``: what they
show depends on the machine.
"""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: How large one may be, in bytes, and how long a cell may take, in seconds.
MOST_BYTES = 400_000
MOST_CELL_S = 120


def shown(cell: Any) -> list[str]:
    """What a cell shows, without its pictures."""
    words = []
    for output in cell.outputs:
        data = output.get("data", {})
        words += [output.get("text", ""), data.get("text/plain", "")]
        if "image/png" not in data:
            words.append(data.get("text/html", ""))
    return [text for text in words if text]


def executed(path: Path) -> Any:
    """The notebook as it comes out now."""
    notebook = nbformat.read(path, as_version=4)
    metadata = notebook.metadata.copy()
    where = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=MOST_CELL_S, resources=where, record_timing=False).execute()
    notebook.metadata = metadata
    for cell in notebook.cells:
        # A bar that has been taken away leaves an empty output.
        if cell.cell_type == "code":
            cell.outputs = [it for it in cell.outputs if it.get("data") != {"text/plain": ""}]
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_committed(path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    now = executed(path)
    if os.environ.get("BLESS") == "1":
        nbformat.write(now, path)
        committed = now
    skipped: list[str] = []
    for old, new in zip(committed.cells, now.cells, strict=True):
        if new.cell_type != "code":
            continue
        said = shown(new)
        skipped += [line for text in said for line in text.splitlines() if line.startswith("SKIPPED")]
        if "varies" not in new.metadata.get("tags", []):
            again = f"{path.name}, {new.id}: committed for another version; BLESS=1 writes it anew"
            assert said == shown(old), again
    if skipped:
        pytest.skip("; ".join(dict.fromkeys(skipped)))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_tells_nothing_of_the_machine_it_ran_on(path: Path) -> None:
    assert path.stat().st_size < MOST_BYTES
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code), "not executed"
    outputs = [output for cell in code for output in cell.outputs]
    assert not [it for it in outputs if it.output_type == "error" or it.get("name") == "stderr"]
    told = "\n".join(text for cell in code for text in shown(cell))
    assert not [part for part in ("/home/", "/root/", "/tmp/", str(FOLDER.parent.parent)) if part in told]
