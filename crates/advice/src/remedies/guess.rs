//! The first guess of a model, from the facts.

use super::allowance::{MOST_PACKETS, MOST_QUEUED};
use super::backoff::Backoff;
use super::facts::{Facts, LOSSES, PACKET};
use super::fit::RENO;
use super::model::{LossProcess, Model, Place, Traffic};
use super::stalls::Stalls;
use ackord_diagnose::Cause;
use ackord_live::Direction;

/// Longer connections are fitted by a part of this length, s.
const LONGEST_S: f64 = 60.0;

/// Where the path was never full and its packets show no trains, its rate may be this multiple of what was
/// seen.
const UNSEEN_RATE: f64 = 3.0;

/// Share of the packets of a run that the transfer may have at first: a correction may make it longer.
const SHARE_OF_PACKETS: f64 = 0.8;

/// A run with other flows lasts for so many times the observed time, and for so long more, s.
const RIVALS_GO_ON: f64 = 1.5;
const RIVALS_GO_ON_S: f64 = 0.5;

/// Headers of IPv4 and TCP with timestamps, bytes.
const HEADERS: f64 = 52.0;

/// The rate of a path that only small messages were seen on, bit/s.
const SMALL_TALK: f64 = 10e6;

/// Returns the first guess, and the range in which the rate of the path may be, as multiples of the guess's.
pub(super) fn guess(facts: &Facts, remarks: &mut Vec<String>) -> (Model, [f64; 2]) {
    let wire = |payload: f64| payload * PACKET / (PACKET - HEADERS);
    let capacity = facts.capacity.map_or(facts.rate, |trains| trains.max(facts.rate));
    let filled = facts.share(&[Cause::PathLimited, Cause::QueueingOwn, Cause::FastRecovery]) > 0.5
        && facts.queue_s > 0.0
        && matches!(traffic_of(facts), Traffic::Bulk { .. } | Traffic::Transfers { .. });
    let rate = wire(if filled { facts.rate } else { capacity });
    // Small messages show nothing of the rate, and it is nothing to them.
    let rate = if facts.stalls.is_some() { rate.max(SMALL_TALK) } else { rate };
    let rate_range = match facts.capacity {
        _ if filled => [1.0, 1.0],
        Some(_) => facts.capacity_range,
        None => [1.0, UNSEEN_RATE],
    };
    if !filled && facts.capacity.is_none() && facts.stalls.is_none() {
        remarks.push(
            "the capture shows no bottleneck: the highest rate seen is a lower bound of the path's"
                .to_owned(),
        );
    }
    // The shortest round trip is that of the connection's packets: full ones, or small writes.
    let packet = match facts.stalls {
        Some(stalls) => PACKET.min(stalls.head as f64 + HEADERS),
        None => PACKET,
    };
    let serialisation =
        if facts.bytes[0] as f64 > 3.0 * facts.mss { 8.0 * packet / rate } else { 0.0 };
    let one_way = ((facts.rtt_s - serialisation) / 2.0).max(10e-6);
    let mut model = Model::clean(rate, 2.0 * one_way, facts.bytes[0]);
    model.direction = facts.stalls.map_or(facts.direction, |stalls| stalls.writer);
    model.ack_delay_s = facts.stalls.and_then(|stalls| stalls.ack_delay_s);
    if facts.backoff == Some(Backoff::Half) {
        model.congestion = RENO.to_owned();
    }
    model.place = facts.place.unwrap_or(Place::Server);
    model.air_s = one_way * air_share(facts, remarks);
    model.wired_s = one_way - model.air_s;
    let seen = ((facts.queue_s * rate / (8.0 * PACKET)).round() as u64).min(MOST_QUEUED);
    let overflowed = facts.on(&[Cause::FastRecovery]) > 0.0;
    model.buffer =
        if overflowed { seen.max(4) } else { seen.max(model.bdp_packets() as u64).max(20) };
    model.buffer = model.buffer.min(MOST_QUEUED);
    model.traffic = traffic_of(facts);
    model.loss = loss_of(facts, rate);
    reordering(&mut model, facts);
    model.outages = facts.outages.clone();
    let shared = facts.share(&[Cause::QueueingOthers, Cause::UnfairShare]) > 0.2;
    if model.outages.is_empty() && !facts.delays.is_empty() && !shared {
        (model.outages, model.outages_hold) = (facts.delays.clone(), true);
    }
    if facts.share(&[Cause::ReceiverWindow]) > 0.1 {
        let by_rate = facts.rate * facts.rtt_s / 8.0;
        model.receive_buffer = Some(facts.window.unwrap_or(by_rate).max(2.0 * facts.mss) as u64);
    }
    if facts.share(&[Cause::SendBuffer]) > 0.2 {
        model.send_buffer = Some((facts.rate * facts.rtt_s / 8.0).max(2.0 * facts.mss) as u64);
    }
    if shared {
        model.rivals = 1;
    }
    shorten(&mut model, facts, remarks);
    (model, rate_range)
}

/// Which part of the delay is behind the router, 0 to 1.
fn air_share(facts: &Facts, remarks: &mut Vec<String>) -> f64 {
    if let ([Some(client), Some(server)], Some(Place::Router)) = (facts.rtt_to_s, facts.place)
        && client + server > 0.0
    {
        return (client / (client + server)).clamp(0.02, 0.98);
    }
    if facts.stalls.is_none() {
        remarks.push("half of the round trip is taken to be behind the gateway".to_owned());
    }
    0.5
}

fn traffic_of(facts: &Facts) -> Traffic {
    let [bytes, back] = facts.bytes;
    let phases = &facts.phases;
    let count = phases.len() as u64;
    let idle = facts.on(&[Cause::ClientIdle, Cause::ServerIdle]);
    let gaps = count.saturating_sub(1).max(1) as f64;
    if let Some(stalls) = facts.stalls {
        return small_writes(facts, &stalls, idle);
    }
    if count < 2 || idle < 0.005 * facts.active_s {
        return Traffic::Bulk { bytes };
    }
    if back >= 20 * count {
        let (client, server) = (facts.on(&[Cause::ClientIdle]), facts.on(&[Cause::ServerIdle]));
        let (asks, answers) = match facts.direction {
            Direction::Download => (client, server),
            Direction::Upload => (server, client),
        };
        return Traffic::Questions {
            request: back / count,
            response: (bytes / count).max(1),
            count,
            gap_s: asks / gaps,
            think_s: answers / count as f64,
        };
    }
    let sizes = phases.iter().map(|phase| (phase.bytes as u64).max(1)).collect();
    Traffic::Transfers { sizes, gap_s: idle / gaps }
}

/// Small writes: messages, or exchanges.
fn small_writes(facts: &Facts, stalls: &Stalls, idle: f64) -> Traffic {
    let Stalls { head, body, count, interval_s, .. } = *stalls;
    if !stalls.replies {
        return Traffic::Paced { message: head, interval_s, messages: count };
    }
    let read = facts.bytes[usize::from(stalls.writer == facts.direction)];
    let gap_s = idle / count.saturating_sub(1).max(1) as f64;
    Traffic::TwoWrites { head, body, reply: (read / count).max(1), count, gap_s }
}

/// Losses that no queue explains: by what their recovery and its aftermath took.
fn loss_of(facts: &Facts, rate: f64) -> LossProcess {
    let by_chance = facts.on(&LOSSES);
    let by_queue = facts.on(&[Cause::FastRecovery]);
    if facts.share(&LOSSES) < 0.01 || facts.events_beside <= 0.0 {
        return LossProcess::None;
    }
    let part = by_chance / (by_chance + by_queue);
    let (events, lost) = (facts.events_beside.max(1.0) * part, facts.lost_beside * part);
    let per_event = lost / events;
    if per_event > 2.0 && events >= 3.0 {
        let bad_s = per_event * 8.0 * PACKET / rate;
        return LossProcess::Bursts { good_s: (facts.active_s / events - bad_s).max(bad_s), bad_s };
    }
    LossProcess::Random { share: (lost / facts.segments.max(1.0)).clamp(1e-6, 0.5) }
}

fn reordering(model: &mut Model, facts: &Facts) {
    if facts.share(&[Cause::SpuriousReordering]) < 0.01 {
        return;
    }
    let seen = facts.reordered.max(facts.repeated - facts.lost).max(1.0);
    let share = (seen / facts.segments.max(1.0)).clamp(1e-4, 0.5);
    model.reordering = Some((share, facts.rtt_s / 4.0));
}

/// A long connection is simulated in part: as long as [`LONGEST_S`], and as many packets as a run may have.
fn shorten(model: &mut Model, facts: &Facts, remarks: &mut Vec<String>) {
    let busy_s = facts.active_s + model.pauses_s();
    // Other flows fill the link until the run is over.
    let others = if model.rivals > 0 { model.rate_bit_s / (8.0 * PACKET) } else { 0.0 };
    model.duration_s = 0.0;
    let room = SHARE_OF_PACKETS * MOST_PACKETS as f64 - others * RIVALS_GO_ON_S;
    let fits = room / (model.packets() + others * RIVALS_GO_ON * busy_s).max(1.0);
    let least = if model.outages.is_empty() { 0.0 } else { 1.0 / model.outages.len() as f64 };
    let part = (LONGEST_S / facts.active_s).min(fits).max(least);
    if part > 0.0 && part < 1.0 {
        model.take_part(part);
        remarks.push(format!("{:.2} % of the transfer is simulated", 100.0 * model.part));
    }
    let busy_s = facts.active_s * model.part + model.pauses_s();
    model.duration_s = match model.rivals {
        0 => 3.0 * busy_s + model.spread_s() + 10.0,
        _ => RIVALS_GO_ON * busy_s + RIVALS_GO_ON_S,
    };
}
