"""TCP on wireless and mobile paths: simulated packet by packet, compared, diagnosed.

Examples:
    >>> import ackord as ak
    >>> r = ak.run("lossy-wifi", seed=7, set={"flows.download.tcp.congestion": "bbr"})
    >>> r.flows["goodput_bit_s"]  # doctest: +SKIP

Tables implement ``__arrow_c_stream__``: ``polars.DataFrame(r.flows)``, ``pyarrow.table(r.flows)`` and
duckdb take them without a copy; ``r.flows.to_pandas()`` makes a data frame of pandas. Every time is in seconds unless a name says otherwise, every size in
bytes, every rate in bit/s.
"""

import sys

if sys.version_info < (3, 11):
    # Installers refuse an older one; a folder in PYTHONPATH does not.
    raise ImportError(f"this is Python {sys.version.split()[0]}: ackord needs 3.11 or newer")

try:
    import ackord._ackord
except ModuleNotFoundError as error:
    raise ImportError(
        "ackord's module in Rust is not built for this Python: `make python` or `pip install .` builds it"
    ) from error

from ackord import claims, papers
from ackord._ackord import (
    AckSample,
    AlgorithmError,
    Arrival,
    Checked,
    Close,
    Datagram,
    Delivered,
    Established,
    Flight,
    FlowState,
    InputError,
    LinkState,
    Loss,
    LossFacts,
    LostSegment,
    Mark,
    Packet,
    RateSample,
    Recovered,
    RecoveryAck,
    RecoveryEntry,
    Restart,
    RunError,
    Spurious,
    Table,
    Timeout,
    TransferBegan,
    TransferCompleted,
    Undone,
    Write,
    __version__,
)
from ackord.algorithms import (
    AckPolicy,
    CongestionControl,
    CongestionEvent,
    LossDetector,
    Queue,
    Recovery,
    RecoveryStep,
    Undo,
    Verdict,
)
from ackord.captures import Diagnosis, diagnose
from ackord.comparisons import Comparison, compare
from ackord.fleets import Fleet, diagnose_many
from ackord.knobs import knob
from ackord.mechanisms import KnobInfo, Mechanism, mechanisms
from ackord.paths import LossModel, Middlebox
from ackord.results import load
from ackord.runs import Result, live_run, run
from ackord.scenario import Scenario, scenarios
from ackord.simulation import Change, Simulation
from ackord.sweeps import Point, Sweep, sweep
from ackord.traffic import Step, Traffic

__all__ = [
    "AckPolicy",
    "AckSample",
    "AlgorithmError",
    "Arrival",
    "Change",
    "Checked",
    "Close",
    "Comparison",
    "CongestionControl",
    "CongestionEvent",
    "Datagram",
    "Delivered",
    "Diagnosis",
    "Established",
    "Fleet",
    "Flight",
    "FlowState",
    "InputError",
    "KnobInfo",
    "LinkState",
    "Loss",
    "LossDetector",
    "LossFacts",
    "LossModel",
    "LostSegment",
    "Mark",
    "Mechanism",
    "Middlebox",
    "Packet",
    "Point",
    "Queue",
    "RateSample",
    "Recovered",
    "Recovery",
    "RecoveryAck",
    "RecoveryEntry",
    "RecoveryStep",
    "Restart",
    "Result",
    "RunError",
    "Scenario",
    "Simulation",
    "Spurious",
    "Step",
    "Sweep",
    "Table",
    "Timeout",
    "Traffic",
    "TransferBegan",
    "TransferCompleted",
    "Undo",
    "Undone",
    "Verdict",
    "Write",
    "__version__",
    "claims",
    "compare",
    "diagnose",
    "diagnose_many",
    "knob",
    "live_run",
    "load",
    "mechanisms",
    "papers",
    "run",
    "scenarios",
    "sweep",
]
