//! What a splitting box is made of, and the endpoints that follow.

use super::half::Peer;
use super::selective_repeat::Hop;
use ackord_tcp::registry::Stack;
use ackord_tcp::{Config, Mechanisms};
use ackord_units::{Bytes, Span};

/// What a splitting box is made of.
#[derive(Clone, Debug)]
pub struct SplitConfig {
    /// The endpoint that fixed hosts speak to.
    pub wired: Stack,
    /// The endpoint that mobile hosts speak to.
    pub wireless: Stack,
    /// What its sender does on the wireless hop.
    pub hop: Hop,
    /// What a connection may hold each way; nothing for no limit.
    pub buffer: Option<Bytes>,
    /// Connections it splits at a time; further ones pass untouched.
    pub flows: u32,
}

/// More than any run sends: the send buffer of a box without a limit.
const UNBOUNDED: Bytes = Bytes(1 << 50);

/// One half, to be built.
pub(super) struct Endpoints {
    pub(super) config: Config,
    pub(super) mechanisms: Mechanisms,
}

impl SplitConfig {
    fn stack(&self, peer: Peer) -> &Stack {
        match peer {
            Peer::Fixed => &self.wired,
            Peer::Mobile => &self.wireless,
        }
    }

    pub(super) fn endpoints(&self, peer: Peer) -> Endpoints {
        let stack = self.stack(peer);
        let mut config = stack.config();
        config.buffers.send = UNBOUNDED;
        if let Some(limit) = self.buffer {
            config.buffers.receive = limit;
        }
        let mut mechanisms = stack.mechanisms();
        if let (Peer::Mobile, Hop::SelectiveRepeat(sender)) = (peer, self.hop) {
            sender.equip(&mut config, &mut mechanisms);
        }
        Endpoints { config, mechanisms }
    }

    /// How long what is over is remembered.
    pub(super) fn memory(&self) -> Span {
        let of = |peer| self.stack(peer).config().closing.time_wait;
        of(Peer::Fixed).max(of(Peer::Mobile))
    }
}
