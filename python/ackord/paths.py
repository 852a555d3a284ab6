"""Your own losses and middleboxes: classes with a name, as in :mod:`ackord.algorithms`."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from ackord._ackord import Datagram, InputError
from ackord.algorithms import _Algorithm

__all__ = ["LossModel", "Middlebox"]


class LossModel(_Algorithm):
    """Decides which packets are lost on the wire.

    A direction of a link makes an object of its own, without arguments. Scenarios choose it as ``loss`` of a link.

    Examples:
        >>> import ackord as ak
        >>> class EveryTenth(ak.LossModel, name="every-tenth"):
        ...     def __init__(self):
        ...         self.count = 0
        ...     def loses(self, now, size):
        ...         self.count += 1
        ...         return self.count % 10 == 0
        >>> ak.run("lossy-wifi", set={"links.wifi.loss": "every-tenth"})  # doctest: +SKIP
    """

    _family = "loss-model"

    #: Random numbers that the run's seed decides; known in ``__init__`` already.
    random: random.Random

    def loses(self, now: float, size: int) -> bool:
        """A packet of ``size`` bytes, IP header included, begins to be transmitted: True if it is lost.

        Called once for each packet that leaves the queue, in the order of transmission; ``now`` is the time at which
        the transmission begins. A lost packet takes the link's time like any other. Packets whose turn is certain may
        be asked about before the simulation has come to their time.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `loses`")


class Middlebox(_Algorithm):
    """Sees the packets that pass a router to and from a link, and acts on them.

    A middlebox of a scenario makes an object of its own, without arguments. Scenarios choose it as ``proxy`` in
    ``[[proxies]]``. A class has one of two methods: :meth:`observe` for a middlebox out of the path, which cannot hold
    up or change what passes, or :meth:`handle` for one inline.
    """

    _family = "middlebox"
    _inline: ClassVar[bool] = False

    #: When :meth:`on_deadline` is called, in seconds; None for never. It is None again in that call, whose ``now`` may
    #: differ from it by half a nanosecond: simulated times are whole ones.
    deadline: float | None = None

    _sent: list[tuple[Datagram, bool]]

    def __init_subclass__(cls, *, name: str | None = None, **rest: Any) -> None:
        observes = cls.observe is not Middlebox.observe
        cls._inline = cls.handle is not Middlebox.handle
        if name is not None and observes == cls._inline:
            has = "both `observe` and `handle`" if observes else "neither `observe` nor `handle`"
            raise InputError(f"middlebox `{name}` has {has}: one of them is allowed")
        super().__init_subclass__(name=name, **rest)

    def __new__(cls) -> Middlebox:
        middlebox = super().__new__(cls)
        middlebox._sent = []
        return middlebox

    def send(self, packet: Datagram) -> None:
        """Sends a copy of a packet that passed, perhaps with other contents, to its destination: one packet more.

        One with payload counts as a retransmission, one without as an acknowledgment of the middlebox.
        """
        self._sent.append((packet, False))

    def release(self, packet: Datagram) -> None:
        """Sends a packet that :meth:`handle` has absorbed, once."""
        self._sent.append((packet, True))

    def observe(self, now: float, packet: Datagram, heading: str) -> None:
        """A packet passed, "mobile" towards the link or "fixed" from it, and is on its way."""
        raise NotImplementedError

    def handle(self, now: float, packet: Datagram, heading: str) -> bool | Datagram:
        """A packet arrived, to go "mobile" towards the link or "fixed" from it.

        True to forward it, False to absorb it, which drops it unless it is released later, or the packet with other
        contents (:meth:`Datagram.replace`). What is sent meanwhile comes after it.
        """
        raise NotImplementedError

    def on_deadline(self, now: float) -> None:
        """The deadline has come."""
