"""The page of the package: its examples run, in the order in which they are read."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
#: What a statement needs that has this in it: a fixture.
NEEDS = {
    ".kernel": "kernel",
    "live_run": "namespaces",
    "gym": "gymnasium",
    "env.": "gymnasium",
    ".to_pandas": "pandas",
}


def statements() -> list[tuple[str, ast.stmt]]:
    """Every statement of the page's examples, with its text, numbered as the page's lines are."""
    page = PAGE.read_text()
    found = []
    for block in re.finditer(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        text = block.group(1)
        tree = ast.parse(text, str(PAGE))
        ast.increment_lineno(tree, page.count("\n", 0, block.start(1)))
        lines = [""] * page.count("\n", 0, block.start(1)) + text.splitlines()
        for it in tree.body:
            found.append(("\n".join(lines[it.lineno - 1 : it.end_lineno]), it))
    return found


def test_the_examples_of_the_page_run(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "docs"}
    skipped: list[str] = []
    every = statements()
    assert len(every) > 10
    for text, statement in every:
        try:
            for mark, fixture in NEEDS.items():
                if mark in text:
                    request.getfixturevalue(fixture)
        except pytest.skip.Exception as why:
            skipped.append(f"{why}: line {statement.lineno}")
            continue
        exec(compile(ast.Module([statement], []), str(PAGE), "exec"), names)
    if skipped:
        pytest.skip("; ".join(skipped))
