//! What a rule asks of a connection, and when one asks for no more than another.

use super::FlowFacts;
use super::read::dscp_name;
use ipnet::IpNet;
use std::fmt;
use std::net::IpAddr;

/// What a rule asks of a connection. An empty list asks for nothing; of a list one is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Its LAN interface, as an index into [`GatewayConfig::lan`](super::GatewayConfig::lan); in order.
    pub interfaces: Vec<usize>,
    /// The network of its mobile host.
    pub mobile: Vec<IpNet>,
    /// The network of its fixed host.
    pub fixed: Vec<IpNet>,
    /// The port of its fixed host.
    pub ports: Vec<PortRange>,
    /// The port of its mobile host.
    pub mobile_ports: Vec<PortRange>,
    /// Its differentiated services code point (RFC 2474 §3).
    pub dscps: Vec<u8>,
    /// The mark that the kernel's filters gave its packets towards the mobile host.
    pub mark: Option<MarkMatch>,
}

/// Ports from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortRange {
    /// The first.
    pub from: u16,
    /// The last, not below it.
    pub to: u16,
}

/// Some bits of a mark, as in `ip rule` and `nft`: VALUE/MASK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkMatch {
    /// What they have to be; no other bits are set.
    pub value: u32,
    /// Which bits.
    pub mask: u32,
}

impl MarkMatch {
    /// Whether every mark with the other's bits has these.
    pub fn covers(self, other: MarkMatch) -> bool {
        self.mask & !other.mask == 0 && other.value & self.mask == self.value
    }

    /// These bits, and those of the other that are not among them: each is as it was first told.
    #[must_use]
    pub fn and(self, other: MarkMatch) -> MarkMatch {
        let value = self.value | other.value & !self.mask;
        MarkMatch { value, mask: self.mask | other.mask }
    }
}

impl Conditions {
    /// Whether a connection fulfils all of them.
    pub fn match_flow(&self, flow: &FlowFacts) -> bool {
        let any_net = |nets: &[IpNet], ip: IpAddr| {
            nets.is_empty() || nets.iter().any(|net| net.contains(&ip))
        };
        let any_port = |ranges: &[PortRange], port: u16| {
            ranges.is_empty() || ranges.iter().any(|range| (range.from..=range.to).contains(&port))
        };
        (self.interfaces.is_empty() || self.interfaces.contains(&flow.interface))
            && any_net(&self.mobile, flow.mobile.ip())
            && any_net(&self.fixed, flow.fixed.ip())
            && any_port(&self.ports, flow.fixed.port())
            && any_port(&self.mobile_ports, flow.mobile.port())
            && (self.dscps.is_empty() || self.dscps.contains(&flow.dscp))
            && self.mark.is_none_or(|mark| mark.covers(flow.mark))
    }

    /// What they are, in words; `lan` are the names of the interfaces.
    pub fn said(&self, lan: &[String]) -> String {
        fn listed<T: ToString>(key: &str, each: &[T]) -> Option<String> {
            let each: Vec<String> = each.iter().map(T::to_string).collect();
            (!each.is_empty()).then(|| format!("{key} {}", each.join(", ")))
        }
        let name = |index: &usize| lan.get(*index).map_or("?", String::as_str);
        let interfaces: Vec<&str> = self.interfaces.iter().map(name).collect();
        let dscps: Vec<String> = self.dscps.iter().map(|point| dscp_name(*point)).collect();
        let parts = [
            listed("interface", &interfaces),
            listed("mobile", &self.mobile),
            listed("fixed", &self.fixed),
            listed("port", &self.ports),
            listed("mobile_port", &self.mobile_ports),
            listed("dscp", &dscps),
            listed("mark", self.mark.as_slice()),
        ];
        match parts.into_iter().flatten().collect::<Vec<_>>() {
            none if none.is_empty() => "all".to_owned(),
            some => some.join("; "),
        }
    }

    /// Whether every connection that fulfils `other` fulfils these: exactly so for each condition by itself.
    pub fn cover(&self, other: &Conditions) -> bool {
        covers_each(&self.interfaces, &other.interfaces)
            && covers_nets(&self.mobile, &other.mobile)
            && covers_nets(&self.fixed, &other.fixed)
            && covers_ports(&self.ports, &other.ports)
            && covers_ports(&self.mobile_ports, &other.mobile_ports)
            && covers_each(&self.dscps, &other.dscps)
            && match (self.mark, other.mark) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(mine), Some(its)) => mine.covers(its),
            }
    }
}

fn covers_each<T: PartialEq>(mine: &[T], its: &[T]) -> bool {
    mine.is_empty() || (!its.is_empty() && its.iter().all(|one| mine.contains(one)))
}

/// Networks that lie side by side are one larger network: none of the other's can be half in it.
fn covers_nets(mine: &[IpNet], its: &[IpNet]) -> bool {
    let joined = IpNet::aggregate(&mine.to_vec());
    let within = |net: &IpNet| joined.iter().any(|whole| whole.contains(net));
    mine.is_empty() || (!its.is_empty() && its.iter().all(within))
}

fn covers_ports(mine: &[PortRange], its: &[PortRange]) -> bool {
    let mut sorted = mine.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<PortRange> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if u32::from(range.from) <= u32::from(last.to) + 1 => {
                last.to = last.to.max(range.to);
            }
            _ => joined.push(range),
        }
    }
    let within =
        |range: &PortRange| joined.iter().any(|all| all.from <= range.from && range.to <= all.to);
    mine.is_empty() || (!its.is_empty() && its.iter().all(within))
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from == self.to {
            true => write!(f, "{}", self.from),
            false => write!(f, "{}-{}", self.from, self.to),
        }
    }
}

impl fmt::Display for MarkMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}/{:#x}", self.value, self.mask)
    }
}
