//! What an interface allows.

use super::{Allowed, Finding, setting};
use crate::device::{Control, Present, link_kind};
use crate::netlink::Netlink;
use crate::{Interface, LinkKind, Ring, Wanted};
use netlink_packet_route::link::{InfoKind, InfoPortKind, LinkAttribute, LinkInfo, LinkMessage};
/// At the interface of this name.
pub(super) fn findings(name: &str) -> Vec<Finding> {
    let control = match Control::open() {
        Ok(control) => control,
        Err(error) => return vec![Finding::of::<()>("interface", &Err(error), "", "")],
    };
    let present = match control.present(name) {
        Ok(present) => present,
        Err(errno) => {
            let to_do = "look at `ip link` for its name";
            return vec![Finding::new("interface", Allowed::Missing, errno.desc(), to_do)];
        }
    };
    let link = Netlink::open().and_then(|mut netlink| netlink.link(present.index)).ok().flatten();
    let mut findings = vec![state(name, present, link.as_ref()), kind(present.hardware)];
    findings.push(ring(name));
    findings.extend(offloads(&control, name));
    if let Some(link) = &link {
        findings.push(place(link));
        findings.extend(own_queue(link));
    }
    findings.extend(reverse_path_filter(name));
    findings
}

fn state(name: &str, present: Present, link: Option<&LinkMessage>) -> Finding {
    let attributes = link.map_or(&[][..], |link| &link.attributes);
    let mtu = attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Mtu(mtu) => Some(*mtu),
        _ => None,
    });
    let made = attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => infos.iter().find_map(|info| match info {
            LinkInfo::Kind(kind) => Some(word(kind)),
            _ => None,
        }),
        _ => None,
    });
    let made = made.unwrap_or_else(|| "a device".to_owned());
    let reason = format!("{made}, MTU {}", mtu.map_or("unknown".to_owned(), |mtu| mtu.to_string()));
    match present.is_up {
        true => Finding::ok("interface", reason),
        false => {
            let to_do = format!("`ip link set {name} up`");
            Finding::new("interface", Allowed::Missing, format!("{reason}, down"), &to_do)
        }
    }
}

fn word(kind: &InfoKind) -> String {
    match kind {
        InfoKind::Other(kind) => kind.clone(),
        known => format!("{known:?}").to_lowercase(),
    }
}

fn kind(hardware: u16) -> Finding {
    match link_kind(hardware) {
        Some(LinkKind::Ethernet) => Finding::ok("link", "Ethernet"),
        Some(LinkKind::Bare) => {
            Finding::new("link", Allowed::Limited, "bare IP: marks of queued packets are lost", "")
        }
        None => {
            let reason = format!("links of type {hardware} are not understood");
            let to_do = "choose an Ethernet, Wi-Fi, PPP, TUN or modem interface";
            Finding::new("link", Allowed::Missing, reason, to_do)
        }
    }
}

fn ring(name: &str) -> Finding {
    let good = "TPACKET_V3, with virtio headers";
    let to_do = "CAP_NET_RAW; CONFIG_PACKET in the kernel";
    Finding::of("packet ring", &Ring::open(name, Interface::Lan(0), Wanted::ShareOut), good, to_do)
}

/// Commands of linux/ethtool.h.
const GET_TSO: u32 = 0x1e;
const GET_GSO: u32 = 0x23;
const GET_FLAGS: u32 = 0x25;
const GET_GRO: u32 = 0x2b;
const FLAG_LRO: u32 = 1 << 15;

fn offloads(control: &Control, name: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [("GRO", GET_GRO), ("GSO", GET_GSO), ("TSO", GET_TSO)]
        .into_iter()
        .map(|(what, command)| match control.ethtool(name, command) {
            Ok(0) => {
                let to_do = format!("`ethtool -K {name} {} on`: faster", what.to_lowercase());
                Finding::new(what, Allowed::Limited, "off: every packet is handled singly", &to_do)
            }
            Ok(_) => Finding::ok(what, "on: what it puts together is kept or cut up as needed"),
            Err(errno) => Finding::new(what, Allowed::Limited, errno.desc(), ""),
        })
        .collect();
    findings.push(match control.ethtool(name, GET_FLAGS) {
        Ok(flags) if flags & FLAG_LRO != 0 => {
            let to_do = format!("`ethtool -K {name} lro off`");
            let reason = "on: what it puts together cannot be forwarded as it was";
            Finding::new("LRO", Allowed::Limited, reason, &to_do)
        }
        Ok(_) => Finding::ok("LRO", "off"),
        Err(errno) => Finding::new("LRO", Allowed::Limited, errno.desc(), ""),
    });
    findings
}

/// Whether packets are bridged or routed there.
fn place(link: &LinkMessage) -> Finding {
    let port = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => infos.iter().find_map(|info| match info {
            LinkInfo::PortKind(kind) => Some(kind.clone()),
            _ => None,
        }),
        _ => None,
    });
    match port {
        None => Finding::ok("place", "routed: no port of anything"),
        Some(InfoPortKind::Bridge) => Finding::ok("place", "a port of a bridge"),
        Some(InfoPortKind::Bond) => {
            let reason = "a part of a bond: it carries only some of the packets";
            Finding::new("place", Allowed::Limited, reason, "name the bond in its place")
        }
        Some(other) => {
            let reason = format!("a port of: {other:?}");
            Finding::new("place", Allowed::Limited, reason, "not tried with this")
        }
    }
}

fn own_queue(link: &LinkMessage) -> Option<Finding> {
    let qdisc = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Qdisc(qdisc) => Some(qdisc),
        _ => None,
    })?;
    Some(match qdisc.as_str() {
        "tbf" | "htb" | "hfsc" | "cake" => {
            let reason =
                format!("{qdisc}: it may hold packets back, also those of a queue in the path");
            Finding::new("own queue", Allowed::Limited, reason, "give one of them the lower rate")
        }
        _ => Finding::ok("own queue", qdisc.clone()),
    })
}

fn reverse_path_filter(name: &str) -> Option<Finding> {
    // The stricter of the two holds (ip-sysctl).
    let own = setting(&format!("ipv4/conf/{name}/rp_filter"))?;
    let strict = own.max(setting("ipv4/conf/all/rp_filter").unwrap_or(0));
    let reason = match strict {
        0 => "off",
        1 => "strict: what comes in by another way than the way back is dropped by the kernel",
        _ => "loose",
    };
    let reason = format!("{reason}; what is injected leaves, and is not held to it");
    Some(Finding::ok("rp_filter", reason))
}
