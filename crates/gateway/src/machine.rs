//! What a machine has of what a configuration needs, as far as it can be seen without changing anything.
//!
//! Not there: what only trying tells, such as whether this process may load a program.

use crate::LinkKind;
use crate::device::{Control, link_kind};
use ackord_units::Rate;
use std::fs;

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its kernel's version.
    pub kernel: KernelVersion,
    /// Whether it forwards IPv4.
    pub forwards_v4: bool,
    /// And IPv6.
    pub forwards_v6: bool,
    /// The interfaces that were asked for and are there.
    pub interfaces: Vec<InterfaceFacts>,
}

/// The first two numbers of a kernel's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion(pub u32, pub u32);

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// Its name.
    pub name: String,
    /// Whether it is up.
    pub is_up: bool,
    /// Whether its packets have no link header: modems, tunnels.
    pub is_bare: bool,
    /// How fast its link is, where it says so.
    pub speed: Option<Rate>,
    /// The bridge of which it is a port.
    pub bridge: Option<String>,
    /// Whether it joins packets in a way that cannot be undone (large receive offload).
    pub lro: bool,
}

impl KernelVersion {
    /// Programs are attached by TCX from this one on.
    pub const TCX: KernelVersion = KernelVersion(6, 6);

    /// Reads `6.12.3-arch1`; nothing where it does not begin with two numbers.
    pub fn parse(text: &str) -> Option<KernelVersion> {
        let mut numbers = text.trim().split(|c: char| !c.is_ascii_digit());
        Some(KernelVersion(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

impl Machine {
    /// This one, with what it has of these interfaces. What cannot be read is taken for absent.
    pub fn look<'a>(names: impl IntoIterator<Item = &'a str>) -> Machine {
        let on = |path: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() != "0");
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Machine {
            kernel: KernelVersion::parse(&release).unwrap_or(KernelVersion(0, 0)),
            forwards_v4: on("/proc/sys/net/ipv4/ip_forward"),
            forwards_v6: on("/proc/sys/net/ipv6/conf/all/forwarding"),
            interfaces: names.into_iter().filter_map(InterfaceFacts::look).collect(),
        }
    }

    /// The interface of this name, if it is there.
    pub fn interface(&self, name: &str) -> Option<&InterfaceFacts> {
        self.interfaces.iter().find(|one| one.name == name)
    }
}

/// Asks for the flags of ethtool(8), and the one for large receive offload (linux/ethtool.h).
const ETHTOOL_GFLAGS: u32 = 0x25;
const ETH_FLAG_LRO: u32 = 1 << 15;

impl InterfaceFacts {
    fn look(name: &str) -> Option<InterfaceFacts> {
        let control = Control::open().ok()?;
        let present = control.present(name).ok()?;
        let folder = format!("/sys/class/net/{name}");
        // Minus one, or an error, where nobody knows.
        let speed = fs::read_to_string(format!("{folder}/speed")).ok();
        let speed = speed.and_then(|text| text.trim().parse::<u64>().ok()).filter(|mbps| *mbps > 0);
        let bridge = fs::read_link(format!("{folder}/brport/bridge")).ok();
        let flags = control.ethtool(name, ETHTOOL_GFLAGS).unwrap_or(0);
        Some(InterfaceFacts {
            name: name.to_owned(),
            is_up: present.is_up,
            is_bare: link_kind(present.hardware) == Some(LinkKind::Bare),
            speed: speed.map(Rate::from_mbits_per_sec),
            bridge: bridge.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
            lro: flags & ETH_FLAG_LRO != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_apart_by_their_first_two_numbers() {
        let of = KernelVersion::parse;
        assert_eq!(of("6.18.44-fc-v595\n"), Some(KernelVersion(6, 18)));
        assert!(of("6.6.0") >= Some(KernelVersion::TCX) && of("6.5.9") < Some(KernelVersion::TCX));
        assert!(of("5.15-rc1").is_some() && of("next").is_none() && of("6").is_none());
    }

    #[test]
    fn the_loopback_interface_is_there_and_what_is_not_is_not() {
        let machine = Machine::look(["lo", "no-such-one"]);
        assert_eq!(machine.interface("lo").map(|lo| (lo.lro, lo.is_bare)), Some((false, false)));
        assert_eq!(machine.interface("no-such-one"), None);
        assert!(machine.kernel >= KernelVersion(3, 0));
    }
}
