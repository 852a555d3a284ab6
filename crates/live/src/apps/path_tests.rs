//! Workloads between two stock kernels, over a modelled path.

use super::{AppEvent, AppNews, Apps, AppsRemains, KernelEnd, Sampling};
use crate::clock::Clock;
use crate::emulate::{Device, Directory, Emulator, Parts, RealTime, TunDevice};
use ackord_events::{EndpointId, NoSink};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_sys::{Inside, Namespace, NamespaceError, RouteSettings};
use ackord_testing::{assert_timely, skipped, timely};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, IpVersion, NodeId, Side, host_address};
use nix::sys::socket::{AddressFamily, SockType};

/// 20 Mbit/s and a round trip of 10 ms between two hosts.
fn scenario(flow: &str, rate: &str) -> Scenario {
    let text = format!(
        "version = 1\nname = \"kernels\"\npurpose = \"a test\"\nsource = \"a test\"\nseed = 7\n\
         duration = \"10 s\"\n[hosts.one]\n[hosts.other]\n[[links]]\nname = \"path\"\n\
         from = \"one\"\nto = \"other\"\nrate = \"{rate}\"\ndelay = \"5 ms\"\n\
         [[flows]]\nname = \"flow\"\nfrom = \"one\"\nto = \"other\"\n{flow}\n"
    );
    ScenarioFile::new("kernels", text).check().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Runs the only flow of `scenario` between two kernels, until it is over or `time` is; nothing
/// with a loud word where this machine does not allow it.
fn run(scenario: &Scenario, time: Span) -> Option<AppsRemains> {
    let mut namespaces = Vec::new();
    for node in [NodeId(0), NodeId(1)] {
        let v4 = (host_address(node, IpVersion::V4), 32);
        let mut inside = Inside::new(vec![v4]);
        inside.route = Some(RouteSettings::default());
        match Namespace::create(&inside) {
            Ok(namespace) => namespaces.push(namespace),
            Err(error @ NamespaceError::NotAllowed(_)) => {
                skipped(format_args!("namespaces need root or rootless TUN: {error}"));
                return None;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let clock = Clock::start();
    let devices = namespaces.iter_mut().enumerate().map(|(node, namespace)| {
        let device: Box<dyn Device> = Box::new(TunDevice::new(namespace.take_tun(), 1500));
        (NodeId(node as u16), device)
    });
    let devices = devices.collect();
    let directory = Directory::of_hosts(scenario);
    let timeline = RealTime::new(clock, true);
    let parts = Parts { scenario, seed: 7, devices, directory, timeline };
    let mut emulator = Emulator::new(parts).expect("built");
    let flow = &scenario.flows[0];
    let ends = [Side::Client, Side::Server].map(|side| {
        let endpoint = EndpointId { flow: FlowId(0), side };
        let host = usize::from(if side == Side::Client { flow.client.0 } else { flow.server.0 });
        let socket = namespaces[host].socket(AddressFamily::Inet, SockType::Stream);
        let socket = socket.expect("a socket made inside");
        KernelEnd::of(scenario, 7, endpoint, Vec::new(), socket)
    });
    let mut apps = Apps::start(ends.into(), clock, often(50), false, None).expect("started");
    emulator.watch(apps.as_fd());
    let mut news = Vec::new();
    let closed =
        |news: &[AppNews]| news.iter().filter(|news| news.what == AppEvent::Closed).count();
    let until = Time::ZERO + time;
    while closed(&news) < 2 && emulator.now() < until {
        emulator.turn(until, &mut NoSink).expect("turned");
        news.append(&mut apps.news());
    }
    let mut remains = apps.finish().expect("ended");
    news.append(&mut remains.news);
    Some(AppsRemains { news, ..remains })
}

/// Sampling each so many milliseconds.
fn often(millis: u64) -> Sampling {
    Sampling { every: Span::from_millis(millis), after: Span::ZERO }
}

#[test]
fn a_transfer_between_kernels_takes_what_the_path_makes_it_take() {
    timely(|| {
        let flow = "traffic = { kind = \"bulk\", size = \"1 MB\" }";
        let Some(remains) = run(&scenario(flow, "20 Mbit/s"), Span::from_secs(10)) else { return };
        let [client, server] = &remains.reports[..] else { panic!("two ends") };
        assert_eq!((client.failure, server.failure), (None, None));
        assert_eq!(server.read, Bytes(1_000_000));
        let began = client.established_at.expect("it stood");
        let took = server.closed_at.expect("it ended").saturating_since(began);
        // The bytes alone take 400 ms, and slow start a few round trips more.
        assert_timely!(took > Span::from_millis(400) && took < Span::from_secs(2), "{took}");
        let srtt = client.last.expect("asked").srtt;
        assert!(srtt >= Span::from_millis(10), "{srtt}");
    });
}

#[test]
fn a_pause_between_transfers_begins_when_the_acknowledgment_has_come_back() {
    timely(|| {
        let flow =
            "traffic = { kind = \"transfers\", size = \"20 kB\", gap = \"30 ms\", count = 5 }";
        let Some(remains) = run(&scenario(flow, "20 Mbit/s"), Span::from_secs(10)) else { return };
        let at = |of: fn(&AppEvent) -> bool| {
            remains.news.iter().filter(move |news| of(&news.what)).map(|news| news.at)
        };
        let completed = at(|what| matches!(what, AppEvent::Completed(_)));
        let began = at(|what| matches!(what, AppEvent::Began(_)));
        let pauses: Vec<Span> =
            completed.zip(began.skip(1)).map(|(last, next)| next.saturating_since(last)).collect();
        assert_eq!(pauses.len(), 4, "{:#?}", remains.news);
        for pause in &pauses {
            // The gap, and the acknowledgment's way back; the reader may have been told a little late.
            assert_timely!(*pause > Span::from_millis(33), "{pauses:?}");
        }
        // Nothing is waited for beyond that but a delayed acknowledgment, which may take 40 ms.
        assert_timely!(pauses.iter().any(|pause| *pause < Span::from_millis(80)), "{pauses:?}");
    });
}
