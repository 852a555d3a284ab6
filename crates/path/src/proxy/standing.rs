//! Where a middlebox stands, and so what it can do and is told.

use ackord_units::Keyword;

/// Where a middlebox stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Standing {
    /// Beside the path: it can have packets removed, but none changed, and takes what a queue refuses
    /// for lost in the air.
    Beside,
    /// In the path, before the link's queue: it may change packets and hold them back, and is told
    /// what the queue refuses.
    InPath,
}
