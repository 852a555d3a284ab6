//! Routes to single hosts that say what was learnt of the path there: how far packets overtake each other
//! (`reordering`), and how much may be sent at first (`initcwnd`).

use super::{Table, in_table, put};
use ackord_daemon::netlink::Netlink;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

/// Hosts at most: each is a route that every look-up may meet.
const MOST: usize = 1_024;

/// The hosts, as long as their table stands.
#[derive(Debug)]
pub struct HostRoutes {
    table: Table,
    initcwnd: Option<u32>,
    hosts: BTreeMap<IpAddr, u32>,
}

impl HostRoutes {
    /// None yet. Whoever calls has written the table into a journal.
    ///
    /// # Errors
    /// Without CAP_NET_ADMIN.
    pub fn make(table: Table, initcwnd: Option<u32>) -> io::Result<HostRoutes> {
        table.make_rules()?;
        Ok(HostRoutes { table, initcwnd, hosts: BTreeMap::new() })
    }

    /// Packets to this host overtake each other, so many segments apart. Answers whether that is news.
    ///
    /// # Errors
    /// Where there is no route to it, or the kernel refuses.
    pub fn reordered(&mut self, host: IpAddr, segments: u32) -> io::Result<bool> {
        let known = self.hosts.get(&host).copied();
        if known.is_some_and(|known| known >= segments)
            || known.is_none() && self.hosts.len() >= MOST
        {
            return Ok(false);
        }
        let mut netlink = Netlink::open()?;
        let Some(route) = route_to(&mut netlink, host)? else { return Ok(false) };
        let mut metrics = vec![RouteMetric::Reordering(segments)];
        metrics.extend(self.initcwnd.map(RouteMetric::InitCwnd));
        let mut own = in_table(&route, self.table.table);
        own.header.protocol = RouteProtocol::Static;
        own.attributes.retain(|attribute| {
            matches!(
                attribute,
                RouteAttribute::Destination(_)
                    | RouteAttribute::Gateway(_)
                    | RouteAttribute::Via(_)
                    | RouteAttribute::Oif(_)
                    | RouteAttribute::PrefSource(_)
                    | RouteAttribute::Table(_)
            )
        });
        let has_gateway = own
            .attributes
            .iter()
            .any(|one| matches!(one, RouteAttribute::Gateway(_) | RouteAttribute::Via(_)));
        if host.is_ipv4() {
            own.header.scope = if has_gateway { RouteScope::Universe } else { RouteScope::Link };
        }
        own.attributes.push(RouteAttribute::Metrics(metrics));
        put(&mut netlink, own)?;
        self.hosts.insert(host, segments);
        Ok(true)
    }

    /// The hosts, each with its reordering in segments.
    pub fn hosts(&self) -> impl Iterator<Item = (IpAddr, u32)> {
        self.hosts.iter().map(|(host, segments)| (*host, *segments))
    }
}

/// The route that the kernel takes to a host.
fn route_to(netlink: &mut Netlink, host: IpAddr) -> io::Result<Option<RouteMessage>> {
    let mut question = RouteMessage::default();
    let (family, bits, address) = match host {
        IpAddr::V4(host) => (AddressFamily::Inet, 32, RouteAddress::Inet(host)),
        IpAddr::V6(host) => (AddressFamily::Inet6, 128, RouteAddress::Inet6(host)),
    };
    question.header.address_family = family;
    question.header.destination_prefix_length = bits;
    question.header.table = RouteHeader::RT_TABLE_UNSPEC;
    question.attributes.push(RouteAttribute::Destination(address));
    let mut found = None;
    netlink.ask(RouteNetlinkMessage::GetRoute(question), 0, |answer| {
        if let RouteNetlinkMessage::NewRoute(route) = answer {
            found = Some(route);
        }
    })?;
    Ok(found)
}
