//! The sequence graph of a run's page beside the run's event log: `ui/test/segments.mjs` compares them in a browser.

use ackord_report::{EventLog, interactive};
use ackord_scenario::{Override, ScenarioFile};
use ackord_study::{Origin, RunOptions, execute, run_report, run_report_files, without_progress};
use ackord_testing::{installed, skipped};
use std::path::Path;
use std::process::Command;

#[test]
fn a_browser_draws_what_the_event_log_holds_at_any_zoom() {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    if !installed(&["node", "chromium"]) {
        return;
    }
    if !interactive() || !ui.join("node_modules/playwright-core").exists() {
        return skipped("`make ui` was not run before the build");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = ScenarioFile::from_library("one-flow").expect("it comes along");
    let overrides = [Override::new("duration", "5 s")];
    let file = file.with_overrides(overrides.clone());
    let scenario = file.check().expect("a sound scenario");
    let mut log = EventLog::create(&folder.path().join("events.jsonl")).expect("a fresh folder");
    let options = RunOptions { seed: 1, series: true, captures: None, events: Some(&mut log) };
    let outcome = execute(&scenario, options, &mut without_progress).expect("a sound run");
    log.finish().expect("there is room");
    let origin = Origin { file: &file, overrides: &overrides, scenario: &scenario, history: None };
    let files = run_report_files(&outcome, &run_report(&outcome, origin));
    let page = files.iter().find(|file| file.path == Path::new("report.html")).expect("a page");
    std::fs::write(folder.path().join("report.html"), &page.bytes).expect("a fresh folder");
    let tried = Command::new("node")
        .arg(ui.join("test/segments.mjs"))
        .arg(folder.path())
        .output()
        .expect("node starts");
    let [told, complaint] =
        [&tried.stdout, &tried.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(tried.status.success(), "{told}{complaint}");
    println!("{told}");
}
