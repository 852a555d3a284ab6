//! Loss in two states, a good one and a bad one (Gilbert 1960, Elliott 1963).
//!
//! Two readings of the model are in use and both are here. *Per packet*: after every packet that is
//! transmitted the state may change; bursts are so many packets long however fast those come. *In
//! time*: each state lasts for an exponential time; bursts last as long however many packets they
//! strike. At the start of the run the state is drawn from the stationary distribution, so that the
//! closed forms hold from the first packet on.
//!
//! Not modelled: more than two states; sojourns that are not exponential (an `outage` has those).

use super::sojourn::{Sojourn, SojournShape};
use super::windows::{Sequence, Window, Windows};
use ackord_units::{RandomStream, Ratio, Span, Time};

/// How often which state loses a packet, and how states change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertConfig {
    /// What moves the state.
    pub changes: Changes,
    /// Probability of loss in the good state: 1-k in Elliott's terms.
    pub loss_in_good: Ratio,
    /// Probability of loss in the bad state: 1-h.
    pub loss_in_bad: Ratio,
}

/// What moves the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Changes {
    /// Each packet, with these probabilities.
    PerPacket {
        /// From good to bad after a packet, p.
        good_to_bad: Ratio,
        /// From bad to good after a packet, r.
        bad_to_good: Ratio,
    },
    /// Time.
    InTime {
        /// Mean time in the good state; not zero.
        good_for: Span,
        /// Mean time in the bad state; not zero.
        bad_for: Span,
    },
}

impl Changes {
    /// The chain of so much loss in bursts of so many packets, where the bad state loses all and
    /// the good one nothing: r = 1/burst and p = r loss / (1 - loss). Nothing where no chain has
    /// both.
    pub fn of_bursts(mean_loss: Ratio, mean_burst_packets: f64) -> Option<Changes> {
        let bad_to_good = Ratio::new(1.0 / mean_burst_packets)?;
        let loss = mean_loss.get();
        let good_to_bad = Ratio::new(bad_to_good.get() * loss / (1.0 - loss))?;
        Some(Changes::PerPacket { good_to_bad, bad_to_good })
    }

    /// The share of packets (or of time) in the bad state; none where nothing ever changes.
    pub fn bad_share(&self) -> Ratio {
        let (to_bad, to_good) = match *self {
            Changes::PerPacket { good_to_bad, bad_to_good } => {
                (good_to_bad.get(), bad_to_good.get())
            }
            // Rates of change are the inverse of the means.
            Changes::InTime { good_for, bad_for } => {
                (bad_for.as_secs_f64(), good_for.as_secs_f64())
            }
        };
        Ratio::new(to_bad / (to_bad + to_good)).unwrap_or(Ratio::ZERO)
    }
}

/// Loss in two states, at work.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    config: GilbertConfig,
    state: State,
    /// Draws losses, and per packet the changes.
    stream: RandomStream,
}

#[derive(Clone, Debug)]
enum State {
    Good,
    Bad,
    /// In time: the bad state's windows, and the first that is not over.
    Timed(Box<(Sequence, Window)>),
}

impl GilbertElliott {
    /// Losses drawn from `stream`.
    pub fn new(config: GilbertConfig, mut stream: RandomStream) -> GilbertElliott {
        let begins_bad = stream.chance(config.changes.bad_share());
        let state = match (config.changes, begins_bad) {
            (Changes::PerPacket { .. }, true) => State::Bad,
            (Changes::PerPacket { .. }, false) => State::Good,
            (Changes::InTime { good_for, bad_for }, _) => {
                let exponential = |mean| Sojourn { mean, shape: SojournShape::Exponential };
                let (between, length) = (exponential(good_for), exponential(bad_for));
                // A stream of its own, so that what is sent does not move the states.
                let windows = Windows::Drawn { between, length, stream: stream.split() };
                let mut sequence = Sequence::new(windows);
                let first = if begins_bad { sequence.begin_inside() } else { sequence.next() };
                State::Timed(Box::new((sequence, first)))
            }
        };
        GilbertElliott { config, state, stream }
    }

    /// Whether the packet is lost whose transmission begins at `at`, which never goes back.
    pub(super) fn loses(&mut self, at: Time) -> bool {
        let GilbertConfig { changes, loss_in_good, loss_in_bad } = self.config;
        match (&mut self.state, changes) {
            (State::Timed(states), _) => {
                let (sequence, window) = &mut **states;
                while window.ends <= at {
                    *window = sequence.next();
                }
                let bad = window.began <= at;
                self.stream.chance(if bad { loss_in_bad } else { loss_in_good })
            }
            (state, Changes::PerPacket { good_to_bad, bad_to_good }) => {
                let bad = matches!(state, State::Bad);
                let lost = self.stream.chance(if bad { loss_in_bad } else { loss_in_good });
                let turns = self.stream.chance(if bad { bad_to_good } else { good_to_bad });
                if turns {
                    *state = if bad { State::Good } else { State::Bad };
                }
                lost
            }
            (State::Good | State::Bad, Changes::InTime { .. }) => {
                unreachable!("states in time are made as such")
            }
        }
    }
}
