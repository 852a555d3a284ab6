//! Reports in, orders out: what is done for which connection, without a clock and without a kernel.
//!
//! ```text
//! programs ─report─► Engine ─ Do ─► classes and orders for the programs, transfers for the history, routes, news
//!                      │
//!                      ├─ Connection ─ Acks (the simulator's ACK policy)
//!                      └─ Application ─ Trial (treated against control, a lever each)
//! ```

mod order;
mod turns;

use crate::application::{Allowed, Application};
use crate::connection::{Connection, NODELAY};
use crate::kernel::layout::{RawClass, RawOrder};
use crate::lever::{Lever, Rule, Standing};
use crate::report::{Arm, Figures, Kind, Report, Transferred};
use ackord_daemon::mix;
use ackord_daemon::switchback::{LinkCompared, LinkTotals, Switchback, Turns};
use ackord_history::Advice;
use ackord_units::{Span, Time};
use order::order;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// More keys of programs are not remembered: they are named anew then.
const MOST_KEYS: usize = 1 << 16;

/// How an engine works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineConfig {
    /// Whether levers are pulled; otherwise it is only seen what they would be for.
    pub acts: bool,
    /// Of a thousand connections so many are left alone.
    pub control_per_mille: u16,
    /// The shortest bound that this kernel takes.
    pub delack_least: Span,
    /// Whether there is a table of quick routes.
    pub has_quick_routes: bool,
    /// When levers begin and end.
    pub rule: Rule,
    /// Turns of the whole host without settings; none when absent.
    pub turns: Option<Turns>,
    /// Connections that are known at most.
    pub connections: usize,
    /// Applications that are known at most.
    pub applications: usize,
}

/// What an engine wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// An application, as the programs know it, belongs to a class from now on.
    Application(u64, u16),
    /// This is done for a class.
    Class(u16, RawClass),
    /// This is done for a connection.
    Order(u64, RawOrder),
    /// An application has had a transfer.
    Transfer(u16, Transferred),
    /// Nagle's algorithm was switched off for this socket.
    Nodelay(u64),
    /// A socket is gone.
    Gone(u64),
    /// Packets to this host overtake each other: so many segments apart, and segments were retransmitted in vain.
    Reordered(IpAddr, u32),
    /// Open connections get or lose their settings, and new ones do as they do.
    Turn(Turn),
    /// The standing of a lever has changed.
    Standing(u16, Lever, Standing),
}

/// A turn of the whole host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// No connection has settings.
    Untreated,
    /// All have those of their applications, but for the control group.
    Treated,
    /// New connections have them; open ones stay as they are.
    Over,
}

/// What an engine has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Connections that were followed.
    pub connections: u64,
    /// Those for which there was no room.
    pub unfollowed: u64,
    /// Connections of unnamed applications that were not followed.
    pub unnamed: u64,
    /// Orders given.
    pub orders: u64,
}

/// Connections, applications, and what follows.
#[derive(Debug)]
pub struct Engine {
    config: EngineConfig,
    applications: Vec<Application>,
    /// By name, and by what tells them apart in the kernel.
    named: BTreeMap<String, u16>,
    keyed: BTreeMap<u64, u16>,
    /// Keys of which the programs were told once more since the last look: they had forgotten them.
    repeated: BTreeSet<u64>,
    connections: BTreeMap<u64, Connection>,
    /// Of all connections since the start.
    totals: LinkTotals,
    switchback: Option<Switchback>,
    compared: LinkCompared,
    stats: Stats,
    out: Vec<Do>,
}

impl Engine {
    /// One that knows nobody.
    pub fn new(config: EngineConfig) -> Engine {
        Engine {
            config,
            applications: Vec::new(),
            named: BTreeMap::new(),
            keyed: BTreeMap::new(),
            repeated: BTreeSet::new(),
            connections: BTreeMap::new(),
            totals: LinkTotals::default(),
            switchback: None,
            compared: LinkCompared::default(),
            stats: Stats::default(),
            out: Vec::new(),
        }
    }

    /// Whether somebody has to say who this is before its report is taken.
    pub fn wants_name(&self, report: &Report) -> bool {
        let is_new = !self.connections.contains_key(&report.cookie);
        is_new && (report.application == 0 || !self.keyed.contains_key(&report.application))
    }

    /// An application, as the kernel knows it, is called this, and may have these levers.
    pub fn name(&mut self, key: u64, name: &str, allowed: Allowed) -> u16 {
        let index = match self.named.get(name) {
            Some(index) => *index,
            // Whoever comes when there is no room belongs to the first, for which nothing is done.
            None if self.applications.len() >= self.config.applications => 0,
            None => {
                let index = self.applications.len() as u16;
                self.applications.push(Application::new(name, allowed));
                self.named.insert(name.to_owned(), index);
                index
            }
        };
        if self.keyed.len() >= MOST_KEYS {
            self.keyed.clear();
        }
        if key != 0 && self.keyed.insert(key, index) != Some(index) {
            self.repeated.insert(key);
            self.out.push(Do::Application(key, class_of(index)));
        }
        index
    }

    /// An application is known by other names, too. `allowed` gives the levers that an application of several names may
    /// have.
    pub fn call(&mut self, index: u16, also: Vec<String>, allowed: impl Fn(&[String]) -> Allowed) {
        let Some(one) = self.applications.get_mut(usize::from(index)) else { return };
        if one.call(also) {
            allow(&self.config, &mut self.out, index, one, allowed);
        }
    }

    /// Takes a report; `application` where [`Engine::wants_name`] asked for one.
    pub fn handle(&mut self, report: &Report, application: Option<u16>) {
        if let Some(transfer) = report.transfer
            && let Some(index) = self.index_of(report, application)
        {
            self.out.push(Do::Transfer(index, transfer));
        }
        if !self.connections.contains_key(&report.cookie) && !self.begin(report, application) {
            return;
        }
        let Some(connection) = self.connections.get_mut(&report.cookie) else { return };
        let new = connection.take(report);
        if connection.levers & NODELAY != 0 && !connection.is_listed {
            connection.is_listed = true;
            self.out.push(Do::Nodelay(report.cookie));
        }
        if let Some(one) = self.applications.get_mut(usize::from(connection.application)) {
            // One that was adopted has its group before anything is done for it.
            let is_done = one.is_touched() || connection.levers != 0;
            turns::add(&mut self.totals, new, !one.is_touched());
            one.count(new, connection.own, connection.arm == Arm::Treated && is_done);
        }
        match report.kind {
            Kind::Opened => {}
            Kind::Sample => self.decide(report.cookie),
            Kind::Closed => self.end(report),
        }
    }

    fn index_of(&self, report: &Report, application: Option<u16>) -> Option<u16> {
        let known = self.connections.get(&report.cookie).map(|one| one.application);
        known.or(application).or_else(|| self.keyed.get(&report.application).copied())
    }

    fn begin(&mut self, report: &Report, application: Option<u16>) -> bool {
        let Some(index) = self.index_of(report, application) else { return false };
        // One that is over already has told all it had to tell.
        if report.kind == Kind::Closed && report.figures.segments == 0 {
            return false;
        }
        if self.connections.len() >= self.config.connections {
            self.stats.unfollowed += 1;
            return false;
        }
        if report.class == 0
            && self.keyed.get(&report.application) == Some(&index)
            && self.repeated.insert(report.application)
        {
            self.out.push(Do::Application(report.application, class_of(index)));
        }
        let mut connection = Connection::new(index, report);
        if report.levers & NODELAY != 0 {
            self.out.push(Do::Nodelay(report.cookie));
        }
        let Some(one) = self.applications.get_mut(usize::from(index)) else { return false };
        one.connections += 1;
        one.late += u64::from(report.is_late);
        one.living += 1;
        let is_treated = self.switchback.as_ref().is_none_or(Switchback::is_treated);
        if !is_treated {
            connection.pause();
        }
        let settled =
            Lever::ALL.into_iter().filter(|lever| one.trial(*lever).is_settled(report.at));
        connection.began_with =
            settled.filter(|_| is_treated).map(|lever| 1 << lever.index()).sum();
        self.stats.connections += 1;
        self.connections.insert(report.cookie, connection);
        true
    }

    /// What is done about the acknowledgments of a connection.
    fn decide(&mut self, cookie: u64) {
        let is_treated = self.is_turn_treated();
        let Some(connection) = self.connections.get_mut(&cookie) else { return };
        let Some(one) = self.applications.get_mut(usize::from(connection.application)) else {
            return;
        };
        if !is_treated || !self.config.acts || !one.trial(Lever::DelayedAck).is_at_work() {
            return;
        }
        let is_ours = Lever::DelayedAck.is_left_to_us(connection.own);
        if connection.arm == Arm::Observed && is_ours {
            let is_control = mix(cookie) % 1_000 < u64::from(self.config.control_per_mille);
            connection.join(if is_control { Arm::Control } else { Arm::Treated });
        }
        if connection.arm != Arm::Treated {
            return;
        }
        let order = match is_ours {
            true => order(&self.config, connection.wait(), connection.own),
            false => RawOrder::default(),
        };
        let bound =
            (order.delack_max_us > 0).then(|| Span::from_micros(u64::from(order.delack_max_us)));
        one.ordered(bound);
        if connection.order(order) {
            self.stats.orders += 1;
            self.out.push(Do::Order(cookie, order));
        }
    }

    fn end(&mut self, report: &Report) {
        let Some(connection) = self.connections.remove(&report.cookie) else { return };
        if connection.is_listed {
            self.out.push(Do::Gone(report.cookie));
        }
        // Retransmissions that were not needed (RFC 2883), and a kernel that saw packets overtake each other.
        if let (Some(segments), Some((_, remote)), 1..) =
            (report.reordering, connection.ends, report.dsacks)
        {
            self.out.push(Do::Reordered(remote.ip(), segments));
        }
        let Some(one) = self.applications.get_mut(usize::from(connection.application)) else {
            return;
        };
        one.living = one.living.saturating_sub(1);
        for lever in Lever::ALL {
            if let Some(is_treated) = connection.is_reached(lever) {
                one.trial_mut(lever).ended_reached(is_treated);
            }
        }
        let is_control = connection.arm == Arm::Control;
        for lever in Lever::ALL.into_iter().filter(|lever| connection.is_of(*lever)) {
            if let Some(sample) = connection.sample(|figures| lost_to(lever, figures)) {
                one.trial_mut(lever).ended(is_control, sample);
            }
        }
    }

    /// Once a second or so: levers begin where that is worth it, and end.
    pub fn look(&mut self, now: Time) {
        self.repeated.clear();
        self.take_turn(now);
        let mut living: BTreeMap<u16, Vec<&Connection>> = BTreeMap::new();
        let is_of_a_lever = |one: &&Connection| one.arm != Arm::Observed || one.began_with != 0;
        for one in self.connections.values().filter(is_of_a_lever) {
            living.entry(one.application).or_default().push(one);
        }
        let Engine { config, applications, out, .. } = self;
        let mut begun = BTreeSet::new();
        for (index, one) in (0_u16..).zip(applications) {
            let before = one.class(config.control_per_mille);
            let living = living.get(&index).map_or(&[][..], Vec::as_slice);
            for lever in Lever::ALL {
                let reached = living.iter().filter_map(|each| each.is_reached(lever));
                one.trial_mut(lever).living_reached(reached);
                let of_it = living.iter().filter(|each| each.is_of(lever));
                let samples = of_it.filter_map(|each| {
                    let sample = each.sample(|figures| lost_to(lever, figures))?;
                    Some((each.arm == Arm::Control, sample))
                });
                if one.trial_mut(lever).look(now, &config.rule, samples) {
                    one.look_anew();
                    out.push(Do::Standing(index, lever, one.trial(lever).standing()));
                }
            }
            for lever in one.begin(now, &config.rule) {
                begun.insert(index);
                out.push(Do::Standing(index, lever, one.trial(lever).standing()));
            }
            let after = one.class(config.control_per_mille);
            if after != before && config.acts {
                out.push(Do::Class(class_of(index), after));
            }
            let tried: Vec<Lever> =
                Lever::ALL.into_iter().filter(|lever| one.trial(*lever).is_tried()).collect();
            let of_any = living.iter().filter(|each| tried.iter().any(|lever| each.is_of(*lever)));
            let is_control = of_any.map(|each| each.arm == Arm::Control);
            let (control, treated): (Vec<bool>, Vec<bool>) = is_control.partition(|one| *one);
            (one.treated, one.control) = (treated.len() as u64, control.len() as u64);
        }
        // What these lost before a lever was at work says nothing of it.
        let adopted = self.connections.values_mut().filter(|one| one.was_there);
        adopted.filter(|one| begun.contains(&one.application)).for_each(|one| one.join(one.arm));
    }

    /// Takes the number of connections that programs have passed over, by class.
    pub fn passed_over(&mut self, of_class: impl Fn(u16) -> u64) {
        for (index, one) in (0_u16..).zip(&mut self.applications) {
            one.passed_over = of_class(class_of(index));
        }
        self.stats.unnamed = of_class(0);
    }

    /// The history of an application says this.
    pub fn advise(&mut self, index: u16, advice: Advice) {
        if let Some(one) = self.applications.get_mut(usize::from(index)) {
            one.advise(advice);
        }
    }

    /// Other levers may be used from now on, by name.
    pub fn allow(&mut self, config: EngineConfig, allowed: impl Fn(&[String]) -> Allowed) {
        if config.turns != self.config.turns {
            self.end_turns();
        }
        self.config = config;
        for (index, one) in (0_u16..).zip(&mut self.applications) {
            allow(&self.config, &mut self.out, index, one, &allowed);
        }
    }

    /// What is to be done since this was last asked.
    pub fn take(&mut self) -> Vec<Do> {
        std::mem::take(&mut self.out)
    }

    /// The applications.
    pub fn applications(&self) -> &[Application] {
        &self.applications
    }

    /// The connections, by cookie.
    pub fn connections(&self) -> &BTreeMap<u64, Connection> {
        &self.connections
    }

    /// What was counted.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// How it works.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }
}

fn allow(
    config: &EngineConfig,
    out: &mut Vec<Do>,
    index: u16,
    one: &mut Application,
    allowed: impl Fn(&[String]) -> Allowed,
) {
    let before = one.class(config.control_per_mille);
    one.allow(allowed(one.names()));
    let after = one.class(config.control_per_mille);
    if after != before {
        out.push(Do::Class(class_of(index), after));
    }
}

/// The first class is for those that nobody knows yet.
fn class_of(application: u16) -> u16 {
    application + 1
}

/// What counts as lost where this lever is judged.
fn lost_to(lever: Lever, figures: &Figures) -> Span {
    match lever {
        Lever::Nodelay => figures.nagle,
        Lever::DelayedAck | Lever::QuickAck => figures.delack,
    }
}

#[cfg(test)]
mod tests;
