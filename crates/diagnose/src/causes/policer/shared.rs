//! A policer that several connections share: what passes is the sum over them.
//!
//! What one of them had passed at a drop of another is known to a round trip only.

use super::super::path::Path;
use super::bucket::explained;
use super::points::{Passed, passed};
use super::{Evidence, Policed, Policer};
use crate::Address;
use crate::flow::Connection;
use ackord_units::Time;

/// More connections are not summed.
const MOST: usize = 16;

/// A connection, by its ends and its first packet.
type Name = ([Address; 2], Time);

/// What a policer did to connections that share it.
#[derive(Clone, Debug, Default)]
pub(in crate::causes) struct Shared {
    members: Vec<(Name, Policed)>,
}

/// One connection of several.
struct Member<'a> {
    connection: &'a Connection,
    path: Path,
    /// What had passed, at times since the first connection began.
    points: Vec<Passed>,
}

impl Shared {
    /// Returns the policer that explains the losses of these connections by their sum, if one does.
    pub(in crate::causes) fn of(connections: &[&Connection]) -> Option<Shared> {
        let mut drops = connections.iter().map(|one| one.halves[one.sender()].drops.len());
        let losing = drops.clone().filter(|drops| *drops > 0).count();
        if losing < 2 || connections.len() > MOST || drops.all(|drops| drops < super::DROPS) {
            return None;
        }
        let began = connections.iter().map(|one| one.began).min()?;
        let members: Vec<Member<'_>> =
            connections.iter().map(|one| Member::of(one, began)).collect();
        let evidence: Evidence = members.iter().map(Member::evidence).sum();
        let (all, whose) = summed(&members);
        let path = slowest(&members)?;
        let (found, levels) = explained(&all, &path)?;
        if !evidence.excludes_queue(found) {
            return None;
        }
        let mut empty: Vec<Vec<bool>> =
            members.iter().map(|one| vec![false; one.connection.losses.len()]).collect();
        for ((point, level), member) in all.iter().zip(levels).zip(whose) {
            if let Some(empty) = point.loss.and_then(|loss| empty[member].get_mut(loss as usize)) {
                *empty |= level <= super::NEARLY * found.slack(path.mss);
            }
        }
        let policer = Policer { rate: Some(found.rate), burst: found.burst, shared: true };
        let name = |member: &Member<'_>| (member.connection.ends, member.connection.began);
        let policed = empty.into_iter().map(|empty| Policed { policer, empty });
        Some(Shared { members: members.iter().map(name).zip(policed).collect() })
    }

    /// Returns what the policer did to this connection.
    pub(in crate::causes) fn policed(&self, connection: &Connection) -> Option<&Policed> {
        let name = (connection.ends, connection.began);
        self.members.iter().find(|(of, _)| *of == name).map(|(_, policed)| policed)
    }
}

impl Member<'_> {
    fn of(connection: &Connection, began: Time) -> Member<'_> {
        let side = connection.sender();
        let path = Path::of(connection, side);
        let later = connection.began.saturating_since(began).as_secs_f64();
        let mut points = passed(connection, side, &path);
        points.iter_mut().for_each(|point| point.at += later);
        Member { connection, path, points }
    }

    fn evidence(&self) -> Evidence {
        Evidence::of(self.connection, self.connection.sender(), &self.path)
    }

    /// Returns what had passed at a time.
    fn bytes(&self, at: f64) -> f64 {
        let next = self.points.partition_point(|point| point.at <= at);
        let before = next.checked_sub(1).map(|before| self.points[before]).unwrap_or_default();
        match self.points.get(next) {
            Some(next) if next.at > before.at && before.at > 0.0 => {
                let part = (at - before.at) / (next.at - before.at);
                before.bytes + part * (next.bytes - before.bytes)
            }
            _ => before.bytes,
        }
    }
}

/// Returns what had passed of all at each point of one of them, in order of time, and the number of that connection.
fn summed(members: &[Member<'_>]) -> (Vec<Passed>, Vec<usize>) {
    let mut all = Vec::new();
    for (number, member) in members.iter().enumerate() {
        for point in &member.points {
            let others = members.iter().enumerate().filter(|(other, _)| *other != number);
            let others: f64 = others.map(|(_, other)| other.bytes(point.at)).sum();
            let bytes = point.bytes + others;
            all.push((Passed { bytes, rested: false, unseen: true, ..*point }, number));
        }
    }
    all.sort_by(|a, b| a.0.at.total_cmp(&b.0.at));
    // Interpolation must not take back what had passed.
    let mut most = 0.0_f64;
    for (point, _) in &mut all {
        most = most.max(point.bytes);
        point.bytes = most;
    }
    all.into_iter().unzip()
}

/// Returns the path with the longest round trip, which is the accuracy of times.
fn slowest(members: &[Member<'_>]) -> Option<Path> {
    members.iter().map(|member| member.path).max_by(|a, b| a.base.total_cmp(&b.base))
}
