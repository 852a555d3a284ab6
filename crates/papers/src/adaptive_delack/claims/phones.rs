//! Tables 1 and 2 in every reading of the phones' path: megabits, gains, and Eq. 1, which the tables do not use.

use crate::adaptive_delack::paper_tables::PaperTable;
use crate::adaptive_delack::phone_tables::set_to;
use crate::adaptive_delack::phones::{Phones, Setup, setups};
use crate::adaptive_delack::readings::Reading;
use crate::adaptive_delack::sample::Sample;
use crate::adaptive_delack::setup::{DELAYED, Growth, LINUX, PAPER, STATIC_400_ALL};
use crate::cells::{Figure, Runs};
use crate::claims::{Stated, above, at_most, faster, paper, project, within};
use ackord_measure::Allowed;
use ackord_measure::stats::Estimate;

/// Every claim of both tables.
pub(super) fn tables(phones: &Phones) -> Vec<Stated> {
    let mut stated: Vec<Stated> =
        setups().filter_map(|setup| original_mbit_s(phones, setup)).collect();
    stated.extend(setups().map(|setup| adjusted_mbit_s(phones, setup)));
    stated.extend(setups().map(|setup| gain(phones, setup)));
    stated.extend(setups().map(|setup| equation_1(phones, setup)));
    stated.extend(Growth::ALL.map(|growth| from_the_neighbour(phones, growth)));
    stated.extend(Growth::ALL.map(|growth| everyone(phones, growth)));
    stated.extend(Reading::ALL.map(|reading| less_where_busy(phones, reading)));
    stated
}

/// "phones side by side, sender growing per ACK", in words and in names.
fn whose(setup: Setup) -> (String, String) {
    let Setup { reading, growth, .. } = setup;
    (
        format!("{}, sender growing {}", reading.label(), growth.label()),
        format!("{}-{}", reading.id(), growth.id()),
    )
}

fn as_theirs(theirs: &Estimate) -> Allowed {
    let half = theirs.ci95.unwrap_or(0.0);
    within(theirs.mean, half, "the 95 % interval of the paper's own runs")
}

fn mean_of<F: Figure>(runs: &Runs<Sample>, pick: impl Fn(&Sample) -> F) -> f64 {
    runs.mean(pick).mean
}

fn acks(runs: &Runs<Sample>) -> f64 {
    mean_of(runs, Sample::acks_per_segment)
}

/// What the original timeout gets: a claim only where nothing was fitted to it.
fn original_mbit_s(phones: &Phones, setup: Setup) -> Option<Stated> {
    if setup.reading.free(setup.table).is_some() {
        return None;
    }
    let theirs = as_theirs(&PaperTable::of(setup.table).original());
    let (words, name) = whose(setup);
    let what = format!("Table {}: throughput with 200 ms, {words}", setup.table);
    let id = format!("table{}-original-{name}", setup.table);
    let claim = paper(id, what, "Mbit/s", phones.original(setup), theirs);
    let path = path_figures(phones.of(setup, DELAYED));
    Some(claim.why(format!("nothing was fitted; {path}")))
}

fn adjusted_mbit_s(phones: &Phones, setup: Setup) -> Stated {
    let table = PaperTable::of(setup.table);
    let (words, name) = whose(setup);
    let what = format!("Table {}: throughput with {}, {words}", setup.table, table.adjusted.label);
    let id = format!("table{}-adjusted-{name}", setup.table);
    let theirs = as_theirs(&table.adjusted());
    paper(id, what, "Mbit/s", phones.adjusted(setup).goodput(), theirs)
        .claims(above("more than the original", &phones.adjusted_gain(setup), 1.0))
        .why(format!(
            "the original gets {:.2} Mbit/s beside it, {:.2} in the paper{}",
            phones.original(setup).mean,
            table.original().mean,
            match set_to(phones, setup).as_str() {
                "" => "; nothing was fitted".to_owned(),
                fitted => format!(", to which was fitted {fitted}"),
            }
        ))
}

fn gain(phones: &Phones, setup: Setup) -> Stated {
    let table = PaperTable::of(setup.table);
    let (words, name) = whose(setup);
    let what = format!(
        "Table {}: throughput with {} over 200 ms, {words}",
        setup.table, table.adjusted.label
    );
    let id = format!("table{}-gain-{name}", setup.table);
    paper(id, what, "times", phones.adjusted_gain(setup), as_theirs(&table.gains()))
        .above("faster", 1.0)
        .why(why_gain(phones, setup))
}

fn path_figures(runs: &Runs<Sample>) -> String {
    format!(
        "a round trip of {:.0} ms, {:.1} fast recoveries and {:.1} timeouts a run",
        mean_of(runs, |run| run.rtt_mean_ms),
        mean_of(runs, |run| run.fast_recoveries),
        mean_of(runs, |run| run.timeouts)
    )
}

fn why_gain(phones: &Phones, setup: Setup) -> String {
    let (small, delayed) = (phones.adjusted(setup), phones.of(setup, DELAYED));
    let air = |runs| mean_of(runs, |run| run.ack_air_percent);
    let linux = phones.of(setup, LINUX).goodput().mean;
    let figures = format!(
        "{:.2} Mbit/s; {:.2} ACKs a segment and {:.1} % of the time on the air for them, with 200 ms {:.2} and \
         {:.1} %; the path with 200 ms: {}. A Linux receiver in its place gets {linux:.2} Mbit/s.",
        small.goodput().mean,
        acks(small),
        air(small),
        acks(delayed),
        air(delayed),
        path_figures(delayed),
    );
    if setup.reading != Reading::SideBySide {
        return figures;
    }
    format!(
        "{figures} The first neighbour gets {:.2} beside it; with 200 ms at every phone it is {:.2} and {:.2}.",
        neighbour(small).mean,
        delayed.goodput().mean,
        neighbour(delayed).mean
    )
}

/// What the first phone beside this one gets.
fn neighbour(runs: &Runs<Sample>) -> Estimate {
    runs.mean(|run| run.neighbour_mbit_s)
}

/// Whose throughput the small timeout adds.
fn from_the_neighbour(phones: &Phones, growth: Growth) -> Stated {
    let setup = Setup { reading: Reading::SideBySide, table: 1, growth };
    let (small, delayed) = (phones.adjusted(setup), phones.of(setup, DELAYED));
    let left = neighbour(small).over(&neighbour(delayed));
    let what = format!(
        "a phone with 200 ms gets less beside one with 0.4 ms than beside one with 200 ms, sender \
         growing {}",
        growth.label()
    );
    project(format!("neighbour-{}", growth.id()), what, "times", left, at_most(1.0))
        .below("less", 1.0)
        .why(format!(
            "{:.2} Mbit/s instead of {:.2}; the other gets {:.2} instead of {:.2}",
            neighbour(small).mean,
            neighbour(delayed).mean,
            small.goodput().mean,
            delayed.goodput().mean
        ))
}

/// Where every phone has the small timeout nobody is left to gain from.
fn everyone(phones: &Phones, growth: Growth) -> Stated {
    let setup = Setup { reading: Reading::SideBySide, table: 1, growth };
    let [all, none] = [STATIC_400_ALL, DELAYED].map(|policy| phones.of(setup, policy));
    let both = |runs: &Runs<Sample>| {
        runs.mean(|run| run.goodput_mbit_s + run.neighbour_mbit_s.unwrap_or(0.0))
    };
    let what = format!(
        "two phones side by side get less together where both have 0.4 ms than where both have 200 ms, \
         sender growing {}",
        growth.label()
    );
    let share = both(all).over(&both(none));
    project(format!("everyone-{}", growth.id()), what, "times", share, at_most(1.0))
        .below("less", 1.0)
        .why(format!(
            "{:.2} Mbit/s together instead of {:.2}; {:.2} ACKs a segment instead of {:.2}",
            both(all).mean,
            both(none).mean,
            acks(all),
            acks(none)
        ))
}

/// The paper's tables are of fixed timeouts; what it proposes is one that follows the gaps.
fn equation_1(phones: &Phones, setup: Setup) -> Stated {
    let adjusted = PaperTable::of(setup.table).adjusted;
    let gain = |policy| phones.gain(setup, policy);
    let (words, name) = whose(setup);
    let what = format!(
        "§3.2: throughput with Eq. 1 over 200 ms on the path of Table {}, {words}",
        setup.table
    );
    let id = format!("equation1-table{}-{name}", setup.table);
    faster(id, what, gain(PAPER)).why(format!(
        "{:.2} acknowledgments a segment instead of {:.2}; the fixed {} gains {:.3}, a Linux receiver {:.3}",
        acks(phones.of(setup, PAPER)),
        acks(phones.of(setup, DELAYED)),
        adjusted.label,
        gain(adjusted).mean,
        gain(LINUX).mean
    ))
}

fn less_where_busy(phones: &Phones, reading: Reading) -> Stated {
    let [one, two] =
        [1, 2].map(|table| phones.adjusted_gain(Setup { reading, table, growth: Growth::PerAck }));
    let theirs = |number| PaperTable::of(number).gains().mean;
    let what = format!(
        "§5.3: the gain is smaller where the channel is busy (Table 2 over Table 1), {}",
        reading.label()
    );
    let id = format!("table2-less-{}", reading.id());
    paper(id, what, "times", two.over(&one), at_most(1.0))
        .published(theirs(2) / theirs(1))
        .below("less", 1.0)
        .why(format!(
            "{:.3} on the busy channel, where the timeout is 0.6 ms, and {:.3} on the idle one, sender \
             growing per ACK",
            two.mean, one.mean
        ))
}
