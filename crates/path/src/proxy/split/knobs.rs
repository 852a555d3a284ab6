//! `i-tcp` and `mtcp`, as a user may set them.

use super::{Hop, SelectiveRepeat, Split, SplitConfig};
use crate::proxy::{Proxy, ProxyKnobs};
use ackord_tcp::registry::{Congestion, Loss, LossRecovery, Profile, Stack};
use ackord_units::{Bytes, Knobs, Span};

/// What both boxes have.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
struct SplitKnobs {
    /// The profile of the endpoint that answers the fixed host
    #[knob(default = "rfc", source = "this project's defaults")]
    wired: Profile,
    /// What a connection may hold each way: the windows announced close as it fills; no limit when
    /// absent
    #[knob(
        min = Bytes(4_000), max = Bytes(1_073_725_440),
        source = "Bakre and Badrinath 1995 and Yavatkar and Bhagawat 1994 give none"
    )]
    buffer: Option<Bytes>,
    /// Connections split at a time; further ones pass untouched
    #[knob(
        min = 1,
        max = 1_000_000,
        unit = "connections",
        default = "1000",
        source = "this project"
    )]
    flows: u32,
}

impl SplitKnobs {
    /// A box whose wireless side is as the wired one.
    fn config(&self) -> SplitConfig {
        let wired = Stack::of_profile(&self.wired);
        SplitConfig {
            wireless: wired.clone(),
            wired,
            hop: Hop::Tcp,
            buffer: self.buffer,
            flows: self.flows,
        }
    }
}

/// Splits each connection in two TCP connections, in the hosts' names
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "proxy", name = "i-tcp", source = "Bakre and Badrinath 1995")]
pub struct ITcpKnobs {
    /// The profile of the endpoint that speaks to the mobile host
    #[knob(default = "rfc", source = "this project's defaults; the paper has the TCP of its time")]
    wireless: Profile,
    /// Congestion control on the wireless side; the profile's when absent
    #[knob(source = "this project")]
    congestion: Option<Congestion>,
    /// Loss detection on the wireless side; the profile's when absent
    #[knob(source = "this project")]
    loss: Option<Loss>,
    /// Recovery sending on the wireless side; the profile's when absent
    #[knob(source = "this project")]
    recovery: Option<LossRecovery>,
    /// Smallest retransmission timeout on the wireless side; the profile's when absent
    #[knob(min = Span::from_millis(1), max = Span::from_secs(10), source = "RFC 6298 §2.4")]
    rto_min: Option<Span>,
    #[knob(flatten)]
    split: SplitKnobs,
}

impl ProxyKnobs for ITcpKnobs {
    fn build(&self) -> Proxy {
        let mut wireless = Stack::of_profile(&self.wireless);
        if let Some(congestion) = &self.congestion {
            wireless.congestion = congestion.clone();
        }
        if let Some(loss) = &self.loss {
            wireless.loss = loss.clone();
        }
        if let Some(recovery) = &self.recovery {
            wireless.recovery = recovery.clone();
        }
        if let Some(rto_min) = self.rto_min {
            wireless.endpoint.rto.min = rto_min;
        }
        Proxy::InPath(Box::new(Split::new(SplitConfig { wireless, ..self.split.config() })))
    }

    fn splits(&self) -> bool {
        true
    }
}

/// Splits each connection: TCP to the fixed host, selective repeat over the wireless link
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "proxy", name = "mtcp", source = "Yavatkar and Bhagawat 1994")]
pub struct MtcpKnobs {
    /// What may be out on the wireless side, from the oldest segment not acknowledged on
    #[knob(
        min = 1,
        max = 10_000,
        unit = "segments",
        default = "16",
        source = "twice what 2 Mbit/s and 40 ms hold"
    )]
    window: u64,
    /// Shortest timer of a segment on the wireless side; SRTT + 4 RTTVAR where that is more
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(10), default = "100 ms",
        source = "this project"
    )]
    timer_min: Span,
    #[knob(flatten)]
    split: SplitKnobs,
}

impl ProxyKnobs for MtcpKnobs {
    fn build(&self) -> Proxy {
        let sender = SelectiveRepeat { window_segments: self.window, timer_min: self.timer_min };
        let hop = Hop::SelectiveRepeat(sender);
        Proxy::InPath(Box::new(Split::new(SplitConfig { hop, ..self.split.config() })))
    }

    fn splits(&self) -> bool {
        true
    }
}
