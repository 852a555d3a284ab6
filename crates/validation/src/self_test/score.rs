//! What a diagnosis says of a capture, held against the truth, second by second.

use super::run::Place;
use super::truth::TrueInterval;
use super::write::TruthFile;
use ackord_diagnose::{Cause, Connection, Diagnosis};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// How many causes there are.
pub(super) const CAUSES: usize = Cause::ALL.len();

/// Seconds by true and by diagnosed cause, in the order of [`Cause::ALL`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix(pub Vec<Vec<f64>>);

/// Seconds, and how many of them are named rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// All.
    pub seconds: f64,
    /// Those named rightly at their instant.
    pub right: f64,
    /// Those named as it was right within one base round trip of the instant.
    pub near: f64,
}

/// What came of one capture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Score {
    /// Where it was taken.
    pub place: Place,
    /// Seconds by true and diagnosed cause.
    pub matrix: Matrix,
    /// Every second.
    pub all: Named,
    /// Those of the causes that were injected.
    pub injected: Named,
    /// Those truly lost: neither the applications', nor the path's own, nor the handshake's.
    pub lost: Named,
    /// Seconds said to be lost that were not.
    pub false_seconds: f64,
    /// Those of them that were not within a base round trip either.
    pub false_apart: f64,
    /// Seconds reported as lost to an outage, a timeout or random loss in a connection of which no byte
    /// was lost or sent twice, by cause.
    #[serde(default)]
    pub invented: Vec<(Cause, f64)>,
    /// True if no byte of the connection was lost or sent twice.
    #[serde(default)]
    pub whole: bool,
    /// Whether the connection was found at all.
    pub found: bool,
}

/// Returns true for causes that a connection cannot have of which no byte was lost or sent twice.
pub(super) fn invented(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Outage
            | Cause::RandomLoss
            | Cause::TimeoutTail
            | Cause::TimeoutWindow
            | Cause::TimeoutSmallWindow
            | Cause::TimeoutLostRetransmission
    )
}

impl Default for Matrix {
    fn default() -> Matrix {
        Matrix(vec![vec![0.0; CAUSES]; CAUSES])
    }
}

impl AddAssign<&Matrix> for Matrix {
    fn add_assign(&mut self, other: &Matrix) {
        for (row, more) in self.0.iter_mut().zip(&other.0) {
            row.iter_mut().zip(more).for_each(|(value, more)| *value += more);
        }
    }
}

impl AddAssign for Named {
    fn add_assign(&mut self, other: Named) {
        self.seconds += other.seconds;
        self.right += other.right;
        self.near += other.near;
    }
}

impl Named {
    /// The share named rightly.
    pub fn share(self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.right / self.seconds)
    }

    /// The share named rightly within a round trip.
    pub fn share_near(self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.near / self.seconds)
    }

    fn count(&mut self, seconds: f64, right: Right) {
        self.seconds += seconds;
        self.right += if right == Right::Here { seconds } else { 0.0 };
        self.near += if right == Right::Nowhere { 0.0 } else { seconds };
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    Here,
    Near,
    Nowhere,
}

/// What a capture can show.
#[derive(Clone, Copy)]
struct Shown {
    /// Other connections are in the capture.
    others: bool,
    /// Both directions are.
    both_ways: bool,
}

/// Where no other connection is in the capture nobody can say that its share is unfair: the path is full.
/// Where one direction is missing, an unknown cause is as right as the true one.
fn accepts(truth: &TrueInterval, said: Cause, shown: Shown) -> bool {
    let full = truth.cause == Cause::UnfairShare && said == Cause::PathLimited;
    let hidden = matches!(said, Cause::Unknown | Cause::CaptureArtefact) && !shown.both_ways;
    truth.cause == said || truth.also == Some(said) || (full && !shown.others) || hidden
}

/// Holds what was said of a capture against the truth.
pub(super) fn score(truth: &TruthFile, place: Place, said: &Diagnosis) -> Score {
    let ends = (truth.client, truth.server);
    let mine =
        |one: &&Connection| (one.client, one.server) == ends || (one.server, one.client) == ends;
    let found = said.connections.iter().find(mine);
    let shown = Shown { others: said.connections.len() > 1, both_ways: !truth.one_way };
    let mut score = Score {
        place,
        matrix: Matrix::default(),
        all: Named::default(),
        injected: Named::default(),
        lost: Named::default(),
        false_seconds: 0.0,
        false_apart: 0.0,
        invented: found.filter(|_| truth.is_whole()).map_or(Vec::new(), |connection| {
            let of = connection.causes.iter().filter(|share| invented(share.cause));
            of.map(|share| (share.cause, share.seconds)).collect()
        }),
        whole: truth.is_whole(),
        found: found.is_some(),
    };
    let shift = truth.began_s.iter().find(|one| one.0 == place).map_or(0.0, |one| one.1);
    let said: Vec<(f64, f64, Cause)> = found.map_or(Vec::new(), |connection| {
        let moved =
            |one: &ackord_diagnose::Interval| (one.from_s + shift, one.to_s + shift, one.cause);
        connection.intervals.iter().map(moved).collect()
    });
    // What happened before the capture's first packet is not in it.
    let begins = said.first().map_or(0.0, |first| first.0);
    let mut at = 0;
    for (number, one) in truth.intervals.iter().enumerate() {
        let mut from = one.from_s.max(begins);
        while said.get(at).is_some_and(|said| said.1 <= from) {
            at += 1;
        }
        let mut here = at;
        while from < one.to_s {
            let (to, cause) = match said.get(here) {
                Some(next) if next.0 > from => (next.0.min(one.to_s), Cause::Unknown),
                Some(next) => (next.1.min(one.to_s), next.2),
                None => (one.to_s, Cause::Unknown),
            };
            let right = if accepts(one, cause, shown) {
                Right::Here
            } else if near(truth, number, ((from + to) / 2.0, cause), shown) {
                Right::Near
            } else {
                Right::Nowhere
            };
            score.count(truth, one, (to - from, cause, right));
            here += usize::from(said.get(here).is_some_and(|said| said.1 <= to));
            from = to;
        }
    }
    score
}

/// Whether this would have been right within a round trip.
fn near(truth: &TruthFile, number: usize, (at, cause): (f64, Cause), shown: Shown) -> bool {
    let (from, to) = (at - truth.base_rtt_s, at + truth.base_rtt_s);
    let before = truth.intervals[..number].iter().rev().take_while(|one| one.to_s > from);
    let after = truth.intervals[number..].iter().take_while(|one| one.from_s < to);
    before.chain(after).any(|one| accepts(one, cause, shown))
}

impl Score {
    fn count(&mut self, truth: &TruthFile, is: &TrueInterval, said: (f64, Cause, Right)) {
        let (seconds, cause, right) = said;
        // Of two views the one that was taken is the true one.
        let true_cause = if right == Right::Here { cause } else { is.cause };
        self.matrix.0[true_cause.index()][cause.index()] += seconds;
        self.all.count(seconds, right);
        if truth.injected.contains(&is.cause) {
            self.injected.count(seconds, right);
        }
        if is.cause.is_loss() {
            self.lost.count(seconds, right);
        } else if cause.is_loss() && !is.also.is_some_and(Cause::is_loss) {
            self.false_seconds += seconds;
            self.false_apart += if right == Right::Nowhere { seconds } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_diagnose::Interval;

    fn truth(intervals: &[(f64, f64, Cause, Option<Cause>)]) -> TruthFile {
        let ends = ["10.0.0.1:1", "10.0.1.1:2"].map(|end| end.parse().expect("an address"));
        let places = |value| Place::ALL.map(|place| (place, value));
        TruthFile {
            case: String::new(),
            family: String::new(),
            injected: vec![Cause::Outage],
            client: ends[0],
            server: ends[1],
            sends: "server".to_owned(),
            duration_s: 10.0,
            base_rtt_s: 0.1,
            began_s: places(0.0),
            intervals: intervals
                .iter()
                .map(|&(from_s, to_s, cause, also)| TrueInterval { from_s, to_s, cause, also })
                .collect(),
            suite: crate::self_test::Suite::Kernels,
            kernels: [None, None],
            whole: Some(true),
            scored: Place::ALL.to_vec(),
            one_way: false,
        }
    }

    fn said(truth: &TruthFile, intervals: &[(f64, f64, Cause)]) -> Diagnosis {
        let interval = |&(from_s, to_s, cause): &(f64, f64, Cause)| {
            let (confidence, frames, reason) = (1.0, [1, 1], String::new());
            Interval { from_s, to_s, cause, confidence, frames, reason }
        };
        let connection = serde_json::json!({
            "id": 0, "client": truth.client, "server": truth.server, "began_ns": 0,
            "duration_s": 10.0, "packets": [0, 0], "bytes": 0, "bytes_by": [0, 0],
            "retransmitted_bytes": 0, "vantage": "unknown", "vantage_confidence": 0.0,
            "rtt_to_s": [null, null], "path": ackord_diagnose::PathFacts::default(),
            "causes": [], "intervals": intervals.iter().map(interval).collect::<Vec<_>>(),
            "limits": ackord_diagnose::Limits::default(), "artefacts": [],
        });
        let connection = serde_json::from_value(connection).expect("a connection");
        Diagnosis { captures: Vec::new(), artefacts: Vec::new(), connections: vec![connection] }
    }

    #[test]
    fn seconds_are_right_where_either_view_is_taken_and_near_within_a_round_trip() {
        use Cause::{Outage, PathLimited, RandomLoss, WindowGrowth};
        let truth = truth(&[
            (0.0, 4.0, PathLimited, None),
            (4.0, 6.0, Outage, None),
            (6.0, 10.0, WindowGrowth, Some(Outage)),
        ]);
        let said = said(
            &truth,
            &[
                (0.0, 3.95, PathLimited),
                (3.95, 5.0, Outage),
                (5.0, 6.0, RandomLoss),
                (6.0, 8.0, Outage),
                (8.0, 9.0, WindowGrowth),
            ],
        );
        let score = score(&truth, Place::Client, &said);
        let close = |is: f64, expected: f64| assert!((is - expected).abs() < 1e-9, "{is}");
        close(score.all.seconds, 10.0);
        close(score.all.right, 3.95 + 1.0 + 2.0 + 1.0);
        close(score.all.near - score.all.right, 0.05);
        close(score.injected.seconds, 2.0);
        close(score.injected.right, 1.0);
        close(score.lost.seconds, 6.0);
        close(score.false_seconds, 0.05);
        close(score.matrix.0[Outage.index()][RandomLoss.index()], 1.0);
        close(score.matrix.0[Outage.index()][Outage.index()], 3.0);
        close(score.matrix.0[WindowGrowth.index()][Cause::Unknown.index()], 1.0);
        close(score.matrix.0.iter().flatten().sum::<f64>(), 10.0);
    }

    #[test]
    fn a_connection_that_is_not_told_of_is_unknown_throughout() {
        let truth = truth(&[(0.0, 4.0, Cause::PathLimited, None)]);
        let nothing =
            Diagnosis { captures: Vec::new(), artefacts: Vec::new(), connections: Vec::new() };
        let score = score(&truth, Place::Server, &nothing);
        assert!(!score.found);
        assert_eq!(score.all, Named { seconds: 4.0, right: 0.0, near: 0.0 });
    }
}
