//! The rate of a queue that follows its link: keys, mistakes, options, reloads.

use super::{refused, sound, told, with};
use crate::config::{ConfigOptions, Effect, QueueRate, Reload};
use crate::in_path::{Decisions, Follow};
use ackord_path::follow::RateLimits;
use ackord_units::Rate;

/// A queue with these keys beside its discipline.
fn queue(keys: &str) -> String {
    with(&format!("[queue.lan]\ndiscipline = \"fq-codel\"\n{keys}"))
}

const LIMITS: &str = "rate_min = \"1 Mbit/s\"\nrate_max = \"16 Mbit/s\"\n";

fn rate(text: &str) -> QueueRate {
    sound(text).queues.lan.expect("a queue").rate
}

#[test]
fn auto_keeps_between_its_limits_and_starts_in_their_middle() {
    let auto = rate(&queue(&format!("rate = \"auto\"\n{LIMITS}")));
    let [min, max, start] = [1, 16, 4].map(Rate::from_mbits_per_sec);
    let limits = RateLimits { min, max, start };
    assert_eq!(auto, QueueRate::Auto(Follow { limits, decisions: Decisions::Apply }));
    let more = "rate_start = \"10 Mbit/s\"\nrate_decisions = \"report\"\n";
    let auto = rate(&queue(&format!("rate = \"auto\"\n{LIMITS}{more}")));
    let limits = RateLimits { start: Rate::from_mbits_per_sec(10), ..limits };
    assert_eq!(auto, QueueRate::Auto(Follow { limits, decisions: Decisions::Report }));
    assert_eq!(auto.first(), limits.start);
}

#[test]
fn each_mistake_is_reported_with_its_line_and_what_would_do() {
    let auto = |keys: &str| queue(&format!("rate = \"auto\"\n{keys}"));
    told(&[
        (&auto(""), "6:8", "`rate_min` is missing"),
        (&auto("rate_min = \"1 Mbit/s\"\n"), "6:8", "`rate_max` is missing"),
        (
            &auto("rate_min = \"9 Mbit/s\"\nrate_max = \"2 Mbit/s\"\n"),
            "7:12",
            "is more than `rate_max`, 2 Mbit/s",
        ),
        (&auto(&format!("{LIMITS}rate_start = \"17 Mbit/s\"\n")), "9:14", "1 Mbit/s to 16 Mbit/s"),
        (&auto("rate_min = \"0 bit/s\"\nrate_max = \"2 Mbit/s\"\n"), "7:12", "is zero"),
        (&auto(&format!("{LIMITS}rate_decisions = \"maybe\"\n")), "9:18", "apply or report"),
        (&auto(&format!("{LIMITS}rate_mid = \"1 Mbit/s\"\n")), "9:1", "no key `rate_mid`"),
        (&queue("rate = \"9 Mbit/s\"\nrate_min = \"1 Mbit/s\"\n"), "7:12", "`rate = \"auto\"`"),
    ]);
    let text = auto(LIMITS).replace("queue.lan", "queue.wan");
    let said = refused(&text);
    assert!(said.contains("gateway.toml:6:8") && said.contains("`auto` in [queue.lan]"), "{said}");
}

#[test]
fn options_become_the_keys_of_a_file() {
    let options = ConfigOptions {
        wan: "eth0".to_owned(),
        lan: vec!["wlan0".to_owned()],
        remedy: Some("proxy-tcp".to_owned()),
        queue: Some("fq-codel".to_owned()),
        rate: Some("auto".to_owned()),
        rate_min: Some("1mbit".to_owned()),
        rate_max: Some("16mbit".to_owned()),
        rate_dry_run: true,
        ..ConfigOptions::default()
    };
    let read = options.file().check().unwrap_or_else(|errors| panic!("{errors}"));
    let keys = format!("rate = \"auto\"\n{LIMITS}rate_decisions = \"report\"\n");
    assert_eq!(read, sound(&queue(&keys)));
}

#[test]
fn a_reload_between_a_constant_rate_and_auto_leaves_the_queue_in_place() {
    let fixed = sound(&queue("rate = \"9 Mbit/s\"\n"));
    let auto = sound(&queue(&format!("rate = \"auto\"\n{LIMITS}")));
    let reload = Reload::between(&auto, &fixed).expect("while running");
    assert_eq!(reload.effect(), Some(Effect::InPlace));
    let change = &reload.changes[0];
    assert_eq!(change.path, "queue.lan.rate");
    assert_eq!(change.from, "auto (1 Mbit/s to 16 Mbit/s, from 4 Mbit/s)");
    assert_eq!(change.to, "9 Mbit/s");
}
