//! Snoop: a base station that keeps what the mobile host has not acknowledged, sends it again when
//! the wireless link has lost it, and does not let the sender notice.
//!
//! Balakrishnan, Seshan, Amir and Katz 1995, "Improving TCP/IP Performance over Wireless Networks"
//! (snoop_data, snoop_ack). It stands in the path, because it removes duplicate acknowledgments. It
//! acknowledges nothing by itself but what the mobile host has acknowledged, so a connection is as
//! reliable with it as without; it may die at any time.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Snoop`]: which packets pass, which do not |
//! | `tests.rs` | scripts; anything whatever |
//!
//! What is lost, and sending it again, is in [`recovery`](super::recovery).
//!
//! Not modelled: data from a mobile sender (Balakrishnan et al. ask for negative acknowledgments
//! there, which a mobile host would have to understand); handing the cache over to another base
//! station. A link's queue that refuses a packet
//! tells the box in the path, which then leaves the recovery to the sender; of a queue that drops packets later
//! (CoDel) it learns nothing and takes them for lost in the air.

#[cfg(test)]
mod tests;

use super::flows::Flows;
use super::recovery::{Answer, Inference, LocalKnobs, LocalRecovery, LocalRecoveryConfig, Stored};
use super::{Heading, InPath, Middlebox, Outbox, Proxy, ProxyKnobs, ProxyStats, Standing, Verdict};
use ackord_events::ProxySending;
use ackord_tcp::{MODE, Mode};
use ackord_units::{Bytes, Keyword, Knob, KnobKind, Knobs, Span, Time};
use ackord_wire::{Flags, FlowId, Packet, SackBlocks, Segment};

/// Caches data, retransmits what the wireless link lost, and hides it from the sender
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "proxy",
    name = "snoop",
    source = "Balakrishnan, Seshan, Amir and Katz 1995 §3"
)]
pub struct SnoopKnobs {
    /// As the paper describes it (one loss at a time, by duplicate acknowledgments), or with SACK blocks
    /// and acknowledgments of local retransmissions used as well
    #[knob(like = MODE, source = "this project")]
    mode: Mode,
    /// Whether duplicate acknowledgments it has dealt with end in it; `auto`: only of connections
    /// without timestamps, whose sender cannot undo its reaction
    #[knob(
        default = "on",
        source = "Balakrishnan et al. 1995 §3; `auto` by measurement of a Linux sender"
    )]
    suppress: Suppress,
    /// In the path it takes SACK blocks out of acknowledgments of new data while it recovers the first
    /// loss they report, and leaves to the sender what the link's queue refuses; `beside`, as a
    /// gateway stands, it can do neither
    #[knob(like = STANDS)]
    stands: Standing,
    #[knob(flatten)]
    local: LocalKnobs,
}

/// In the path first, as a simulated box stands.
const STANDS: Knob = Knob {
    name: "stands",
    kind: KnobKind::Choice(&["in-path", "beside"]),
    default: "in-path",
    doc: "",
    source: "this project",
};

impl ProxyKnobs for SnoopKnobs {
    fn build(&self) -> Proxy {
        let inference = match self.mode {
            Mode::Practical => Inference::Deliveries,
            Mode::Paper => Inference::Duplicates,
        };
        Proxy::InPath(Box::new(Snoop::new(SnoopConfig {
            recovery: self.local.recovery(inference),
            flows: self.local.flows,
            idle_for: self.local.idle_for,
            suppress: self.suppress,
            stands: self.stands,
        })))
    }
}

/// How a Snoop works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnoopConfig {
    /// Caching and local retransmission of each connection.
    pub recovery: LocalRecoveryConfig,
    /// Connections it keeps something of; others pass.
    pub flows: usize,
    /// A connection is forgotten this long after its last packet.
    pub idle_for: Span,
    /// What becomes of duplicate acknowledgments it has dealt with.
    pub suppress: Suppress,
    /// Where it stands.
    pub stands: Standing,
}

/// What becomes of acknowledgments that tell the sender of a loss the box has recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Suppress {
    /// They end here.
    On,
    /// They go on: the sender retransmits needlessly, and takes back what it did if it can.
    Off,
    /// They go on where segments carry timestamps, with which a sender can tell that its
    /// retransmission was needless (RFC 3522), and end here where they do not.
    #[keyword = "auto"]
    WithoutTimestamps,
}

/// A Snoop.
#[derive(Clone, Debug)]
pub struct Snoop {
    config: SnoopConfig,
    flows: Flows<LocalRecovery>,
    stats: ProxyStats,
}

impl Snoop {
    /// A Snoop that has seen nothing.
    pub fn new(config: SnoopConfig) -> Snoop {
        let flows = Flows::new(config.flows, config.idle_for);
        Snoop { config, flows, stats: ProxyStats::default() }
    }

    /// snoop_data.
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
        let of_interest = opens || segment.payload_len > 0;
        let flow = if of_interest {
            self.flows.get_or_insert(now, packet.flow, || LocalRecovery::new(self.config.recovery))
        } else {
            self.flows.get_mut(now, packet.flow)
        };
        let Some(flow) = flow else {
            self.stats.flows_refused += u64::from(opens);
            self.stats.uncached += Bytes(u64::from(segment.payload_len));
            return Verdict::Forward;
        };
        let before = flow.cache().bytes();
        let stored = flow.on_data(now, packet);
        let acknowledgment = flow.seen().acknowledgment(flow.seen().window());
        let after = flow.cache().bytes();
        self.stats.set_flows(self.flows.len());
        self.stats.set_cached(Bytes(self.stats.cached.get() + after.get() - before.get()));
        self.flows.settle(packet.flow);
        match (stored, acknowledgment) {
            // The acknowledgment was lost, or is under way. A single byte may be a probe, of the
            // window (RFC 9293 §3.8.6.1) or of the mobile host itself (keep-alive, §3.8.4), and
            // that is not for a box to answer.
            (Stored::HadAlready, Some(acknowledgment)) if segment.payload_len > 1 => {
                self.stats.absorbed += 1;
                self.stats.acks_sent += 1;
                out.send(acknowledgment, ProxySending::Acknowledgment);
                Verdict::Absorb
            }
            (Stored::NoRoom, _) => {
                self.stats.uncached += Bytes(u64::from(segment.payload_len));
                Verdict::Forward
            }
            _ => Verdict::Forward,
        }
    }

    /// snoop_ack.
    fn on_ack(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        out: &mut Outbox,
    ) -> Verdict {
        let Some(flow) = self.flows.get_mut(now, packet.flow) else { return Verdict::Forward };
        let (before, queued) = (flow.cache().bytes(), out.packets().count());
        let answer = flow.on_ack(now, packet, out);
        let after = flow.cache().bytes();
        let timestamps = segment.options.timestamps.is_some();
        let hides = match self.config.suppress {
            Suppress::On => true,
            Suppress::Off => false,
            Suppress::WithoutTimestamps => !timestamps,
        };
        let recovers = flow.recovers_first_missing();
        let over = flow.is_over();
        self.stats.data_sent += (out.packets().count() - queued) as u64;
        self.stats.set_cached(Bytes(self.stats.cached.get() + after.get() - before.get()));
        if over {
            self.forget(packet.flow);
        } else {
            self.flows.settle(packet.flow);
        }
        let verdict = self.verdict(packet, segment, answer, hides.then_some(recovers));
        match verdict {
            Verdict::Absorb => self.stats.absorbed += 1,
            Verdict::Rewrite(_) => self.stats.rewritten += 1,
            Verdict::Forward => {}
        }
        verdict
    }

    /// What becomes of an acknowledgment. `hidden`: whether the box recovers the first missing
    /// segment, where losses that it recovers are hidden at all.
    fn verdict(
        &self,
        packet: &Packet,
        segment: &Segment,
        answer: Answer,
        hidden: Option<bool>,
    ) -> Verdict {
        let Some(recovers) = hidden else { return Verdict::Forward };
        let pure = segment.seq_len() == 0 && !segment.flags.intersects(Flags::RST | Flags::URG);
        let blocks = !segment.options.sack.is_empty();
        let is_paper = self.config.recovery.inference == Inference::Duplicates;
        let rewrites = self.config.stands == Standing::InPath;
        match answer {
            Answer::Old | Answer::Recovered if pure => Verdict::Absorb,
            // From the blocks a sender would take for lost what is being recovered here.
            Answer::News if blocks && recovers && !is_paper && rewrites => {
                Verdict::Rewrite(without_blocks(packet))
            }
            _ => Verdict::Forward,
        }
    }
}

/// The acknowledgment without its SACK blocks, which are advice only (RFC 2018 §8).
fn without_blocks(packet: &Packet) -> Packet {
    let Some(mut segment) = packet.tcp else { return *packet };
    segment.options.sack = SackBlocks::default();
    let shorter = packet.tcp.map_or(0, |long| long.header_len()) - segment.header_len();
    Packet { ip_len: packet.ip_len.saturating_sub(shorter), tcp: Some(segment), ..*packet }
}

impl Middlebox for Snoop {
    fn deadline(&self) -> Option<Time> {
        self.flows.deadline()
    }

    fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        let stats = &mut self.stats;
        let (mut sent, mut probes, mut freed) = (0, 0, 0);
        self.flows.handle_deadline(
            now,
            |_, flow| {
                let what = flow.handle_deadline(now, out);
                sent += u64::from(what.is_some());
                probes += u64::from(what == Some(ProxySending::Probe));
            },
            |gone| freed += gone.cache().bytes().get(),
        );
        stats.data_sent += sent;
        stats.probes += probes;
        stats.set_cached(stats.cached.saturating_sub(Bytes(freed)));
        stats.set_flows(self.flows.len());
    }

    fn handle_refused(&mut self, now: Time, packet: &Packet) {
        if self.config.stands == Standing::Beside {
            return;
        }
        if let Some(flow) = self.flows.get_mut(now, packet.flow) {
            let freed = flow.on_refused(packet);
            self.stats.set_cached(self.stats.cached.saturating_sub(freed));
            self.flows.settle(packet.flow);
        }
    }

    fn forget(&mut self, id: FlowId) {
        if let Some(flow) = self.flows.remove(id) {
            self.stats.set_cached(self.stats.cached.saturating_sub(flow.cache().bytes()));
        }
        self.stats.set_flows(self.flows.len());
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl InPath for Snoop {
    fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        self.stats.seen += 1;
        let mut freed = 0;
        self.flows.sweep(now, |gone| freed += gone.cache().bytes().get());
        self.stats.set_cached(self.stats.cached.saturating_sub(Bytes(freed)));
        self.stats.set_flows(self.flows.len());
        let Some(segment) = &packet.tcp else { return Verdict::Forward };
        if segment.flags.contains(Flags::RST) {
            self.forget(packet.flow);
            return Verdict::Forward;
        }
        match heading {
            Heading::Mobile => self.on_data(now, packet, segment, out),
            Heading::Fixed => self.on_ack(now, packet, segment, out),
        }
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}
