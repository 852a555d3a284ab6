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
    // Set-up is part of every case; the others are no causes of the network.
    let not = [Cause::SetUp, Cause::CaptureArtefact, Cause::Unknown];
    let missing: Vec<_> = Cause::ALL
        .into_iter()
        .filter(|cause| !injected.contains(cause) && !not.contains(cause))
        .collect();
    assert_eq!(missing, []);
}
