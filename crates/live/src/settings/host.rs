//! What the flows of a host ask of its kernel together.
//!
//! Sysctls and the route belong to the whole host, so two flows of one host cannot differ in what
//! is set by them.

use super::{KernelFacts, SettingOutcome, SettingTold, Settings, settings_with};
use crate::apps::SocketOption;
use ackord_events::EndpointId;
use ackord_scenario::{Scenario, Transport};
use ackord_sys::RouteSettings;
use ackord_wire::{FlowId, NodeId, Side};
use nix::errno::Errno;
use std::collections::BTreeMap;

/// Two flows of one host ask for what a kernel has only once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "host `{host}` cannot be on the kernel: flows `{}` and `{}` ask for different `{knob}` there, \
     and a kernel has {what} only once for all connections; make them alike, or give each flow a \
     host of its own",
    .flows[0], .flows[1]
)]
pub struct SettingsConflict {
    /// The host.
    pub host: String,
    /// The two flows.
    pub flows: [String; 2],
    /// What they ask for, as in a scenario's `tcp` table.
    pub knob: String,
    /// By what it is set.
    pub what: String,
}

/// What to do at a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostSettings {
    /// Files under `/proc/sys`, and their content.
    pub(crate) sysctls: Vec<(String, String)>,
    /// For the default route.
    pub(crate) route: RouteSettings,
    /// For the sockets of each end of a flow that is here.
    pub(crate) options: BTreeMap<EndpointId, Vec<SocketOption>>,
    /// What comes of each choice and knob, without repetitions.
    pub(crate) told: Vec<SettingTold>,
}

/// What the flows with an end at `node` ask for, as far as they are TCP's.
///
/// # Errors
/// If they ask for what the host's kernel has only once.
pub(crate) fn host_settings(
    scenario: &Scenario,
    node: NodeId,
) -> Result<HostSettings, SettingsConflict> {
    host_settings_with(scenario, node, &KernelFacts::of_this_machine())
}

/// The same for a kernel of which these facts are known.
pub(crate) fn host_settings_with(
    scenario: &Scenario,
    node: NodeId,
    kernel: &KernelFacts,
) -> Result<HostSettings, SettingsConflict> {
    let mut merged = HostSettings::default();
    let mut first: Option<(String, Settings)> = None;
    for (id, flow) in (0..).map(FlowId).zip(&scenario.flows) {
        for (side, at) in [(Side::Client, flow.client), (Side::Server, flow.server)] {
            if at != node || flow.transport() != Transport::Tcp {
                continue;
            }
            let asked = settings_with(flow.tcp(side), kernel);
            let (name, settings) = first.get_or_insert_with(|| (flow.name.clone(), asked.clone()));
            if let Some((knob, what)) = difference(settings, &asked) {
                let host = scenario.node(node).name.clone();
                let flows = [name.clone(), flow.name.clone()];
                return Err(SettingsConflict { host, flows, knob, what });
            }
            for told in asked.told {
                if !merged.told.contains(&told) {
                    merged.told.push(told);
                }
            }
            merged.options.insert(EndpointId { flow: id, side }, asked.options);
        }
    }
    if let Some((_, settings)) = first {
        let pairs = settings.sysctls.into_iter().map(|sysctl| (sysctl.path, sysctl.value));
        merged.sysctls = pairs.collect();
        merged.route = settings.route;
    }
    Ok(merged)
}

/// The first knob in which they differ beyond what is set by socket, and by what it is set.
fn difference(one: &Settings, other: &Settings) -> Option<(String, String)> {
    let dotted = |path: &str| path.replace('/', ".");
    for sysctl in &one.sysctls {
        let theirs = other.sysctls.iter().find(|theirs| theirs.path == sysctl.path);
        if theirs.is_none_or(|theirs| theirs.value != sysctl.value) {
            return Some((sysctl.knob.clone(), dotted(&sysctl.path)));
        }
    }
    let more = |theirs: &&super::Sysctl| one.sysctls.iter().all(|own| own.path != theirs.path);
    if let Some(theirs) = other.sysctls.iter().find(more) {
        return Some((theirs.knob.clone(), dotted(&theirs.path)));
    }
    let (one, other) = (&one.route, &other.route);
    let of_route = |knob: &str, attribute: &str| {
        Some((knob.to_owned(), format!("`{attribute}` of its default route")))
    };
    if one.initcwnd != other.initcwnd {
        return of_route("initial_window", "initcwnd");
    }
    if one.quick_ack != other.quick_ack {
        return of_route("ack", "quickack");
    }
    if one.rto_min != other.rto_min {
        return of_route("rto_min", "rto_min");
    }
    // The congestion control of the route is for programs that set no option; the first flow's
    // will do.
    None
}

impl HostSettings {
    /// Mends what is told by what the kernel refused (see `Namespace::refused`) of sysctls and
    /// routes.
    pub(crate) fn refused(&mut self, refused: &[(String, Errno)]) {
        for (what, errno) in refused {
            let by = format!("{} = ", what.replace('/', "."));
            let concerned = self.told.iter_mut().filter(|told| {
                let detail = told.outcome.detail();
                detail.starts_with(&by)
                    || (what.starts_with("default route") && detail.contains("of the route"))
            });
            for told in concerned {
                let why = format!("what it did before: {} ({})", what, errno.desc());
                told.outcome = SettingOutcome::Instead(why);
            }
        }
    }
}
