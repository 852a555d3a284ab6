//! `ackord gateway status`, `stop` and `capture` asked of a gateway that does nothing, and of none.

use crate::common::{ackord, json, output, printed, text, within_a_minute};
use ackord_gateway::watch::{ControlSocket, Finding, FlowCounts, Severity, Shared, Status, listen};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Arc;

struct Running {
    state: tempfile::TempDir,
    shared: Arc<Shared>,
    socket: ControlSocket,
}

impl Running {
    fn new() -> Running {
        let state = tempfile::tempdir().unwrap();
        let shared = Arc::new(Shared::default());
        let path = state.path().join("gateway.sock");
        let socket = listen(&path, Arc::clone(&shared)).unwrap();
        Running { state, shared, socket }
    }

    fn state(&self) -> &str {
        text(self.state.path())
    }
}

#[test]
fn a_status_has_every_figure_by_its_name() {
    let running = Running::new();
    let health = vec![Finding {
        severity: Severity::Warning,
        what: "something is amiss".to_owned(),
        advice: "Do something.".to_owned(),
    }];
    let flows = FlowCounts { known: 7, treated: 5, held: 1, ..FlowCounts::default() };
    running.shared.publish(Status { flows, health, ..Status::default() });
    let told = json(&["gateway", "status", "--json", "--state", running.state()]);
    for name in [
        "flows",
        "treated",
        "control",
        "injected_segments",
        "held",
        "heartbeat_ms",
        "dropped_by_gateway",
    ] {
        assert!(told[name].is_number(), "{name} in {told}");
    }
    assert_eq!((&told["flows"], &told["treated"]), (&7.into(), &5.into()));
    let table = printed(&["gateway", "status", "--state", running.state()]);
    assert!(table.contains("warning: something is amiss. Do something."), "{table}");
    let asked = ["gateway", "status", "--exit-code", "--state", running.state()];
    assert_eq!(output(&asked).status.code(), Some(3), "a warning");
    let file = running.state.path().join("status.json");
    let to_file = format!("--json={}", text(&file));
    assert!(output(&["gateway", "status", &to_file, "--state", running.state()]).status.success());
    let written = std::fs::read_to_string(file).unwrap();
    assert!(written.contains("\"flows\": 7"), "{written}");
}

#[test]
fn without_a_gateway_each_says_so_and_fails() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("x.pcapng");
    let capture = ["gateway", "capture", "--mobile", "192.0.2.7", "-o", text(&file)];
    for command in [
        &["gateway", "status"][..],
        &["gateway", "status", "--web"],
        &["gateway", "stop"],
        &["gateway", "reload"],
        &capture,
    ] {
        let done = output(&[command, &["--state", text(state.path())]].concat());
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(1), 0), "{errors}");
        assert!(errors.contains("no gateway runs here"), "{errors}");
    }
    assert!(!file.exists());
}

#[test]
fn web_serves_the_status_at_a_random_path_of_a_loopback_address_only() {
    let running = Running::new();
    running.shared.publish(Status::default());
    let refused = output(&["gateway", "status", "--web=192.0.2.1:80", "--state", running.state()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no loopback address"));
    let mut page = ackord(&["gateway", "status", "--web", "--state", running.state()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(page.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (host, path) = line.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = get(path);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<h1>Gateway</h1>"), "{answer}");
    assert!(get("").starts_with("HTTP/1.1 404"));
    let pid = Pid::from_raw(i32::try_from(page.id()).unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
    assert!(within_a_minute(|| page.try_wait().unwrap().is_some()));
}

#[test]
fn stop_ends_it_and_waits_for_that() {
    let running = Running::new();
    let mut stop = ackord(&["gateway", "stop", "--state", running.state()]).spawn().unwrap();
    assert!(within_a_minute(|| running.shared.is_to_stop()));
    assert!(stop.try_wait().unwrap().is_none(), "it has not ended yet");
    drop(running.socket);
    assert!(stop.wait().unwrap().success());
}

#[test]
fn stop_after_a_kill_reports_what_it_found_and_succeeds_once() {
    let state = tempfile::tempdir().unwrap();
    let socket = state.path().join("gateway.sock");
    // As a killed process leaves it: bound, and nothing listens.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    std::fs::write(socket.with_extension("lock"), "").unwrap();
    let stop = || output(&["gateway", "stop", "--state", text(state.path())]);
    let (first, second) = (stop(), stop());
    let said = String::from_utf8_lossy(&first.stderr);
    assert_eq!(first.status.code(), Some(0), "{said}");
    assert!(said.contains("was killed") && said.contains("nothing of it is left"), "{said}");
    assert!(!socket.exists());
    assert_eq!(second.status.code(), Some(1), "nothing is there any more");
}

#[test]
fn reload_prints_the_answer_and_a_refusal_is_exit_code_two() {
    use ackord_gateway::watch::Reloaded;
    let running = Running::new();
    let refusal = "error: no such remedy\n  --> gateway.toml:3:10".to_owned();
    let cases = [
        (Reloaded::Taken(Vec::new()), Some(0), "nothing is different"),
        (Reloaded::Taken(vec!["control: 5 % -> 9 %".to_owned()]), Some(0), "control: 5 % -> 9 %"),
        (Reloaded::Refused(refusal), Some(2), "gateway.toml:3:10"),
    ];
    for (answer, code, says) in cases {
        let reload = ackord(&["gateway", "reload", "--state", running.state()])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut answered = false;
        assert!(within_a_minute(|| {
            for request in running.shared.reload_requests() {
                request.send(answer.clone()).unwrap();
                answered = true;
            }
            answered
        }));
        let done = reload.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert_eq!(done.status.code(), code, "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_capture_out_of_bounds_is_bad_input_and_one_within_is_a_capture_file() {
    let running = Running::new();
    let file = running.state.path().join("x.pcapng");
    let capture = |more: &[&str]| {
        let to = ["gateway", "capture", "-o", text(&file), "--state", running.state()];
        output(&[&to[..], more].concat())
    };
    for (wrong, says) in [
        (&["--mobile", "192.0.2.7", "--for", "2 h"][..], "at most"),
        (&["--flow", "192.0.2.7:1"], "two ends"),
        (&[], "--flow"),
    ] {
        let done = capture(wrong);
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), file.exists()), (Some(2), false), "{errors}");
        assert!(errors.contains(says), "{says}: {errors}");
    }
    let done = capture(&["--mobile", "192.0.2.7", "--for", "100 ms"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let octets = std::fs::read(&file).unwrap();
    let mut reader = ackord_wire::PcapngReader::new(&octets[..]).unwrap();
    assert!(reader.next_packet().unwrap().is_none(), "nothing has passed");
}
