//! The reasons, as sentences.

use super::path::Path;
use crate::Cause;
use crate::account::{Stretch, Wait};
use crate::flow::loss::Loss;
use ackord_units::Span;

fn ms(seconds: f64) -> String {
    match seconds * 1e3 {
        millis if millis < 10.0 => format!("{millis:.1} ms"),
        millis => format!("{millis:.0} ms"),
    }
}

fn mbit(bytes: f64) -> String {
    match bytes * 8.0 / 1e6 {
        rate if rate < 1.0 => format!("{:.0} kbit/s", rate * 1e3),
        rate if rate < 100.0 => format!("{rate:.1} Mbit/s"),
        rate => format!("{rate:.0} Mbit/s"),
    }
}

fn segments(count: u32) -> String {
    if count == 1 { "1 segment".to_owned() } else { format!("{count} segments") }
}

/// What was retransmitted, how late, and how long the queue was before.
fn retransmitted(loss: &Loss, path: &Path) -> String {
    let silent = ms(loss.at.saturating_since(loss.silent_since).as_secs_f64());
    format!(
        "{} of {} retransmitted after {silent} without an ACK, round trip {} above the base before",
        segments(loss.retransmitted),
        loss.under_way.max(loss.retransmitted),
        ms((loss.rtt.as_secs_f64() - path.base).max(0.0)),
    )
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

/// Why this stretch is called what it is.
pub(super) fn reason(cause: Cause, stretch: &Stretch, loss: Option<&Loss>, path: &Path) -> String {
    let queue = path.queue(stretch).map_or_else(|| "unknown".to_owned(), ms);
    let flight = format!("{} bytes under way", stretch.seen.flight);
    let took = ms(stretch.span().as_secs_f64());
    let lost = |what: &str| match loss {
        Some(loss) => format!("{what}: {}", retransmitted(loss, path)),
        None => what.to_owned(),
    };
    if let Some(what) = of_loss(cause) {
        return lost(what);
    }
    match cause {
        Cause::SetUp => "The handshake took its round trips.".to_owned(),
        Cause::SynLoss => format!("A SYN was repeated after {took}."),
        Cause::ClientIdle | Cause::ServerIdle => {
            format!("All bytes were acknowledged and none came for {took}.")
        }
        Cause::ReceiverWindow => format!("The advertised window was full: {flight}."),
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
            Some(_) => lost("The window grows again after congestion"),
            None => format!("The window was still growing: {flight}, no queue yet."),
        },
        Cause::QueueingOwn => format!("The queue it fills itself delays by {queue}."),
        Cause::QueueingOthers => {
            format!(
                "A queue delays by {queue} while this connection sends {}.",
                mbit(stretch.rate())
            )
        }
        Cause::Policer | Cause::Shaper => format!("Held to {}.", mbit(path.rate)),
        Cause::UnfairShare => {
            format!("Others at the same queue send more than its {}.", mbit(stretch.rate()))
        }
        Cause::PathLimited => match stretch.seen.rtts {
            0 => format!("Bytes on their way: {}.", ms(path.base)),
            _ => format!("{} of {}, queue {queue}.", mbit(stretch.rate()), mbit(path.rate)),
        },
        Cause::CaptureArtefact => {
            format!(
                "Bytes were acknowledged then that the capture does not have: nothing for {took}."
            )
        }
        _ => {
            format!("{}: not told by these packets.", Span::as_secs_f64(stretch.span()))
        }
    }
}
