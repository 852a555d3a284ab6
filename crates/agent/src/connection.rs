//! A connection, as far as the agent has to do with it.

use crate::acks::{Acks, Wait};
use crate::kernel::layout::RawOrder;
use crate::lever::Lever;
use crate::report::{Arm, Figures, Own, Report};
use ackord_daemon::evidence::Sample;
use ackord_units::{Bytes, Span};
use std::net::SocketAddr;

/// The bit of TCP_NODELAY among the levers of a report.
pub(crate) const NODELAY: u8 = 1;

/// A connection that is followed. As small as can be: there may be a hundred thousand.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) application: u16,
    pub(crate) arm: Arm,
    pub(crate) own: Own,
    pub(crate) levers: u8,
    pub(crate) was_there: bool,
    /// Levers that were at work for its application when it began, a bit each.
    pub(crate) began_with: u8,
    pub(crate) figures: Figures,
    /// When its group was chosen, or as much more as was counted in turns without settings.
    base: Figures,
    /// When the present turn without settings began.
    paused: Option<Box<Figures>>,
    /// Whether TCP_NODELAY was set for it.
    pub(crate) is_listed: bool,
    acks: Option<Box<Acks>>,
    ordered: RawOrder,
    /// Segments for which it stays so where all are acknowledged at once, and how many that were.
    quick_for: u32,
    quick_segments: u32,
    pub(crate) ends: Option<(SocketAddr, SocketAddr)>,
    pub(crate) pid: u32,
    pub(crate) cgroup: u64,
}

/// For so many segments acknowledgments leave at once before waiting is tried again: doubled each time that this was in
/// vain, as the policy does it for lone segments, which are a part of all.
const QUICK_FIRST: u32 = 64;
const QUICK_LONGEST: u32 = 4_096;

/// Fewer segments than this say nothing of a connection.
const ENOUGH_SEGMENTS: u32 = 8;

impl Connection {
    pub(crate) fn new(application: u16, report: &Report) -> Connection {
        // What there was before it was followed is not this agent's.
        let figures = match report.was_there || report.is_late {
            true => report.figures,
            false => Figures::default(),
        };
        Connection {
            application,
            arm: report.arm,
            own: report.own,
            levers: report.levers,
            was_there: report.was_there,
            began_with: 0,
            figures,
            base: figures,
            paused: None,
            is_listed: report.levers & NODELAY != 0,
            acks: None,
            ordered: RawOrder::default(),
            quick_for: 0,
            quick_segments: 0,
            ends: report.ends,
            pid: report.pid,
            cgroup: report.cgroup,
        }
    }

    /// Takes what a report says. Answers what is new.
    pub(crate) fn take(&mut self, report: &Report) -> Figures {
        let new = report.figures.since(self.figures);
        self.figures = report.figures;
        self.own = report.own;
        self.levers = report.levers;
        // Its program assigned it at the end of a turn without settings.
        if self.arm == Arm::Observed && report.arm != Arm::Observed {
            self.join(report.arm);
        }
        if self.ends.is_none() {
            self.ends = report.ends;
        }
        // What is acknowledged at once does not show whether waiting would pay: after a while it is tried.
        if self.ordered.quick != 0 {
            self.quick_for = self.quick_for.saturating_sub(new.segments);
            return new;
        }
        let arrivals = report.arrivals();
        // Of who never made a peer wait nothing has to be known.
        let waits = arrivals.iter().any(|one| one.ack.is_some_and(|ack| ack.alone));
        if self.acks.is_some() || waits {
            let mss = report.mss.max(Bytes(1));
            self.acks.get_or_insert_default().arrived(arrivals, report.srtt, mss);
        }
        new
    }

    /// Begins a turn without settings: what is counted in it is not evidence for or against one.
    pub(crate) fn pause(&mut self) {
        self.paused = Some(Box::new(self.figures));
    }

    /// Ends such a turn.
    pub(crate) fn resume(&mut self) {
        if let Some(before) = self.paused.take() {
            self.base = self.base.plus(self.figures.since(*before));
        }
    }

    /// Returns whether it has TCP_NODELAY from the agent, or gets it back after the present turn.
    fn has_nodelay(&self) -> bool {
        self.levers & NODELAY != 0 || self.paused.is_some() && self.is_listed
    }

    /// From now on it is of this group.
    pub(crate) fn join(&mut self, arm: Arm) {
        self.arm = arm;
        self.base = self.figures;
    }

    /// What its acknowledgments should wait.
    pub(crate) fn wait(&mut self) -> Wait {
        let Some(acks) = &mut self.acks else { return Wait::Kernel };
        if self.ordered.quick != 0 {
            if self.quick_for > 0 {
                return Wait::AtOnce;
            }
            // Another try, which knows nothing of the one before.
            **acks = Acks::new();
            return Wait::AtMost(Span::ZERO);
        }
        acks.wait()
    }

    /// Remembers an order. Answers whether it is another one.
    pub(crate) fn order(&mut self, order: RawOrder) -> bool {
        if order.quick != 0 && self.ordered.quick == 0 {
            self.quick_segments = (self.quick_segments * 2).clamp(QUICK_FIRST, QUICK_LONGEST);
            self.quick_for = self.quick_segments;
        }
        std::mem::replace(&mut self.ordered, order) != order
    }

    /// Whether it tells something of a lever: it has it, or could have it and is left alone. Nagle's algorithm is as it was
    /// when a connection began, and an application's own choice is none of ours.
    pub(crate) fn is_of(&self, lever: Lever) -> bool {
        match (self.arm, lever) {
            (Arm::Observed, _) => false,
            (Arm::Treated, Lever::Nodelay) => self.has_nodelay(),
            _ => lever.is_left_to_us(self.own),
        }
    }

    /// Whether a lever that was at work for its application when it began has reached it; `None` if that says nothing of
    /// the lever: it is of the control group, the option is the application's, or its peer had no time to wait.
    pub(crate) fn is_reached(&self, lever: Lever) -> Option<bool> {
        let is_counted = self.began_with & 1 << lever.index() != 0
            && self.arm != Arm::Control
            && lever.is_left_to_us(self.own);
        let is_reached = match lever {
            Lever::Nodelay => self.has_nodelay(),
            Lever::DelayedAck | Lever::QuickAck => self.arm == Arm::Treated,
        };
        let is_enough = lever == Lever::Nodelay || self.figures.segments >= ENOUGH_SEGMENTS;
        (is_counted && (is_reached || is_enough)).then_some(is_reached)
    }

    /// Levers at work on it, by name.
    pub fn levers_at_work(&self) -> Vec<String> {
        let bits = [(1, "nodelay"), (2, "delayed-ack"), (4, "quick-ack")];
        let at_work = bits.into_iter().filter(|(bit, _)| self.levers & bit != 0);
        at_work.map(|(_, name)| name.to_owned()).collect()
    }

    /// The bound of its delayed acknowledgments, as ordered.
    pub fn delack_max(&self) -> Option<Span> {
        let micros = u64::from(self.ordered.delack_max_us);
        (micros > 0).then(|| Span::from_micros(micros))
    }

    /// How it gets on since its group was chosen, `lost` being what counts as lost; nothing where too little was
    /// seen.
    pub(crate) fn sample(&self, lost: impl Fn(&Figures) -> Span) -> Option<Sample> {
        let since = self.paused.as_deref().unwrap_or(&self.figures).since(self.base);
        let active = since.active.as_secs_f64();
        (since.segments >= ENOUGH_SEGMENTS && active > 0.0 && since.bytes > 0).then(|| Sample {
            rate: since.bytes as f64 * 8.0 / active,
            stalled_share: (lost(&since).as_secs_f64() / active).min(1.0),
        })
    }
}
