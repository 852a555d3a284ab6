//! Recovery senders in Python.

use super::bytes;
use super::facts::threshold;
use super::object::{Class, Object};
use super::raised::clock;
use crate::errors::{bad_input, unknown_name};
use ackord_tcp::congestion::LossResponse;
use ackord_tcp::recovery::{
    self, LossRecovery, PartialAckTimer, Recovery, RecoveryConfig, RecoveryDecision, RecoveryExit,
    RecoveryProfile, Reentry,
};
use ackord_units::{Bytes, Choice, Keyword, Time};
use pyo3::intern;
use pyo3::prelude::*;

/// The sender's books at one moment. Sizes are in bytes.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Flight {
    /// Sent and not acknowledged: SND.NXT - SND.UNA.
    flight_size: u64,
    /// Of those, known to have arrived, by SACK.
    sacked: u64,
    /// Thought to be in the network (RFC 6675 section 2).
    pipe: u64,
    /// The congestion window.
    cwnd: u64,
    /// The slow-start threshold; infinite while there is none.
    ssthresh: f64,
    /// Sender maximum segment size.
    smss: u64,
}

/// What fast recovery begins with; ssthresh and cwnd are reduced already.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct RecoveryEntry {
    /// The books once the losses known by now are taken off pipe.
    flight: Py<Flight>,
    /// Duplicate acknowledgments so far.
    duplicate_acks: u32,
    /// Bytes newly known to have arrived by the acknowledgment that shows the loss; none if a timer did.
    delivered: u64,
}

/// An acknowledgment during fast recovery.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct RecoveryAck {
    /// Whether it covers some, but not all, of what was outstanding when the loss was detected.
    partial: bool,
    /// Bytes newly acknowledged, cumulatively.
    acked: u64,
    /// Bytes newly known to have arrived, cumulatively or by SACK.
    delivered: u64,
    /// Whether it showed more losses.
    new_losses: bool,
    /// The books after it.
    flight: Py<Flight>,
}

impl Flight {
    fn of(py: Python<'_>, flight: &recovery::Flight) -> PyResult<Py<Flight>> {
        let recovery::Flight { flight_size, sacked, pipe, cwnd, ssthresh, smss } = *flight;
        let [flight_size, sacked, pipe, cwnd, smss] =
            [flight_size, sacked, pipe, cwnd, smss].map(Bytes::get);
        let ssthresh = threshold(ssthresh);
        Py::new(py, Flight { flight_size, sacked, pipe, cwnd, ssthresh, smss })
    }
}

impl RecoveryConfig for Class {
    fn build(&self) -> Box<dyn Recovery> {
        let mut object = self.object(|_| Ok(()));
        let declared = object.ask(Time::ZERO, |object| {
            let instead: Option<String> = object.getattr("without_sack")?.extract()?;
            Ok((profile(object)?, instead.map(|name| listed(&name)).transpose()?))
        });
        let (profile, instead) = declared.unwrap_or((RecoveryProfile::STANDARD, None));
        Box::new(Sender { object, profile, instead })
    }
}

fn listed(name: &str) -> PyResult<LossRecovery> {
    let names = LossRecovery::MECHANISMS.iter().map(|mechanism| mechanism.name);
    LossRecovery::named(name).ok_or_else(|| unknown_name("recovery", name, names))
}

/// What it asks of the sender, by attributes of its class.
fn profile(object: &Bound<'_, PyAny>) -> PyResult<RecoveryProfile> {
    let word = |what: &str| object.getattr(what)?.extract::<String>();
    let wrong = |what: &str, given: &str, allowed: &str| {
        bad_input(format!("`{what}` is {given:?}: {allowed} is allowed"))
    };
    let given = word("response")?;
    let response = match given.as_str() {
        "fast-recovery" => LossResponse::FastRecovery,
        "slow-start" => LossResponse::SlowStart,
        _ => return Err(wrong("response", &given, "\"fast-recovery\" or \"slow-start\"")),
    };
    let given = word("reentry")?;
    let reentry = match given.as_str() {
        "allowed" => Reentry::Allowed,
        "after-recover" => Reentry::AfterRecover,
        "beyond-recover" => Reentry::BeyondRecover,
        _ => {
            let allowed = "\"allowed\", \"after-recover\" or \"beyond-recover\"";
            return Err(wrong("reentry", &given, allowed));
        }
    };
    let given = word("partial_ack_timer")?;
    let partial_ack_timer = PartialAckTimer::from_word(&given)
        .ok_or_else(|| wrong("partial_ack_timer", &given, "\"first\" or \"each\""))?;
    let rescues = object.getattr("rescues")?.is_truthy()?;
    let standard = RecoveryProfile::STANDARD;
    Ok(RecoveryProfile { response, reentry, partial_ack_timer, rescues, ..standard })
}

/// One connection's recovery sender. Its calls have no time: what it raises has that of the run's latest call.
#[derive(Clone, Debug)]
struct Sender {
    object: Object,
    profile: RecoveryProfile,
    instead: Option<LossRecovery>,
}

impl Recovery for Sender {
    fn profile(&self) -> RecoveryProfile {
        self.profile
    }

    fn without_sack(&self) -> Option<Box<dyn Recovery>> {
        self.instead.as_ref().map(|instead| instead.config().build())
    }

    fn enter(&mut self, entry: &recovery::Entry) {
        self.object.ask(clock(), |object| {
            let py = object.py();
            let recovery::Entry { ref flight, duplicate_acks, delivered } = *entry;
            let (flight, delivered) = (Flight::of(py, flight)?, delivered.get());
            let entry = RecoveryEntry { flight, duplicate_acks, delivered };
            object.call_method1(intern!(py, "on_enter"), (entry,)).map(drop)
        });
    }

    fn on_arrival(&mut self) {
        self.object.ask(clock(), |object| {
            object.call_method0(intern!(object.py(), "on_arrival")).map(drop)
        });
    }

    fn on_ack(&mut self, ack: &recovery::RecoveryAck) -> RecoveryDecision {
        let decided = self.object.ask(clock(), |object| {
            let py = object.py();
            let facts = RecoveryAck {
                partial: ack.partial,
                acked: ack.acked.get(),
                delivered: ack.delivered.get(),
                new_losses: ack.new_losses,
                flight: Flight::of(py, &ack.flight)?,
            };
            decision(&object.call_method1(intern!(py, "on_ack"), (facts,))?, ack.partial)
        });
        decided.unwrap_or(RecoveryDecision::Continue)
    }

    fn on_sent(&mut self, bytes: Bytes) {
        self.object.ask(clock(), |object| {
            object.call_method1(intern!(object.py(), "on_sent"), (bytes.get(),)).map(drop)
        });
    }

    fn allowance(&self, flight: &recovery::Flight) -> Bytes {
        let allowed = self.object.look(clock(), |object| {
            let py = object.py();
            let answer =
                object.call_method1(intern!(py, "allowance"), (Flight::of(py, flight)?,))?;
            bytes("allowance", 0, &answer)
        });
        allowed.unwrap_or(Bytes::ZERO)
    }

    fn exit(&self, flight: &recovery::Flight) -> RecoveryExit {
        let bound = self.object.look(clock(), |object| {
            let py = object.py();
            let answer = object.call_method1(intern!(py, "on_exit"), (Flight::of(py, flight)?,))?;
            match answer.is_none() {
                true => Ok(None),
                false => bytes("on_exit", 1, &answer).map(Some),
            }
        });
        RecoveryExit { cwnd_at_most: bound.flatten(), ..RecoveryExit::default() }
    }
}

/// What a recovery does about an acknowledgment; only a partial one can end it or show a loss.
fn decision(answer: &Bound<'_, PyAny>, partial: bool) -> PyResult<RecoveryDecision> {
    let word = match answer.is_none() {
        true => return Ok(RecoveryDecision::Continue),
        false => super::extracted::<String>(answer)?,
    };
    match word.as_deref() {
        Some("exit") if partial => Ok(RecoveryDecision::Exit),
        Some("retransmit-oldest") if partial => Ok(RecoveryDecision::RetransmitOldest),
        _ => Err(bad_input(format!(
            "`on_ack` answered {}: None to continue or, to a partial acknowledgment, RecoveryStep.EXIT or \
             RecoveryStep.RETRANSMIT_OLDEST, is allowed",
            answer.repr()?
        ))),
    }
}
