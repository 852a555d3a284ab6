//! The dashboards that are shipped: what the agent's asks for, the agent tells. The gateway's is held to this beside the
//! gateway's metrics.

use ackord_agent::watch::{ApplicationStatus, LeverStatus, Standing, Status, metrics};
use ackord_daemon::status::{Compared, Estimate, Process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const DASHBOARD: &str = include_str!("../../../packaging/grafana/ackord-agent.json");

/// A status in which nothing is missing that could be told.
fn full() -> Status {
    let estimate = Estimate { samples: 9, mean: 5.0, ci95: Some(1.0) };
    let compared = Compared { treated: estimate, control: estimate, difference: None };
    let lever = LeverStatus {
        lever: "nodelay".to_owned(),
        standing: Standing::AtWork,
        goodput_bit_s: compared,
        lost_percent: compared,
        ..LeverStatus::default()
    };
    let application = ApplicationStatus {
        name: "web".to_owned(),
        levers: vec![lever],
        ..ApplicationStatus::default()
    };
    let process = Process { version: "1.2.3".to_owned(), ..Process::default() };
    Status { process, applications: vec![application], ..Status::default() }
}

/// The labels of each metric that a page of metrics has.
fn there() -> BTreeMap<String, BTreeSet<String>> {
    let text = metrics(full());
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let metric = |line: &str| {
        let (name, labels) = line.split_once(['{', ' ']).expect("a name and a value");
        let labels = labels.split(',').filter_map(|label| label.split_once('='));
        (name.to_owned(), labels.map(|(label, _)| label.to_owned()).collect())
    };
    lines.map(metric).collect()
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Every metric that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let begins = text.match_indices("ackord_agent_").map(|(at, _)| &text[at..]);
    begins.map(|rest| rest.split(|letter| !is_part(letter)).next().unwrap().to_owned()).collect()
}

/// What stands between these, wherever it does.
fn between<'a>(text: &'a str, from: &'a str, to: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(from).skip(1).filter_map(move |rest| rest.split_once(to)).map(|(inner, _)| inner)
}

#[test]
fn the_agents_dashboard_names_only_metrics_that_there_are() {
    let there: BTreeSet<_> = there().into_keys().collect();
    let shown = named(DASHBOARD);
    let unknown: Vec<_> = shown.difference(&there).collect();
    assert!(shown.len() > 20 && unknown.is_empty(), "{unknown:?} are not among {there:?}");
}

#[test]
fn the_agents_dashboard_asks_for_labels_that_its_metrics_have() {
    let there = there();
    let parsed: Value = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = parsed["panels"].as_array().expect("panels");
    assert!(panels.len() > 8);
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64()), "{panel}");
        for target in panel["targets"].as_array().expect("targets") {
            let asked = target["expr"].as_str().expect("a query");
            let metrics = named(asked);
            let labels: BTreeSet<_> = metrics.iter().flat_map(|metric| &there[metric]).collect();
            let legend = target["legendFormat"].as_str().expect("a legend");
            let grouped = between(asked, "by (", ")").flat_map(|all| all.split(", "));
            for label in between(legend, "{{", "}}").chain(grouped) {
                // Prometheus itself tells instances apart.
                let known = label == "instance" || labels.contains(&label.to_owned());
                assert!(known, "{label} of {metrics:?} in {target}");
            }
        }
    }
}
