//! Which captures there are, and that a data set is whole whatever interrupts its writing.

use super::folder::FleetFolder;
use super::part::{FleetOptions, FleetPart, fleet_part};
use super::tables::TABLES;
use super::{FleetError, FleetFile, fleet_files};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A pcap file with a handshake from 10.0.0.`client` to 10.0.0.9 for each of the clients.
fn capture(path: &Path, clients: &[u8]) {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 101] {
        file.extend(word.to_le_bytes());
    }
    for (number, client) in (0_u32..).zip(clients) {
        for (step, flags) in [(0, 0x02), (1, 0x12), (2, 0x10)] {
            let ends = [[10, 0, 0, *client], [10, 0, 0, 9]];
            let (mut from, mut to) = ((ends[0], 4000_u16), (ends[1], 80_u16));
            if step == 1 {
                (from, to) = (to, from);
            }
            let mut packet = vec![0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0];
            packet.extend(from.0);
            packet.extend(to.0);
            packet.extend(from.1.to_be_bytes());
            packet.extend(to.1.to_be_bytes());
            let (seq, ack) = [(0_u32, 0_u32), (0, 1), (1, 1)][step];
            packet.extend(seq.to_be_bytes());
            packet.extend(ack.to_be_bytes());
            packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
            let micros = step as u32 * 10_000;
            for word in [1_700_000_000 + number, micros, 40, 40] {
                file.extend(word.to_le_bytes());
            }
            file.extend(packet);
        }
    }
    fs::write(path, file).expect("a fresh folder");
}

fn one(path: &Path) -> FleetFile {
    fleet_files(&[path.to_owned()]).expect("a file").remove(0)
}

fn part(file: &FleetFile, options: &FleetOptions) -> FleetPart {
    fleet_part(file, options, 1, &mut |_| ControlFlow::Continue(())).expect("nothing stops it")
}

/// The host of the capture of these clients.
fn host(clients: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.pcap");
    capture(&path, clients);
    let tables = part(&one(&path), &FleetOptions::default()).tables;
    super::rows::Rows(&tables[3]).word("host", 0).map(str::to_owned)
}

#[test]
fn the_host_is_the_end_that_most_connections_share_and_of_one_connection_the_nearer_end() {
    assert_eq!(host(&[1, 2, 3]).as_deref(), Some("10.0.0.9"), "three clients at a server");
    // The SYN-ACK comes 10 ms after the SYN, and the ACK 10 ms after that: both ends are as near.
    assert_eq!(host(&[1]).as_deref(), Some("10.0.0.1"), "the lowest");
    assert_eq!(host(&[]), None, "no connection");
}

#[test]
fn folders_are_searched_and_each_file_is_there_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path().canonicalize().expect("it is there");
    for name in ["b", "a/c", ".hidden/d", "a/.e"] {
        let path = at.join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a fresh folder");
        fs::write(path, name).expect("a fresh folder");
    }
    symlink(at.join("b"), at.join("a/link")).expect("a fresh folder");
    symlink(&at, at.join("a/up")).expect("a fresh folder");
    symlink(at.join("nothing"), at.join("a/dangling")).expect("a fresh folder");
    FleetFolder::begin(&at.join("out")).expect("a fresh folder");
    let names = |given: &[PathBuf]| -> Vec<String> {
        let below =
            |file: FleetFile| file.path.strip_prefix(&at).expect("below").display().to_string();
        fleet_files(given).expect("files").into_iter().map(below).collect()
    };
    assert_eq!(names(std::slice::from_ref(&at)), ["a/c", "a/dangling", "b"]);
    assert_eq!(names(&[at.join("b"), at.join("a/link"), at.join("a/.e")]), ["a/.e", "b"]);
    let found = fleet_files(std::slice::from_ref(&at)).expect("files");
    assert!(found[1].refused.is_some() && found[0].refused.is_none());
    let device = fleet_files(&[PathBuf::from("/dev/null")]);
    assert!(matches!(device, Err(FleetError::NotAFile(_))));
    assert!(matches!(fleet_files(&[at.join("out")]), Err(FleetError::NoFiles(_))));
}

/// Files of a data set, by table.
fn files(out: &Path) -> [Vec<String>; 4] {
    TABLES.map(|table| {
        let entries = fs::read_dir(out.join(table)).expect("a table").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    })
}

#[test]
fn a_part_is_there_whole_or_not_at_all_wherever_writing_ended() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, out) = (folder.path().join("x.pcap"), folder.path().join("out"));
    capture(&path, &[1, 2]);
    let options = FleetOptions::default();
    let file = one(&path);
    let set = FleetFolder::begin(&out).expect("a fresh folder");
    assert!(matches!(FleetFolder::begin(&out), Err(FleetError::AtWork(_))));
    set.take(part(&file, &options)).expect("a fresh folder");
    drop(set);
    let whole = files(&out);
    let [connections, causes, remedies, _] = &whole;
    assert_eq!((connections.len(), causes.len(), remedies.len()), (1, 1, 0));
    // Killed before the row of the file was written, and while another table was.
    for table in [0, 1] {
        let name = &whole[table][0];
        fs::remove_file(out.join("files").join(&whole[3][0])).expect("it is there");
        let partial = name.replace(".parquet", ".partial");
        fs::write(out.join(TABLES[table]).join(partial), "half").expect("writable");
        fs::write(out.join("causes/of-another.parquet"), "not ours").expect("writable");
        let set = FleetFolder::begin(&out).expect("a data set");
        assert!(!set.has(&file, &options));
        assert_eq!(files(&out)[0], [""; 0]);
        assert_eq!(files(&out)[1], ["of-another.parquet"]);
        set.take(part(&file, &options)).expect("a data set");
        fs::remove_file(out.join("causes/of-another.parquet")).expect("it was left alone");
        assert_eq!(files(&out), whole);
    }
}

#[test]
fn rows_of_another_state_of_a_capture_are_replaced_and_bad_files_are_tried_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, out) = (folder.path().join("x.pcap"), folder.path().join("out"));
    let options = FleetOptions::default();
    fs::write(&path, "no capture").expect("a fresh folder");
    let set = FleetFolder::begin(&out).expect("a fresh folder");
    let bad = part(&one(&path), &options);
    assert!(bad.error.as_deref().is_some_and(|why| why.contains("x.pcap")), "{:?}", bad.error);
    set.take(bad).expect("a fresh folder");
    assert!(!set.has(&one(&path), &options));
    capture(&path, &[1]);
    let states = [
        options.clone(),
        FleetOptions { host: Some("edge".to_owned()), ..options.clone() },
        FleetOptions { predict: true, ..options.clone() },
    ];
    for options in &states {
        assert!(!set.has(&one(&path), options));
        set.take(part(&one(&path), options)).expect("a data set");
        assert!(set.has(&one(&path), options));
        assert_eq!(set.parts().len(), 1);
        assert_eq!(files(&out)[3].len(), 1);
    }
}
