//! The cheap sink: counters, means and histograms per flow and per link, no allocation per packet.
//!
//! | file | what |
//! | --- | --- |
//! | `flow.rs` | the counters of one connection |
//! | `datagrams.rs` | the counters of a flow that is no connection |
//! | `link.rs` | the counters of one direction of a link and its queue |
//! | `length.rs`, `delays.rs` | how long its queue was, and how long the packets of each flow waited |
//! | `outages.rs` | how a connection came back after outages of the path |
//! | `proxy.rs` | what a middlebox did |
//! | `mean.rs` | mean over time of a value that changes in steps |
//! | `transfers.rs` | the transfers of one connection: how long each took |
//! | `run.rs`, `flow_summary.rs`, `link_summary.rs` | [`RunSummary`]: what they add up to, in the form of the JSON output, with its metrics |

mod datagrams;
mod delays;
mod flow;
mod flow_summary;
mod length;
mod link;
mod link_summary;
mod mean;
mod outages;
mod proxy;
mod run;
#[cfg(test)]
mod tests;
mod transfers;

pub use datagrams::DatagramSummary;
pub use flow_summary::{FLOW_METRICS, FlowSummary, LossRecovery, PayloadSent};
pub use link_summary::{
    Drops, FlowDelay, LINK_METRICS, LinkSummary, MediumUse, QUEUE_METRICS, QueueSummary,
};
pub use outages::{OutageRecovery, RecoveryTimes};
pub use proxy::{PROXY_METRICS, ProxyCounters, ProxySummary};
pub use run::{FairnessSummary, RUN_METRICS, RunIdentity, RunSummary};
pub use transfers::{CompletedTransfer, Ranking, TRANSFER_METRICS, TransferSummary};

use crate::{FlowLabel, LinkLabel, RunLabels};
use ackord_events::{DropReason, EndpointId, Event, LinkId, Passed, ProxyId, Sink, Waited};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, Packet};
use flow::FlowFold;
use link::LinkFold;
use proxy::ProxyFold;

/// Folds events into a [`RunSummary`].
#[derive(Clone, Debug)]
pub struct Summary {
    /// Of `flows` and of `links`, in their order.
    labels: (Vec<FlowLabel>, Vec<LinkLabel>),
    flows: Vec<FlowFold>,
    links: Vec<LinkFold>,
    proxies: Vec<ProxyFold>,
    unroutable_packets: u64,
}

impl Summary {
    /// A sink for a run whose flows and links are these.
    pub fn new(labels: &RunLabels) -> Summary {
        let flows = labels.flows.iter().map(|label| FlowFold::new(label, labels.outages));
        // With one flow its delays are the link's.
        let told_apart = if labels.flows.len() > 1 { labels.flows.len() } else { 0 };
        let links = labels.links.iter().map(|_| LinkFold::new(told_apart));
        let proxies = labels.proxies.iter().map(ProxyFold::new);
        Summary {
            labels: (labels.flows.clone(), labels.links.clone()),
            flows: flows.collect(),
            links: links.collect(),
            proxies: proxies.collect(),
            unroutable_packets: 0,
        }
    }

    /// What the run added up to. `ended_at` is where it really ended, which is earlier than planned
    /// when somebody interrupted it.
    pub fn finish(&self, identity: RunIdentity, ended_at: Time) -> RunSummary {
        let (of_flows, of_links) = &self.labels;
        let flows = of_flows.iter().zip(&self.flows);
        let flows: Vec<_> = flows.map(|(label, fold)| fold.summary(label, ended_at)).collect();
        let names: Vec<&str> = of_flows.iter().map(|label| label.name.as_str()).collect();
        let links = || of_links.iter().zip(&self.links);
        let queues = links().map(|(label, fold)| fold.queue(label, &names, ended_at));
        RunSummary {
            scenario_hash: identity.scenario_hash,
            seed: identity.seed,
            version: identity.version,
            duration_s: ended_at.as_secs_f64(),
            fairness: FairnessSummary::of(&flows),
            flows,
            unroutable_packets: self.unroutable_packets,
            queues: queues.collect(),
            links: links().map(|(label, fold)| fold.link(label, ended_at)).collect(),
            proxies: self.proxies.iter().map(ProxyFold::summary).collect(),
        }
    }

    /// Takes a middlebox's own counters, which no event carries; told at the end of the run.
    ///
    /// # Panics
    /// If there is no label for it.
    pub fn count_proxy(&mut self, proxy: ProxyId, counters: ProxyCounters) {
        self.proxy(proxy).count(counters);
    }

    #[inline]
    fn proxy(&mut self, proxy: ProxyId) -> &mut ProxyFold {
        self.proxies.get_mut(proxy.0 as usize).expect("the labels name every box")
    }

    #[inline]
    fn flow(&mut self, flow: FlowId) -> &mut FlowFold {
        self.flows.get_mut(flow.0 as usize).expect("the labels name every flow")
    }

    #[inline]
    fn link(&mut self, link: LinkId) -> &mut LinkFold {
        self.links.get_mut(link.0 as usize).expect("the labels name every link")
    }
}

impl Summary {
    #[inline(never)]
    fn outage_met(&mut self, began: Time, ends: Time) {
        self.flows.iter_mut().for_each(|flow| flow.outage_met(began, ends));
        self.proxies.iter_mut().for_each(|fold| fold.met(began, ends));
    }

    #[inline(never)]
    fn dropped(&mut self, link: LinkId, packet: &Packet, reason: DropReason) {
        match self.links.get_mut(link.0 as usize) {
            Some(fold) => fold.dropped(packet.len(), reason),
            // No way leads to where it wanted to go, so it died on no link.
            None => self.unroutable_packets += 1,
        }
        // Traffic that is no connection's has no label either.
        if let Some(flow) = self.flows.get_mut(packet.flow.0 as usize) {
            flow.packet_dropped(packet.from);
        }
    }
}

impl Sink for Summary {
    const ADDS_WAITS_UP: bool = true;

    /// Links and flows are added up each for itself.
    fn needs_order(&self) -> bool {
        false
    }

    #[inline(always)]
    fn emit_passed(&mut self, at: Time, link: LinkId, flow: FlowId, bytes: Bytes) {
        self.link(link).passed(at, flow, bytes);
    }

    #[inline]
    fn emit_all_passed(&mut self, link: LinkId, passed: impl DoubleEndedIterator<Item = Passed>) {
        self.link(link).all_passed(passed);
    }

    #[inline]
    fn emit_all_waited(&mut self, link: LinkId, waited: impl Iterator<Item = Waited>) {
        self.link(link).all_waited(waited);
    }

    fn emit_waiting(&mut self, link: LinkId, waited: Waited) {
        self.link(link).waiting(waited);
    }

    /// # Panics
    /// If the event names a flow or link for which there is no label.
    // Wherever an event is told it is known of which kind it is: what is left there of this is one arm.
    #[inline(always)]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::SegmentSent { endpoint: EndpointId { flow, side }, payload, kind, .. } => {
                self.flow(flow).segment_sent(side, payload, kind);
            }
            Event::DataDelivered { endpoint: EndpointId { flow, side }, stream_offset, .. } => {
                self.flow(flow).delivered(at, side, stream_offset);
            }
            Event::DatagramSent { endpoint, .. } => self.flow(endpoint.flow).datagrams().sent(),
            Event::DatagramDelivered { endpoint, payload, one_way_delay } => {
                self.flow(endpoint.flow).datagrams().delivered(payload, one_way_delay);
            }
            Event::AckAdvanced { endpoint: EndpointId { flow, side }, stream_offset, .. } => {
                self.flow(flow).acknowledged(side, stream_offset);
            }
            Event::TransferBegan { endpoint, index, .. } => {
                self.flow(endpoint.flow).transfers().began(at, index);
            }
            Event::TransferCompleted { endpoint, index, bytes } => {
                self.flow(endpoint.flow).transfers().completed(at, index, bytes);
            }
            Event::CwndChanged { endpoint: EndpointId { flow, side }, cwnd, reason, .. } => {
                self.flow(flow).cwnd_changed(at, side, cwnd, reason);
            }
            Event::RttSampled { endpoint: EndpointId { flow, side }, rtt, .. } => {
                self.flow(flow).rtt_sampled(side, rtt);
            }
            Event::AckTimeoutChanged { endpoint: EndpointId { flow, side }, ato } => {
                self.flow(flow).ack_timeout_changed(side, ato);
            }
            Event::SegmentLost { endpoint: EndpointId { flow, side }, bytes, .. } => {
                self.flow(flow).segment_lost(side, bytes);
            }
            Event::RecoveryEntered { endpoint: EndpointId { flow, side }, kind } => {
                self.flow(flow).recovery_entered(side, kind);
            }
            Event::RetransmissionSpurious { endpoint: EndpointId { flow, side }, .. } => {
                self.flow(flow).retransmitted_in_vain(side);
            }
            Event::RetransmissionTimeout { endpoint: EndpointId { flow, side }, .. } => {
                self.flow(flow).timed_out(side);
            }
            Event::OutageMet { began, ends, .. } => self.outage_met(began, ends),
            Event::ProxyActed { proxy, act, .. } => self.proxy(proxy).acted(at, act),
            Event::ProxyFailed { proxy } => self.proxy(proxy).failed(),
            Event::ProxyRestarted { proxy } => self.proxy(proxy).restarted(),
            Event::PacketEnqueued { link, bytes, queue_packets, queue_bytes, .. } => {
                self.link(link).enqueued(at, bytes, queue_packets, queue_bytes);
            }
            Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes } => {
                let fold = self.link(link);
                fold.waited(flow, waited);
                fold.dequeued(at, bytes, queue_packets, queue_bytes);
            }
            Event::MediumTaken { link, airtime, frames, outcome } => {
                self.link(link).took_medium(at, airtime, (frames, outcome));
            }
            Event::PacketDropped { link, packet, reason } => self.dropped(link, packet, reason),
            // What a table has no column for; boxes and links count their packets themselves.
            Event::StateChanged { .. }
            | Event::FlowSeen { .. }
            | Event::RecoveryExited { .. }
            | Event::RecoveryUndone { .. }
            | Event::R1Reached { .. }
            | Event::SegmentRefused { .. }
            | Event::PacketDuplicated { .. }
            | Event::ProxySent { .. }
            | Event::ProxyAbsorbed { .. }
            | Event::ProxyReleased { .. }
            | Event::PacketTapped { .. } => {}
        }
    }
}

/// Seconds from one instant to another; zero if it is the other way round.
fn seconds_between(from: Time, to: Time) -> f64 {
    to.saturating_since(from).as_secs_f64()
}

/// A rate in bit/s; zero over no time.
fn bit_rate(bytes: u64, span: Span) -> f64 {
    if span == Span::ZERO { 0.0 } else { bytes as f64 * 8.0 / span.as_secs_f64() }
}
