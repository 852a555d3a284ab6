//! What kind of application one is.

use ackord_units::Bytes;

/// What kind of application it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Too little is known.
    #[default]
    Unknown,
    /// Most transfers are small: messages, pages, photographs.
    Short,
    /// Large transfers are common: streaming, cloud storage.
    Bulk,
}

impl Verdict {
    /// From this size on a transfer is large: 1 MiB, just above the largest that the paper calls
    /// small (1 MB, §4.1). A class of the histogram begins here.
    pub const LARGE: Bytes = Bytes(1 << 20);
    /// An application becomes bulk when this share of its decayed transfers is large ...
    pub const BULK_FROM: f64 = 0.5;
    /// ... and stays so until less than this share is.
    pub const SHORT_BELOW: f64 = 0.35;
    /// With fewer decayed transfers nothing is said of an application that nothing was said of ...
    pub const ENOUGH: f64 = 5.0;
    /// ... and with fewer than this what was said is taken back.
    pub const TOO_FEW: f64 = 2.5;

    /// The verdict that follows this one, at so many decayed transfers of which this share is
    /// large.
    #[must_use]
    pub fn next(self, decayed: f64, large: f64) -> Verdict {
        match self {
            Verdict::Unknown if decayed < Verdict::ENOUGH => Verdict::Unknown,
            _ if decayed < Verdict::TOO_FEW => Verdict::Unknown,
            Verdict::Bulk if large >= Verdict::SHORT_BELOW => Verdict::Bulk,
            _ if large >= Verdict::BULK_FROM => Verdict::Bulk,
            _ => Verdict::Short,
        }
    }

    /// The word for it in tables, JSON and knobs.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Unknown => "unknown",
            Verdict::Short => "short",
            Verdict::Bulk => "bulk",
        }
    }
}
