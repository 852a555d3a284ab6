//! What endpoints with ARI take from the history of their application, and what a run adds to it.

use ackord_history::{Advice, History, Segments, Transfer, Verdict};
use ackord_measure::RunSummary;
use ackord_scenario::{Scenario, Stack};
use ackord_tcp::Config;
use ackord_tcp::ack::AriConfig;
use ackord_tcp::registry::{Ack, NagleVariant};
use ackord_units::{Bytes, KnobKind, KnobType, KnobValue, Knobs, Span, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one endpoint took from a history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryUse {
    /// The flow.
    pub flow: String,
    /// Which of its ends: `client` or `server`.
    pub end: &'static str,
    /// Whose history it is.
    pub application: String,
    /// What the history says of the application: `short`, `bulk` or `unknown`.
    pub verdict: &'static str,
    /// Why, in words.
    pub reason: String,
    /// Knobs that were set, such as `ack.most_sent`, with their values. Empty where too little is
    /// known, and where the scenario says the values itself.
    pub set: BTreeMap<String, String>,
}

impl HistoryUse {
    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        let HistoryUse { flow, end, application, verdict, reason, set } = self;
        let set: Vec<_> = set.iter().map(|(knob, value)| format!("{knob} = {value}")).collect();
        let set = match (set.is_empty(), *verdict) {
            (false, _) => set.join(", "),
            (true, "unknown") => "the knobs stay as they are".to_owned(),
            (true, _) => "the scenario says everything itself".to_owned(),
        };
        format!("History of {application} ({verdict}: {reason}) for the {end} of {flow}: {set}.")
    }
}

/// The mechanism that takes values from a history, under this name as an ACK policy and as a
/// variant of Nagle's algorithm.
const ARI: &str = "ari";

/// Gives every endpoint that has ARI what the history of its flow's application says: most frequent
/// size and verdict, wherever the knob still has its default. (A knob to which a file gives the
/// default cannot be told from one that it leaves out.) Says what was done, flow by flow.
pub fn apply_history(
    scenario: &mut Scenario,
    histories: &BTreeMap<String, History>,
    now: Time,
) -> Vec<HistoryUse> {
    let mut uses = Vec::new();
    let nothing = History::default();
    for flow in &mut scenario.flows {
        let history = histories.get(&flow.application).unwrap_or(&nothing);
        // Acknowledging and Nagle's algorithm are two halves of one mechanism, at two ends.
        for (end, tcp) in [("client", &mut flow.client_tcp), ("server", &mut flow.server_tcp)] {
            if !matches!(tcp.ack, Ack::Ari(_)) && !matches!(tcp.nagle, NagleVariant::Ari(_)) {
                continue;
            }
            let advice = history.advice(now, segments_of(tcp));
            uses.push(HistoryUse {
                flow: flow.name.clone(),
                end,
                application: flow.application.clone(),
                verdict: advice.verdict.name(),
                set: set_knobs(tcp, &advice),
                reason: advice.reason,
            });
        }
    }
    uses
}

fn set_knobs(tcp: &mut Stack, advice: &Advice) -> BTreeMap<String, String> {
    let mut set = BTreeMap::new();
    let Some(most_sent) = advice.most_sent.filter(|_| advice.verdict != Verdict::Unknown) else {
        return set;
    };
    for key in ["ack", "nagle"] {
        let choice = tcp.choice_mut(key).expect("one of the five choices");
        let mechanism = choice.mechanism();
        if mechanism.name != ARI {
            continue;
        }
        for knob in mechanism.knobs {
            let value = match (knob.name, knob.kind) {
                ("most_sent", KnobKind::Bytes { min, max }) => {
                    KnobValue::Bytes(most_sent.clamp(min, max))
                }
                ("verdict", KnobKind::Choice(words)) if words.contains(&advice.verdict.name()) => {
                    KnobValue::Choice(advice.verdict.name())
                }
                _ => continue,
            };
            if choice.value(knob.name) == knob.default_value() {
                set.insert(format!("{key}.{}", knob.name), value.to_string());
                assert!(choice.set(knob.name, value), "a knob takes values of its kind");
            }
        }
    }
    set
}

/// What the count of quick ACKs is worked out with for this endpoint.
fn segments_of(tcp: &Stack) -> Segments {
    let default = default_segments();
    let size = Bytes::from_value(tcp.ack.value("segment"));
    let limit = u64::from_value(tcp.ack.value("quick_ack_limit"));
    Segments {
        size: size.unwrap_or(tcp.endpoint.mss),
        quick_ack_limit: limit.unwrap_or(default.quick_ack_limit),
    }
}

/// An endpoint's segments where nobody says anything: the mechanisms' defaults.
pub fn default_segments() -> Segments {
    let limit = u64::from_value(AriConfig::default().value("quick_ack_limit"));
    Segments {
        size: Config::default().mss,
        quick_ack_limit: limit.expect("a listed knob with a default"),
    }
}

/// What a run adds to the histories: the transfers that were finished, by application, as of `now`.
/// Of a workload that is made of transfers each counts, also where the flow as a whole was not done;
/// any other flow is one transfer.
pub fn finished_transfers(
    scenario: &Scenario,
    run: &RunSummary,
    now: Time,
) -> Vec<(String, Vec<Transfer>)> {
    let mut by_application: BTreeMap<String, Vec<Transfer>> = BTreeMap::new();
    for (flow, summary) in scenario.flows.iter().zip(&run.flows) {
        let transfer = |bytes: u64, took_s: f64| Transfer {
            size: Bytes(bytes),
            ended_at: now,
            took: Some(Span::from_secs_f64(took_s)),
        };
        let finished: Vec<_> = match &summary.transfers {
            Some(transfers) => {
                transfers.each.iter().map(|each| transfer(each.bytes, each.took_s)).collect()
            }
            None => {
                let whole =
                    summary.completion_s.map(|took| transfer(summary.bytes_delivered, took));
                whole.into_iter().collect()
            }
        };
        if !finished.is_empty() {
            by_application.entry(flow.application.clone()).or_default().extend(finished);
        }
    }
    by_application.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOptions, execute, without_progress};
    use ackord_scenario::{Override, ScenarioFile};

    const NOW: Time = Time::from_nanos(1_700_000_000_000_000_000);

    fn scenario(changes: &[(&str, &str)]) -> Scenario {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it comes along");
        let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
        file.with_overrides(changes).check().expect("a sound scenario")
    }

    fn known(sizes: &[u64]) -> BTreeMap<String, History> {
        let mut history = History::default();
        for size in sizes {
            history.record(Transfer { size: Bytes(*size), ended_at: NOW, took: None });
        }
        BTreeMap::from([("photos".to_owned(), history)])
    }

    const ARI_AT_BOTH: [(&str, &str); 3] = [
        ("flows.0.application", "photos"),
        ("flows.0.tcp.ack", "ari"),
        ("flows.0.tcp.nagle", "ari"),
    ];

    #[test]
    fn both_halves_of_ari_take_what_the_application_is_known_for() {
        let mut scenario = scenario(&ARI_AT_BOTH);
        let uses = apply_history(&mut scenario, &known(&[400_000; 9]), NOW);
        assert_eq!(uses.len(), 2, "{uses:?}");
        assert_eq!((uses[0].verdict, &*uses[0].application), ("short", "photos"));
        for tcp in [&scenario.flows[0].client_tcp, &scenario.flows[0].server_tcp] {
            assert_eq!(tcp.ack.value("most_sent"), Some(KnobValue::Bytes(Bytes(400_000))));
        }
        let mut bulk = self::scenario(&ARI_AT_BOTH);
        apply_history(&mut bulk, &known(&[9_000_000; 9]), NOW);
        let verdict = Some(KnobValue::Choice("bulk"));
        assert_eq!(bulk.flows[0].sender_tcp().nagle.value("verdict"), verdict);
        assert_eq!(bulk.flows[0].receiver_tcp().ack.value("verdict"), verdict);
    }

    #[test]
    fn what_the_scenario_says_itself_stays_and_so_does_what_nobody_knows() {
        let most_sent = ("flows.0.tcp.ack", "{ kind = \"ari\", most_sent = \"77 B\" }");
        let changes = [ARI_AT_BOTH[0], most_sent];
        let mut said = scenario(&changes);
        let before = said.clone();
        apply_history(&mut said, &known(&[400_000; 9]), NOW);
        assert_eq!(said, before);
        let mut unknown = scenario(&ARI_AT_BOTH);
        let before = unknown.clone();
        let uses = apply_history(&mut unknown, &known(&[400_000; 3]), NOW);
        assert_eq!((uses[0].verdict, uses[0].set.len()), ("unknown", 0));
        assert!(uses[0].sentence().contains("stay as they are"), "{}", uses[0].sentence());
        assert_eq!(unknown, before);
    }

    #[test]
    fn other_policies_take_nothing() {
        let mut scenario = scenario(&ARI_AT_BOTH[..1]);
        assert_eq!(apply_history(&mut scenario, &known(&[400_000; 9]), NOW), []);
    }

    #[test]
    fn only_what_was_finished_is_added() {
        let traffic = ("flows.0.traffic", "{ kind = \"bulk\", size = \"40 kB\" }");
        let run = |duration| {
            let scenario = scenario(&[ARI_AT_BOTH[0], traffic, ("duration", duration)]);
            let options = RunOptions::summary_only(1);
            let outcome = execute(&scenario, options, &mut without_progress).expect("a sound run");
            finished_transfers(&scenario, &outcome.summary, NOW)
        };
        assert_eq!(run("20 ms"), []);
        let found = run("20 s");
        assert_eq!((found.len(), &*found[0].0), (1, "photos"));
        let Transfer { size, ended_at, took } = found[0].1[0];
        assert_eq!((size, ended_at), (Bytes(40_000), NOW));
        assert!(took.is_some_and(|took| took > Span::from_millis(20)));
    }

    #[test]
    fn each_transfer_of_a_connection_that_stays_open_counts() {
        let traffic = ("flows.0.traffic", "{ kind = \"transfers\", count = 7, size = \"9 kB\" }");
        let scenario = scenario(&[traffic, ("duration", "60 s")]);
        let options = RunOptions::summary_only(1);
        let outcome = execute(&scenario, options, &mut without_progress).expect("a sound run");
        let found = finished_transfers(&scenario, &outcome.summary, NOW);
        assert_eq!((found.len(), found[0].1.len()), (1, 7));
        assert!(found[0].1.iter().all(|transfer| transfer.size == Bytes(9_000)), "{found:?}");
    }
}
