//! The history survives SIGKILL at any moment: what was acknowledged is there, and nothing that
//! makes no sense.
//!
//! Not tested: loss of power, after which what the disk had not yet written is gone; the store asks
//! for it to be written before it acknowledges.

use crate::common::{ackord, text};
use ackord_history::{Store, StoreError};
use ackord_units::Bytes;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 20;

/// The size of a transfer by its number, so that a sum tells which ones were counted.
fn size(number: u64) -> u64 {
    1 + number * 37 % 5_000_000
}

/// A process that counts transfers one by one, each in a transaction of its own.
fn recorder(store: &Path, first: u64) -> Child {
    let arguments = ["history", "record", "victim", "-", "--store", text(store)];
    let mut child = ackord(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    thread::spawn(move || {
        // Ends with the process: then the pipe is closed.
        for number in first.. {
            if writeln!(input, "{}", size(number)).is_err() {
                return;
            }
        }
    });
    child
}

/// Whether to wait for the first acknowledgment before the moment of the kill is counted from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Start,
    FirstAcknowledgment,
}

/// Kills the process at a moment; the last count that it had printed, if any.
fn killed(mut child: Child, from: From, after: Duration) -> Option<u64> {
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let (first, came) = channel();
    let reader = thread::spawn(move || {
        let mut last = None;
        // A line that the kill cut off is no acknowledgment.
        for line in output.lines().map_while(Result::ok) {
            last = line.parse().ok().or(last);
            let _ = first.send(());
        }
        last
    });
    if from == From::FirstAcknowledgment {
        came.recv_timeout(Duration::from_secs(30)).expect("it counts transfers");
    }
    thread::sleep(after);
    child.kill().expect("it was still running");
    let status = child.wait().expect("it can be waited for");
    assert_eq!(status.code(), None, "it ended by itself: {status}");
    reader.join().expect("no panic")
}

#[test]
fn what_was_acknowledged_survives_sigkill_at_any_moment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("history.redb");
    let began = Instant::now();
    let (mut counted, mut unacknowledged, mut written) = (0, 0, 0);
    for round in 0..ROUNDS {
        let child = recorder(&path, counted);
        // From before the store is open or made to within any of many transactions.
        let from = if round % 2 == 0 { From::Start } else { From::FirstAcknowledgment };
        let after = Duration::from_micros(1_000 + round * 7_919_001 % 148_000);
        let acknowledged = killed(child, from, after).unwrap_or(counted);
        let history = match Store::open_existing(&path) {
            Ok(store) => store.get("victim").expect("a sound store"),
            Err(StoreError::Missing(_)) if counted == 0 && acknowledged == 0 => continue,
            Err(error) => panic!("round {round}, killed after {after:?}: {error}"),
        };
        let found = history.transfers();
        assert!(
            found == acknowledged || found == acknowledged + 1,
            "round {round}: {found} transfers, {acknowledged} acknowledged"
        );
        let sum: u64 = (0..found).map(size).sum();
        assert_eq!(history.total(), Bytes(sum), "round {round}: other transfers than those told");
        assert!(history.histogram().most_frequent().is_some() || found == 0);
        unacknowledged += u64::from(found > acknowledged);
        written += u64::from(found > counted);
        counted = found;
    }
    println!(
        "{ROUNDS} kills in {:.1?}: {counted} transfers counted, {written} rounds got to write, \
         {unacknowledged} died in or after a commit that was not yet acknowledged",
        began.elapsed()
    );
    assert!(written >= ROUNDS / 2, "only {written} rounds got to write");
    // The store is as good as one that nobody was killed over.
    let store = Store::open(&path).expect("sound");
    assert_eq!(store.list().expect("sound").len(), 1);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert!(left.len() <= 2, "a store and at most one that was never finished: {left:?}");
}
