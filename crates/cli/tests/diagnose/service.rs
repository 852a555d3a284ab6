//! `--live --metrics`: an interface followed as a service. A download over a link with a short queue, between
//! two network namespaces.

use crate::common::machine::Machine;
use crate::common::{output, within_a_minute};
use ackord_testing::{installed, skipped};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PORT: u16 = 9477;
/// Datagrams to a port where nobody listens.
const STRAYS: u32 = 50;
/// The instance of a process that has ended, and of one that has not.
const STALE: &str = "ackord-diagnose-test-stale";
const BUSY: &str = "ackord-diagnose-test-busy";

/// A host that captures, and another one whose link to it drops packets.
struct Pair {
    here: Machine,
    there: Machine,
}

impl Pair {
    fn new() -> Option<Pair> {
        let (here, there) = (Machine::new()?, Machine::new()?);
        let script = format!(
            "ip link add a0 type veth peer name b0 && ip link set b0 netns {} &&
             ip addr add 192.0.2.1/24 dev a0 && ip link set a0 up",
            there.holder()
        );
        let made = done(&mut shell(&here, &script));
        let script = "ip addr add 192.0.2.2/24 dev b0 && ip link set b0 up &&
                      tc qdisc add dev b0 root tbf rate 20mbit burst 10k limit 20k";
        if !made || !done(&mut shell(&there, script)) {
            skipped("no veth or no tbf here");
            return None;
        }
        Some(Pair { here, there })
    }

    /// Six megabytes from there.
    fn download(&self) {
        const SERVER: &str = "
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('192.0.2.2', 8000)); s.listen(1); print('ready', flush=True)
c = s.accept()[0]; c.sendall(b'7' * 6000000); c.close()
";
        const CLIENT: &str = "
import socket
s = socket.create_connection(('192.0.2.2', 8000)); n = 0
while True:
    d = s.recv(1 << 16)
    if not d: break
    n += len(d)
assert n == 6000000, n
";
        let mut server = self.there.enter();
        let server = server.args(["python3", "-c", SERVER]).stdout(Stdio::piped()).spawn();
        let mut server = server.expect("python3 starts");
        let mut ready = String::new();
        let lines = server.stdout.take().expect("piped");
        BufReader::new(lines).read_line(&mut ready).expect("it says something");
        assert!(done(self.here.enter().args(["python3", "-c", CLIENT])), "all bytes came");
        assert!(server.wait().expect("it ends").success());
    }

    /// Datagrams from there that nobody here takes.
    fn stray_datagrams(&self) {
        let script = format!(
            "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
             for _ in range({STRAYS}):\n  s.sendto(b'x', ('192.0.2.1', 9))\n"
        );
        assert!(done(self.there.enter().args(["python3", "-c", &script])));
    }

    /// The page of metrics, once it can be had.
    fn scrape(&self) -> Option<String> {
        let script = format!(
            "import urllib.request\nanswer = urllib.request.urlopen('http://127.0.0.1:{PORT}/metrics')\n\
             print(answer.read().decode(), end='')"
        );
        let output = self.here.enter().args(["python3", "-c", &script]).output().expect("it runs");
        output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
    }
}

fn shell(machine: &Machine, script: &str) -> Command {
    let mut command = machine.enter();
    command.args(["sh", "-c", script]);
    command
}

fn done(command: &mut Command) -> bool {
    let output = command.output().expect("it starts");
    if !output.status.success() {
        println!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// A sample: its name with labels, and its value.
type Samples = BTreeMap<String, f64>;

/// Reads the text format as strictly as its grammar is: every sample belongs to the family named before it, has
/// labels in quotes and a number, and stands once; every family has a help text and a type.
fn parse(text: &str) -> (Samples, BTreeMap<String, String>) {
    let (mut samples, mut types) = (Samples::new(), BTreeMap::new());
    let mut family = String::new();
    let body = text.strip_suffix("# EOF\n").expect("it ends");
    for line in body.lines() {
        if let Some(meta) = line.strip_prefix("# ") {
            let mut words = meta.splitn(3, ' ');
            let (keyword, name, rest) =
                (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            match keyword {
                "HELP" => {
                    assert!(rest.len() > 10, "{line}");
                    assert!(!types.contains_key(name), "one block for each family: {line}");
                    family = name.to_owned();
                }
                "TYPE" => {
                    assert_eq!(name, family, "{line}");
                    types.insert(name.to_owned(), rest.to_owned());
                }
                "UNIT" => assert!(name == family && name.ends_with(rest), "{line}"),
                other => panic!("{other}: {line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a series and a value");
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').expect("closed")),
            None => (series, ""),
        };
        let is_name = |name: &str| {
            name.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let suffix = name.strip_prefix(family.as_str()).expect("of the family before");
        let allowed: &[&str] = match types[&family].as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            other => panic!("{other}: {line}"),
        };
        assert!(is_name(name) && allowed.contains(&suffix), "{line}");
        for label in labels.split(',').filter(|label| !label.is_empty()) {
            let (key, quoted) = label.split_once('=').expect("a label");
            let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            assert!(is_name(key) && inner.is_some_and(|inner| !inner.contains('"')), "{line}");
        }
        let value: f64 = value.parse().expect("a number");
        assert!(value >= 0.0, "{line}");
        assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {line}");
    }
    (samples, types)
}

/// The sum of a metric's series that have all of these labels.
fn sum(samples: &Samples, name: &str, labels: &[&str]) -> f64 {
    let of_name = samples.iter().filter(|(series, _)| {
        series.split('{').next() == Some(name) && labels.iter().all(|label| series.contains(label))
    });
    of_name.map(|(_, value)| value).sum()
}

/// No counter, and no part of a histogram, is below what it was.
fn assert_grown(before: &str, after: &str) {
    let ((before, types), (after, _)) = (parse(before), parse(after));
    for (series, value) in before {
        let name = series.split('{').next().expect("a name");
        let gauge = types.get(name).is_some_and(|kind| kind == "gauge");
        assert!(gauge || after[&series] >= value, "{series}: {value}, then {}", after[&series]);
    }
}

/// The service, in a mount namespace in which tracefs is mounted if that is allowed.
struct Service {
    child: Child,
    /// What it has written to standard error so far.
    errors: Arc<Mutex<String>>,
}

impl Service {
    fn start(pair: &Pair) -> Service {
        let script = "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; exec \"$@\"";
        let listen = format!("127.0.0.1:{PORT}");
        let arguments = ["diagnose", "--live", "a0", "--metrics", &listen, "--json", "-"];
        let mut command = pair.here.enter();
        command.args(["unshare", "--mount", "--", "sh", "-c", script, "sh"]);
        command.arg(pair.here.program()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("nsenter starts");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let errors = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&errors);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *written.lock().unwrap() += &(line + "\n");
            }
        });
        Service { child, errors }
    }

    fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }
}

/// What a script prints that has tracefs; nothing where that cannot be mounted.
fn with_tracefs(script: &str) -> Option<String> {
    let mount = "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
                 cd /sys/kernel/tracing/instances 2>/dev/null || exit 9\n";
    let arguments = ["--mount", "--", "sh", "-c", &format!("{mount}{script}")];
    let output = Command::new("unshare").args(arguments).output().expect("unshare starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(printed)
}

#[test]
fn a_service_exports_what_connections_lost_and_leaves_nothing_behind() {
    if !installed(&["tcpdump", "python3"]) {
        return;
    }
    let Some(pair) = Pair::new() else { return };
    // What a process left that ended without tidying up, and an instance that somebody uses.
    let traced = with_tracefs(&format!("mkdir {STALE} {BUSY}")).is_some();
    let holds = format!(
        "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
         exec 3< /sys/kernel/tracing/instances/{BUSY}/tracing_on; echo held; read line"
    );
    let mut busy = Command::new("unshare");
    busy.args(["--mount", "--", "sh", "-c", &holds]);
    let busy = traced.then(|| {
        let mut busy =
            busy.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut held = String::new();
        BufReader::new(busy.stdout.as_mut().expect("piped")).read_line(&mut held).expect("a line");
        assert_eq!(held, "held\n");
        busy
    });

    let mut service = Service::start(&pair);
    let mut first = None;
    let answers = within_a_minute(|| {
        first = pair.scrape();
        first.is_some() || service.child.try_wait().expect("ours").is_some()
    });
    if service.errors().contains("no permission to capture") {
        skipped("not allowed to capture packets");
        return;
    }
    assert!(answers, "{}", service.errors());
    let first = first.expect("it runs");
    assert!(within_a_minute(|| pair.here.state().contains("a0") && has_capture(&pair)));
    pair.download();
    pair.stray_datagrams();
    let mut before = first.clone();
    let settled = within_a_minute(|| {
        let text = pair.scrape().expect("it answers");
        assert_grown(&before, &text);
        before = text;
        std::thread::sleep(Duration::from_millis(300));
        let (samples, _) = parse(&before);
        let strays = samples.get("ackord_kernel_dropped_packets_total{reason=\"NO_SOCKET\"}");
        sum(&samples, "ackord_connection_seconds_total", &[]) > 0.0
            && strays.is_none_or(|strays| *strays >= f64::from(STRAYS))
    });
    assert!(settled, "{before}\n{}", service.errors());
    assert_plausible(&before);

    nix::sys::signal::kill(program(&service), nix::sys::signal::SIGTERM).expect("it is ours");
    let output = service.child.wait_with_output().expect("it ends");
    let errors = service.errors.lock().unwrap().clone();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let totals: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(totals["closed"], 1, "{totals}");
    if let Some(mut busy) = busy {
        let left = with_tracefs("ls").expect("as before");
        drop(busy.stdin.take());
        let _ = busy.wait();
        with_tracefs(&format!("rmdir {BUSY}; rmdir {STALE} 2>/dev/null; true"));
        let ours: Vec<&str> = left.lines().filter(|one| one.starts_with("ackord-")).collect();
        assert_eq!(ours, [BUSY], "its own and a stale instance are gone, one in use is not");
    } else {
        skipped("tracefs cannot be mounted: instances are not looked at");
    }
    if errors.contains("this kernel has no ") {
        skipped(format_args!("this kernel lacks what drop reasons need: {errors}"));
    } else {
        assert!(!errors.contains("are left out"), "{errors}");
    }
}

/// The process of the service: `nsenter` and `unshare` have become it.
fn program(service: &Service) -> nix::unistd::Pid {
    nix::unistd::Pid::from_raw(service.child.id() as i32)
}

/// Whether tcpdump listens in the namespace.
fn has_capture(pair: &Pair) -> bool {
    let sockets = std::fs::read_to_string(format!("/proc/{}/net/packet", pair.here.holder()));
    sockets.unwrap_or_default().lines().count() > 1
}

fn assert_plausible(text: &str) {
    let (samples, types) = parse(text);
    let get = |name: &str| sum(&samples, name, &[]);
    // 6 MB at 20 Mbit/s take 2.4 s, and more with losses.
    let seconds = get("ackord_connection_seconds_total");
    assert!((2.0..120.0).contains(&seconds), "{text}");
    let lost = get("ackord_lost_seconds_total");
    assert!(lost <= seconds + 1e-9, "{lost} of {seconds}");
    let received = "direction=\"received\"";
    let again = sum(&samples, "ackord_retransmitted_segments_total", &[received]);
    assert!((1.0..3_000.0).contains(&again), "{again} retransmissions to this host\n{text}");
    let sent = sum(&samples, "ackord_retransmitted_segments_total", &["direction=\"sent\""]);
    assert!(sent <= 5.0, "{sent} retransmissions of a request without bytes");
    assert!(get("ackord_round_trip_seconds_count") >= 100.0, "of the whole life\n{text}");
    assert_eq!(get("ackord_connections_opened_total"), 1.0);
    assert_eq!(get("ackord_connections_closed_total"), 1.0);
    assert_eq!(get("ackord_open_connections"), 0.0);
    assert_eq!(get("ackord_connections_forgotten_total"), 0.0);
    let (tcp, all) = (get("ackord_tcp_packets_total"), get("ackord_captured_packets_total"));
    assert!(tcp > 200.0 && all >= tcp, "{tcp} of {all}");
    assert!(samples.contains_key("ackord_capture_dropped_packets_total"));
    assert!(samples.len() < 600, "{} series", samples.len());
    for cause in ackord_diagnose::Cause::ALL {
        let series = format!("ackord_connection_seconds_total{{cause=\"{}\"}}", cause.name());
        assert!(samples.contains_key(&series), "{series}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnose.md");
    let page = std::fs::read_to_string(page).expect("the documentation");
    for name in types.keys() {
        assert!(page.contains(&format!("`{name}")), "{name} is documented");
    }
}

#[test]
fn a_service_is_refused_an_address_that_it_cannot_have() {
    let refused = |arguments: &[&str]| {
        let output = output(&[&["diagnose"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = held.local_addr().expect("bound").to_string();
    assert!(refused(&["--live", "lo", "--metrics", &taken]).contains("--metrics 127.0.0.1"));
    let errors = refused(&["--live", "lo", "--metrics", "198.51.100.1:9477"]);
    assert!(errors.contains("--metrics 198.51.100.1:9477"), "{errors}");
    assert!(refused(&["--live", "lo", "--metrics", "nonsense"]).contains("nonsense"));
    assert!(refused(&["--metrics", "127.0.0.1:9477"]).contains("--live"));
    let few = ["--live", "lo", "--metrics", &taken, "--most-connections", "0"];
    assert!(refused(&few).contains("--most-connections"));
}
