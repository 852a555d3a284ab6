//! A router of the path that is a stock kernel: the path is cut there, and what arrives leaves by one
//! device into a namespace whose kernel forwards it to the other.
//!
//! ```text
//! hosts ══ path ══╗                                    ╔══ path ══ mobile hosts
//!                 ╚══ wan0 ── kernel, programs ── lan0 ╝
//! ```
//!
//! To the path a packet has two legs: one ends at the router, the next begins there. So links, queues
//! and outages stay the simulator's own, and what a middlebox does in a simulation a program in the
//! namespace can do on a real router.
//!
//! | type | what |
//! | --- | --- |
//! | [`KernelRouter`] | which node, and which of its links leads to the mobile hosts |
//! | [`Cut`] | the two legs of a packet |
//! | [`RouterDevice`] | both devices; what was handed to the kernel and what came back |
//! | [`RouterReport`] | what that came to |
//!
//! Not modelled: more than one such router, middleboxes of the path elsewhere (their packets' data is
//! kept between hosts, not between a host and a router), packets for the router itself.

use super::device::{Device, TunDevice};
use super::hosts::{host_nodes, mtu};
use super::options::{EmulationOptions, Forwarded, KernelRouter, RouterReport};
use crate::error::LiveError;
use crate::lateness::LatenessMeter;
use ackord_scenario::Scenario;
use ackord_sys::{CommandInside, DeviceBeside, Inside, Namespace, RouteSettings};
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, IpVersion, NodeId, Packet, host_address};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// The router's device towards the fixed hosts.
pub const WAN_DEVICE: &str = "wan0";
/// The router's device towards the mobile hosts.
pub const LAN_DEVICE: &str = "lan0";

/// Packets of either direction that may be inside of the router before the oldest is given up.
const MOST_INSIDE: usize = 8_192;
/// What was inside for longer than this when the run ended was lost there, or taken away.
const LOST_AFTER: Span = Span::from_millis(100);
/// Mobile hosts of which nothing came for so long had been out of reach.
const OUT_OF_REACH: Span = Span::from_millis(500);
/// Smaller packets hold no data to speak of.
const DATA: usize = 200;

impl KernelRouter {
    /// By node: whether it is reached from the router without that link.
    fn is_fixed(self, scenario: &Scenario) -> Vec<bool> {
        let mut fixed = vec![false; scenario.nodes.len()];
        let mut open = vec![self.node];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut fixed[usize::from(node.0)], true) {
                continue;
            }
            for (index, link) in scenario.links.iter().enumerate() {
                let ends = [(link.from, link.to), (link.to, link.from)];
                let others =
                    ends.iter().filter(|(from, _)| *from == node && index != self.lan_link);
                open.extend(others.map(|(_, to)| *to));
            }
        }
        fixed
    }
}

/// Where the path is cut.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) router: NodeId,
    is_fixed: Vec<bool>,
}

impl Cut {
    pub(crate) fn new(router: KernelRouter, scenario: &Scenario) -> Cut {
        Cut { router: router.node, is_fixed: router.is_fixed(scenario) }
    }

    /// The leg of a packet that enters the path: from a host as far as the router, where that lies
    /// between the two; from the router to its end.
    #[inline]
    pub(crate) fn leg(&self, packet: Packet) -> Packet {
        let fixed = |node: NodeId| self.is_fixed.get(usize::from(node.0)).copied();
        let passes = packet.src != self.router && fixed(packet.src) != fixed(packet.dst);
        Packet { dst: if passes { self.router } else { packet.dst }, ..packet }
    }
}

/// One direction through the router.
#[derive(Debug, Default)]
struct RouterWay {
    counts: Forwarded,
    /// What is inside, by what stays the same on the way, and since when.
    inside: VecDeque<(u64, Time)>,
}

/// What is known of packets inside of the router; shared by the device and who reports.
#[derive(Debug)]
pub(crate) struct Crossing {
    to_mobile: RouterWay,
    to_fixed: RouterWay,
    delay: LatenessMeter,
    /// When a packet of the mobile hosts was last handed over.
    heard_at: Time,
    /// When they were in reach again, until data was made for them.
    back_at: Option<Time>,
    replayed: LatenessMeter,
    now: Time,
}

impl Crossing {
    pub(crate) fn new() -> Crossing {
        Crossing {
            to_mobile: RouterWay::default(),
            to_fixed: RouterWay::default(),
            delay: LatenessMeter::new(),
            heard_at: Time::ZERO,
            back_at: None,
            replayed: LatenessMeter::new(),
            now: Time::ZERO,
        }
    }

    fn passing(&mut self, towards: Towards) -> &mut RouterWay {
        match towards {
            Towards::Mobile => &mut self.to_mobile,
            Towards::Fixed => &mut self.to_fixed,
        }
    }

    fn went_in(&mut self, now: Time, towards: Towards, bytes: &[u8]) {
        self.now = self.now.max(now);
        if towards == Towards::Fixed {
            let silent = now.saturating_since(self.heard_at);
            if self.heard_at > Time::ZERO && silent > OUT_OF_REACH {
                self.back_at = Some(now);
            }
            self.heard_at = now;
        }
        let passing = self.passing(towards);
        passing.counts.handed += 1;
        passing.inside.push_back((mark_of(bytes), now));
        if passing.inside.len() > MOST_INSIDE {
            passing.inside.pop_front();
            passing.counts.missing += 1;
        }
    }

    fn came_out(&mut self, now: Time, towards: Towards, bytes: &[u8]) {
        self.now = self.now.max(now);
        let mark = mark_of(bytes);
        let passing = self.passing(towards);
        match passing.inside.iter().position(|(other, _)| *other == mark) {
            Some(place) => {
                passing.counts.forwarded += 1;
                if let Some((_, since)) = passing.inside.remove(place) {
                    self.delay.record(since, now);
                }
            }
            // A kernel tells its neighbours what groups it listens to.
            None if destination(bytes).is_none_or(|to| to.is_multicast()) => {}
            None => {
                passing.counts.made += 1;
                if towards == Towards::Mobile && bytes.len() >= DATA {
                    let back_at = self.back_at.take();
                    back_at.into_iter().for_each(|since| self.replayed.record(since, now));
                }
            }
        }
    }

    pub(crate) fn report(&self, budget: Span) -> RouterReport {
        let counts = |passing: &RouterWay| {
            let lost = |since: &Time| self.now.saturating_since(*since) > LOST_AFTER;
            let lost = passing.inside.iter().filter(|(_, since)| lost(since)).count();
            Forwarded { missing: passing.counts.missing + lost as u64, ..passing.counts }
        };
        RouterReport {
            to_mobile: counts(&self.to_mobile),
            to_fixed: counts(&self.to_fixed),
            inside: self.delay.report(budget),
            replayed: self.replayed.report(budget),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Towards {
    Mobile,
    Fixed,
}

/// Both devices of the router.
#[derive(Debug)]
pub(crate) struct RouterDevice {
    wan: TunDevice,
    lan: TunDevice,
    /// Readable when one of them is.
    either: Epoll,
    mobile: BTreeSet<IpAddr>,
    crossing: Rc<RefCell<Crossing>>,
}

impl RouterDevice {
    fn new(
        [wan, lan]: [TunDevice; 2],
        mobile: BTreeSet<IpAddr>,
        crossing: Rc<RefCell<Crossing>>,
    ) -> nix::Result<RouterDevice> {
        let either = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for device in [&wan, &lan] {
            either.add(device.descriptor(), EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        Ok(RouterDevice { wan, lan, either, mobile, crossing })
    }
}

impl Device for RouterDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.either.0.as_fd()
    }

    fn longest(&self) -> usize {
        self.wan.longest()
    }

    fn read_packet(&mut self, now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let devices = [(&mut self.lan, Towards::Mobile), (&mut self.wan, Towards::Fixed)];
        for (device, towards) in devices {
            if let Some(len) = device.read_packet(now, buffer)? {
                self.crossing.borrow_mut().came_out(now, towards, &buffer[..len]);
                return Ok(Some(len));
            }
        }
        Ok(None)
    }

    fn write_packet(&mut self, now: Time, flow: FlowId, bytes: &[u8]) -> io::Result<()> {
        let to_mobile = destination(bytes).is_some_and(|to| self.mobile.contains(&to));
        let (device, towards) = match to_mobile {
            true => (&mut self.wan, Towards::Mobile),
            false => (&mut self.lan, Towards::Fixed),
        };
        let taken = device.write_packet(now, flow, bytes);
        let mut crossing = self.crossing.borrow_mut();
        match &taken {
            Ok(()) => crossing.went_in(now, towards, bytes),
            Err(_) => crossing.passing(towards).counts.refused += 1,
        }
        taken
    }
}

/// The destination of an IP packet.
fn destination(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.first()? >> 4 {
        4 => Some(IpAddr::from(*bytes.get(16..)?.first_chunk::<4>()?)),
        6 => Some(IpAddr::from(*bytes.get(24..)?.first_chunk::<16>()?)),
        _ => None,
    }
}

/// What a router leaves as it is: the addresses, and the header behind the IP header, whose checksum
/// stands for the data. By FNV-1a.
fn mark_of(bytes: &[u8]) -> u64 {
    const SEEN: usize = 40;
    let (addresses, header_len) = match bytes.first().map(|first| (first >> 4, first & 15)) {
        Some((4, words)) => (12..20, usize::from(words) * 4),
        _ => (8..40, 40),
    };
    let header = header_len.min(bytes.len())..(header_len + SEEN).min(bytes.len());
    let bytes = bytes.get(addresses).unwrap_or_default().iter().chain(&bytes[header]);
    bytes.fold(0xcbf2_9ce4_8422_2325, |mark, byte| {
        (mark ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The router's namespace, its device, and what is to be known of both.
pub(super) struct RouterMade {
    pub(super) namespace: Namespace,
    pub(super) device: RouterDevice,
    pub(super) crossing: Rc<RefCell<Crossing>>,
}

/// Makes the router; `commands` are those that may be started there.
pub(super) fn make_router(
    options: &EmulationOptions,
    router: KernelRouter,
    commands: Vec<CommandInside>,
) -> Result<RouterMade, LiveError> {
    let scenario = &options.scenario;
    let is_fixed = router.is_fixed(scenario);
    let addresses = |fixed: bool| -> Vec<IpAddr> {
        let here = host_nodes(scenario).filter(|node| is_fixed[usize::from(node.0)] == fixed);
        let both = |node| [IpVersion::V4, IpVersion::V6].map(|ip| host_address(node, ip));
        here.flat_map(both).collect()
    };
    let whole = |address: &IpAddr| (*address, if address.is_ipv4() { 32 } else { 128 });
    let mobile = addresses(false);
    let own = [IpVersion::V4, IpVersion::V6].map(|ip| whole(&host_address(router.node, ip)));
    let largest = host_nodes(scenario).map(|node| mtu(scenario, node)).max();
    let sysctls = [
        ("net/ipv4/ip_forward", "1"),
        ("net/ipv6/conf/all/forwarding", "1"),
        // The two directions may differ, which is nobody's forgery here.
        ("net/ipv4/conf/all/rp_filter", "0"),
        ("net/ipv4/conf/default/rp_filter", "0"),
    ];
    let base = Inside::new(own.to_vec());
    let inside = Inside {
        mtu: largest.unwrap_or(base.mtu),
        device: WAN_DEVICE.to_owned(),
        sysctls: sysctls.map(|(path, value)| (path.to_owned(), value.to_owned())).to_vec(),
        route: Some(RouteSettings::default()),
        reach: addresses(true).iter().map(whole).collect(),
        beside: vec![DeviceBeside {
            name: LAN_DEVICE.to_owned(),
            reach: mobile.iter().map(whole).collect(),
        }],
        commands,
        ..base
    };
    let mut namespace = Namespace::create(&inside)?;
    let wan = TunDevice::new(namespace.take_tun(), inside.mtu);
    let lan = namespace.take_beside().pop().map(|tun| TunDevice::new(tun, inside.mtu));
    let lan = lan.ok_or(nix::errno::Errno::ENODEV)?;
    let crossing = Rc::new(RefCell::new(Crossing::new()));
    let device = RouterDevice::new([wan, lan], mobile.into_iter().collect(), Rc::clone(&crossing))?;
    Ok(RouterMade { namespace, device, crossing })
}
