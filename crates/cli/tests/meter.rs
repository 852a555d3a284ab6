//! The meter in a terminal, around a command behind a link: what is seen there, and that the terminal
//! is as it was when the meter is gone, whatever ends it.

use crate::common::within_a_minute;
use ackord_testing::{installed, skipped};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::tcgetattr;
use nix::unistd::{Pid, dup};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

/// How a meter is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    ByItself,
    ByKey,
    ByCtrlC,
    ByTerm,
}

/// What was written to the terminal by the end, and the exit code; nothing where no link can be made.
fn in_terminal(leaves: Leaves, seconds: &str) -> Option<(String, Option<i32>)> {
    if !installed(&["setsid"]) {
        return None;
    }
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).expect("a pseudo terminal");
    let before = format!("{:?}", tcgetattr(&slave).expect("its modes"));
    let end = || Stdio::from(dup(&slave).expect("a descriptor"));
    let link = ["shell", "--rate", "8mbit", "--delay", "5ms", "--meter", "--", "sleep", seconds];
    // The terminal becomes the one of a session of its own, as where somebody logs in.
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(env!("CARGO_BIN_EXE_ackord")).args(link);
    command.stdin(end()).stdout(end()).stderr(end()).env("LANG", "C.UTF-8").env("TERM", "xterm");
    let mut child = command.spawn().expect("it starts");
    let mut master = File::from(master);
    let mut reading = master.try_clone().expect("a descriptor");
    let shown = Mutex::new(Vec::new());
    let mut after = String::new();
    let said = || String::from_utf8_lossy(&shown.lock().expect("nobody panics")).into_owned();
    let status = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut octets = [0; 4096];
            // The terminal's other side answers with an error when nobody has it any more.
            while let Ok(count @ 1..) = reading.read(&mut octets) {
                shown.lock().expect("nobody panics").extend_from_slice(&octets[..count]);
            }
        });
        // Until it has drawn itself, or is over where no link can be made.
        let mut over = false;
        within_a_minute(|| {
            over = child.try_wait().is_ok_and(|end| end.is_some());
            over || said().contains("throughput")
        });
        sleep(Duration::from_millis(300));
        match leaves {
            Leaves::ByItself => {}
            Leaves::ByKey => master.write_all(b"q").expect("typed"),
            Leaves::ByCtrlC => master.write_all(&[3]).expect("typed"),
            Leaves::ByTerm if over => {}
            Leaves::ByTerm => drop(kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM)),
        }
        let status = child.wait().expect("it ends");
        after = format!("{:?}", tcgetattr(&slave).expect("its modes"));
        drop((command, slave));
        status
    });
    let text = said();
    if let Some(at) = text.find("cannot make a network namespace") {
        skipped(&text[at..]);
        return None;
    }
    assert_eq!(after, before, "{leaves:?}: the terminal is as it was");
    Some((text, status.code()))
}

#[test]
fn the_meter_is_seen_and_the_terminal_given_back_whatever_ends_it() {
    for (leaves, seconds, code) in [
        (Leaves::ByItself, "2", Some(0)),
        (Leaves::ByKey, "5", Some(0)),
        (Leaves::ByCtrlC, "30", Some(130)),
        (Leaves::ByTerm, "30", Some(143)),
    ] {
        let Some((text, ended)) = in_terminal(leaves, seconds) else { return };
        assert_eq!(ended, code, "{leaves:?}: {text}");
        // What is between words is not written but passed over.
        for said in ["throughput", "queued", "dropped", "emulator:", "leave", "Mbit/s", "down"] {
            assert!(text.contains(said), "{leaves:?}: `{said}` in {text}");
        }
        // Back on the usual screen, with a cursor, before anything else is said there.
        assert_eq!(text.matches("\u{1b}[?1049l").count(), 1, "{leaves:?}: {text}");
        let (_, rest) = text.split_once("\u{1b}[?1049l").expect("counted");
        assert!(rest.contains("\u{1b}[?25h") && !rest.contains("throughput"), "{rest}");
        assert_eq!(rest.contains("goes on without its meter"), leaves == Leaves::ByKey, "{rest}");
    }
}
