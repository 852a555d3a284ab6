"""Lets griffe read the package's documentation as it is written: comments that begin with `#:` above an attribute are
its docstring, and names that are marked with what they are (:class:`Scenario`) lead there."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Comments(griffe.Extension):
    """Changes docstrings before they are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Takes the comment where a docstring is missing, and leads names to their places."""
        if isinstance(obj, griffe.Attribute) and obj.docstring is None:
            obj.docstring = _comment(obj)
        if obj.docstring is not None:
            said = re.sub(r":class:`(\w+)`", r"[`\1`][ackord.\1]", obj.docstring.value)
            obj.docstring.value = re.sub(r":(?:meth|func|attr):`([\w.]+)`", r"`\1`", said)


def _comment(attribute: griffe.Attribute) -> griffe.Docstring | None:
    if attribute.lineno is None or isinstance(attribute.filepath, list):
        return None
    lines = attribute.lines_collection[attribute.filepath]
    first = attribute.lineno - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#: "):
        first -= 1
    said = [line.lstrip().removeprefix("#: ") for line in lines[first : attribute.lineno - 1]]
    return griffe.Docstring("\n".join(said), lineno=first + 1, parent=attribute) if said else None
