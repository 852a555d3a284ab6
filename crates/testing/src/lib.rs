//! What a test says of the machine it runs on: that it lacks something, or that it was too busy for
//! a statement about time to be worth anything.
//!
//! Either is one line, `SKIPPED NAME: REASON`, and the test passes. Where the reason begins with
//! `busy (` nothing is missing: another run on the same machine may be judged.
//!
//! A statement about time is [`assert_timely!`] inside of [`timely`], everything else is `assert!`, which
//! holds on any machine.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Display;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How late the machine may be, in the 99th percentile, where a statement about time is to hold: what
/// a live run may be late by before it calls itself untrustworthy.
pub const BUDGET: Duration = Duration::from_millis(1);

/// How often a statement about time that does not hold is looked at again on a busy machine.
const TRIES: u32 = 3;

const NOT_HELD: &str = "a statement about time does not hold: ";

/// Says that the test, or a part of it, was not run, and why.
#[track_caller]
pub fn skipped(reason: impl Display) {
    let reason = reason.to_string();
    let reason: Vec<&str> = reason.split_whitespace().collect();
    println!("SKIPPED {}: {}", test_name(), reason.join(" "));
}

/// The running test; where that cannot be told, the line that asks.
#[track_caller]
fn test_name() -> String {
    let (caller, thread) = (Location::caller(), thread::current());
    if let Some(name) = thread.name().filter(|name| *name != "main") {
        return name.to_owned();
    }
    // One test alone runs in the main thread, and stands in the arguments.
    let mut arguments = std::env::args().skip(1);
    let exact = std::env::args().any(|argument| argument == "--exact");
    let named = arguments.find(|argument| !argument.starts_with('-')).filter(|_| exact);
    named.unwrap_or_else(|| caller.to_string())
}

/// Whether all of these programs are there; says which are not.
#[track_caller]
pub fn installed(programs: &[&str]) -> bool {
    let missing: Vec<&str> = programs.iter().copied().filter(|name| !in_path(name)).collect();
    if !missing.is_empty() {
        skipped(format_args!("not installed: {}", missing.join(", ")));
    }
    missing.is_empty()
}

fn in_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| {
        let file = std::fs::metadata(folder.join(program));
        file.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    })
}

/// A statement about time, which a busy machine may break: inside of [`timely`] it then is looked at
/// again.
#[macro_export]
macro_rules! assert_timely {
    ($held:expr, $($why:tt)+) => {{
        let held: bool = $held;
        if !held {
            $crate::not_held(&format!($($why)+))
        }
    }};
}

/// Ends the attempt, as [`assert_timely!`] does.
#[track_caller]
pub fn not_held(why: &str) -> ! {
    panic!("{NOT_HELD}{why}")
}

thread_local! {
    static TOLD: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Takes note of how late somebody else was in the 99th percentile: the emulator knows best how late
/// its packets were.
pub fn late(p99: Duration) {
    TOLD.set(TOLD.get().max(p99));
}

/// Runs a test with statements about time. Where one does not hold and the machine was later than
/// [`BUDGET`] meanwhile, the test is run again, and in the end says SKIPPED.
#[track_caller]
pub fn timely(test: impl FnMut()) {
    if let Some(p99) = too_late(BUDGET, test) {
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        let (late, budget) = (ms(p99), ms(BUDGET));
        skipped(format_args!("busy (p99 lateness {late:.1} ms, budget {budget} ms)"));
    }
}

/// How late the machine was in the last of the attempts, if none could be judged.
fn too_late(budget: Duration, mut test: impl FnMut()) -> Option<Duration> {
    let mut p99 = Duration::ZERO;
    for _ in 0..TRIES {
        TOLD.set(Duration::ZERO);
        let (result, woken_late) = beside_a_sleeper(|| catch_unwind(AssertUnwindSafe(&mut test)));
        let panic = result.err()?;
        p99 = woken_late.max(TOLD.get());
        if !is_about_time(&*panic) || p99 <= budget {
            resume_unwind(panic);
        }
    }
    Some(p99)
}

fn is_about_time(panic: &(dyn Any + Send)) -> bool {
    panic.downcast_ref::<String>().is_some_and(|why| why.starts_with(NOT_HELD))
}

/// What the work gives, and how late a thread that slept for a millisecond each time was woken
/// meanwhile: the 99th percentile.
fn beside_a_sleeper<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let (nap, mut late) = (Duration::from_millis(1), Vec::new());
            while !over.load(Ordering::Relaxed) {
                let asleep = Instant::now();
                thread::sleep(nap);
                late.push(asleep.elapsed().saturating_sub(nap));
            }
            late.sort_unstable();
            late.get(late.len() * 99 / 100).copied().unwrap_or_default()
        });
        let result = work();
        over.store(true, Ordering::Relaxed);
        (result, sleeper.join().expect("it only sleeps"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: Duration = Duration::from_millis(7_000);

    /// How often it was run, and what came of it.
    fn runs(test: impl FnMut(u32)) -> (u32, Result<Option<Duration>, ()>) {
        runs_within(BUDGET, test)
    }

    fn runs_within(
        budget: Duration,
        mut test: impl FnMut(u32),
    ) -> (u32, Result<Option<Duration>, ()>) {
        let mut count = 0;
        let counted = || {
            count += 1;
            test(count);
        };
        let result = catch_unwind(AssertUnwindSafe(|| too_late(budget, counted))).map_err(|_| ());
        (count, result)
    }

    #[test]
    fn what_holds_is_run_once_however_late_the_machine_was() {
        assert_eq!(runs(|_| late(LATE)), (1, Ok(None)));
    }

    #[test]
    fn a_statement_about_time_is_looked_at_again_on_a_busy_machine() {
        let holds_from = |first: u32| {
            runs(|number| {
                late(LATE);
                assert_timely!(number >= first, "number {number}");
            })
        };
        assert_eq!(holds_from(2), (2, Ok(None)));
        assert_eq!(holds_from(9), (TRIES, Ok(Some(LATE))));
    }

    #[test]
    fn it_fails_where_the_machine_was_in_time() {
        let in_time = runs_within(LATE, |_| assert_timely!(false, "it took too long"));
        assert_eq!(in_time, (1, Err(())));
    }

    #[test]
    fn any_other_statement_fails_on_a_busy_machine_too() {
        let wrong = runs(|_| {
            late(LATE);
            assert_eq!(1, 2, "bytes differ");
        });
        assert_eq!(wrong, (1, Err(())));
    }

    #[test]
    fn the_sleeper_sees_how_late_it_was_woken() {
        let (seven, late) = beside_a_sleeper(|| {
            thread::sleep(Duration::from_millis(50));
            7
        });
        assert!(seven == 7 && late > Duration::ZERO && late < Duration::from_secs(10), "{late:?}");
    }

    #[test]
    fn a_skip_names_its_test() {
        let name = test_name();
        assert!(name.ends_with("a_skip_names_its_test"), "{name}");
        assert!(in_path("sh") && !in_path("no-such-program-anywhere"));
    }
}
