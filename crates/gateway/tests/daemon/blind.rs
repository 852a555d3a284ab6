//! Interfaces that come late, and whatever else keeps a gateway from observing: its status reports it.

use super::{Trial, pause};
use crate::hosts::traffic::Stream;
use crate::hosts::world::{MOBILE, is_possible};
use ackord_gateway::SOCKET;
use ackord_gateway::watch::{QueueState, Reloaded, Severity, Status, reload};
use std::time::Instant;

const REMEDY: &str = "remedy = \"proxy-tcp\"\ncontrol = \"0 %\"";

/// True if a finding of this severity contains these words.
fn finds(severity: Severity, words: &str) -> impl Fn(&Status) -> bool {
    move |status| {
        let all = |one: &ackord_gateway::watch::Finding| format!("{}. {}", one.what, one.advice);
        status.health.iter().any(|one| one.severity == severity && all(one).contains(words))
    }
}

fn not(finds: impl Fn(&Status) -> bool) -> impl Fn(&Status) -> bool {
    move |status| !finds(status)
}

#[test]
fn waits_for_an_interface_that_comes_late_and_begins_within_a_second() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.world.on("r", "ip link del lan");
    trial.configure(&format!("{REMEDY}\n[queue.lan]\ndiscipline = \"drr\"\nrate = \"50 Mbit/s\""));
    let mut gateway = trial.start();
    let absent = finds(Severity::Failure, "there is no interface `lan`");
    let status = trial.until("waiting", &absent);
    assert!(finds(Severity::Warning, "packets for `lan` pass without")(&status), "{status:#?}");
    trial.world.make_lan();
    let there = Instant::now();
    let is_at_work = |status: &Status| status.queues[0].state == QueueState::Steering;
    trial.until("at work", is_at_work);
    println!(
        "at work {:?} after the interface came; a status is a second old at most",
        there.elapsed()
    );
    let (bytes, are_right, _) = Stream::start(&trial.world, MOBILE, 5_501, 500_000).finish();
    assert_eq!((bytes, are_right), (500_000, true));
    let status = trial.until("observing", |status| status.flows.in_all > 0);
    assert!(not(absent)(&status), "{status:#?}");
    assert_eq!(gateway.tell("stop"), "ended Ok(())");
    assert_eq!(trial.world.left_behind(), "");
}

#[test]
fn an_interface_that_goes_or_is_renamed_is_a_failure_under_health_until_it_is_back() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    trial.until("well", |status| status.process.uptime_s > 0.0 && status.health.is_empty());
    for (name, side) in [("lan", "lan"), ("wan", "wan")] {
        trial.world.on("r", &format!("ip link set {name} down"));
        trial.world.on("r", &format!("ip link set {name} name other"));
        let gone = format!("there is no interface `{name}` ({side})");
        let status = trial.until("gone", finds(Severity::Failure, &gone));
        let renamed = "it is called `other` now";
        assert!(finds(Severity::Failure, renamed)(&status), "{status:#?}");
        trial.world.on("r", &format!("ip link set other name {name}"));
        trial.world.on("r", &format!("ip link set {name} up"));
        trial.until("back", |status| status.health.is_empty());
    }
    assert_eq!(gateway.tell("stop"), "ended Ok(())");
}

#[test]
fn a_reload_over_the_control_socket_has_an_answer_and_a_refusal_stays_under_health() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let request = || reload(&trial.state().join(SOCKET)).expect("it answers");
    assert_eq!(request(), Reloaded::Taken(Vec::new()));
    trial.configure("remedy = \"snopp\"");
    let Reloaded::Refused(why) = request() else { panic!("there is no `snopp`") };
    assert!(why.contains("gateway.toml:3:10") && why.contains("snoop"), "{why}");
    let refused = || finds(Severity::Warning, "the last reload was refused");
    let status = trial.until("refused", refused());
    assert!(finds(Severity::Warning, "gateway.toml:3:10")(&status), "{status:#?}");
    assert_eq!((status.process.reloads, status.reloads_refused), (1, 1));
    let metrics = ackord_gateway::watch::metrics(status);
    assert!(metrics.contains("ackord_gateway_reloads_refused_total 1"), "{metrics}");
    trial.configure("remedy = \"snoop\"\ncontrol = \"0 %\"");
    let Reloaded::Taken(changes) = request() else { panic!("it is sound") };
    assert!(changes.len() == 1 && changes[0].starts_with("rule: "), "{changes:?}");
    trial.until("taken", not(refused()));
    // An outcome for the test's own channel, too.
    assert_eq!(gateway.tell("stop"), "reloaded 0");
}

#[test]
fn a_second_gateway_at_the_same_lan_interface_is_refused_and_named() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let first = trial.until("at work", |status| status.process.pid != 0).process.pid;
    let text = std::fs::read_to_string(trial.file()).expect("written");
    let other = trial.directory.path().join("other.toml");
    std::fs::write(&other, text.replace("/state\"", "/other\"")).expect("written");
    let test = "daemon::child::the_daemon_itself";
    let answer = trial.world.begin(test, &other.display().to_string()).answer();
    assert!(answer.contains("cannot observe the interface `lan`"), "{answer}");
    assert!(answer.contains(&format!("another gateway (process {first} of user 0)")), "{answer}");
    // It has let go of everything: the next one may begin.
    assert_eq!(gateway.tell("stop"), "ended Ok(())");
    gateway.wait();
    let mut next = trial.world.begin(test, &other.display().to_string());
    assert_eq!(next.answer(), "ready");
    assert_eq!(next.tell("stop"), "ended Ok(())");
}

#[test]
fn exchanged_interfaces_are_a_warning() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(100);
    trial.configure(REMEDY);
    let text = std::fs::read_to_string(trial.file()).expect("written");
    let exchanged = text.replace("wan = \"wan\"\nlan = \"lan\"", "wan = \"lan\"\nlan = \"wan\"");
    std::fs::write(trial.file(), exchanged).expect("written");
    let mut gateway = trial.start();
    let warned = || finds(Severity::Warning, "were opened from the WAN side (`lan`)");
    let server = trial.world.spawn("s", || {
        let listener = std::net::TcpListener::bind("10.1.0.1:5503").expect("free");
        for _ in 0..24 {
            use std::io::Write as _;
            listener.accept().expect("it comes").0.write_all(b"answer").expect("taken");
        }
    });
    pause(100);
    let clients = trial.world.spawn("m", || {
        for _ in 0..24 {
            use std::io::Read as _;
            let mut answer = String::new();
            let mut stream = std::net::TcpStream::connect("10.1.0.1:5503").expect("it listens");
            stream.read_to_string(&mut answer).expect("text");
        }
    });
    clients.join().expect("answered");
    server.join().expect("all served");
    let status = trial.until("exchanged", warned());
    assert_eq!(status.flows.opened_from_lan, 0, "{status:#?}");
    assert!(status.flows.opened_from_wan >= 20, "{status:#?}");
    assert_eq!(gateway.tell("stop"), "ended Ok(())");
}
