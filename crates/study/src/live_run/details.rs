//! What an emulation says beside its events, as plain data for reports.

use super::programs::word;
use ackord_live::{
    EmulationReport, EndReport, SettingOutcome, SettingTold, SimulatedKernels, TcpInfo, TcpSample,
};
use ackord_report::live::{
    DeviceCounts, HostKernel, KernelConnection, KernelView, LatenessBucket, LiveCommand,
    LiveDetails, LiveHost, LiveSetting, RealTime, SettingWord, SimulatedTime, TrustWord,
};
use ackord_scenario::{Scenario, Transport};
use ackord_uml::Kernel;
use ackord_units::{Span, Time};
use ackord_wire::{NodeId, Side};

pub(super) fn of(
    scenario: &Scenario,
    report: &EmulationReport,
    kernels: Option<&SimulatedKernels>,
    commands: Vec<LiveCommand>,
) -> LiveDetails {
    LiveDetails {
        trust: match (kernels, report.lateness.is_within_budget()) {
            (Some(_), _) => TrustWord::SimulatedTime,
            (None, true) => TrustWord::WithinBudget,
            (None, false) => TrustWord::Untrustworthy,
        },
        real_time: kernels.is_none().then(|| real_time(report)),
        simulated_time: kernels.map(|kernels| simulated_time(scenario, report, kernels, &commands)),
        hosts: report.hosts.iter().map(|host| live_host(scenario, host)).collect(),
        connections: connections(scenario, report),
        commands,
    }
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

fn millis(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e6
}

fn simulated_time(
    scenario: &Scenario,
    report: &EmulationReport,
    kernels: &SimulatedKernels,
    commands: &[LiveCommand],
) -> SimulatedTime {
    let kernel = |(node, kernel): (&NodeId, &Kernel)| HostKernel {
        host: scenario.node(*node).name.clone(),
        kernel: kernel.name.clone(),
        release: kernel.release.clone(),
        hz: kernel.hz,
        source: kernel.source.to_string(),
        sha256: kernel.hash.clone(),
    };
    SimulatedTime {
        took_s: report.took.as_secs_f64(),
        kernels: kernels.kernels.iter().map(kernel).collect(),
        exact: commands.is_empty(),
        device: device(report),
    }
}

fn device(report: &EmulationReport) -> DeviceCounts {
    let counts = &report.counts;
    DeviceCounts {
        entered: counts.entered,
        delivered: counts.delivered,
        ignored: counts.ignored,
        malformed: counts.malformed,
        refused: counts.refused,
        too_many: counts.too_many,
        made: counts.made,
        without_bytes: counts.without_bytes,
    }
}

fn real_time(report: &EmulationReport) -> RealTime {
    let late = &report.lateness;
    let bucket = |(edge, packets): &(Span, u64)| LatenessBucket {
        up_to_us: micros(*edge),
        packets: *packets,
    };
    RealTime {
        took_s: report.took.as_secs_f64(),
        scheduling: if report.realtime_priority { "real-time" } else { "ordinary" },
        packets: late.packets,
        p50_us: micros(late.p50),
        p99_us: micros(late.p99),
        max_us: micros(late.max),
        budget_us: micros(late.budget),
        histogram: report.lateness_histogram.iter().map(bucket).collect(),
        device: device(report),
    }
}

fn live_host(scenario: &Scenario, host: &ackord_live::HostReport) -> LiveHost {
    let refused = host.refused.iter().map(|(what, errno)| LiveSetting {
        of: None,
        setting: what.clone(),
        asked: "to be set".to_owned(),
        outcome: SettingWord::Instead,
        detail: format!("refuses: {}", errno.desc()),
    });
    let told = host.settings.iter().map(setting);
    LiveHost {
        name: scenario.node(host.node).name.clone(),
        place: if host.ours { "ours" } else { "kernel" },
        settings: told.chain(refused).collect(),
        counters: host.counters.counted().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

fn setting(told: &SettingTold) -> LiveSetting {
    LiveSetting {
        of: None,
        setting: told.knob.clone(),
        asked: told.asked.clone(),
        outcome: match told.outcome {
            SettingOutcome::Set(_) => SettingWord::Set,
            SettingOutcome::Already(_) => SettingWord::Already,
            SettingOutcome::Instead(_) => SettingWord::Instead,
        },
        detail: told.outcome.detail().to_owned(),
    }
}

fn connections(scenario: &Scenario, report: &EmulationReport) -> Vec<KernelConnection> {
    let is_tcp = |end: &&EndReport| {
        let flow = scenario.flows.get(end.endpoint.flow.0 as usize);
        flow.is_some_and(|flow| flow.transport() == Transport::Tcp)
    };
    let mut ends: Vec<&EndReport> = report.ends.iter().filter(is_tcp).collect();
    ends.sort_by_key(|end| end.endpoint);
    ends.into_iter().map(|end| connection(scenario, report, end)).collect()
}

fn connection(scenario: &Scenario, report: &EmulationReport, end: &EndReport) -> KernelConnection {
    let flow = &scenario.flows[end.endpoint.flow.0 as usize];
    let host = match end.endpoint.side {
        Side::Client => flow.client,
        Side::Server => flow.server,
    };
    let ended_at = end.closed_at.unwrap_or(Time::ZERO + report.took);
    let mine = |sample: &&TcpSample| sample.endpoint == end.endpoint;
    let samples = report.samples.iter().filter(mine).map(|it| view(it.at, &it.info)).collect();
    let failed =
        end.failure.map(|(call, errno)| format!("{} failed: {}", call.word(), errno.desc()));
    let refused = end.options_refused.iter();
    let refused = refused.map(|(option, errno)| format!("{option} was refused: {}", errno.desc()));
    let failed: Vec<String> = failed.into_iter().chain(refused).collect();
    KernelConnection {
        flow: flow.name.clone(),
        end: word(end.endpoint.side),
        host: scenario.node(host).name.clone(),
        sends: flow.sends == end.endpoint.side,
        failed: (!failed.is_empty()).then(|| failed.join("; ")),
        last: end.last.as_ref().map(|info| view(ended_at, info)),
        samples,
    }
}

fn view(at: Time, info: &TcpInfo) -> KernelView {
    KernelView {
        at_s: at.as_secs_f64(),
        cwnd_bytes: info.cwnd().get(),
        ssthresh_bytes: info.ssthresh().map(|ssthresh| ssthresh.get()),
        srtt_ms: millis(info.srtt),
        min_rtt_ms: info.min_rtt.map(millis),
        rto_ms: millis(info.rto),
        delivery_rate_bit_s: info.delivery_rate.as_bits_per_sec() as f64,
        bytes_acked: info.bytes_acked.get(),
        bytes_received: info.bytes_received.get(),
        data_segments_out: u64::from(info.data_segs_out),
        retransmitted_segments: u64::from(info.total_retrans),
        timeouts: info.timeouts.map(|timeouts| u64::from(timeouts.total)),
        reported_duplicates: u64::from(info.dsack_dups),
    }
}
