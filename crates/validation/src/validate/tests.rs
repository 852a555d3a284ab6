//! The report with the simulator in the kernel's place: what it says is then known.

use super::*;
use ackord_measure::FidelityVerdict;
use ackord_study::{Effort, RunOptions, execute, without_progress};
use std::sync::Mutex;

/// The simulator, with these changes to what it says.
struct Pretended<F: Fn(&mut KernelRun, u32) + Sync> {
    change: F,
    runs: Mutex<Vec<u64>>,
}

impl<F: Fn(&mut KernelRun, u32) + Sync> KernelSide for Pretended<F> {
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        _: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError> {
        let options = RunOptions::summary_only(seed);
        let outcome = execute(scenario, options, &mut without_progress)?;
        let lateness =
            KernelLateness { seed, within_budget: true, p99_us: 50.0, ..Default::default() };
        let mut run = KernelRun {
            summary: outcome.summary,
            series: None,
            time: self.time(),
            lateness,
            settings: Vec::new(),
            stopped: false,
        };
        let mut runs = self.runs.lock().expect("nobody panics with it");
        runs.push(seed);
        let before = runs.iter().filter(|one| **one == seed).count() as u32;
        drop(runs);
        (self.change)(&mut run, before);
        Ok(run)
    }

    fn release(&self) -> String {
        "pretended".to_owned()
    }

    fn time(&self) -> KernelTime {
        KernelTime::Real
    }
}

fn options(names: &[&str], seeds: u32) -> ValidateOptions {
    ValidateOptions {
        cases: CASES.iter().filter(|case| names.contains(&case.name)).collect(),
        effort: Effort::Quick,
        sampling: Sampling {
            first_seed: 1,
            seeds: NonZeroU32::new(seeds).expect("some"),
            most: seeds,
            jobs: NonZeroUsize::new(2).expect("two"),
            repeats: 2,
        },
    }
}

fn report(
    options: &ValidateOptions,
    change: impl Fn(&mut KernelRun, u32) + Sync,
) -> FidelityReport {
    let kernel = Pretended { change, runs: Mutex::new(Vec::new()) };
    let go_on = |_: ValidateProgress<'_>| ControlFlow::Continue(());
    validate(options, &kernel, &go_on).expect("sound runs").report
}

#[test]
fn the_simulator_beside_itself_is_without_error_and_within() {
    let report = report(&options(&["write-write-read", "loss-3"], 2), |_, _| ());
    assert_eq!((report.scenarios_within, report.scenarios_total), (2, 2));
    for scenario in &report.scenarios {
        for metric in &scenario.metrics {
            assert_eq!(metric.error_percent, Some(0.0), "{}: {}", scenario.name, metric.metric);
            assert_eq!(metric.ci95, Some([0.0, 0.0]));
        }
        assert!(scenario.explanations.is_empty());
    }
    let waits = report.scenarios.iter().find(|one| one.name == "write-write-read");
    let times = &waits.expect("asked for").distributions[0];
    assert!(times.ks_distance == Some(0.0) && times.sim_samples > 20);
}

#[test]
fn a_kernel_with_fewer_acknowledgments_is_outside_by_just_that() {
    let report = report(&options(&["clean"], 2), |run, _| {
        let flow = &mut run.summary.flows[0];
        flow.acks_sent = flow.acks_sent * 4 / 5;
        flow.goodput_bit_s /= 1.02;
    });
    let clean = &report.scenarios[0];
    let acks = clean.metric("pure ACKs").expect("always told");
    assert!(acks.error_percent.is_some_and(|error| (error - 25.0).abs() < 0.1));
    assert_eq!(acks.verdict, Some(FidelityVerdict::Outside));
    let goodput = clean.metric("goodput").expect("always told");
    assert!(goodput.error_percent.is_some_and(|error| (error - 2.0).abs() < 1e-6));
    assert_eq!(goodput.verdict, Some(FidelityVerdict::Within));
    assert_eq!((clean.verdict, report.scenarios_within), (ScenarioVerdict::Outside, 0));
}

#[test]
fn a_late_run_is_done_again_and_a_seed_that_is_always_late_does_not_count() {
    let late_once = report(&options(&["paced-messages"], 3), |run, attempt| {
        run.lateness.within_budget = attempt > 1 || run.lateness.seed != 2;
    });
    let scenario = &late_once.scenarios[0];
    assert_eq!((scenario.repeated_runs, &scenario.seeds[..]), (1, &[1, 2, 3][..]));
    assert_eq!(scenario.verdict, ScenarioVerdict::Within);

    let late_always = report(&options(&["paced-messages"], 3), |run, _| {
        run.lateness.within_budget = run.lateness.seed != 2;
    });
    let scenario = &late_always.scenarios[0];
    assert_eq!((scenario.repeated_runs, &scenario.seeds[..]), (2, &[1, 3][..]));
    assert_eq!(scenario.excluded_seeds, [2]);
    assert!(scenario.metrics.iter().all(|metric| metric.sim_runs.len() == 2));
    assert_eq!(scenario.verdict, ScenarioVerdict::Within);

    let all_late = report(&options(&["paced-messages"], 3), |run, _| {
        run.lateness.within_budget = false;
    });
    let scenario = &all_late.scenarios[0];
    assert_eq!((scenario.verdict, scenario.seeds.len()), (ScenarioVerdict::Untrusted, 3));
    assert_eq!(all_late.scenarios_within, 0);
}

/// Seed by seed the kernel's bulk flow is ahead and behind in turn, by this share.
fn in_turn(share: f64) -> impl Fn(&mut KernelRun, u32) + Sync {
    move |run, _| {
        let share = if run.summary.flows[0].goodput_bit_s > 1e6 { share } else { 0.0 };
        let sign = if run.lateness.seed.is_multiple_of(2) { 1.0 } else { -1.0 };
        run.summary.flows[0].goodput_bit_s *= 1.0 + sign * share;
    }
}

#[test]
fn runs_are_made_until_the_interval_of_goodput_is_narrow_or_there_are_as_many_as_allowed() {
    let mut options = options(&["paced-messages", "clean"], 2);
    options.sampling.most = 40;
    let narrow = report(&options, in_turn(0.0));
    assert!(narrow.scenarios.iter().all(|scenario| scenario.seeds == [1, 2]));
    // A standard deviation of 5 % and half a width of 3 %: (1.96 * 5 / 3)^2 = 10.7 runs at least, and
    // Student's t asks for some more.
    let wide = report(&options, in_turn(0.05));
    let clean = wide.scenarios.iter().find(|scenario| scenario.name == "clean").expect("asked for");
    assert!((11..=24).contains(&clean.seeds.len()), "{:?}", clean.seeds);
    assert!(goodput_half_width(clean).is_some_and(|width| width < GOODPUT_INTERVAL));
    assert_eq!(clean.verdict, ScenarioVerdict::Within);
    let beyond = report(&options, in_turn(0.5));
    let clean =
        beyond.scenarios.iter().find(|scenario| scenario.name == "clean").expect("asked for");
    assert_eq!((clean.seeds.len(), clean.verdict), (40, ScenarioVerdict::Undecided));
    // What needs no more has no more.
    let paced = &beyond.scenarios.iter().find(|scenario| scenario.name == "paced-messages");
    assert_eq!(paced.expect("asked for").seeds.len(), 2);
    assert_eq!((beyond.seeds, beyond.most_runs), (2, 40));
}

#[test]
fn flows_that_compete_are_judged_one_by_one() {
    let report = report(&options(&["reno-against-cubic"], 3), |run, _| {
        run.summary.flows[0].goodput_bit_s -= 2e6;
        run.summary.flows[1].goodput_bit_s += 2e6;
    });
    let scenario = &report.scenarios[0];
    let verdict = |name: &str| scenario.metric(name).expect("always told").verdict;
    assert_eq!(verdict("goodput"), Some(FidelityVerdict::Within));
    assert_eq!(verdict("goodput of reno"), Some(FidelityVerdict::Outside));
    assert_eq!(scenario.verdict, ScenarioVerdict::Outside);
}

#[test]
fn a_report_that_is_stopped_tells_only_scenarios_with_all_their_runs() {
    let kernel = Pretended { change: |_: &mut KernelRun, _| (), runs: Mutex::new(Vec::new()) };
    let mut options = options(&["write-write-read", "ping-pong"], 2);
    options.sampling.jobs = NonZeroUsize::MIN;
    let ended = Mutex::new(0);
    let outcome = validate(&options, &kernel, &|progress| {
        let mut ended = ended.lock().expect("nobody panics with it");
        *ended += u32::from(progress.ended.is_some());
        if *ended >= 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let outcome = outcome.expect("sound runs");
    let names: Vec<_> = outcome.report.scenarios.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["write-write-read"]);
    assert_eq!((outcome.finished_runs, outcome.planned_runs), (7, 8));
}

/// What the stock kernel did with the same seeds (Linux 6.18, 20 s, November 2026): the model has to
/// stay as near as the goals ask. Bounds by theory stand beside.
#[test]
fn with_losses_the_model_is_as_near_to_the_kernel_as_it_was_measured() {
    // Goodput of seeds 1 to 4, Mbit/s.
    let measured = [("loss-1", [5.65, 6.22, 5.99, 5.67]), ("loss-3", [2.92, 2.62, 2.78, 2.63])];
    for (name, kernel) in measured {
        let case = CASES.iter().find(|case| case.name == name).expect("of the set");
        let scenario = case.scenario(Effort::Full).expect("sound");
        let ours: Vec<f64> = (1..=4)
            .map(|seed| {
                let run = execute(&scenario, RunOptions::summary_only(seed), &mut without_progress);
                run.expect("a sound run").summary.flows[0].goodput_bit_s / 1e6
            })
            .collect();
        let mean = |values: &[f64]| ackord_measure::stats::mean(values).expect("four");
        let (sim, kernel) = (mean(&ours), mean(&kernel));
        assert!((sim / kernel - 1.0).abs() < 0.05, "{name}: {ours:?}, the kernel {kernel}");
        // Mathis et al. 1997: MSS/RTT sqrt(3/2p) at most; CUBIC's Reno-friendly region is built to
        // have the same (RFC 9438 §4.3). Windows of six segments find losses by and by, hence less.
        let loss: f64 = if name == "loss-1" { 0.01 } else { 0.03 };
        let law = 1448.0 * 8.0 / 0.0206 * (1.5 / loss).sqrt() / 1e6;
        assert!(sim < law && sim > 0.5 * law, "{name}: {sim}, the law {law}");
    }
}

/// A stock kernel acknowledges the head when its timer expires and the body when it is read, before
/// the answer is written: 146 pure acknowledgments in 73 rounds.
#[test]
fn write_write_read_takes_two_acknowledgments_a_round() {
    let case = CASES.iter().find(|case| case.name == "write-write-read").expect("of the set");
    let scenario = case.scenario(Effort::Quick).expect("sound");
    let run = execute(&scenario, RunOptions::summary_only(1), &mut without_progress);
    let flow = &run.expect("a sound run").summary.flows[0];
    let rounds = flow.transfers.as_ref().expect("exchanges").completed;
    assert!(rounds > 15, "{rounds} in three seconds");
    assert!(flow.acks_sent.abs_diff(2 * rounds) <= 3, "{} in {rounds} rounds", flow.acks_sent);
}
