//! What a flow adds up to, and its metrics.

use super::{DatagramSummary, OutageRecovery, RecoveryTimes, TransferSummary};
use crate::metric::Sheet::*;
use crate::metric::{
    BYTES, KB, MB, MBIT_S, MS, PACKETS, PERCENT, PLAIN, S, SEGMENTS, Unit, summary,
};
use crate::{ProfileLabel, SpreadSummary};
use std::collections::BTreeMap;

summary! {
    /// One flow, seen from the end that sends.
    pub struct FlowSummary, metrics FLOW_METRICS {
        /// Its name in the scenario.
        name: String;
        /// Family to mechanism.
        mechanisms: BTreeMap<String, String>;
        /// The profiles its ends began with, and what differs; left out where they are not TCP's.
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<ProfileLabel>;
        /// Payload delivered in order to the receiving application.
        bytes_delivered: u64 => MB, [FlowsCsv.at(2), DatagramsCsv.at(2), Flows.named(1, "delivered")];
        /// Delivered payload over the time from the flow's start to its completion, or to the end of
        /// the run where it did not complete.
        goodput_bit_s: f64 => MBIT_S, [
            FlowsCsv.at(3), DatagramsCsv.at(1), Flows.named(0, "goodput"),
            Datagrams.named(0, "goodput"), Compared.at(0), FlowsSideBySide.named(0, "goodput"),
            DatagramsSideBySide.named(0, "goodput"),
        ];
        /// Segments sent that take sequence space (data, SYN, FIN, retransmissions, window probes).
        segments_sent: u64 => SEGMENTS, [FlowsCsv.at(5), Flows.named(3, "sent")];
        /// Of these, the retransmissions.
        retransmitted_segments: u64 => SEGMENTS, [FlowsCsv.at(6), Flows.named(4, "retrans")];
        /// Expiries of the retransmission timer.
        timeouts: u64 => PLAIN, [
            FlowsCsv.at(7), Flows.at(5), Compared.at(2), FlowsSideBySide.at(3),
        ];
        /// Pure acknowledgments sent by the receiving end.
        acks_sent: u64 => PLAIN, [
            FlowsCsv.at(12), Flows.named(6, "ACKs"), Compared.at(3), FlowsSideBySide.named(4, "ACKs"),
            TransfersSideBySide.named(5, "ACKs"),
        ];
        /// From the flow's start to the delivery of its last byte; null where it has no end or did not
        /// reach it.
        completion_s: Option<f64> => S, [
            FlowsCsv.at(4), Flows.named(2, "done after"), Compared.at(4),
            FlowsSideBySide.named(1, "done after"),
        ];
        /// When it started.
        started_s: f64 => S, [FlowsCsv.at(0), DatagramsCsv.at(0)];
        /// How much it had to send; null for no end.
        size_bytes: Option<u64> => BYTES, [FlowsCsv.at(1)];
        #[serde(flatten)]
        payload: PayloadSent = PayloadSent {
            /// Payload sent, retransmissions included.
            bytes_sent: u64 => BYTES, [];
            /// Payload retransmitted.
            retransmitted_bytes: u64 => BYTES, [];
            /// Bytes the sender declared lost, rightly or not.
            bytes_declared_lost: u64 => BYTES, [];
        };
        /// Packets from the sending end that died on the path, for whatever reason.
        packets_dropped: u64 => PACKETS, [
            FlowsCsv.at(11), DatagramsCsv.at(5), Senders.named(7, "lost on the path"),
        ];
        #[serde(flatten)]
        recovery: LossRecovery = LossRecovery {
            /// Times it entered fast recovery.
            fast_recoveries: u64 => PLAIN, [FlowsCsv.at(8), Senders.named(5, "fast recoveries")];
            /// Reductions of cwnd that the sender itself found wrong and undid. (Whether the others were
            /// spurious, no event says.)
            undone_reductions: u64 => Unit::things("reductions"), [
                FlowsCsv.at(9), Senders.named(6, "undone"),
            ];
            /// Retransmissions that the receiver had already, by its DSACK reports (RFC 2883); zero where
            /// SACK is off.
            spurious_retransmissions: u64 => SEGMENTS, [FlowsCsv.at(10)];
        };
        /// cwnd averaged over time, from its first value to completion or the end of the run.
        cwnd_mean_bytes: Option<f64> => KB, [
            FlowsCsv.at(19), Senders.named(3, "cwnd mean"), Compared.at(6),
        ];
        /// Largest cwnd in that time.
        cwnd_max_bytes: Option<u64> => KB, [Senders.named(4, "cwnd max")];
        /// Round-trip times the sender measured; quantiles within 1 %.
        rtt: Option<SpreadSummary>;
        /// Values the receiver's ATO took, each change counted once; null where it never changed.
        ack_timeout: Option<SpreadSummary>;
        /// Its transfers or exchanges; null where the workload has none.
        transfers: Option<TransferSummary>;
        /// The longest time without new data at the receiver, from the first data to the flow's
        /// completion or the end of the run.
        longest_stall_s: Option<f64> => S, [Outages.named(6, "longest stall")];
        /// Where the flow is no connection; what is said of segments, acknowledgments, windows and
        /// round trips is then zero or null.
        datagrams: Option<DatagramSummary>;
        /// The most that was acknowledged to the sender before the receiver's application could have
        /// it: zero where acknowledgments come from the receiver.
        acknowledged_early_peak_bytes: u64 => KB, [
            EarlyAcks.named(0, "acknowledged too early, most"), ComparedEarlyAcks.named(0, "peak_bytes"),
            OutagesSideBySide.named(3, "acknowledged too early"),
        ];
        /// Acknowledged to the sender and not delivered when the run ended: with nobody left to send
        /// it, lost for ever.
        acknowledged_undelivered_bytes: u64 => KB, [
            EarlyAcks.named(1, "at the end"), ComparedEarlyAcks.named(1, "undelivered_bytes"),
            OutagesSideBySide.named(4, "at the end"),
        ];
        /// How it came back after each outage that the path met, in order.
        outages: Vec<OutageRecovery>;
    }
    derived {
        /// Retransmissions as a share of the segments sent, in percent; null if none were sent.
        retransmitted_percent = FlowSummary::retransmitted_percent => PERCENT, [
            Compared.at(1), FlowsSideBySide.named(2, "retransmitted"),
        ];
        /// How many round-trip times were measured.
        rtt_samples = |flow| Some(flow.rtt?.samples) => PLAIN, [FlowsCsv.at(13)];
        /// Mean of the round-trip times.
        rtt_mean_ms = |flow| Some(flow.rtt?.mean_ms) => MS, [
            FlowsCsv.at(14), Senders.named(1, "mean"), Compared.named(5, "mean_rtt_ms"),
            FlowsSideBySide.named(5, "RTT mean"),
        ];
        /// Shortest round-trip time.
        rtt_min_ms = |flow| Some(flow.rtt?.min_ms) => MS, [FlowsCsv.at(15), Senders.named(0, "RTT min")];
        /// Median of the round-trip times.
        rtt_p50_ms = |flow| Some(flow.rtt?.p50_ms) => MS, [FlowsCsv.at(16)];
        /// 99th percentile of the round-trip times.
        rtt_p99_ms = |flow| Some(flow.rtt?.p99_ms) => MS, [FlowsCsv.at(17), Senders.named(2, "p99")];
        /// Longest round-trip time.
        rtt_max_ms = |flow| Some(flow.rtt?.max_ms) => MS, [FlowsCsv.at(18)];
        /// Transfers that were complete before the run ended; what follows is about these.
        transfers_completed = |flow| Some(flow.transfers.as_ref()?.completed) =>
            Unit::things("transfers"), [
                Transfers.named(0, "complete"), ComparedTransfers.named(0, "completed"),
            ];
        /// Mean time of a transfer.
        transfer_mean_ms = |flow| Some(flow.transfers.as_ref()?.time_ms?.mean) => MS, [
            Transfers.named(1, "time mean"), ComparedTransfers.named(1, "mean_ms"),
            TransfersSideBySide.named(0, "time mean"),
        ];
        /// Median time of a transfer.
        transfer_p50_ms = |flow| Some(flow.transfers.as_ref()?.time_ms?.p50) => MS, [
            Transfers.named(2, "median"), ComparedTransfers.named(2, "p50_ms"),
            TransfersSideBySide.named(1, "median"),
        ];
        /// 95th percentile of the time of a transfer.
        transfer_p95_ms = |flow| Some(flow.transfers.as_ref()?.time_ms?.p95) => MS, [
            Transfers.named(3, "p95"), ComparedTransfers.named(3, "p95_ms"),
            TransfersSideBySide.named(2, "p95"),
        ];
        /// 99th percentile of the time of a transfer.
        transfer_p99_ms = |flow| Some(flow.transfers.as_ref()?.time_ms?.p99) => MS, [
            Transfers.named(4, "p99"), ComparedTransfers.named(4, "p99_ms"),
        ];
        /// Longest time of a transfer.
        transfer_max_ms = |flow| Some(flow.transfers.as_ref()?.time_ms?.max) => MS, [
            Transfers.named(5, "worst"), ComparedTransfers.named(5, "max_ms"),
            TransfersSideBySide.named(3, "worst"),
        ];
        /// Mean rate of a transfer.
        transfer_mean_rate_bit_s = |flow| Some(flow.transfers.as_ref()?.rate_bit_s?.mean) => MBIT_S, [
            Transfers.named(6, "rate mean"), ComparedTransfers.named(6, "mean_rate_bit_s"),
            TransfersSideBySide.named(4, "rate mean"),
        ];
        /// Lowest rate of a transfer.
        transfer_min_rate_bit_s = |flow| Some(flow.transfers.as_ref()?.rate_bit_s?.min) => MBIT_S, [
            Transfers.named(7, "worst"),
        ];
        /// Packets of datagrams sent.
        packets_sent = |flow| Some(flow.datagrams?.sent) => PACKETS, [
            DatagramsCsv.at(3), Datagrams.named(1, "sent"),
        ];
        /// Packets of datagrams that arrived.
        packets_delivered = |flow| Some(flow.datagrams?.delivered) => PACKETS, [
            DatagramsCsv.at(4), Datagrams.named(2, "arrived"),
        ];
        /// Packets of datagrams that died on the path, in percent of those sent.
        lost_percent = |flow| flow.datagrams?.lost_percent => PERCENT, [
            Datagrams.named(3, "lost"), ComparedDatagrams.at(0), DatagramsSideBySide.named(1, "lost"),
        ];
        /// Mean one-way delay of datagrams.
        delay_mean_ms = |flow| Some(flow.datagrams?.one_way_delay?.mean_ms) => MS, [
            DatagramsCsv.at(6), Datagrams.named(5, "mean"), ComparedDatagrams.named(1, "mean_delay_ms"),
            DatagramsSideBySide.named(2, "one way mean"),
        ];
        /// Shortest one-way delay of datagrams.
        delay_min_ms = |flow| Some(flow.datagrams?.one_way_delay?.min_ms) => MS, [
            DatagramsCsv.at(7), Datagrams.named(4, "one way min"),
        ];
        /// Median one-way delay of datagrams.
        delay_p50_ms = |flow| Some(flow.datagrams?.one_way_delay?.p50_ms) => MS, [
            DatagramsCsv.at(8), Datagrams.named(6, "median"),
        ];
        /// 99th percentile of the one-way delay of datagrams.
        delay_p99_ms = |flow| Some(flow.datagrams?.one_way_delay?.p99_ms) => MS, [
            DatagramsCsv.at(9), Datagrams.named(7, "p99"), ComparedDatagrams.named(2, "p99_delay_ms"),
            DatagramsSideBySide.named(3, "p99"),
        ];
        /// Longest one-way delay of datagrams.
        delay_max_ms = |flow| Some(flow.datagrams?.one_way_delay?.max_ms) => MS, [DatagramsCsv.at(10)];
        /// Outages that the path met.
        outages_met = |flow| Some(flow.outages.len()) => PLAIN, [
            Outages.named(0, "outages"), ComparedOutages.named(0, "outages"),
            OutagesSideBySide.named(0, "outages"),
        ];
        /// From an outage's end to the first data, on average over those after which some came.
        first_data_mean_s = |flow| Some(flow.recovery_times()?.first_data_s?.0) => S, [
            Outages.named(1, "first data after, mean"), ComparedOutages.named(1, "first_data_s"),
            OutagesSideBySide.named(1, "first data after"),
        ];
        /// The same at worst.
        first_data_worst_s = |flow| Some(flow.recovery_times()?.first_data_s?.1) => S, [
            Outages.named(2, "worst"),
        ];
        /// From an outage's end to the return of the rate, on average over those after which it came back.
        rate_back_mean_s = |flow| Some(flow.recovery_times()?.rate_back_s?.0) => S, [
            Outages.named(3, "rate back after, mean"), ComparedOutages.named(2, "rate_back_s"),
            OutagesSideBySide.named(2, "rate back after"),
        ];
        /// The same at worst.
        rate_back_worst_s = |flow| Some(flow.recovery_times()?.rate_back_s?.1) => S, [
            Outages.named(4, "worst"),
        ];
        /// Outages after which the rate never came back.
        never_back = |flow| Some(flow.recovery_times()?.not_back) => Unit::things("outages"), [
            Outages.named(5, "never back"),
        ];
    }
}

impl FlowSummary {
    /// How it came back after outages, together; nothing if the path met none.
    pub fn recovery_times(&self) -> Option<RecoveryTimes> {
        RecoveryTimes::of(&self.outages)
    }

    /// Retransmissions as a share of the segments sent, in percent; nothing if none were sent.
    pub fn retransmitted_percent(&self) -> Option<f64> {
        let share = self.retransmitted_segments as f64 / self.segments_sent as f64;
        (self.segments_sent > 0).then_some(100.0 * share)
    }
}
