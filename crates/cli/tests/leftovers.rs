//! However a live run ends, nothing of it is left behind: no process, no network namespace, no
//! interface, no route, rule, queue or filter, no control group, no file in a temporary folder.
//!
//! Each command line is ended in each way: by itself, by a command that does not exist, by a
//! scenario that does not exist, by Ctrl-C, by SIGTERM, and by kill -9.

mod lines;

use crate::common::machine::{Machine, Run, Who, other_groups};
use crate::common::{files_below, text};
use ackord_testing::{installed, skipped};
use lines::{Inside, LINES, Line};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two cores: runs one after the other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// By itself.
    Done,
    /// The command inside does not exist.
    NoCommand,
    /// The scenario does not exist.
    NoScenario,
    /// By this signal to the program, amid the run.
    Signal(Signal),
    /// By a kill -9 of the first process inside.
    KeeperKilled,
}

const INTERRUPTED: Ending = Ending::Signal(Signal::SIGINT);
const KILLED: Ending = Ending::Signal(Signal::SIGKILL);

const ENDINGS: [Ending; 7] = [
    Ending::Done,
    Ending::NoCommand,
    Ending::NoScenario,
    INTERRUPTED,
    Ending::Signal(Signal::SIGTERM),
    KILLED,
    Ending::KeeperKilled,
];

#[test]
fn a_run_leaves_nothing_behind_however_it_ends() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(machine) = Machine::new() else { return };
    let mut failed = Vec::new();
    for who in [Who::Root, Who::Anybody] {
        for line in LINES {
            for ending in ENDINGS {
                let by_itself = matches!(ending, Ending::Done | Ending::NoCommand);
                // Kernels make less of a difference between users than between ends.
                let few = [Ending::Done, INTERRUPTED, KILLED].contains(&ending);
                let unfit = match line.inside {
                    Inside::Command => false,
                    Inside::ItsOwn => by_itself,
                    Inside::ItsOwnInMany => by_itself || ending == Ending::KeeperKilled,
                };
                if unfit || who != Who::Root && !few {
                    continue;
                }
                // The others are looked at all the same.
                let looked = std::panic::AssertUnwindSafe(|| ends(&machine, who, line, ending));
                if std::panic::catch_unwind(looked).is_err() {
                    failed.push(format!("{} by {who:?}, ended by {ending:?}", line.name));
                }
            }
        }
    }
    assert_eq!(failed, [""; 0]);
}

/// Starts it, ends it, and looks around.
fn ends(machine: &Machine, who: Who, line: &Line, ending: Ending) {
    let what = format!("{} by {who:?}, ended by {ending:?}", line.name);
    let before = machine.state();
    let files = [machine.folder("work").join("started"), machine.folder("work").join("seen")];
    files.iter().for_each(|file| drop(std::fs::remove_file(file)));
    let [started, seen] = files;
    let script = script(ending, &started, &seen);
    let shell = ["sh", "-c", &script];
    let scenario = if ending == Ending::NoScenario { "no-such-scenario" } else { line.scenario };
    let missing = ["no-such-program-anywhere"];
    let command = if ending == Ending::NoCommand { &missing[..] } else { &shell };
    let words = (line.words)(scenario, &machine.folder("served"), command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut run = machine.start(who, &words);
    let begun = Instant::now();
    let amid = || match line.inside {
        Inside::Command => started.exists(),
        // Some of its work is done, much is not.
        Inside::ItsOwn | Inside::ItsOwnInMany => begun.elapsed() > Duration::from_millis(600),
    };
    let (status, others) = until_it_ends(&mut run, ending, &seen, amid);
    let mut errors = String::new();
    let stderr = run.child.stderr.as_mut().expect("piped");
    stderr.read_to_string(&mut errors).expect("text");
    if errors.contains("cannot make a network namespace") {
        assert_eq!(who, Who::Anybody, "{what}: {errors}");
        return skipped(format_args!("{what}: {errors}"));
    }
    let code = status.code();
    assert!(is_right(line, ending, code), "{what}: {code:?}\n{errors}");
    if matches!(ending, Ending::Done | Ending::Signal(_) | Ending::KeeperKilled) {
        assert!(!run.namespaces.is_empty(), "{what}: no namespace was seen");
        if line.inside == Inside::Command {
            let inside = std::fs::read_to_string(&started).expect("the command ran");
            assert!(inside.contains("ackord"), "{what}: no device inside\n{inside}");
        }
    }
    // No control group was made: each process was in the one that the test is in.
    assert!(others.is_empty(), "{what}: {others:?}");
    nothing_is_left(machine, &mut run, &before, &what);
    println!("{what}: {:.1} s", begun.elapsed().as_secs_f64());
    assert!(files_below(&machine.folder("served")).is_empty(), "{what}");
}

/// What the command inside does: it says that it has started, and stays as long as the ending needs it.
fn script(ending: Ending, started: &Path, seen: &Path) -> String {
    let touch = format!("ip -o link > {0}.all && mv {0}.all {0}; ", started.display());
    // A command that is done at once may be gone before a busy machine has let anybody look: it stays
    // until its namespace was seen, for ten seconds at most.
    let until_seen =
        format!("for i in $(seq 500); do [ -e {} ] && break; sleep 0.02; done", seen.display());
    match ending {
        Ending::Done => format!("{touch} {until_seen}"),
        // Waiting, not becoming another program: an interrupt that comes just before that would be lost.
        Ending::Signal(_) | Ending::KeeperKilled => {
            format!(
                "interrupted() {{ exit 130; }}; trap interrupted INT; {touch} sleep 77 & sleep 77 & wait"
            )
        }
        _ => touch,
    }
}

/// Ends it in this way once it is amid its work; its status, and the control groups that are not the test's.
fn until_it_ends(
    run: &mut Run,
    ending: Ending,
    seen: &Path,
    amid: impl Fn() -> bool,
) -> (ExitStatus, Vec<String>) {
    let mut others = Vec::new();
    let begun = Instant::now();
    loop {
        others.extend(run.processes().iter().filter_map(|process| other_groups(process)));
        if !run.namespaces.is_empty() && !seen.exists() {
            std::fs::write(seen, "").expect("the folder is there");
        }
        if let Some(status) = run.child.try_wait().expect("it can be waited for") {
            return (status, others);
        }
        let killed = match ending {
            Ending::Signal(signal) => run.program().map(|program| (program, signal)),
            Ending::KeeperKilled => run.keeper().map(|keeper| (keeper, Signal::SIGKILL)),
            _ => None,
        };
        if let Some((process, signal)) = killed
            && amid()
            && !run.namespaces.is_empty()
        {
            kill(Pid::from_raw(process), signal).expect("it runs");
            // Whatever `nsenter` and its like have become, there is one process to wait for.
            return (run.child.wait().expect("it ends"), others);
        }
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "{ending:?}: it does not come to its end"
        );
        sleep(Duration::from_millis(5));
    }
}

/// Whether a run that ended so may have this exit code.
fn is_right(line: &Line, ending: Ending, code: Option<i32>) -> bool {
    let is_shell = line.name.starts_with("shell");
    match ending {
        Ending::Done => code == Some(0),
        // Those of `shell` are the command's, as a shell would have them.
        Ending::NoCommand if is_shell => matches!(code, Some(126 | 127)),
        Ending::Signal(Signal::SIGTERM) if is_shell => code == Some(143),
        INTERRUPTED if is_shell => code == Some(130),
        Ending::KeeperKilled if is_shell => code == Some(137),
        Ending::NoCommand => code == Some(2),
        Ending::NoScenario => code == Some(2),
        Ending::Signal(Signal::SIGKILL) => code.is_none(),
        Ending::Signal(_) => code.is_some(),
        Ending::KeeperKilled => code.is_some_and(|code| code != 0),
    }
}

/// Killed while it is still making its namespaces, or has just made them.
#[test]
fn killed_at_any_instant_it_leaves_nothing_behind() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(machine) = Machine::new() else { return };
    for line in LINES {
        let before = machine.state();
        let words = (line.words)(line.scenario, &machine.folder("served"), &["sleep", "77"]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for millis in (0..60).step_by(10) {
            let mut run = machine.start(Who::Root, &words);
            let begun = Instant::now();
            let program = loop {
                if let Some(program) = run.program() {
                    break program;
                }
                assert!(begun.elapsed() < Duration::from_secs(60), "{}: it starts", line.name);
            };
            sleep(Duration::from_millis(millis));
            run.processes();
            kill(Pid::from_raw(program), Signal::SIGKILL).expect("it runs");
            run.child.wait().expect("it ends");
            let what = format!("{} killed after {millis} ms", line.name);
            nothing_is_left(&machine, &mut run, &before, &what);
        }
    }
}

/// The kernel takes a moment to clear away what a killed process had.
fn nothing_is_left(
    machine: &Machine,
    run: &mut crate::common::machine::Run,
    before: &str,
    what: &str,
) {
    let ended = Instant::now();
    loop {
        let (processes, namespaces) = (run.processes(), run.namespaces_left());
        let state = machine.state();
        if processes.is_empty() && namespaces.is_empty() && state == before {
            return;
        }
        assert!(
            ended.elapsed() < Duration::from_secs(30),
            "{what}: left are processes {processes:?}, namespaces {namespaces:?}\n\
             before:\n{before}\nafterwards:\n{state}"
        );
        sleep(Duration::from_millis(20));
    }
}

/// What an ordinary user reads where the device may not be opened, and that it leaves nothing.
#[test]
fn who_may_not_open_the_device_is_told_the_one_command_that_would_help() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(machine) = Machine::new() else { return };
    for line in LINES.iter().filter(|line| line.inside == Inside::Command) {
        let before = machine.state();
        let words = (line.words)(line.scenario, &machine.folder("served"), &["true"]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut run = machine.start(Who::AnybodyWithoutTun, &words);
        let status = run.child.wait().expect("it ends");
        let mut errors = String::new();
        let stderr = run.child.stderr.as_mut().expect("piped");
        stderr.read_to_string(&mut errors).expect("text");
        assert_eq!(status.code(), Some(2), "{}: {errors}", line.name);
        if !errors.contains("with a user namespace: opening /dev/net/tun") {
            skipped(format_args!("{}: no user namespaces here: {errors}", line.name));
            continue;
        }
        let said = errors.split_whitespace().collect::<Vec<_>>().join(" ");
        let help = "this would allow it: sudo chmod 0666 /dev/net/tun";
        assert!(said.contains(help), "{}: {errors}", line.name);
        nothing_is_left(&machine, &mut run, &before, line.name);
    }
}

/// A run inside the namespace of another run, as root and as an ordinary user; counters are of the
/// right namespace and the way in that is printed leads there.
#[test]
fn a_run_works_inside_the_namespace_of_a_run() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(machine) = Machine::new() else { return };
    if !installed(&["curl"]) {
        return;
    }
    let served = machine.folder("nested");
    std::fs::write(served.join("file"), vec![7; 100_000]).expect("ours");
    for who in [Who::Root, Who::Anybody] {
        let before = machine.state();
        let folder = text(&served).to_owned();
        let (outer, _) = machine.ackord(who, &[]);
        let program = outer.get_args().last().expect("the program").to_str().expect("text");
        let serve = ["live", "serve", &folder, "--compare-runs", "0", "--"];
        let inner = [&[program][..], &serve].concat();
        let curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{size_download}\\n"];
        let curl = [&curl[..], &["http://10.77.0.2/file"]].concat();
        let words = [&serve[..], &inner, &curl].concat();
        let mut run = machine.start(who, &words);
        let output = loop {
            run.processes();
            if run.child.try_wait().expect("it can be waited for").is_some() {
                let mut output = [String::new(), String::new()];
                run.child
                    .stdout
                    .as_mut()
                    .expect("piped")
                    .read_to_string(&mut output[0])
                    .expect("text");
                run.child
                    .stderr
                    .as_mut()
                    .expect("piped")
                    .read_to_string(&mut output[1])
                    .expect("text");
                break output;
            }
            sleep(Duration::from_millis(5));
        };
        let [printed, errors] = output;
        if errors.contains("cannot make a network namespace") && who == Who::Anybody {
            skipped(format_args!("a nested run by {who:?}: {errors}"));
            continue;
        }
        assert!(printed.contains("100000\n"), "{who:?}: {printed}\n{errors}");
        assert!(run.namespaces.len() >= 2, "{who:?}: {:?}", run.namespaces);
        nothing_is_left(&machine, &mut run, &before, "a nested run");
    }
}
