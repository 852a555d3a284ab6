//! Whatever happens to the daemon, no connection ends and no byte is lost or changed.

use super::{Trial, pause};
use crate::hosts::traffic::Stream;
use crate::hosts::world::{MOBILE, MOBILE_V6, is_possible};
use ackord_gateway::watch::Status;
use nix::sys::signal::Signal;
use std::process::Command;

const REMEDY: &str = "remedy = \"proxy-tcp\"\ncontrol = \"0 %\"";
/// Some eight seconds at 10 Mbit/s: a daemon tells once a second how it stands, and on a busy machine it is
/// waited for more than once while the stream goes on.
const LEN: usize = 10_000_000;

#[test]
fn killed_and_started_anew_it_takes_up_a_living_connection_in_the_middle() {
    if !is_possible() {
        return;
    }
    for (address, port) in [(MOBILE, 5_101), (MOBILE_V6, 5_102)] {
        let trial = Trial::new(10);
        trial.configure(REMEDY);
        let mut gateway = trial.start();
        let stream = Stream::start(&trial.world, address, port, LEN);
        trial.until("seen", |status| status.flows.treated > 0 && status.bytes_to_mobile > 100_000);
        gateway.signal(Signal::SIGKILL);
        gateway.wait();
        pause(300);
        let mut gateway = trial.start();
        trial.until("taken up", |status| status.flows.treated > 0 && status.bytes_to_mobile > 0);
        if address == MOBILE {
            trial.outage(900);
            let status = trial.until("repeated", |status| status.injected_to_mobile > 0);
            assert!(status.flows.holds > 0, "{status:#?}");
        }
        let (bytes, are_right, _) = stream.finish();
        assert_eq!((bytes, are_right), (LEN, true), "{address}");
        gateway.tell("stop");
        assert_eq!(trial.world.left_behind(), "");
    }
}

#[test]
fn stopped_for_a_while_it_does_not_send_what_is_stale() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let stream = Stream::start(&trial.world, MOBILE, 5_103, LEN);
    trial.until("seen", |status| status.flows.treated > 0);
    pause(300);
    gateway.signal(Signal::SIGSTOP);
    // It misses an outage, which it finds in its rings afterwards.
    trial.outage(700);
    pause(700);
    gateway.signal(Signal::SIGCONT);
    let (bytes, are_right, _) = stream.finish();
    assert_eq!((bytes, are_right), (LEN, true));
    let status = trial.until("awake", |status| status.process.heartbeat_ms < 1_000.0);
    assert!(status.process.heartbeat_worst_ms > 1_000.0, "{status:#?}");
    gateway.tell("stop");
}

#[test]
fn a_configuration_is_read_anew_and_every_connection_stays_known() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let stream = Stream::start(&trial.world, MOBILE, 5_104, LEN);
    let before = trial.until("seen", |status| status.flows.treated > 0);
    let listed = |status: &Status| {
        let mobile = status.subscribers.iter().find(|one| one.address.to_string() == MOBILE);
        mobile.is_some_and(|one| {
            one.treated == 1 && one.bytes_to_mobile > 0 && one.rtt_ms.is_some_and(|rtt| rtt > 0.0)
        })
    };
    trial.until("listed by its address", listed);
    assert_eq!(gateway.tell("reload"), "reloaded 0");
    // Another remedy: the box begins anew, the connection does not.
    trial.configure("remedy = \"snoop\"\ncontrol = \"0 %\"");
    assert_eq!(gateway.tell("reload"), "reloaded 1");
    let after = trial.until("anew", |status| status.process.reloads == 2);
    assert_eq!(after.classes[0].remedy, "snoop");
    assert_eq!((after.flows.in_all, after.flows.known), (before.flows.in_all, before.flows.known));
    // Nonsense: the one before goes on.
    trial.configure("remedy = \"snopp\"");
    assert!(gateway.tell("reload").starts_with("not reloaded"), "nearest: snoop");
    // Something that takes a new process.
    std::fs::write(trial.file(), "wan = \"wan\"\nlan = \"lan\"\nremedy = \"snoop\"\n")
        .expect("written");
    assert!(gateway.tell("reload").contains("restart it"), "the state directory is another");
    let (bytes, are_right, _) = stream.finish();
    assert_eq!((bytes, are_right), (LEN, true));
    assert_eq!(trial.status().classes[0].remedy, "snoop");
    gateway.tell("stop");
    assert_eq!(trial.world.left_behind(), "");
}

#[test]
fn an_interface_that_goes_and_comes_back_is_observed_again() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let first = Stream::start(&trial.world, MOBILE, 5_105, 500_000);
    assert!(first.finish().1);
    trial.world.on("r", "ip link del lan");
    pause(300);
    trial.world.make_lan();
    trial.slow_down(10);
    // Its address changes, too.
    trial.world.on("m", "ip addr add 10.2.0.9/24 dev l0");
    let seen = trial.status().flows.in_all;
    // A ring is opened again within a tenth of a second.
    pause(500);
    let second = Stream::start(&trial.world, "10.2.0.9", 5_106, 1_000_000);
    trial.until("seen again", |status| status.flows.in_all > seen);
    let (bytes, are_right, _) = second.finish();
    assert_eq!((bytes, are_right), (1_000_000, true));
    gateway.tell("stop");
    assert_eq!(trial.world.left_behind(), "");
}

/// A file system that is gone when this is.
struct Full(std::path::PathBuf);

impl Full {
    fn at(path: std::path::PathBuf) -> Full {
        std::fs::create_dir_all(&path).expect("made");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(&path)
            .status();
        assert!(mounted.expect("mount runs").success());
        Full(path)
    }

    fn fill(&self) {
        let all = vec![0; 1 << 20];
        assert!(std::fs::write(self.0.join("full"), all).is_err(), "it has no room");
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_stops_nothing() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    let disk = Full::at(trial.state());
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let stream = Stream::start(&trial.world, MOBILE, 5_107, LEN);
    disk.fill();
    trial.until("seen", |status| status.flows.treated > 0);
    assert_eq!(gateway.tell("reload"), "reloaded 0");
    // Gone and back on a disk that is full.
    gateway.tell("stop");
    gateway.wait();
    let mut gateway = trial.start();
    trial.until("taken up", |status| status.bytes_to_mobile > 0);
    let (bytes, are_right, _) = stream.finish();
    assert_eq!((bytes, are_right), (LEN, true));
    gateway.tell("stop");
    gateway.wait();
}

#[test]
fn there_is_one_gateway_for_a_state_directory() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(10);
    trial.configure(REMEDY);
    let mut gateway = trial.start();
    let second = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| trial.start()));
    assert!(second.is_err(), "it says that one runs");
    gateway.tell("stop");
}
