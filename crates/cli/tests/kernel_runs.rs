//! `ackord run --kernel`: stock kernels in simulated time; SKIPPED where none has been built.

use crate::common::kernel::kernels;
use crate::common::{ackord, files_below, output, text, within_a_minute};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

fn run_json(arguments: &[&str]) -> Value {
    let output = output(&[&["run"], arguments, &["--json", "-"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).expect("JSON and nothing else")
}

/// Every capture of a run, and its JSON.
fn captured(kernel: &str, seed: &str) -> (Vec<(String, Vec<u8>)>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let at_all = format!("all={kernel}");
    let found = run_json(&[
        "lossy-wifi",
        "--set",
        "duration=1 s",
        "--kernel",
        &at_all,
        "--seed",
        seed,
        "--pcap",
        text(folder.path()),
    ]);
    (files_below(folder.path()), found)
}

#[test]
fn a_seed_has_the_same_bytes_each_time_also_beside_busy_neighbours() {
    for kernel in kernels() {
        let first = captured(&kernel, "1");
        assert_eq!(first.0.len(), 2, "a file for each end");
        assert!(
            first.0.iter().all(|(_, octets)| octets.len() > 100_000),
            "of some hundred packets"
        );
        assert!(captured(&kernel, "1") == first, "{kernel}");
        let over = AtomicBool::new(false);
        let busy = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let busy = captured(&kernel, "1");
            over.store(true, Ordering::Relaxed);
            busy
        });
        assert!(busy == first, "{kernel}, beside two threads that never rest");
        assert!(captured(&kernel, "2").0 != first.0, "{kernel}: another seed, other losses");
    }
}

#[test]
fn what_holds_on_a_path_holds_for_a_kernel_too_and_the_report_says_which_it_was() {
    for kernel in kernels() {
        for hosts in [&["all"][..], &["server"], &["station"]] {
            let at: Vec<String> = hosts.iter().map(|host| format!("{host}={kernel}")).collect();
            let flags = at.iter().flat_map(|at| ["--kernel", at.as_str()]);
            let short = ["lossy-wifi", "--set", "duration=2 s"].into_iter();
            let found = run_json(&short.chain(flags).collect::<Vec<_>>());
            let flow = &found["flows"][0];
            let goodput = flow["goodput_bit_s"].as_f64().expect("a number");
            // Of 20 Mbit/s; 1 % of random loss costs much of it, a stall would leave less than this.
            assert!(goodput > 2e6 && goodput < 20e6, "{kernel} at {hosts:?}: {goodput} bit/s");
            assert_eq!(found["trust"], "simulated-time");
            let kernels = found["simulated_time"]["kernels"].as_array().expect("a list");
            assert_eq!(kernels.len(), if hosts == ["all"] { 2 } else { 1 });
            let release = kernels[0]["release"].as_str().expect("a text");
            assert!(release.starts_with(kernel.split('@').next().expect("a name")), "{release}");
            assert!(found["real_time"].is_null(), "nothing was late");
        }
    }
}

#[test]
fn eight_kernels_with_several_flows_each_share_a_bottleneck() {
    let Some(kernel) = kernels().pop() else { return };
    let mut file = "version = 1\nname = \"many\"\nduration = \"2 s\"\n[hosts.client]\ncount = 4\n\
                    [hosts.server]\ncount = 4\n[routers.near]\n[routers.far]\n\
                    [[links]]\nname = \"bottleneck\"\nfrom = \"far\"\nto = \"near\"\nrate = \"50 Mbit/s\"\n\
                    delay = \"10 ms\"\nqueue = { kind = \"drop-tail\", limit = \"400 packets\" }\n"
        .to_owned();
    for (from, to) in [("server", "far"), ("client", "near")] {
        for number in 1..=4 {
            file += &format!(
                "[[links]]\nname = \"{from}-{number}\"\nfrom = \"{from}-{number}\"\nto = \"{to}\"\n\
                 rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                 queue = {{ kind = \"drop-tail\", limit = \"1000 packets\" }}\n"
            );
        }
    }
    file += "[tcp]\nprofile = \"linux\"\n";
    for client in 1..=4 {
        for flow in 1..=4 {
            let server = flow % 4 + 1;
            file += &format!(
                "[[flows]]\nname = \"f{client}-{flow}\"\nfrom = \"client-{client}\"\n\
                 to = \"server-{server}\"\nsends = \"server\"\ntraffic = \"bulk\"\n"
            );
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("many.toml");
    std::fs::write(&path, file).expect("written");
    let found = run_json(&[text(&path), "--kernel", &format!("all={kernel}")]);
    let flows = found["flows"].as_array().expect("a list");
    assert_eq!(flows.len(), 16);
    let delivered: f64 = flows.iter().map(|flow| flow["goodput_bit_s"].as_f64().expect("it")).sum();
    assert!(delivered > 40e6 && delivered < 50e6, "{delivered} bit/s of 50 Mbit/s");
    assert!(flows.iter().all(|flow| flow["goodput_bit_s"].as_f64() > Some(0.0)), "nobody starves");
}

#[test]
fn a_path_may_have_a_trace_of_one_s_own() {
    let Some(kernel) = kernels().pop() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let file =
        std::fs::read_to_string(library.join("cellular-trace.toml")).expect("in the library");
    let trace = library.join("traces/cellular.trace");
    std::fs::copy(trace, folder.path().join("own.trace")).expect("copied");
    let path = folder.path().join("own.toml");
    let own = file.replace("traces/cellular.trace\"\n", "own.trace\"\n");
    std::fs::write(&path, own).expect("written");
    let found =
        run_json(&[text(&path), "--set", "duration=1 s", "--kernel", &format!("all={kernel}")]);
    assert!(found["flows"][0]["goodput_bit_s"].as_f64() > Some(0.0));
}

/// A run that goes on for long, with two kernels under way.
fn begun(kernel: &str) -> (Child, Vec<Pid>) {
    let at_all = format!("all={kernel}");
    let arguments =
        ["run", "lossy-wifi", "--kernel", &at_all, "--set", "duration=600 s", "--set", ENDLESS];
    let mut command = ackord(&arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut kernels = Vec::new();
    assert!(within_a_minute(|| {
        kernels = children(child.id());
        kernels.len() == 2
    }));
    // They are set up, and the run has begun.
    std::thread::sleep(std::time::Duration::from_secs(2));
    (child, kernels)
}

const ENDLESS: &str = "flows.0.traffic.size=1000 GB";

/// The kernels that a process has started.
fn children(parent: u32) -> Vec<Pid> {
    let tasks = format!("/proc/{parent}/task/{parent}/children");
    let listed = std::fs::read_to_string(tasks).unwrap_or_default();
    let numbers = listed.split_whitespace().filter_map(|number| number.parse().ok());
    numbers.map(Pid::from_raw).collect()
}

fn is_gone(kernel: &Pid) -> bool {
    !Path::new(&format!("/proc/{kernel}")).exists()
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_kernel_that_dies_ends_the_run_with_an_error_and_leaves_nothing() {
    let Some(kernel) = kernels().pop() else { return };
    let (child, started) = begun(&kernel);
    kill(started[0], Signal::SIGKILL).expect("killed");
    let output = ended(child);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the kernel ended (by SIGKILL)"), "{errors}");
    assert!(started.iter().all(is_gone));
}

#[test]
fn a_run_that_is_interrupted_tells_what_it_has_and_one_that_is_killed_takes_its_kernels_along() {
    let Some(kernel) = kernels().pop() else { return };
    for (signal, code) in [(Signal::SIGINT, Some(130)), (Signal::SIGKILL, None)] {
        let (child, started) = begun(&kernel);
        kill(Pid::from_raw(child.id() as i32), signal).expect("told");
        let output = ended(child);
        assert_eq!(output.status.code(), code, "{signal}");
        if signal == Signal::SIGINT {
            assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted at"));
            assert!(String::from_utf8_lossy(&output.stdout).contains("simulated time"));
        }
        assert!(within_a_minute(|| started.iter().all(is_gone)), "{signal}");
    }
}

#[test]
fn a_kernel_that_was_not_built_and_a_host_that_is_not_there_are_bad_input() {
    let refused = |arguments: &[&str], says: &str| {
        let output = output(&[&["run", "lossy-wifi"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(says), "{arguments:?}: {errors}");
    };
    refused(&["--kernel", "station=5.4"], "ackord kernel build");
    refused(&["--kernel", "statio"], "did you mean `station`?");
    refused(&["--kernel", "station=6 1"], "not what a kernel is called");
    refused(&["--set", "hosts.station.kernel=6.12"], "expected a kernel's version");
}
