//! A remedy on trial: one that harms stands down, and is tried anew later.

use crate::Evidence;
use crate::evidence::{Compared, Figure};
use crate::switchback::Outcome;
use ackord_units::{Span, Time};

/// When a remedy that harms stands down, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandDown {
    /// Harm is what an interval of this confidence says.
    pub confidence: f64,
    /// How long it has to say so without a break.
    pub sustained: Span,
    /// Connections in either group before anything is concluded.
    pub connections: usize,
    /// It is tried anew after this, if ever.
    pub retry: Option<Span>,
}

/// What a remedy did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Its connections are worse off than those left alone.
    ToConnections(Figure),
    /// The link is worse off with it than without.
    ToLink(Outcome),
}

impl Harm {
    /// Describes the harm.
    pub fn words(self) -> &'static str {
        match self {
            Harm::ToConnections(figure) => figure.harm_told(),
            Harm::ToLink(outcome) => outcome.harm_words(),
        }
    }
}

/// Whether a remedy is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is none.
    LeftAlone,
    /// It is.
    AtWork,
    /// It did harm.
    StoodDown {
        /// Since when it is not.
        since: Time,
        /// What it did.
        harm: Harm,
    },
}

/// What has become of a remedy so far.
#[derive(Clone, Debug)]
pub struct Trial {
    compared: Compared,
    standing: Standing,
    harms_since: Option<Time>,
}

impl Trial {
    /// Of a remedy that is at work from now on.
    pub fn at_work() -> Trial {
        Trial::begin(Standing::AtWork)
    }

    /// Without a remedy.
    pub fn left_alone() -> Trial {
        Trial::begin(Standing::LeftAlone)
    }

    fn begin(standing: Standing) -> Trial {
        Trial { compared: Compared::default(), standing, harms_since: None }
    }

    /// Whether the remedy is at work.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Treated against control, as of the last look.
    pub fn compared(&self) -> &Compared {
        &self.compared
    }

    /// Ends the remedy at `now` for the harm that it did.
    pub fn stand_down(&mut self, now: Time, harm: Harm) {
        self.standing = Standing::StoodDown { since: now, harm };
    }

    /// Looks at the evidence of a remedy at work, in which those that live stand as they are now. One that harms
    /// stands down; one that stood down long enough is at work again, and its evidence is begun anew. Answers
    /// whether the standing changed.
    pub fn look(&mut self, now: Time, evidence: &mut Evidence, rule: StandDown) -> bool {
        match self.standing {
            Standing::LeftAlone => false,
            Standing::StoodDown { since, .. } => {
                let is_over = rule.retry.is_some_and(|retry| now.saturating_since(since) >= retry);
                if is_over {
                    *evidence = Evidence::default();
                    *self = Trial::at_work();
                }
                is_over
            }
            Standing::AtWork => {
                self.compared = evidence.compare();
                let Some(harm) = evidence.harm(rule.confidence, rule.connections) else {
                    self.harms_since = None;
                    return false;
                };
                let since = *self.harms_since.get_or_insert(now);
                if now.saturating_since(since) < rule.sustained {
                    return false;
                }
                self.stand_down(now, Harm::ToConnections(harm));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Sample;

    const RULE: StandDown = StandDown {
        confidence: 0.99,
        sustained: Span::from_secs(60),
        connections: 20,
        retry: Some(Span::from_secs(3_600)),
    };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    /// Treated connections around one rate, control around another.
    fn evidence(treated: f64, control: f64) -> Evidence {
        let mut evidence = Evidence::default();
        for (is_control, rate) in [(false, treated), (true, control)] {
            for at in 0..30 {
                let rate = rate * (0.9 + 0.2 * f64::from(at) / 30.0);
                evidence.ended(is_control, Sample { rate, stalled_share: 0.0 });
            }
        }
        evidence
    }

    #[test]
    fn harm_without_a_break_for_long_enough_ends_a_remedy_and_time_begins_it_anew() {
        let mut trial = Trial::at_work();
        let (mut worse, mut better) = (evidence(2.0, 5.0), evidence(9.0, 5.0));
        assert!(!trial.look(at(0), &mut worse, RULE));
        assert!(!trial.look(at(59), &mut worse, RULE));
        assert!(!trial.look(at(60), &mut better, RULE), "a break");
        assert!(!trial.look(at(61), &mut worse, RULE) && !trial.look(at(120), &mut worse, RULE));
        assert!(trial.look(at(121), &mut worse, RULE));
        let stood = Standing::StoodDown { since: at(121), harm: Harm::ToConnections(Figure::Rate) };
        assert_eq!(trial.standing(), stood);
        assert_eq!(trial.compared().treated.connections, 30, "it says what was seen");
        // An hour later, without what was held against it.
        assert!(!trial.look(at(3_720), &mut worse, RULE));
        assert!(trial.look(at(3_721), &mut worse, RULE));
        assert_eq!((trial.standing(), trial.compared()), (Standing::AtWork, &Compared::default()));
        assert!(!trial.look(at(9_999), &mut worse, RULE) && worse.compare() == Compared::default());
    }

    #[test]
    fn without_a_retry_it_stays_down_and_without_a_remedy_nothing_is_concluded() {
        let never = StandDown { sustained: Span::ZERO, retry: None, ..RULE };
        let mut trial = Trial::at_work();
        assert!(trial.look(at(0), &mut evidence(2.0, 5.0), never));
        assert!(!trial.look(at(1 << 30), &mut evidence(2.0, 5.0), never));
        let mut alone = Trial::left_alone();
        assert!(!alone.look(at(0), &mut evidence(2.0, 5.0), never));
        assert_eq!(alone.standing(), Standing::LeftAlone);
    }
}
