//! Which end of a flow sends and when it starts, and what of a link is captured.

use ackord_scenario::{Scenario, Start};
use ackord_units::Span;
use ackord_wire::Side;

/// A file with one link and one flow between `from` and `to`, and more keys of the flow.
fn file(from: &str, to: &str, flow: &str) -> String {
    format!(
        r#"
version = 1
name = "ends"
duration = "20 s"
[hosts.{from}]
[hosts.{to}]
[[links]]
name = "line"
from = "{from}"
to = "{to}"
rate = "1 Mbit/s"
delay = "1 ms"
[[flows]]
name = "f"
from = "{from}"
to = "{to}"
traffic = "bulk"
{flow}
"#
    )
}

fn checked(text: &str) -> Result<Scenario, String> {
    Scenario::from_toml(text, "ends.toml").map_err(|errors| errors.to_string())
}

fn sender(from: &str, to: &str, sends: &str) -> Result<Side, String> {
    let flow = format!("sends = \"{sends}\"");
    checked(&file(from, to, &flow)).map(|scenario| scenario.flows[0].sends)
}

#[test]
fn the_sender_is_named_by_its_host_or_by_its_role() {
    assert_eq!(sender("phone", "cloud", "phone"), Ok(Side::Client));
    assert_eq!(sender("phone", "cloud", "cloud"), Ok(Side::Server));
    assert_eq!(sender("phone", "cloud", "server"), Ok(Side::Server));
    assert_eq!(sender("client", "server", "server"), Ok(Side::Server));
    let wrong = sender("phone", "cloud", "clod").expect_err("no end of this name");
    assert!(wrong.contains("client or server or phone or cloud"), "{wrong}");
}

#[test]
fn a_role_means_the_role_even_if_the_other_host_bears_its_name() {
    assert_eq!(sender("server", "client", "client"), Ok(Side::Client));
    assert_eq!(sender("server", "client", "server"), Ok(Side::Server));
}

#[test]
fn a_start_as_a_share_follows_the_duration() {
    let text = file("a", "b", "start = \"25 %\"").replace("20 s", "8 s");
    let scenario = checked(&text).expect("a sound file");
    assert_eq!(scenario.flows[0].start, Start::At(Span::from_secs(2)));
    let drawn = checked(&file("a", "b", "start = { from = \"10 %\", to = \"5 s\" }"));
    let ends = Start::Uniform { from: Span::from_secs(2), to: Span::from_secs(5) };
    assert_eq!(drawn.expect("a sound file").flows[0].start, ends);
    let wrong = checked(&file("a", "b", "start = \"100 %\"")).expect_err("at the end");
    assert!(wrong.contains("a start before 20 s"), "{wrong}");
}

#[test]
fn a_captured_direction_without_the_other_is_named() {
    let captured = |names: &str| {
        let text = file("a", "b", "") + &format!("[record]\ncaptures = [{names}]\n");
        checked(&text).expect("a sound file").directions_not_captured()
    };
    assert_eq!(captured("\"line\", \"line.reverse\""), [""; 0]);
    let [missing] = &captured("\"line\"")[..] else { panic!("one is missing") };
    assert!(missing.contains("`line` without `line.reverse`"), "{missing}");
}
