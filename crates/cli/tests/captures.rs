//! Captures hold up before tshark.

use crate::common::{printed, text};
use ackord_testing::installed;
use std::path::Path;
use std::process::Command;

/// What tshark says about a capture, checksums checked; nothing where there is no tshark.
fn tshark(capture: &Path, arguments: &[&str]) -> Option<String> {
    if !installed(&["tshark"]) {
        return None;
    }
    let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
    let output = Command::new("tshark")
        .args(["-n", "-r", text(capture)])
        .args(checks)
        .args(arguments)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn tshark_finds_no_packet_malformed_and_no_checksum_bad() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "lossy-wifi", "--set", "duration=5 s", "--snaplen", "all"];
    printed(&[&run[..], &["--pcap", text(folder.path())]].concat());
    for end in ["server", "station"] {
        let capture = folder.path().join(format!("wifi.at-{end}.pcapng"));
        let bad = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0 \
                   || tcp.options.mss_val == 0";
        let Some(bad) = tshark(&capture, &["-Y", bad]) else { return };
        assert_eq!(bad, "", "at the {end}");
        let good = "tcp.checksum.status == 1 && ip.checksum.status == 1";
        let good = tshark(&capture, &["-Y", good]).expect("there is one");
        let all = tshark(&capture, &[]).expect("there is one");
        assert!(all.lines().count() > 1_000, "{} packets", all.lines().count());
        assert_eq!(good.lines().count(), all.lines().count(), "at the {end}");
    }
}

#[test]
fn a_capture_at_one_end_shows_one_connection_as_that_end_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    let size = "flows.download.traffic={ kind = 'bulk', size = '300 kB' }";
    printed(&["run", "lossy-wifi", "--set", size, "--pcap", text(folder.path())]);
    let capture = folder.path().join("wifi.at-server.pcapng");
    let fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "tcp.flags.str", "-e", "tcp.len"];
    let Some(packets) = tshark(&capture, &fields) else { return };
    let packets: Vec<Vec<&str>> = packets.lines().map(|line| line.split('\t').collect()).collect();
    assert!(packets[0][1].contains('S') && packets[1][1].contains('S'), "a handshake first");
    let times: Vec<&str> = packets.iter().map(|packet| packet[0]).collect();
    assert!(times.is_sorted(), "in order of time");
    // Nanoseconds: the SYN has crossed 10 ms of wire and its own transmission.
    assert!(times[0].starts_with("0.0100") && times[0].len() == "0.010000000".len(), "{times:?}");
    let payload: u64 = packets.iter().filter_map(|packet| packet[2].parse::<u64>().ok()).sum();
    assert!(payload >= 300_000, "{payload}");
    // Every retransmission in a file without doubled packets is one of the sender's.
    let again = tshark(&capture, &["-Y", "tcp.analysis.retransmission"]).expect("there is one");
    assert!(again.lines().count() < packets.len() / 10, "{}", again.lines().count());
}

#[test]
fn a_snap_length_keeps_every_header_and_the_length_that_was() {
    let folder = tempfile::tempdir().unwrap();
    let whole = tempfile::tempdir().unwrap();
    let run = ["run", "lossy-wifi", "--set", "duration=2 s", "--pcap"];
    printed(&[&run[..], &[text(folder.path())]].concat());
    printed(&[&run[..], &[text(whole.path()), "--snaplen", "all"]].concat());
    let name = "wifi.at-station.pcapng";
    let fields = [
        "-T",
        "fields",
        "-e",
        "frame.len",
        "-e",
        "tcp.seq_raw",
        "-e",
        "tcp.options.timestamp.tsval",
    ];
    let Some(cut) = tshark(&folder.path().join(name), &fields) else { return };
    assert_eq!(cut, tshark(&whole.path().join(name), &fields).expect("there is one"));
    let longest = tshark(&folder.path().join(name), &["-Y", "frame.cap_len > 128"]);
    assert_eq!(longest.as_deref(), Some(""));
}
