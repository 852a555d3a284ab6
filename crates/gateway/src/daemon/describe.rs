//! How a gateway stands, put together once a second.

use super::DaemonError;
use super::carried::Carried;
use super::health::{Health, Refused};
use super::subscribers::Recent;
use crate::config::GatewayConfig;
use crate::watch::{
    self, ClassStatus, FlowCounts, FlowStatus, Group, QueueStatus, RingStatus, Status, TOP_FLOWS,
};
use crate::{Class, Connection, Drive, Engine, Refusal, Standing};
use ackord_daemon::evidence::Compared;
use ackord_daemon::status::Process;
use ackord_daemon::unix_s;
use ackord_units::Time;
use std::path::Path;

/// What a description needs and nobody else keeps.
#[derive(Debug)]
pub(super) struct Described {
    config: String,
    reloads: u64,
    reloads_refused: u64,
    /// The last reload, if it was refused.
    refused: Option<Refused>,
    carried: Carried,
    recent: Recent,
    began_unix_s: f64,
}

impl Described {
    pub(super) fn new(file: Option<&Path>) -> Described {
        let config = file.map(|path| path.display().to_string()).unwrap_or_default();
        Described {
            config,
            reloads: 0,
            reloads_refused: 0,
            refused: None,
            carried: Carried::default(),
            recent: Recent::default(),
            began_unix_s: unix_s(),
        }
    }

    pub(super) fn take_reload(&mut self) {
        self.reloads += 1;
        self.refused = None;
    }

    pub(super) fn refuse_reload(&mut self, error: &DaemonError) {
        self.reloads_refused += 1;
        self.refused = Some(Refused::new(error));
    }

    pub(super) fn status(
        &mut self,
        config: &GatewayConfig,
        drive: &mut Drive,
        (queues, now): (Vec<QueueStatus>, Time),
    ) -> Status {
        let (removed, lost) = (drive.removed(), drive.counts());
        let rings = rings(drive);
        self.carried.look(now, drive.ports(), &rings);
        let engine = drive.engine();
        let (stats, connections) = (engine.stats(), engine.connections());
        let of_boxes = |of: fn(&ackord_path::proxy::ProxyStats) -> u64| {
            engine.classes().iter().filter_map(Class::stats).map(of).sum::<u64>()
        };
        let mut refused: std::collections::BTreeMap<String, u64> = Refusal::ALL
            .iter()
            .zip(stats.refused)
            .map(|(why, count)| (why.name().to_owned(), count))
            .collect();
        refused.insert("too late to be of use".to_owned(), lost.stale);
        refused.insert("not taken by the interface".to_owned(), lost.not_taken);
        let groups: Vec<Group> =
            connections.iter().map(|one| group(one, engine.classes())).collect();
        let count = |which| groups.iter().filter(|group| **group == which).count() as u64;
        Status {
            process: Process::now(now.as_secs_f64(), self.config.clone(), self.reloads),
            reloads_refused: self.reloads_refused,
            flows: FlowCounts {
                known: connections.len() as u64,
                in_all: stats.connections,
                treated: count(Group::Treated),
                control: count(Group::Control),
                forgotten: connections.evicted(),
                opened_from_lan: connections.openings().from_lan,
                opened_from_wan: connections.openings().from_wan,
                held: stats.held,
                holds: of_boxes(|stats| stats.holds),
                false_holds: of_boxes(|stats| stats.false_holds),
            },
            bytes_to_mobile: stats.bytes_to_mobile,
            bytes_from_mobile: stats.bytes_from_mobile,
            injected_segments: lost.sent,
            injected_to_mobile: stats.injected_to_mobile,
            injected_to_fixed: stats.injected_to_fixed,
            refused_injections: refused,
            unreadable: stats.unreadable,
            dropped_by_gateway: removed
                + queues.iter().flat_map(|queue| queue.drops.values()).sum::<u64>(),
            cached_bytes: connections.kept().get(),
            cached_bytes_limit: config.limits.cache.get(),
            health: Health { config, drive, rings: &rings, queues: &queues }
                .findings(self.refused.as_ref(), &self.carried),
            rings,
            queues,
            injection_lateness: drive.lateness().status(),
            loop_lateness: drive.loop_lateness().status(),
            link: link(drive.engine()),
            classes: classes(drive, self.began_unix_s, &groups),
            subscribers: self.recent.busiest(drive.engine(), now, config.limits.subscribers),
            top_flows: top_flows(drive, now),
        }
    }
}

fn rings(drive: &mut Drive) -> Vec<RingStatus> {
    let each = drive.ports_mut().iter_mut().map(|port| {
        let stats = port.stats();
        RingStatus {
            interface: port.name().to_owned(),
            side: port.interface().name().to_owned(),
            packets: stats.packets,
            lost: stats.lost,
            one_by_one: port.asks_one_by_one(),
        }
    });
    each.collect()
}

/// What is done for a connection.
pub(super) fn group(connection: &Connection, classes: &[Class]) -> Group {
    match classes.get(connection.class).map(Class::standing) {
        _ if connection.pace.is_fast() => Group::Untreated,
        Some(Standing::AtWork) if connection.is_control => Group::Control,
        Some(Standing::AtWork) => Group::Treated,
        _ => Group::Untreated,
    }
}

fn classes(drive: &Drive, began_unix_s: f64, groups: &[Group]) -> Vec<ClassStatus> {
    let engine = drive.engine();
    let each = engine.classes().iter().enumerate().map(|(own, class)| {
        let of_class = || {
            let both = engine.connections().iter().zip(groups);
            both.filter(|(one, _)| one.class == own)
        };
        let count = |which| of_class().filter(|(_, group)| **group == which).count() as u64;
        let Compared { treated, control, .. } = class.compared();
        ClassStatus {
            name: class.name().to_owned(),
            remedy: class.remedy().unwrap_or("none").to_owned(),
            treated: count(Group::Treated),
            control: count(Group::Control),
            injected_segments: of_class().map(|(one, _)| injected(one)).sum(),
            standing: watch::Standing::of(class.standing(), began_unix_s),
            goodput_bit_s: watch::Compared::of(treated.rate, control.rate, 1.0),
            stalled_percent: watch::Compared::of(
                treated.stalled_share,
                control.stalled_share,
                100.0,
            ),
        }
    });
    each.collect()
}

/// What remedies do to the link as a whole; nothing where no connection may get one.
fn link(engine: &Engine) -> Option<watch::LinkStatus> {
    let compared = engine.link_compared();
    let in_turns = engine.switches() || compared.blocks > 0;
    in_turns.then(|| watch::LinkStatus::of(compared, engine.is_turn_treated()))
}

fn injected(connection: &Connection) -> u64 {
    connection.counters.injected_to_mobile + connection.counters.injected_to_fixed
}

fn top_flows(drive: &Drive, now: Time) -> Vec<FlowStatus> {
    let engine = drive.engine();
    let bytes = |one: &Connection| one.counters.bytes_to_mobile + one.counters.bytes_from_mobile;
    let mut most: Vec<&Connection> = engine.connections().iter().collect();
    if most.len() > TOP_FLOWS {
        most.select_nth_unstable_by_key(TOP_FLOWS, |one| std::cmp::Reverse(bytes(one)));
        most.truncate(TOP_FLOWS);
    }
    most.sort_by_key(|one| std::cmp::Reverse(bytes(one)));
    let each = most.into_iter().map(|one| FlowStatus {
        mobile: one.key.mobile,
        fixed: one.key.fixed,
        class: engine.classes().get(one.class).map_or("", Class::name).to_owned(),
        group: group(one, engine.classes()),
        bytes_to_mobile: one.counters.bytes_to_mobile,
        bytes_from_mobile: one.counters.bytes_from_mobile,
        injected_segments: injected(one),
        refused_injections: one.counters.refused,
        cached_bytes: one.kept().get(),
        held: one.is_held,
        quiet_s: now.saturating_since(one.last_at()).as_secs_f64(),
    });
    each.collect()
}
