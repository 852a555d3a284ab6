//! One that contends for the medium: its window, its backoff counter, and since when it has a frame.

use super::config::WifiConfig;
use ackord_units::{RandomStream, Span, Time};

/// The distributed coordination function of one station (IEEE 802.11-2020 §10.3.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Contender {
    /// Contention window: the counter is drawn from 0 to this.
    window_slots: u32,
    /// Idle slots still to pass before it may transmit.
    backoff_slots: u32,
    /// Since when it has a frame to send, which may lie ahead; never, if it has none.
    pub(super) wants_since: Time,
}

/// How a transmission went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It was acknowledged, or given up for good: the next one starts afresh.
    Settled,
    /// No acknowledgment came, and it is to be tried again.
    Failed,
}

impl Contender {
    pub(super) fn new(config: &WifiConfig) -> Contender {
        let window_slots = config.cw_min_slots;
        Contender { window_slots, backoff_slots: 0, wants_since: Time::NEVER }
    }

    /// When it would transmit if the medium stayed idle; slots count from `origin`.
    pub(super) fn ready_at(&self, origin: Time, slot: Span) -> Time {
        if self.wants_since == Time::NEVER {
            return Time::NEVER;
        }
        // A counter that has run out before there was anything to send holds nobody up.
        (origin + slot.saturating_mul(u64::from(self.backoff_slots))).max(self.wants_since)
    }

    /// Somebody else took the medium after so many idle slots.
    pub(super) fn pass_slots(&mut self, slots: u64) {
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        self.backoff_slots = self.backoff_slots.saturating_sub(slots);
    }

    /// The medium has become idle after somebody else had it. Who has found it busy and had no
    /// counter running draws one (§10.3.4.2).
    pub(super) fn on_idle(&mut self, now: Time, stream: &mut RandomStream) {
        if self.wants_since <= now && self.backoff_slots == 0 {
            self.draw(stream);
        }
    }

    /// Its own transmission is over. It backs off in any case (§10.3.4.3), from a window that has
    /// doubled after a failure and is back at its least otherwise.
    pub(super) fn after(&mut self, attempt: Attempt, config: &mut WifiConfig) {
        self.window_slots = match attempt {
            Attempt::Settled => config.cw_min_slots,
            Attempt::Failed => (self.window_slots * 2 + 1).min(config.cw_max_slots),
        };
        self.draw(&mut config.stream);
    }

    fn draw(&mut self, stream: &mut RandomStream) {
        self.backoff_slots = stream.below(self.window_slots + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn the_window_doubles_up_to_its_most_and_falls_back() {
        let mut config = WifiConfig::default();
        let mut contender = Contender::new(&config);
        let mut windows = Vec::new();
        for _ in 0..8 {
            contender.after(Attempt::Failed, &mut config);
            windows.push(contender.window_slots);
            assert!(contender.backoff_slots <= contender.window_slots);
        }
        assert_eq!(windows, [31, 63, 127, 255, 511, 1_023, 1_023, 1_023]);
        contender.after(Attempt::Settled, &mut config);
        assert_eq!(contender.window_slots, 15);
    }

    #[test]
    fn a_frame_that_comes_late_waits_only_for_what_is_left_of_the_counter() {
        let slot = Span::from_micros(9);
        let mut contender = Contender::new(&WifiConfig::default());
        contender.backoff_slots = 4;
        contender.wants_since = at(100);
        assert_eq!(contender.ready_at(at(90), slot), at(126), "the counter runs on");
        assert_eq!(contender.ready_at(at(50), slot), at(100), "it has run out");
        contender.pass_slots(3);
        assert_eq!(contender.ready_at(at(200), slot), at(209));
    }

    #[test]
    fn who_finds_the_medium_busy_draws_and_who_has_nothing_to_send_does_not() {
        let mut stream = RandomStream::for_element(2, "contender");
        let mut contender = Contender::new(&WifiConfig::default());
        contender.on_idle(at(10), &mut stream);
        assert_eq!(contender.backoff_slots, 0);
        let drawn: Vec<_> = (0..50)
            .map(|_| {
                contender.backoff_slots = 0;
                contender.wants_since = at(5);
                contender.on_idle(at(10), &mut stream);
                contender.backoff_slots
            })
            .collect();
        assert!(drawn.iter().any(|&slots| slots > 0) && drawn.iter().all(|&slots| slots < 16));
    }
}
