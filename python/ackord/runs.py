"""One run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from ackord import _ackord
from ackord.__main__ import program
from ackord._ackord import Checked, Table
from ackord._progress import Meter
from ackord._report import Report
from ackord._values import Value
from ackord.scenario import Scenario, checked

__all__ = ["Result", "live_run", "run"]


class Result(Report):
    """What a run came to. Tables have a row per flow, link, queue, middlebox or transfer."""

    def __init__(self, run: _ackord.Run) -> None:
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

    def __repr__(self) -> str:
        return f"<ackord.Result of {len(self.flows)} flows, {len(self.links)} link directions>"


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
        pcap: a folder for captures (pcapng).
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
