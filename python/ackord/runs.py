"""One run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ackord import _ackord
from ackord import _html as html
from ackord.__main__ import program
from ackord._ackord import Checked, InputError, Table
from ackord._archive import Archive, report_members, write_members
from ackord._progress import Meter
from ackord._report import Report
from ackord._values import Value
from ackord.scenario import Scenario, checked

__all__ = ["Result", "live_run", "run"]


class Result(Report):
    """What a run came to. Tables have a row per flow, link, queue, middlebox or transfer.

    Results can be pickled; :meth:`save` writes one to a file that :func:`ackord.load` reads.
    """

    def __init__(self, run: _ackord.Run | _Saved) -> None:
        super().__init__(run)
        self._run = run

    @property
    def flows(self) -> Table:
        """A row per flow: goodput, retransmissions, round-trip times, windows."""
        return self._run.flows

    @property
    def links(self) -> Table:
        """A row per direction of a link: what it carried."""
        return self._run.links

    @property
    def queues(self) -> Table:
        """A row per queue: waits, lengths, drops."""
        return self._run.queues

    @property
    def proxies(self) -> Table:
        """A row per middlebox."""
        return self._run.proxies

    @property
    def transfers(self) -> Table:
        """A row per finished transfer or exchange."""
        return self._run.transfers

    @property
    def whole(self) -> Table:
        """One row: the run as a whole."""
        return self._run.whole

    @property
    def duration_s(self) -> float:
        """How long it was, in simulated seconds."""
        return self._run.duration_s

    def series(self, quantity: str) -> Table:
        """Values against time: a row per point, with ``time_s``, ``flow`` or ``link``, and the value.

        Args:
            quantity: ``cwnd``, ``ssthresh``, ``rtt``, ``sent``, ``retransmitted``, ``acked``,
                ``delivered``, ``goodput``, ``queue-packets``, ``queue-bytes``, ``drops`` or ``throughput``.

        Raises:
            InputError: if there is no such quantity, or the run kept no series.
        """
        return self._run.series(quantity)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the result to a file, with its tables, series and report; :func:`ackord.load` reads it.

        The file is a ZIP archive of JSON, Arrow streams and the report (docs/python.md has its members).
        """
        return self._archive().save(path)

    def _archive(self) -> Archive:
        if isinstance(self._run, _Saved):
            return self._run.archive
        members = {"results.json": self.json.encode()}
        for name in _TABLES:
            members[f"tables/{name}.arrow"] = getattr(self._run, name).to_ipc()
        for quantity in _ackord.quantities():
            try:
                members[f"series/{quantity}.arrow"] = self._run.series(quantity).to_ipc()
            except InputError:
                # The run kept none.
                break
        members |= report_members(self.write)
        return Archive("run", {"duration_s": self.duration_s}, members)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._archive().to_bytes(),)

    def __repr__(self) -> str:
        return f"<ackord.Result of {len(self.flows)} flows, {len(self.links)} link directions>"

    def _repr_html_(self) -> str:
        data = self.data
        facts = f"{self.duration_s:g} s, seed {data['seed']}, {data['ending']}"
        parts = [html.of_rows(_some(self.flows, _FLOW_COLUMNS), self.flows.units)]
        used = [row for row in _some(self.links, _LINK_COLUMNS) if row["packets"]]
        parts.append(html.of_rows(used, self.links.units) if used else "")
        parts.append(html.note("flows, links, queues, proxies, transfers, whole and series() have all of it"))
        return html.titled(f"{data['scenario']}: {facts}", *parts)


#: The tables of a result.
_TABLES = ("flows", "links", "queues", "proxies", "transfers", "whole")
#: What a notebook shows of them.
_FLOW_COLUMNS = (
    "flow", "bytes_delivered", "goodput_bit_s", "retransmitted_segments", "timeouts", "rtt_mean_ms", "rtt_p99_ms",
)  # fmt: skip
_LINK_COLUMNS = ("link", "rate_bit_s", "utilisation", "packets")


def _some(table: Table, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Some columns of a table's rows."""
    return [{name: row[name] for name in columns} for row in table]


class _Saved:
    """A run as an archive has it."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.flows, self.links, self.queues, self.proxies, self.transfers, self.whole = (
            archive.table(f"tables/{name}") for name in _TABLES
        )
        self.json = archive.text("results.json")
        self.duration_s = float(archive.facts["duration_s"])

    def series(self, quantity: str) -> Table:
        """A quantity against time."""
        if quantity not in _ackord.quantities():
            raise InputError(f"no series is called `{quantity}`; there are: {', '.join(_ackord.quantities())}")
        if f"series/{quantity}.arrow" not in self.archive.members:
            raise InputError("this run kept no series: run it with `series=True`")
        return self.archive.table(f"series/{quantity}")

    def write(self, folder: str | PathLike[str]) -> list[Any]:
        """Writes the report's files."""
        return write_members(self.archive, folder)


def saved(archive: Archive) -> Result:
    """A result from its archive."""
    try:
        return Result(_Saved(archive))
    except (KeyError, ValueError, _ackord.RunError) as error:
        raise InputError(f"the archive of a run is damaged: {error}") from error


def _unpickled(data: bytes) -> Result:
    return saved(Archive.read(data))


def run(
    scenario: Scenario | Checked | str | PathLike[str],
    *,
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,
    series: bool = True,
    pcap: str | PathLike[str] | None = None,
    events: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a scenario in simulated time. The same scenario and seed give the same bytes, every time.

    Other threads of Python go on meanwhile; Ctrl-C ends the run. Hosts with a ``kernel`` run a stock
    Linux kernel in simulated time (``ackord kernel build`` makes one): as deterministic, and slower.

    Args:
        scenario: the name of a built-in one, a path, or a :class:`Scenario`.
        seed: what every random draw derives from, instead of the scenario's own.
        set: values at paths, as ``--set`` takes them: ``{"flows.download.tcp.congestion": "bbr"}``.
        series: whether to keep values against time.
        pcap: a folder for captures (pcapng), of whole packets.
        events: a file for what endpoints do and which packets die, a line of JSON per event.
        progress: whether to show a bar; by itself on a terminal and in a notebook.

    Raises:
        InputError: if the scenario is not sound.
        RunError: if the run could not be done.
    """
    sound = checked(scenario, set)
    with Meter(sound.name, progress) as meter:
        wishes = {"seed": seed, "series": series, "pcap": pcap, "events": events, "progress": meter}
        return Result(_ackord.run(sound, wishes, program()))


def live_run(
    scenario: Scenario | Checked | str | PathLike[str],
    *,
    ours: Sequence[str] = (),
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,
    series: bool = True,
    pcap: str | PathLike[str] | None = None,
    events: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a scenario in real time, with this machine's kernel at every host but those among ``ours``.

    These run this project's TCP, with your own algorithms where the scenario names them. Nothing of
    the machine's own network is touched. Ordinary users can do this where the kernel lets them make
    user namespaces; elsewhere root is needed.

    Args:
        scenario: the name of a built-in one, a path, or a :class:`Scenario`.
        ours: the hosts that are no kernel.
        seed: what every random draw of the path derives from, instead of the scenario's own.
        set: values at paths, as ``--set`` takes them.
        series: whether to keep values against time.
        pcap: a folder for captures (pcapng).
        events: a file for what endpoints do and which packets die, a line of JSON per event.
        progress: whether to show a bar; by itself on a terminal and in a notebook.

    Raises:
        InputError: if the scenario is not sound, or has no such host.
        RunError: if the machine does not allow it.
    """
    sound = checked(scenario, set)
    with Meter(sound.name, progress) as meter:
        wishes = {"seed": seed, "series": series, "pcap": pcap, "events": events, "progress": meter}
        return Result(_ackord.run_live(sound, wishes, list(ours)))
