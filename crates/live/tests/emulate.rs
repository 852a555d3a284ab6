//! Emulations between stock kernels, and between a kernel and our own TCP.

use crate::common::{alone, assert_timely, late, possible, timely};
use ackord_events::{EndpointId, Event, Sink};
use ackord_live::{CommandOutcome, EmulationOptions, EmulationReport, HostCommand, emulate};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, IpVersion, Side, decode, host_address};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

fn scenario(name: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library(name).expect("it comes along");
    file.with_overrides(changes).check().unwrap_or_else(|errors| panic!("{name}: {errors}"))
}

/// What was told.
#[derive(Default)]
struct Told {
    delivered: u64,
    dropped: u64,
    completed: u64,
    datagrams: (u64, u64),
}

impl Sink for Told {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { bytes, .. } => self.delivered += bytes.get(),
            Event::PacketDropped { .. } => self.dropped += 1,
            Event::TransferCompleted { .. } => self.completed += 1,
            Event::DatagramSent { .. } => self.datagrams.0 += 1,
            Event::DatagramDelivered { .. } => self.datagrams.1 += 1,
            _ => {}
        }
    }
}

fn run(options: EmulationOptions) -> Option<(EmulationReport, Told)> {
    let mut told = Told::default();
    let report = possible(emulate(options, &mut told, &mut |_| ControlFlow::Continue(())))?;
    late(report.lateness);
    Some((report, told))
}

const QUICK: &[(&str, &str)] =
    &[("links.wifi.delay", "5 ms"), ("flows.download.traffic.size", "1 MB"), ("duration", "20 s")];

#[test]
fn two_kernels_move_a_transfer_over_a_lossy_path_and_the_run_ends_with_it() {
    let _alone = alone();
    let scenario = scenario("lossy-wifi", QUICK);
    let options = EmulationOptions::new(scenario).expect("a descriptor");
    let Some((report, told)) = run(options) else { return };
    assert!(!report.stopped, "{report:#?}");
    assert!(report.took < Span::from_secs(19), "it ended with its flow: {}", report.took);
    assert_eq!(told.delivered, 1_000_000);
    let ours: Vec<bool> = report.hosts.iter().map(|host| host.ours).collect();
    assert_eq!(ours, [false, false]);
    assert!(report.hosts.iter().all(|host| host.counters.value("TcpInSegs") > 100));
    assert!(report.counts.entered > 900 && report.counts.malformed == 0, "{:?}", report.counts);
    assert!(!report.samples.is_empty() && report.lateness.packets > 900);
}

#[test]
fn either_end_may_be_our_own_tcp() {
    let _alone = alone();
    for side in [Side::Client, Side::Server] {
        let scenario = scenario("lossy-wifi", QUICK);
        let flow = &scenario.flows[0];
        let ours = if side == Side::Client { flow.client } else { flow.server };
        let mut options = EmulationOptions::new(scenario).expect("a descriptor");
        options.ours.insert(ours);
        let Some((report, told)) = run(options) else { return };
        assert_eq!((report.stopped, told.delivered), (false, 1_000_000));
        assert!(report.took < Span::from_secs(19), "{side:?}: it ended with its flow");
        assert!(report.counts.made > 100, "our packets are made: {:?}", report.counts);
    }
}

/// A path with a middlebox between a base station and a mobile host, with something to do for it.
fn with_box(proxy: &str) -> Scenario {
    let changes = [("proxies.base.proxy", proxy), ("duration", "30 s"), ("record.captures", "[]")];
    scenario("fading-access-point", &changes)
}

/// Programs move a file from the first flow's sender to its receiver; what came out.
fn move_file(scenario: Scenario, len: usize) -> Option<(EmulationReport, Vec<u8>, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let sent = crate::common::random_file(&folder.path().join("file"), len);
    let flow = scenario.flows[0].clone();
    let (from, to) = match flow.sends {
        Side::Client => (flow.client, flow.server),
        Side::Server => (flow.server, flow.client),
    };
    let address = host_address(from, IpVersion::V4);
    let path = folder.path().display();
    let serve = format!(
        "import socket\nlisten = socket.create_server(('{address}', 8000))\nwhile True:\n \
         peer, _ = listen.accept()\n peer.sendall(open('{path}/file', 'rb').read())\n peer.close()"
    );
    // Until the server listens; a box may accept a connection before it does.
    let fetch = format!(
        "import socket, time\ngot = b''\nwhile not got:\n time.sleep(0.1)\n try:\n  \
         server = socket.create_connection(('{address}', 8000), 20)\n  \
         while more := server.recv(65536): got += more\n \
         except OSError: pass\nopen('{path}/got', 'wb').write(got)"
    );
    let command = |host, script: String, side, (starts_at, serves)| HostCommand {
        host,
        argv: vec!["python3".to_owned(), "-c".to_owned(), script],
        environment: Vec::new(),
        starts_at,
        ends: vec![EndpointId { flow: FlowId(0), side }],
        serves,
        stdout: None,
        stderr: None,
    };
    let serves = (None, true);
    let fetches = (Some(Time::ZERO), false);
    let mut options = EmulationOptions::new(scenario).expect("a descriptor");
    options.commands = vec![
        command(from, serve, flow.sends, serves),
        command(to, fetch, flow.sends.other(), fetches),
    ];
    let (report, _) = run(options)?;
    let got = std::fs::read(folder.path().join("got")).unwrap_or_default();
    Some((report, sent, got))
}

#[test]
fn real_programs_get_what_was_sent_through_every_middlebox() {
    let _alone = alone();
    if !crate::common::installed(&["python3"]) {
        return;
    }
    for proxy in ["snoop", "i-tcp"] {
        let Some((report, sent, got)) = move_file(with_box(proxy), 200_000) else { return };
        assert_eq!(report.commands[1], CommandOutcome::Exited(0), "{proxy}: {report:#?}");
        assert!(got == sent, "{proxy}: {} bytes, not as sent", got.len());
        assert!(!report.stopped, "it ends with the command");
        assert_eq!((report.counts.without_bytes, report.counts.malformed), (0, 0), "{proxy}");
        assert!(report.counts.made > 0, "{proxy} had something to do: {:?}", report.counts);
    }
}

#[test]
fn taps_show_whole_packets_and_a_run_ends_when_it_is_told_to() {
    let _alone = alone();
    timely(|| {
        let scenario = scenario("lossy-wifi", &[("flows.download.traffic.size", "1 GB")]);
        assert!(!scenario.record.captures.is_empty());
        let mut options = EmulationOptions::new(scenario).expect("a descriptor");
        let seen = Rc::new(RefCell::new((0_u64, 0_u64)));
        let seen_by_tap = Rc::clone(&seen);
        options.taps = Some(Box::new(move |tapped| {
            let mut seen = seen_by_tap.borrow_mut();
            match decode(tapped.bytes) {
                Ok(decoded) if decoded.ip.ip_len == tapped.original_len => seen.0 += 1,
                Ok(_) | Err(_) => seen.1 += 1,
            }
        }));
        let mut told = Told::default();
        let half_a_second = Time::ZERO + Span::from_millis(500);
        let report = emulate(options, &mut told, &mut |now| match now >= half_a_second {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        let Some(report) = possible(report) else { return };
        assert!(report.stopped);
        late(report.lateness);
        assert_timely!(report.took < Span::from_secs(2), "{}", report.took);
        let (whole, other) = *seen.borrow();
        // Nearly all of it is TCP; kernels also say hello in ICMPv6, to nobody here.
        assert_eq!(other, 0, "beside {whole} whole ones");
        assert_timely!(whole > 300, "{whole} packets");
    });
}

#[test]
fn datagrams_cross_from_kernel_to_kernel_and_from_ours_to_a_kernel() {
    let _alone = alone();
    timely(|| {
        let changes = [
            ("flows.*.traffic", r#"{ kind = "cbr", rate = "1 Mbit/s", packet = "500 B" }"#),
            ("duration", "1 s"),
        ];
        for sender_is_ours in [false, true] {
            let scenario = scenario("one-flow", &changes);
            let flow = &scenario.flows[0];
            let sender = if flow.sends == Side::Client { flow.client } else { flow.server };
            let mut options = EmulationOptions::new(scenario.clone()).expect("a descriptor");
            if sender_is_ours {
                options.ours.insert(sender);
            }
            let Some((report, told)) = run(options) else { return };
            // 250 a second; a few are under way at the end.
            let (sent, delivered) = told.datagrams;
            assert!(
                sent <= 255 && delivered <= sent,
                "{delivered} of {sent}, ours: {sender_is_ours}"
            );
            assert_timely!(sent >= 200, "{sent} sent, ours: {sender_is_ours}");
            assert_timely!(delivered + 30 > sent, "{delivered} of {sent}");
            assert_eq!(report.counts.delivered, delivered, "{:?}", report.counts);
            let read: u64 = report.ends.iter().map(|end| end.datagrams).max().unwrap_or(0);
            assert_timely!(read + 5 >= delivered, "the application read {read} of {delivered}");
        }
    });
}
