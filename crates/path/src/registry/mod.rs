//! What a link or a host may be given beside its queue and its middleboxes: each family with what all of
//! it can do, each mechanism one line, its knobs in a file.
//!
//! | file | what |
//! | --- | --- |
//! | `outage.rs` | [`OutageChoice`]: when the link is out |
//! | `loss.rs` | [`LossChoice`]: what the wire loses |
//! | `jitter.rs` | [`JitterChoice`]: propagation delays that are drawn |
//! | `corruption.rs`, `duplication.rs` | what it damages, what arrives twice |
//! | `bucket.rs` | [`PolicerChoice`], [`ShaperChoice`]: what is dropped or held back beyond a rate |
//! | `rate_changes.rs` | [`RateChangesChoice`]: rates that change |
//! | `wifi.rs`, `cellular.rs` | [`MediumChoice`]: what both directions of a link are on |
//! | `processing.rs` | [`ProcessingChoice`]: the time that a host takes for what it sends |

use crate::link::{
    Cellular, Corruption, Duplication, Jitter, LossModel, Outage, RateSteps, Shaper, TokenBucket,
};
use crate::medium::MediumConfig;
use crate::processing::Processing;
use ackord_units::{Contradiction, RandomStream, Rate, Span, mechanisms};

pub use crate::proxy::{ProxyChoice, ProxyKnobs, whole};
pub use crate::queue::{QueueChoice, QueueKnobs, QueuePlace, UnknownFlow};
pub use cellular::LinkWay;

mechanisms! {
    /// When a link may be out.
    pub enum OutageChoice: dyn OutageKnobs {
        mod outage => Schedule(ScheduledOutageKnobs), Random(RandomOutageKnobs);
    }
}

/// What every outage's knobs lead to.
pub trait OutageKnobs {
    /// The outages, drawn from this stream where they are drawn.
    fn build(&self, stream: RandomStream) -> Result<Outage, Contradiction>;

    /// Whether both directions of the link are to be out at the same times: they then get the same
    /// stream.
    fn is_shared(&self) -> bool {
        true
    }

    /// Whether packets are to wait for the end of an outage.
    fn holds(&self) -> bool;
}

mechanisms! {
    /// What the wire may lose.
    pub enum LossChoice: dyn LossKnobs {
        mod loss =>
            Random(RandomLossKnobs), GilbertElliott(GilbertElliottKnobs), Gilbert(GilbertKnobs);
    }
}

/// What every loss model's knobs lead to.
pub trait LossKnobs {
    /// The model, drawing from the link's own stream.
    fn build(&self, stream: RandomStream) -> Result<LossModel, Contradiction>;
}

mechanisms! {
    /// How a link's propagation delay may be drawn.
    pub enum JitterChoice: dyn JitterKnobs {
        mod jitter => Redraw(RedrawKnobs), PerPacket(PerPacketKnobs), HeldBack(HeldBackKnobs);
    }
}

/// What every jitter's knobs lead to.
pub trait JitterKnobs {
    /// The delays about a mean of `delay`, drawn from the link's own stream.
    fn build(&self, delay: Span, stream: RandomStream) -> Jitter;
}

mechanisms! {
    /// What a link may damage.
    pub enum CorruptionChoice: dyn CorruptionKnobs {
        mod corruption => Random(RandomCorruptionKnobs);
    }
}

/// What every damage's knobs lead to.
pub trait CorruptionKnobs {
    /// The damage, drawing from the link's own stream.
    fn build(&self, stream: RandomStream) -> Result<Corruption, Contradiction>;
}

mechanisms! {
    /// What a link may deliver twice.
    pub enum DuplicationChoice: dyn DuplicationKnobs {
        mod duplication => Random(RandomDuplicationKnobs);
    }
}

/// What every duplication's knobs lead to.
pub trait DuplicationKnobs {
    /// The duplication, drawing from the link's own stream.
    fn build(&self, stream: RandomStream) -> Result<Duplication, Contradiction>;
}

mechanisms! {
    /// What may drop packets before a link's queue.
    pub enum PolicerChoice: dyn PolicerKnobs {
        mod bucket => TokenBucket(TokenBucketPolicerKnobs);
    }
}

/// What every policer's knobs lead to.
pub trait PolicerKnobs {
    /// The policer, full of tokens.
    fn build(&self) -> Result<TokenBucket, Contradiction>;
}

mechanisms! {
    /// What may hold back a link's transmitter.
    pub enum ShaperChoice: dyn ShaperKnobs {
        mod shaper => TokenBucket(TokenBucketShaperKnobs);
    }
}

/// What every shaper's knobs lead to.
pub trait ShaperKnobs {
    /// The shaper of a link of rate `line`, full of tokens.
    fn build(&self, line: Rate) -> Result<Shaper, Contradiction>;

    /// The rate to which a link of rate `line` comes down behind it.
    fn shaped(&self, line: Rate) -> Rate;
}

mechanisms! {
    /// How a link's rate may change.
    pub enum RateChangesChoice: dyn RateChangesKnobs {
        mod rate_changes => Schedule(ScheduledRatesKnobs);
    }
}

/// What every change's knobs lead to.
pub trait RateChangesKnobs {
    /// The rates of a link that begins with `rate`.
    fn build(&self, rate: Rate) -> Result<RateSteps, Contradiction>;
}

mechanisms! {
    /// What both directions of a link may be on.
    pub enum MediumChoice: dyn MediumKnobs {
        mod wifi => Wifi(WifiKnobs);
        mod cellular => Cellular(CellularKnobs);
    }
}

/// What every medium's knobs lead to: one that both directions share, or a transmitter for each.
pub trait MediumKnobs {
    /// The medium on which both directions of a link of this rate take turns.
    fn shared(&self, _rate: Rate, _stream: RandomStream) -> Option<MediumConfig> {
        None
    }

    /// The transmitter of one direction, at this rate.
    fn hop(&self, _way: LinkWay, _rate: Rate, _stream: RandomStream) -> Option<Cellular> {
        None
    }
}

mechanisms! {
    /// How long a host may take for what it sends.
    pub enum ProcessingChoice: dyn ProcessingKnobs {
        mod processing => Jitter(ProcessingJitterKnobs);
    }
}

/// What every processing's knobs lead to.
pub trait ProcessingKnobs {
    /// The processing, drawing from the host's own stream.
    fn build(&self, stream: RandomStream) -> Processing;
}
