//! An application: its connections taken together, its levers, and what the programs are told of it.

use crate::kernel::layout::RawClass;
use crate::lever::{Lever, Lost, Rule, Standing, Trial};
use crate::report::{Figures, Own};
use ackord_history::{Advice, NagleAdvice};
use ackord_units::{Span, Time};

/// Which levers may be used for an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed([bool; Lever::ALL.len()]);

impl Allowed {
    /// These.
    pub fn of(levers: impl IntoIterator<Item = Lever>) -> Allowed {
        let mut allowed = Allowed::default();
        levers.into_iter().for_each(|lever| allowed.0[lever.index()] = true);
        allowed
    }

    /// Whether this one may.
    pub fn has(self, lever: Lever) -> bool {
        self.0[lever.index()]
    }
}

/// More names of an application are not kept: a unit may run any number of programs.
const NAMES: usize = 12;

/// An application.
#[derive(Clone, Debug)]
pub struct Application {
    /// The first is its own, the others are those by which a user may know it, too.
    names: Vec<String>,
    allowed: Allowed,
    trials: [Trial; Lever::ALL.len()],
    /// Of all its connections.
    total: Figures,
    /// Of those for which no lever was at work, since the levers were last looked at anew.
    untouched: Figures,
    /// Connections it had, and has.
    pub(crate) connections: u64,
    pub(crate) living: u64,
    /// Of these, treated and control, by levers that are tried, as of the last look.
    pub(crate) treated: u64,
    pub(crate) control: u64,
    /// Connections that its programs did not follow when they began, and how many of these they follow since.
    pub(crate) passed_over: u64,
    pub(crate) late: u64,
    /// What its history says.
    advice: Option<Advice>,
    /// The bound that its connections got last: new ones begin with it.
    delack_max: Option<Span>,
}

impl Application {
    /// One of this name.
    pub(crate) fn new(name: &str, allowed: Allowed) -> Application {
        Application {
            names: vec![name.to_owned()],
            allowed,
            trials: Lever::ALL.map(|lever| Trial::new(allowed.has(lever))),
            total: Figures::default(),
            untouched: Figures::default(),
            connections: 0,
            living: 0,
            treated: 0,
            control: 0,
            passed_over: 0,
            late: 0,
            advice: None,
            delack_max: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.names[0]
    }

    /// All its names, its own first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Adds other names of it, as far as there is room. Returns whether any is new.
    pub(crate) fn call(&mut self, also: impl IntoIterator<Item = String>) -> bool {
        let before = self.names.len();
        for name in also {
            if self.names.len() < NAMES && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        self.names.len() > before
    }

    /// What was counted of all its connections.
    pub fn total(&self) -> Figures {
        self.total
    }

    /// A lever of it.
    pub fn trial(&self, lever: Lever) -> &Trial {
        &self.trials[lever.index()]
    }

    pub(crate) fn trial_mut(&mut self, lever: Lever) -> &mut Trial {
        &mut self.trials[lever.index()]
    }

    /// Connections: all so far, those that live, and of these treated and control.
    pub fn counted(&self) -> [u64; 4] {
        [self.connections + self.unobserved(), self.living, self.treated, self.control]
    }

    /// Returns how many connections were not followed, because there were many and nothing was to be done for them.
    pub fn unobserved(&self) -> u64 {
        self.passed_over.saturating_sub(self.late)
    }

    /// What its history says, where it has one.
    pub fn advice(&self) -> Option<&Advice> {
        self.advice.as_ref()
    }

    /// Other levers may be used from now on.
    pub(crate) fn allow(&mut self, allowed: Allowed) {
        self.allowed = allowed;
        Lever::ALL.iter().for_each(|lever| self.trials[lever.index()].want(allowed.has(*lever)));
    }

    /// More was counted; `is_touched`: a lever was at work. What an application loses by an option of its `own` begins
    /// no lever, which would not be pulled.
    pub(crate) fn count(&mut self, mut more: Figures, own: Own, is_touched: bool) {
        self.total = self.total.plus(more);
        if is_touched {
            return;
        }
        if !Lever::Nodelay.is_left_to_us(own) {
            (more.nagle, more.nagle_stalls) = (Span::ZERO, 0);
        }
        if !Lever::DelayedAck.is_left_to_us(own) {
            (more.delack, more.delack_stalls) = (Span::ZERO, 0);
        }
        self.untouched = self.untouched.plus(more);
    }

    /// Its history says this now.
    pub(crate) fn advise(&mut self, advice: Advice) {
        self.advice = Some(advice);
    }

    /// A connection got this bound.
    pub(crate) fn ordered(&mut self, delack_max: Option<Span>) {
        self.delack_max = delack_max.or(self.delack_max);
    }

    /// Whether any lever is at work.
    pub fn is_touched(&self) -> bool {
        self.trials.iter().any(Trial::is_at_work)
    }

    /// Begins what is worth it. Answers which levers that are.
    pub(crate) fn begin(&mut self, now: Time, rule: &Rule) -> Vec<Lever> {
        let Figures { active: of, nagle, nagle_stalls, delack, delack_stalls, .. } = self.untouched;
        let mut begun = Vec::new();
        let losses = [
            (Lever::Nodelay, Lost { time: nagle, of, stalls: nagle_stalls }),
            (Lever::DelayedAck, Lost { time: delack, of, stalls: delack_stalls }),
        ];
        for (lever, lost) in losses {
            if self.trials[lever.index()].begin_if(now, rule, lost) {
                begun.push(lever);
            }
        }
        // What quick acknowledgments gain cannot be seen from this end: where the history says that transfers are
        // short and longer than what the kernel acknowledges at once anyway, it is tried.
        let quick = &mut self.trials[Lever::QuickAck.index()];
        let segments = self.advice.as_ref().and_then(|advice| advice.quick_ack_segments);
        let is_short = self.advice.as_ref().is_some_and(|one| one.nagle == NagleAdvice::Off);
        if quick.standing() == Standing::Watching
            && is_short
            && segments.is_some_and(|segments| segments > KERNEL_QUICK_SEGMENTS)
        {
            quick.begin(now);
            begun.push(Lever::QuickAck);
        }
        begun
    }

    /// A lever is not at work any more: what was lost before it was counts no longer.
    pub(crate) fn look_anew(&mut self) {
        self.untouched = Figures::default();
    }

    /// What the programs are told of it.
    pub(crate) fn class(&self, control_per_mille: u16) -> RawClass {
        let is = |lever: Lever| self.trial(lever).is_at_work();
        // ARI's other half: Nagle's algorithm stays on for an application of bulk transfers.
        let is_bulk = self.advice.as_ref().is_some_and(|one| one.nagle == NagleAdvice::On);
        let quick = self.advice.as_ref().and_then(|advice| advice.quick_ack_segments);
        let delack = self.delack_max.filter(|_| is(Lever::DelayedAck));
        RawClass {
            control_per_mille,
            quick_segments: quick
                .filter(|_| is(Lever::QuickAck))
                .map_or(0, |segments| u16::try_from(segments).unwrap_or(u16::MAX)),
            delack_max_us: delack.map_or(0, |span| (span.as_nanos() / 1_000) as u32),
            nodelay: u8::from(is(Lever::Nodelay) && !is_bulk),
            unused: [0; 3],
        }
    }
}

/// Data segments at the start of a connection that Linux acknowledges at once by itself (TCP_MAX_QUICKACKS).
pub const KERNEL_QUICK_SEGMENTS: u64 = 16;
