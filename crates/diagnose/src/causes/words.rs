//! The reasons, as sentences.

use super::air;
use super::path::Path;
use super::policer::Policer;
use crate::Cause;
use crate::account::{Stretch, Wait};
use crate::flow::Connection;
use crate::flow::loss::Loss;
use ackord_units::{Span, Time};

pub(super) fn ms(seconds: f64) -> String {
    match seconds * 1e3 {
        millis if millis < 10.0 => format!("{millis:.1} ms"),
        millis => format!("{millis:.0} ms"),
    }
}

pub(super) fn mbit(bytes: f64) -> String {
    match bytes * 8.0 / 1e6 {
        rate if rate < 1.0 => format!("{:.0} kbit/s", rate * 1e3),
        rate if rate < 100.0 => format!("{rate:.1} Mbit/s"),
        rate => format!("{rate:.0} Mbit/s"),
    }
}

fn segments(count: u32) -> String {
    if count == 1 { "1 segment".to_owned() } else { format!("{count} segments") }
}

/// Returns what was retransmitted, how late, and how long the queue was before.
fn retransmitted(loss: &Loss, path: &Path) -> String {
    let after = match loss.silent_since > Time::ZERO && loss.silent_since < loss.at {
        true => {
            format!(
                " {} after the last ACK",
                ms(loss.at.saturating_since(loss.silent_since).as_secs_f64())
            )
        }
        false => String::new(),
    };
    let queue = match loss.rtt.as_secs_f64() - path.base {
        queue if loss.rtt > Span::ZERO && queue > 0.0 => {
            format!(", round trip {} above the shortest before", ms(queue))
        }
        _ => String::new(),
    };
    let of = loss.under_way.max(loss.retransmitted);
    format!("{} of {of} retransmitted{after}{queue}.", segments(loss.retransmitted))
}

/// What a cause says of the loss that it is one of.
fn of_loss(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::FastRecovery => "Loss with a full queue",
        Cause::RandomLoss => "Loss with no queue to explain it",
        Cause::TimeoutTail => "The last segments were lost",
        Cause::TimeoutWindow => "All of a window was lost",
        Cause::TimeoutSmallWindow => "Too few segments for duplicate ACKs",
        Cause::TimeoutLostRetransmission => "A retransmission was lost",
        Cause::Outage => "Nothing got through",
        Cause::SpuriousReordering => "The original had only been overtaken",
        Cause::SpuriousDelay => "The original was only late",
        Cause::AckPath => "The bytes had arrived; their ACKs had not",
        _ => return None,
    })
}

/// Returns the reason for a cause, in a sentence.
pub(super) fn reason(
    cause: Cause,
    stretch: &Stretch,
    loss: Option<&Loss>,
    path: &Path,
    connection: &Connection,
) -> String {
    let side = usize::from(stretch.side);
    let took = ms(stretch.span().as_secs_f64());
    // FINs, SYNs and bytes that the capture lacks count in sequence numbers.
    let flight = stretch.seen.flight.min(connection.halves[side].counts.bytes);
    let flight = format!("{flight} bytes under way");
    if let Some(what) = of_loss(cause) {
        return match (loss, stretch.wait) {
            (_, Wait::Stalled) => format!("Bytes were under way and no ACK arrived for {took}."),
            (Some(loss), _) => {
                let lost = air::lost(connection, loss);
                let on_air = lost.as_ref().is_some_and(|lost| lost.is_sure(loss));
                let what =
                    if on_air && cause == Cause::RandomLoss { "Loss on the air" } else { what };
                let sent = lost.map_or_else(String::new, |lost| lost.words());
                format!("{what}: {}{sent}", retransmitted(loss, path))
            }
            (None, _) => format!("{what}."),
        };
    }
    match cause {
        Cause::MtuBlackHole => {
            let half = &connection.halves[side];
            format!(
                "Segments of {} bytes never arrived, however often they were sent; segments of up to {} bytes did.",
                half.stuck.unwrap_or_default(),
                half.flight.longest_arrived
            )
        }
        Cause::SetUp => "The handshake took its round trips.".to_owned(),
        Cause::SynLoss => format!("A SYN was repeated after {took}."),
        Cause::ClientIdle | Cause::ServerIdle => {
            format!("All bytes were acknowledged and none were sent for {took}.")
        }
        Cause::ReceiverWindow => format!("The advertised window was full: {flight}."),
        Cause::ZeroWindow if stretch.wait == Wait::SlowReader => format!(
            "The receiver's application reads {}: unread bytes fill most of its buffer.",
            mbit(stretch.rate())
        ),
        Cause::ZeroWindow => format!("The receiver advertised no window for {took}."),
        Cause::SendBuffer if stretch.wait == Wait::Unfilled => {
            format!("{took} of ACKs unanswered with bytes under way: the sender had no more.")
        }
        Cause::SendBuffer => format!("{flight}, no more and no less, without loss or queue."),
        Cause::NagleDelayedAck => {
            format!("A small segment waited {took} for the ACK of the one before it.")
        }
        Cause::DelayedAck => format!("The ACK that opened the window came after {took}."),
        Cause::WindowGrowth => match loss {
            Some(loss) => {
                format!("The window grows again after congestion: {}", retransmitted(loss, path))
            }
            None => format!("The window was still growing: {flight}, no queue yet."),
        },
        _ => of_path(cause, stretch, path, connection),
    }
}

/// Returns the reason for a policer, in a sentence.
pub(super) fn policed(policer: Policer) -> String {
    let burst = match policer.burst / 1e3 {
        kilobytes if kilobytes < 1e3 => format!("{kilobytes:.0} kB"),
        kilobytes => format!("{:.1} MB", kilobytes / 1e3),
    };
    let whose = if policer.shared { " of this and other connections" } else { "" };
    match policer.rate {
        Some(rate) => {
            format!("Packets{whose} beyond {} are dropped; a burst of {burst} passes.", mbit(rate))
        }
        None => format!("Packets behind the first {burst} of a burst are dropped."),
    }
}

/// Returns the reason for a cause of the path, in a sentence.
fn of_path(cause: Cause, stretch: &Stretch, path: &Path, connection: &Connection) -> String {
    let took = ms(stretch.span().as_secs_f64());
    let queue = path.queue(stretch).filter(|queue| *queue > 0.0);
    match cause {
        Cause::QueueingOwn => match queue {
            Some(queue) => format!("The queue that it fills delays by {}.", ms(queue)),
            None => format!("Its bytes wait in the queue that it fills: {took}."),
        },
        Cause::QueueingOthers => match queue {
            Some(queue) => format!("A queue filled by others delays by {}.", ms(queue)),
            None => format!("Its bytes wait in a queue filled by others: {took}."),
        },
        Cause::Shaper => format!("Held to {} after a burst.", mbit(path.queued_rate)),
        Cause::UnfairShare => {
            format!("Others at the same queue send more than its {}.", mbit(stretch.rate()))
        }
        Cause::PathLimited if stretch.wait == Wait::Stalled => {
            format!("The path delivered nothing for {took}, and nothing was lost.")
        }
        Cause::PathLimited => match (stretch.seen.rtts, queue) {
            (0, _) if path.base > 0.0 => format!("Bytes on their way: {}.", ms(path.base)),
            (0, _) => format!("Bytes on their way for {took}."),
            (_, queue) => format!(
                "The path carries {}, queue {}.",
                mbit(stretch.rate()),
                ms(queue.unwrap_or_default())
            ),
        },
        Cause::CaptureArtefact => {
            format!("Bytes were acknowledged that the capture does not have: nothing for {took}.")
        }
        _ if connection.is_unanswered() => {
            format!("No answer to the SYN for {took}: the host or its port does not answer.")
        }
        _ if connection.is_one_way() => one_way(connection),
        _ if stretch.wait == Wait::Recovery => {
            "A FIN was repeated: the other end is gone, and no byte waits for it.".to_owned()
        }
        _ => format!("These packets do not show why: {took}."),
    }
}

/// Returns what packets of one direction show.
fn one_way(connection: &Connection) -> String {
    let side = usize::from(connection.halves[0].counts.packets == 0);
    let end = ["client", "server"][side];
    let counts = &connection.halves[side].counts;
    let life = connection.last.saturating_since(connection.began).as_secs_f64();
    match counts.bytes {
        0 => format!("Only packets from the {end} were captured, without data."),
        bytes if life > 0.0 => format!(
            "Only packets from the {end} were captured: it sent {}, and without ACKs no wait has a cause.",
            mbit(bytes as f64 / life)
        ),
        _ => format!("Only packets from the {end} were captured."),
    }
}
