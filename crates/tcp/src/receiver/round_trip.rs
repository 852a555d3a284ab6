//! The round-trip time as an end sees it that only receives: by the echo of its timestamps, or else by
//! the time in which a whole window arrives.

use crate::ack::Arrival;
use ackord_units::{Bytes, Span, Time};

/// The receiver's own estimate of the round-trip time (rcv_rtt_est).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiverRtt {
    estimate: Option<Span>,
    last_echo: u32,
    /// When the window under way began, and the byte that ends it.
    window: Option<(Time, u64)>,
}

impl ReceiverRtt {
    /// It, once there is one.
    pub(crate) fn estimate(&self) -> Option<Span> {
        self.estimate
    }

    /// Data has come in order, `received` bytes by now, under a window of `offered`.
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        arrival: &Arrival<'_>,
        received: u64,
        offered: Bytes,
    ) {
        match arrival.echo {
            Some(echo) if echo.value != self.last_echo => {
                self.last_echo = echo.value;
                if let Some(sample) = echo.rtt(now) {
                    self.estimate =
                        Some(self.estimate.map_or(sample, |old| (old * 7 + sample) / 8));
                }
            }
            Some(_) => {}
            // Without timestamps, the time in which a whole window arrives; the least of them.
            None => self.on_window(now, received, offered),
        }
    }

    fn on_window(&mut self, now: Time, received: u64, offered: Bytes) {
        if let Some((began, end)) = self.window {
            if received < end {
                return;
            }
            let sample = now.saturating_since(began);
            self.estimate = Some(self.estimate.map_or(sample, |least| least.min(sample)));
        }
        self.window = Some((now, received + offered.get()));
    }
}
