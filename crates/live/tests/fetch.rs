//! Our TCP against a stock server through an emulated path.
//!
//! These need root or rootless TUN; elsewhere they say SKIPPED and pass.

use crate::common::*;
use ackord_live::{FetchOptions, LiveError, LiveReport, fetch};
use ackord_units::{Bytes, Rate, Span};
use std::fs;
use std::path::Path;

fn python_serves(folder: &Path) -> Vec<String> {
    let folder = folder.display();
    let script = format!("exec python3 -m http.server -d {folder} 8000 >/dev/null 2>&1");
    vec!["sh".to_owned(), "-c".to_owned(), script]
}

fn fetch_from_python(
    changes: &[(&str, &str)],
    folder: &Path,
    (path, output): (&str, &Path),
) -> Result<LiveReport, LiveError> {
    let url = format!("http://10.77.0.1:8000/{path}");
    let mut options = FetchOptions::new(options(changes), url, python_serves(folder));
    options.output = Some(output.to_owned());
    options.run_for = Some(Span::from_secs(120));
    fetch(options)
}

#[test]
fn a_stock_server_sends_five_megabytes_over_a_lossy_path() {
    let _turn = alone();
    if !installed(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let sent = random_file(&folder.path().join("file"), 5_000_000);
    let got = tempfile::tempdir().expect("a folder");
    let output = got.path().join("got");
    let result = fetch_from_python(&[], folder.path(), ("file", &output));
    let Some(report) = possible(result) else { return };
    assert!(fs::read(&output).expect("fetched") == sent, "the bytes differ");
    assert_eq!(fs::read_dir(got.path()).expect("there").count(), 1);
    let transfers = report.connections.iter().flat_map(|connection| &connection.transfers);
    let transfer = transfers.last().expect("one transfer");
    let goodput = transfer.goodput().expect("finished");
    assert_eq!(transfer.bytes, Bytes(5_000_000));
    assert!(goodput < Rate::from_mbits_per_sec(20), "faster than the path: {goodput}");
    eprintln!("fetch: {goodput}, late {:?}", report.lateness);
}

#[test]
fn what_the_server_does_not_have_is_an_error_and_leaves_no_file() {
    let _turn = alone();
    if !installed(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("got");
    match fetch_from_python(QUICK, folder.path(), ("none", &output)) {
        Err(error @ LiveError::Fetch { .. }) => {
            assert!(error.to_string().contains("status 404"), "{error}");
            assert_eq!(error.exit_code(), 1);
        }
        other => assert!(possible(other).is_none(), "there is no such file"),
    }
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn a_server_that_never_comes_is_given_up() {
    let _turn = alone();
    let url = "http://localhost:8000/".to_owned();
    let mut options = FetchOptions::new(options(QUICK), url, Vec::new());
    options.connect_within = Span::from_millis(500);
    match fetch(options) {
        Err(error @ LiveError::Fetch { .. }) => {
            assert!(error.to_string().contains("nothing accepts"), "{error}");
        }
        other => assert!(possible(other).is_none(), "nobody serves"),
    }
}

#[test]
fn a_server_that_ends_at_once_is_not_waited_for() {
    let _turn = alone();
    let url = "http://localhost:8000/".to_owned();
    let command = ["sh", "-c", "exit 3"].map(str::to_owned).to_vec();
    let mut options = FetchOptions::new(options(QUICK), url, command);
    options.connect_within = Span::from_secs(60);
    let began = std::time::Instant::now();
    match fetch(options) {
        Err(error @ LiveError::Fetch { .. }) => {
            assert!(error.to_string().contains("the server has ended"), "{error}");
            assert!(began.elapsed().as_secs() < 50, "it waits for as long as it may");
        }
        other => assert!(possible(other).is_none(), "nobody serves"),
    }
}
