//! Sweeps from end to end, in folders of their own.

use super::*;
use crate::runs::Watch;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

const STUDY: &str = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\nseeds = 3\n\
                     set = { duration = '1 s' }\nseries = ['cwnd']\n\
                     [grid]\nflows.download.tcp.congestion = ['reno', 'vegas']\n\
                     links.wifi.loss.per_packet = ['0.5 %', '2 %']\n";
const UNTIL: &str = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\nset = { duration = '1 s' }\n\
                     [grid]\nlinks.wifi.loss.per_packet = ['0 %', '0.5 %', '2 %']\n\
                     [until]\nmetric = 'total_goodput_bit_s'\nwithin = '25 %'\nat_least = 2\n\
                     at_most = 12\nbatch = 2\n";
const CSV: Formats = Formats { parquet: false, csv: true };

fn study(text: &str) -> Study {
    StudyFile::new("study.toml", text, "").check().unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    let checked = StudyFile::new("study.toml", text, "").check();
    checked.expect_err(text).to_string()
}

fn unwatched(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn run(study: &Study, folder: &Path, shard: Option<&str>, watch: &Watch<'_>) -> SweepOutcome {
    let shard = shard.map(|shard| shard.parse().expect("a shard"));
    let mut sweep = Sweep::begin(study, folder, shard, CSV).expect("a folder");
    let outcome = sweep.run(NonZeroUsize::new(2), watch).expect("nothing is wrong with the disk");
    if !outcome.stopped {
        sweep.write_tables().expect("nothing is wrong with the disk");
    }
    outcome
}

/// Every CSV file below a folder.
fn tables(folder: &Path) -> BTreeMap<PathBuf, String> {
    fn find(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                find(root, &path, found);
            } else if path.extension().is_some_and(|extension| extension == "csv") {
                let name = path.strip_prefix(root).expect("below").to_owned();
                found.insert(name, fs::read_to_string(&path).expect("text"));
            }
        }
    }
    let mut found = BTreeMap::new();
    find(folder, folder, &mut found);
    found
}

/// The tables of a sweep that nobody disturbs.
fn undisturbed(study: &Study) -> BTreeMap<PathBuf, String> {
    let folder = TempDir::new().expect("a folder");
    run(study, folder.path(), None, &unwatched);
    tables(folder.path())
}

#[test]
fn every_point_runs_with_every_seed_and_each_row_says_which_it_is() {
    let found = undisturbed(&study(STUDY));
    let runs: Vec<&str> = found[Path::new("runs.csv")].lines().collect();
    assert_eq!(runs.len(), 1 + 2 * 2 * 3);
    assert!(
        runs[0].starts_with(
            "run,seed,flows.download.tcp.congestion,links.wifi.loss.per_packet,\
         links.wifi.loss.per_packet_share,scenario_hash,version,error,command,total_goodput_bit_s"
        ),
        "{}",
        runs[0]
    );
    assert!(runs[1].starts_with("0,1,reno,0.5 %,0.005,"), "{}", runs[1]);
    assert!(runs[12].starts_with("11,3,vegas,2 %,0.02,"), "{}", runs[12]);
    assert_eq!(found.keys().filter(|name| name.starts_with("series/cwnd")).count(), 12);
    let series = &found[Path::new("series/cwnd/part-00000011.csv")];
    assert!(series.lines().nth(1).is_some_and(|line| line.starts_with("11,3,vegas,2 %,0.02,")));
}

const NAMED: &str = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\nset = { duration = '1 s' }\n\
                     [axes.congestion]\nkey = 'flows.*.tcp.congestion'\nvalues = ['reno', 'vegas']\n\
                     [axes.loss]\nkey = 'links.wifi.loss'\n\
                     values = { none = 'none', some = { kind = 'random', per_packet = '1 %' } }\n\
                     [axes.line]\nkeys = ['links.wifi.rate', 'links.wifi.delay']\n\
                     values = { slow = ['1 Mbit/s', '40 ms'] }\n\
                     [axes.delay]\nkey = 'links.wifi.reverse.delay'\nvalues = { low = '5 ms', high = '9 ms' }\n";

#[test]
fn axes_with_names_give_columns_and_cells_their_names() {
    let folder = TempDir::new().expect("a folder");
    run(&study(NAMED), folder.path(), None, &unwatched);
    let found = tables(folder.path());
    let runs: Vec<&str> = found[Path::new("runs.csv")].lines().collect();
    let columns = "run,seed,congestion,loss,line,links.wifi.rate,links.wifi.rate_bit_s,\
                   links.wifi.delay,links.wifi.delay_s,delay,delay_s,scenario_hash";
    assert!(runs[0].starts_with(columns), "{}", runs[0]);
    let last = "7,1,vegas,some,slow,1 Mbit/s,1000000,40 ms,0.04,high,0.009,";
    assert!(runs[8].starts_with(last), "{}", runs[8]);
    let options = ShowOptions {
        best: Some("total_goodput_bit_s".to_owned()),
        columns: vec!["loss".to_owned()],
        rows: vec!["congestion".to_owned(), "delay".to_owned()],
        metrics: vec!["total_goodput_bit_s".to_owned()],
        ..ShowOptions::default()
    };
    let report = show_sweep(folder.path(), &options).expect("a sweep");
    let text = ackord_report::to_terminal(&report.document, ackord_report::Screen::NONE);
    for part in ["Across: loss", "congestion", "delay", "none", "some", "high"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("links.wifi") && !text.contains("per_packet"), "{text}");
    let shown: serde_json::Value = serde_json::from_str(&report.json).expect("JSON");
    let at = serde_json::json!({
        "congestion": "reno", "loss": "none", "line": "slow", "delay": "low"
    });
    assert_eq!(shown["metrics"][0]["points"][0]["at"], at);
    let csv = String::from_utf8(report.csv).expect("text");
    assert!(csv.starts_with("congestion,loss,line,delay,"), "{csv}");
    let by_path = ShowOptions { columns: vec!["wifi.loss".to_owned()], ..ShowOptions::default() };
    assert!(show_sweep(folder.path(), &by_path).is_ok(), "an axis has its path, too");
    let wrong = ShowOptions { columns: vec!["los".to_owned() + "ses"], ..ShowOptions::default() };
    let error = show_sweep(folder.path(), &wrong).expect_err("no such axis").to_string();
    assert!(error.contains("did you mean `loss`?"), "{error}");
    // Another name is another column: the series of finished runs would not have it.
    let other = study(&NAMED.replace("axes.loss", "axes.share"));
    let refused = Sweep::begin(&other, folder.path(), None, CSV).err().expect("another sweep");
    assert!(refused.to_string().contains("`axes` is share (links.wifi.loss)"), "{refused}");
}

#[test]
fn axes_with_names_run_what_a_grid_of_the_same_values_runs() {
    let grid = STUDY.split("[grid]").next().expect("a head").to_owned()
        + "[axes.congestion]\nkey = 'flows.download.tcp.congestion'\nvalues = ['reno', 'vegas']\n\
           [axes.loss]\nkey = 'links.wifi.loss.per_packet'\nvalues = ['0.5 %', '2 %']\n";
    let (named, by_path) = (study(&grid), study(STUDY));
    let hashes = |study: &Study| -> Vec<String> {
        study.points.iter().map(|point| point.hash.clone()).collect()
    };
    assert_eq!(hashes(&named), hashes(&by_path));
}

#[test]
fn every_mistake_of_a_study_is_reported_in_one_go() {
    let text = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\nseedz = 3\n\
                metrics = ['goodput_bits']\nset = { durration = '1 s' }\n\
                [axes.congestion]\nkey = 'flows.*.tcp.congestion'\nvalues = ['reno', 'vegass']\n\
                [axes.loss]\nkey = 'links.wify.loss'\nvalues = ['none']\n\
                [axes.delay]\nkey = 'links.wifi.delay'\nvalues = ['1 ms', '1 furlong', '2 furlongs']\n\
                [axes.rate]\nkey = 'links.wifi.rate'\nvalues = []\n";
    let error = refused(text);
    for (line, part) in [
        (4, "did you mean `seeds`?"),
        (5, "did you mean `goodput_bit_s`?"),
        (6, "did you mean `duration`?"),
        (9, "did you mean `vegas`?"),
        (11, "did you mean `wifi`?"),
        (15, "1 furlong"),
        (15, "2 furlongs"),
        (18, "one value at least"),
    ] {
        assert!(error.contains(part), "{part}: {error}");
        assert!(error.contains(&format!("study.toml:{line}:")), "{line}: {error}");
    }
    assert!(error.contains("study.toml: 8 errors\n"), "each once: {error}");
}

#[test]
fn what_only_follows_from_another_mistake_is_not_reported() {
    let text = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\n\
                set = { links.wifi.queue = 'codle' }\n\
                [axes.target]\nkey = 'links.wifi.queue.target'\nvalues = ['5 ms']\n";
    let error = refused(text);
    assert!(error.contains("did you mean `codel`?") && error.contains("1 error\n"), "{error}");
}

#[test]
fn a_sweep_that_was_stopped_goes_on_where_it_was_and_comes_to_the_same() {
    for text in [STUDY, UNTIL] {
        let study = study(text);
        let folder = TempDir::new().expect("a folder");
        let calls = AtomicUsize::new(0);
        let stop = |_: f64| match calls.fetch_add(1, Ordering::Relaxed) {
            0..700 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let first = run(&study, folder.path(), None, &stop);
        assert!(first.stopped && first.made_runs > 0, "{first:?}");
        assert!(!folder.path().join("runs.csv").exists(), "there is no half-finished table");
        // The last line was being written when the program was killed.
        let journal = folder.path().join("runs.jsonl");
        let text = fs::read(&journal).expect("the journal");
        fs::write(&journal, &text[..text.len() - 20]).expect("the journal");
        let second = run(&study, folder.path(), None, &unwatched);
        assert_eq!(first.made_runs - 1 + second.made_runs, second.finished_runs);
        assert_eq!(tables(folder.path()), undisturbed(&study));
        let third = run(&study, folder.path(), None, &unwatched);
        assert_eq!((third.made_runs, third.finished_runs), (0, second.finished_runs));
    }
}

#[test]
fn shards_put_together_are_the_whole() {
    for text in [STUDY, UNTIL] {
        let study = study(text);
        let folder = TempDir::new().expect("a folder");
        let parts: Vec<_> = (1..=3).map(|part| folder.path().join(part.to_string())).collect();
        let out = folder.path().join("whole");
        run(&study, &parts[0], Some("1/3"), &unwatched);
        run(&study, &parts[1], Some("2/3"), &unwatched);
        let told = |parts: &[PathBuf]| {
            merge_sweeps(parts, &out, CSV).expect_err("not a whole").to_string()
        };
        assert_eq!(told(&parts[..2]), "shard 3/3 is missing");
        assert!(told(&[&parts[..2], &parts[..1]].concat()).starts_with("shard 1/3 is there twice"));
        let stop = |share: f64| match share > 0.3 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        run(&study, &parts[2], Some("3/3"), &stop);
        assert!(told(&parts).contains("is not finished"), "{}", told(&parts));
        run(&study, &parts[2], Some("3/3"), &unwatched);
        let merged = merge_sweeps(&parts, &out, CSV).expect("a whole");
        assert_eq!(tables(&out), undisturbed(&study));
        assert_eq!(run(&study, &out, None, &unwatched).finished_runs, merged);
        let other = folder.path().join("other");
        run(&study, &other, None, &unwatched);
        assert!(told(&[other]).contains("is no shard but a whole sweep"));
    }
}

#[test]
fn a_point_has_as_many_runs_as_its_mean_needs() {
    let found = undisturbed(&study(UNTIL));
    let table = &found[Path::new("runs.csv")];
    let of = |loss: &str| table.lines().filter(|line| line.contains(&format!(",{loss},"))).count();
    // Without loss nothing is left to chance; with much of it the runs differ most.
    assert_eq!(of("0 %"), 2);
    assert!(of("2 %") > of("0 %"), "{table}");
}

#[test]
fn another_study_in_the_same_folder_is_refused_and_told_apart() {
    let folder = TempDir::new().expect("a folder");
    let first = study(STUDY);
    drop(Sweep::begin(&first, folder.path(), None, CSV).expect("a folder"));
    let told = |from: &str, to: &str| {
        let other = study(&STUDY.replace(from, to));
        match Sweep::begin(&other, folder.path(), None, CSV) {
            Ok(_) => "taken".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(told("name = 's'", "name = 't'"), "taken");
    assert!(
        told("'2 %'", "'3 %'")
            .contains("0.5 %, 3 % here and links.wifi.loss.per_packet = 0.5 %, 2 % there")
    );
    assert!(
        told("seeds = 3", "seeds = 4")
            .contains("`seeds` is 4 from 1 on here and 3 from 1 on there")
    );
    assert!(told("'1 s'", "'2 s'").contains("`set` is duration=2 s here"));
    let shard = Sweep::begin(&first, folder.path(), "1/2".parse().ok(), CSV);
    assert!(shard.err().is_some_and(|error| {
        error.to_string().contains("`shard` is 1/2 here and the whole there")
    }));
    let held = Sweep::begin(&first, folder.path(), None, CSV).expect("nobody is at work");
    let second = Sweep::begin(&first, folder.path(), None, CSV).err().expect("somebody is at work");
    assert!(second.to_string().contains("at work"), "{second}");
    drop(held);
}

#[test]
fn a_full_disk_ends_a_sweep_and_nothing_is_run_in_vain() {
    let study = study(STUDY);
    let folder = TempDir::new().expect("a folder");
    let mut sweep = Sweep::begin(&study, folder.path(), None, CSV).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", folder.path().join("runs.jsonl")).expect("a link");
    let most = Mutex::new(0.0_f64);
    let watch = |share: f64| {
        let mut most = most.lock().expect("nobody panicked");
        *most = most.max(share);
        ControlFlow::Continue(())
    };
    let error = sweep.run(NonZeroUsize::new(1), &watch).expect_err("it is full");
    assert!(error.to_string().contains("cannot write") && !error.is_bad_input(), "{error}");
    assert!(*most.lock().expect("nobody panicked") < 0.2, "only the first run was made");
}

#[test]
fn runs_that_fail_are_told_with_their_command_and_do_not_stop_the_others() {
    let text = "version = 1\nname = 's'\nscenario = 'lossy-wifi'\nset = { duration = '1 s' }\n\
                [grid]\nhosts.server.kernel = ['no-such-kernel']\n";
    let sound =
        "version = 1\nname = 's'\nscenario = 'lossy-wifi'\n[grid]\nduration = ['1 s', '2 s']\n";
    let hosts = study(sound).points[0].scenario.clone();
    let host = hosts.nodes.first().map(|node| node.name.clone()).expect("a host");
    let text = text.replace("server", &host).replace("[grid]", "[grid]\nseed = [1, 2]");
    let study = study(&text);
    let folder = TempDir::new().expect("a folder");
    let outcome = run(&study, folder.path(), None, &unwatched);
    assert_eq!((outcome.finished_runs, outcome.failed.len()), (2, 2));
    let failed = &outcome.failed[0];
    assert!(
        failed
            .command
            .starts_with("ackord run lossy-wifi --set 'duration=1 s' --set seed=1 --set hosts."),
        "{failed:?}"
    );
    assert!(
        failed.command.ends_with("--seed 1") && failed.why.contains("no-such-kernel"),
        "{failed:?}"
    );
    let table = &tables(folder.path())[Path::new("runs.csv")];
    assert!(table.contains("no-such-kernel") && table.contains("ackord run lossy-wifi"), "{table}");
    let again = run(&study, folder.path(), None, &unwatched);
    assert_eq!(again.made_runs, 2, "they are tried again");
}

#[test]
fn what_is_wrong_with_a_study_is_told_with_its_place() {
    let with = |line: &str| format!("version = 1\nname = 's'\nscenario = 'lossy-wifi'\n{line}\n");
    for (line, told) in [
        ("seedz = 3", "a study has no key `seedz`"),
        ("seeds = 0", "there has to be a run"),
        ("metrics = ['goodput_bits']", "did you mean `goodput_bit_s`?"),
        ("series = ['cwn']", "did you mean `cwnd`?"),
        ("until = { metric = 'x', within = '2 %', at_most = 9 }", "there is no metric `x`"),
        (
            "until = { metric = 'flows.download.goodput_bit_s', within = '0 %', at_most = 9 }",
            "zero",
        ),
        (
            "until = { metric = 'flows.upload.goodput_bit_s', within = '2 %', at_most = 9 }",
            "`upload`",
        ),
        (
            "until = { metric = 'goodput_bit_s', within = '2 %', at_most = 3 }",
            "less than `at_least`",
        ),
        (
            "seeds = 3\nuntil = { metric = 'goodput_bit_s', within = '2 %', at_most = 9 }",
            "how many runs",
        ),
        ("set = { duratoin = '1 s' }", "did you mean `duration`?"),
        (
            "grid = { duration = ['1 s'] }\nzip = [{ duration = ['1 s'] }]",
            "another axis is called `duration`",
        ),
        ("seeds = 1000000\ngrid = { seed = { from = 1, to = 100, step = 1 } }", "100000000 runs"),
        (
            "grid = { seed = { from = 1, to = 1000, step = 1 }, duration = { from = '1 s', to = '1000 s', step = '1 s' } }",
            "1000000 points",
        ),
        ("zip = [{ seed = [1, 2], duration = ['1 s'] }]", "has 2 values"),
    ] {
        let error = refused(&with(line));
        assert!(error.contains(told) && error.contains("study.toml:"), "{line}: {error}");
    }
    assert!(refused("version = 1\nname = 's'\nscenario = 'lossy-wify'\n").contains("study.toml:3"));
    assert!(refused("version = 1\nname = 's'\nscenario = './no.toml'\n").contains("study.toml:3"));
}

#[test]
fn a_point_that_is_not_sound_is_told_before_anything_runs_and_by_its_name() {
    let text = STUDY.replace("'0.5 %', '2 %'", "'0.5 %', '200 %'");
    let error = refused(&text);
    assert!(error.contains("study.toml:9") && error.contains("200 %"), "{error}");
    let at =
        "at the point: flows.download.tcp.congestion = reno, links.wifi.loss.per_packet = 200 %";
    assert!(error.ends_with(at), "{error}");
    let error = refused(&STUDY.replace("per_packet", "per_paket"));
    assert!(
        error.contains("did you mean `per_packet`?") && error.contains("study.toml:9"),
        "{error}"
    );
}

#[test]
fn a_sweep_is_shown_by_metric_best_point_and_front() {
    let folder = TempDir::new().expect("a folder");
    let empty = show_sweep(folder.path(), &ShowOptions::default()).expect_err("nothing is there");
    assert!(empty.to_string().contains("has no sweep"));
    run(&study(STUDY), folder.path(), None, &unwatched);
    let options = ShowOptions {
        metrics: vec!["flows.download.rtt_mean_ms".to_owned()],
        best: Some("total_goodput_bit_s".to_owned()),
        pareto: Some(["total_goodput_bit_s", "rtt_mean_ms"].map(str::to_owned)),
        ..ShowOptions::default()
    };
    let report = show_sweep(folder.path(), &options).expect("a sweep");
    let shown: serde_json::Value = serde_json::from_str(&report.json).expect("JSON");
    assert_eq!(shown["finished_runs"], 12);
    let goodput =
        shown["metrics"].as_array().expect("metrics")[1]["points"].as_array().expect("points");
    let mean = |point: &serde_json::Value| point["mean"].as_f64().expect("a mean");
    let best = goodput.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).expect("points");
    assert_eq!(shown["best"]["at"], best["at"]);
    assert!(shown["pareto"].as_array().expect("a front").contains(&best["at"]), "nothing beats it");
    let by_hand: Vec<f64> = tables(folder.path())[Path::new("runs.csv")]
        .lines()
        .filter(|line| line.contains(",reno,0.5 %,"))
        .map(|line| line.split(',').nth(9).and_then(|cell| cell.parse().ok()).expect("goodput"))
        .collect();
    assert_eq!(goodput[0]["mean"], by_hand.iter().sum::<f64>() / 3.0);
    assert_eq!(report.document.plots().count(), 3, "a front, curves and a heat map");
    let told = |options: ShowOptions| {
        show_sweep(folder.path(), &options).expect_err("unknown").to_string()
    };
    let metric =
        |name: &str| ShowOptions { metrics: vec![name.to_owned()], ..ShowOptions::default() };
    assert!(told(metric("flows.upload.rtt_mean_ms")).contains("there is no flow called `upload`"));
    assert!(told(metric("rtt_mean")).contains("did you mean `rtt_mean_ms`?"));
    let rows = ShowOptions { rows: vec!["nothing".to_owned()], ..ShowOptions::default() };
    assert!(told(rows).contains("there is no axis called `nothing`"));
}

#[test]
fn the_studies_of_this_project_are_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("studies").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "toml") {
            let checked = StudyFile::open(entry.path()).expect("text").check();
            checked.unwrap_or_else(|error| panic!("{error}"));
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}
