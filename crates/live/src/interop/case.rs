//! A case: what both ends do, over which path, and what is expected of the counters.

use super::expect::Expect;
use super::program::Step;
use ackord_units::Span;

/// What is tried between our TCP and the kernel's.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What a user writes.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    pub(super) programs: fn(&Sizes) -> Programs,
    pub(super) connections: Connections,
    pub(super) path: Path,
    /// Keys of the scenario beside the path's, such as our endpoint's knobs.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// Settings of the kernel inside.
    pub(super) sysctls: &'static [(&'static str, &'static str)],
    /// How many ports the client has, where it has to use each several times.
    pub(super) ports: Option<u16>,
    pub(super) expect: &'static [Expect],
}

impl Case {
    /// The path it runs over, in words.
    pub fn path_about(&self) -> &'static str {
        self.path.about
    }

    /// Whether both ends mostly wait, so that several rows of it can run at the same time without
    /// taking anything from each other.
    pub fn mostly_waits(&self) -> bool {
        self.name.starts_with("loss-") || self.name.starts_with("zero-window-")
    }
}

/// How much is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a bulk transfer.
    pub bulk: u64,
    /// Bytes of the transfers in which something else matters.
    pub some: u64,
    /// Short connections.
    pub connections: u32,
    /// How long a reader does not read.
    pub pause: Span,
}

impl Sizes {
    /// The whole matrix.
    pub const FULL: Sizes = Sizes {
        bulk: 100_000_000,
        some: 10_000_000,
        connections: 10_000,
        pause: Span::from_secs(30),
    };
    /// A thin one that takes about a minute.
    pub const QUICK: Sizes =
        Sizes { bulk: 2_000_000, some: 1_500_000, connections: 300, pause: Span::from_secs(3) };
}

/// What the two applications do.
pub(super) enum Programs {
    /// Whoever opens the connection.
    ByEnd { ours: Vec<Step>, kernel: Vec<Step> },
    /// Whichever end it is.
    ByRole { client: Vec<Step>, server: Vec<Step> },
}

/// How many connections there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connections {
    One,
    /// The short ones, so many at a time.
    Short {
        at_once: u32,
    },
}

/// The path of a case, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// What it is, for the table's reader.
    pub(super) about: &'static str,
    /// Keys of its link.
    pub(super) link: &'static [(&'static str, &'static str)],
}
