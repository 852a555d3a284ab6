//! `ackord script` as a user meets it.

use crate::common::{json, output, printed, text};
use ackord_wire::PcapngReader;

const PASSES: &str = "0 handshake\n0.2 call write 1000 B\nexpect seq 1:1001\n";

fn script(folder: &tempfile::TempDir, name: &str, content: &str) -> String {
    let file = folder.path().join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, content).unwrap();
    text(&file).to_owned()
}

#[test]
fn exit_codes_tell_what_passed_what_failed_and_what_is_no_script() {
    let folder = tempfile::tempdir().unwrap();
    let passes = script(&folder, "passes.tcp", PASSES);
    let fails = script(&folder, "fails.tcp", "0 handshake\n0.2 expect seq 1:1001\n");
    let bad = script(&folder, "bad.tcp", "0 hanshake\n");
    let code = |arguments: &[&str]| output(arguments).status.code();
    assert_eq!(code(&["script", &passes]), Some(0));
    assert_eq!(code(&["script", &passes, &fails]), Some(1));
    assert_eq!(code(&["script", &passes, &fails, &bad]), Some(2));
    assert_eq!(code(&["script", "no/such/folder"]), Some(2));
    let errors = String::from_utf8(output(&["script", &fails, &bad]).stderr).unwrap();
    assert!(errors.contains("fails.tcp:2: nothing left by 0.200000 s"), "{errors}");
    assert!(errors.contains("bad.tcp:1:3: `hanshake` is not a command; did you mean `handshake`?"));
    assert!(errors.contains("of 2 scripts 1 did not come out as they say, 1 could not be played"));
}

#[test]
fn a_folder_is_played_with_a_count_per_folder_below_it() {
    let folder = tempfile::tempdir().unwrap();
    script(&folder, "one/a.tcp", PASSES);
    script(&folder, "one/b.tcp", PASSES);
    script(&folder, "two/c.tcp", PASSES);
    script(&folder, "two/notes.txt", "no script");
    let told = printed(&["script", text(folder.path())]);
    assert_eq!(
        told,
        "    2 of 2    one\n    1 of 1    two\n    3 of 3    scripts came out as they say, in 2 folders\n"
    );
}

#[test]
fn the_exchange_comes_as_a_diagram_as_json_and_as_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let passes = script(&folder, "passes.tcp", &format!("ip v6\n{PASSES}"));
    let diagram = printed(&["script", &passes, "--trace"]);
    assert!(diagram.contains("0.200000  |PSH seq 1:1001 ack 1 win 65535 ---"), "{diagram}");
    let records = json(&["script", &passes, "--json", "-"]);
    assert_eq!(records[0]["result"], "passed");
    assert_eq!(records[0]["segments"][3]["segment"], "PSH seq 1:1001 ack 1 win 65535");
    assert_eq!(records[0]["segments"][3]["direction"], "out");
    let capture = folder.path().join("it.pcapng");
    printed(&["script", &passes, "--pcapng", text(&capture)]);
    let mut reader = PcapngReader::new(std::fs::File::open(&capture).unwrap()).unwrap();
    let mut segments = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        segments.push(ackord_wire::decode(&packet.bytes).expect("checksums and all"));
    }
    assert_eq!(segments.len(), 4);
    assert_eq!((segments[3].segment.payload_len, segments[3].ip.ip_len), (1000, 40 + 20 + 1000));
    let two = output(&["script", &passes, &passes, "--pcapng", text(&capture)]);
    assert_eq!(two.status.code(), Some(2));
}

#[test]
fn a_script_is_not_taken_for_the_file_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let passes = script(&folder, "passes.tcp", PASSES);
    for option in ["--json", "--pcapng"] {
        let refused = output(&["script", text(folder.path()), option, &passes]);
        assert_eq!(refused.status.code(), Some(2));
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(error.contains("would be written over the script"), "{error}");
        assert_eq!(std::fs::read_to_string(&passes).unwrap(), PASSES);
    }
}

#[test]
fn what_can_be_asserted_is_listed() {
    let listed = printed(&["script", "--quantities"]);
    for name in ["cwnd", "ssthresh", "dupthresh", "ato", "state", "close_reason"] {
        assert!(listed.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
    }
}
