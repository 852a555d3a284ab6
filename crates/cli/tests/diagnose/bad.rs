//! What is no capture, or has no TCP: one sentence that says what it is and what to do.

use super::made::{ethernet, ip, pcap, udp};
use super::{lossy, output};
use crate::common::{files_below, text};
use std::path::Path;

/// The only line of standard error, with exit code 2 and nothing on standard output.
fn refused(arguments: &[&str]) -> String {
    let output = output(&[&["diagnose", "--no-predict"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("error: "), "{errors}");
    errors
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    text(&path).to_owned()
}

#[test]
fn what_is_no_capture_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let empty = file(at, "empty.pcap", b"");
    let words = file(at, "words.txt", b"These are the packets of yesterday.\n");
    let page = file(at, "page.pcap", b"<!DOCTYPE html><html></html>\n");
    let noise = file(at, "noise", &[0x99, 0x12, 0xfe, 0x01].repeat(40));
    let cut = file(at, "cut.pcap", &0xa1b2_c3d4_u32.to_le_bytes());
    let none = pcap(at, "none.pcap", &[]);
    for (given, says) in [
        (text(at), "directory"),
        (&empty, "empty (0 bytes)"),
        (&words, "text"),
        (&page, "HTML"),
        (&noise, "editcap"),
        (&cut, "nothing of it can be read"),
        (text(&none), "No packets"),
        ("/nowhere/at-all.pcap", "no such file"),
    ] {
        let error = refused(&[given]);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_capture_without_tcp_is_an_answer_that_says_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut initial = vec![0xc3, 0, 0, 0, 1, 8];
    initial.extend([7; 8]);
    initial.resize(1_200, 0);
    let handshake = [&[1, 0, 0, 0][..], &[7; 144]].concat();
    let arp = ethernet(0x0806, &[0; 28]);
    for (name, frame, says) in [
        ("udp", udp([5000, 5001], &[1; 50]), "5 UDP"),
        ("quic", udp([50_000, 443], &initial), "qlog"),
        ("wireguard", udp([51_820, 51_820], &handshake), "tunnel is encrypted"),
        ("esp", ip(50, &[9; 60]), "tunnel is encrypted"),
        ("arp", arp, "5 ARP"),
    ] {
        let capture = pcap(folder.path(), name, &vec![frame; 5]);
        let output = output(&["diagnose", text(&capture)]);
        let told = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert!(told.contains("No TCP in 5 frames") && told.contains(says), "{told}");
        assert!(!told.contains("mostly by"), "no empty tables: {told}");
        let unknown = refused(&[text(&capture), "--connection", "0"]);
        assert!(unknown.contains("no TCP connection"), "{unknown}");
    }
}

#[test]
fn a_capture_that_is_cut_off_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(lossy(folder.path())).unwrap();
    let cut = file(folder.path(), "cut.pcapng", &whole[..whole.len() / 2 + 1]);
    let told = crate::common::printed(&["diagnose", &cut, "--no-predict"]).replace('\n', " ");
    assert!(told.contains("the file ends within a block"), "{told}");
    assert!(told.contains("1 connection"), "{told}");
}

#[test]
fn connections_that_are_not_there_are_refused_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let error = refused(&[text(&capture), "--connection", "7"]);
    assert!(error.contains("there is one connection, 0"), "{error}");
}

#[test]
fn where_nothing_can_be_written_nothing_is_read_and_no_part_of_a_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let capture = lossy(folder.path());
    let before = files_below(folder.path()).len();
    let given = text(&capture);
    let below_file = format!("{given}/below");
    for option in ["--out", "--json", "--qlog", "--annotate"] {
        let error = refused(&[given, option, &below_file]);
        assert!(error.contains("is a file"), "{option}: {error}");
        if option != "--out" {
            let error = refused(&[given, option, text(folder.path())]);
            assert!(error.contains("irectory"), "{option}: {error}");
        }
    }
    let error = refused(&[given, "--annotate", given]);
    assert!(error.contains("the capture itself"), "{error}");
    let error = refused(&[given, given, "--annotate", "/tmp/never"]);
    assert!(error.contains("one capture"), "{error}");
    assert_eq!(files_below(folder.path()).len(), before);
}
