//! What follows from what was seen, as text and as JSON.

use super::watched::{Figures, Retransmissions};
use super::{Advisor, NAMES, REMEDIES};
use ackord_measure::stats::{Estimate, estimate};
use ackord_units::Span;
use serde_json::{Value, json};
use std::fmt;

/// A mean wait of this much in front of the mobile hosts is a queue.
const QUEUE: Span = Span::from_millis(5);
/// A connection with less time under way tells nothing of shares of it.
const ENOUGH: Span = Span::from_secs(1);

/// What was seen, and what would have been gained.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// For how long somebody looked.
    pub observed: Span,
    /// Connections by the rule that takes them; those of which nothing was seen are left out.
    pub classes: Vec<ClassAdvice>,
    /// Seconds in all, and those in which several connections had much to send.
    pub seconds: (u64, usize),
    /// Jain's index of their shares in these: 1 is fair, 1/n is one of n with everything.
    pub fairness: Option<Estimate>,
    /// Segments of connections for which there was no room.
    pub unwatched: u64,
    /// Packets that passed too fast to be looked at: what they would have told is missing.
    pub lost: u64,
}

/// Connections of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassAdvice {
    /// The rule's name.
    pub name: String,
    /// How many.
    pub connections: usize,
    /// Bytes that mobile hosts acknowledged.
    pub bytes: u64,
    /// How long data was under way, added up.
    pub active: Span,
    /// Waits of half a second or longer for an acknowledgment, and how long they were.
    pub stalls: (u32, Span),
    /// Of these, how many ended when the sender tried again; the others ended by themselves.
    pub stalls_by_retry: u32,
    /// How long the sender had not tried by then, added up: no replay could have gained more.
    pub stalls_shorter: Span,
    /// Duplicate acknowledgments: with timestamps, whose sender finds out by itself, and without.
    pub duplicates: [u64; 2],
    /// How much longer than the shortest the mean round trip to the mobile hosts was, by connection, in
    /// milliseconds.
    pub waiting_ms: Option<Estimate>,
    /// What each remedy would have done.
    pub remedies: Vec<RemedyAdvice>,
}

/// What a remedy would have done for a class.
#[derive(Clone, Debug, PartialEq)]
pub struct RemedyAdvice {
    /// Its name.
    pub name: &'static str,
    /// Segments that it would have retransmitted before their sender did.
    pub earlier: u64,
    /// How much earlier, added up.
    pub earlier_by: Span,
    /// Segments that their sender retransmitted, and it not before.
    pub not_earlier: u64,
    /// Segments that only it would have retransmitted.
    pub needless: u64,
    /// Whether it retransmits what an outage took as soon as the link is back.
    pub bridges: bool,
    /// Whether it would have had nothing to do: it recovers no loss and no connection stalled. Only then does its
    /// sender gain nothing either.
    pub nothing_to_gain: bool,
    /// The most that its recoveries could have gained, as a share of the time with data under way. What senders gain
    /// that do not reduce their congestion windows is not in it.
    pub at_most: f64,
    /// The same where what it sends arrives and a link is back at any time of the sender's last wait alike,
    /// as the mean over connections with its interval.
    pub estimate: Option<Estimate>,
}

impl Advisor {
    /// What follows from what was seen so far.
    pub fn advice(&self) -> Advice {
        let living = self.watched.values().map(|(class, watched)| {
            let progress = watched.figures.progress.until(self.now);
            (*class, Figures { progress, ..watched.figures })
        });
        let all: Vec<(usize, Figures)> = self.ended.iter().copied().chain(living).collect();
        let class = |(index, name): (usize, &str)| {
            let of_class = all.iter().filter(|(class, _)| *class == index);
            let seen: Vec<&Figures> =
                of_class.map(|(_, one)| one).filter(|one| one.progress.bytes > 0).collect();
            (!seen.is_empty()).then(|| ClassAdvice::of(name, &seen))
        };
        let rules = self.config.rules.iter().map(|(index, name, _)| (index.0, name));
        Advice {
            observed: self.began.map_or(Span::ZERO, |began| self.now.saturating_since(began)),
            classes: rules.filter_map(class).collect(),
            seconds: (self.shares.windows, self.shares.indexes.len()),
            fairness: estimate(&self.shares.indexes),
            unwatched: self.unwatched,
            lost: 0,
        }
    }
}

impl ClassAdvice {
    fn of(name: &str, seen: &[&Figures]) -> ClassAdvice {
        let spans = |of: fn(&Figures) -> Span| {
            seen.iter().map(|one| of(one)).fold(Span::ZERO, |sum, one| sum + one)
        };
        let active = spans(|one| one.progress.active);
        let stalled = spans(|one| one.progress.stalled);
        let waiting = seen.iter().filter_map(|one| one.waiting());
        let waiting: Vec<f64> = waiting.map(|span| span.as_secs_f64() * 1e3).collect();
        ClassAdvice {
            name: name.to_owned(),
            connections: seen.len(),
            bytes: seen.iter().map(|one| one.progress.bytes).sum(),
            active,
            stalls: (seen.iter().map(|one| one.progress.stalls).sum(), stalled),
            stalls_by_retry: seen.iter().map(|one| one.stalls_by_retry).sum(),
            stalls_shorter: spans(|one| one.stalls_shorter),
            duplicates: [
                seen.iter().map(|one| one.duplicates_with_timestamps).sum(),
                seen.iter().map(|one| one.duplicates_without).sum(),
            ],
            waiting_ms: estimate(&waiting),
            remedies: (0..REMEDIES).map(|which| RemedyAdvice::of(which, seen, active)).collect(),
        }
    }
}

impl RemedyAdvice {
    fn of(which: usize, seen: &[&Figures], active: Span) -> RemedyAdvice {
        let bridges = NAMES[which] == "proxy-tcp";
        let stalls = |one: &Figures| if bridges { one.stalls_shorter } else { Span::ZERO };
        let all = seen.iter().fold(Retransmissions::default(), |sum, one| {
            let one = one.retransmissions[which];
            Retransmissions {
                earlier: sum.earlier + one.earlier,
                earlier_by: sum.earlier_by + one.earlier_by,
                saved: sum.saved + one.saved,
                not_earlier: sum.not_earlier + one.not_earlier,
                needless: sum.needless + one.needless,
            }
        });
        let most = seen.iter().fold(all.saved, |sum, one| sum + stalls(one));
        let share = |one: &&&Figures| {
            // A link is back at any time of the last wait alike: half of it.
            let gain =
                one.retransmissions[which].saved.as_secs_f64() + stalls(one).as_secs_f64() / 2.0;
            (gain / one.progress.active.as_secs_f64()).min(1.0)
        };
        let enough = seen.iter().filter(|one| one.progress.active >= ENOUGH);
        let shares: Vec<f64> = enough.map(|one| share(&one)).collect();
        let at_most = most.as_secs_f64() / active.as_secs_f64().max(f64::MIN_POSITIVE);
        let nothing_to_gain = all.earlier == 0 && seen.iter().all(|one| one.progress.stalls == 0);
        RemedyAdvice {
            name: NAMES[which],
            earlier: all.earlier,
            earlier_by: all.earlier_by,
            not_earlier: all.not_earlier,
            needless: all.needless,
            bridges,
            nothing_to_gain,
            at_most: at_most.min(1.0),
            estimate: estimate(&shares),
        }
    }
}

impl Advice {
    /// Whether a queue in the path would have had something to do: a wait that is not the link's own, or
    /// connections that compete.
    pub fn queue_is_worth_it(&self) -> bool {
        let waits = self.classes.iter().filter_map(|class| class.waiting_ms);
        waits.into_iter().any(|wait| wait.mean >= QUEUE.as_secs_f64() * 1e3)
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let remedy = |one: &RemedyAdvice| {
            json!({
                "name": one.name,
                "measured": {
                    "earlier": one.earlier,
                    "earlier_by_s": one.earlier_by.as_secs_f64(),
                    "not_earlier": one.not_earlier,
                    "needless": one.needless,
                },
                "recoveries": { "at_least": 0.0, "at_most": one.at_most, "likely": one.estimate },
                "nothing_to_gain": one.nothing_to_gain,
            })
        };
        let class = |one: &ClassAdvice| {
            json!({
                "name": one.name,
                "connections": one.connections,
                "octets": one.bytes,
                "active_s": one.active.as_secs_f64(),
                "stalls": one.stalls.0,
                "stalled_s": one.stalls.1.as_secs_f64(),
                "stalls_by_retry": one.stalls_by_retry,
                "stalls_shorter_at_most_s": one.stalls_shorter.as_secs_f64(),
                "duplicates_with_timestamps": one.duplicates[0],
                "duplicates_without_timestamps": one.duplicates[1],
                "waiting_ms": one.waiting_ms,
                "remedies": one.remedies.iter().map(remedy).collect::<Vec<_>>(),
            })
        };
        json!({
            "observed_s": self.observed.as_secs_f64(),
            "classes": self.classes.iter().map(class).collect::<Vec<_>>(),
            "seconds": self.seconds.0,
            "seconds_shared": self.seconds.1,
            "fairness": self.fairness,
            "queue_worth_it": self.queue_is_worth_it(),
            "unwatched_segments": self.unwatched,
            "lost_packets": self.lost,
        })
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Looked on for {:.0} s; nothing was sent.", self.observed.as_secs_f64())?;
        if self.classes.is_empty() {
            return writeln!(
                f,
                "No data towards mobile hosts was seen and acknowledged: nothing can be said."
            );
        }
        for class in &self.classes {
            write!(f, "\n{class}")?;
        }
        self.queue(f)?;
        if self.unwatched > 0 {
            writeln!(
                f,
                "\n{} segments belonged to connections for which there was no room.",
                self.unwatched
            )?;
        }
        if self.lost > 0 {
            writeln!(f, "\n{} packets passed too fast to be looked at.", self.lost)?;
        }
        writeln!(
            f,
            "\nMeasured: times at this machine. Estimated: that what a remedy retransmits arrives as the \
             sender's\ncopy did. Not in these figures: what a sender gains that does not slow down for losses it \
             never sees.\nThe forecast has it; `ackord gateway run` measures it."
        )
    }
}

impl Advice {
    fn queue(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, shared) = self.seconds;
        writeln!(f, "\nQueues")?;
        if let Some(fairness) = &self.fairness {
            writeln!(
                f,
                "  measured   in {shared} of {all} seconds several connections competed; Jain's index \
                 of their shares {}",
                shown(fairness, 1.0, 2)
            )?;
        } else {
            writeln!(f, "  measured   in none of {all} seconds did several connections compete")?;
        }
        let says = match (self.queue_is_worth_it(), &self.fairness) {
            (false, _) => "nothing to gain here: nothing waits between here and the mobile hosts",
            (true, None) => {
                "connections wait behind their own data: codel at a rate below the link's takes most \
                 of that away"
            }
            (true, Some(_)) => {
                "what waits, waits behind this machine: selective-drop or fq-codel at a rate below the \
                 link's shares it out"
            }
        };
        writeln!(f, "  so         {says}")
    }
}

impl fmt::Display for ClassAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |span: Span| span.as_secs_f64();
        writeln!(
            f,
            "{}: {} connections, {:.1} MB towards mobile hosts, data under way for {:.1} s",
            self.name,
            self.connections,
            self.bytes as f64 / 1e6,
            seconds(self.active)
        )?;
        writeln!(
            f,
            "  measured   {} stalls of {:.1} s in all, {} of which ended when the sender tried again",
            self.stalls.0,
            seconds(self.stalls.1),
            self.stalls_by_retry
        )?;
        writeln!(
            f,
            "  measured   duplicate acknowledgments: {} with timestamps, {} without",
            self.duplicates[0], self.duplicates[1]
        )?;
        if let Some(waiting) = &self.waiting_ms {
            let waiting = shown(waiting, 1.0, 1);
            writeln!(
                f,
                "  measured   round trips to the mobile host {waiting} ms above the shortest"
            )?;
        }
        self.remedies.iter().try_for_each(|remedy| self.remedy(remedy, f))
    }
}

impl ClassAdvice {
    fn remedy(&self, one: &RemedyAdvice, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}", one.name)?;
        let losses = one.earlier + one.not_earlier;
        let mean = one.earlier_by.as_secs_f64() * 1e3 / (one.earlier.max(1) as f64);
        match (losses, one.earlier) {
            (0, _) => {
                write!(f, "    measured   no sender recovered from a loss outside of stalls")?
            }
            (_, 0) => write!(
                f,
                "    measured   before the sender it would have recovered from none of {losses} losses"
            )?,
            (_, earlier) => write!(
                f,
                "    measured   before the sender it would have recovered from {earlier} of {losses} losses, by \
                 {mean:.0} ms on average"
            )?,
        }
        writeln!(f, "; {} packets for nothing", one.needless)?;
        if one.bridges && self.stalls_by_retry > 0 {
            writeln!(
                f,
                "    estimate   stalls shorter by 0 to {:.1} s in all",
                self.stalls_shorter.as_secs_f64()
            )?;
        }
        if one.nothing_to_gain {
            return writeln!(f, "    so         nothing to gain here");
        }
        write!(
            f,
            "    so         its recoveries alone save 0 to {:.1} % of the time with data under way",
            one.at_most * 100.0
        )?;
        match &one.estimate {
            Some(likely) => writeln!(f, "; likely {} %", shown(likely, 100.0, 1)),
            None => writeln!(f, "; too little was seen to say what is likely"),
        }
    }
}

/// A mean with the half width of its 95 % interval, where there is one.
fn shown(estimate: &Estimate, times: f64, decimals: usize) -> String {
    let mean = estimate.mean * times;
    match estimate.ci95 {
        Some(half) => format!("{mean:.decimals$} ± {:.decimals$}", half * times),
        None => format!("{mean:.decimals$}"),
    }
}
