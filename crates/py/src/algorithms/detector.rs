//! Loss detectors in Python.

use super::facts::{Delivered, LossFacts, Spurious};
use super::object::{Class, Object};
use super::{bytes, number, span, time_from};
use crate::errors::bad_input;
use ackord_events::RecoveryKind;
use ackord_tcp::loss::{
    self, DetectorProfile, DetectorView, LossConfig, LossDetector, LossEvent, LossVerdict,
    LostRetransmission, Overdue, TimeScope, Undo,
};
use ackord_units::{Span, Time};
use pyo3::intern;
use pyo3::prelude::*;

impl LossConfig for Class {
    fn build(&self) -> Box<dyn LossDetector> {
        let mut object = self.object(|_| Ok(()));
        let profile = object.ask(Time::ZERO, profile).unwrap_or(DetectorProfile::STANDARD);
        let learnt = object.ask(Time::ZERO, |object| Learnt::of(Time::ZERO, object));
        let learnt = learnt.unwrap_or(Learnt { view: DetectorView::threshold(3), deadline: None });
        Box::new(Detector { object, profile, learnt })
    }
}

/// One connection's detector.
#[derive(Clone, Debug)]
struct Detector {
    object: Object,
    profile: DetectorProfile,
    learnt: Learnt,
}

/// What it has learnt, and what it waits for.
#[derive(Clone, Copy, Debug)]
struct Learnt {
    view: DetectorView,
    deadline: Option<Time>,
}

impl Learnt {
    fn of(at: Time, object: &Bound<'_, PyAny>) -> PyResult<Learnt> {
        let py = object.py();
        let given = object.getattr(intern!(py, "duplicate_threshold"))?;
        let threshold = number("duplicate_threshold", "segments", &given)?;
        if !(1.0..=1e9).contains(&threshold) {
            return Err(bad_input(format!(
                "`duplicate_threshold` is {given}: 1 segment or more is allowed"
            )));
        }
        let reordering_seen = object.getattr(intern!(py, "reordering_seen"))?.is_truthy()?;
        let view = DetectorView { reordering_seen, ..DetectorView::threshold(threshold as u32) };
        let deadline = object.getattr(intern!(py, "deadline"))?;
        Ok(Learnt { view, deadline: time_from("deadline", "no timer", at, &deadline)? })
    }
}

/// What it asks of the sender, by attributes of its class.
fn profile(object: &Bound<'_, PyAny>) -> PyResult<DetectorProfile> {
    let by_time: Option<String> = object.getattr("by_time")?.extract()?;
    let by_time = match by_time.as_deref() {
        None => None,
        Some("everything") => Some(TimeScope::Everything),
        Some("retransmissions") => Some(TimeScope::Retransmissions),
        Some(other) => {
            return Err(bad_input(format!(
                "`by_time` is {other:?}: None, \"everything\" or \"retransmissions\" is allowed"
            )));
        }
    };
    let given = object.getattr("lost_retransmission")?;
    let lost_retransmission = match given.extract::<String>().as_deref() {
        Ok("repeats") => LostRetransmission::Repeats,
        Ok("reduces") => LostRetransmission::Reduces,
        _ => {
            return Err(bad_input(format!(
                "`lost_retransmission` is {}: \"repeats\" or \"reduces\" is allowed",
                given.repr()?
            )));
        }
    };
    let wish = |what: &str| {
        let given = object.getattr(what)?;
        match given.is_none() {
            true => Ok(None),
            false => span(what, &given).map(Some),
        }
    };
    let (tail_probe, timer_slack) = (wish("tail_probe")?, wish("timer_slack")?);
    let timer_slack = timer_slack.unwrap_or(Span::ZERO);
    let standard = DetectorProfile::STANDARD;
    Ok(DetectorProfile { by_time, lost_retransmission, tail_probe, timer_slack, ..standard })
}

impl Detector {
    /// Calls the object, and reads off it what it has learnt.
    fn ask<T>(
        &mut self,
        at: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let (answer, learnt) = self.object.ask(at, |object| {
            let answer = call(object)?;
            Ok((answer, Learnt::of(at, object)?))
        })?;
        self.learnt = learnt;
        Some(answer)
    }

    fn verdict(&mut self, method: &str, at: Time, facts: &loss::LossFacts) -> LossVerdict {
        let verdict = self.ask(at, |object| {
            verdict(method, &object.call_method1(method, (at.as_secs_f64(), LossFacts(*facts)))?)
        });
        verdict.unwrap_or(LossVerdict::WAIT)
    }
}

/// None to wait, bytes that may be sent beyond cwnd meanwhile, "lost", or how to undo.
fn verdict(method: &str, given: &Bound<'_, PyAny>) -> PyResult<LossVerdict> {
    if given.is_none() {
        return Ok(LossVerdict::WAIT);
    }
    if let Ok(word) = given.extract::<String>() {
        return match word.as_str() {
            "lost" => Ok(LossVerdict::Lost),
            _ => undo(method, given).map(LossVerdict::Spurious),
        };
    }
    Ok(LossVerdict::NotYet { beyond_cwnd: bytes(method, 0, given)? })
}

fn undo(method: &str, given: &Bound<'_, PyAny>) -> PyResult<Undo> {
    match given.extract::<String>().as_deref() {
        Ok("restore") => Ok(Undo::Restore),
        Ok("slow-start-back") => Ok(Undo::SlowStartBack),
        Ok("eifel-response") => Ok(Undo::EifelResponse),
        Ok("double-cwnd") => Ok(Undo::DoubleCwnd),
        _ => Err(bad_input(format!(
            "`{method}` answered {}: a Verdict, an Undo, bytes beyond cwnd or None is allowed",
            given.repr()?
        ))),
    }
}

impl LossDetector for Detector {
    fn profile(&self) -> DetectorProfile {
        self.profile
    }

    fn view(&self) -> DetectorView {
        self.learnt.view
    }

    fn on_ack(&mut self, at: Time, facts: &loss::LossFacts) -> LossVerdict {
        self.verdict("on_ack", at, facts)
    }

    fn on_delivered(&mut self, at: Time, delivered: &loss::Delivered) {
        self.ask(at, |object| {
            let told = (at.as_secs_f64(), Delivered::of(delivered));
            object.call_method1(intern!(object.py(), "on_delivered"), told).map(drop)
        });
    }

    fn overdue(&mut self, facts: &loss::LossFacts) -> Option<Overdue> {
        // No time is passed here: the sender compares ages with its own.
        let age = self.object.ask(Time::ZERO, |object| {
            let age = object.call_method1(intern!(object.py(), "overdue"), (LossFacts(*facts),))?;
            if age.is_none() { Ok(None) } else { span("overdue", &age).map(Some) }
        });
        let age = age.flatten()?;
        Some(Overdue { sent_before: None, age })
    }

    fn on_event(&mut self, event: LossEvent) {
        let word = match event {
            LossEvent::Recovery(RecoveryKind::Fast) => "fast-recovery",
            LossEvent::Recovery(RecoveryKind::Timeout) => "timeout",
            LossEvent::RetransmissionOverdue => "retransmission-overdue",
            LossEvent::Dsack { .. } => "dsack",
        };
        self.ask(Time::ZERO, |object| {
            object.call_method1(intern!(object.py(), "on_event"), (word,)).map(drop)
        });
    }

    fn on_spurious(&mut self, at: Time, spurious: &loss::Spurious) -> Option<Undo> {
        let answered = self.ask(at, |object| {
            let told = (at.as_secs_f64(), Spurious::of(spurious));
            let answer = object.call_method1(intern!(object.py(), "on_spurious"), told)?;
            if answer.is_none() { Ok(None) } else { undo("on_spurious", &answer).map(Some) }
        });
        answered.flatten()
    }

    fn deadline(&self) -> Option<Time> {
        self.learnt.deadline
    }

    fn on_timer(&mut self, at: Time, facts: &loss::LossFacts) -> LossVerdict {
        // Whatever it decides, the timer that expired is over, unless it is set anew.
        self.object
            .ask(at, |object| object.setattr(intern!(object.py(), "deadline"), object.py().None()));
        self.verdict("on_timer", at, facts)
    }
}
