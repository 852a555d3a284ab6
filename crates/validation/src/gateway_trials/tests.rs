//! The trials with the simulator in the kernel's place: what they say is then known.

use super::*;
use crate::validate::{KernelError, KernelRun};
use ackord_live::Direction;
use ackord_live::{Forwarded, Lateness, RouterReport};
use ackord_measure::{FidelityVerdict, KernelLateness, KernelTime, UnsettableKnob};
use ackord_report::to_markdown;
use ackord_study::{RunOptions, execute, without_progress};
use ackord_units::Span;
use std::num::{NonZeroU32, NonZeroUsize};

/// The simulator, whose goodput is this many times as much.
struct Pretended(f64);

impl KernelSide for Pretended {
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        _: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError> {
        let mut outcome = execute(scenario, RunOptions::summary_only(seed), &mut without_progress)?;
        for flow in &mut outcome.summary.flows {
            flow.goodput_bit_s *= self.0;
        }
        Ok(KernelRun {
            summary: outcome.summary,
            series: None,
            time: self.time(),
            lateness: KernelLateness { seed, within_budget: true, ..Default::default() },
            settings: vec![UnsettableKnob {
                knob: "congestion.growth".to_owned(),
                asked: "per-ack".to_owned(),
                outcome: "per-segment: it says so".to_owned(),
            }],
            stopped: false,
        })
    }

    fn release(&self) -> String {
        "pretended".to_owned()
    }

    fn time(&self) -> KernelTime {
        KernelTime::Real
    }
}

fn outcome(wanted: &Wanted, times: f64) -> TrialOutcome {
    let runs = NonZeroU32::new(3).expect("some");
    let jobs = NonZeroUsize::new(2).expect("some");
    let options = TrialOptions {
        cells: wanted.cells(),
        duration: Some("8 s"),
        sampling: Sampling { first_seed: 1, seeds: runs, most: runs.get(), jobs, repeats: 0 },
    };
    let passed = || {
        let way = Forwarded { handed: 10, forwarded: 9, made: 2, ..Forwarded::default() };
        let inside = Lateness {
            packets: 9,
            p50: Span::from_micros(20),
            p99: Span::from_micros(80),
            max: Span::from_micros(90),
            budget: Span::from_millis(1),
        };
        vec![RoutedRun {
            router: RouterReport { to_mobile: way, to_fixed: way, inside, replayed: inside },
            unchecked: 0,
            gateway: Stands::Beside,
            remedy: Some("proxy-tcp".to_owned()),
        }]
    };
    let go_on = |_: ValidateProgress<'_>| ControlFlow::Continue(());
    try_gateway(&options, &Pretended(times), &passed, &go_on).expect("sound runs")
}

fn outage() -> Wanted {
    Wanted {
        trials: TRIALS.iter().filter(|trial| trial.name == "outage-1500").collect(),
        directions: vec![Direction::Download],
        families: vec![Family::V6],
        senders: vec![Sender::Cubic],
        remedies: vec![Remedy::None, Remedy::ProxyTcp],
    }
}

#[test]
fn both_sides_are_told_with_the_gain_of_each_remedy() {
    let report = outcome(&outage(), 1.0).report;
    let [none, proxy] = &report.rows[..] else { panic!("{report:?}") };
    assert!(none.gain_live.is_none() && none.runs_to_decide.is_none());
    // It is worth something, and what each side says of itself is the same.
    let gain = proxy.gain_live.expect("beside none");
    assert!(gain.mean > 1.05 && proxy.gain_simulated == Some(gain), "{gain:?}");
    for row in [none, proxy] {
        let goodput = row.compared.metric("goodput").expect("told");
        assert_eq!(goodput.verdict, Some(FidelityVerdict::Within));
        assert_eq!((goodput.error_percent, goodput.goal_percent), (Some(0.0), Some(GOODPUT_GOAL)));
    }
    let first = |row: &TrialRow| {
        row.compared.metric("first data after an outage").and_then(|metric| metric.kernel)
    };
    assert!(first(proxy) < first(none), "{:?} {:?}", first(proxy), first(none));
    assert_eq!((report.router.handed, report.router.forwarded, report.router.made), (20, 18, 4));
    let page = to_markdown(&trials_document(&report, "ackord gateway trial"), ".");
    for words in [
        "download, ipv6, cubic",
        "proxy-tcp",
        "first data after an outage",
        "20 us",
        "| congestion.growth | per-ack | per-segment: it says so | download, ipv6, cubic |",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
}

#[test]
fn what_is_off_is_outside_and_what_lies_across_says_how_many_runs_would_tell() {
    let verdict = |times: f64| {
        let report = outcome(&outage(), times).report;
        let row = report.rows[0].clone();
        (row.compared.metric("goodput").and_then(|metric| metric.verdict), row.runs_to_decide)
    };
    assert_eq!(verdict(1.2), (Some(FidelityVerdict::Outside), None));
    // An error of 9.99 %: any scatter lies across.
    let (across, runs) = verdict(1.0 / 1.0999);
    assert_eq!(across, Some(FidelityVerdict::Undecided));
    assert!(runs.is_some_and(|runs| runs > 3), "{runs:?}");
}

#[test]
fn flows_that_share_a_link_are_told_one_by_one() {
    let trials = TRIALS.iter().filter(|trial| trial.name == "unequal-round-trips").collect();
    let report = outcome(&Wanted { trials, ..Wanted::default() }, 1.0).report;
    let remedies: Vec<_> = report.rows.iter().map(|row| row.remedy).collect();
    assert_eq!(remedies, ["none", "selective-drop"]);
    let page = to_markdown(&trials_document(&report, "ackord gateway trial"), ".");
    for words in ["drop-tail", "Jain", "goodput of second, Mbit/s", "round trip of first, ms"] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
}
