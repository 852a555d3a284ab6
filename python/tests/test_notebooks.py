"""Notebooks: each is executed, and shows what it showed when it was committed.

``BLESS=1`` writes what they show now. Pictures are not compared, nor are cells with the tag ``varies``: what they
show depends on the machine.
"""

import os
import queue
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
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
    # A busy machine delivers what a cell prints in several parts.
    client = NotebookClient(notebook, timeout=MOST_CELL_S, resources=where, record_timing=False, coalesce_streams=True)
    client.execute()
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
    assert not re.findall(r"(?<![\w./])(?:/\w[\w.-]*){2,}", told), "a path from the root of this machine"


@pytest.fixture(scope="module")
def cells() -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Runs a cell in a kernel, interrupts it after so many seconds, and gives the messages that came of it."""
    manager, client = start_new_kernel()

    def run(code: str, interrupt_after_s: float | None = None) -> list[dict[str, Any]]:
        asked = client.execute(code)
        until = time.monotonic() + (interrupt_after_s or MOST_CELL_S)
        came: list[dict[str, Any]] = []
        while True:
            try:
                message = client.get_iopub_msg(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                assert interrupt_after_s is not None, "the cell does not end"
                manager.interrupt_kernel()
                until, interrupt_after_s = time.monotonic() + 30, None
                continue
            if message["parent_header"].get("msg_id") != asked:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return came
            came.append(message)

    run("import ackord as ak")
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    "work", ["run('dumbbell'", "compare('dumbbell', 'flows.*.tcp.congestion', ['reno', 'cubic'], runs=9"]
)
def test_a_bar_shows_and_an_interrupt_ends_the_work(
    cells: Callable[..., list[dict[str, Any]]], work: str
) -> None:
    came = cells(f"ak.{work}, set={{'duration': '36000 s'}})", interrupt_after_s=2.0)
    assert came[-1]["msg_type"] == "error" and came[-1]["content"]["ename"] == "KeyboardInterrupt"
    bars = [it["content"] for it in came if it["msg_type"] in ("display_data", "update_display_data")]
    assert len({bar["transient"]["display_id"] for bar in bars}) == 1
    lines = [bar["data"]["text/plain"] for bar in bars]
    assert all(line.startswith("dumbbell [") for line in lines[:-1]) and lines[-1] == ""
    assert not [it for it in came if it["msg_type"] == "stream"]


def test_a_short_run_shows_nothing(cells: Callable[..., list[dict[str, Any]]]) -> None:
    came = cells("ak.run('one-flow', set={'duration': '1 s'});")
    assert [it["msg_type"] for it in came if it["msg_type"] not in ("status", "execute_input")] == []
