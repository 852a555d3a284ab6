//! Congestion controls in Python.

use super::facts::{AckSample, Established, event, threshold};
use super::object::{Class, Object};
use super::path_model::{LostSegment, RateSample};
use super::{MOST_BYTES, bytes, extracted, number};
use crate::errors::bad_input;
use ackord_tcp::congestion::{
    self, CongestionConfig, CongestionControl, CongestionEvent, LossAnswer, PathModel, SampleAdvice,
};
use ackord_units::{Bytes, Rate, Time};
use pyo3::intern;
use pyo3::prelude::*;

impl CongestionConfig for Class {
    fn build(&self) -> Box<dyn CongestionControl> {
        let windows = Windows { cwnd: Bytes(1), ssthresh: Bytes::MAX, pacing_rate: None };
        let mut object = self.object(|_| Ok(()));
        let declared = object.ask(Time::ZERO, Declared::of).unwrap_or_default();
        Box::new(Control { object, declared, windows })
    }
}

/// One connection's control.
#[derive(Clone, Debug)]
struct Control {
    object: Object,
    declared: Declared,
    windows: Windows,
}

/// What its class says once.
#[derive(Clone, Copy, Debug)]
struct Declared {
    loss_answer: LossAnswer,
    models_path: bool,
}

impl Default for Declared {
    fn default() -> Declared {
        Declared { loss_answer: LossAnswer::AsRecovery, models_path: false }
    }
}

impl Declared {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Declared> {
        let answer = object.getattr("loss_answer")?;
        let loss_answer = match answer.extract::<String>().as_deref() {
            Ok("as-recovery") => LossAnswer::AsRecovery,
            Ok("slow-start") => LossAnswer::SlowStart,
            Ok("own-window") => LossAnswer::OwnWindow,
            _ => {
                return Err(bad_input(format!(
                    "`loss_answer` is {}: \"as-recovery\", \"slow-start\" or \"own-window\" is allowed",
                    answer.repr()?
                )));
            }
        };
        Ok(Declared { loss_answer, models_path: object.getattr("_models_path")?.extract()? })
    }
}

/// What it decided last.
#[derive(Clone, Copy, Debug)]
struct Windows {
    cwnd: Bytes,
    ssthresh: Bytes,
    pacing_rate: Option<Rate>,
}

impl Control {
    /// Calls the object, and reads off it what it decided.
    fn tell<T>(
        &mut self,
        at: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let decided = self.object.ask(at, |object| Ok((call(object)?, Windows::of(object)?)));
        let (answer, windows) = decided?;
        self.windows = windows;
        Some(answer)
    }
}

impl Windows {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Windows> {
        let py = object.py();
        let cwnd = bytes("cwnd", 1, &object.getattr(intern!(py, "cwnd"))?)?;
        let ssthresh = number("ssthresh", "bytes", &object.getattr(intern!(py, "ssthresh"))?)?;
        let rate = object.getattr(intern!(py, "pacing_rate"))?;
        let pacing_rate = match rate.is_none() {
            true => None,
            false => Some(number("pacing_rate", "bit/s", &rate)?),
        };
        Ok(Windows {
            cwnd,
            // What is beyond every window is no threshold.
            ssthresh: if ssthresh > MOST_BYTES { Bytes::MAX } else { Bytes(ssthresh as u64) },
            pacing_rate: pacing_rate.map(|rate| Rate::from_bits_per_sec(rate as u64)),
        })
    }
}

impl CongestionControl for Control {
    fn on_established(&mut self, at: Time, sizes: congestion::Established) {
        self.tell(at, |object| {
            let py = object.py();
            object.setattr(intern!(py, "cwnd"), sizes.initial_window.get())?;
            object.setattr(intern!(py, "ssthresh"), threshold(Bytes::MAX))?;
            let sizes = Established::from(sizes);
            object.call_method1(intern!(py, "on_established"), (at.as_secs_f64(), sizes)).map(drop)
        });
    }

    fn on_ack(&mut self, at: Time, ack: &congestion::AckSample) {
        self.tell(at, |object| {
            let told = (at.as_secs_f64(), AckSample(*ack));
            object.call_method1(intern!(object.py(), "on_ack"), told).map(drop)
        });
    }

    fn on_congestion(&mut self, at: Time, what: CongestionEvent) {
        self.tell(at, |object| {
            let told = (at.as_secs_f64(), event(object.py(), what)?);
            object.call_method1(intern!(object.py(), "on_congestion"), told).map(drop)
        });
    }

    fn cwnd(&self) -> Bytes {
        self.windows.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        self.windows.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.windows.pacing_rate
    }

    fn may_pace(&self) -> bool {
        true
    }

    fn loss_answer(&self) -> LossAnswer {
        self.declared.loss_answer
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        self.declared.models_path.then_some(self)
    }
}

impl PathModel for Control {
    fn on_rate_sample(&mut self, at: Time, sample: &congestion::RateSample) -> SampleAdvice {
        let answer = self.tell(at, |object| {
            let told = (at.as_secs_f64(), RateSample(*sample));
            let answer = object.call_method1(intern!(object.py(), "on_rate_sample"), told)?;
            match answer.is_none() {
                true => Ok(false),
                false => match extracted::<bool>(&answer)? {
                    Some(limited) => Ok(limited),
                    None => Err(bad_input(format!(
                        "`on_rate_sample` answered {}: None, or True to mark what follows as limited by the \
                         application, is allowed",
                        answer.repr()?
                    ))),
                },
            }
        });
        match answer {
            Some(true) => SampleAdvice::MarkAppLimited,
            Some(false) | None => SampleAdvice::GoOn,
        }
    }

    fn on_segment_lost(&mut self, at: Time, lost: &congestion::LostSegment) {
        self.tell(at, |object| {
            let told = (at.as_secs_f64(), LostSegment::from(*lost));
            object.call_method1(intern!(object.py(), "on_segment_lost"), told).map(drop)
        });
    }

    fn on_restart_from_idle(&mut self, at: Time) {
        self.tell(at, |object| {
            let told = (at.as_secs_f64(),);
            object.call_method1(intern!(object.py(), "on_restart_from_idle"), told).map(drop)
        });
    }
}
