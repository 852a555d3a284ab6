"""Who is compared, as data: a name, what it is called, the endpoint it runs on, and what it changes there.

One more policy is one more line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ackord.scenario import Value

_SACK: dict[str, Value] = {"sack": True, "recovery": {"kind": "sack", "prr": False}}

#: What a policy runs on, by what it is called: changes to ``[tcp]``.
ENDPOINTS: Mapping[str, Mapping[str, Value]] = {
    # What the paper was simulated with.
    "ns2": {"sack": False},
    # With RFC 6675's recovery: ns-2's own SACK agent forgets at every acknowledgment what a policy
    # would learn from.
    "ns2 + SACK": _SACK,
    "ns2 + SACK, timestamps": {**_SACK, "timestamps": True},
    "linux": {"profile": "linux"},
}


@dataclass(frozen=True)
class Policy:
    """A policy on an endpoint."""

    name: str
    label: str
    endpoint: str
    #: Changes to ``[tcp]``, on top of the endpoint's.
    tcp: Mapping[str, Value]

    @property
    def full_label(self) -> str:
        """With its endpoint, where that is not the paper's."""
        return self.label if self.endpoint == "ns2" else f"{self.label} ({self.endpoint})"

    def changes(self) -> dict[str, Value]:
        """What makes the paper's scenario this policy's."""
        return {f"tcp.{key}": value for key, value in {**ENDPOINTS[self.endpoint], **self.tcp}.items()}


def _fixed(threshold: int) -> dict[str, Value]:
    return {"loss": {"kind": "fixed", "threshold": threshold, "limited_transmit": "every"}}


def _dad_sd(mode: str, **knobs: Value) -> dict[str, Value]:
    return {"loss": {"kind": "dad-sd", "mode": mode, **knobs}}


def _blanton_allman(variant: str) -> dict[str, Value]:
    return {"loss": {"kind": "blanton-allman", "variant": variant}}


_RENO: dict[str, Value] = {"recovery": "ns2-reno"}
_NEWRENO: dict[str, Value] = {"recovery": "ns2-newreno"}
_SACK1: dict[str, Value] = {"sack": True, "recovery": "ns2-sack1"}
_NO_FLOOR: dict[str, Value] = {"loss": {"kind": "dad", "floor": 1}}
_LITERAL: dict[str, Value] = _dad_sd("paper", undo="literal-table")
_AGGRESSIVE: dict[str, Value] = {"loss": {"kind": "ncr", "variant": "aggressive"}}
_EIFEL: dict[str, Value] = {"timestamps": True, "loss": "eifel"}
# Not the profile's: that of the other endpoints.
_RFC_8985: dict[str, Value] = {"loss": {"kind": "rack", "rules": "rfc", "timer_slack": "0 s"}}

#: In the order of the tables. The paper says neither on which recovery DAD and DAD-SD stood, nor how low
#: their thresholds may fall: both are shown on NewReno and on Reno, with a floor of 3 and with none.
POLICIES = (
    Policy("reno", "Reno", "ns2", _RENO),
    Policy("newreno", "NewReno", "ns2", _NEWRENO),
    Policy("sack", "SACK", "ns2", _SACK1),
    Policy("fixed-10", "fixed(10)", "ns2", _NEWRENO | _fixed(10)),
    Policy("fixed-30", "fixed(30)", "ns2", _NEWRENO | _fixed(30)),
    Policy("dad", "DAD", "ns2", _NEWRENO | {"loss": "dad"}),
    Policy("dad-sd", "DAD-SD", "ns2", _NEWRENO | _dad_sd("paper")),
    Policy("dad-no-floor", "DAD, no floor", "ns2", _NEWRENO | _NO_FLOOR),
    Policy("dad-sd-no-floor", "DAD-SD, no floor", "ns2", _NEWRENO | _dad_sd("paper", floor=1)),
    Policy("dad-sd-literal", "DAD-SD, literal table", "ns2", _NEWRENO | _LITERAL),
    Policy("dad-on-reno", "DAD on Reno", "ns2", _RENO | {"loss": "dad"}),
    Policy("dad-sd-on-reno", "DAD-SD on Reno", "ns2", _RENO | _dad_sd("paper")),
    Policy("practical", "DAD-SD, practical", "ns2", _NEWRENO | _dad_sd("practical")),
    Policy("dcr", "DCR", "ns2", _NEWRENO | {"loss": "dcr"}),
    Policy("pr", "PR", "ns2", _NEWRENO | {"loss": "pr"}),
    Policy("eifel", "Eifel", "ns2", _NEWRENO | _EIFEL),
    Policy("ba-plus-one", "Blanton-Allman +1", "ns2 + SACK", _blanton_allman("plus-one")),
    Policy("ba-average", "Blanton-Allman average", "ns2 + SACK", _blanton_allman("average")),
    Policy("ba-ewma", "Blanton-Allman EWMA", "ns2 + SACK", _blanton_allman("ewma")),
    Policy("ba-max", "Blanton-Allman largest", "ns2 + SACK", _blanton_allman("max")),
    Policy("ncr", "NCR, careful", "ns2 + SACK", {"loss": "ncr"}),
    Policy("ncr-aggressive", "NCR, aggressive", "ns2 + SACK", _AGGRESSIVE),
    Policy("fixed-30-full", "fixed(30)", "ns2 + SACK, timestamps", _fixed(30)),
    Policy("practical-full", "DAD-SD, practical", "ns2 + SACK, timestamps", _dad_sd("practical")),
    Policy("rack", "RACK-TLP", "ns2 + SACK, timestamps", {"loss": "rack"}),
    Policy("fixed-3-linux", "fixed(3)", "linux", {"loss": "fixed"}),
    Policy("fixed-30-linux", "fixed(30)", "linux", _fixed(30)),
    Policy("practical-linux", "DAD-SD, practical", "linux", _dad_sd("practical")),
    Policy("rack-linux", "RACK-TLP", "linux", _RFC_8985),
)  # fmt: skip

BY_NAME = {policy.name: policy for policy in POLICIES}


@dataclass(frozen=True)
class Contest:
    """Practical DAD-SD beside RACK and fixed(30), on each endpoint that has them."""

    endpoint: str
    practical: str
    fixed_30: str
    #: It needs SACK: where the endpoint has none, it is taken with it.
    rack: str


CONTESTS = (
    Contest("ns2", "practical", "fixed-30", "rack"),
    Contest("ns2 + SACK, timestamps", "practical-full", "fixed-30-full", "rack"),
    Contest("linux", "practical-linux", "fixed-30-linux", "rack-linux"),
)

#: Our policies, and the senders of ns-2 that they stand beside.
BESIDE = {
    "reno": "reno",
    "newreno": "newreno",
    "sack": "sack",
    "fixed-10": "newreno-10",
    "fixed-30": "newreno-30",
}
