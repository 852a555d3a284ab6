//! What is asked of the kernel's rtnetlink(7): clsact qdiscs, filters of BPF programs, facts of an interface.

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::tc::{
    TcAttribute, TcBpfFlags, TcFilterBpfOption, TcHandle, TcHeader, TcMessage, TcOption,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::RawFd;

/// A filter of a clsact qdisc with a BPF program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Filter {
    /// The interface's number.
    pub(crate) interface: u32,
    /// For what leaves; otherwise for what comes in.
    pub(crate) is_egress: bool,
    /// Its place among the filters there; the handle is always 1.
    pub(crate) priority: u16,
    /// The name of the program.
    pub(crate) program: String,
}

/// The first priority that is tried: behind whatever a person would choose, before what the kernel chooses
/// (49152).
const FIRST_PRIORITY: u16 = 48_000;
const HANDLE: u32 = 1;
/// ETH_P_ALL in network order, where a filter's protocol stands.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();

/// Links, qdiscs and filters of this network namespace.
#[derive(Debug)]
pub(crate) struct Netlink(ackord_daemon::netlink::Netlink);

impl Netlink {
    pub(crate) fn open() -> io::Result<Netlink> {
        ackord_daemon::netlink::Netlink::open().map(Netlink)
    }

    /// Facts of an interface.
    pub(crate) fn link(&mut self, index: u32) -> io::Result<Option<LinkMessage>> {
        let mut question = LinkMessage::default();
        question.header.index = index;
        let mut found = None;
        let asked = self.0.ask(RouteNetlinkMessage::GetLink(question), 0, |answer| {
            if let RouteNetlinkMessage::NewLink(link) = answer {
                found = Some(link);
            }
        });
        match asked {
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
            other => other.map(|()| found),
        }
    }

    /// Packets that were to leave by an interface and were dropped there.
    pub(crate) fn dropped_leaving(&mut self, index: u32) -> io::Result<u64> {
        let link = self.link(index)?;
        let attributes = link.map(|link| link.attributes).unwrap_or_default();
        Ok(attributes
            .iter()
            .find_map(|attribute| match attribute {
                LinkAttribute::Stats64(stats) => Some(stats.tx_dropped),
                _ => None,
            })
            .unwrap_or(0))
    }

    /// Returns what passed an interface so far: of a bridge what entered its ports, since its own counters leave out
    /// what it forwards between them.
    pub(crate) fn carried(&mut self, index: u32) -> io::Result<Carried> {
        let (mut own, mut of_ports, mut ports) = (0, 0, Vec::new());
        let question = RouteNetlinkMessage::GetLink(LinkMessage::default());
        self.0.ask(question, NLM_F_DUMP, |answer| {
            let RouteNetlinkMessage::NewLink(link) = answer else { return };
            if link.header.index == index {
                own = bytes_of(&link).iter().sum();
            } else if link.attributes.contains(&LinkAttribute::Controller(index)) {
                of_ports += bytes_of(&link)[0];
                ports.extend(link.attributes.iter().find_map(|attribute| match attribute {
                    LinkAttribute::IfName(name) => Some(name.clone()),
                    _ => None,
                }));
            }
        })?;
        let bytes = if ports.is_empty() { own } else { of_ports };
        Ok(Carried { bytes, ports })
    }

    fn qdisc_kinds(&mut self, index: u32) -> io::Result<Vec<String>> {
        let mut kinds = Vec::new();
        let question = RouteNetlinkMessage::GetQueueDiscipline(message(index));
        self.0.ask(question, NLM_F_DUMP, |answer| {
            if let RouteNetlinkMessage::NewQueueDiscipline(one) = answer
                && one.header.index == index as i32
                && let Some(kind) = kind_of(&one)
            {
                kinds.push(kind.to_owned());
            }
        })?;
        Ok(kinds)
    }

    /// Whether an interface has a clsact qdisc.
    pub(crate) fn has_clsact(&mut self, index: u32) -> io::Result<bool> {
        Ok(self.qdisc_kinds(index)?.iter().any(|kind| kind == "clsact"))
    }

    pub(crate) fn add_clsact(&mut self, index: u32) -> io::Result<()> {
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.0.change(RouteNetlinkMessage::NewQueueDiscipline(clsact(index)), flags)
    }

    pub(crate) fn remove_clsact(&mut self, index: u32) -> io::Result<()> {
        self.0.change(RouteNetlinkMessage::DelQueueDiscipline(clsact(index)), 0)
    }

    fn filters(&mut self, index: u32, is_egress: bool) -> io::Result<Vec<TcMessage>> {
        let mut question = message(index);
        question.header.parent = parent(is_egress);
        let mut found = Vec::new();
        self.0.ask(RouteNetlinkMessage::GetTrafficFilter(question), NLM_F_DUMP, |answer| {
            if let RouteNetlinkMessage::NewTrafficFilter(one) = answer {
                found.push(one);
            }
        })?;
        Ok(found)
    }

    /// Whether a clsact qdisc is in use.
    pub(crate) fn has_filters(&mut self, index: u32) -> io::Result<bool> {
        Ok(!self.filters(index, true)?.is_empty() || !self.filters(index, false)?.is_empty())
    }

    /// A priority that no filter there has.
    pub(crate) fn free_priority(&mut self, index: u32, is_egress: bool) -> io::Result<u16> {
        let filters = self.filters(index, is_egress)?;
        let taken =
            |priority| filters.iter().any(|one| one.header.info >> 16 == u32::from(priority));
        (FIRST_PRIORITY..u16::MAX)
            .find(|priority| !taken(*priority))
            .ok_or_else(|| io::Error::other("every priority of filters is taken"))
    }

    pub(crate) fn add_filter(&mut self, filter: &Filter, program: RawFd) -> io::Result<()> {
        let mut add = filter_message(filter);
        add.attributes.push(TcAttribute::Options(vec![
            TcOption::Bpf(TcFilterBpfOption::ProgFd(program as u32)),
            TcOption::Bpf(TcFilterBpfOption::ProgName(filter.program.clone())),
            TcOption::Bpf(TcFilterBpfOption::Flags(TcBpfFlags::DirectAction)),
        ]));
        self.0.change(RouteNetlinkMessage::NewTrafficFilter(add), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Whether the filter of this place is the one that was added there.
    pub(crate) fn is_there(&mut self, filter: &Filter) -> io::Result<bool> {
        if !self.has_clsact(filter.interface)? {
            return Ok(false);
        }
        let there = self.filters(filter.interface, filter.is_egress)?;
        Ok(there.iter().any(|one| {
            one.header.info >> 16 == u32::from(filter.priority)
                && u32::from(one.header.handle) == HANDLE
                && program_of(one) == Some(&filter.program)
        }))
    }

    pub(crate) fn remove_filter(&mut self, filter: &Filter) -> io::Result<()> {
        self.0.change(RouteNetlinkMessage::DelTrafficFilter(filter_message(filter)), 0)
    }
}

/// What passed an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) bytes: u64,
    /// The ports of a bridge.
    pub(crate) ports: Vec<String>,
}

/// Bytes received and sent.
fn bytes_of(link: &LinkMessage) -> [u64; 2] {
    let stats = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Stats64(stats) => Some([stats.rx_bytes, stats.tx_bytes]),
        _ => None,
    });
    stats.unwrap_or_default()
}

fn message(index: u32) -> TcMessage {
    TcMessage::from_parts(TcHeader { index: index as i32, ..TcHeader::default() }, Vec::new())
}

fn clsact(index: u32) -> TcMessage {
    let mut message = message(index);
    message.header.parent = TcHandle::CLSACT;
    message.header.handle = TcHandle { major: u16::MAX, minor: 0 };
    message.attributes.push(TcAttribute::Kind("clsact".to_owned()));
    message
}

fn parent(is_egress: bool) -> TcHandle {
    let minor = if is_egress { TcHandle::MIN_EGRESS } else { TcHandle::MIN_INGRESS };
    TcHandle { major: u16::MAX, minor }
}

fn filter_message(filter: &Filter) -> TcMessage {
    let mut message = message(filter.interface);
    message.header.parent = parent(filter.is_egress);
    message.header.handle = TcHandle::from(HANDLE);
    message.header.info = u32::from(filter.priority) << 16 | u32::from(ALL_PROTOCOLS);
    message.attributes.push(TcAttribute::Kind("bpf".to_owned()));
    message
}

fn kind_of(message: &TcMessage) -> Option<&str> {
    message.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Kind(kind) => Some(kind.as_str()),
        _ => None,
    })
}

fn program_of(message: &TcMessage) -> Option<&String> {
    let options = message.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Options(options) => Some(options),
        _ => None,
    })?;
    options.iter().find_map(|option| match option {
        TcOption::Bpf(TcFilterBpfOption::ProgName(name)) => Some(name),
        _ => None,
    })
}
