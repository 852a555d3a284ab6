"""The private module in Rust: what `crates/py` exports."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

__version__: str

_Path = str | PathLike[str]
_Progress = Callable[[float], object]

class InputError(ValueError):
    """A scenario, a key, a value or a name that is not sound."""

    paths: list[str]

class RunError(RuntimeError):
    """A run that could not be done."""

class AlgorithmError(RunError):
    """An algorithm in Python raised something, or decided what cannot be."""

    time_s: float
    whose: str

class Established:
    """What is known once the connection is established."""

    smss: int
    initial_window: int
    srtt: float | None
    iss: int
    selective_acks: bool

class AckSample:
    """An acknowledgment of new data, outside fast recovery."""

    acked: int
    delivered: int
    rtt: float | None
    srtt: float | None
    flight_size: int
    snd_una: int
    snd_nxt: int
    cwnd_limited: bool

class Loss:
    """A loss was detected without the retransmission timer."""

    flight_size: int
    slow_start: bool

class Mark:
    """The path marked a packet (RFC 3168)."""

    flight_size: int

class Timeout:
    """The retransmission timer expired."""

    flight_size: int
    repeated: bool

class Undone:
    """The last reduction proved wrong: these windows are to hold again."""

    cwnd: int
    ssthresh: float

class Restart:
    """Nothing was sent for longer than a retransmission timeout: these windows hold from now on."""

    cwnd: int
    ssthresh: float

class Recovered:
    """Fast recovery is over."""

    cwnd_at_most: int | None

class Arrival:
    """A data segment that has just arrived and was accepted."""

    payload: int
    full_size: int
    unacknowledged: int
    order: str
    push: bool
    unread: int
    offered: int
    free: int
    srtt: float | None

class LossFacts:
    """What the sender knows when an acknowledgment arrives, or a timer expires."""

    acked: int | None
    extent_segments: int | None
    hole_retransmitted: bool | None
    duplicate_acks: int
    sacked: int
    smss: int
    snd_una: int
    snd_nxt: int
    flight_size: int
    cwnd: int
    oldest_sent_at: float | None
    srtt: float | None
    rttvar: float | None
    min_rtt: float | None
    rto_at: float | None
    recovery: str | None
    def leave_doubt(self) -> bool: ...
    def reaches(self, threshold: int) -> bool: ...

class Delivered:
    """A segment that has newly been reported to have arrived."""

    sent_at: float
    end_seq: int
    retransmitted: bool
    rtt: float
    min_rtt: float | None
    srtt: float | None

class Spurious:
    """A recovery that turned out to have been unnecessary."""

    evidence: str
    recovery: str
    extent_segments: int
    delay: float
    flight_size: int
    smss: int

class Packet:
    """A packet as a queue sees it."""

    number: int
    bytes: int
    payload: int
    flow: int
    from_client: bool
    ecn_capable: bool
    arrived: float

class Table:
    """A table that Arrow's readers take without a copy."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def units(self) -> dict[str, str]: ...
    def column(self, name: str) -> list[Any]: ...
    @staticmethod
    def concat(tables: Sequence[Table]) -> Table: ...
    def sorted_by_run(self) -> Table: ...
    def to_ipc(self) -> bytes: ...
    @staticmethod
    def from_ipc(bytes: bytes) -> Table: ...
    def write_parquet(self, path: _Path) -> None: ...
    @staticmethod
    def read_parquet(path: _Path) -> Table: ...
    def rows(self) -> list[dict[str, Any]]: ...

class Checked:
    """A scenario that was found sound."""

    @staticmethod
    def open(name_or_path: str, changes: Sequence[tuple[str, str]]) -> Checked: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def hash(self) -> str: ...
    def canonical(self) -> str: ...
    @property
    def algorithms(self) -> list[tuple[str, str]]: ...
    @property
    def flows(self) -> list[str]: ...
    @property
    def links(self) -> list[str]: ...

class Run:
    """What a run came to."""

    @property
    def flows(self) -> Table: ...
    @property
    def links(self) -> Table: ...
    @property
    def queues(self) -> Table: ...
    @property
    def proxies(self) -> Table: ...
    @property
    def transfers(self) -> Table: ...
    @property
    def whole(self) -> Table: ...
    @property
    def duration_s(self) -> float: ...
    def series(self, quantity: str) -> Table: ...
    @property
    def json(self) -> str: ...
    def write(self, folder: _Path) -> list[Any]: ...

class Comparison:
    """What a comparison came to."""

    @property
    def json(self) -> str: ...
    def write(self, folder: _Path) -> list[Any]: ...

class Paper:
    """What a reproduction came to."""

    @property
    def json(self) -> str: ...
    def write(self, folder: _Path) -> list[Any]: ...

def check(
    name: str, text: str, changes: Sequence[tuple[str, str]], folder: _Path | None = None
) -> Checked: ...
def run(checked: Checked, wishes: Mapping[str, Any], program: _Path | None = None) -> Run: ...
def run_live(checked: Checked, wishes: Mapping[str, Any], ours: Sequence[str]) -> Run: ...
def run_batch(
    file: tuple[str, str, str | None, list[tuple[str, str]]], planned: Sequence[dict[str, Any]]
) -> tuple[Table, Table, Table]: ...
def compare(
    checked: Checked,
    vary: str,
    runs: int = 1,
    seed: int | None = None,
    progress: _Progress | None = None,
) -> Comparison: ...
def run_paper(name: str, quick: bool = False, progress: _Progress | None = None) -> Paper: ...
def paper_names() -> list[tuple[str, str]]: ...
def diagnose(captures: Sequence[_Path], progress: _Progress | None = None) -> str: ...
def register_congestion(name: str, cls: type) -> None: ...
def register_ack(name: str, cls: type) -> None: ...
def register_loss(name: str, cls: type) -> None: ...
def register_queue(name: str, cls: type) -> None: ...
def library() -> list[tuple[str, str]]: ...
def schema() -> str: ...
def quantities() -> list[str]: ...
