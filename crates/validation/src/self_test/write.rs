//! What a case leaves: three captures, its scenario, and the truth.

use super::facts::{FLOW, Facts, index};
use super::peers::{Change, rewrite};
use super::plan::{Plan, Suite};
use super::run::{Place, SelfTestError, run};
use super::score::invented;
use super::truth::{TrueInterval, truth};
use ackord_diagnose::Cause;
use ackord_live::Direction;
use ackord_live::TcpInfo;
use ackord_wire::{FlowAddresses, FlowNodes, IpVersion, Side};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

/// The truth of a case, as in `truth.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TruthFile {
    /// The case.
    pub case: String,
    /// Its family.
    pub family: String,
    /// Part of the self-test.
    #[serde(default)]
    pub suite: Suite,
    /// What was injected; nothing in a clean case.
    pub injected: Vec<Cause>,
    /// Who opened the connection under test.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Which end sends the data.
    pub sends: String,
    /// First packet to last.
    pub duration_s: f64,
    /// The round trip of a full packet where nothing waits, s.
    pub base_rtt_s: f64,
    /// For each place of a capture: how long after the connection's first packet left the client the
    /// first one was there, s. Add it to the times of a capture that count from its first packet.
    pub began_s: [(Place, f64); 3],
    /// Every instant.
    pub intervals: Vec<TrueInterval>,
    /// What the kernels counted, the client's and the server's.
    pub kernels: [Option<KernelTotals>; 2],
    /// True if no byte was dropped on the path or sent twice; absent in cases kept by older programs.
    #[serde(default)]
    pub whole: Option<bool>,
    /// Places whose captures are scored.
    #[serde(default = "everywhere")]
    pub scored: Vec<Place>,
    /// True if the captures have one direction only: an unknown cause is then as right as the true one.
    #[serde(default)]
    pub one_way: bool,
}

fn everywhere() -> Vec<Place> {
    Place::ALL.to_vec()
}

impl TruthFile {
    /// Returns true if nothing of the connection was lost or sent twice, so that no time can be lost to
    /// that. Without `whole` the kernels' counters decide; also the truth must have no such cause.
    pub(super) fn is_whole(&self) -> bool {
        let counted = || self.kernels.iter().all(|it| it.is_some_and(|it| it.retransmitted == 0));
        let lost = |one: &TrueInterval| {
            invented(one.cause) || one.also.is_some_and(invented) || one.cause == Cause::SynLoss
        };
        self.whole.unwrap_or_else(counted) && !self.intervals.iter().any(lost)
    }
}

/// What a kernel counted by the end of a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct KernelTotals {
    /// For how long it had something to send or under way.
    pub busy_s: f64,
    /// For how long the peer's window held it back.
    pub rwnd_limited_s: f64,
    /// For how long its own send buffer did.
    pub sndbuf_limited_s: f64,
    /// Segments retransmitted.
    pub retransmitted: u32,
    /// Retransmission timeouts.
    pub timeouts: u16,
    /// Segments that the peer had twice.
    pub dsack_dups: u32,
    /// How often packets were seen to overtake each other.
    pub reord_seen: u32,
}

/// Runs a case and leaves `server.pcapng`, `router.pcapng`, `client.pcapng`, `truth.json` `scenario.toml` and
/// `kernels.csv` in `folder`.
///
/// # Errors
/// [`SelfTestError`].
pub fn make_case(plan: &Plan, folder: &Path) -> Result<TruthFile, SelfTestError> {
    std::fs::create_dir_all(folder)?;
    let (facts, scenario) = run(plan, folder)?;
    let flow = &scenario.flows[0];
    let nodes = FlowNodes { client: flow.client, server: flow.server };
    let addresses = FlowAddresses::of(FLOW, nodes, IpVersion::V4);
    let began = facts.packets[index(Side::Client)].first().map_or(0.0, |first| first.at);
    let first_seen = |place: usize| facts.first_seen[place].map_or(0.0, |at| at - began);
    let mut truth = TruthFile {
        case: plan.name(),
        family: plan.family.to_owned(),
        suite: plan.suite,
        injected: plan.injected.clone(),
        client: addresses.client,
        server: addresses.server,
        sends: if plan.direction == Direction::Download { "server" } else { "client" }.to_owned(),
        duration_s: facts.last_seen - began,
        base_rtt_s: plan.base_rtt_s(),
        began_s: [0, 1, 2].map(|place| (Place::ALL[place], first_seen(place))),
        intervals: truth(plan, &facts),
        kernels: [totals(&facts, 0), totals(&facts, 1)],
        whole: Some(facts.is_whole()),
        scored: plan.scored.to_vec(),
        one_way: plan.changes.iter().any(|change| matches!(change, Change::OneWay(_))),
    };
    rewrite(plan, folder, began, &mut truth)?;
    let json = serde_json::to_vec_pretty(&truth).map_err(std::io::Error::from)?;
    std::fs::write(folder.join("truth.json"), json)?;
    std::fs::write(folder.join("scenario.toml"), plan.text())?;
    std::fs::write(folder.join("kernels.csv"), kernels_csv(&facts, began))?;
    Ok(truth)
}

fn totals(facts: &Facts, end: usize) -> Option<KernelTotals> {
    let last: &TcpInfo = &facts.samples[end].last()?.1;
    Some(KernelTotals {
        busy_s: last.busy_for.as_secs_f64(),
        rwnd_limited_s: last.rwnd_limited_for.as_secs_f64(),
        sndbuf_limited_s: last.sndbuf_limited_for.as_secs_f64(),
        retransmitted: last.total_retrans,
        timeouts: last.timeouts.map_or(0, |timeouts| timeouts.total),
        dsack_dups: last.dsack_dups,
        reord_seen: last.reord_seen,
    })
}

/// What the kernels said, line by line.
fn kernels_csv(facts: &Facts, began: f64) -> String {
    let mut text =
        "at_s,end,state,cwnd,ssthresh,unacked,sacked,lost,notsent,snd_wnd,srtt_ms,rto_ms,\
                    busy_ms,rwnd_limited_ms,sndbuf_limited_ms,timeouts,dsack\n"
            .to_owned();
    for (end, samples) in ["client", "server"].into_iter().zip(&facts.samples) {
        for (at, info) in samples {
            let ms = |span: ackord_units::Span| span.as_secs_f64() * 1e3;
            let _ = writeln!(
                text,
                "{:.4},{end},{:?},{},{},{},{},{},{},{},{:.1},{:.0},{:.1},{:.1},{:.1},{},{}",
                at - began,
                info.ca_state,
                info.cwnd_segments,
                info.ssthresh_segments.map_or(String::new(), |it| it.to_string()),
                info.unacked_segments,
                info.sacked_segments,
                info.lost_segments,
                info.notsent.get(),
                info.snd_wnd.map_or(0, |window| window.get()),
                ms(info.srtt),
                ms(info.rto),
                ms(info.busy_for),
                ms(info.rwnd_limited_for),
                ms(info.sndbuf_limited_for),
                info.timeouts.map_or(0, |timeouts| timeouts.total),
                info.dsack_dups,
            );
        }
    }
    text
}
