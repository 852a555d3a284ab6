//! What a case expects of counters.

use std::fmt;

/// What a case expects beside equal bytes and counters of trouble at zero.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expect {
    /// One of our counters.
    Ours(Ours, Bound),
    /// One of the kernel's, by the name nstat gives it.
    Kernel(&'static str, Bound),
    /// The row takes as long as the reader's pause at least.
    LastsAPause,
    /// Marked packets came to the kernel.
    KernelSeesMarks,
}

/// Counters of our endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ours {
    FastRecoveries,
    WindowProbes,
    EcnReductions,
    Resets,
}

/// What a counter may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exactly(i64),
    AtMost(i64),
    Between(i64, i64),
    /// At most as many as this counter of the kernel's says.
    Counter(&'static str),
    /// At most as many as packets were overtaken on the path.
    Overtaken,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Exactly(wanted) => write!(f, "{wanted}"),
            Bound::AtMost(most) => write!(f, "at most {most}"),
            Bound::Between(least, most) => write!(f, "{least} to {most}"),
            Bound::Counter(name) => write!(f, "at most its {name}"),
            Bound::Overtaken => f.write_str("at most one for each packet overtaken"),
        }
    }
}

impl fmt::Display for Ours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ours::FastRecoveries => "fast recoveries",
            Ours::WindowProbes => "probes of a closed window",
            Ours::EcnReductions => "reductions by marks",
            Ours::Resets => "resets of connections",
        })
    }
}
