//! Captures of 802.11 with known truth: a download through an access point whose frames are repeated, lost, or
//! transmitted at a lower rate.

use crate::synthetic::{Direction, Download, Fate, MSS, Offered, OnAir, on_air};
use ackord_diagnose::{
    Cause, Connection, Interval, Options, RadioFacts, Reader, diagnose, without_progress,
};
use std::io::Cursor;

/// 4000 segments over 20 ms and a link that needs no repetitions.
const USUAL: Download = Download {
    segments: 4_000,
    wired_us: 20_000,
    window: 128,
    is_stamped: false,
    on_air: |_| Fate::delivered(&[54]),
};

/// Returns the connection of a download, and what its capture contains.
fn of(download: &Download) -> (Connection, OnAir) {
    let (file, truth) = on_air(download);
    let reader = Reader::from_reader("air", Box::new(Cursor::new(file)), 0).expect("a capture");
    let (diagnosis, _) =
        diagnose(vec![reader], &Options::default(), &mut without_progress).expect("an answer");
    assert_eq!(diagnosis.connections.len(), 1);
    let connection = diagnosis.connections.into_iter().next().expect("a connection");
    assert_eq!(connection.bytes_by[1], u64::from(download.segments) * MSS as u64);
    (connection, truth)
}

fn seconds(connection: &Connection, causes: &[Cause]) -> f64 {
    let of = connection.causes.iter().filter(|share| causes.contains(&share.cause));
    of.map(|share| share.seconds).sum()
}

/// Returns the longest interval of a cause.
fn longest(connection: &Connection, cause: Cause) -> &Interval {
    let of_cause = connection.intervals.iter().filter(|one| one.cause == cause);
    let longest = of_cause.max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)));
    longest.unwrap_or_else(|| panic!("no {cause:?}: {:?}", connection.causes))
}

fn radio(connection: &Connection) -> RadioFacts {
    connection.path.radio.expect("frames of 802.11")
}

/// Causes of a loss.
const OF_LOSS: [Cause; 10] = [
    Cause::FastRecovery,
    Cause::RandomLoss,
    Cause::Outage,
    Cause::TimeoutTail,
    Cause::TimeoutWindow,
    Cause::TimeoutSmallWindow,
    Cause::TimeoutLostRetransmission,
    Cause::SpuriousDelay,
    Cause::SpuriousReordering,
    Cause::AckPath,
];

#[test]
fn repetitions_on_the_air_are_no_retransmissions() {
    let repeats = |offered: &Offered| match (offered.direction, offered.number % 10) {
        (Direction::FromServer, 3) => Fate::delivered(&[54, 54, 24]),
        (Direction::FromClient, 4) => Fate::delivered(&[54, 54]),
        _ => Fate::delivered(&[54]),
    };
    let (connection, truth) = of(&Download { on_air: repeats, ..USUAL });
    assert_eq!(connection.retransmitted_bytes, 0);
    assert_eq!((connection.path.lost, connection.path.reordered), (0, 0));
    assert_eq!(seconds(&connection, &OF_LOSS), 0.0, "{:?}", connection.causes);
    assert!(connection.artefacts.is_empty(), "{:?}", connection.artefacts);
    let radio = radio(&connection);
    assert_eq!((radio.frames, radio.retries), (truth.frames, truth.retries));
    assert!(truth.retries[1] == 800 && truth.retries[0] > 150, "{truth:?}");
    for side in [0, 1] {
        let share = truth.retries[side] as f64 / truth.frames[side] as f64;
        assert_eq!(radio.retry_share[side], Some(share));
        assert_eq!(radio.rate_bit_s[side], Some(54e6));
        let airtime_s = truth.airtime_us[side] as f64 / 1e6;
        assert!(radio.airtime_s[side].is_some_and(|found| (found - airtime_s).abs() < 1e-9));
        let active_s =
            connection.duration_s - seconds(&connection, &[Cause::ClientIdle, Cause::ServerIdle]);
        let share = radio.airtime_share[side].expect("a share");
        assert!((share - airtime_s / active_s).abs() < 1e-9, "{share}");
    }
}

#[test]
fn a_frame_lost_after_its_last_attempt_is_a_random_loss() {
    let loses = |offered: &Offered| match offered.number {
        1_000 if offered.direction == Direction::FromServer && !offered.is_retransmission => {
            Fate::lost(&[54, 54, 48, 36, 24, 12, 6])
        }
        _ => Fate::delivered(&[54]),
    };
    let (connection, _) = of(&Download { on_air: loses, ..USUAL });
    assert_eq!(connection.retransmitted_bytes, MSS as u64);
    assert_eq!(seconds(&connection, &[Cause::FastRecovery]), 0.0, "{:?}", connection.causes);
    let loss = longest(&connection, Cause::RandomLoss);
    assert!(loss.confidence >= 0.8, "{loss:?}");
    let all: Vec<_> = connection.intervals.iter().map(|one| &one.reason[..]).collect();
    assert!(
        loss.reason.starts_with("Loss on the air: 1 segment of ")
            && loss.reason.contains(
                "The frame was sent 7 times on the air at 6.0 Mbit/s to 54.0 Mbit/s within 9.6 ms."
            ),
        "{all:#?}"
    );
}

#[test]
fn attempts_prove_no_loss_on_the_air_where_most_frames_need_as_many() {
    let repeats = |offered: &Offered| match (offered.direction, offered.number) {
        (Direction::FromServer, 1_000) if !offered.is_retransmission => Fate::lost(&[54; 4]),
        (Direction::FromServer, number) if number % 2 == 0 => Fate::delivered(&[54; 4]),
        _ => Fate::delivered(&[54]),
    };
    let (connection, _) = of(&Download { on_air: repeats, ..USUAL });
    assert_eq!(connection.retransmitted_bytes, MSS as u64);
    let on_air = |one: &&Interval| one.reason.starts_with("Loss on the air");
    assert_eq!(connection.intervals.iter().find(on_air), None);
    let has_attempts =
        |one: &Interval| one.reason.contains("The frame was sent 4 times on the air");
    assert!(connection.intervals.iter().any(has_attempts), "{:?}", connection.intervals);
}

#[test]
fn a_queue_behind_a_rate_that_fell_is_its_own_and_names_the_rate() {
    let slows = |offered: &Offered| match (offered.direction, offered.number) {
        (Direction::FromServer, 2_000..) => Fate::delivered(&[6]),
        _ => Fate::delivered(&[54]),
    };
    let (connection, _) = of(&Download { on_air: slows, is_stamped: true, ..USUAL });
    assert_eq!(connection.retransmitted_bytes, 0);
    let queue = longest(&connection, Cause::QueueingOwn);
    assert!(queue.to_s - queue.from_s > 0.7 * connection.duration_s, "{:?}", connection.causes);
    let others = [Cause::QueueingOthers, Cause::Shaper, Cause::UnfairShare, Cause::Policer];
    assert_eq!(seconds(&connection, &others), 0.0, "{:?}", connection.causes);
    assert!(
        queue.reason.contains("mean rate 6.0 Mbit/s instead of 54.0 Mbit/s."),
        "{}",
        queue.reason
    );
}

#[test]
fn an_outage_with_frames_that_are_repeated_all_the_time_is_a_radio_outage() {
    let fades = |offered: &Offered| match offered.at_us {
        500_000..1_700_000 if offered.direction == Direction::FromServer => {
            Fate::lost(&[54, 48, 24, 12, 6, 6, 6])
        }
        _ => Fate::delivered(&[54]),
    };
    let (connection, truth) = of(&Download { on_air: fades, ..USUAL });
    let outage = longest(&connection, Cause::Outage);
    // 1.2 s, and the round trip in which the first frames were lost.
    assert!((1.15..1.25).contains(&(outage.to_s - outage.from_s)), "{:?}", connection.causes);
    assert!(outage.confidence > 0.89, "{outage:?}");
    let lead = "Radio outage: bytes were under way and nothing got through for ";
    let counts = outage.reason.strip_prefix(lead).and_then(|rest| rest.split_once(" ms, and "));
    let retries = counts.and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
    // The first of these frames were repeated before the last ACK had passed.
    let expected = truth.retries[1] * 95 / 100..=truth.retries[1];
    assert!(retries.is_some_and(|retries| expected.contains(&retries)), "{outage:?} {truth:?}");
}

#[test]
fn a_delay_by_repetitions_names_these() {
    let delays = |offered: &Offered| match offered.number {
        1_000 if offered.direction == Direction::FromServer && !offered.is_retransmission => {
            Fate::delivered(&[54, 48, 36, 24, 12, 6, 6, 6, 6, 6, 6, 6, 6])
        }
        _ => Fate::delivered(&[54]),
    };
    let (connection, _) = of(&Download { on_air: delays, ..USUAL });
    let sent = "sent 13 times on the air at 6.0 Mbit/s to 54.0 Mbit/s within 428 ms.";
    let path = longest(&connection, Cause::PathLimited);
    assert!(path.to_s - path.from_s > 0.4, "{:?}", connection.causes);
    assert!(path.reason.ends_with(&format!(" A frame from the server was {sent}")), "{path:?}");
    // The sender's timer expired meanwhile.
    let spurious = longest(&connection, Cause::SpuriousDelay);
    assert!(spurious.reason.ends_with(&format!(" The frame was {sent}")), "{spurious:?}");
}
