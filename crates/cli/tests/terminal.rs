//! A command inside has the terminal: its shell has job control, and the keys that a terminal turns
//! into signals reach it and not the emulator.
//!
//! Everything is typed into a shell with job control at a terminal made by script(1).

use crate::common::{self, is_running, text, within_a_minute};
use ackord_testing::installed;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A shell at a terminal, and what it has shown.
struct Terminal {
    script: Child,
    shown: Arc<Mutex<String>>,
    seen: usize,
}

impl Terminal {
    /// The terminal; nothing with a loud word where its tools are missing.
    fn new() -> Option<Terminal> {
        if !installed(&["script", "bash", "stty", "ip", "ps"]) {
            return None;
        }
        let mut script = Command::new("script")
            .args(["-qfec", "bash --norc --noprofile -i", "/dev/null"])
            .env("TERM", "dumb")
            .env_remove("PROMPT_COMMAND")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("script starts");
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut stdout, text) = (script.stdout.take().expect("piped"), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut octets = [0; 4096];
            while let Ok(len @ 1..) = stdout.read(&mut octets) {
                let more = String::from_utf8_lossy(&octets[..len]).into_owned();
                text.lock().expect("nobody panics").push_str(&more);
            }
        });
        let mut terminal = Terminal { script, shown, seen: 0 };
        // A shell between us may have taken the prompt out of the environment.
        terminal.line("PS1='out''er> '", "\nouter> ");
        Some(terminal)
    }

    fn keys(&mut self, keys: &str) {
        let stdin = self.script.stdin.as_mut().expect("piped");
        stdin.write_all(keys.as_bytes()).expect("it reads");
        stdin.flush().expect("it reads");
    }

    /// Waits until this is shown after what was waited for before, and gives what was shown so far.
    fn wait(&mut self, wanted: &str) -> String {
        let start = Instant::now();
        loop {
            let shown = self.shown.lock().expect("nobody panics").clone();
            let new = &shown[self.seen..];
            if let Some(at) = new.find(wanted) {
                let until = at + wanted.len();
                let text = new[..until].to_owned();
                self.seen += until;
                return text;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "no {wanted:?} in {new:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types a line and waits for what it leads to. What is typed is shown too, so what is waited
    /// for must not stand in it.
    fn line(&mut self, line: &str, wanted: &str) -> String {
        self.keys(&format!("{line}\n"));
        self.wait(wanted)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The shell's end of file; whatever hangs dies with its terminal.
        drop(self.script.stdin.take());
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// Waits until this is at work, and the terminal's: keys typed before would reach the shell.
fn begun(command: &str) {
    assert!(within_a_minute(|| is_running(command)), "{command} does not begin");
    std::thread::sleep(Duration::from_millis(300));
}

/// The command lines under test, each with what comes before the command inside.
fn lines(folder: &str) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_ackord");
    let mut lines = vec![format!("{program} live serve {folder} --compare-runs 0 --")];
    lines.push(format!("{program} shell --quiet --delay 5ms --"));
    lines
}

/// Whether namespaces may be made here.
fn allowed(line: &str) -> bool {
    let done = Command::new("sh").args(["-c", &format!("{line} true")]).output();
    common::allowed(&done.expect("sh starts"))
}

#[test]
fn a_shell_inside_has_job_control() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in lines(text(folder.path())) {
        let Some(mut terminal) = allowed(&line).then(Terminal::new).flatten() else { return };
        terminal.line(
            &format!("{line} env -u PROMPT_COMMAND PS1='inner> ' bash --norc --noprofile -i"),
            "\ninner> ",
        );
        terminal.line("sleep 50; echo so it$((1 + 1))", "\n");
        begun("sleep 50");
        terminal.keys("\u{3}");
        // Ctrl-C ends what runs in front and leaves the shell and the emulator alone.
        terminal.wait("inner> ");
        terminal.line("echo code $?", "code 130");
        terminal.line("sleep 51", "\n");
        begun("sleep 51");
        terminal.keys("\u{1a}");
        terminal.wait("Stopped");
        terminal.line("jobs -r; echo end $((6 * 7))", "end 42");
        terminal.line("bg", "sleep 51 &");
        terminal.line("jobs", "Running");
        terminal.line("kill %1; wait; echo all $((40 + 2))", "all 42");
        terminal.line("ip -br link; echo then $((40 + 2))", "ackord");
        terminal.wait("then 42");
        terminal.line("exit 3", "outer> ");
        terminal.line("stty -a", "isig");
        terminal.wait("outer> ");
        // The terminal is the outer shell's again.
        terminal.line("sleep 52", "\n");
        begun("sleep 52");
        terminal.keys("\u{3}");
        terminal.wait("outer> ");
        terminal.line("echo code $?", "code 130");
    }
}

#[test]
fn ctrl_c_ends_the_command_and_ctrl_z_stops_the_whole_job() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in lines(text(folder.path())) {
        let Some(mut terminal) = allowed(&line).then(Terminal::new).flatten() else { return };
        terminal.line(&format!("{line} sh -c 'echo be$((1 + 1))gun; exec sleep 60'"), "be2gun");
        begun("sleep 60");
        terminal.keys("\u{1a}");
        let shown = terminal.wait("outer> ");
        assert!(shown.contains("Stopped"), "{shown}");
        // Both the emulator and the command are stopped.
        let shown = terminal.line("ps -o stat= -C sleep; echo states $((40 + 2))", "states 42");
        assert!(shown.lines().any(|state| state.trim().starts_with('T')), "{shown}");
        terminal.line("fg", "sleep 60");
        std::thread::sleep(Duration::from_millis(300));
        terminal.keys("\u{3}");
        terminal.wait("outer> ");
        terminal.line("jobs; echo nothing $((40 + 2))", "nothing 42");
    }
}

#[test]
fn your_own_shell_has_the_link_before_its_prompt_and_ends_with_its_exit_code() {
    let line = format!("{} shell", env!("CARGO_BIN_EXE_ackord"));
    let Some(mut terminal) = allowed(&line).then(Terminal::new).flatten() else { return };
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join(".bashrc"), "PS1='mine> '\n").expect("written");
    terminal
        .line(&format!("export SHELL=$(command -v bash) HOME={}", text(home.path())), "outer> ");
    terminal.line(&format!("{line} --delay 2ms --loss 1%"), "\n[delay 2 ms, loss 1 %] mine> ");
    terminal.line("echo at ${ACKORD_SHELL%% *} $((40 + 2))", "at 1 42");
    terminal.line(&format!("{line} --rate 2mbit"), "[delay 2 ms, loss 1 %] [2 Mbit/s] mine> ");
    terminal.line("sleep 53", "\n");
    begun("sleep 53");
    terminal.keys("\u{3}");
    terminal.wait("mine> ");
    terminal.line("echo code $? depth ${ACKORD_SHELL%% *}", "code 130 depth 2");
    terminal.line("stty size; stty rows 33; stty size; exit", "33 ");
    let shown = terminal.wait("] mine> ");
    assert!(shown.contains("ackord: 2 Mbit/s · "), "the summary of the inner one: {shown}");
    terminal.line("exit 3", "outer> ");
    terminal.line("echo code $?", "code 3");
}
