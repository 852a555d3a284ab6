//! Programs on kernel hosts that serve: they listen before a run begins.

use super::hosts::KernelHost;
use super::options::EmulationOptions;
use crate::error::LiveError;
use ackord_sys::{CommandEnd, Namespace};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long until servers are looked at again, and how often until they listen.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(10);
const SERVER_LOOKS: u32 = 300;

/// Commands and how they ended, by their places in the options.
pub(super) type EndedCommands = Vec<(usize, CommandEnd)>;

/// Starts what has to be there before the run begins, and waits until it listens. Answers what was
/// started, and what has ended already.
pub(super) fn start_servers(
    options: &EmulationOptions,
    hosts: &mut [KernelHost],
) -> Result<(BTreeSet<usize>, EndedCommands), LiveError> {
    let (mut started, mut ended) = (BTreeSet::new(), Vec::new());
    for (number, command) in options.commands.iter().enumerate() {
        if command.starts_at.is_some() {
            continue;
        }
        let Some(host) = hosts.iter_mut().find(|host| host.node == command.host) else { continue };
        let Some(place) = host.commands.iter().position(|other| *other == number) else { continue };
        let before = listening(&host.namespace);
        host.namespace.start_command(place)?;
        started.insert(number);
        for _ in 0..SERVER_LOOKS {
            while let Some((place, end)) = host.namespace.command_end() {
                ended.push((host.commands[place], end));
            }
            let gone = ended.iter().any(|(other, _)| *other == number);
            if gone || is_there(host, before) {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
    Ok((started, ended))
}

/// Whether a program does what a server of this host does: listen, more than there were `before`, or on
/// a router look at every device.
fn is_there(host: &KernelHost, before: usize) -> bool {
    match host.devices {
        1 => listening(&host.namespace) > before,
        devices => looking(&host.namespace) >= devices,
    }
}

/// Sockets in a namespace that look at packets of a device (packet(7)), whatever they look for.
fn looking(namespace: &Namespace) -> usize {
    let table = namespace.table("packet").unwrap_or_default();
    let devices = table.lines().skip(1).filter_map(|row| row.split_whitespace().nth(4));
    devices.filter(|device| *device != "0").collect::<BTreeSet<_>>().len()
}

/// Sockets in a namespace that wait for somebody: listening ones of TCP, any of UDP.
fn listening(namespace: &Namespace) -> usize {
    const LISTEN: &str = "0A";
    let rows = |table: &str| namespace.table(table).unwrap_or_default();
    let state = |row: &str| row.split_whitespace().nth(3).map(str::to_owned);
    let tcp = ["tcp", "tcp6"].map(|table| {
        rows(table).lines().skip(1).filter(|row| state(row).as_deref() == Some(LISTEN)).count()
    });
    let udp = ["udp", "udp6"].map(|table| rows(table).lines().skip(1).count());
    tcp.into_iter().chain(udp).sum()
}
