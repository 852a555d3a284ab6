//! Transfers out of captures that others took and wrote: curl over loopback, dumpcap, editcap.
//!
//! Where these are missing, or may not capture, the test says SKIPPED.

use crate::common::{json, text};
use ackord_testing::{installed, skipped};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json as value};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// What a response has before its body.
const HEAD: usize = 64;

/// A response of `/BYTES`, head and body together exactly `HEAD + BYTES` bytes long, on
/// connections that stay open.
fn answer(stream: TcpStream) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?);
    let mut output = stream;
    loop {
        let mut request = String::new();
        input.read_line(&mut request).ok().filter(|read| *read > 0)?;
        let size: usize = request.split_whitespace().nth(1)?.strip_prefix('/')?.parse().ok()?;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            input.read_line(&mut line).ok().filter(|read| *read > 0)?;
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nX: ");
        let padded = format!("{head:x<width$}\r\n\r\n", width = HEAD - 4);
        output.write_all(padded.as_bytes()).ok()?;
        output.write_all(&vec![b'.'; size]).ok()?;
    }
}

/// The port of a server at an address.
fn server(address: &str) -> Option<u16> {
    let listener = TcpListener::bind((address, 0)).ok()?;
    let port = listener.local_addr().ok()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    Some(port)
}

/// A capture under way.
struct Capture(Child);

impl Capture {
    fn begin(interface: &str, filter: &str, file: &Path) -> Option<Capture> {
        // With 64 MiB of buffer nothing is missed when others keep the machine busy.
        let arguments = ["-q", "-B", "64", "-i", interface, "-f", filter, "-w", text(file)];
        let child = Command::new("dumpcap")
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("dumpcap starts");
        let mut capture = Capture(child);
        let mut said = String::new();
        let mut errors = BufReader::new(capture.0.stderr.take().expect("piped"));
        while !said.contains("File:") {
            let mut line = String::new();
            if errors.read_line(&mut line).is_ok_and(|read| read == 0) {
                let _ = capture.0.wait();
                skipped(format_args!("dumpcap may not: {said}"));
                return None;
            }
            said += &line;
        }
        thread::spawn(move || errors.read_to_string(&mut String::new()));
        // What is sent before the filter is in place would be missed.
        thread::sleep(Duration::from_millis(300));
        Some(capture)
    }

    fn end(mut self) {
        thread::sleep(Duration::from_millis(700));
        kill(Pid::from_raw(self.0.id() as i32), Signal::SIGINT).expect("it is ours");
        assert!(self.0.wait().expect("it ends").success());
    }
}

fn curl(arguments: &[&str]) {
    let status = Command::new("curl").args(["-sS", "-o", "/dev/null"]).args(arguments).status();
    assert!(status.expect("curl was there a moment ago").success(), "{arguments:?}");
}

struct Imported<'a> {
    folder: &'a Path,
    by: &'a [&'a str],
}

impl Imported<'_> {
    fn of(&self, capture: &Path) -> Value {
        let store = self.folder.join("history.redb");
        let _ = std::fs::remove_file(&store);
        let import = ["history", "import", text(capture), "--json", "-", "--store", text(&store)];
        let found = json(&[&import[..], self.by].concat());
        for none in ["malformed_packets", "unknown_link_packets"] {
            assert_eq!(found[none], 0, "{}", capture.display());
        }
        found["applications"].clone()
    }
}

fn edited(capture: &Path, name: &str, options: &[&str]) -> PathBuf {
    let to = capture.with_file_name(name);
    let mut editcap = Command::new("editcap");
    editcap.args(options).arg(capture).arg(&to);
    assert!(editcap.status().expect("it was there").success(), "{options:?}");
    to
}

/// A classic pcap of this machine's byte order in the other one.
fn swapped(capture: &Path) -> PathBuf {
    let mut octets = std::fs::read(capture).expect("it was written");
    let reverse = |octets: &mut [u8], from: usize, len: usize| octets[from..from + len].reverse();
    for (from, len) in [(0, 4), (4, 2), (6, 2), (8, 4), (12, 4), (16, 4), (20, 4)] {
        reverse(&mut octets, from, len);
    }
    let mut at = 24;
    while at < octets.len() {
        let kept = u32::from_ne_bytes(octets[at + 8..at + 12].try_into().expect("four"));
        (0..4).for_each(|field| reverse(&mut octets, at + 4 * field, 4));
        at += 16 + kept as usize;
    }
    let to = capture.with_file_name("swapped.pcap");
    std::fs::write(&to, octets).expect("it can be written");
    to
}

#[test]
fn sizes_of_curl_s_downloads_are_found_in_every_form_of_their_capture() {
    if !installed(&["curl", "dumpcap", "editcap"]) {
        return;
    }
    let (Some(port), Some(port6)) = (server("127.0.0.1"), server("::1")) else {
        skipped("no loopback of both IP versions");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("original.pcapng");
    let filter = format!("tcp port {port} or tcp port {port6}");
    let Some(running) = Capture::begin("lo", &filter, &capture) else { return };
    let url = |size: u64| format!("http://127.0.0.1:{port}/{size}");
    curl(&[&url(2_000)]);
    curl(&[&url(3_000_000)]);
    // Two over one connection, with a second between them.
    curl(&["--rate", "60/m", &url(40_000), "-o", "/dev/null", &url(70_000)]);
    curl(&[&format!("http://[::1]:{port6}/500000")]);
    running.end();

    let entry = |name: String, sizes: &[u64]| {
        let sizes: Vec<u64> = sizes.iter().map(|size| size + HEAD as u64).collect();
        value!({
            "application": name,
            "transfers": sizes.len(),
            "bytes": sizes.iter().sum::<u64>(),
            "smallest_bytes": sizes.iter().min(),
            "largest_bytes": sizes.iter().max(),
        })
    };
    let sorted = |mut entries: Vec<Value>| {
        entries.sort_by_key(|entry| entry["application"].as_str().map(str::to_owned));
        Value::Array(entries)
    };
    let expected = sorted(vec![
        entry(format!("port-{port}"), &[2_000, 3_000_000, 40_000, 70_000]),
        entry(format!("port-{port6}"), &[500_000]),
    ]);
    let by_port = ["--by", "port", "--idle", "500 ms"];
    let imported = |capture: &Path| Imported { folder: folder.path(), by: &by_port }.of(capture);
    assert_eq!(imported(&capture), expected);
    let classic = edited(&capture, "classic.pcap", &["-F", "pcap"]);
    for form in [
        edited(&capture, "nanoseconds.pcap", &["-F", "nsecpcap"]),
        edited(&capture, "cut.pcapng", &["-s", "96"]),
        edited(&capture, "cut.pcap", &["-F", "pcap", "-s", "96"]),
        swapped(&classic),
        classic,
    ] {
        assert_eq!(imported(&form), expected, "{}", form.display());
    }
    let together = sorted(vec![
        entry("127.0.0.1".to_owned(), &[2_000, 3_000_000, 110_000 + HEAD as u64]),
        entry("::1".to_owned(), &[500_000]),
    ]);
    let by_address = Imported { folder: folder.path(), by: &["--by", "address"] };
    assert_eq!(by_address.of(&capture), together, "two seconds of patience join the two");
}

#[test]
fn a_capture_of_any_interface_says_the_same() {
    if !installed(&["curl", "dumpcap", "editcap"]) {
        return;
    }
    let Some(port) = server("127.0.0.1") else { return };
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("any.pcapng");
    let filter = format!("tcp port {port}");
    let Some(running) = Capture::begin("any", &filter, &capture) else { return };
    curl(&[&format!("http://127.0.0.1:{port}/123456")]);
    running.end();
    let found = Imported { folder: folder.path(), by: &["--by", "port"] }.of(&capture);
    assert_eq!(found[0]["bytes"], 123_456 + HEAD as u64, "{found}");
    let bytes = std::fs::read(&capture).unwrap();
    for kept in [bytes.len() - 1, bytes.len() * 2 / 3, 500] {
        let cut = folder.path().join("cut-off.pcapng");
        std::fs::write(&cut, &bytes[..kept]).unwrap();
        Imported { folder: folder.path(), by: &["--by", "port"] }.of(&cut);
    }
}
