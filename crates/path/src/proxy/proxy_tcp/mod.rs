//! Proxy TCP: a Proxy Manager in the base station's LAN that watches connections over a wireless
//! link, repeats what was lost there, and bridges fading (Kang and Jang).
//!
//! | file | what |
//! | --- | --- |
//! | `paper.rs` | [`PaperProxy`]: what the paper says and no more |
//! | `practical.rs` | [`PracticalProxy`]: for use, beside the path or in it |
//! | `config.rs` | how that one is set up |
//! | `connection.rs` | one connection in practical mode |
//! | `detect.rs` | the wireless round trip, and the silence that counts as fading |
//! | `hold.rs` | while the mobile host is silent: probes, and what an answer says |
//! | `recovery.rs` | which segments were lost while the link works |
//! | `stance.rs` | whether a connection is better off without recoveries |
//! | `rate.rs` | how fast the link delivers: the pace of repetitions |
//! | `reserve.rs` | acknowledgments held back, in the path only |
//! | `copies.rs` | packets for the mobile host: data again, probes |
//! | `flows.rs` | the connections it knows, in bounded space |
//!
//! Both forms acknowledge nothing that the mobile has not, and send no data but what has passed.
//!
//! Not modelled: data that the mobile host sends; it passes.

mod config;
mod connection;
mod copies;
mod detect;
mod flows;
mod hold;
mod paper;
mod practical;
mod rate;
mod recovery;
mod reserve;
mod stance;

pub use config::{Freeze, PracticalConfig};
pub use flows::Limits;
pub use paper::{PaperConfig, PaperProxy, ProxyAckUse};
pub use practical::PracticalProxy;
pub use reserve::ReserveConfig;

use super::{Proxy, ProxyKnobs, Standing};
use ackord_tcp::{MODE, Mode};
use ackord_units::{Bytes, Contradiction, Knobs, Span};

/// Where the paper describes it.
const PAPER: &str = "Kang and Jang, §3.2";

/// Stands beside the path, repeats lost data to the mobile host and bridges fading
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "proxy", name = "proxy-tcp", source = PAPER, check = stands_beside)]
pub struct ProxyTcpKnobs {
    /// `paper` does what the authors describe; `practical` fills the gaps
    #[knob(like = MODE, source = "this project")]
    mode: Mode,
    /// Where it stands: beside the path it sees copies and can only add packets; in the path (in
    /// practical mode) it hides duplicate acknowledgments from senders without timestamps and can hold
    /// acknowledgments in reserve
    #[knob(default = "beside", source = PAPER)]
    place: Standing,
    /// How long the mobile host may be silent while data is outstanding before the link counts as
    /// faded; learnt from the wireless round trip where nothing is given
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60),
        source = "the paper names it and gives no value"
    )]
    local_timeout: Option<Span>,
    /// From one packet that tests a faded link to the next
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60), default = "100 ms",
        source = "the paper gives no value; half of the least retransmission timeout in use, so that the \
                  sender cannot find out first"
    )]
    probe_interval: Span,
    /// In paper mode, when acknowledgments with a window of zero are sent: when the link has faded, or
    /// also after every duplicate acknowledgment, whose run they break
    #[knob(default = "fading", source = "Kang and Jang, §3.2; RFC 5681 §2")]
    proxy_ack: ProxyAckUse,
    /// In practical mode, when a hold closes the sender's window: where the connection does not speak
    /// SACK, always as in the paper, or never
    #[knob(
        default = "never",
        source = "this project: no frozen sender did better (decision 0080)"
    )]
    freeze: Freeze,
    /// In the path, the most acknowledgments of a connection that are held back to be let go one by one
    /// while the link is away; fewer where that would slow the sender
    #[knob(
        min = 0,
        max = 1_000,
        unit = "acknowledgments",
        default = "0",
        source = "this project: none, for repetition does as well and a box that dies with a reserve leaves \
                  a closed window behind; 15 bridge 2.5 s"
    )]
    reserve: usize,
    /// In the path, from one held-back acknowledgment to the next while the link is away
    #[knob(
        min = Span::from_millis(10), max = Span::from_secs(60), default = "170 ms",
        source = "less than the least retransmission timeout in common use, 200 ms"
    )]
    release_interval: Span,
    /// Connections it remembers; others pass untouched
    #[knob(
        min = 1,
        max = 1_000_000,
        unit = "connections",
        default = "4096",
        source = "some hundred bytes each, beside the data"
    )]
    flows: usize,
    /// Data it keeps of one connection; what does not fit passes uncached
    #[knob(
        min = Bytes(1_000), max = Bytes(1_000_000_000), default = "1 MB",
        source = "the flight of a connection at 80 Mbit/s over 100 ms"
    )]
    cache_per_flow: Bytes,
    /// Data it keeps of all connections together
    #[knob(
        min = Bytes(1_000), max = Bytes(100_000_000_000), default = "64 MB",
        source = "a small gateway's spare memory"
    )]
    cache: Bytes,
}

/// The paper's form has no place in the path.
fn stands_beside(knobs: &ProxyTcpKnobs) -> Result<(), Contradiction> {
    match (knobs.mode, knobs.place) {
        (Mode::Paper, Standing::InPath) => Err(Contradiction::new(
            "`place` is `in-path`, where the paper's form does not stand",
            "`beside`, or `mode` practical",
        )),
        _ => Ok(()),
    }
}

impl ProxyKnobs for ProxyTcpKnobs {
    fn build(&self) -> Proxy {
        let limits =
            Limits { flows: self.flows, cache_per_flow: self.cache_per_flow, cache: self.cache };
        let (local_timeout, probe_interval) = (self.local_timeout, self.probe_interval);
        if self.mode == Mode::Paper {
            let proxy_ack = self.proxy_ack;
            let config = PaperConfig { local_timeout, probe_interval, proxy_ack, limits };
            return Proxy::OnPath(Box::new(PaperProxy::new(config)));
        }
        let freeze = self.freeze;
        let practical = |in_path| {
            let config = PracticalConfig { local_timeout, probe_interval, freeze, in_path, limits };
            Box::new(PracticalProxy::new(config))
        };
        match self.place {
            Standing::Beside => Proxy::OnPath(practical(None)),
            Standing::InPath => Proxy::InPath(practical(Some(ReserveConfig {
                most: self.reserve,
                release_every: self.release_interval,
            }))),
        }
    }
}
