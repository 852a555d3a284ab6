//! Stock clients and servers against our TCP over IPv6.
//!
//! These need root or rootless TUN and a kernel with IPv6; elsewhere they say SKIPPED and pass.

use crate::common::*;
use ackord_live::{FetchOptions, LiveOptions, fetch};
use ackord_testing::skipped;
use ackord_units::Span;
use std::fs;
use std::path::Path;

/// Whether the kernel has IPv6; says SKIPPED if not.
fn has_ipv6() -> bool {
    let there = Path::new("/proc/net/if_inet6").exists();
    if !there {
        skipped("this kernel has no IPv6");
    }
    there
}

#[test]
fn ping_gets_its_answers_over_ipv6_too() {
    let _turn = alone();
    if !has_ipv6() || !installed(&["ping"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let script = format!("ping -6 -c 5 -i 0.05 -W 2 fd77::2 > {}", out.display());
    let Some(report) = serve_script(options(QUICK), folder.path(), &script) else { return };
    assert_success(&report);
    let said = fs::read_to_string(out).expect("written");
    assert!(said.contains("5 received"), "{said}");
}

#[test]
fn curl_downloads_and_uploads_over_a_lossy_path_and_ipv6() {
    let _turn = alone();
    if !has_ipv6() || !installed(&["curl"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let sent = random_file(&folder.path().join("file"), 3_000_000);
    let mut live: LiveOptions = options(&[]);
    let captures = Captures::of("ipv6", &mut live);
    let got = folder.path().join("got");
    let script = format!(
        "curl -sSf -m 60 -o {0} http://[fd77::2]/file && \
         curl -sSf -m 60 -T {0} http://[fd77::2]/up",
        got.display()
    );
    let Some(report) = serve_script(live, folder.path(), &script) else { return };
    assert_success(&report);
    assert!(fs::read(&got).expect("downloaded") == sent, "the bytes differ");
    assert!(fs::read(folder.path().join("up")).expect("uploaded") == sent, "the bytes differ");
    assert_eq!((report.connections.len(), report.device.malformed), (2, 0), "{report:#?}");
    captures.assert_sound();
    captures.assert_no_reset();
    // RFC 9293 §3.7.1: 1500 bytes less 40 of IPv6 and 20 of TCP, in every SYN of both ends.
    if let Some(syns) = captures.count("ipv6 && tcp.flags.syn == 1 && tcp.options.mss_val == 1440")
    {
        let all = captures.count("tcp.flags.syn == 1").expect("it is installed");
        assert!(syns == all && all[0] >= 4, "{syns:?} of {all:?}");
    }
    // Full-sized packets fill the device and nothing more.
    if let Some(full) = captures.count("ipv6.plen == 1460 && tcp.len == 1428") {
        assert!(full.iter().all(|count| *count > 1_000), "{full:?}");
        assert_eq!(captures.count("ipv6.plen > 1460"), Some([0, 0]));
    }
}

#[test]
fn a_stock_server_is_asked_over_ipv6() {
    let _turn = alone();
    if !has_ipv6() || !installed(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let sent = random_file(&folder.path().join("file"), 500_000);
    let script = format!(
        "exec python3 -m http.server -b fd77::1 -d {} 8000 >/dev/null 2>&1",
        folder.path().display()
    );
    let command = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let url = "http://[fd77::1]:8000/file".to_owned();
    let mut options = FetchOptions::new(options(QUICK), url, command);
    let output = folder.path().join("got");
    options.output = Some(output.clone());
    options.run_for = Some(Span::from_secs(60));
    if possible(fetch(options)).is_none() {
        return;
    }
    assert!(fs::read(&output).expect("fetched") == sent, "the bytes differ");
}
