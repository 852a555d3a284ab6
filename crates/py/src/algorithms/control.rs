//! Congestion controls in Python.

use super::facts::{AckSample, Established, event, threshold};
use super::object::{Class, Object};
use super::{MOST_BYTES, bytes, number, registered};
use ackord_tcp::congestion::{
    self, Congestion, CongestionConfig, CongestionControl, CongestionEvent,
};
use ackord_units::{Bytes, Choice, Rate, Time};
use pyo3::intern;
use pyo3::prelude::*;

/// Makes a class of congestion controls known by a name, in every scenario that is checked from now on.
#[pyfunction]
pub(crate) fn register_congestion(name: &str, class: Py<PyAny>) -> PyResult<()> {
    let made = Box::new(Class::new("congestion", name, class));
    registered(Congestion::plug_ins().register(Congestion::MECHANISMS, name, made))
}

impl CongestionConfig for Class {
    fn build(&self) -> Box<dyn CongestionControl> {
        let windows = Windows { cwnd: Bytes(1), ssthresh: Bytes::MAX, pacing_rate: None };
        Box::new(Control { object: self.object(|_| Ok(())), windows })
    }
}

/// One connection's control.
#[derive(Clone, Debug)]
struct Control {
    object: Object,
    windows: Windows,
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
    fn tell(&mut self, at: Time, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        let decided = self.object.ask(at, |object| {
            call(object)?;
            Windows::of(object)
        });
        self.windows = decided.unwrap_or(self.windows);
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
}
