//! The kernel hosts of an emulation: a namespace for each, and what is in it.

use super::device::TunDevice;
use super::options::{EmulationOptions, HostReport};
use crate::apps::KernelEnd;
use crate::error::LiveError;
use crate::interop::KernelCounters;
use crate::settings::{HostSettings, host_settings};
use ackord_events::EndpointId;
use ackord_scenario::{NodeKind, Scenario, Transport};
use ackord_sys::{CommandInside, DEVICE, Inside, Namespace, TerminalUse};
use ackord_wire::{FlowId, IpVersion, NodeId, Side, host_address};
use nix::sys::socket::{AddressFamily, SockType};
use std::collections::BTreeMap;

/// A kernel host.
pub(super) struct KernelHost {
    pub(super) node: NodeId,
    pub(super) namespace: Namespace,
    /// What the scenario asks of its kernel, and what came of it.
    pub(super) settings: HostSettings,
    /// By place inside: the command's place in the options.
    pub(super) commands: Vec<usize>,
    /// How many devices it has: a router's servers look at all of them.
    pub(super) devices: usize,
}

impl KernelHost {
    /// The router: no flow ends there.
    pub(super) fn router(node: NodeId, namespace: Namespace, commands: Vec<usize>) -> KernelHost {
        KernelHost { node, namespace, settings: HostSettings::default(), commands, devices: 2 }
    }
}

/// The network card of a machine that has one.
const CARD: &str = "eth0";
/// Bytes of a TCP header without options.
const TCP_HEADER: u64 = 20;
/// Bytes of IP packet that fit through a host's device, unless its flows have larger ones.
const MTU: u16 = 1500;

/// Makes every host that is not ours.
pub(super) fn make_hosts(
    options: &EmulationOptions,
) -> Result<Vec<(KernelHost, Option<TunDevice>)>, LiveError> {
    let scenario = &options.scenario;
    let kernels = kernel_nodes(options);
    kernels.into_iter().map(|node| make_host(options, scenario, node)).collect()
}

/// The hosts of the scenario, but for ours.
pub(super) fn kernel_nodes(options: &EmulationOptions) -> Vec<NodeId> {
    host_nodes(&options.scenario).filter(|node| !options.ours.contains(node)).collect()
}

/// The hosts of a scenario.
pub(super) fn host_nodes(scenario: &Scenario) -> impl Iterator<Item = NodeId> {
    let nodes = (0..scenario.nodes.len()).map(|number| NodeId(number as u16));
    nodes.filter(|node| scenario.node(*node).kind == NodeKind::Host)
}

fn make_host(
    options: &EmulationOptions,
    scenario: &Scenario,
    node: NodeId,
) -> Result<(KernelHost, Option<TunDevice>), LiveError> {
    let (commands, inside) = commands_at(options, node);
    let mtu = mtu(scenario, node);
    let mut settings = host_settings(scenario, node)?;
    let inside = Inside {
        mtu,
        device: (if options.device_exists { CARD } else { DEVICE }).to_owned(),
        device_exists: options.device_exists,
        sysctls: settings.sysctls.clone(),
        route: Some(settings.route.clone()),
        commands: inside,
        ..Inside::new(vec![
            (host_address(node, IpVersion::V4), 24),
            (host_address(node, IpVersion::V6), 64),
        ])
    };
    let mut namespace = Namespace::create(&inside)?;
    settings.refused(namespace.refused());
    let device = (!options.device_exists).then(|| TunDevice::new(namespace.take_tun(), mtu));
    Ok((KernelHost { node, namespace, settings, commands, devices: 1 }, device))
}

/// The programs of a node: their places in the options, and what is to be started.
pub(super) fn commands_at(
    options: &EmulationOptions,
    node: NodeId,
) -> (Vec<usize>, Vec<CommandInside>) {
    let numbered = options.commands.iter().enumerate();
    let here = numbered.filter(|(_, command)| command.host == node);
    let inside = here.map(|(number, command)| {
        let command = CommandInside {
            argv: command.argv.clone(),
            environment: command.environment.clone(),
            terminal: TerminalUse::Shared,
            stdout: command.stdout.clone(),
            stderr: command.stderr.clone(),
        };
        (number, command)
    });
    inside.unzip()
}

/// The MTU of a host's device: segments as large as the scenario's fit.
pub(super) fn mtu(scenario: &Scenario, node: NodeId) -> u16 {
    let ends = scenario.flows.iter().flat_map(|flow| {
        [(flow.client, Side::Client), (flow.server, Side::Server)]
            .map(|(at, side)| (flow, at, side))
    });
    let here = ends.filter(|(flow, at, _)| *at == node && flow.transport() == Transport::Tcp);
    // RFC 6691 §2: the MTU less the headers without options.
    let needs = here.map(|(flow, _, side)| {
        let config = flow.tcp(side).config();
        config.mss.get() + u64::from(config.ip.header_len()) + TCP_HEADER
    });
    let needs = needs.max();
    needs.map_or(MTU, |needs| needs.min(65_535) as u16).max(MTU)
}

/// The ends of the scenario's flows that kernel hosts have, with their sockets; not those that a
/// command has.
pub(super) fn kernel_ends(
    options: &EmulationOptions,
    hosts: &[KernelHost],
) -> Result<Vec<KernelEnd>, LiveError> {
    let by_node: BTreeMap<NodeId, &KernelHost> =
        hosts.iter().map(|host| (host.node, host)).collect();
    let mut ends = Vec::new();
    for (flow, number) in options.scenario.flows.iter().zip(0..) {
        for (side, node) in [(Side::Client, flow.client), (Side::Server, flow.server)] {
            let endpoint = EndpointId { flow: FlowId(number), side };
            let by_command = options.commands.iter().any(|it| it.ends.contains(&endpoint));
            let Some(host) = by_node.get(&node).filter(|_| !by_command) else { continue };
            let (family, kind) = match flow.transport() {
                Transport::Tcp => match flow.tcp(side).config().ip {
                    IpVersion::V4 => (AddressFamily::Inet, SockType::Stream),
                    IpVersion::V6 => (AddressFamily::Inet6, SockType::Stream),
                },
                Transport::Udp => (AddressFamily::Inet, SockType::Datagram),
            };
            let socket = host.namespace.socket(family, kind)?;
            let (scenario, seed) = (&options.scenario, options.seed);
            let asked = host.settings.options.get(&endpoint).cloned().unwrap_or_default();
            ends.push(KernelEnd::of(scenario, seed, endpoint, asked, socket));
        }
    }
    Ok(ends)
}

/// What every host was.
pub(super) fn host_reports(scenario: &Scenario, kernels: &[KernelHost]) -> Vec<HostReport> {
    let report = |node| {
        let kernel = kernels.iter().find(|host| host.node == node);
        HostReport {
            node,
            ours: kernel.is_none(),
            settings: kernel.map_or_else(Vec::new, |host| host.settings.told.clone()),
            refused: kernel.map_or_else(Vec::new, |host| host.namespace.refused().to_vec()),
            counters: kernel.map_or_else(KernelCounters::default, |host| {
                KernelCounters::read(|name| host.namespace.table(name))
            }),
        }
    };
    host_nodes(scenario).map(report).collect()
}
