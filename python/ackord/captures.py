"""Captures, and where the time went."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

from ackord import _ackord
from ackord._progress import Meter

__all__ = ["Diagnosis", "diagnose"]


class Diagnosis:
    """What captures say of their connections."""

    def __init__(self, text: str) -> None:
        #: The bytes of ``ackord diagnose --json``, without predictions.
        self.json = text
        #: The same as dictionaries and lists.
        self.data: dict[str, Any] = json.loads(text)

    @property
    def connections(self) -> list[dict[str, Any]]:
        """Every TCP connection."""
        connections: list[dict[str, Any]] = self.data["connections"]
        return connections


def diagnose(*captures: str | PathLike[str], progress: bool | None = None) -> Diagnosis:
    """Accounts for the time of every TCP connection in captures (pcap or pcapng, compressed too)."""
    with Meter("reading", progress) as meter:
        return Diagnosis(_ackord.diagnose(list(captures), meter))
