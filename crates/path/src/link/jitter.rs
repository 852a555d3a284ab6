//! A propagation delay that is drawn at random, about the link's own.
//!
//! Three kinds. *Redrawn*: one draw holds for every packet until the next, at fixed intervals from
//! the start of the run; this is a path whose route flutters. The draws happen at those instants
//! whether or not there is traffic, so what is sent does not change what the link does. *Per
//! packet*: every packet has its own. *Held back*: most packets take the link's delay, and a share of
//! them a given time longer.
//!
//! A packet gets the delay of the instant at which its transmission ends. Nothing then keeps
//! packets in order: one sent after the delay fell overtakes those sent before. A link may be told
//! to keep the order; a packet then waits for the one before it.
//!
//! Not modelled: draws that depend on each other (a delay that drifts), other distributions than
//! the two here. Who could notice: anyone fitting a measured path.

use ackord_units::{Keyword, RandomStream, Ratio, Span, Time};

/// How a link's propagation delay is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterConfig {
    /// What the delays are drawn from.
    pub distribution: DelayDistribution,
    /// When one is drawn.
    pub when: Redraw,
    /// Whether packets may overtake one another.
    pub order: PacketOrder,
}

/// What delays are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayDistribution {
    /// Its shape.
    pub shape: DelayShape,
    /// Its mean, before the floor.
    pub mean: Span,
    /// Its standard deviation, before the floor.
    pub deviation: Span,
    /// Draws below it are raised to it, and counted in
    /// [`LinkStats::delays_clipped`](crate::LinkStats).
    pub floor: Span,
}

/// The shape of a distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DelayShape {
    /// Normal.
    Normal,
    /// Uniform, from mean - sqrt(3) deviation to mean + sqrt(3) deviation.
    Uniform,
    /// The mean, or with this probability so much more, whatever the deviation.
    HeldBack {
        /// Probability that a packet is held back.
        share: Ratio,
        /// For how long.
        by: Span,
    },
}

/// When a delay is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redraw {
    /// At the start of the run and after every such interval; not zero.
    Every(Span),
    /// For each packet.
    PerPacket,
}

/// Whether a link keeps packets in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum PacketOrder {
    /// Each packet arrives when its own delay is over.
    Free,
    /// A packet arrives no sooner than the one before it.
    Kept,
}

/// Delays as they are drawn. Boxed, so that a link without it stays small.
#[derive(Clone, Debug)]
pub struct Jitter(Box<State>);

#[derive(Clone, Debug)]
struct State {
    config: JitterConfig,
    stream: RandomStream,
    /// The delay that holds, where one holds for a time.
    current: Span,
    /// When it is drawn anew; never for a delay per packet.
    redraw_at: Time,
    draws: u64,
    clipped: u64,
}

impl Jitter {
    /// Delays drawn from `stream`.
    pub fn new(config: JitterConfig, stream: RandomStream) -> Jitter {
        let redraw_at = match config.when {
            Redraw::Every(_) => Time::ZERO,
            Redraw::PerPacket => Time::NEVER,
        };
        let current = config.distribution.mean;
        Jitter(Box::new(State { config, stream, current, redraw_at, draws: 0, clipped: 0 }))
    }

    /// Whether packets may overtake one another.
    pub(crate) fn order(&self) -> PacketOrder {
        self.0.config.order
    }

    /// The delay of a packet whose transmission ends at `at`, which never goes back.
    pub(crate) fn delay_at(&mut self, at: Time) -> Span {
        let state = &mut *self.0;
        match state.config.when {
            Redraw::PerPacket => state.current = state.draw(),
            Redraw::Every(interval) => {
                while state.redraw_at <= at {
                    state.current = state.draw();
                    state.redraw_at += interval;
                }
            }
        }
        state.current
    }

    /// Delays drawn so far.
    pub(crate) fn draws(&self) -> u64 {
        self.0.draws
    }

    /// How many of them were below the floor.
    pub(crate) fn clipped(&self) -> u64 {
        self.0.clipped
    }
}

impl State {
    fn draw(&mut self) -> Span {
        let DelayDistribution { shape, mean, deviation, floor } = self.config.distribution;
        self.draws += 1;
        let standard = match shape {
            DelayShape::Normal => self.stream.standard_normal(),
            DelayShape::Uniform => self.stream.standard_uniform(),
            DelayShape::HeldBack { share, by } if self.stream.chance(share) => return mean + by,
            DelayShape::HeldBack { .. } => return mean,
        };
        let seconds = mean.as_secs_f64() + standard * deviation.as_secs_f64();
        if seconds < floor.as_secs_f64() {
            self.clipped += 1;
            return floor;
        }
        Span::from_secs_f64(seconds)
    }
}
