//! Cases are sound; a run gives captures and a truth that covers it.

use super::*;
use ackord_diagnose::Cause;
use std::collections::BTreeSet;

#[test]
fn every_case_is_sound_has_a_name_of_its_own_and_there_are_enough() {
    let cases = cases(Effort::Full, 0);
    let names: BTreeSet<String> = cases.iter().map(Plan::name).collect();
    assert_eq!(names.len(), cases.len());
    for plan in &cases {
        plan.scenario().unwrap_or_else(|errors| panic!("{}: {errors}", plan.name()));
    }
    assert!(cases.len() * Place::ALL.len() >= 400, "{}", cases.len());
    let pairs: BTreeSet<_> =
        cases.iter().filter(|plan| plan.is_pair()).map(|plan| plan.family).collect();
    assert!(pairs.len() >= 10, "{pairs:?}");
}

#[test]
fn every_cause_that_can_be_injected_is() {
    let injected: BTreeSet<Cause> =
        cases(Effort::Full, 0).iter().flat_map(|plan| plan.injected.clone()).collect();
    // Set-up is part of every case, and links of scenarios have no MTU; the others are no causes of the network.
    let not = [Cause::SetUp, Cause::MtuBlackHole, Cause::CaptureArtefact, Cause::Unknown];
    let missing: Vec<_> = Cause::ALL
        .into_iter()
        .filter(|cause| !injected.contains(cause) && !not.contains(cause))
        .collect();
    assert_eq!(missing, []);
}

#[test]
fn kept_cases_are_read_by_name_from_the_folder_that_the_report_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = kept_cases(folder.path()).expect_err("no case is there");
    assert!(empty.to_string().contains("no folder in it has a `truth.json`"), "{empty}");
    for case in ["later.2", "early.1"] {
        let truth = serde_json::json!({
            "case": case, "family": "f", "injected": ["outage"], "client": "10.0.0.1:1",
            "server": "10.0.1.1:2", "sends": "server", "duration_s": 1.0, "base_rtt_s": 0.1,
            "began_s": [["server", 0.0], ["router", 0.0], ["client", 0.0]],
            "intervals": [{ "from_s": 0.0, "to_s": 1.0, "cause": "outage" }],
            "kernels": [null, null],
        });
        let inner = folder.path().join("cases").join(case);
        std::fs::create_dir_all(&inner).expect("a folder");
        std::fs::write(inner.join("truth.json"), truth.to_string()).expect("a file");
    }
    let kept = kept_cases(folder.path()).expect("two cases");
    assert_eq!(kept.iter().map(|one| &one.truth.case).collect::<Vec<_>>(), ["early.1", "later.2"]);
    // Without captures nothing is found, and each failure is recorded.
    let jobs = std::num::NonZeroUsize::MIN;
    let scores = rescore(&kept, jobs, &diagnoser, &|_, _| ControlFlow::Continue(()));
    let scores = scores.expect("scores");
    assert!(scores.iter().all(|case| case.failed.len() == Place::ALL.len()));
    assert!(scores.iter().flat_map(|case| &case.scores).all(|score| !score.found));
    let broken = folder.path().join("cases/early.1/truth.json");
    std::fs::write(&broken, "{").expect("a file");
    let error = kept_cases(folder.path()).expect_err("a damaged truth").to_string();
    assert!(error.contains(&broken.display().to_string()), "{error}");
}

/// Figures of a series are comparable only while its cases are the same.
#[test]
fn cases_of_stock_kernels_stay_as_they_are_when_others_are_added() {
    for (series, pinned) in [(0, 15_275_089_214_192_055_736), (1, 15_489_219_419_151_204_885)] {
        let cases = cases(Effort::Full, series);
        let kernels = cases.iter().take_while(|plan| plan.suite == Suite::Kernels);
        let fold = |sum: u64, plan: &Plan| {
            let text = format!("{}\n{}", plan.name(), plan.text());
            text.bytes().fold(sum, |sum, byte| ackord_units::mix64(sum ^ u64::from(byte)))
        };
        assert_eq!((kernels.clone().count(), kernels.fold(0, fold)), (215, pinned));
        let peers = cases.iter().skip(215);
        assert!(
            peers.clone().count() >= 80 && peers.into_iter().all(|it| it.suite == Suite::Peers)
        );
    }
}
