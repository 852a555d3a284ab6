//! Every entry, family by family.

use super::entry::Entry;
use super::{ack, congestion, loss, nagle, processing, proxy, queue, recovery};

/// Every entry, family by family.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        ack::ENTRIES,
        nagle::ENTRIES,
        loss::ENTRIES,
        recovery::ENTRIES,
        congestion::ENTRIES,
        queue::ENTRIES,
        proxy::ENTRIES,
        processing::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The families, in the order of [`entries`], each with what it decides.
pub const FAMILIES: &[(&str, &str)] = &[
    ("ack", "When the receiver acknowledges"),
    ("nagle", "When a small segment waits"),
    ("loss", "When a segment counts as lost"),
    ("recovery", "What is sent during recovery"),
    ("congestion", "How much may be outstanding"),
    ("queue", "Who waits and who is dropped at a link"),
    ("proxy", "What a middlebox does at a wireless link"),
    ("processing", "How long a host takes to send a packet"),
];
