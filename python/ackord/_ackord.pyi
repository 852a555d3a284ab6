"""The private module in Rust: what `crates/py` exports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

__version__: str
"""The version of this package and of the command line in it."""

_Path = str | PathLike[str]
_Progress = Callable[[float], object]

class InputError(ValueError):
    """A scenario, a key, a value or a name that is not sound. `paths` has the path of each.

    The message names file, key, given value, what is allowed, and the nearest valid name.
    """

    paths: tuple[str, ...]
    """Of a scenario: the path of each value that is not sound, as `set` takes it. Empty for other mistakes."""

class RunError(RuntimeError):
    """A run that could not be done."""

class AlgorithmError(RunError):
    """An algorithm in Python raised something, or decided what cannot be. `time_s` has the simulated
    time, `whose` the flow and its end or the link, and `__cause__` what was raised.
    """

    time_s: float
    """When, in simulated seconds."""
    whose: str
    """The flow and its end, or the link, whose algorithm it was."""

class Established:
    """What is known once the connection is established."""

    smss: int
    """Sender maximum segment size, in bytes."""
    initial_window: int
    """Congestion window to begin with, in bytes."""
    srtt: float | None
    """The smoothed round-trip time in seconds, if the handshake gave a sample."""
    iss: int
    """The initial sequence number."""
    selective_acks: bool
    """Whether both ends speak SACK."""
    paced: bool
    """Whether what cwnd allows is paced, whatever the control says of a rate."""

class AckSample:
    """An acknowledgment of new data, outside fast recovery."""

    acked: int
    """Bytes newly acknowledged."""
    delivered: int
    """Bytes that the peer is known to have since this acknowledgment, those SACKed included."""
    rtt: float | None
    """Round-trip time of the segment it covers that was sent last, in seconds, where Karn's rule
    allows.
    """
    srtt: float | None
    """The smoothed round-trip time in seconds, once known."""
    flight_size: int
    """Bytes in flight before it."""
    snd_una: int
    """Oldest byte not acknowledged, after it."""
    snd_nxt: int
    """Next byte to be sent."""
    cwnd_limited: bool
    """Whether the congestion window held the sender back: only then may it grow (RFC 7661 §3)."""

class Loss:
    """A loss was detected without the retransmission timer."""

    flight_size: int
    """Bytes in flight, without those that limited transmit let out."""
    slow_start: bool
    """Whether slow start from one segment answers it (Tahoe), and not fast recovery."""

class Mark:
    """The path marked a packet (RFC 3168)."""

    flight_size: int
    """Bytes in flight."""

class Timeout:
    """The retransmission timer expired."""

    flight_size: int
    """Bytes in flight."""
    repeated: bool
    """Whether the same segment had timed out before: ssthresh is then held (RFC 5681 §3.1)."""
    snd_nxt: int
    """Next byte to be sent that was never sent."""

class Undone:
    """The last reduction proved wrong: these windows are to hold again."""

    cwnd: int
    """The congestion window in bytes."""
    ssthresh: float
    """The slow-start threshold in bytes; infinite where there is none."""

class Restart:
    """Nothing was sent for longer than a retransmission timeout (RFC 5681 §4.1): these windows hold
    from now on.
    """

    cwnd: int
    """The congestion window in bytes."""
    ssthresh: float
    """The slow-start threshold in bytes; infinite where there is none."""

class Recovered:
    """Fast recovery is over."""

    cwnd_at_most: int | None
    """A bound on cwnd in bytes that keeps the sender from a burst (RFC 6582 §3.2 step 3), if any.
    """

class RateSample:
    """A delivery-rate sample: what an acknowledgment that delivered something says of the path
    (draft-ietf-ccwg-bbr-06 §4.1)."""

    delivery_rate: float | None
    """RS.delivery_rate in bit/s; None where the interval is too short to be believed."""
    delivered: int
    """RS.delivered: bytes delivered over the interval."""
    interval: float
    """RS.interval in seconds: the longer of the times over which they were sent and acknowledged."""
    prior_delivered: int
    """RS.prior_delivered: bytes delivered when the newest of the acknowledged segments was sent."""
    total_delivered: int
    """C.delivered: bytes delivered so far."""
    rtt: float | None
    """RS.rtt in seconds, of the newest of the acknowledged segments, where Karn's rule allows."""
    prior_in_flight: int
    """Bytes in the network before this acknowledgment."""
    in_flight: int
    """C.inflight: bytes in the network after it."""
    newly_acked: int
    """RS.newly_acked: bytes it delivered."""
    newly_lost: int
    """RS.newly_lost: bytes declared lost since the last sample."""
    sent_in_flight: int
    """RS.tx_in_flight: bytes in the network just after the newest segment was sent."""
    lost_since_sent: int
    """RS.lost: bytes declared lost since the newest segment was sent."""
    app_limited: bool
    """RS.is_app_limited: whether it was sent in a time limited by the application."""
    cwnd_limited: bool
    """C.is_cwnd_limited: whether the congestion window held the sender back."""
    recovery: str | None
    """The recovery under way after this acknowledgment: "fast", "timeout", or None."""

class LostSegment:
    """A segment was declared lost."""

    bytes: int
    """Its bytes."""
    adjoins: bool
    """Whether the segment just before it was declared lost last."""
    sent_in_flight: int
    """Bytes in the network just after it was sent, itself included."""
    lost_since_sent: int
    """Bytes declared lost since it was sent, itself included."""
    total_delivered: int
    """Bytes delivered so far."""
    app_limited: bool
    """Whether it was sent in a time limited by the application."""

class Arrival:
    """A data segment that has just arrived and was accepted."""

    payload: int
    """Its payload in bytes."""
    full_size: int
    """The largest payload that this peer has sent so far: what counts as full-sized."""
    unacknowledged: int
    """Bytes received in order that no acknowledgment has covered, this segment included."""
    order: str
    """How it fits in: "in-order", "overlapping", "out-of-order", "fills-gap", "duplicate" or "final"."""
    push: bool
    """Whether the sender had nothing more to send behind it (PSH)."""
    unread: int
    """Bytes in order that the application has not read yet, this segment's included."""
    offered: int
    """The window in bytes that the last acknowledgment offered."""
    free: int
    """What could be offered now, in bytes."""
    srtt: float | None
    """The smoothed round-trip time in seconds, once known; an end that only receives has the
    handshake's.
    """

class LossFacts:
    """What the sender knows when an acknowledgment arrives, or a timer expires."""

    acked: int | None
    """Bytes that the acknowledgment newly acknowledged; None for a duplicate."""
    extent_segments: int | None
    """Segments that had arrived above the hole that it filled; None for a duplicate."""
    hole_retransmitted: bool | None
    """Whether the segment that it acknowledges was retransmitted; None for a duplicate."""
    duplicate_acks: int
    """Duplicate acknowledgments in a row."""
    sacked: int
    """Bytes known to have arrived above the oldest segment (zero without SACK)."""
    smss: int
    """The sender's segment size, in bytes."""
    snd_una: int
    """Oldest byte not acknowledged."""
    snd_nxt: int
    """Next byte to be sent."""
    flight_size: int
    """Bytes sent and not acknowledged."""
    cwnd: int
    """The congestion window, in bytes."""
    oldest_sent_at: float | None
    """When the oldest outstanding segment was last sent, in seconds; None if none is outstanding.
    """
    srtt: float | None
    """The smoothed round-trip time in seconds, once known."""
    rttvar: float | None
    """Its mean deviation in seconds, once known."""
    min_rtt: float | None
    """The smallest round-trip time seen, in seconds."""
    rto_at: float | None
    """When the retransmission timer expires, in seconds, if it runs."""
    recovery: str | None
    """The recovery under way: "fast" or "timeout"; None outside recovery."""
    def leave_doubt(self) -> bool:
        """Whether the oldest segment may be missing: by a duplicate acknowledgment, or by what was
        SACKed above it.
        """
    def reaches(self, threshold: int) -> bool:
        """Whether so many duplicates came, or what was SACKed makes the segment lost (RFC 6675
        §5).
        """

class Delivered:
    """A segment that has newly been reported to have arrived."""

    sent_at: float
    """When it was last sent, in seconds."""
    end_seq: int
    """The byte after its last."""
    retransmitted: bool
    """Whether it was ever retransmitted."""
    rtt: float
    """How long ago it was last sent, in seconds."""
    min_rtt: float | None
    """The smallest round-trip time seen, in seconds."""
    srtt: float | None
    """The smoothed round-trip time in seconds, once known."""

class Spurious:
    """A recovery that turned out to have been unnecessary."""

    evidence: str
    """What showed it: "dsack", "timestamps", "detection-timer" or "f-rto"."""
    recovery: str
    """Which kind of recovery it was: "fast" or "timeout"."""
    extent_segments: int
    """How many segments had arrived above the hole when it was filled."""
    delay: float
    """How long after the first sign of the hole it was filled, in seconds."""
    flight_size: int
    """Bytes in flight when the recovery began."""
    smss: int
    """The sender's segment size, in bytes."""

class Packet:
    """A packet as a queue sees it."""

    number: int
    """Which it is: the order of arrival at this queue."""
    bytes: int
    """Length of the IP packet, in bytes."""
    payload: int
    """Payload of its TCP segment, in bytes."""
    flow: int
    """The number of its flow."""
    from_client: bool
    """Whether the end that opened the connection sent it."""
    ecn_capable: bool
    """Whether it may be marked in place of being dropped (RFC 3168)."""
    arrived: float
    """When it arrived at this queue, in seconds."""

class Flight:
    """The sender's books at one moment. Sizes are in bytes."""

    flight_size: int
    """Sent and not acknowledged: SND.NXT - SND.UNA."""
    sacked: int
    """Of those, known to have arrived, by SACK."""
    pipe: int
    """Thought to be in the network (RFC 6675 section 2)."""
    cwnd: int
    """The congestion window."""
    ssthresh: float
    """The slow-start threshold; infinite while there is none."""
    smss: int
    """Sender maximum segment size."""

class RecoveryEntry:
    """What fast recovery begins with; ssthresh and cwnd are reduced already."""

    flight: Flight
    """The books once the losses known by now are taken off pipe."""
    duplicate_acks: int
    """Duplicate acknowledgments so far."""
    delivered: int
    """Bytes newly known to have arrived by the acknowledgment that shows the loss; none if a timer did."""

class RecoveryAck:
    """An acknowledgment during fast recovery."""

    partial: bool
    """Whether it covers some, but not all, of what was outstanding when the loss was detected."""
    acked: int
    """Bytes newly acknowledged, cumulatively."""
    delivered: int
    """Bytes newly known to have arrived, cumulatively or by SACK."""
    new_losses: bool
    """Whether it showed more losses."""
    flight: Flight
    """The books after it."""

class Datagram:
    """A packet that passes a middlebox. It does not change: `replace` makes another one."""

    @property
    def flow(self) -> int:
        """The number of its flow."""
    @property
    def bytes(self) -> int:
        """Length of the IP packet, in bytes."""
    @property
    def payload(self) -> int:
        """Payload of its TCP segment, in bytes."""
    @property
    def from_client(self) -> bool:
        """Whether the end that opened the connection sent it."""
    @property
    def seq(self) -> int | None:
        """Sequence number of the first byte; None for a packet that is not of TCP."""
    @property
    def ack(self) -> int | None:
        """The next byte expected; None without the flag ACK."""
    @property
    def window(self) -> int | None:
        """The window field, before scaling."""
    @property
    def syn(self) -> bool:
        """Whether it synchronizes sequence numbers."""
    @property
    def fin(self) -> bool:
        """Whether it ends its direction."""
    @property
    def rst(self) -> bool:
        """Whether it resets the connection."""
    @property
    def sack_blocks(self) -> list[tuple[int, int]]:
        """The blocks of its SACK option: first byte and the byte after the last."""
    @property
    def ecn(self) -> str:
        """The ECN field of its IP header: "not-ect", "ect0", "ect1" or "ce"."""
    def replace(
        self, *, ack: int | None = None, window: int | None = None, ecn: str | None = None
    ) -> Datagram:
        """The same packet with other contents."""

class Write:
    """A step: the application writes so many bytes, at least one and no more than there is room for."""

    def __init__(self, bytes: int) -> None: ...
    bytes: int
    """How many."""

class Close:
    """A step: the application is done, and closes its direction."""

    def __init__(self) -> None: ...

class TransferBegan:
    """A step: a transfer begins, of which this end is going to write the first byte."""

    def __init__(self, index: int, bytes: int) -> None: ...
    index: int
    """Its number, from zero."""
    bytes: int
    """What the flow's sending end sends in it, in bytes."""

class TransferCompleted:
    """A step: a transfer is complete, this end has all of it."""

    def __init__(self, index: int, bytes: int) -> None: ...
    index: int
    """Its number, from zero."""
    bytes: int
    """What the flow's sending end sends in it, in bytes."""

class Table:
    """A table. polars, pandas, pyarrow and duckdb take it without a copy: `polars.DataFrame(table)`,
    `pyarrow.table(table)`. Each column of numbers has its `unit` in its metadata.

    A column's name ends with its unit as well: `goodput_bit_s`, `cwnd_bytes`, `time_s`. `len(table)` is
    the number of rows.
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> list[Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def _repr_html_(self) -> str: ...
    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one. By the column's name: `{"goodput_bit_s": "bit/s"}`."""
    def column(self, name: str) -> list[Any]:
        """The values of a column as a list; None where one is not known. Instants are `datetime` in UTC.

        Raises:
            InputError: if there is no such column; the message lists those there are.
        """
    @staticmethod
    def concat(tables: Sequence[Table]) -> Table:
        """Several tables of the same columns below each other.

        Raises:
            InputError: if there is no table.
        """
    def sorted_by_run(self) -> Table:
        """The same rows in the order of their column `run`; those of one run stay in theirs.

        Raises:
            InputError: if there is no such column.
        """
    def to_ipc(self) -> bytes:
        """The table in Arrow's format for streams between processes."""
    @staticmethod
    def from_ipc(bytes: bytes) -> Table:
        """A table from that format. It is what `to_ipc` gave."""
    def write_parquet(self, path: _Path) -> None:
        """Writes the table as a Parquet file, which has its name when it is complete.

        Raises:
            OSError: if the file cannot be written.
        """
    @staticmethod
    def read_parquet(path: _Path) -> Table:
        """A table from a Parquet file.

        Raises:
            OSError: if there is no such file.
            RunError: if it is no Parquet file.
        """
    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per row. Values by the names of the columns; a loop over the table has the same."""
    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`, with the units in `attrs["units"]`. Needs pandas; `pandas.DataFrame(table)`
        gives the same columns without the units where the table has rows.

        Raises:
            ImportError: if pandas is not installed.
        """
    def to_polars(self) -> Any:
        """The table as a `polars.DataFrame`, without a copy. Needs polars.

        Raises:
            ImportError: if polars is not installed.
        """

class Checked:
    """A scenario that was found sound."""

    @staticmethod
    def open(name_or_path: str, changes: Sequence[tuple[str, str]]) -> Checked:
        """A built-in scenario by its name, or a file by its path."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def text(self) -> str:
        """The text it was read from."""
    @property
    def duration_s(self) -> float:
        """Simulated time, in seconds."""
    @property
    def seed(self) -> int:
        """What every random stream derives from."""
    @property
    def hash(self) -> str:
        """What is simulated, in 16 hexadecimal digits: equal for scenarios that mean the same."""
    def canonical(self) -> str:
        """Every value written out, in one order."""
    @property
    def algorithms(self) -> list[tuple[str, str]]:
        """Its algorithms in Python: family and name of each."""
    @property
    def flows(self) -> list[str]:
        """The names of its flows."""
    @property
    def links(self) -> list[str]:
        """The names of its links."""

class Run:
    """What a run came to."""

    @property
    def flows(self) -> Table:
        """A row per connection."""
    @property
    def links(self) -> Table:
        """A row per direction of a link."""
    @property
    def queues(self) -> Table:
        """A row per queue."""
    @property
    def proxies(self) -> Table:
        """A row per middlebox."""
    @property
    def transfers(self) -> Table:
        """A row per finished transfer or exchange."""
    @property
    def whole(self) -> Table:
        """One row: what is said of the run as a whole."""
    @property
    def duration_s(self) -> float:
        """How long it was, in simulated seconds."""
    def series(self, quantity: str) -> Table:
        """Values of a quantity against time: a row per point."""
    @property
    def json(self) -> str:
        """The results as the command line's JSON."""
    def write(self, folder: _Path) -> list[Any]:
        """Writes report.html, JSON, CSV and plots into a folder; the paths of the files."""

class FlowState:
    """The state of a connection: of its sending end, and what its receiving end has."""

    @property
    def name(self) -> str:
        """Its name in the scenario."""
    @property
    def state(self) -> str:
        """State of the sending end (RFC 9293 §3.3.2), in Rust's spelling: `Established`."""
    @property
    def recovery(self) -> str:
        """Recovery under way: `None`, `Doubtful`, `Notified`, `Fast` or `Timeout`."""
    @property
    def cwnd_bytes(self) -> int:
        """Congestion window."""
    @property
    def ssthresh_bytes(self) -> int | None:
        """Slow-start threshold; None while there is none."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time (RFC 6298), once known."""
    @property
    def rttvar_s(self) -> float | None:
        """Its variation (RFC 6298), once known."""
    @property
    def min_rtt_s(self) -> float | None:
        """Shortest round trip so far."""
    @property
    def rto_s(self) -> float:
        """Retransmission timeout, backed off."""
    @property
    def flight_bytes(self) -> int:
        """Bytes sent and not cumulatively acknowledged: FlightSize (RFC 5681)."""
    @property
    def pipe_bytes(self) -> int:
        """Bytes believed to be in the network: pipe (RFC 6675)."""
    @property
    def acked_bytes(self) -> int:
        """Bytes acknowledged so far."""
    @property
    def delivered_bytes(self) -> int:
        """Bytes received in order at the other end so far."""
    @property
    def unsent_bytes(self) -> int:
        """Bytes written by the application and never sent."""
    @property
    def window_bytes(self) -> int:
        """Window offered by the receiver."""
    @property
    def smss_bytes(self) -> int:
        """Payload of a full-sized segment."""
    @property
    def pacing_rate_bit_s(self) -> int | None:
        """Rate at which segments leave, where the congestion control sets one."""
    @property
    def sent_segments(self) -> int:
        """Segments sent with payload, SYN or FIN, retransmissions included."""
    @property
    def retransmitted_segments(self) -> int:
        """Retransmitted segments."""
    @property
    def timeouts(self) -> int:
        """Retransmission timeouts."""

class LinkState:
    """The state of a direction of a link."""

    @property
    def name(self) -> str:
        """Its name: that of the link, with `.reverse` for the way back."""
    @property
    def rate_bit_s(self) -> int:
        """Present rate."""
    @property
    def delay_s(self) -> float:
        """Present propagation delay, or the mean where that is drawn."""
    @property
    def queue_packets(self) -> int:
        """Packets in the queue, without the one being transmitted."""
    @property
    def queue_bytes(self) -> int:
        """Bytes of these packets."""
    @property
    def sent_packets(self) -> int:
        """Packets whose transmission has begun so far."""
    @property
    def sent_bytes(self) -> int:
        """Bytes of these packets."""
    @property
    def dropped_packets(self) -> int:
        """Packets that died on this direction so far."""
    @property
    def marked_packets(self) -> int:
        """Packets that its queue has marked so far."""

class Stepped:
    """A run in steps. One thread at a time may use it, and no callback of its own."""

    def __init__(
        self, checked: Checked, seed: int | None, series: bool, events: _Path | None = None
    ) -> None: ...
    @property
    def time_s(self) -> float:
        """Present time, in simulated seconds."""
    @property
    def is_over(self) -> bool:
        """True if nothing more can happen."""
    def run_until(self, until: str | float, progress: _Progress | None) -> None:
        """Runs everything up to and including a time."""
    def run_for(self, span: str | float, progress: _Progress | None) -> None:
        """Runs everything up to and including the present and this long after it."""
    def change(self, changes: Sequence[tuple[str, str]]) -> None:
        """Makes changes from the present on: values at paths, as texts."""
    def steer(
        self, flow: str, cwnd: int, ssthresh: int | None, pacing_rate: int | None
    ) -> None:
        """Sets the windows of a flow's sender in place of its congestion control."""
    @property
    def changes(self) -> list[tuple[float, str, str]]:
        """Changes so far: time, path and value of each."""
    def flow(self, name: str) -> FlowState:
        """Returns the state of a flow that is a connection."""
    @property
    def connections(self) -> list[str]:
        """Names of the flows that are connections."""
    @property
    def directions(self) -> list[str]:
        """Names of the directions of links."""
    def link(self, name: str) -> LinkState:
        """Returns the state of a direction of a link."""
    def observe(self, event: str, function: Callable[[dict[str, Any]], object]) -> None:
        """Calls `function` with each event of this name from the present on."""
    def finish(self, to_end: bool, progress: _Progress | None) -> Run:
        """Ends the run where it stands, or after it has run to its end, and returns its outcome."""

class Comparison:
    """What a comparison came to."""

    @property
    def json(self) -> str:
        """The results as the command line's JSON."""
    def write(self, folder: _Path) -> list[Any]:
        """Writes report.html, JSON, CSV and plots into a folder; the paths of the files."""

class Paper:
    """What a reproduction came to."""

    @property
    def json(self) -> str:
        """Claims and every table, as the command line's JSON."""
    def write(self, folder: _Path) -> list[Any]:
        """Writes report.html, JSON, CSV and plots into a folder; the paths of the files."""

class FleetFolder:
    """The data set of a fleet, held for writing."""

    def __init__(self, path: _Path) -> None: ...
    def missing(
        self, files: Sequence[_Listed], host: str | None = None, predict: bool = False
    ) -> list[int]:
        """The numbers of those captures that are not in the data set."""
    def take(self, name: str, tables: _Four) -> None:
        """Writes the rows of a capture."""
    def parts(self) -> list[_Four]:
        """The rows of every capture in the data set."""

class FleetSummary:
    """What a fleet adds up to."""

    def __init__(self, parts: Sequence[_Four]) -> None: ...
    @property
    def json(self) -> str:
        """The sums as the command line's JSON."""
    def write(self, folder: _Path) -> list[Any]:
        """Writes report.html, JSON and plots into a folder; the paths of the files."""

_Listed = tuple[str | PathLike[str], int, int, str | None]
_Four = tuple[Table, Table, Table, Table]

def check(
    name: str, text: str, changes: Sequence[tuple[str, str]], folder: _Path | None = None
) -> Checked: ...
def run(checked: Checked, wishes: Mapping[str, Any], program: _Path | None = None) -> Run: ...
def run_live(checked: Checked, wishes: Mapping[str, Any], ours: Sequence[str]) -> Run: ...
def run_batch(
    file: tuple[str, str, str | None, list[tuple[str, str]]],
    planned: Sequence[dict[str, Any]],
    told: _Progress | None = None,
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
def fleet_files(given: Sequence[_Path]) -> list[_Listed]: ...
def fleet_parts(
    files: Sequence[_Listed],
    host: str | None = None,
    predict: bool = False,
    told: _Progress | None = None,
) -> list[tuple[str, _Four, str | None]]: ...
def fleet_no_rows() -> _Four: ...
def register(
    family: str, name: str, cls: type, summary: str, knobs: Sequence[Mapping[str, Any]]
) -> None: ...
def knob_default(knob: Mapping[str, Any]) -> bool | int | float | str: ...
def mechanisms(name: str | None = None) -> list[tuple[str, str]]: ...
def library() -> list[tuple[str, str]]: ...
def schema() -> str: ...
def quantities() -> list[str]: ...
