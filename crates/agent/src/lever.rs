//! What can be done for a connection of a stock kernel, and whether it is done for those of an application.
//!
//! ```text
//!  watching ── enough time is lost ──► at work ── treated against control ──► stays
//!     ▲                                   │
//!     └───── tried anew after a while ── withdrawn: it harms, or does not help
//! ```

use crate::report::Own;
use ackord_daemon::evidence::{Compared, Evidence, Figure, Sample};
use ackord_daemon::switchback::Outcome;
use ackord_units::{Span, Time};

/// A lever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lever {
    /// TCP_NODELAY at establishment: small writes are not held by Nagle's algorithm (RFC 9293 §3.7.4).
    Nodelay,
    /// The delayed acknowledgment waits no longer than the gaps between segments (TCP_BPF_DELACK_MAX), or, where that
    /// is pointless, not at all (a route with `quickack`).
    DelayedAck,
    /// As many segments of each transfer as the application's usual one has are acknowledged at once (ARI).
    QuickAck,
}

impl Lever {
    /// All of them.
    pub const ALL: [Lever; 3] = [Lever::Nodelay, Lever::DelayedAck, Lever::QuickAck];

    /// As a user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Lever::Nodelay => "nodelay",
            Lever::DelayedAck => "delayed-ack",
            Lever::QuickAck => "quick-ack",
        }
    }

    /// Whether it is left to an agent where an application has set these options itself.
    pub(crate) fn is_left_to_us(self, own: Own) -> bool {
        !own.has(match self {
            Lever::Nodelay => Own::NODELAY,
            Lever::DelayedAck => Own::DELACK,
            Lever::QuickAck => Own::MARK | Own::QUICKACK,
        })
    }

    /// Which of all.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// Whether a lever is at work for an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The configuration does not want it.
    Off,
    /// It is seen what it would gain.
    Watching,
    /// It is at work.
    AtWork {
        /// Since when.
        since: Time,
    },
    /// It is not at work any more.
    Withdrawn {
        /// Since when.
        since: Time,
        /// Why.
        why: Why,
    },
}

/// Why a lever was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Treated connections are worse off.
    Harm(Figure),
    /// They are no better off.
    NoGain,
    /// The host as a whole is worse off in turns with settings than in turns without.
    HarmToHost(Outcome),
}

impl Why {
    /// In words.
    pub fn told(self) -> &'static str {
        match self {
            Why::Harm(harm) => harm.harm_told(),
            Why::HarmToHost(outcome) => match outcome {
                Outcome::Goodput => "the host delivers less in turns with settings than without",
                Outcome::TimePerByte => {
                    "exchanges of the host take longer in turns with settings than without"
                }
                Outcome::AirPerByte => {
                    "the host sends more segments in turns with settings, and no exchange is faster"
                }
                Outcome::OthersDelay => "it delays applications without settings",
            },
            Why::NoGain => "its connections are no better off than those left alone",
        }
    }
}

/// When a lever begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// It begins where at least this share of the time of exchanges is lost ...
    pub least_share: f64,
    /// ... and at least so much time ...
    pub least_lost: Span,
    /// ... in so many waits.
    pub least_stalls: u32,
    /// After so many treated connections it is withdrawn unless it helps.
    pub enough: usize,
    /// Connections of either group before anything is concluded.
    pub each: usize,
    /// Harm and gain are what an interval of this confidence says.
    pub confidence: f64,
    /// It is tried anew after this, if ever.
    pub retry: Option<Span>,
}

/// Connections that began while a lever was at work, other than those of the control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// All of them.
    pub connections: u64,
    /// Those that the lever has reached.
    pub treated: u64,
}

impl Reached {
    /// Counts one more.
    pub(crate) fn count(&mut self, is_treated: bool) {
        self.connections += 1;
        self.treated += u64::from(is_treated);
    }

    /// Whether it is at work for nobody: enough connections, and none was treated.
    pub fn is_none(self) -> bool {
        self.connections >= ENOUGH && self.treated == 0
    }
}

/// So many connections do not all miss a lever by chance.
const ENOUGH: u64 = 5;
/// What the programs are told holds at the latest after this.
const SETTLED: Span = Span::from_millis(500);

/// A lever of an application.
#[derive(Clone, Debug)]
pub struct Trial {
    standing: Standing,
    /// Of connections that have ended, and of all as of the last look.
    ended: Reached,
    reached: Reached,
    evidence: Evidence,
    compared: Compared,
    /// What was lost before this is of another time.
    began: Time,
}

impl Trial {
    /// One that nothing is known of.
    pub fn new(is_wanted: bool) -> Trial {
        Trial {
            standing: if is_wanted { Standing::Watching } else { Standing::Off },
            ended: Reached::default(),
            reached: Reached::default(),
            evidence: Evidence::default(),
            compared: Compared::default(),
            began: Time::ZERO,
        }
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Whether it is at work.
    pub fn is_at_work(&self) -> bool {
        matches!(self.standing, Standing::AtWork { .. })
    }

    /// Whether it is, or was until it was withdrawn.
    pub(crate) fn is_tried(&self) -> bool {
        matches!(self.standing, Standing::AtWork { .. } | Standing::Withdrawn { .. })
    }

    /// Whether it has been at work for a while at this time, so that a connection that begins has it.
    pub(crate) fn is_settled(&self, at: Time) -> bool {
        matches!(self.standing, Standing::AtWork { since } if at >= since + SETTLED)
    }

    /// Connections that began while it was at work, as of the last look.
    pub fn reached(&self) -> Reached {
        self.reached
    }

    /// A connection that began while it was at work has ended.
    pub(crate) fn ended_reached(&mut self, is_treated: bool) {
        if self.is_at_work() {
            self.ended.count(is_treated);
        }
    }

    /// Takes the connections that began while it was at work and go on.
    pub(crate) fn living_reached(&mut self, living: impl Iterator<Item = bool>) {
        self.reached = self.ended;
        living.for_each(|is_treated| self.reached.count(is_treated));
    }

    /// Treated against control, as of the last look.
    pub fn compared(&self) -> &Compared {
        &self.compared
    }

    /// It is wanted, or not.
    pub(crate) fn want(&mut self, is_wanted: bool) {
        match (self.standing, is_wanted) {
            (Standing::Off, true) => *self = Trial::new(true),
            (Standing::Off, false) | (_, true) => {}
            (_, false) => *self = Trial::new(false),
        }
    }

    /// So much was lost by connections for which it is not at work: begins where that is enough.
    pub(crate) fn begin_if(&mut self, now: Time, rule: &Rule, lost: Lost) -> bool {
        let is_enough = lost.stalls >= rule.least_stalls
            && lost.time >= rule.least_lost
            && lost.time.as_secs_f64() >= rule.least_share * lost.of.as_secs_f64();
        if self.standing != Standing::Watching || !is_enough {
            return false;
        }
        self.begin(now);
        true
    }

    /// Withdraws it, if it is at work. Returns whether it was.
    pub(crate) fn withdraw(&mut self, now: Time, why: Why) -> bool {
        let was_at_work = self.is_at_work();
        if was_at_work {
            self.standing = Standing::Withdrawn { since: now, why };
        }
        was_at_work
    }

    /// It is at work without a loss to be seen before: what it gains is a guess to be tried.
    pub(crate) fn begin(&mut self, now: Time) {
        self.standing = Standing::AtWork { since: now };
        (self.ended, self.reached) = (Reached::default(), Reached::default());
        self.evidence = Evidence::default();
        self.began = now;
    }

    /// A connection is over.
    pub(crate) fn ended(&mut self, is_control: bool, sample: Sample) {
        if self.is_at_work() {
            self.evidence.ended(is_control, sample);
        }
    }

    /// Looks at the evidence, `living` being those that go on. Answers whether its standing changed.
    pub(crate) fn look(
        &mut self,
        now: Time,
        rule: &Rule,
        living: impl Iterator<Item = (bool, Sample)>,
    ) -> bool {
        match self.standing {
            Standing::Off | Standing::Watching => false,
            Standing::Withdrawn { since, .. } => {
                let is_over = rule.retry.is_some_and(|retry| now.saturating_since(since) >= retry);
                if is_over {
                    *self = Trial { began: now, ..Trial::new(true) };
                }
                is_over
            }
            Standing::AtWork { .. } => {
                self.evidence.begin_living();
                living.for_each(|(is_control, sample)| self.evidence.living(is_control, sample));
                self.compared = self.evidence.compare();
                let Some(why) = self.why_not(rule) else { return false };
                self.standing = Standing::Withdrawn { since: now, why };
                true
            }
        }
    }

    fn why_not(&self, rule: &Rule) -> Option<Why> {
        if let Some(harm) = self.evidence.harm(rule.confidence, rule.each) {
            return Some(Why::Harm(harm));
        }
        let (treated, control) =
            (self.compared.treated.connections, self.compared.control.connections);
        let is_enough = treated >= rule.enough && control >= rule.each;
        (is_enough && self.evidence.gain(0.95, rule.each).is_none()).then_some(Why::NoGain)
    }
}

/// What was lost, in which a lever begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// How long.
    pub time: Span,
    /// Of so much time in exchanges.
    pub of: Span,
    /// In so many waits.
    pub stalls: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        least_share: 0.01,
        least_lost: Span::from_millis(100),
        least_stalls: 5,
        enough: 20,
        each: 5,
        confidence: 0.999,
        retry: Some(Span::from_secs(3_600)),
    };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn lost(millis: u64, of: u64, stalls: u32) -> Lost {
        Lost { time: Span::from_millis(millis), of: Span::from_millis(of), stalls }
    }

    fn at_work() -> Trial {
        let mut trial = Trial::new(true);
        assert!(trial.begin_if(at(1), &RULE, lost(500, 1_000, 12)));
        trial
    }

    /// So many of either, the shares of their time lost around these.
    fn ended(trial: &mut Trial, treated: f64, control: f64) {
        for at in 0..30 {
            let around = |share: f64| share * (0.9 + f64::from(at) / 150.0);
            let sample = |share| Sample { rate: 1e6, stalled_share: around(share) };
            trial.ended(false, sample(treated));
            trial.ended(true, sample(control));
        }
    }

    #[test]
    fn it_begins_where_enough_is_lost_and_only_there() {
        for few in [lost(90, 1_000, 12), lost(500, 1_000, 4), lost(500, 60_000, 12)] {
            assert!(!Trial::new(true).begin_if(at(1), &RULE, few), "{few:?}");
        }
        assert!(!Trial::new(false).begin_if(at(1), &RULE, lost(500, 1_000, 12)), "not wanted");
        assert_eq!(at_work().standing(), Standing::AtWork { since: at(1) });
    }

    #[test]
    fn what_helps_stays() {
        let mut trial = at_work();
        ended(&mut trial, 0.01, 0.8);
        assert!(!trial.look(at(2), &RULE, std::iter::empty()));
        assert!(trial.is_at_work());
        assert_eq!(trial.compared().treated.connections, 30);
    }

    #[test]
    fn what_does_not_help_is_withdrawn_and_tried_anew_later() {
        let mut trial = at_work();
        ended(&mut trial, 0.5, 0.5);
        assert!(trial.look(at(2), &RULE, std::iter::empty()));
        let withdrawn = Standing::Withdrawn { since: at(2), why: Why::NoGain };
        assert_eq!(trial.standing(), withdrawn);
        assert!(!trial.look(at(3_000), &RULE, std::iter::empty()));
        assert!(trial.look(at(4_000), &RULE, std::iter::empty()));
        assert_eq!(trial.standing(), Standing::Watching);
    }

    #[test]
    fn what_harms_is_withdrawn_at_once() {
        let mut trial = at_work();
        ended(&mut trial, 0.9, 0.1);
        assert!(trial.look(at(2), &RULE, std::iter::empty()));
        let Standing::Withdrawn { why: Why::Harm(_), .. } = trial.standing() else {
            panic!("{:?}", trial.standing());
        };
    }
}
