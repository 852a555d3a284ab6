//! From an account to the answer.

use crate::account::Wait;
use crate::causes::{Judged, Path, Policer, Sharing, Verdicts, judge};
use crate::diagnosis::{seconds, since};
use crate::flow::air::Air;
use crate::flow::{Connection, Noted};
use crate::{
    Artefact, ArtefactKind, Cause, CauseShare, Connection as Answer, Interval, Limits, PathFacts,
    PolicerFacts, RadioFacts, Vantage,
};
use ackord_units::Span;

/// Frames named for a cause at most.
const FRAMES: usize = 8;

/// The answer for one connection.
pub(crate) fn answer(id: u32, connection: &Connection, sharing: &Sharing) -> Answer {
    let Verdicts { judged, paths, policers } = judge(connection, sharing);
    let bytes_by = [0, 1].map(|side: usize| connection.halves[side].counts.bytes);
    let sender = connection.sender();
    let (vantage, vantage_confidence) = vantage(connection, sender);
    let causes = shares(&judged);
    let duration_s = since(connection.last, connection.began);
    let radio = radio(connection, duration_s - idle(&causes));
    let retransmitted_bytes = connection.halves.iter().map(|half| half.counts.retransmitted).sum();
    Answer {
        id,
        client: connection.ends[0].socket(),
        server: connection.ends[1].socket(),
        began_ns: connection.began.as_nanos(),
        duration_s,
        packets: [0, 1].map(|side: usize| connection.halves[side].counts.packets),
        bytes: bytes_by.iter().sum(),
        bytes_by,
        retransmitted_bytes,
        vantage,
        vantage_confidence,
        rtt_to_s: [0, 1].map(|side: usize| connection.halves[side].to.least.map(seconds)),
        path: PathFacts {
            radio,
            ..facts(connection, sender, &paths[sender], policers[sender].as_ref(), &judged)
        },
        causes,
        limits: limits(&judged),
        intervals: intervals(connection, &judged),
        remedies: Vec::new(),
        artefacts: artefacts(connection),
    }
}

/// Seconds by cause, greatest first.
fn shares(judged: &[Judged]) -> Vec<CauseShare> {
    let mut nanos = [0_u64; Cause::ALL.len()];
    let mut sure = [0.0; Cause::ALL.len()];
    let mut shown: Vec<Vec<(Span, u64)>> = vec![Vec::new(); Cause::ALL.len()];
    for one in judged {
        let (index, span) = (one.cause.index(), one.stretch.span());
        nanos[index] += span.as_nanos();
        sure[index] += span.as_secs_f64() * one.confidence;
        shown[index].push((span, one.stretch.frames[1]));
    }
    let mut shares: Vec<CauseShare> = Vec::new();
    for cause in Cause::ALL {
        let index = cause.index();
        if nanos[index] == 0 {
            continue;
        }
        let seconds = seconds(Span::from_nanos(nanos[index]));
        shown[index].sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut frames: Vec<u64> =
            shown[index].iter().take(FRAMES).map(|(_, frame)| *frame).collect();
        frames.sort_unstable();
        frames.dedup();
        shares.push(CauseShare { cause, seconds, confidence: sure[index] / seconds, frames });
    }
    shares.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.cause.cmp(&b.cause)));
    shares
}

/// Returns the account along the time. Neighbours of one cause become one interval; a group of folded
/// stretches becomes one interval of the cause that owns most of it.
fn intervals(connection: &Connection, judged: &[Judged]) -> Vec<Interval> {
    let mut intervals: Vec<Interval> = Vec::new();
    let mut longest = 0.0;
    let is_group = |one: &Judged, next: &Judged| {
        let (one, next) = (&one.stretch, &next.stretch);
        one.is_folded() && next.is_folded() && (one.from, one.to) == (next.from, next.to)
    };
    for group in judged.chunk_by(is_group) {
        let Some(Judged { stretch, cause, confidence, reason }) = greatest(group) else { continue };
        let from_s = since(stretch.from, connection.began);
        let to_s = since(stretch.to, connection.began);
        let span = to_s - from_s;
        match intervals.last_mut() {
            Some(last) if last.cause == *cause => {
                let before = last.to_s - last.from_s;
                last.confidence = (last.confidence * before + confidence * span) / (before + span);
                last.to_s = to_s;
                last.frames[1] = stretch.frames[1];
                if span > longest {
                    longest = span;
                    last.reason.clone_from(reason);
                }
            }
            _ => {
                longest = span;
                intervals.push(Interval {
                    from_s,
                    to_s,
                    cause: *cause,
                    confidence: *confidence,
                    frames: stretch.frames,
                    reason: reason.clone(),
                });
            }
        }
    }
    intervals
}

/// Returns the longest stretch of the cause that owns most of a group.
fn greatest(group: &[Judged]) -> Option<&Judged> {
    let of_cause = |cause: Cause| group.iter().filter(move |one| one.cause == cause);
    let seconds =
        |cause: Cause| of_cause(cause).map(|one| one.stretch.span().as_nanos()).sum::<u64>();
    let cause = group.iter().map(|one| one.cause).max_by_key(|cause| seconds(*cause))?;
    of_cause(cause).max_by_key(|one| one.stretch.span())
}

/// The three states of RFC 4898's `SndLim`, by what was waited for.
fn limits(judged: &[Judged]) -> Limits {
    let mut limits = Limits::default();
    for Judged { stretch, cause, .. } in judged {
        let span = stretch.span().as_secs_f64();
        match (stretch.wait, cause) {
            (Wait::ReceiverWindow | Wait::SlowReader | Wait::ZeroWindow, _) => {
                limits.rwin_s += span
            }
            (Wait::Idle(_) | Wait::Transit | Wait::Queued | Wait::Nagle, _)
            | (_, Cause::SendBuffer) => {
                limits.snd_s += span;
            }
            _ => limits.cwnd_s += span,
        }
    }
    limits
}

fn facts(
    connection: &Connection,
    side: usize,
    path: &Path,
    policer: Option<&Policer>,
    judged: &[Judged],
) -> PathFacts {
    let half = &connection.halves[side];
    let some = |value: f64| (value > 0.0).then_some(value);
    let has = |cause: Cause| judged.iter().any(|one| one.cause == cause);
    let of_side = connection.losses.iter().filter(|loss| usize::from(loss.side) == side);
    PathFacts {
        base_rtt_s: some(path.base),
        rate_bit_s: some(path.rate * 8.0),
        queue_s: some(path.queue_most),
        lost: of_side.clone().map(|loss| u64::from(loss.retransmitted)).sum(),
        segments: half.counts.segments,
        loss_events: of_side.count() as u64,
        reordered: half.counts.reordered,
        mss: half.mss(),
        policer: policer.filter(|_| has(Cause::Policer)).map(|policer| PolicerFacts {
            rate_bit_s: policer.rate.map(|rate| rate * 8.0),
            burst_bytes: policer.burst.round() as u64,
            shared: policer.shared,
        }),
        shaper_rate_bit_s: some(path.queued_rate * 8.0).filter(|_| has(Cause::Shaper)),
        between: connection.between.as_deref().copied().or_else(|| connection.relayed()),
        radio: None,
    }
}

/// Returns the time in which an application had nothing to send, s.
fn idle(causes: &[CauseShare]) -> f64 {
    let idle = |share: &&CauseShare| matches!(share.cause, Cause::ClientIdle | Cause::ServerIdle);
    causes.iter().filter(idle).map(|share| share.seconds).sum()
}

/// Returns the frames of a connection on the air, if the capture shows these, in `active_s` seconds of active time.
fn radio(connection: &Connection, active_s: f64) -> Option<RadioFacts> {
    let airs = [0, 1].map(|side: usize| connection.halves[side].air.as_deref());
    if airs.iter().all(Option::is_none) {
        return None;
    }
    let totals = airs.map(|air| air.map(|air| air.totals).unwrap_or_default());
    let rates = airs.map(|air| air.and_then(Air::median_kbit_s));
    let airtime_s =
        [0, 1].map(|side: usize| rates[side].map(|_| totals[side].airtime_us as f64 / 1e6));
    Some(RadioFacts {
        frames: totals.map(|one| one.frames),
        retries: totals.map(|one| one.retries),
        retry_share: totals
            .map(|one| (one.frames > 0).then(|| one.retries as f64 / one.frames as f64)),
        rate_bit_s: rates.map(|rate| rate.map(|rate| 1e3 * f64::from(rate))),
        airtime_s,
        airtime_share: airtime_s
            .map(|airtime| airtime.filter(|_| active_s > 0.0).map(|airtime| airtime / active_s)),
    })
}

/// Where the capture was taken, seen from whoever sends most.
fn vantage(connection: &Connection, sender: usize) -> (Vantage, f64) {
    if connection.between.is_some() {
        return (Vantage::BothEnds, 0.95);
    }
    let to = |side: usize| connection.halves[side].to.least.map(seconds);
    let (Some(near), Some(far)) = (to(sender), to(1 - sender)) else {
        return (Vantage::Unknown, 0.0);
    };
    let all = near + far;
    if all < 100e-6 {
        return (Vantage::Unknown, 0.2);
    }
    let share = near / all;
    let sure = |distance: f64| (0.6 + 2.0 * distance).min(0.98);
    match share {
        share if share < 0.15 => (Vantage::NearSender, sure(0.2 - share)),
        share if share > 0.85 => (Vantage::NearReceiver, sure(share - 0.8)),
        share => (Vantage::Between, sure(0.5 - (share - 0.5).abs())),
    }
}

/// Returns what is wrong with this connection in the capture.
fn artefacts(connection: &Connection) -> Vec<Artefact> {
    let mut found = Vec::new();
    let mut add = |kind, Noted { count, frame }: Noted, meaning: &str| {
        if count > 0 {
            found.push(Artefact { kind, count, frame, meaning: meaning.to_owned() });
        }
    };
    let missing = connection.halves.iter().map(|half| half.counts.missing);
    let missing = Noted {
        count: missing.clone().map(|noted| noted.count).sum(),
        frame: missing.map(|noted| noted.frame).max().unwrap_or(0),
    };
    let at_first = |is_so: bool| Noted { count: u64::from(is_so), frame: connection.began_frame };
    let lacking: u64 = connection.halves.iter().map(|half| half.counts.missing_bytes).sum();
    if !connection.is_one_way() {
        add(
            ArtefactKind::MissingPackets,
            missing,
            &format!(
                "{lacking} bytes were acknowledged that the capture does not have: it lost packets"
            ),
        );
    }
    let faults = connection.faults.as_deref().copied().unwrap_or_default();
    add(ArtefactKind::DuplicatedPackets, faults.copies, &copied(connection));
    add(
        ArtefactKind::ReorderedTimestamps,
        faults.backwards,
        "packets are in another order than their times: they were sorted",
    );
    add(
        ArtefactKind::ClockSet,
        faults.clock_set,
        "the clock of the capturing machine was set: its jump is left out of the connection's time",
    );
    add(
        ArtefactKind::SuperSegments,
        faults.long_segments,
        "segments longer than the MSS: a network card splits them after, or merged them before the capture point",
    );
    add(
        ArtefactKind::BeginsInTheMiddle,
        at_first(!connection.opened && connection.last > connection.began),
        "the connection was open before the capture began: its window scale is unknown",
    );
    add(
        ArtefactKind::OneDirection,
        at_first(connection.is_one_way()),
        "only one direction was captured: acknowledgments of its bytes are missing",
    );
    add(
        ArtefactKind::OptionsCut,
        faults.options_cut,
        "the snap length cut TCP options off: timestamps, SACK blocks and window scale may be missing",
    );
    found
}

/// Returns a sentence about the copies of packets in the capture.
fn copied(connection: &Connection) -> String {
    let waited = connection.relayed().and_then(|between| {
        let delays = between.delay.into_iter().flatten();
        delays.map(|delay| delay.most_s).reduce(f64::max)
    });
    match waited {
        Some(waited) => format!(
            "packets were captured at two interfaces; copies are not counted, and waited up to {:.1} ms between \
             the two",
            waited * 1e3
        ),
        None => "packets were captured twice; copies are not counted".to_owned(),
    }
}
