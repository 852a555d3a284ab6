//! Connections while their packets pass.
//!
//! | file | what |
//! | --- | --- |
//! | `connection.rs` | [`Connection`]: a packet comes, both directions take note |
//! | `acks.rs` | what a packet says of the other direction |
//! | `talk.rs` | what the time before a data segment was spent on |
//! | `recovery.rs` | retransmissions: what triggered them, when they were over |
//! | `order.rs` | packets in another order than their times |
//! | `early.rs` | ACKs captured before their data |
//! | `half.rs` | one direction |
//! | `hearing.rs` | which acknowledgments its sender has heard |
//! | `sending.rs` | when it sent, and what it left unanswered since |
//! | `timeline.rs` | the capture's clock, without its jumps |
//! | `copies.rs` | copies of packets, at one interface and at two |
//! | `air.rs` | 802.11 frames: repetitions on the air, rates, airtime |
//! | `air_series.rs` | the same along the time |
//! | `numbers.rs` | gaps in the identification field of packets |
//! | `suspects.rs` | losses that only such gaps show |
//! | `hosts.rs` | whether such gaps prove losses: how a host numbers its packets |
//! | `counts.rs` | what is counted of it |
//! | `outstanding.rs` | what is under way, by exact byte ranges |
//! | `clock.rs` | how long a packet waited on its way here, by its sender's clock |
//! | `delay.rs` | how far the capture point is from either end |
//! | `marks.rs` | packets that a capture at another place shows, too |
//! | `phase.rs` | slow start or not |
//! | `loss.rs` | what is noted of a loss |
//! | `folding.rs` | a fast hash that is the same in every run |
//! | `table.rs` | which packet belongs to which connection |
//!
//! # Where the sender is
//! A capture may be taken anywhere. What a sender does is seen at the capture point some time after an
//! acknowledgment passed there on its way to it: the round trip between capture point and sender.
//! So acknowledgments are *heard* that much later, and from then on the same rules hold for
//! captures at the sender, at the receiver and between.

mod acks;
pub(crate) mod air;
pub(crate) mod air_series;
mod clock;
mod connection;
mod copies;
mod counts;
mod delay;
mod early;
mod folding;
mod half;
mod hearing;
mod hosts;
pub(crate) mod loss;
pub(crate) mod marks;
mod numbers;
mod order;
mod outstanding;
mod phase;
mod recovery;
mod sending;
mod suspects;
pub(crate) mod table;
mod talk;
mod timeline;

pub(crate) use connection::Connection;
pub(crate) use counts::Noted;
pub(crate) use half::Half;
pub(crate) use hosts::settle_numbers;
pub(crate) use sending::BURST;
