//! The program, as a user starts it.

pub(crate) mod kernel;
pub(crate) mod machine;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The program with these arguments, without colours and width from the tester's environment.
pub(crate) fn ackord(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackord"));
    command.args(arguments).stdin(Stdio::null());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command
}

/// What the program answers, whatever its exit code.
pub(crate) fn output(arguments: &[&str]) -> Output {
    ackord(arguments).output().expect("the program starts")
}

/// What the program prints, having succeeded.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = output(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// JSON that the program prints, having succeeded.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).expect("JSON and nothing else")
}

/// The path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Every file below a folder, as (path below it, content), in order of path.
pub(crate) fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it").display().to_string();
                files.push((name, std::fs::read(&path).expect("readable")));
            }
        }
    }
    files.sort();
    files
}

/// Whether the program was allowed to make a network namespace; says SKIPPED if not.
pub(crate) fn allowed(output: &Output) -> bool {
    let errors = String::from_utf8_lossy(&output.stderr);
    let refused = errors.contains("cannot make a network namespace");
    if refused {
        assert_eq!(output.status.code(), Some(2), "{errors}");
        ackord_testing::skipped(&errors);
    }
    !refused
}

/// Tells the judge of statements about time how late an emulation says it was.
pub(crate) fn late(p99_us: &serde_json::Value) {
    let micros = p99_us.as_f64().unwrap_or(0.0);
    ackord_testing::late(Duration::from_nanos((micros * 1e3) as u64));
}

/// Waits for this, a minute at most; says whether it came to be.
pub(crate) fn within_a_minute(mut done: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !done() {
        if began.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Whether a process is there to catch an interrupt: one that has only just begun dies of it.
pub(crate) fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
    caught.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 2 != 0)
}

/// Whether a process with this command line is there, and has begun.
pub(crate) fn is_running(command: &str) -> bool {
    let wanted = format!("{}\0", command.replace(' ', "\0"));
    let processes = std::fs::read_dir("/proc").expect("it is mounted").flatten();
    let mut lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line == wanted.as_bytes())
}
