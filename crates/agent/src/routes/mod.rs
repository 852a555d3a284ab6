//! Routes of the agent's own: what a stock kernel lets a route say to the connections that use it.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | rules and routes of a table of one's own, made and taken away |
//! | `quick.rs` | [`QuickRoutes`]: the main table once more, with `quickack`, for packets with a mark |
//! | `hosts.rs` | [`HostRoutes`]: single hosts, with `reordering` and `initcwnd` |
//!
//! A table of the agent is only its own: whoever uses its number or its rules' already is left alone, and the agent
//! does without.

mod hosts;
mod quick;

pub use hosts::HostRoutes;
pub use quick::QuickRoutes;

use ackord_daemon::netlink::Netlink;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use serde::{Deserialize, Serialize};
use std::io;

/// Both versions of IP.
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

/// A table and the rule that leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its number.
    pub table: u32,
    /// The place of its rule among others: before the main table's (32766).
    pub priority: u32,
    /// Only packets with this bit of their mark; all where it is 0.
    pub mark: u32,
}

impl Table {
    /// Whether somebody else uses its number, its mark or its place, in words.
    ///
    /// # Errors
    /// Where the kernel does not answer.
    pub fn is_taken(&self) -> io::Result<Option<String>> {
        let mut netlink = Netlink::open()?;
        for family in FAMILIES {
            for rule in rules(&mut netlink, family)? {
                if let Some(why) = self.clashes(&rule) {
                    return Ok(Some(why));
                }
            }
            if !routes(&mut netlink, family, self.table)?.is_empty() {
                return Ok(Some(format!("table {} has routes already", self.table)));
            }
        }
        Ok(None)
    }

    fn clashes(&self, rule: &RuleMessage) -> Option<String> {
        let (mut mark, mut mask, mut priority) = (0, None, 0);
        for attribute in &rule.attributes {
            match attribute {
                RuleAttribute::FwMark(value) => mark = *value,
                RuleAttribute::FwMask(value) => mask = Some(*value),
                RuleAttribute::Priority(value) => priority = *value,
                _ => {}
            }
        }
        // A mark without a mask is compared as a whole.
        let mask = mask.unwrap_or(if mark == 0 { 0 } else { u32::MAX });
        if table_of(rule) == self.table {
            return Some(format!("a rule (priority {priority}) leads to table {}", self.table));
        }
        (self.mark != 0 && mask & self.mark != 0).then(|| {
            format!(
                "a rule (priority {priority}) looks at bit {:#x} of marks: {mark:#x}/{mask:#x}",
                self.mark
            )
        })
    }

    /// Makes the rule, for both versions of IP.
    ///
    /// # Errors
    /// Without CAP_NET_ADMIN.
    pub fn make_rules(&self) -> io::Result<()> {
        let mut netlink = Netlink::open()?;
        let mut made = Vec::new();
        for family in FAMILIES {
            let rule = RouteNetlinkMessage::NewRule(self.rule(family));
            match netlink.change(rule, NLM_F_CREATE | NLM_F_EXCL) {
                Ok(()) => made.push(family),
                Err(error) if is_without(family, &error) => {}
                Err(error) => {
                    // All of them or none.
                    for family in made {
                        let rule = RouteNetlinkMessage::DelRule(self.rule(family));
                        gone_is_fine(netlink.change(rule, 0))?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Takes the rule and every route of the table away.
    ///
    /// # Errors
    /// Without CAP_NET_ADMIN. What is not there any more is no error.
    pub fn remove(&self) -> io::Result<()> {
        let mut netlink = Netlink::open()?;
        for family in FAMILIES {
            gone_is_fine(netlink.change(RouteNetlinkMessage::DelRule(self.rule(family)), 0))?;
            for route in routes(&mut netlink, family, self.table)? {
                gone_is_fine(netlink.change(RouteNetlinkMessage::DelRoute(route), 0))?;
            }
        }
        Ok(())
    }

    fn rule(&self, family: AddressFamily) -> RuleMessage {
        let mut rule = RuleMessage::default();
        rule.header.family = family;
        rule.header.action = RuleAction::ToTable;
        rule.header.table = RouteHeader::RT_TABLE_UNSPEC;
        rule.attributes.push(RuleAttribute::Table(self.table));
        rule.attributes.push(RuleAttribute::Priority(self.priority));
        if self.mark != 0 {
            rule.attributes.push(RuleAttribute::FwMark(self.mark));
            rule.attributes.push(RuleAttribute::FwMask(self.mark));
        }
        rule
    }
}

fn table_of(rule: &RuleMessage) -> u32 {
    let long = rule.attributes.iter().find_map(|attribute| match attribute {
        RuleAttribute::Table(table) => Some(*table),
        _ => None,
    });
    long.unwrap_or(u32::from(rule.header.table))
}

fn rules(netlink: &mut Netlink, family: AddressFamily) -> io::Result<Vec<RuleMessage>> {
    let mut question = RuleMessage::default();
    question.header.family = family;
    let mut found = Vec::new();
    let asked = netlink.ask(RouteNetlinkMessage::GetRule(question), NLM_F_DUMP, |answer| {
        if let RouteNetlinkMessage::NewRule(rule) = answer {
            found.push(rule);
        }
    });
    without_is_fine(family, asked)?;
    Ok(found)
}

/// The routes of a table.
fn routes(
    netlink: &mut Netlink,
    family: AddressFamily,
    table: u32,
) -> io::Result<Vec<RouteMessage>> {
    let mut question = RouteMessage::default();
    question.header.address_family = family;
    let mut found = Vec::new();
    let asked = netlink.ask(RouteNetlinkMessage::GetRoute(question), NLM_F_DUMP, |answer| {
        if let RouteNetlinkMessage::NewRoute(route) = answer
            && route_table(&route) == table
        {
            found.push(route);
        }
    });
    without_is_fine(family, asked)?;
    Ok(found)
}

fn route_table(route: &RouteMessage) -> u32 {
    let long = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    long.unwrap_or(u32::from(route.header.table))
}

/// The same route in another table: what the kernel only tells of it is left out.
fn in_table(route: &RouteMessage, table: u32) -> RouteMessage {
    let mut copy = route.clone();
    copy.header.table = RouteHeader::RT_TABLE_UNSPEC;
    copy.header.flags = netlink_packet_route::route::RouteFlags::empty();
    copy.attributes.retain(|attribute| {
        !matches!(
            attribute,
            RouteAttribute::Table(_)
                | RouteAttribute::CacheInfo(_)
                | RouteAttribute::Expires(_)
                | RouteAttribute::Uid(_)
        )
    });
    copy.attributes.push(RouteAttribute::Table(table));
    copy
}

fn put(netlink: &mut Netlink, route: RouteMessage) -> io::Result<()> {
    netlink.change(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_REPLACE)
}

/// A kernel without IPv6 knows nothing of it.
fn is_without(family: AddressFamily, error: &io::Error) -> bool {
    family == AddressFamily::Inet6
        && matches!(error.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EOPNOTSUPP))
}

fn without_is_fine(family: AddressFamily, result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if is_without(family, &error) => Ok(()),
        other => other,
    }
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    const GONE: [i32; 4] = [libc::ENOENT, libc::ESRCH, libc::ENODEV, libc::EAFNOSUPPORT];
    match result {
        Err(error) if error.raw_os_error().is_some_and(|code| GONE.contains(&code)) => Ok(()),
        other => other,
    }
}
