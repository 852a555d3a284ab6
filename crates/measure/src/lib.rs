//! Folds what happened in a run into numbers: one sink for summaries, one for series, and the
//! statistics that put several runs side by side.
//!
//! | file | what |
//! | --- | --- |
//! | `labels.rs` | [`RunLabels`]: the names and sizes behind the numbers that events carry |
//! | `metric.rs` | [`Metric`]: a quantity, declared once for tables, CSV, comparisons and the list of them |
//! | `summary/` | [`Summary`], the cheap sink, and [`RunSummary`], what it adds up to |
//! | `series/` | [`Series`], the sink for plots, and [`SeriesSet`], bounded in memory |
//! | `spread.rs`, `buckets.rs` | mean, quantiles and extremes of many time spans in bounded memory |
//! | `stats.rs` | means, Student's t intervals, quantiles, fairness |
//! | `welch.rs` | two sets of values against each other |
//! | `comparison.rs` | [`Comparison`]: the same scenario with one choice varied, over several runs |
//! | `fidelity/` | [`FidelityMetric`]: a simulated quantity beside the real one, and the verdict |
//! | `claim.rs` | [`Claim`]: a claimed number beside ours, and the one rule of verdicts |
//!
//! Only data from the end a flow's label calls the sender is measured; what the other end sends
//! counts as acknowledgments alone. Not modelled: warm-up periods (a summary covers the whole run
//! from the flow's start), and queues that drop after they have accepted a packet are counted
//! under their reason but not told apart from those that refuse it.

mod buckets;
mod claim;
mod comparison;
mod fidelity;
mod labels;
mod metric;
mod series;
mod spread;
pub mod stats;
mod summary;
pub mod welch;

pub use claim::{Allowed, Claim, Claimant, Direction, RULE, Verdict};
pub use comparison::{
    Comparison, Estimates, FlowEstimates, LinkEstimates, ProxyEstimates, VariantSummary,
};
pub use fidelity::{
    Distribution, FidelityMetric, FidelityReport, FidelityScenario, FidelityVerdict,
    KernelLateness, KernelTime, Paired, QuantilePair, ScenarioVerdict, UnsettableKnob,
};
pub use labels::{FlowKind, FlowLabel, LinkLabel, ProfileLabel, ProxyLabel, RunLabels};
pub use metric::{Metric, Place, Sheet, Unit, Value, on_sheet};
pub use series::{
    DETAILED_FLOWS, FlowSeries, LinkSeries, Point, SegmentMark, SegmentPoint, SegmentTrace,
    SenderTap, Series, SeriesOptions, SeriesSet, Trace,
};
pub use spread::{Spread, SpreadSummary};
pub use summary::{
    CompletedTransfer, DatagramSummary, Drops, FLOW_METRICS, FairnessSummary, FlowDelay,
    FlowSummary, LINK_METRICS, LinkSummary, LossRecovery, MediumUse, OutageRecovery, PROXY_METRICS,
    PayloadSent, ProxyCounters, ProxySummary, QUEUE_METRICS, QueueSummary, RUN_METRICS, Ranking,
    RecoveryTimes, RunIdentity, RunSummary, Summary, TRANSFER_METRICS, TransferSummary,
};
