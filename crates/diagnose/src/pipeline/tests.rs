//! The answer is the same whatever the number of threads.

use crate::{Diagnosis, Options, Reader, diagnose, without_progress};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// A pcap file of `packets` packets of several hundred connections, with retransmissions, lost packets, frames
/// that are no TCP, and bytes that follow no pattern.
fn capture(packets: u32) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(word.to_le_bytes());
    }
    let mut random = 1_u64;
    let mut draw = |below: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut sent = vec![1_u32; 300];
    for number in 0..packets {
        // A few connections have most packets.
        let flow = draw(300) * draw(300) / 300;
        let data = draw(3) > 0;
        let len = if data { 100 + draw(1_300) as u32 } else { 0 };
        let seq = &mut sent[flow as usize];
        let again = data && draw(50) == 0;
        let from = if again { seq.saturating_sub(len) } else { *seq };
        if data && !again {
            *seq = seq.wrapping_add(len);
        }
        let (client, server) = ([10, 0, 0, flow as u8], [10, 1, (flow >> 8) as u8, 1]);
        let (src, dst) = if data { (server, client) } else { (client, server) };
        let ports = if data { [80, 5_000 + flow as u16] } else { [5_000 + flow as u16, 80] };
        let (seq, ack) = if data { (from, 1) } else { (1, *seq) };
        let protocol = if draw(40) == 0 { 17 } else { 6 };
        let mut frame = [2; 12].to_vec();
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((40 + len as u16).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
        frame.extend([src, dst].concat());
        frame.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
        frame.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        frame.extend([0x50, 0x10, 0x10, 0, 0, 0, 0, 0]);
        frame.resize(frame.len() + len as usize, number as u8);
        let micros = number * 37;
        for word in [1_700_000_000 + micros / 1_000_000, micros % 1_000_000] {
            file.extend(word.to_le_bytes());
        }
        for _ in 0..2 {
            file.extend((frame.len() as u32).to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// The answer in all its digits.
fn written(diagnosis: &Diagnosis) -> String {
    serde_json::to_string(diagnosis).expect("plain data")
}

fn of_file(path: &Path, jobs: usize) -> String {
    let reader = Reader::open(path, 0).expect("a capture");
    let options = Options { jobs, ..Options::default() };
    written(&diagnose(vec![reader], &options, &mut without_progress).expect("readable").0)
}

#[test]
fn any_number_of_threads_gives_the_same_answer_of_files_and_of_pipes() {
    let bytes = capture(20_000);
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&bytes).expect("room");
    let one = of_file(file.path(), 1);
    assert!(one.len() > 100_000 && one.contains("\"retransmitted_bytes\":"), "{}", one.len());
    for jobs in [2, 3, 4] {
        assert!(of_file(file.path(), jobs) == one, "{jobs} threads on a file");
        let name = file.path().display().to_string();
        let piped = Box::new(std::io::Cursor::new(bytes.clone()));
        let reader = Reader::from_reader(&name, piped, 0).expect("a capture");
        let options = Options { jobs, ..Options::default() };
        let piped = diagnose(vec![reader], &options, &mut without_progress).expect("readable").0;
        assert!(written(&piped) == one, "{jobs} threads on a pipe");
    }
}

#[test]
fn a_caller_that_stops_is_obeyed_by_all_threads() {
    let bytes = capture(20_000);
    let mut calls = 0;
    let reader = Reader::from_reader("test", Box::new(std::io::Cursor::new(bytes)), 0);
    let options = Options { jobs: 3, ..Options::default() };
    let stopped = diagnose(vec![reader.expect("a capture")], &options, &mut |_| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(crate::DiagnoseError::Interrupted)));
    assert_eq!(calls, 1);
}
