"""A run in steps: to a time, read, changed, continued."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from ackord import _ackord
from ackord._ackord import Checked, FlowState, InputError, LinkState
from ackord._progress import Meter
from ackord._values import Value, changes
from ackord.runs import Result
from ackord.scenario import Scenario, checked

__all__ = ["Change", "Simulation"]

_Function = TypeVar("_Function", bound=Callable[[dict[str, Any]], object])


class Change(NamedTuple):
    """A change that was made in the course of a run."""

    #: When, in simulated seconds.
    time_s: float
    #: What was changed, as a path of a scenario file.
    key: str
    #: Its value since then.
    value: str


class Simulation:
    """A run that stops where it is told to, to be read and changed there, and continues.

    Where nothing is changed, the result has the same bytes as that of :func:`ackord.run`, whatever the
    steps. Hosts with a ``kernel`` cannot run in steps, and no captures are taken.

    Examples:
        >>> import ackord as ak
        >>> sim = ak.Simulation("bufferbloat", set={"duration": "20 s"})
        >>> sim.run_until("10 s")
        >>> sim.flow("upload").cwnd_bytes, sim.link("uplink").queue_packets  # doctest: +SKIP
        >>> sim.set({"links.uplink.rate": "1 Mbit/s"})
        >>> sim.finish().flows["goodput_bit_s"]  # doctest: +SKIP

    Args:
        scenario: the name of a built-in one, a path, or a :class:`Scenario`.
        seed: the seed of every random draw, instead of the scenario's own.
        set: values at paths, as ``--set`` takes them.
        series: whether to keep values against time.
        events: a file for what endpoints do and which packets die, a line of JSON per event.

    Raises:
        InputError: if the scenario is not sound.
        RunError: if a host of it runs a kernel.
    """

    def __init__(
        self,
        scenario: Scenario | Checked | str | PathLike[str],
        *,
        seed: int | None = None,
        set: Mapping[str, Value] | None = None,
        series: bool = True,
        events: str | PathLike[str] | None = None,
    ) -> None:
        self._scenario = checked(scenario, set)
        self._run = _ackord.Stepped(self._scenario, seed, series, events)

    @property
    def time_s(self) -> float:
        """Present time, in simulated seconds."""
        return self._run.time_s

    @property
    def duration_s(self) -> float:
        """The end of the run, in simulated seconds; it ends earlier when all connections are closed."""
        return self._scenario.duration_s

    @property
    def is_over(self) -> bool:
        """True if nothing more can happen."""
        return self._run.is_over

    def run_until(self, until: str | float, *, progress: bool | None = False) -> None:
        """Runs everything up to and including a time, or the end of the run if that is earlier.

        Args:
            until: a text with a unit (``"2 s"``) or seconds.
            progress: whether to show a bar; None shows it on a terminal and in a notebook.

        Raises:
            InputError: if that time has passed.
            AlgorithmError: if an algorithm in Python has failed; the simulation has ended then.
        """
        with Meter(self._scenario.name, progress) as meter:
            self._run.run_until(until, meter)

    def run_for(self, span: str | float, *, progress: bool | None = False) -> None:
        """Runs everything up to and including the present and this long after it; see :meth:`run_until`."""
        with Meter(self._scenario.name, progress) as meter:
            self._run.run_for(span, meter)

    def flow(self, name: str | None = None) -> FlowState:
        """Returns the state of a connection at the present; without a name, of the only one.

        Raises:
            InputError: if there is no such connection, or there are several and no name is given.
        """
        return self._run.flow(self._only(name))

    @property
    def flows(self) -> dict[str, FlowState]:
        """The state of every connection, by name."""
        return {name: self._run.flow(name) for name in self._run.connections}

    def link(self, name: str) -> LinkState:
        """Returns the state of a direction of a link at the present: ``"uplink"``, ``"uplink.reverse"``.

        Raises:
            InputError: if there is no such link.
        """
        return self._run.link(name)

    @property
    def links(self) -> dict[str, LinkState]:
        """The state of every direction of a link, by name."""
        return {name: self._run.link(name) for name in self._run.directions}

    def set(self, values: Mapping[str, Value]) -> None:
        """Changes values at paths of the scenario, from the present on.

        These can be changed: ``links.*.rate``, ``links.*.delay``, ``links.*.loss``, the settings of
        ``links.*.queue`` (not its kind), each also under ``reverse``, ``flows.*.tcp.nagle`` and
        ``flows.*.tcp.send_buffer``. A packet being transmitted ends at the old rate; packets on the wire
        arrive when they would have, and none overtakes another. A limit below the length of a queue drops
        no packet that waits.

        Raises:
            InputError: if a value is not sound, or cannot be changed while a run continues. The changes
                before it were made.
        """
        self._run.change(changes(values))

    def steer(
        self,
        flow: str | None = None,
        *,
        cwnd_bytes: float,
        ssthresh_bytes: float | None = None,
        pacing_rate_bit_s: float | None = None,
    ) -> None:
        """Sets the windows of a sender in place of its congestion control, from the present on.

        They hold until they are set anew, whatever is acknowledged or lost; loss detection and recovery
        decide as before which segments are sent again.

        Args:
            flow: the connection; the only one where there is no name.
            cwnd_bytes: the congestion window.
            ssthresh_bytes: the slow-start threshold that is reported; none where it is absent.
            pacing_rate_bit_s: the rate at which segments leave; as the window allows where it is absent.

        Raises:
            InputError: if there is no such connection, or a value is out of range.
        """
        windows = (
            _whole("cwnd_bytes", cwnd_bytes, 1 << 40),
            None if ssthresh_bytes is None else _whole("ssthresh_bytes", ssthresh_bytes, 1 << 40),
            None
            if pacing_rate_bit_s is None
            else _whole("pacing_rate_bit_s", pacing_rate_bit_s, 10**12),
        )
        self._run.steer(self._only(flow), *windows)

    def on(self, event: str, function: _Function) -> _Function:
        """Calls ``function`` with each event of this name from the present on, and returns it.

        Events and their fields are those of the events file, and those of links, queues and middleboxes:
        ``PacketDropped``, ``PacketEnqueued``, ``CwndChanged``, ``RttSampled``, ... Each is a dict with
        ``event``, ``time_s``, and the names of its ``flow`` and ``link`` where it has them. An exception ends the
        step, at most 50 ms of simulated time later, and is raised there; the simulation can be continued.

        Raises:
            InputError: if there is no such event; the message lists all.
        """
        self._run.observe(event, function)
        return function

    @property
    def changes(self) -> list[Change]:
        """Changes so far. The report of the result lists it, too."""
        return [Change(*change) for change in self._run.changes]

    def finish(self, *, to_end: bool = True, progress: bool | None = None) -> Result:
        """Runs to the end and returns the result; the simulation can do nothing after that.

        Args:
            to_end: False ends the run where it stands.
            progress: whether to show a bar; None shows it on a terminal and in a notebook.
        """
        with Meter(self._scenario.name, progress) as meter:
            return Result(self._run.finish(to_end, meter))

    def _only(self, name: str | None) -> str:
        if name is not None:
            return name
        names = self._run.connections
        if len(names) != 1:
            raise InputError(f"there are {len(names)} connections: name one of {', '.join(names)}")
        return names[0]

    def __repr__(self) -> str:
        return f"<ackord.Simulation {self._scenario.name} of {self.duration_s:g} s>"


def _whole(name: str, value: float, most: int) -> int:
    """``value`` as a whole number from 1 to ``most``."""
    # NaN is in no range.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value <= most:
        raise InputError(f"`{name}` is {value!r}: a number from 1 to {most} is allowed")
    return int(value)
