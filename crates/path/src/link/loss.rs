//! Loss on the medium, after the queue.
//!
//! A packet is drawn for when its transmission begins, in the order of transmission, so the same
//! packets die however often the link is looked at. A lost packet keeps the transmitter busy like
//! any other and dies where the far end would have received it.

use super::gilbert::{GilbertConfig, GilbertElliott};
use ackord_events::DropReason;
use ackord_units::{RandomStream, Ratio, Time};
use std::fmt::Debug;

/// What the medium does to packets.
#[derive(Clone, Debug)]
pub enum LossModel {
    /// Independent losses (Bernoulli).
    Random(RandomLoss),
    /// Losses in two states.
    Gilbert(Box<GilbertElliott>),
    /// Losses that another process decides.
    Other(Box<dyn LossProcess>),
}

/// A process of losses. It is called once per packet, in the order of transmission.
pub trait LossProcess: Debug + Send {
    /// Returns true if the packet whose transmission begins at `at` is lost. `ip_len` is its length in bytes.
    fn loses(&mut self, at: Time, ip_len: u32) -> bool;

    /// Returns a copy, for links that are copied.
    fn boxed_clone(&self) -> Box<dyn LossProcess>;
}

impl Clone for Box<dyn LossProcess> {
    fn clone(&self) -> Box<dyn LossProcess> {
        (**self).boxed_clone()
    }
}

/// How often something goes wrong, and with what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorRate {
    /// Each packet is lost with this probability.
    PerPacket(Ratio),
    /// Each byte of an IP packet is damaged with this probability, and the packet with it: n bytes
    /// are lost with 1-(1-p)^n.
    PerByte(Ratio),
    /// The same with bits.
    PerBit(Ratio),
}

/// Independent losses.
#[derive(Clone, Debug)]
pub struct RandomLoss(Odds);

/// Whether something happens to a packet, drawn for each by itself.
#[derive(Clone, Debug)]
pub(super) struct Odds {
    rate: ErrorRate,
    /// The length the threshold is for, where it depends on the length: traffic has few lengths.
    for_ip_len: u32,
    /// It happens when the draw is below this.
    threshold: u64,
    always: bool,
    stream: RandomStream,
}

impl LossModel {
    /// Independent losses at `rate`, drawn from `stream`.
    pub fn random(rate: ErrorRate, stream: RandomStream) -> LossModel {
        LossModel::Random(RandomLoss(Odds::new(rate, stream)))
    }

    /// Losses in two states, drawn from `stream`.
    pub fn gilbert(config: GilbertConfig, stream: RandomStream) -> LossModel {
        LossModel::Gilbert(Box::new(GilbertElliott::new(config, stream)))
    }

    /// The fate of the packet whose transmission begins at `at`: why it is lost, or nothing.
    #[inline]
    pub(super) fn draw(&mut self, at: Time, ip_len: u32) -> Option<DropReason> {
        match self {
            LossModel::Random(RandomLoss(odds)) => {
                let reason = match odds.rate {
                    ErrorRate::PerPacket(_) => DropReason::RandomLoss,
                    ErrorRate::PerByte(_) | ErrorRate::PerBit(_) => DropReason::Corrupted,
                };
                odds.draw(ip_len).then_some(reason)
            }
            LossModel::Gilbert(model) => model.loses(at).then_some(DropReason::RandomLoss),
            LossModel::Other(process) => {
                process.loses(at, ip_len).then_some(DropReason::RandomLoss)
            }
        }
    }
}

impl Odds {
    pub(super) fn new(rate: ErrorRate, stream: RandomStream) -> Odds {
        let mut odds = Odds { rate, for_ip_len: 0, threshold: 0, always: false, stream };
        odds.set_for(0);
        odds
    }

    /// Whether it happens to a packet of this length.
    #[inline]
    pub(super) fn draw(&mut self, ip_len: u32) -> bool {
        if ip_len != self.for_ip_len && !matches!(self.rate, ErrorRate::PerPacket(_)) {
            self.set_for(ip_len);
        }
        self.stream.below_threshold(self.threshold) || self.always
    }

    fn set_for(&mut self, ip_len: u32) {
        let loss = self.rate.of_packet(ip_len);
        self.for_ip_len = ip_len;
        self.threshold = loss.as_draw_threshold();
        self.always = loss == Ratio::ONE;
    }
}

impl ErrorRate {
    /// The probability that a packet of this length is lost.
    pub fn of_packet(self, ip_len: u32) -> Ratio {
        match self {
            ErrorRate::PerPacket(rate) => rate,
            ErrorRate::PerByte(rate) => at_least_one_of(ip_len, rate),
            ErrorRate::PerBit(rate) => at_least_one_of(ip_len * 8, rate),
        }
    }
}

/// 1-(1-p)^n, by doubling n: two halves fail together with f + g - f g. Only sums and products, so
/// the same on every machine, and without the cancellation that 1-p would bring for a small p.
fn at_least_one_of(n: u32, rate: Ratio) -> Ratio {
    let both = |f: f64, g: f64| f + g - f * g;
    let (mut all, mut power, mut left) = (0.0, rate.get(), n);
    while left > 0 {
        if left & 1 == 1 {
            all = both(all, power);
        }
        power = both(power, power);
        left >>= 1;
    }
    Ratio::new(all.clamp(0.0, 1.0)).unwrap_or(Ratio::ONE)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]
mod tests {
    use super::*;

    fn ratio(value: f64) -> Ratio {
        Ratio::new(value).expect("a share")
    }

    #[test]
    fn a_packet_survives_if_all_its_bytes_do() {
        for n in [0_u32, 1, 2, 40, 588, 1500, 65_535] {
            for p in [0.0, 1e-9, 1e-5, 0.01, 0.5, 1.0] {
                let found = ErrorRate::PerByte(ratio(p)).of_packet(n).get();
                let expected = -((f64::from(n) * (-p).ln_1p()).exp_m1());
                let expected = if n == 0 { 0.0 } else { expected };
                assert!((found - expected).abs() <= 1e-12 * expected, "{n} {p}: {found}");
            }
        }
    }

    #[test]
    fn eight_bits_are_a_byte() {
        let per_bit = ErrorRate::PerBit(ratio(1e-6)).of_packet(1_500).get();
        let byte = at_least_one_of(8, ratio(1e-6));
        let per_byte = ErrorRate::PerByte(byte).of_packet(1_500).get();
        assert!((per_bit - per_byte).abs() < 1e-15, "{per_bit} {per_byte}");
        assert_eq!(ErrorRate::PerPacket(ratio(0.3)).of_packet(1_500), ratio(0.3));
    }
}
