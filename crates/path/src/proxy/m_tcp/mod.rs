//! M-TCP: a supervisor host that never acknowledges the last byte, so that it has something left
//! to say when the mobile host is gone: that byte, and a window of zero.
//!
//! Brown and Singh 1997, "M-TCP: TCP for Mobile Cellular Networks". The sender's connection ends at
//! the supervisor host (SH-TCP), which passes on what the mobile host acknowledges but for one
//! byte. A sender whose window is closed by an acknowledgment of new data waits in persist mode:
//! its congestion window stays, and its timer does not back off. When the mobile host is heard
//! again the window opens.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`MTcp`]: the box |
//! | `flow.rs` | one connection: the held-back byte, the hold |
//! | `tests.rs` | scripts |
//!
//! Between supervisor host and mobile host the paper has a protocol of its own. What of it needs
//! the mobile host is not done here, where that is an ordinary TCP receiver:
//!
//! | the paper's mobile host | here |
//! | --- | --- |
//! | stops its timers when its radio loses the cell | its timers run on |
//! | greets when it is back, with the highest byte it has | the box asks, sending the first missing segment again; SACK blocks say the rest |
//! | is told how fast it may send | as TCP has it |
//!
//! What the wireless link loses otherwise is retransmitted by the box ([`recovery`](super::recovery)), and
//! the sender is not told of it: it speaks to the box. Acknowledgments and their timestamps stay
//! those of the mobile host, so a connection has the mobile host's word for everything that it takes
//! for delivered, and goes on without the box if that dies.
//!
//! Not modelled: data from a mobile sender (the paper's M-TCP compresses and paces it), the handover
//! of a connection to another supervisor host, the bandwidth manager of the cells.

mod flow;
#[cfg(test)]
mod tests;

use super::flows::Flows;
use super::recovery::LocalRecoveryConfig;
use super::recovery::{Inference, LocalKnobs};
use super::{Heading, InPath, Middlebox, Outbox, Proxy, ProxyKnobs, ProxyStats, Verdict};
use ackord_units::{Bytes, Knobs, Span, Time};
use ackord_wire::{Flags, FlowId, Packet, Segment};
use flow::Flow;

/// Holds the last byte's acknowledgment back, to close the sender's window in a fade
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "proxy", name = "m-tcp", source = "Brown and Singh 1997 §3")]
pub struct MTcpKnobs {
    /// The mobile host is taken for gone when it has owed an answer for so long; the local
    /// retransmission timer when absent
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60),
        source = "Brown and Singh 1997 §3: no acknowledgment for some time"
    )]
    silent_for: Option<Span>,
    /// The byte held back is acknowledged so long after the mobile host has acknowledged all there is
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(60), default = "100 ms",
        source = "this project: half of Linux's shortest retransmission timeout"
    )]
    release_after: Span,
    #[knob(flatten)]
    local: LocalKnobs,
}

impl ProxyKnobs for MTcpKnobs {
    fn build(&self) -> Proxy {
        Proxy::InPath(Box::new(MTcp::new(MTcpConfig {
            recovery: self.local.recovery(Inference::Deliveries),
            flows: self.local.flows,
            idle_for: self.local.idle_for,
            silent_for: self.silent_for,
            release_after: self.release_after,
        })))
    }
}

/// How an M-TCP supervisor host works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MTcpConfig {
    /// Caching and local retransmission of each connection.
    pub recovery: LocalRecoveryConfig,
    /// Connections it keeps something of; others pass.
    pub flows: usize,
    /// A connection is forgotten this long after its last packet.
    pub idle_for: Span,
    /// The mobile host is taken for gone when it has owed an answer for so long; nothing for the
    /// local retransmission timer.
    pub silent_for: Option<Span>,
    /// The last byte is acknowledged so long after the mobile host has acknowledged all there is,
    /// before the sender's timer takes it for lost.
    pub release_after: Span,
}

/// An M-TCP supervisor host.
#[derive(Clone, Debug)]
pub struct MTcp {
    config: MTcpConfig,
    flows: Flows<Flow>,
    stats: ProxyStats,
}

impl MTcp {
    /// A supervisor host that has seen nothing.
    pub fn new(config: MTcpConfig) -> MTcp {
        let flows = Flows::new(config.flows, config.idle_for);
        MTcp { config, flows, stats: ProxyStats::default() }
    }

    fn recount(&mut self, before: Bytes, after: Bytes) {
        let others = self.stats.cached.saturating_sub(before);
        self.stats.set_cached(others + after);
    }

    fn on_data(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        out: &mut Outbox,
    ) -> Verdict {
        let opens = segment.flags.contains(Flags::SYN);
        if opens {
            self.forget(packet.flow);
        }
        let flow = if opens || segment.payload_len > 0 {
            let config = self.config;
            self.flows.get_or_insert(now, packet.flow, || Flow::new(config))
        } else {
            self.flows.get_mut(now, packet.flow)
        };
        let Some(flow) = flow else {
            self.stats.flows_refused += u64::from(opens);
            self.stats.uncached += Bytes(u64::from(segment.payload_len));
            return Verdict::Forward;
        };
        let before = flow.cached();
        let verdict = flow.on_data(now, packet, segment, &mut self.stats, out);
        let after = flow.cached();
        self.recount(before, after);
        self.stats.set_flows(self.flows.len());
        self.flows.settle(packet.flow);
        verdict
    }

    fn on_ack(&mut self, now: Time, packet: &Packet, out: &mut Outbox) -> Verdict {
        let Some(flow) = self.flows.get_mut(now, packet.flow) else { return Verdict::Forward };
        let before = flow.cached();
        let verdict = flow.on_ack(now, packet, &mut self.stats, out);
        let (after, over) = (flow.cached(), flow.is_over());
        self.recount(before, after);
        if over {
            self.forget(packet.flow);
        } else {
            self.flows.settle(packet.flow);
        }
        verdict
    }
}

impl Middlebox for MTcp {
    fn deadline(&self) -> Option<Time> {
        self.flows.deadline()
    }

    fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        let (stats, mut freed) = (&mut self.stats, Bytes::ZERO);
        self.flows.handle_deadline(
            now,
            |id, flow| flow.handle_deadline(now, id, stats, out),
            |gone| freed += gone.cached(),
        );
        self.recount(freed, Bytes::ZERO);
        self.stats.set_flows(self.flows.len());
    }

    fn handle_refused(&mut self, now: Time, packet: &Packet) {
        if let Some(flow) = self.flows.get_mut(now, packet.flow) {
            let freed = flow.on_refused(packet);
            self.recount(freed, Bytes::ZERO);
            self.flows.settle(packet.flow);
        }
    }

    fn forget(&mut self, id: FlowId) {
        if let Some(flow) = self.flows.remove(id) {
            self.recount(flow.cached(), Bytes::ZERO);
        }
        self.stats.set_flows(self.flows.len());
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl InPath for MTcp {
    fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        self.stats.seen += 1;
        let mut freed = Bytes::ZERO;
        self.flows.sweep(now, |gone| freed += gone.cached());
        self.recount(freed, Bytes::ZERO);
        self.stats.set_flows(self.flows.len());
        let Some(segment) = &packet.tcp else { return Verdict::Forward };
        if segment.flags.contains(Flags::RST) {
            self.forget(packet.flow);
            return Verdict::Forward;
        }
        let verdict = match heading {
            Heading::Mobile => self.on_data(now, packet, segment, out),
            Heading::Fixed => self.on_ack(now, packet, out),
        };
        match verdict {
            Verdict::Absorb => self.stats.absorbed += 1,
            Verdict::Rewrite(_) => self.stats.rewritten += 1,
            Verdict::Forward => {}
        }
        verdict
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}
