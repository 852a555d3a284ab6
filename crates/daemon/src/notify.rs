//! What systemd is told of a daemon, and when: sd_notify(3). Without systemd nothing is.

use ackord_units::{Span, Time};
use sd_notify::NotifyState;

/// Whoever started the daemon and waits for word from it.
#[derive(Debug)]
pub struct Supervisor {
    /// How often it wants to hear that the daemon is alive: half of its patience.
    interval: Option<Span>,
    due: Time,
}

impl Supervisor {
    /// As the environment tells.
    pub fn of_process() -> Supervisor {
        let patience = sd_notify::watchdog_enabled();
        let interval = patience
            .map(|patience| Span::from_nanos(u64::try_from(patience.as_nanos() / 2).unwrap_or(0)));
        Supervisor { interval, due: Time::ZERO }
    }

    /// It does its work: whoever waits for the daemon may go on.
    pub fn ready(&self, status: &str) {
        tell(&[NotifyState::Ready, NotifyState::Status(status)]);
    }

    /// The configuration is being read anew; [`Supervisor::ready`] says when that is over.
    pub fn reloading(&self) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => tell(&[NotifyState::Reloading, now]),
            Err(_) => tell(&[NotifyState::Reloading]),
        }
    }

    /// It ends; undoing what it did may take until then.
    pub fn stopping(&self) {
        tell(&[NotifyState::Stopping, NotifyState::Status("undoing what was done")]);
    }

    /// One line for `systemctl status`.
    pub fn status(&self, line: &str) {
        tell(&[NotifyState::Status(line)]);
    }

    /// The loop came round: to be called in each turn, by the loop itself. Where it hangs, systemd hears
    /// nothing and begins the daemon anew.
    pub fn turn(&mut self, now: Time) {
        if let Some(interval) = self.interval
            && now >= self.due
        {
            self.due = now + interval;
            tell(&[NotifyState::Watchdog]);
        }
    }
}

/// Whoever is not there, or does not listen any more, need not know.
fn tell(state: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;
    use std::process::Command;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// What the process of the test below does, to which the environment belongs.
    #[test]
    #[ignore = "part of another test"]
    fn told() {
        let mut supervisor = Supervisor::of_process();
        supervisor.ready("beside eth0 and wlan0");
        for millis in [0, 10, 999, 1_000, 1_500, 2_600] {
            supervisor.turn(at(millis));
        }
        supervisor.reloading();
        supervisor.status("7 flows");
        supervisor.stopping();
    }

    fn run_told(settings: &[(&str, &str)]) {
        let program = std::env::current_exe().expect("a test is a program");
        let mut command = Command::new(program);
        command.args(["--exact", "notify::tests::told", "--ignored"]).env_remove("NOTIFY_SOCKET");
        let ran = command.envs(settings.iter().copied()).output().expect("runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        assert!(String::from_utf8_lossy(&ran.stdout).contains("1 passed"));
    }

    #[test]
    fn systemd_hears_of_each_turn_and_that_the_loop_is_alive() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("free");
        socket.set_nonblocking(true).expect("a socket");
        let path = path.to_str().expect("text");
        run_told(&[("NOTIFY_SOCKET", path), ("WATCHDOG_USEC", "2000000")]);
        let mut told = Vec::new();
        let mut bytes = [0; 256];
        while let Ok(len) = socket.recv(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..len]).into_owned();
            told.push(text.lines().next().unwrap_or_default().to_owned());
        }
        // Half of two seconds is one: at 0, 1 and 2.6 s.
        let expected = ["READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"];
        assert_eq!(told[..4], expected);
        assert_eq!(told[4..], ["RELOADING=1", "STATUS=7 flows", "STOPPING=1"]);
    }

    #[test]
    fn without_systemd_nothing_happens() {
        run_told(&[]);
        // A manager that has gone.
        run_told(&[("NOTIFY_SOCKET", "/nonexistent/notify")]);
    }
}
