//! The main table once more, each of its routes with `quickack`: the kernel acknowledges every data segment of a
//! connection at once whose route says so, and a connection with the agent's mark takes these.
//!
//! The copy follows the main table: rtnetlink(7) tells of changes, and what differs then is put right.

use super::{FAMILIES, Table, gone_is_fine, in_table, put, routes};
use ackord_daemon::netlink::Netlink;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteType,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// Groups of rtnetlink(7) that tell of routes: RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE.
const GROUPS: [u32; 2] = [7, 11];

/// The table of quick routes, as long as it stands.
#[derive(Debug)]
pub struct QuickRoutes {
    table: Table,
    news: Socket,
}

impl QuickRoutes {
    /// Fills the table and leads marked packets there. Whoever calls has written that into a journal.
    ///
    /// # Errors
    /// Without CAP_NET_ADMIN.
    pub fn make(table: Table) -> io::Result<QuickRoutes> {
        let mut news = Socket::new(NETLINK_ROUTE)?;
        news.bind(&SocketAddr::new(0, 0))?;
        GROUPS.iter().try_for_each(|group| news.add_membership(*group))?;
        news.set_non_blocking(true)?;
        let quick = QuickRoutes { table, news };
        // Routes first: until the rule is there nobody asks.
        quick.put_right()?;
        table.make_rules()?;
        Ok(quick)
    }

    /// Puts right what differs from the main table, if anything has changed. Answers whether it has.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn follow(&self) -> io::Result<bool> {
        let mut has_changed = false;
        let mut bytes = Vec::with_capacity(1 << 14);
        loop {
            bytes.clear();
            match self.news.recv(&mut bytes, 0) {
                Ok(_) => has_changed = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // So much has changed that there was no room to tell.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => has_changed = true,
                Err(error) => return Err(error),
            }
        }
        if has_changed {
            self.put_right()?;
        }
        Ok(has_changed)
    }

    fn put_right(&self) -> io::Result<()> {
        let mut netlink = Netlink::open()?;
        for family in FAMILIES {
            let main = u32::from(RouteHeader::RT_TABLE_MAIN);
            let wanted = routes(&mut netlink, family, main)?;
            let wanted: Vec<RouteMessage> =
                wanted.iter().filter(|one| is_unicast(one)).map(|one| self.quick(one)).collect();
            let there = routes(&mut netlink, family, self.table.table)?;
            let is_there = |list: &[RouteMessage], one: &RouteMessage| {
                let key = key(one);
                list.iter().any(|other| self::key(other) == key)
            };
            for route in there.iter().filter(|one| !is_there(&wanted, one)) {
                gone_is_fine(netlink.change(RouteNetlinkMessage::DelRoute(route.clone()), 0))?;
            }
            for route in wanted.into_iter().filter(|one| !is_there(&there, one)) {
                // One whose gateway is not to be reached any more will be told of again.
                match put(&mut netlink, route) {
                    Err(error)
                        if matches!(
                            error.raw_os_error(),
                            Some(
                                libc::ENETUNREACH
                                    | libc::EHOSTUNREACH
                                    | libc::ENODEV
                                    | libc::ENETDOWN
                            )
                        ) => {}
                    other => other?,
                }
            }
        }
        Ok(())
    }

    /// The route with `quickack`, beside what else it says.
    fn quick(&self, route: &RouteMessage) -> RouteMessage {
        let mut quick = in_table(route, self.table.table);
        let mut metrics = vec![RouteMetric::QuickAck(1)];
        quick.attributes.retain_mut(|attribute| match attribute {
            RouteAttribute::Metrics(said) => {
                metrics.append(said);
                false
            }
            _ => true,
        });
        quick.attributes.push(RouteAttribute::Metrics(metrics));
        quick
    }

    /// What to wait for.
    pub fn descriptor(&self) -> RawFd {
        self.news.as_raw_fd()
    }

    /// Which table it is.
    pub fn table(&self) -> Table {
        self.table
    }
}

fn is_unicast(route: &RouteMessage) -> bool {
    route.header.kind == RouteType::Unicast
}

/// What makes a route the same one in another table: where to, by whom, how preferred.
fn key(route: &RouteMessage) -> (u8, Vec<RouteAttribute>) {
    let says = |attribute: &&RouteAttribute| {
        matches!(
            attribute,
            RouteAttribute::Destination(_)
                | RouteAttribute::Gateway(_)
                | RouteAttribute::Via(_)
                | RouteAttribute::Oif(_)
                | RouteAttribute::Priority(_)
                | RouteAttribute::PrefSource(_)
                | RouteAttribute::MultiPath(_)
        )
    };
    let mut attributes: Vec<RouteAttribute> =
        route.attributes.iter().filter(says).cloned().collect();
    attributes.sort_by_key(|attribute| format!("{attribute:?}"));
    (route.header.destination_prefix_length, attributes)
}
