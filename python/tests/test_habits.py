"""What people do with results in notebooks: data frames, tables in HTML, reports, pickles, files."""

import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ackord as ak
import pytest
from ackord import _html


@pytest.fixture(scope="module")
def result() -> ak.Result:
    return ak.run("lossy-wifi", set={"duration": "5 s"})


def test_a_table_becomes_a_data_frame_of_pandas(result: ak.Result) -> None:
    pd = pytest.importorskip("pandas", reason="SKIPPED: not installed: pandas")
    frame = result.flows.to_pandas()
    assert list(frame.columns) == result.flows.column_names
    assert frame["goodput_bit_s"].tolist() == result.flows["goodput_bit_s"] == result.flows.column("goodput_bit_s")
    assert frame.attrs["units"]["goodput_bit_s"] == "bit/s"
    assert frame["retransmitted_segments"].dtype.kind in "iu", "what is counted is whole"
    plain = pd.DataFrame(result.flows)
    assert plain.equals(frame)
    assert list(result.proxies.to_pandas().columns) == result.proxies.column_names, "also without rows"


def test_a_table_becomes_a_data_frame_of_polars(result: ak.Result) -> None:
    pl = pytest.importorskip("polars", reason="SKIPPED: not installed: polars")
    assert result.flows.to_polars().equals(pl.DataFrame(result.flows))
    assert pl.DataFrame(result.flows).schema["retransmitted_segments"] == pl.UInt64, "still without a copy"


def test_a_missing_package_is_named() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None; import ackord as ak\n"
        "try: ak.run('lossy-wifi', set={'duration': '1 s'}).flows.to_pandas()\n"
        "except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install pandas" in said


def test_rows_and_columns_without_any_other_package(result: ak.Result) -> None:
    assert [row["flow"] for row in result.flows] == result.flows["flow"] == ["download"]
    assert list(result.flows) == result.flows.rows()
    with pytest.raises(ak.InputError, match="did you mean `goodput_bit_s`"):
        result.flows["goodput"]


class Checker(HTMLParser):
    """Checks that tags are closed in order, and collects what is in cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "br":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and {"td", "th"} & set(self.open):
            self.cells[-1] += data


def test_tables_and_results_show_themselves_in_html(result: ak.Result) -> None:
    flows = Checker(result.flows._repr_html_()).cells
    assert "goodput_bit_s" in flows and "download" in flows and "transfer_p99_ms" not in flows
    shown = Checker(result._repr_html_()).cells
    assert any(cell.startswith("goodput_bit_s") for cell in shown) and "wifi" in shown
    many = result.series("cwnd")
    assert len(many) > 100 and len(many._repr_html_()) < 20_000 and "…" in many._repr_html_()
    # Every colour is one of the page's, or half transparent: they are seen on light pages and on dark ones.
    for page in (result.flows._repr_html_(), result._repr_html_()):
        assert not re.search(r"#[0-9a-f]{3}|color:(?!inherit)|background:(?!none)", page)


def test_what_names_have_in_them_is_escaped() -> None:
    page = _html.of_rows([{"<b>": "<script>alert(1)</script>", "n & m": 3}])
    assert "<script>" not in page and "&lt;script&gt;" in page and "n &amp; m" in page
    Checker(page)


def test_comparisons_and_sweeps_show_themselves() -> None:
    how = {"set": {"duration": "2 s"}}
    compared = ak.compare("lossy-wifi", "flows.*.tcp.congestion", ["reno", "cubic"], runs=2, **how)  # type: ignore[arg-type]
    cells = Checker(compared._repr_html_()).cells
    assert "reno" in cells and "cubic" in cells
    sweep = ak.sweep("lossy-wifi", seeds=2, **how)  # type: ignore[arg-type]
    assert "2 runs" in sweep._repr_html_()
    Checker(sweep._repr_html_())


def same(one: ak.Result, other: ak.Result, folder: Path) -> None:
    """Whether two results are the same in all they have."""
    assert one.json == other.json and one.duration_s == other.duration_s
    for table in ("flows", "links", "queues", "proxies", "transfers", "whole"):
        assert getattr(one, table).to_ipc() == getattr(other, table).to_ipc()
    for quantity in ("cwnd", "throughput"):
        assert one.series(quantity).to_ipc() == other.series(quantity).to_ipc()
    written = [{path.relative_to(folder / name): path.read_bytes() for path in it.write(folder / name)}
               for name, it in (("one", one), ("other", other))]  # fmt: skip
    assert written[0] == written[1] and Path("report.html") in written[0]


def test_results_pickle_and_are_saved_and_loaded(result: ak.Result, tmp_path: Path) -> None:
    same(result, pickle.loads(pickle.dumps(result)), tmp_path)
    path = result.save(tmp_path / "run.ackord")
    loaded = ak.load(path)
    assert isinstance(loaded, ak.Result)
    same(result, loaded, tmp_path)
    again = loaded.save(tmp_path / "again.ackord")
    assert again.read_bytes() == path.read_bytes() == result.save(path).read_bytes()
    assert [it.name for it in tmp_path.iterdir() if it.name.startswith(".")] == [], "nothing half-written stays"
    with pytest.raises(ak.InputError, match="series=True"):
        short = ak.run("lossy-wifi", set={"duration": "1 s"}, series=False)
        pickle.loads(pickle.dumps(short)).series("cwnd")
    with pytest.raises(ak.InputError, match="no series"):
        loaded.series("cwmd")


def test_comparisons_and_sweeps_are_saved_and_loaded(tmp_path: Path) -> None:
    how = {"set": {"duration": "1 s"}}
    compared = ak.compare("lossy-wifi", "flows.*.tcp.congestion", ["reno", "cubic"], **how)  # type: ignore[arg-type]
    loaded = ak.load(compared.save(tmp_path / "compared.ackord"))
    assert isinstance(loaded, ak.Comparison) and loaded.json == compared.json
    assert pickle.loads(pickle.dumps(loaded)).variants == compared.variants
    sweep = ak.sweep("lossy-wifi", seeds=2, **how)  # type: ignore[arg-type]
    back = ak.load(sweep.save(tmp_path / "sweep.ackord"))
    assert isinstance(back, ak.Sweep) and back.flows.to_ipc() == sweep.flows.to_ipc()
    assert pickle.loads(pickle.dumps(back)).runs.to_ipc() == sweep.runs.to_ipc()


def test_a_wrong_file_is_named(result: ak.Result, tmp_path: Path) -> None:
    with pytest.raises(ak.InputError, match="there is no file"):
        ak.load(tmp_path / "nothing")
    text = tmp_path / "text"
    text.write_text("goodput")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as out:
        out.writestr("data.txt", "goodput")
    whole = result.save(tmp_path / "whole").read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(whole[: len(whole) // 2])
    for path in (text, other, cut):
        with pytest.raises(ak.InputError, match=f"`{path}` is no result that `save` has written"):
            ak.load(path)

    def changed(name: str, drop: str = "", **head: Any) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(tmp_path / "whole") as given, zipfile.ZipFile(path, "w") as out:
            for member in given.namelist():
                data = given.read(member)
                if member == "ackord.json":
                    data = json.dumps(json.loads(data) | head).encode()
                if member != drop:
                    out.writestr(member, data)
        return path

    with pytest.raises(ak.InputError, match="version 2 of the format, of ackord 9.9"):
        ak.load(changed("newer", format_version=2, version="9.9"))
    with pytest.raises(ak.InputError, match="'walk': run, comparison, sweep are allowed"):
        ak.load(changed("kind", kind="walk"))
    with pytest.raises(ak.InputError, match="damaged"):
        ak.load(changed("less", drop="tables/flows.arrow"))


def test_show_opens_the_report_or_frames_it(result: ak.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(_html, "in_notebook", lambda: False)
    path = result.show()
    assert isinstance(path, Path) and opened == [path.as_uri()] and path.name == "report.html"
    monkeypatch.setattr(_html, "in_notebook", lambda: True)
    frame = result.show(height_px=500)
    assert isinstance(frame, _html.Shown)
    page = frame._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "height:500px" in page and "allow-same-origin" not in page
    assert page.count("<") == 2, "the report is escaped"
    assert not re.search(r'(src|href)="https?://', path.read_text()), "it needs no network"
    os.remove(path)
