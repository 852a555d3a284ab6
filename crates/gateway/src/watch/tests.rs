//! A gateway that does nothing, asked by its control socket.

use super::*;
use crate::{Interface, Key};
use ackord_daemon::status::Process;
use ackord_events::{ProxyAct, ProxySending};
use ackord_testing::installed;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::PcapngReader;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A socket in a folder of its own.
struct Asked {
    folder: tempfile::TempDir,
    shared: Arc<Shared>,
    socket: ControlSocket,
}

impl Asked {
    fn new() -> Asked {
        let folder = tempfile::tempdir().expect("a folder");
        let shared = Arc::new(Shared::default());
        let path = folder.path().join("gateway.sock");
        let socket = listen(&path, Arc::clone(&shared)).expect("nobody is there");
        Asked { folder, shared, socket }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("gateway.sock")
    }
}

fn key() -> Key {
    Key {
        mobile: "192.0.2.7:50000".parse().expect("one"),
        fixed: "198.51.100.1:443".parse().expect("one"),
    }
}

fn request(of: Filter) -> CaptureRequest {
    CaptureRequest { of, span: Span::from_secs(60), size: Bytes(1 << 26) }
}

#[test]
fn a_status_arrives_as_it_was_published_with_the_heartbeat_of_the_moment() {
    let asked = Asked::new();
    let published = Status {
        flows: FlowCounts { known: 3, ..FlowCounts::default() },
        refused_injections: [("budget".to_owned(), 2), ("gone".to_owned(), 5)].into(),
        classes: vec![ClassStatus {
            standing: Standing::StoodDown { since_unix_s: 1.5, why: "slower".to_owned() },
            ..ClassStatus::default()
        }],
        ..Status::default()
    };
    asked.shared.publish(published.clone());
    let answered = status(&asked.path()).expect("it runs");
    let Process { heartbeat_ms, heartbeat_worst_ms, .. } = answered.process;
    assert!(heartbeat_ms > 0.0 && heartbeat_worst_ms >= heartbeat_ms);
    assert_eq!(answered.refused_in_all(), 7);
    assert_eq!(answered, Status { process: answered.process.clone(), ..published });
}

#[test]
fn a_status_of_another_version_is_read_as_far_as_it_is_known() {
    let text = r#"{"flows": 4, "a_later_field": {"x": 1}, "classes": [{"name": "all"}]}"#;
    let read: Status = serde_json::from_str(text).expect("tolerant");
    assert_eq!(
        (read.flows.known, read.flows.treated, read.classes[0].name.as_str()),
        (4, 0, "all")
    );
}

/// The very texts: whoever runs a gateway knows them, and scripts may.
#[test]
fn each_error_says_what_is_the_case_and_what_to_do() {
    let path = PathBuf::from("/run/ackord/gateway.sock");
    let (daemon, version) = (&GATEWAY, env!("CARGO_PKG_VERSION"));
    let why = "a reason".to_owned();
    for (error, text) in [
        (
            ControlError::NotRunning { daemon, path: path.clone() },
            "no gateway runs here: nobody listens at `/run/ackord/gateway.sock`; `ackord gateway run` \
             starts one, and --state says where another one listens"
                .to_owned(),
        ),
        (
            ControlError::RunsAlready { daemon, path: path.clone() },
            "a gateway runs here already (it listens at `/run/ackord/gateway.sock`); \
             `ackord gateway stop` ends it"
                .to_owned(),
        ),
        (
            ControlError::NotAllowed { daemon, path: path.clone() },
            "the gateway at `/run/ackord/gateway.sock` answers only the user whom it runs as, and root"
                .to_owned(),
        ),
        (
            ControlError::Silent { daemon, path: path.clone(), seconds: 2 },
            "the gateway at `/run/ackord/gateway.sock` does not answer within 2 s: it is stopped \
             (SIGSTOP) or hangs; the kernel forwards meanwhile"
                .to_owned(),
        ),
        (
            ControlError::Refused { daemon, why: why.clone() },
            "the gateway refuses: a reason".to_owned(),
        ),
        (
            ControlError::Garbled { daemon, path: path.clone(), version, why },
            format!(
                "what listens at `/run/ackord/gateway.sock` does not answer as a gateway of version \
                 {version} does: a reason"
            ),
        ),
        (
            ControlError::Io { path, source: std::io::Error::from_raw_os_error(libc::EROFS) },
            "cannot use the control socket `/run/ackord/gateway.sock`: Read-only file system (os error \
             30)"
                .to_owned(),
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn what_is_unknown_is_refused_with_what_there_is() {
    let asked = Asked::new();
    for (nonsense, why) in [
        ("\n", "EOF while parsing a value at line 2 column 0"),
        ("{}\n", "expected value at line 1 column 2"),
        (
            "\"dance\"\n",
            "unknown variant `dance`, expected one of `status`, `stop`, `reload`, `capture`",
        ),
        ("{\"capture\":{\"of\":{\"mobile\":\"x\"}}}\n", "invalid IP address syntax"),
    ] {
        let mut stream = UnixStream::connect(asked.path()).expect("it listens");
        stream.write_all(nonsense.as_bytes()).expect("room");
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).expect("an answer");
        let expected = format!("{{\"refused\":\"a request unknown here: {why}");
        assert!(answer.starts_with(&expected), "{answer} is not {expected}");
    }
}

#[test]
fn stop_is_a_wish_that_the_loop_sees() {
    let asked = Asked::new();
    let path = asked.path();
    let stopper = thread::Builder::new().spawn(move || stop(&path)).expect("a thread");
    while !asked.shared.is_to_stop() {
        thread::park_timeout(Duration::from_millis(1));
    }
    drop(asked.socket);
    stopper.join().expect("no panic").expect("it ended");
}

/// Plays a loop that sees some packets, while somebody captures; what was captured.
fn captured(of: Filter, mut play: impl FnMut(&mut Taps)) -> Vec<u8> {
    let asked = Asked::new();
    let mut reader = capture(&asked.path(), request(of)).expect("it runs");
    let mut taps = Taps::default();
    taps.renew(&asked.shared);
    assert!(taps.want(key()));
    thread::scope(|scope| {
        let bytes = scope.spawn(move || {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).expect("until it is over");
            bytes
        });
        play(&mut taps);
        taps.flush();
        drop(taps);
        bytes.join().expect("no panic")
    })
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(1_700_000_000_000_000_000 + nanos)
}

fn ip_packet() -> Vec<u8> {
    use ackord_wire::{Flags, IpFields, Payload, Segment, encode};
    let segment = Segment { flags: Flags::ACK, payload_len: 1_000, ..Segment::default() };
    let mut packet = Vec::new();
    let endpoints = key().endpoints(Interface::Lan(0));
    encode(endpoints, IpFields::default(), &segment, Payload::Zeros(1_000), &mut packet)
        .expect("sound");
    packet
}

fn played(taps: &mut Taps) {
    let (key, packet) = (key(), ip_packet());
    taps.seen(at(1), key, Interface::Lan(0), &packet);
    // As of each segment of a packet that offloading has put together.
    for _ in 0..45 {
        taps.decided(key, Decision::Kept);
    }
    taps.decided(key, Decision::Refused(ProxySending::Probe, "the budget is spent"));
    taps.flush();
    taps.decided(key, Decision::Told(ProxyAct::HoldBegan));
    taps.injected(at(2), (key, Interface::Lan(0)), &packet, ProxySending::Retransmission);
    taps.injected(at(3), (key, Interface::Wan), &packet[..40], ProxySending::Acknowledgment);
    let other = Key { mobile: "192.0.2.8:50000".parse().expect("one"), ..key };
    taps.seen(at(4), other, Interface::Lan(0), &packet);
    taps.seen(at(5), key, Interface::Lan(0), &packet);
    taps.decided(key, Decision::Removed("a duplicate"));
    taps.decided(key, Decision::LeftAlone("control"));
}

const COMMENTS: [&str; 4] = [
    "kept (45 times); refused probe whether the mobile host is back: the budget is spent",
    "held: the mobile host is out of reach; injected: retransmission",
    "injected: acknowledgment in the name of the mobile host",
    "removed: a duplicate; left alone: control",
];

#[test]
fn a_capture_has_the_packets_of_one_flow_and_what_was_decided() {
    let both = Filter::flow("198.51.100.1:443-192.0.2.7:50000").expect("either order");
    for filter in [both, Filter::Mobile(key().mobile.ip())] {
        let bytes = captured(filter, played);
        let mut reader = PcapngReader::new(&bytes[..]).expect("pcapng");
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet().expect("sound") {
            packets.push(packet);
        }
        let comments: Vec<_> = packets.iter().map(|one| one.comment.as_deref()).collect();
        assert_eq!(comments, COMMENTS.map(Some));
        let times: Vec<_> = packets.iter().map(|one| one.at).collect();
        assert_eq!(times, [1, 2, 3, 5].map(|nanos| Some(at(nanos))));
        let interfaces: Vec<_> = packets.iter().map(|one| one.interface).collect();
        assert_eq!(interfaces, [1, 1, 0, 1]);
        assert_eq!((packets[0].bytes.len(), packets[0].original_len), (192, 1_040));
    }
}

#[test]
fn wireshark_opens_it() {
    if !installed(&["tshark", "capinfos"]) {
        return;
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    let filter = Filter::Mobile(key().mobile.ip());
    std::fs::write(file.path(), captured(filter, played)).expect("room");
    let output = |program: &str, arguments: &[&str]| {
        let ran = Command::new(program).args(arguments).arg(file.path()).output().expect("runs");
        assert!(ran.status.success(), "{program}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text")
    };
    let fields = ["-T", "fields", "-e", "tcp.dstport", "-e", "frame.comment", "-r"];
    let expected: String = COMMENTS.map(|comment| format!("50000\t{comment}\n")).concat();
    assert_eq!(output("tshark", &fields), expected);
    let about = output("capinfos", &["-M"]);
    assert!(about.contains("Number of packets:   4") && about.contains("pcapng"), "{about}");
}

#[test]
fn what_finds_no_room_is_counted_and_told() {
    let bytes = captured(Filter::Mobile(key().mobile.ip()), |taps| {
        // Far more than wait at once, faster than a thread writes them.
        for nanos in 0..100_000 {
            taps.seen(at(nanos), key(), Interface::Lan(0), &[0x45; 40]);
        }
        taps.flush();
        // Again and again until one finds room.
        for nanos in 0..1_000 {
            thread::park_timeout(Duration::from_millis(1));
            taps.seen(at(nanos), key(), Interface::Lan(0), &[0x45; 40]);
            taps.flush();
        }
    });
    let mut reader = PcapngReader::new(&bytes[..]).expect("pcapng");
    let (mut packets, mut missed) = (0, 0);
    while let Some(packet) = reader.next_packet().expect("sound") {
        packets += 1;
        let told = packet.comment.as_deref().and_then(|comment| {
            comment.strip_prefix("before this ")?.strip_suffix(" packets found no room here")
        });
        missed += told.map_or(0, |count| count.parse::<u64>().expect("a number"));
    }
    assert_eq!(packets + missed, 101_000, "all are there or told");
}

#[test]
fn captures_are_bounded_in_number_time_and_size() {
    let asked = Asked::new();
    let filter = Filter::Mobile(key().mobile.ip());
    let refusal = |request: CaptureRequest| match capture(&asked.path(), request) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    let long = CaptureRequest { span: Span::from_secs(3601), ..request(filter) };
    assert!(refusal(long).is_some_and(|why| why.contains("at most 1 h") || why.contains("3600")));
    let large = CaptureRequest { size: Bytes(1 << 40), ..request(filter) };
    assert!(refusal(large).is_some_and(|why| why.contains("at most")));
    let running: Vec<_> =
        (0..4).map(|_| capture(&asked.path(), request(filter)).expect("room")).collect();
    assert!(refusal(request(filter)).is_some_and(|why| why.contains("4 captures")));
    // Whoever hangs up makes room.
    drop(running);
    // Sixty packets of a hundred bytes and more are too much for this one.
    let small = CaptureRequest { size: Bytes(2_000), ..request(filter) };
    let mut reader = loop {
        match capture(&asked.path(), small.clone()) {
            Ok(reader) => break reader,
            Err(_) => thread::park_timeout(Duration::from_millis(10)),
        }
    };
    let mut taps = Taps::default();
    taps.renew(&asked.shared);
    assert!(taps.want(key()));
    for nanos in 0..60 {
        taps.seen(at(nanos), key(), Interface::Lan(0), &[0x45; 100]);
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("it ends by itself");
    assert!((2_000..2_600).contains(&bytes.len()), "{}", bytes.len());
}

#[test]
fn a_capture_that_is_ended_has_whole_packets_only() {
    let asked = Asked::new();
    let mut reader =
        capture(&asked.path(), request(Filter::Mobile(key().mobile.ip()))).expect("runs");
    reader.wake_every(Duration::from_millis(20)).expect("a socket");
    let mut taps = Taps::default();
    taps.renew(&asked.shared);
    for nanos in 0..1_000 {
        taps.seen(at(nanos), key(), Interface::Lan(0), &[0x45; 40]);
    }
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 16];
    while bytes.is_empty() {
        bytes.extend(reader.read(&mut piece).map(|len| piece[..len].to_vec()).unwrap_or_default());
    }
    reader.end();
    loop {
        match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => bytes.extend(&piece[..len]),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
    }
    let mut reader = PcapngReader::new(&bytes[..]).expect("pcapng");
    while reader.next_packet().expect("no packet is cut short").is_some() {}
}

#[test]
fn a_capture_of_nothing_leaves_nothing_behind() {
    let asked = Asked::new();
    let short = CaptureRequest {
        span: Span::from_millis(500),
        ..request(Filter::Mobile(key().mobile.ip()))
    };
    let mut reader = capture(&asked.path(), short).expect("runs");
    let mut taps = Taps::default();
    taps.renew(&asked.shared);
    assert!(taps.want(key()));
    reader.read_to_end(&mut Vec::new()).expect("it ends by itself");
    // Its thread ends a moment after the connection.
    while taps.want(key()) {
        taps.renew(&asked.shared);
        thread::park_timeout(Duration::from_millis(1));
    }
}

#[test]
fn a_flow_is_named_by_its_ends() {
    let six = Filter::flow("[2001:db8::7]:50000 - [2001:db8:1::1]:443").expect("IPv6");
    assert!(matches!(six, Filter::Flow(one, other) if one.port() == 50_000 && other.is_ipv6()));
    let error = Filter::flow("192.0.2.7:50000-198.51.100.1").expect_err("a port is missing");
    assert!(error.contains("`198.51.100.1`") && error.contains("ADDRESS:PORT"), "{error}");
    assert!(Filter::flow("192.0.2.7:50000").expect_err("one end").contains("two ends"));
}
