//! The daemon beside the path of real connections: what it does for them, and what becomes of them when
//! something happens to it.

mod blind;
mod child;
mod fast;
mod faults;
mod listening;
mod marks;

use crate::hosts::world::{Gateway, World};
use ackord_gateway::SOCKET;
use ackord_gateway::watch::{Status, status};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A world with a daemon in its router, and a radio link of so many Mbit/s.
struct Trial {
    world: World,
    directory: tempfile::TempDir,
}

impl Trial {
    fn new(mbits: u32) -> Trial {
        let trial =
            Trial { world: World::new(), directory: tempfile::tempdir().expect("a directory") };
        trial.slow_down(mbits);
        // In an outage nothing from the sender's network is taken, as nothing is sent there.
        trial.world.on("m", "sysctl -qw net.ipv4.conf.all.rp_filter=1");
        trial.world.on("m", "sysctl -qw net.ipv4.conf.l0.rp_filter=1");
        trial
    }

    fn slow_down(&self, mbits: u32) {
        let rate = format!("rate {mbits}mbit burst 3000 limit 100000");
        self.world.on("r", &format!("tc qdisc add dev lan root tbf {rate}"));
    }

    fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("gateway.toml")
    }

    /// Writes a configuration with these lines before its tables.
    fn configure(&self, lines: &str) {
        let state = self.state();
        let text = format!(
            "wan = \"wan\"\nlan = \"lan\"\n{lines}\n[metrics]\nlisten = \"none\"\n[state]\n\
             directory = \"{}\"\n",
            state.display()
        );
        std::fs::write(self.file(), text).expect("it is written");
    }

    fn start(&self) -> Gateway {
        let file = self.file();
        self.world.process("daemon::child::the_daemon_itself", &file.display().to_string())
    }

    fn status(&self) -> Status {
        status(&self.state().join(SOCKET)).expect("it answers")
    }

    /// Waits until the daemon's description says so.
    fn until(&self, what: &str, says: impl Fn(&Status) -> bool) -> Status {
        let began = Instant::now();
        loop {
            let status = self.status();
            if says(&status) {
                return status;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "not {what}: {status:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The radio link is out for so long.
    fn outage(&self, millis: u64) {
        self.world.on("m", "ip route add blackhole 10.1.0.0/24");
        std::thread::sleep(Duration::from_millis(millis));
        self.world.on("m", "ip route del blackhole 10.1.0.0/24");
    }
}

fn pause(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}
