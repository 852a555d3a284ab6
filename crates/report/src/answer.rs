//! What came out, in one sentence: of a run, of a comparison, of a paper.
//!
//! Only what the summaries hold is stated; a cause is not among it, because a summary does not know any.

use crate::document::{Cell, decimals_for};
use crate::tables;
use ackord_measure::stats::Estimate;
use ackord_measure::{
    Claim, Claimant, Comparison, FlowSummary, LinkSummary, QueueSummary, RunSummary,
};

/// States what the flows of a run got, and how the busiest link fared.
pub(crate) fn of_run(run: &RunSummary) -> String {
    let got = match &run.flows[..] {
        [] => format!("No flow in {}", seconds(run.duration_s)),
        [flow] => one_flow(flow, run.duration_s),
        flows => several_flows(run, flows),
    };
    match busiest(run) {
        Some((link, queue)) => format!("{got}; {}.", fared(link, queue)),
        None => format!("{got}."),
    }
}

fn one_flow(flow: &FlowSummary, duration_s: f64) -> String {
    let (bytes, rate) = (bytes(flow.bytes_delivered), rate(flow.goodput_bit_s));
    let mut words = match flow.completion_s {
        Some(took) => format!("{} delivered {bytes} in {} ({rate})", flow.name, seconds(took)),
        None => format!("{} delivered {bytes} in {} ({rate})", flow.name, seconds(duration_s)),
    };
    if flow.size_bytes.is_some() && flow.completion_s.is_none() {
        words += ", which is not all it had to send";
    }
    if let Some(transfers) = &flow.transfers {
        words += &format!(", {} of {} transfers complete", transfers.completed, transfers.began);
        if let Some(time) = &transfers.time_ms {
            words += &format!(" after {} ms on average", about(time.mean));
        }
    }
    let lost = flow.datagrams.as_ref().and_then(|datagrams| datagrams.lost_percent);
    match (flow.retransmitted_percent(), lost) {
        (_, Some(lost)) => words + &format!(", with {} % of its packets lost", about(lost)),
        (Some(share), _) => {
            words + &format!(", with {} % of its segments retransmitted", about(share))
        }
        (None, None) => words,
    }
}

fn several_flows(run: &RunSummary, flows: &[FlowSummary]) -> String {
    let total: f64 = flows.iter().map(|flow| flow.goodput_bit_s).sum();
    let mut words = format!(
        "{} flows got {} of goodput together in {}",
        flows.len(),
        rate(total),
        seconds(run.duration_s)
    );
    let slowest = flows.iter().min_by(|a, b| a.goodput_bit_s.total_cmp(&b.goodput_bit_s));
    let fastest = flows.iter().max_by(|a, b| a.goodput_bit_s.total_cmp(&b.goodput_bit_s));
    if let (Some(slowest), Some(fastest)) = (slowest, fastest) {
        words += &format!(
            ", from {} ({}) to {} ({})",
            rate(slowest.goodput_bit_s),
            slowest.name,
            rate(fastest.goodput_bit_s),
            fastest.name
        );
    }
    match run.fairness.jain_index {
        Some(index) if run.fairness.flows > 1 => words + &format!(", Jain's index {index:.3}"),
        _ => words,
    }
}

/// The link that was used most, with its queue; nothing if no link has a rate.
fn busiest(run: &RunSummary) -> Option<(&LinkSummary, &QueueSummary)> {
    let used = run.links.iter().zip(&run.queues).filter(|(link, _)| link.utilisation > Some(0.0));
    used.max_by(|(a, _), (b, _)| {
        a.utilisation.unwrap_or(0.0).total_cmp(&b.utilisation.unwrap_or(0.0))
    })
}

fn fared(link: &LinkSummary, queue: &QueueSummary) -> String {
    let share = link.utilisation.unwrap_or(0.0) * 100.0;
    let rate = rate(link.rate_bit_s as f64);
    let waited = queue
        .mean_delay_ms
        .map_or(String::new(), |ms| format!(", packets queued for {} ms on average", about(ms)));
    let dropped = match queue.dropped_packets {
        0 => "none was dropped".to_owned(),
        1 => "1 was dropped".to_owned(),
        count => format!("{count} were dropped"),
    };
    format!(
        "the busiest link, {} ({rate}), was {share:.1} % used{waited}, and {dropped}",
        link.name
    )
}

/// States which variant of a comparison has the highest and the lowest goodput; nothing if there are no variants.
pub(crate) fn of_comparison(comparison: &Comparison) -> Option<String> {
    let total =
        |variant: &ackord_measure::VariantSummary| variant.estimates.of("total_goodput_bit_s");
    let known =
        comparison.variants.iter().filter_map(|variant| Some((&*variant.label, total(variant)?)));
    let mut known: Vec<_> = known.collect();
    known.sort_by(|(_, a), (_, b)| b.mean.total_cmp(&a.mean));
    let (best, worst) = (known.first()?, known.last()?);
    let varied = &comparison.varied;
    let named = |(label, estimate): &(&str, Estimate)| format!("{label} ({})", estimated(estimate));
    if known.len() == 1 {
        return Some(format!("With {varied} {}, total goodput is {}.", best.0, estimated(&best.1)));
    }
    let apart = match (best.1.ci95, worst.1.ci95) {
        (Some(one), Some(other)) if best.1.mean - one > worst.1.mean + other => {
            "; their 95 % intervals do not overlap"
        }
        (Some(_), Some(_)) => "; their 95 % intervals overlap",
        _ => "",
    };
    Some(format!(
        "Of {} values of {varied}, total goodput is highest with {} and lowest with {}{apart}.",
        known.len(),
        named(best),
        named(worst)
    ))
}

/// States how many claims of a paper came out as claimed, those of this project separately.
pub(crate) fn of_claims(claims: &[Claim]) -> Option<String> {
    let [hold, differ, fail, open] = tables::verdicts_of(claims, Claimant::Paper);
    let all = hold + differ + fail + open;
    let verdict = match hold {
        _ if all == 0 => None,
        hold if hold == all => Some("Every claim of the paper holds here"),
        0 => Some("No claim of the paper holds here"),
        hold if 2 * hold > all => Some("Most of the paper's claims hold here"),
        _ => Some("Half of the paper's claims or fewer hold here"),
    };
    let paper = verdict
        .map(|verdict| format!("{verdict}: of {all}, {}.", counted([hold, differ, fail, open])));
    let [hold, differ, fail, open] = tables::verdicts_of(claims, Claimant::Project);
    let all = hold + differ + fail + open;
    let ours = (all > 0).then(|| {
        format!("Of this project's own {all} claims, {}.", counted([hold, differ, fail, open]))
    });
    let words: Vec<_> = paper.into_iter().chain(ours).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// "7 hold, 2 differ, 1 fails and 2 are undecided", without what does not occur.
pub(crate) fn counted([hold, differ, fail, open]: [usize; 4]) -> String {
    let verbs = [
        (hold, ["holds", "hold"]),
        (differ, ["differs", "differ"]),
        (fail, ["fails", "fail"]),
        (open, ["is undecided", "are undecided"]),
    ];
    let occur = verbs.into_iter().filter(|(count, _)| *count > 0);
    let words = occur.map(|(count, verb)| format!("{count} {}", verb[usize::from(count != 1)]));
    let mut words: Vec<_> = words.collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

fn estimated(estimate: &Estimate) -> String {
    let decimals = decimals_for(estimate.mean / 1e6);
    let in_mbit = |value: f64| value / 1e6;
    let (mean, half_width) = (in_mbit(estimate.mean), estimate.ci95.map(in_mbit));
    format!("{} Mbit/s", Cell::Amount { mean, half_width, decimals }.show())
}

fn about(value: f64) -> String {
    Cell::about(value).show()
}

fn seconds(value: f64) -> String {
    if value < 1.0 { format!("{} ms", about(value * 1e3)) } else { format!("{} s", about(value)) }
}

fn rate(bit_s: f64) -> String {
    scaled(bit_s, [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (0.0, "bit/s")])
}

fn bytes(count: u64) -> String {
    scaled(count as f64, [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0.0, "B")])
}

/// A value in the largest unit of which there is at least one.
fn scaled(value: f64, units: [(f64, &str); 4]) -> String {
    let fits = units.into_iter().find(|(size, _)| value >= *size);
    let (size, name) = fits.unwrap_or(units[3]);
    format!("{} {name}", about(value / size.max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_verdicts_are_in_words_without_what_does_not_occur() {
        assert_eq!(counted([7, 2, 1, 2]), "7 hold, 2 differ, 1 fails and 2 are undecided");
        assert_eq!(counted([1, 0, 0, 0]), "1 holds");
        assert_eq!(counted([0, 0, 2, 1]), "2 fail and 1 is undecided");
    }

    #[test]
    fn amounts_have_the_largest_unit_of_which_there_is_one() {
        assert_eq!(rate(9.59e6), "9.590 Mbit/s");
        assert_eq!(rate(0.0), "0.000 bit/s");
        assert_eq!((bytes(999), bytes(24_000_000)), ("999.0 B".to_owned(), "24.00 MB".to_owned()));
        assert_eq!((seconds(0.25), seconds(20.0)), ("250.0 ms".to_owned(), "20.00 s".to_owned()));
    }
}
