//! What `--set path=VALUE` does where it is right; `broken/set-*` show what is said where it is
//! not.

use ackord_scenario::{NodeKind, Override, Scenario, ScenarioFile, Start};
use ackord_tcp::registry::Congestion;
use ackord_units::{Bytes, KnobValue, Knobs, Rate, Span};

fn set(library: &str, overrides: &[&str]) -> Scenario {
    let overrides = overrides.iter().map(|text| text.parse::<Override>().expect("path=VALUE"));
    let file = ScenarioFile::from_library(library).expect("in the library");
    file.with_overrides(overrides).check().unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn a_value_needs_no_quotes_and_may_have_them() {
    for text in ["links.bottleneck.rate=3 Mbit/s", "links.bottleneck.rate=\"3 Mbit/s\""] {
        let scenario = set("reno-against-vegas", &[text]);
        assert_eq!(scenario.links[0].forward.rate, Rate::from_mbits_per_sec(3));
        assert_eq!(scenario.links[0].reverse.rate, Rate::from_mbits_per_sec(3));
    }
}

#[test]
fn a_knob_of_a_choice_by_name_can_be_set() {
    let scenario = set("reno-against-vegas", &["tcp.ack=delayed", "tcp.ack.timeout=100 ms"]);
    let ack = &scenario.flows[0].server_tcp.ack;
    assert_eq!(ack.mechanism().name, "delayed");
    assert_eq!(ack.value("timeout"), Some(KnobValue::Span(Span::from_millis(100))));
}

#[test]
fn a_knob_is_changed_without_naming_the_mechanism_again() {
    let scenario =
        set("reno-against-vegas", &["flows.vegas.tcp.congestion.beta=7", "tcp.loss.threshold=5"]);
    let vegas = &scenario.flows[1].client_tcp;
    assert_eq!(vegas.congestion.value("beta"), Some(KnobValue::Number(7.0)));
    assert_eq!(vegas.congestion.value("alpha"), Some(KnobValue::Number(1.0)));
    assert_eq!(vegas.loss.value("threshold"), Some(KnobValue::Count(3)), "names its own");
    let reno = &scenario.flows[0].client_tcp;
    assert_eq!(reno.loss.value("threshold"), Some(KnobValue::Count(5)));
}

#[test]
fn a_whole_choice_is_replaced() {
    let scenario = set(
        "reno-against-vegas",
        &["links.bottleneck.queue={ kind = \"selective-drop\", weights = { vegas = 2 } }"],
    );
    let queue = &scenario.links[0].forward.queue;
    assert_eq!(queue.mechanism().name, "selective-drop");
    let Some(KnobValue::PerFlow(weights)) = queue.value("weights") else { panic!("not set") };
    assert_eq!(weights.get("vegas"), Some(&2.0));
}

#[test]
fn names_numbers_and_star_address_flows() {
    let scenario = set(
        "reno-against-vegas",
        &["flows.*.start=1 s", "flows.0.start={ from = \"2 s\", to = \"3 s\" }"],
    );
    let (from, to) = (Span::from_secs(2), Span::from_secs(3));
    assert_eq!(scenario.flows[0].start, Start::Uniform { from, to });
    assert_eq!(scenario.flows[1].start, Start::At(Span::from_secs(1)));
}

#[test]
fn tables_that_are_not_there_are_made() {
    let scenario = set(
        "dumbbell",
        &[
            "links.bottleneck.reverse.loss.kind=random",
            "links.bottleneck.reverse.loss.per_packet=2 %",
            "flows.flow-*.receiver_tcp.receive_buffer=64 KiB",
            "record.captures=[\"bottleneck\"]",
        ],
    );
    assert!(scenario.links[0].forward.loss.is_none());
    assert!(scenario.links[0].reverse.loss.is_some());
    let receiver = |knob| scenario.flows[3].server_tcp.endpoint.value(knob);
    assert_eq!(receiver("receive_buffer"), Some(KnobValue::Bytes(Bytes(65_536))));
    assert_eq!(scenario.record.captures.len(), 1);
}

#[test]
fn true_and_false_do_for_on_and_off() {
    let scenario = set("dumbbell", &["tcp.nagle=false", "tcp.sack=false"]);
    let tcp = &scenario.flows[0].client_tcp;
    assert_eq!(tcp.nagle.mechanism().name, "off");
    assert_eq!(tcp.endpoint.value("sack"), Some(KnobValue::Choice("off")));
}

#[test]
fn the_last_of_two_holds() {
    let scenario = set("dumbbell", &["seed=3", "seed=4"]);
    assert_eq!(scenario.seed, 4);
}

#[test]
fn an_override_without_its_equals_sign_is_refused() {
    for text in ["seed", "=3", " =3"] {
        let error = text.parse::<Override>().expect_err("not of the form");
        assert_eq!(error.given, text);
    }
}

#[test]
fn a_list_of_values_makes_one_override_each() {
    let each = Override::each("tcp.congestion=reno, { kind = \"vegas\", alpha = 1 },'a,b', cubic")
        .expect("of the form");
    let values: Vec<&str> = each.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(values, ["reno", "{ kind = \"vegas\", alpha = 1 }", "'a,b'", "cubic"]);
    assert!(each.iter().all(|one| one.path == "tcp.congestion"));
    assert_eq!(Override::each("seed=1").expect("of the form"), [Override::new("seed", "1")]);
}

#[test]
fn what_the_file_leaves_out_takes_the_registered_default() {
    let scenario = set("dumbbell", &[]);
    let tcp = &scenario.flows[0].client_tcp;
    let names = tcp.by_name().map(|(_, choice)| choice.mechanism().name);
    assert_eq!(names, ["cubic", "fixed", "sack", "delayed", "on", "tcp"]);
    assert_eq!(tcp.endpoint.value("mss"), Some(KnobValue::Bytes(Bytes(1460))));
    assert_eq!(tcp.endpoint.value("max_window"), None, "it has no default");
    assert_eq!(scenario.nodes.iter().filter(|node| node.kind == NodeKind::Router).count(), 2);
}

#[test]
fn the_receiver_is_the_end_that_does_not_send() {
    let scenario = set("lossy-wifi", &["flows.download.receiver_tcp={ ack = \"immediate\" }"]);
    let flow = &scenario.flows[0];
    assert_eq!(flow.client_tcp.ack.mechanism().name, "immediate");
    assert_eq!(flow.server_tcp.ack.mechanism().name, "delayed");
    assert_eq!(flow.receiver_tcp(), &flow.client_tcp);
}

#[test]
fn a_profile_replaces_everything_and_what_stands_beside_it_overrides_it() {
    let scenario = set(
        "reno-against-vegas",
        &["flows.reno.tcp={ profile = \"linux\", rto_min = \"300 ms\" }"],
    );
    let reno = &scenario.flows[0].client_tcp;
    assert_eq!(reno.congestion.mechanism().name, "cubic");
    assert_eq!(reno.endpoint.rto.min, Span::from_millis(300));
    assert_eq!(reno.endpoint.rto.max, Span::from_secs(120), "as the profile has it");
}

/// Linux's CUBIC is not RFC 9438's, and naming it makes it no other. One that is not the profile's has its
/// defaults.
#[test]
fn a_profiles_own_mechanism_has_the_profiles_knobs_however_it_is_named() {
    let congestion = |changes: &[&str]| {
        let scenario = set("reno-against-vegas", changes);
        scenario.flows[0].sender_tcp().congestion.clone()
    };
    let word = |choice: &Congestion, knob| choice.value(knob).map(|value| value.to_string());
    let linux = "flows.reno.tcp.profile=linux";
    let unnamed = congestion(&["flows.reno.tcp={ profile = \"linux\" }"]);
    assert_eq!(word(&unnamed, "rules").as_deref(), Some("linux"));
    for name in ["cubic", "{ kind = \"cubic\" }"] {
        let named = format!("flows.reno.tcp.congestion={name}");
        assert_eq!(congestion(&[linux, &named]), unnamed);
        assert_eq!(congestion(&["tcp.profile=linux", &named]), unnamed, "named a layer below");
        let rfc = congestion(&["tcp.profile=linux", "flows.reno.tcp.profile=rfc", &named]);
        assert_eq!(word(&rfc, "rules").as_deref(), Some("rfc"));
    }
    let changed = "flows.reno.tcp.congestion={ kind = \"cubic\", hystart = \"off\" }";
    let changed = congestion(&[linux, changed]);
    assert_eq!(word(&changed, "hystart").as_deref(), Some("off"));
    assert_eq!(word(&changed, "rules").as_deref(), Some("linux"));
    let other = congestion(&[linux, "flows.reno.tcp.congestion=reno"]);
    assert_eq!(word(&other, "growth").as_deref(), Some("per-segment"), "as Linux's Reno counts");
    let rfc = congestion(&["flows.reno.tcp.congestion=reno"]);
    assert_eq!(word(&rfc, "growth").as_deref(), Some("per-ack"));
}
