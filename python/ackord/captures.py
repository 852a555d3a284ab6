"""Captures, and where the time went."""

from __future__ import annotations

import json
import subprocess
from os import PathLike, fspath
from typing import Any, TypedDict

from ackord import _ackord
from ackord.__main__ import program
from ackord._ackord import InputError, RunError
from ackord._progress import Meter

__all__ = ["Cause", "Diagnosis", "Remedy", "diagnose"]


class Cause(TypedDict):
    """What a connection spent time on."""

    #: The connection's number.
    connection: int
    #: Its name in JSON: ``"random-loss"``.
    cause: str
    #: Time spent on it, in seconds.
    seconds: float
    #: The same as a share of the connection's duration, from 0 to 1.
    share: float
    #: How certain the cause is, from 0 to 1, averaged over its seconds.
    confidence: float


class Remedy(TypedDict):
    """What would help a connection, as a simulation of it predicts."""

    #: The connection's number.
    connection: int
    #: Its name: ``"bbr"``.
    remedy: str
    #: How much less time the same transfer would take, in percent.
    gain_percent: float
    #: The lower end of its 95 % interval, in percent.
    low_percent: float
    #: The upper end, in percent.
    high_percent: float
    #: Where it has to be installed.
    where: str
    #: What installs it there.
    command: str


class Diagnosis:
    """What captures say of their connections."""

    def __init__(self, text: str) -> None:
        #: The bytes of ``ackord diagnose --json -``, with ``--no-predict`` unless remedies were asked for.
        self.json = text
        #: The same as dictionaries and lists.
        self.data: dict[str, Any] = json.loads(text)

    @property
    def connections(self) -> list[dict[str, Any]]:
        """Every TCP connection."""
        connections: list[dict[str, Any]] = self.data["connections"]
        return connections

    @property
    def causes(self) -> list[Cause]:
        """What the connections spent their time on, one after the other, each with the greatest first.

        The seconds of a connection add up to its duration.
        """
        return [
            Cause(
                connection=connection["id"],
                cause=cause["cause"],
                seconds=cause["seconds"],
                share=cause["seconds"] / connection["duration_s"] if connection["duration_s"] else 0.0,
                confidence=cause["confidence"],
            )
            for connection in self.connections
            for cause in connection["causes"]
        ]

    @property
    def remedies(self) -> list[Remedy]:
        """What would help, the greatest gain of a connection first; none without ``predict=True``."""
        return [
            Remedy(
                connection=connection["id"],
                remedy=remedy["remedy"],
                gain_percent=remedy["gain_percent"],
                low_percent=remedy["ci95"][0],
                high_percent=remedy["ci95"][1],
                where=remedy["where"],
                command=remedy["command"],
            )
            for connection in self.connections
            for remedy in connection["remedies"]
        ]

    def __repr__(self) -> str:
        return f"<ackord.Diagnosis of {len(self.connections)} connections>"


def diagnose(
    *captures: str | PathLike[str], predict: bool = False, progress: bool | None = None
) -> Diagnosis:
    """Accounts for the time of every TCP connection in captures (pcap or pcapng, compressed too).

    Args:
        captures: the files; two of the same traffic, taken at different places, are joined.
        predict: whether to simulate what would help the three connections that lost most time, which
            takes seconds; see :attr:`Diagnosis.remedies`. The command line's program does it.
        progress: whether to show a bar; by itself on a terminal and in a notebook.

    Raises:
        InputError: if a file cannot be read as a capture.
    """
    with Meter("reading", progress) as meter:
        found = Diagnosis(_ackord.diagnose(list(captures), meter))
    return Diagnosis(_predicted([fspath(path) for path in captures])) if predict else found


def _predicted(captures: list[str]) -> str:
    """The JSON with what would help."""
    command = program()
    if command is None:
        raise RunError(
            "`predict` needs the command line `ackord`, which this package was built without and PATH has not"
        )
    words: list[str] = [str(command), "diagnose", "--json", "-", "--", *captures]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # Exit code 2: of what was given.
        error = InputError if done.returncode == 2 else RunError
        raise error(done.stderr.strip().removeprefix("error: "))
    return done.stdout
