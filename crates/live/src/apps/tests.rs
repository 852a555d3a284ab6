//! Every workload against itself over the loopback device: what its ends tell is what the
//! simulator's tell, and what the kernel counts is what they wrote.

use super::build::application_of;
use super::{
    AppEvent, AppNews, Application, Apps, AppsRemains, Call, EndReport, KernelEnd, Sampling,
};
use crate::clock::Clock;
use crate::tcp_info::TcpInfo;
use ackord_events::{EndpointId, Event, Sink};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_sim::{Simulation, start_time};
use ackord_testing::{assert_timely, timely};
use ackord_traffic::{DATAGRAM_HEADERS, Transfer};
use ackord_traffic::{Transport, WorkloadChoice};
use ackord_units::Choice as _;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, Side};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const SEED: u64 = 7;
/// A test that is not over by then has hung.
const PATIENCE: Span = Span::from_secs(60);

/// Flows with these workloads between two hosts.
fn scenario(traffic: &[&str]) -> Scenario {
    let mut text = String::from(
        "version = 1\nname = \"loopback\"\npurpose = \"a test\"\nsource = \"a test\"\nseed = 7\n\
         duration = \"1000 s\"\n[hosts.one]\n[hosts.other]\n[[links]]\nname = \"path\"\n\
         from = \"one\"\nto = \"other\"\nrate = \"1 Gbit/s\"\ndelay = \"10 us\"\n",
    );
    for (number, traffic) in traffic.iter().enumerate() {
        text += &format!(
            "[[flows]]\nname = \"flow-{number}\"\nfrom = \"one\"\nto = \"other\"\n\
             traffic = {traffic}\n"
        );
    }
    ScenarioFile::new("loopback", text).check().expect("a sound scenario")
}

/// Both ends of every flow on an address of loopback that no other test uses, nor another process.
fn ends(scenario: &Scenario, host: u8) -> Vec<KernelEnd> {
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = Ipv4Addr::new(127, 64 | high & 63, low, host);
    let address = |port| SocketAddr::new(IpAddr::V4(own), port);
    let mut ends = Vec::new();
    for (number, flow) in scenario.flows.iter().enumerate() {
        let (client, server) = (address(20_000 + number as u16), address(10_000));
        for side in [Side::Client, Side::Server] {
            let (local, remote) = match side {
                Side::Client => (client, server),
                Side::Server => (server, client),
            };
            let application = application_of(SEED, flow, side);
            let kind = match &application {
                Application::Tcp(_) => SockType::Stream,
                Application::DatagramSource(_) | Application::DatagramSink => SockType::Datagram,
            };
            let socket = socket(AddressFamily::Inet, kind, SockFlag::SOCK_CLOEXEC, None);
            ends.push(KernelEnd {
                endpoint: EndpointId { flow: FlowId(number as u32), side },
                local,
                remote,
                application,
                start: start_time(SEED, flow),
                options: Vec::new(),
                socket: socket.expect("a socket"),
            });
        }
    }
    ends
}

/// Runs `ends` until `enough` of what was told, and gives everything that was told.
fn run(ends: Vec<KernelEnd>, enough: impl Fn(&[AppNews]) -> bool) -> AppsRemains {
    let clock = Clock::start();
    let mut apps = Apps::start(ends, clock, often(10), false, None).expect("started");
    let mut told = Vec::new();
    while !enough(&told) {
        assert!(clock.now() < Time::ZERO + PATIENCE, "hung after {told:#?}");
        let mut waited = [PollFd::new(apps.as_fd(), PollFlags::POLLIN)];
        poll(&mut waited, PollTimeout::from(100u16)).expect("waited");
        told.append(&mut apps.news());
    }
    let mut remains = apps.finish().expect("ended");
    told.append(&mut remains.news);
    AppsRemains { news: told, ..remains }
}

fn closed(told: &[AppNews]) -> usize {
    told.iter().filter(|news| news.what == AppEvent::Closed).count()
}

/// What is told of transfers, by end and by whether it began or is complete. (Whether a key is
/// echoed before the next one is pressed depends on the path.)
type Told = BTreeMap<(EndpointId, &'static str), Vec<Transfer>>;

struct Collected(Told);

impl Sink for Collected {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        let (endpoint, word, index, bytes) = match event {
            Event::TransferBegan { endpoint, index, bytes } => (endpoint, "began", index, bytes),
            Event::TransferCompleted { endpoint, index, bytes } => {
                (endpoint, "completed", index, bytes)
            }
            _ => return,
        };
        self.0.entry((endpoint, word)).or_default().push(Transfer { index, bytes });
    }
}

fn told_by_the_simulator(scenario: &Scenario) -> Told {
    let mut simulation = Simulation::new(scenario, SEED).expect("built");
    let mut collected = Collected(Told::new());
    simulation.run_until(Time::ZERO + scenario.duration, &mut collected);
    assert!(simulation.is_over() && simulation.now() < Time::ZERO + scenario.duration);
    collected.0
}

fn told_by_the_apps(news: &[AppNews]) -> Told {
    let mut told = Told::new();
    for news in news {
        let (word, transfer) = match news.what {
            AppEvent::Began(transfer) => ("began", transfer),
            AppEvent::Completed(transfer) => ("completed", transfer),
            _ => continue,
        };
        told.entry((news.endpoint, word)).or_default().push(transfer);
    }
    told
}

/// A workload of every kind that ends, with little to wait for.
const WORKLOADS: &[&str] = &[
    r#"{ kind = "bulk", size = "3 MB" }"#,
    r#"{ kind = "paced", message = "700 B", interval = "1 ms", messages = 100 }"#,
    r#"{ kind = "transfers", size = "50 kB", size_distribution = "pareto", gap = "5 ms", count = 9 }"#,
    r#"{ kind = "request", request = "200 B", response = "20 kB", think = "1 ms", gap = "2 ms", count = 8 }"#,
    r#"{ kind = "write-write-read", head = "50 B", body = "50 B", reply = "100 B", gap = "1 ms", count = 3 }"#,
    r#"{ kind = "telnet", gap = "2 ms", count = 12 }"#,
    r#"{ kind = "web", reading = "3 ms", count = 2 }"#,
    r#"{ kind = "on-off", rate = "50 Mbit/s", on = "5 ms", off = "5 ms", count = 6 }"#,
];

/// Sampling each so many milliseconds.
fn often(millis: u64) -> Sampling {
    Sampling { every: Span::from_millis(millis), after: Span::ZERO }
}

#[test]
fn every_workload_completes_against_itself_and_tells_what_the_simulator_s_tells() {
    let of_tcp = WorkloadChoice::MECHANISMS.iter().filter(|one| {
        let workload = WorkloadChoice::named(one.name).expect("listed");
        workload.config().transport() == Transport::Tcp
    });
    for mechanism in of_tcp {
        let kind = format!("kind = \"{}\"", mechanism.name);
        assert!(WORKLOADS.iter().any(|traffic| traffic.contains(&kind)), "{kind} is not tried");
    }
    let scenario = scenario(WORKLOADS);
    let remains = run(ends(&scenario, 1), |told| closed(told) == 2 * WORKLOADS.len());
    assert_eq!(told_by_the_apps(&remains.news), told_by_the_simulator(&scenario));
    for pair in remains.reports.chunks(2) {
        let [client, server] = pair else { panic!("two ends a flow") };
        assert_eq!((client.written, server.written), (server.read, client.read));
        for end in pair {
            assert_eq!(end.failure, None);
            assert_sound(end);
        }
    }
    let sent = |flow: usize| remains.reports[2 * flow].written;
    assert_eq!(sent(0), Bytes(3_000_000));
    assert_eq!(sent(1), Bytes(70_000));
}

/// What the kernel counted is what the application wrote and read.
fn assert_sound(end: &EndReport) {
    let info = end.last.expect("asked before the socket was closed");
    // A SYN and a FIN each are a byte of sequence space.
    let acked = info.bytes_acked.get() - end.written.get();
    assert!(acked <= 2, "{acked} bytes more acknowledged than written: {end:#?}");
    assert!(info.bytes_received.get() - end.read.get() <= 2, "{end:#?}");
    assert_eq!(info.state, TcpInfo::CLOSED);
    assert!(info.cwnd_segments >= 1 && info.snd_mss > Bytes(500), "{info:#?}");
    assert!(info.segs_out >= info.data_segs_out && info.segs_in >= info.data_segs_in);
    if end.written > Bytes::ZERO {
        assert!(info.data_segs_out > 0 && info.srtt > Span::ZERO, "{info:#?}");
        assert!(info.srtt < Span::from_secs(1), "{info:#?}");
        assert!(info.rto >= Span::from_millis(1) && info.rto < Span::from_secs(5), "{info:#?}");
    }
    assert!(end.established_at.is_some() && end.closed_at > end.established_at);
}

#[test]
fn a_question_of_two_writes_is_two_segments() {
    let scenario = scenario(&[
        r#"{ kind = "write-write-read", head = "50 B", body = "50 B", reply = "100 B", gap = "1 ms", count = 5 }"#,
    ]);
    let remains = run(ends(&scenario, 2), |told| closed(told) == 2);
    let [asks, answers] = &remains.reports[..] else { panic!("two ends") };
    let sent = |end: &EndReport| end.last.map(|info| info.data_segs_out);
    assert_eq!(sent(asks), Some(10), "two for each of five questions");
    assert_eq!(sent(answers), Some(5));
}

#[test]
fn a_pause_of_transfers_begins_when_the_last_byte_is_acknowledged() {
    timely(|| {
        let gap = Span::from_millis(30);
        let scenario =
            scenario(&[r#"{ kind = "transfers", size = "200 kB", gap = "30 ms", count = 4 }"#]);
        let remains = run(ends(&scenario, 3), |told| closed(told) == 2);
        let mut began = Vec::new();
        let mut completed = Vec::new();
        for news in &remains.news {
            match news.what {
                AppEvent::Began(_) => began.push(news.at),
                AppEvent::Completed(_) => completed.push(news.at),
                _ => {}
            }
        }
        assert_eq!((began.len(), completed.len()), (4, 4));
        for (completed, next) in completed.iter().zip(&began[1..]) {
            let pause = next.saturating_since(*completed);
            // The acknowledgment of what was read at once may be before the reader's own clock
            // reading by as long as a turn of the thread takes.
            assert_timely!(pause + Span::from_millis(5) >= gap, "{pause} after {completed}");
            assert_timely!(pause < gap * 10, "nothing woke the writer: {pause}");
        }
    });
}

#[test]
fn a_transfer_without_end_runs_until_it_is_told_to_stop() {
    let scenario = scenario(&[r#""bulk""#]);
    let samples = |told: &[AppNews]| {
        told.iter().filter(|news| matches!(news.what, AppEvent::Sampled(_))).count()
    };
    let remains = run(ends(&scenario, 4), |told| samples(told) >= 10);
    assert_eq!(closed(&remains.news), 0);
    let [sends, receives] = &remains.reports[..] else { panic!("two ends") };
    assert!(receives.read > Bytes(1_000_000), "{receives:#?}");
    let last = sends.last.expect("asked when it was cut off");
    assert_eq!(last.state, TcpInfo::ESTABLISHED);
    assert!(last.bytes_acked <= sends.written + Bytes(1));
    let mut acked = Bytes::ZERO;
    for news in &remains.news {
        if let AppEvent::Sampled(info) = &news.what
            && news.endpoint == sends.endpoint
        {
            assert!(info.bytes_acked >= acked, "counters never go back");
            acked = info.bytes_acked;
        }
    }
    assert!(acked > Bytes(1_000_000));
}

#[test]
fn datagrams_leave_at_their_rate_and_arrive() {
    timely(|| {
        let traffic = r#"{ kind = "cbr", rate = "8 Mbit/s", packet = "1000 B" }"#;
        let scenario = scenario(&[traffic]);
        let clock = Clock::start();
        let remains =
            run(ends(&scenario, 5), |_| clock.now() >= Time::ZERO + Span::from_millis(300));
        let lasted = clock.now().as_nanos() / 1_000_000 + 1;
        let [source, sink] = &remains.reports[..] else { panic!("two ends") };
        assert_eq!((source.failure, sink.failure, source.datagrams_refused), (None, None, 0));
        // One a millisecond from the first on: never early, and those of a late turn follow at once.
        // The thread began a little after the clock.
        let sent = source.datagrams;
        assert!(sent <= lasted, "{sent} datagrams in {lasted} ms");
        assert_timely!(sent + 100 >= 300, "{sent} datagrams in {lasted} ms");
        assert_eq!(source.written, (Bytes(1_000) - DATAGRAM_HEADERS) * sent);
        // The last may not have been read when the run ended.
        assert!(sink.datagrams <= sent, "{sink:#?}");
        assert_timely!(sink.datagrams + 1 >= sent, "{sink:#?}");
        assert_eq!(sink.read, Bytes(972) * sink.datagrams);
    });
}

#[test]
fn a_connection_that_nobody_accepts_is_told_with_its_errno() {
    let scenario = scenario(&[r#"{ kind = "bulk", size = "1 kB" }"#]);
    let client = ends(&scenario, 6).into_iter().take(1).collect();
    let failed =
        |told: &[AppNews]| told.iter().any(|news| matches!(news.what, AppEvent::Failed { .. }));
    let remains = run(client, failed);
    assert_eq!(remains.reports[0].failure, Some((Call::Connect, Errno::ECONNREFUSED)));
    assert_eq!(remains.reports[0].established_at, None);
}

#[test]
fn a_start_is_kept_and_two_ends_of_one_address_are_told_apart() {
    timely(|| {
        let scenario = scenario(&[r#"{ kind = "bulk", size = "1 kB" }"#; 5]);
        let mut ends = ends(&scenario, 7);
        for end in &mut ends {
            // The last flow first: whom a connection is for does not follow from their order.
            end.start = Time::ZERO + Span::from_millis(20 * (5 - u64::from(end.endpoint.flow.0)));
        }
        let starts: Vec<Time> = ends.iter().map(|end| end.start).collect();
        let remains = run(ends, |told| closed(told) == 10);
        for (report, start) in remains.reports.iter().zip(starts) {
            let established_at = report.established_at.expect("it stood");
            assert!(established_at >= start, "{report:#?}");
            assert_timely!(established_at < start + Span::from_millis(500), "{report:#?}");
            let (written, read) = match report.endpoint.side {
                Side::Client => (1_000, 0),
                Side::Server => (0, 1_000),
            };
            assert_eq!((report.written, report.read), (Bytes(written), Bytes(read)));
        }
    });
}
