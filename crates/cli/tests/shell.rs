//! `ackord shell` around stock programs, on a machine of its own: what a link does to round trips and
//! rates, shells in shells, exit codes, ordinary users.
//!
//! Bounds are physics first: nothing is faster than the link or nearer than its delay. The other side
//! leaves room for a machine that has other things to do.

use crate::common::machine::{Machine, Who};
use crate::common::{late, text, within_a_minute};
use ackord_testing::{assert_timely, installed, skipped, timely};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

/// Bytes of the file that is fetched.
const SIZE: usize = 1_000_000;
/// Of an IP packet of 1500 bytes so many are payload, at most.
const PAYLOAD: f64 = 1_448.0 / 1_500.0;

/// States of sockets in the kernel's tables: TCP's LISTEN, and what UDP has.
const LISTEN: &str = "0A";
const BOUND: &str = "07";

/// A machine with a server on it.
struct Served {
    machine: Machine,
    server: Child,
    folder: PathBuf,
}

impl Served {
    /// Nothing, with a loud word, where it cannot be had.
    fn new() -> Option<Served> {
        if !installed(&["curl", "python3", "ping", "iperf3", "bash"]) {
            return None;
        }
        let machine = Machine::new()?;
        let folder = machine.folder("served");
        fs::write(folder.join("file"), vec![b'x'; SIZE]).expect("ours");
        let server = machine
            .enter()
            .args(["python3", "-m", "http.server", "80", "--directory", text(&folder)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 starts");
        let served = Served { machine, server, folder };
        let answers = || {
            let asked = served.machine.enter().args(["curl", "-s", "http://127.0.0.1/"]).output();
            asked.expect("curl starts").status.success()
        };
        assert!(within_a_minute(answers), "the server does not answer");
        Some(served)
    }

    /// `ackord shell` with these words, and a script inside.
    fn shell(&self, who: Who, words: &[&str], script: &str) -> (Output, Value) {
        let json = self.machine.folder("out").join("shell.json");
        let _ = fs::remove_file(&json);
        let mut arguments = vec!["shell", "--json", text(&json)];
        arguments.extend(words);
        arguments.extend(["--", "sh", "-c", script]);
        let (mut command, _) = self.machine.ackord(who, &arguments);
        let output = command.output().expect("it starts");
        let said = fs::read_to_string(&json).unwrap_or_default();
        let told: Value = serde_json::from_str(&said).unwrap_or_default();
        late(&told["lateness"]["p99_us"]);
        (output, told)
    }

    /// A server of iperf3 for one test, which ends with it.
    fn iperf3(&self) -> Child {
        let server =
            self.machine.enter().args(["iperf3", "-s", "-1"]).stdout(Stdio::null()).spawn();
        let server = server.expect("iperf3 starts");
        let listens = || self.machine.listens("tcp6", 5201, LISTEN);
        assert!(within_a_minute(listens), "iperf3 does not listen");
        server
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn words(output: &Output) -> String {
    let [out, errors] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    format!("{out}\n{errors}")
}

/// The round trips that ping tells, in milliseconds: least and mean.
fn round_trips(output: &Output) -> [f64; 2] {
    let words = words(output);
    let line = words
        .lines()
        .find(|line| line.contains("min/avg/max"))
        .unwrap_or_else(|| panic!("{words}"));
    let numbers = line.split(" = ").nth(1).expect("numbers").split('/');
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    [numbers[0], numbers[1]]
}

/// What iperf3 has received per second, in bits.
fn received(output: &Output) -> f64 {
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", words(output)));
    report["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or_else(|| panic!("{report}"))
}

const PING: &str = "ping -q -c 6 -i 0.1 $ACKORD_BASE";
const CURL: &str =
    "curl -s -f -o /dev/null -w '%{speed_download} %{size_download}' http://$ACKORD_BASE/file";

/// What curl has fetched per second, in bits; all of it has come.
fn fetched(output: &Output) -> f64 {
    let words = words(output);
    let line = words.lines().next().unwrap_or_default();
    let numbers: Vec<f64> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    assert_eq!(numbers.get(1), Some(&(SIZE as f64)), "{words}");
    numbers[0] * 8.0
}

#[test]
fn a_round_trip_takes_the_delay_twice_and_nothing_is_faster_than_the_link() {
    timely(|| {
        let Some(served) = Served::new() else { return };
        let link = ["--rate", "8mbit", "--delay", "20ms"];
        let (pinged, told) = served.shell(Who::Root, &link, PING);
        let [least, mean] = round_trips(&pinged);
        // 84 bytes at 8 Mbit/s take 84 us.
        assert!(least >= 40.1, "{least} {mean}");
        assert_timely!(least < 45.0 && mean < 60.0, "{least} {mean}");
        assert_eq!(
            (&told["link"], &told["exit_code"]),
            (&"8 Mbit/s, delay 20 ms".into(), &0.into())
        );
        assert_eq!(told["outside"], "device-and-gateway");
        let [up, down] = ["up", "down"].map(|way| told[way]["delivered_packets"].as_u64());
        assert!(up >= Some(6) && down >= Some(6), "{told}");

        let (curled, told) = served.shell(Who::Root, &link, CURL);
        let rate = fetched(&curled);
        assert!(rate <= 8e6 * PAYLOAD, "{rate}");
        assert_timely!(rate > 8e6 * 0.5, "{rate}");
        let queued = &told["down"]["queueing_delay"];
        assert_timely!(queued["p99_ms"].as_f64() > Some(1.0), "{told}");
        let octets = told["down"]["delivered_bytes"].as_u64().expect("a count");
        // Headers, and little more.
        assert!(octets >= SIZE as u64, "{octets}");
        assert_timely!(octets < SIZE as u64 * 12 / 10, "{octets}");
        let summary = words(&curled);
        assert!(
            summary.contains("ackord: 8 Mbit/s, delay 20 ms · ") && summary.contains("late by p50")
        );
    });
}

#[test]
fn in_shells_in_shells_delays_add_up_and_the_slowest_link_counts() {
    timely(|| {
        let Some(served) = Served::new() else { return };
        let outer = ["--rate", "20mbit", "--delay", "10ms"];
        let program = served.machine.program();
        let run = |what: &str| {
            // The outermost machine, whose address the inner shell does not have in its environment.
            let what = what.replace("$ACKORD_BASE", "100.64.0.1");
            let inner = format!("{} shell --quiet --rate 6mbit --delay 15ms", text(program));
            served.shell(Who::Root, &outer, &format!("{inner} -- sh -c '{what}'"))
        };
        let (pinged, told) = run(PING);
        let [least, mean] = round_trips(&pinged);
        assert!(least >= 50.0, "{least} {mean}");
        assert_timely!(least < 56.0 && mean < 75.0, "{least} {mean}");
        assert_eq!(told["depth"], 1);
        let (curled, _) = run(&CURL.replace('\'', "\""));
        let rate = fetched(&curled);
        assert!(rate <= 6e6 * PAYLOAD, "{rate}");
        assert_timely!(rate > 6e6 * 0.5, "{rate}");
        let mut server = served.iperf3();
        let (measured, _) = run("iperf3 -J -R -t 2 -c $ACKORD_BASE");
        let rate = received(&measured);
        assert!(rate <= 6e6, "{rate}");
        assert_timely!(rate > 6e6 * 0.6, "{rate}");
        let _ = server.wait();
    });
}

#[test]
fn the_exit_code_is_the_command_s_and_mistakes_are_told_before_anything_runs() {
    let Some(served) = Served::new() else { return };
    let code =
        |words: &[&str], script: &str| served.shell(Who::Root, words, script).0.status.code();
    assert_eq!(code(&["-q"], "exit 7"), Some(7));
    assert_eq!(code(&["-q"], "kill -9 $$"), Some(137));
    assert_eq!(code(&["-q"], "kill -2 $$"), Some(130));
    let of = |words: &[&str]| {
        let (mut command, _) = served.machine.ackord(Who::Root, words);
        let output = command.output().expect("it starts");
        (output.status.code(), self::words(&output))
    };
    assert_eq!(of(&["shell", "nowhere-to-be-found"]).0, Some(127));
    assert_eq!(of(&["shell", "/etc/passwd"]).0, Some(126));
    let (code, said) = of(&["shell", "--queue", "codle", "--", "echo", "it", "ran"]);
    assert!(
        code == Some(2) && said.contains("did you mean `codel`?") && !said.contains("it ran"),
        "{said}"
    );
    // Data that a command has left in its socket arrives although the command has ended.
    let script = "printf 'GET /late HTTP/1.0\\r\\n\\r\\n' | timeout 5 bash -c 'cat > /dev/tcp/100.64.0.1/80'";
    assert_eq!(served.shell(Who::Root, &["--delay", "100ms"], script).0.status.code(), Some(0));
}

#[test]
fn a_trace_of_mahimahi_s_lets_through_what_it_has_opportunities_for() {
    timely(|| {
        let Some(served) = Served::new() else { return };
        let file = |name: &str, lines: &str| {
            let path = served.folder.join(name);
            fs::write(&path, lines).expect("ours");
            path
        };
        // 1504 bytes every 2 ms, of which a packet of 1500 takes all: 6.016 Mbit/s.
        let (up, down) = (file("up.trace", "1\n"), file("down.trace", "2\n"));
        let link = ["--trace", text(&up), text(&down), "--delay", "5ms"];
        let (curled, told) = served.shell(Who::Root, &link, CURL);
        let rate = fetched(&curled);
        assert!(rate <= 6.016e6 * 1_448.0 / 1_504.0, "{rate}");
        assert_timely!(rate > 3e6, "{rate}");
        assert_eq!(told["link"], "trace, delay 5 ms");
    });
}

#[test]
fn a_box_that_repairs_losses_is_worth_something_to_reno() {
    timely(|| {
        let Some(served) = Served::new() else { return };
        let rate = |proxy: &[&str]| {
            let mut server = served.iperf3();
            let mut link =
                vec!["--rate", "10mbit", "--delay", "5ms", "--loss-down", "3%", "--seed", "3"];
            link.extend(proxy);
            let (measured, _) =
                served.shell(Who::Root, &link, "iperf3 -J -R -C reno -t 3 -c $ACKORD_BASE");
            let _ = server.wait();
            received(&measured)
        };
        let none = rate(&["--proxy", "none", "--wired-delay", "30ms"]);
        let repaired = rate(&["--proxy", "proxy-tcp", "--wired-delay", "30ms"]);
        // Reno at 3 % and 70 ms: 1.22 MSS / (RTT sqrt(p)) = 1.2 Mbit/s.
        assert!(none < 3e6 && repaired < 10e6, "{none} {repaired}");
        assert_timely!(repaired > 1.5 * none, "{none} {repaired}");
    });
}

#[test]
fn an_ordinary_user_has_a_gateway_that_reaches_the_machine_and_leaves_it_alone() {
    timely(|| {
        let Some(served) = Served::new() else { return };
        let before = served.machine.state();
        let (curled, told) =
            served.shell(Who::Anybody, &["--rate", "8mbit", "--delay", "10ms"], CURL);
        if words(&curled).contains("cannot make a network namespace") {
            return skipped(words(&curled));
        }
        let rate = fetched(&curled);
        assert!(rate <= 8e6 * PAYLOAD, "{rate}");
        assert_timely!(rate > 8e6 * 0.4, "{rate}");
        assert_eq!(
            (&told["outside"], &told["gateway"]["connections"]),
            (&"gateway".into(), &1.into())
        );
        let (pinged, _) = served.shell(Who::Anybody, &["--delay", "10ms"], PING);
        assert!(round_trips(&pinged)[0] >= 20.0, "{}", words(&pinged));
        // Inside, anybody may make a device, and the gateway is behind both links.
        let inner = format!("{} shell -q --delay 15ms --", text(served.machine.program()));
        let script = format!("{inner} ping -q -c 3 -i 0.2 100.64.0.1");
        let (pinged, _) = served.shell(Who::Anybody, &["--delay", "10ms"], &script);
        let [least, mean] = round_trips(&pinged);
        assert!(least >= 50.0, "{least} {mean}");
        assert_timely!(mean < 80.0, "{least} {mean}");
        assert_eq!(served.machine.state(), before);
    });
}

#[test]
fn what_is_printed_is_a_scenario_that_runs() {
    let printed = crate::common::printed(&[
        "shell",
        "--rate",
        "2mbit",
        "--delay",
        "20ms",
        "--print-scenario",
    ]);
    let folder = tempfile::tempdir().expect("a folder");
    let file: &Path = &folder.path().join("link.toml");
    fs::write(file, printed).expect("written");
    let run = crate::common::json(&["run", text(file), "--set", "duration=5 s", "--json", "-"]);
    let goodput = run["flows"][0]["goodput_bit_s"].as_f64().unwrap_or_else(|| panic!("{run}"));
    assert!(goodput < 2e6 * PAYLOAD && goodput > 1.5e6, "{goodput}");
}

#[test]
fn captures_have_what_passed_at_both_ends() {
    let Some(served) = Served::new() else { return };
    let folder = served.machine.folder("captures");
    let words = ["--delay", "5ms", "--pcap", text(&folder)];
    let (_, told) = served.shell(Who::Root, &words, "ping -q -c 3 -i 0.1 $ACKORD_BASE");
    assert_eq!(told["captures"].as_array().map(Vec::len), Some(2));
    for place in ["inside", "outside"] {
        let size = fs::metadata(folder.join(format!("{place}.pcapng"))).expect("written").len();
        // Six packets of 84 bytes.
        assert!(size > 6 * 84, "{place}: {size}");
    }
}

/// Answers every datagram at this address with the same, bytes turned round.
const ECHO: &str = "import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('127.0.0.53', 53))
while True:
    text, who = s.recvfrom(4096)
    s.sendto(text[::-1], who)";

const ASK: &str = "import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
began = time.time()
s.sendto(b'who is it', ('127.0.0.53', 53))
print(s.recvfrom(100)[0].decode(), int((time.time() - began) * 1000))";

#[test]
fn a_name_server_on_loopback_is_asked_over_the_link_from_shells_in_shells_too() {
    timely(|| {
        let Some(served) = Served::new() else { return };
        let folder = served.machine.folder("names");
        let [resolv, echo, ask] =
            ["resolv.conf", "echo.py", "ask.py"].map(|name| folder.join(name));
        fs::write(&resolv, "nameserver 127.0.0.53\n").expect("ours");
        fs::write(&echo, ECHO).expect("ours");
        fs::write(&ask, ASK).expect("ours");
        let mut server =
            served.machine.enter().args(["python3", text(&echo)]).spawn().expect("python3");
        let listens = || served.machine.listens("udp", 53, BOUND);
        assert!(within_a_minute(listens), "the name server does not listen");
        let program = text(served.machine.program());
        let once = format!("{program} shell -q --delay 20ms --");
        let asked = |shells: &str| {
            let mount = format!("mount --bind {} /etc/resolv.conf", text(&resolv));
            let script = format!("{mount} && {shells} python3 {}", text(&ask));
            let mut command = served.machine.enter();
            let output = command.args(["unshare", "--mount", "--", "sh", "-c", &script]).output();
            let words = words(&output.expect("unshare starts"));
            let answer = words.strip_prefix("ti si ohw ").unwrap_or_else(|| panic!("{words}"));
            answer.split_whitespace().next().and_then(|ms| ms.parse::<u32>().ok()).expect("a time")
        };
        let (one, two) = (asked(&once), asked(&format!("{once} {once}")));
        let _ = server.kill();
        let _ = server.wait();
        assert!(one >= 40 && two >= 80, "{one} ms, {two} ms");
        assert_timely!(one < 100 && two < 160, "{one} ms, {two} ms");
    });
}
