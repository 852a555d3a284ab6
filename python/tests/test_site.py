"""What makes a site of the documents (`docs/site`): the parts that need nothing but Python itself."""

import base64
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs/site"))

import forge
import links
import notebooks


@pytest.mark.parametrize(
    ("on_the_forge", "on_the_site"),
    [
        ("**Choice.**\n- a\n- b\n", "**Choice.**\n\n- a\n- b\n"),
        ("- a\n  - b\n\n    more of b\n", "- a\n    - b\n\n        more of b\n"),
        ("- a\n\n  | x |\n  | --- |\n", "- a\n\n    | x |\n    | --- |\n"),
        ("It was\n2004. Nothing else.\n", "It was\n2004. Nothing else.\n"),
        ("| `a \\|= 1` | b \\| c |\n", "| `a |= 1` | b \\| c |\n"),
        ("win 0 <ts 410 ecr 410> `<ts 1 ecr 2>`\n", "win 0 &lt;ts 410 ecr 410> `<ts 1 ecr 2>`\n"),
        ("```text\na\n- b\n  - c\n```\n", "```text\na\n- b\n  - c\n```\n"),
        ("- a\n  ```sh\n  make\n  ```\n", "- a\n    ```sh\n    make\n    ```\n"),
    ],
)
def test_a_page_reads_on_the_site_as_on_the_forge(on_the_forge: str, on_the_site: str) -> None:
    assert forge.read(on_the_forge) == on_the_site


def test_a_notebook_is_shown_with_what_it_was_saved_with() -> None:
    def code(source: str, *outputs: object) -> dict[str, object]:
        return {"cell_type": "code", "source": [source], "outputs": list(outputs)}

    picture = {"image/png": base64.b64encode(b"png").decode(), "text/plain": "<Figure>"}
    table = {"text/html": ["<style>p {}</style>\n", "\n", '<table border="1"><tr>\n'], "text/plain": "x"}
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        code("print(1)", {"output_type": "stream", "name": "stdout", "text": ["1\n"]}),
        code("draw()", {"output_type": "display_data", "data": picture}),
        code("table", {"output_type": "execute_result", "data": table}),
        code("slow()", {"output_type": "stream", "name": "stderr", "text": ["50 %"]}),
    ]
    text, pictures = notebooks.page(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}), "first")
    assert text == (
        "# Title\nText.\n\n`````python\nprint(1)\n`````\n\n`````text\n1\n`````\n\n"
        "`````python\ndraw()\n`````\n\n![Output](first-1.png)\n\n`````python\ntable\n`````\n\n<table><tr>\n\n"
        "`````python\nslow()\n`````\n"
    )
    assert pictures == {"first-1.png": b"png"}


def test_links_of_a_site_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text('<p id="here"></p><a href="sub/a.html#there">a</a><a href="#here">h</a>')
    page = tmp_path / "sub/a.html"
    page.write_text('<h2 id="there"></h2><a href="../index.html#here">x</a><a href="https://example.org">y</a>')
    assert links.broken(tmp_path) == []
    page.write_text(
        '<a href="../index.html#gone">x</a><img src="no.svg"><script src="https://example.org/x.js"></script>'
        '<a href="../../outside.html">z</a>'
    )
    assert links.broken(tmp_path) == [
        "index.html: the link to sub/a.html#there has no such anchor",
        "sub/a.html: the link to ../index.html#gone has no such anchor",
        "sub/a.html: the link to no.svg leads nowhere",
        "sub/a.html: <script> is fetched from elsewhere: https://example.org/x.js",
        "sub/a.html: the link to ../../outside.html leads nowhere",
    ]
