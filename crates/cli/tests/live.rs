//! The live commands, with a stock curl inside; SKIPPED where the machine does not let us.

use crate::common::{ackord, allowed, late, text};
use ackord_testing::{assert_timely, installed, timely};
use std::process::Output;

/// What the program answers; nothing where it may not make a namespace, or a tool is missing.
fn live(arguments: &[&str]) -> Option<Output> {
    if arguments.contains(&"curl") && !installed(&["curl"]) {
        return None;
    }
    let output = ackord(arguments).output().expect("the program starts");
    allowed(&output).then_some(output)
}

#[test]
fn curl_downloads_from_us_and_the_result_has_the_simulators_beside_it() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        let served = folder.path().join("served");
        std::fs::create_dir(&served).unwrap();
        let sent: Vec<u8> = (0..200_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(served.join("file"), &sent).unwrap();
        let copy = folder.path().join("copy");
        let serve = ["live", "serve", text(&served), "--json", "-", "--compare-runs", "3"];
        let curl = ["--", "curl", "-s", "-o", text(&copy), "http://10.77.0.2/file"];
        let Some(output) = live(&[&serve[..], &curl[..]].concat()) else { return };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert!(std::fs::read(&copy).unwrap() == sent, "the bytes differ");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
        late(&found["lateness"]["p99_us"]);
        let transfer = &found["connections"][0]["transfers"][0];
        assert_eq!(
            (&transfer["bytes"], &transfer["direction"]),
            (&200_000.into(), &"download".into())
        );
        let simulated = &found["compared"]["simulated_goodput_bit_s"];
        assert_eq!(simulated["runs"], 3);
        for goodput in [&transfer["goodput_bit_s"], &simulated["mean"]] {
            let goodput = goodput.as_f64().expect("a number");
            assert!(goodput < 20e6, "{goodput} bit/s over a path of 20 Mbit/s");
            assert_timely!(goodput > 1e5, "{goodput} bit/s over a path of 20 Mbit/s");
        }
    });
}

#[test]
fn what_curl_downloads_is_counted_and_the_next_run_knows_it() {
    timely(|| {
        let folder = tempfile::tempdir().unwrap();
        let served = folder.path().join("served");
        std::fs::create_dir(&served).unwrap();
        std::fs::write(served.join("file"), vec![7; 30_000]).unwrap();
        let store = folder.path().join("history.redb");
        let url = "http://10.77.0.2/file";
        let run = || {
            let serve = ["live", "serve", text(&served), "--json", "-", "--compare-runs", "0"];
            let choices =
                ["--set", "flows.0.tcp.ack=ari", "--set", "flows.0.application=downloads"];
            let history = ["--history", text(&store), "--", "curl", "-s"];
            let curl = [["-o", "/dev/null", url]; 6].concat();
            let output = live(&[&serve[..], &choices, &history, &curl].concat())?;
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{errors}");
            Some(serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("only JSON"))
        };
        let Some(first) = run() else { return };
        assert_eq!(first["history"][0]["verdict"], "unknown");
        let shown =
            crate::common::json(&["history", "show", "--json", "-", "--store", text(&store)]);
        let known = &shown["applications"][0];
        assert_eq!((&known["application"], &known["transfers"]), (&"downloads".into(), &6.into()));
        assert_eq!(known["bytes"], 180_000);
        // 30 kB over 20 Mbit/s and two ways of 10 ms cannot take less than 20 ms.
        let mean = known["mean_duration_s"].as_f64().expect("a number");
        assert!(mean >= 0.02, "{mean} s");
        assert_timely!(mean < 5.0, "{mean} s");
        let Some(second) = run() else { return };
        assert_eq!(second["history"][0]["set"]["ack.most_sent"], "30 kB");
    });
}

#[test]
fn a_command_that_fails_inside_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let serve = ["live", "serve", text(folder.path()), "--", "sh", "-c", "exit 7"];
    let Some(output) = live(&serve) else { return };
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the command inside exited with 7"), "{errors}");
}

#[test]
fn what_cannot_be_served_or_fetched_is_bad_input() {
    for (arguments, said) in [
        (&["live", "serve", "/no/such/folder"][..], "/no/such/folder"),
        (&["live", "fetch", "http://example.org/"], "http://10.77.0.1[:PORT]/PATH"),
        (&["live", "serve", ".", "--scenario", "lossy-wify"], "lossy-wifi"),
        (&["live", "serve", ".", "--run-for", "3"], "invalid value '3'"),
    ] {
        let output = crate::common::output(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(said), "{arguments:?}: {errors}");
    }
}

#[test]
fn what_a_kernel_has_only_once_cannot_be_two_things_for_two_flows() {
    let run = ["live", "run", "reno-against-cubic", "--set", "flows.1.tcp.sack=off"];
    let Some(output) = live(&run) else { return };
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    for part in ["host `receiver`", "flows `reno` and `cubic`", "`sack`", "net.ipv4.tcp_sack"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}
