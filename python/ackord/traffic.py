"""Your own applications: classes with a name, as in :mod:`ackord.algorithms`."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from ackord._ackord import Close, InputError, TransferBegan, TransferCompleted, Write
from ackord.algorithms import _Algorithm

__all__ = ["Step", "Traffic"]

#: What an application does next; None stands for waiting.
Step = Write | Close | TransferBegan | TransferCompleted


class Traffic(_Algorithm):
    """The application at an end of a flow: what it writes, and when.

    Scenarios choose it as ``traffic`` of a flow. The end that sends the flow's data makes an object of the class, the
    other end one of ``other_end``. Both have the same random numbers and the same values of knobs. It needs simulated
    time and hosts that are no kernels.

    Examples:
        >>> import ackord as ak
        >>> class Sized(ak.Traffic, name="sized"):
        ...     total: int = ak.knob("1 MB", doc="How much to send")
        ...     def __init__(self):
        ...         self.left = self.total
        ...     def step(self, now, room, drained):
        ...         if not self.left:
        ...             return ak.Close()
        ...         size = min(self.left, room)
        ...         self.left -= size
        ...         return ak.Write(size) if size else None
        >>> ak.run("lossy-wifi", set={"flows.download.traffic": "sized"})  # doctest: +SKIP
    """

    _family = "traffic"

    #: Which end sends the flow's data where the flow does not say: "client", which opens the connection, or "server".
    sender: ClassVar[str] = "client"
    #: The application at the other end; None for one that reads and writes nothing.
    other_end: ClassVar[type[Traffic] | None] = None
    #: How many bytes it writes in all; None where there is no end. Read once, after ``__init__``.
    size: int | None = None
    #: Whether it waits until everything is acknowledged (``drained``).
    waits_for_acks: bool = False
    #: When :meth:`step` is called whatever happens, in seconds; None for never. It is None again in the call for which
    #: it is due: simulated times are whole nanoseconds, so that ``now`` may differ from it by half of one.
    deadline: float | None = None
    #: Random numbers that the run's seed decides, the same at both ends; known in ``__init__`` already.
    random: random.Random

    def __init_subclass__(cls, *, name: str | None = None, **rest: Any) -> None:
        if cls.sender not in ("client", "server"):
            raise InputError(f'`sender` is {cls.sender!r}: "client" or "server" is allowed')
        other: Any = cls.other_end
        if other is not None and not (isinstance(other, type) and issubclass(other, Traffic)):
            raise InputError(f"`other_end` is {other!r}: None or a class of Traffic is allowed")
        super().__init_subclass__(name=name, **rest)

    def on_established(self, now: float) -> None:
        """The connection is established."""

    def on_data(self, now: float, size: int) -> None:
        """It has read ``size`` bytes, which arrived in order."""

    def step(self, now: float, room: int, drained: bool) -> Step | None:
        """What it does now: called until it waits or closes.

        Called when the connection is established, has room again, has brought data, or ``deadline`` has come.

        Args:
            now: the time, in seconds.
            room: bytes that the send buffer takes.
            drained: whether the peer has acknowledged everything that was written.

        Returns:
            None to wait, ``Write(n)`` with 1 to ``room`` bytes, ``Close()``, or what a table of transfers is to
            report: ``TransferBegan(index, bytes)`` before its first byte is written, ``TransferCompleted(index, bytes)``
            at the end that has all of it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `step`")
