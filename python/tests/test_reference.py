"""What the stub says of the module in Rust is what that module says of itself: the site's reference is made of it."""

import ast
from collections.abc import Iterator
from importlib import resources

import pytest
from ackord import _ackord


def documented() -> Iterator[tuple[str, str]]:
    """Names in the stub with their docstrings: those of classes, and of what is in them."""
    tree = ast.parse(resources.files("ackord").joinpath("_ackord.pyi").read_text(encoding="utf-8"))
    for thing in tree.body:
        if not isinstance(thing, ast.ClassDef):
            continue
        yield thing.name, ast.get_docstring(thing) or ""
        for member, after in zip(thing.body, [*thing.body[1:], None], strict=True):
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                yield f"{thing.name}.{member.name}", ast.get_docstring(member) or ""
            elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                text = after.value.value if isinstance(after, ast.Expr) else ""  # type: ignore[attr-defined]
                yield f"{thing.name}.{member.target.id}", text


STUB = dict(documented())


@pytest.mark.parametrize("name", STUB)
def test_the_stub_says_what_the_module_says(name: str) -> None:
    text = STUB[name]
    cls, _, member = name.partition(".")
    of = getattr(_ackord, cls)
    # What Python sets on an error has no place in Rust, where it could be explained.
    if member and issubclass(of, Exception):
        assert text
        return
    said = (getattr(of, member) if member else of).__doc__
    # Arguments and errors may follow.
    assert " ".join(text.split()).startswith(" ".join((said or "nothing").split()))
