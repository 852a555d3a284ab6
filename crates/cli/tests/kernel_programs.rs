//! `ackord run --kernel` with the programs of flows; SKIPPED where no kernel has been built.

use crate::common::{files_below, output, text};
use ackord_testing::installed;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// What a run with the default kernel at both ends answers; nothing where that has not been built.
fn on_kernels(arguments: &[&str]) -> Option<Output> {
    let all = [&["run", "lossy-wifi", "--kernel", "all"], arguments].concat();
    let output = output(&all);
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("ackord kernel build") {
        ackord_testing::skipped(&errors);
        return None;
    }
    Some(output)
}

/// The programs of the only flow: what is to be set.
fn programs(words: &str) -> String {
    format!("flows.download.exec={{ {words} }}")
}

/// What the client of the only flow says that it is.
fn client_says(words: &str) -> Option<String> {
    client_says_with(words, &[])
}

/// The same with other changes to the scenario.
fn client_says_with(words: &str, changes: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let set = programs(&format!("client = \"{words}\""));
    let output = on_kernels(&[&["--set", &set, "--out", text(folder.path())], changes].concat())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let said = folder.path().join("programs/download.client.out.txt");
    Some(std::fs::read_to_string(said).expect("it has said something"))
}

/// Everything that a run of curl and a web server writes, by name: captures and what curl told.
fn download(folder: &Path, out: &Path) -> Option<Vec<(String, Vec<u8>)>> {
    let path = folder.display();
    let set = programs(&format!(
        "server = 'python3 -u -m http.server -d {path}/served 8000', \
         client = 'curl -sS -o {path}/copy -w %{{size_download}},%{{time_connect}},%{{time_total}} \
         http://{{server}}:8000/file'"
    ));
    let captures = out.join("captures");
    let output = on_kernels(&["--set", &set, "--out", text(out), "--pcap", text(&captures)])?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    Some(files_below(out))
}

#[test]
fn curl_fetches_from_a_web_server_in_simulated_time_the_same_way_each_time() {
    if !installed(&["curl", "python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let served = folder.path().join("served");
    std::fs::create_dir(&served).unwrap();
    std::fs::write(served.join("file"), vec![7; 600_000]).unwrap();
    let runs = ["first", "second"].map(|name| download(folder.path(), &folder.path().join(name)));
    let [Some(first), Some(second)] = runs else { return };
    let of = |name: &str| {
        let found = first.iter().find(|(path, _)| path == name);
        String::from_utf8_lossy(&found.unwrap_or_else(|| panic!("{name} is not there")).1)
    };
    assert!(of("captures/wifi.at-server.pcapng").contains("GET /file"));
    for ((name, octets), (other, others)) in first.iter().zip(&second) {
        // The report's HTML and JSON tell how the run was asked for.
        let same = octets == others || name.ends_with(".html") || name.ends_with(".json");
        assert!(name == other && same, "{name} differs");
    }
    let told = of("programs/download.client.out.txt");
    let told: Vec<f64> = told.split(',').map(|word| word.parse().expect("a number")).collect();
    let [octets, connected, took] = told[..] else { panic!("{told:?}") };
    assert_eq!(octets, 600_000.0);
    // Two ways of 10 ms; 4.8 Mbit at 20 Mbit/s, and 1 % is lost.
    assert!((0.02..0.03).contains(&connected) && (0.26..20.0).contains(&took), "{told:?}");
    assert!(of("programs/download.server.err.txt").contains("GET /file"));
    let found: Value = serde_json::from_str(&of("summary.json")).expect("JSON");
    assert_eq!(found["simulated_time"]["exact"], false);
    let commands = found["commands"].as_array().expect("a list");
    let ended = |end: &str| commands.iter().find(|it| it["end"] == end).expect("it ran").clone();
    assert_eq!(ended("client")["exit_code"], 0);
    assert_eq!(ended("server")["outcome"], "was ended by SIGTERM");
    assert!(!folder.path().join("copy").exists(), "nothing of the machine changes");
}

#[test]
fn a_program_sees_the_machines_files_the_hosts_name_and_the_kernels_clock() {
    let Some(said) = client_says("sh -c 'date +%s; hostname; pwd; env; sleep 3; date +%s'") else {
        return;
    };
    let lines: Vec<&str> = said.lines().collect();
    let (began, ended) = (lines[0].parse::<u64>(), lines[lines.len() - 1].parse::<u64>());
    let (began, ended) = (began.expect("seconds"), ended.expect("seconds"));
    // A kernel starts on 14 November 2023, whatever the day.
    assert!((1_700_000_000..1_700_000_200).contains(&began), "{began}");
    assert_eq!(ended - began, 3, "a sleep takes what it is to take");
    let here = std::env::current_dir().unwrap();
    assert_eq!(lines[1..3], ["station", text(&here)]);
    let mut names: Vec<_> =
        lines[3..lines.len() - 1].iter().filter_map(|line| line.split_once('=')).collect();
    names.sort_unstable();
    let names: Vec<_> = names.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["HOME", "LANG", "PATH", "PWD", "TZ"], "{said}");
}

#[test]
fn the_memory_of_tcp_does_not_depend_on_what_happens_to_be_free() {
    let limits = "cat /proc/sys/net/ipv4/tcp_mem /proc/sys/net/ipv4/tcp_rmem";
    // As a kernel comes, with buffers that tune themselves.
    let Some(said) = client_says_with(limits, &["--set", "tcp.profile=linux"]) else { return };
    let numbers: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let default = 6 << 20;
    assert_eq!(numbers, [9_216, 12_288, 18_432, 4_096, 131_072, default]);
}

#[test]
fn programs_that_fail_are_told_as_in_real_time() {
    let start = "cannot start `no-such-program`: No such file or directory";
    for (words, code, said) in [
        (
            "client = \"sh -c 'sleep 0.2; exit 7'\"",
            1,
            "the client of flow `download` exited with 7",
        ),
        ("client = 'no-such-program'", 2, start),
        ("client = 'sleep 1', server = 'no-such-program'", 2, start),
        ("client = 'sleep 60'", 0, "the run was over before `sleep 60` of flow `download`"),
        ("client = 'yes'", 1, "its programs have written more than 64 MiB"),
    ] {
        let set = programs(words);
        let arguments = ["--set", &set, "--set", "duration=2 s"];
        let Some(output) = on_kernels(&arguments) else { return };
        let errors = String::from_utf8_lossy(&output.stderr);
        let end = &errors[errors.len().saturating_sub(2000)..];
        assert_eq!(output.status.code(), Some(code), "{words}: {end}");
        assert!(errors.contains(said), "{words}: {end}");
    }
    let set = programs("client = 'true', server = 'true'");
    let Some(output) = on_kernels(&["--set", &set, "--kernel", "server=none"]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("need a kernel, and its host `server` is to be ours"), "{errors}");
}
