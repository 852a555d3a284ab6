//! The mechanism guide: the idea of each mechanism, a picture, and a run that shows where it helps,
//! where it does nothing and where it hurts.
//!
//! ```text
//! Entry (words, cases, picture) ─► measure: run both sides of every case ─► page: a document
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `entry.rs` | what an entry is |
//! | `entries.rs` | all of them |
//! | `measure.rs` | a case run, and what it came to |
//! | `page.rs` | entries as documents |
//! | `ack.rs`, `nagle.rs`, `loss.rs`, `recovery.rs`, `congestion.rs` | entries: endpoints |
//! | `queue.rs`, `queue/`, `proxy.rs`, `processing.rs` | entries: the path, and hosts |
//!
//! The words say what should come out; the runs say what does. A case whose runs do not bear out its
//! words is an error, so the guide cannot go stale unnoticed.

mod ack;
mod congestion;
mod entries;
mod entry;
mod loss;
mod measure;
mod nagle;
mod page;
mod processing;
mod proxy;
mod queue;
mod recovery;

pub use entries::{FAMILIES, entries};
pub use entry::{Case, Drawn, Effect, Entry, Metric, Picture, Setup, WORTH};
pub use measure::{GuideError, Guided, Measured, measure};
pub use page::{document, index_document, page_document};

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_tcp::registry as tcp;
    use ackord_units::Choice;
    use std::collections::BTreeSet;

    /// Every registered mechanism that a guide should speak of.
    fn registered() -> BTreeSet<(&'static str, &'static str)> {
        let endpoints = tcp::CHOICES.iter().flat_map(|chosen| chosen.mechanisms);
        let queues = ackord_path::registry::QueueChoice::MECHANISMS.iter();
        let boxes = ackord_path::registry::ProxyChoice::MECHANISMS.iter();
        let hosts = ackord_path::registry::ProcessingChoice::MECHANISMS.iter();
        endpoints
            .chain(queues)
            .chain(boxes)
            .chain(hosts)
            .map(|mechanism| (mechanism.family, mechanism.name))
            .collect()
    }

    #[test]
    fn every_mechanism_has_an_entry_and_every_entry_a_mechanism() {
        let told: BTreeSet<_> = entries().map(|entry| (entry.family, entry.name)).collect();
        let missing: Vec<_> = registered().difference(&told).copied().collect();
        assert!(missing.is_empty(), "not in the guide: {missing:?}");
        let unknown: Vec<_> = told.difference(&registered()).copied().collect();
        assert!(unknown.is_empty(), "not registered: {unknown:?}");
    }

    #[test]
    fn every_setup_is_sound_and_every_idea_is_short() {
        for entry in entries() {
            assert!(entry.idea.lines().count() <= 5, "{}", entry.name);
            for case in entry.cases {
                case.setup.variants().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            }
            entry
                .picture
                .setup
                .variants()
                .unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        }
    }

    #[test]
    fn families_are_told_in_the_order_of_the_entries() {
        let mut order: Vec<_> = entries().map(|entry| entry.family).collect();
        order.dedup();
        assert_eq!(order, FAMILIES.iter().map(|(family, _)| *family).collect::<Vec<_>>());
    }
}
