//! A script as it has been understood: what kind of endpoint, and step by step what happens to it.

use crate::facts::Assertion;
use ackord_tcp::registry::Stack;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, IpVersion};

/// A script that has been read and found sound.
#[derive(Clone, Debug)]
pub struct Script {
    /// The text, line by line, for those who tell what went wrong.
    pub lines: Vec<String>,
    /// What the endpoint is made of.
    pub stack: Stack,
    /// Which IP carries the segments.
    pub ip: IpVersion,
    /// The endpoint's initial sequence number.
    pub iss: Seq,
    /// The peer's.
    pub irs: Seq,
    /// When the application reads.
    pub reads: Reads,
    /// What happens, in order of time.
    pub steps: Vec<Step>,
}

/// When the application takes what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reads {
    /// When a line says so.
    #[default]
    OnCall,
    /// As soon as there is something.
    AtOnce,
}

/// Something that happens at a time.
#[derive(Clone, Debug)]
pub struct Step {
    /// The line, counted from one.
    pub line: usize,
    /// When.
    pub at: Time,
    /// How much earlier or later it may be; only of an expected segment.
    pub tolerance: Span,
    /// What.
    pub action: Action,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum Action {
    /// Segments arrive at the endpoint.
    Inject(Vec<Injection>),
    /// A segment leaves the endpoint.
    Expect(Fields),
    /// No segment leaves it.
    ExpectNothing(Quiet),
    /// The application does something.
    Call(Call),
    /// Something is so.
    Assert(Vec<Assertion>),
}

/// A segment that arrives.
#[derive(Clone, Debug)]
pub struct Injection {
    /// How long after the step's time.
    pub after: Span,
    /// What it says; the rest follows from what was injected before.
    pub fields: Fields,
}

/// How long nothing leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiet {
    /// What is due at the step's own time has been seen too.
    Through,
    /// What is due at the step's own time may still leave.
    Until,
}

/// What the application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It opens the connection.
    Connect,
    /// It waits for the peer to open it.
    Listen,
    /// It writes.
    Write {
        /// How much it wants to write.
        bytes: Bytes,
        /// How much the endpoint has to take.
        takes: Bytes,
    },
    /// It reads; as much has to be there.
    Read(Bytes),
    /// It reads all there is.
    ReadAll,
    /// It has nothing more to send.
    Close,
    /// It neither writes nor reads any more.
    Release,
    /// It gives the connection up.
    Abort,
}

/// A segment as written in a script. What is absent is filled in when it is injected and not
/// compared when it is expected, except for [`Fields::flags`] and [`Fields::len`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Control bits. SYN, FIN and RST of an expected segment are always compared.
    pub flags: FlagsWanted,
    /// First byte.
    pub seq: Option<Number>,
    /// Bytes of payload; always compared.
    pub len: Len,
    /// The acknowledgment.
    pub ack: Option<Number>,
    /// The window.
    pub window: Option<Window>,
    /// Options.
    pub options: OptionsWanted,
    /// The ECN field of the packet.
    pub ecn: Option<Ecn>,
}

/// Control bits as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlagsWanted {
    /// Those that are set.
    pub set: Flags,
    /// Those that are said to be clear.
    pub clear: Flags,
    /// None at all is set.
    pub none: bool,
}

/// A sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Counted from the initial sequence number of whoever's bytes it counts.
    Relative(i64),
    /// As it stands in the header.
    Raw(u32),
}

/// The length of a segment's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    /// So many bytes.
    Bytes(u32),
    /// It does not matter.
    Any,
}

impl Default for Len {
    fn default() -> Len {
        Len::Bytes(0)
    }
}

/// A window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// In bytes: the header's field after scaling.
    Bytes(u32),
    /// As it stands in the header.
    Field(u16),
}

/// What a script says of an option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Want<T> {
    /// Nothing.
    #[default]
    Unsaid,
    /// It is absent.
    Absent,
    /// It is there and says this.
    Is(T),
}

/// Options as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionsWanted {
    /// Maximum segment size.
    pub mss: Want<u16>,
    /// Window scale.
    pub window_scale: Want<u8>,
    /// SACK permitted.
    pub sack_permitted: Want<()>,
    /// Timestamps.
    pub timestamps: Want<Stamps>,
    /// SACK blocks, in this order.
    pub sack: Want<Vec<(Number, Number)>>,
    /// What is not said is absent.
    pub only: bool,
}

/// Timestamps as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// TSval, counted from what the clock of its sender says at time zero.
    pub value: Option<Number>,
    /// TSecr, counted from what the clock of the other end says at time zero.
    pub echo: Option<Number>,
}
