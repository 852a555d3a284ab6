//! Frames counted: how many, when, and what those are that are not TCP.

use crate::CaptureRead;
use std::collections::BTreeMap;

/// What a frame is that is not TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Udp,
    Quic,
    WireGuard,
    OpenVpn,
    Dtls,
    Ike,
    Esp,
    Sctp,
    Icmp,
    IcmpV6,
    Igmp,
    Arp,
    Fragment,
    Gre,
    L2tp,
    MacSec,
    Eapol,
    Lldp,
    Llc,
    Mpls,
    Pppoe,
    Ppp,
    WifiEncrypted,
    WifiControl,
    WifiDamaged,
    WifiFragment,
    JournalEntry,
    NestedTooDeep,
    OtherIp,
    OtherEther,
}

/// Names of [`Kind`]s, in their order.
const NAMES: [&str; KINDS] = [
    "UDP",
    "QUIC",
    "WireGuard",
    "OpenVPN",
    "DTLS",
    "IKE",
    "IPsec ESP",
    "SCTP",
    "ICMP",
    "ICMPv6",
    "IGMP",
    "ARP",
    "IP fragment",
    "GRE",
    "L2TP",
    "MACsec",
    "EAPOL",
    "LLDP",
    "LLC",
    "MPLS",
    "PPPoE",
    "PPP",
    "Wi-Fi frame, encrypted",
    "Wi-Fi management or control frame",
    "Wi-Fi frame, damaged",
    "Wi-Fi fragment",
    "journal entry",
    "tunnel in tunnel",
    "other IP",
    "other",
];
const KINDS: usize = Kind::OtherEther as usize + 1;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A TCP packet, which was appended.
    Tcp,
    /// Something else.
    Other(Kind),
    /// Too short, or contradicting itself.
    Malformed,
    /// Frames of this link type are not understood.
    UnknownLink(u16),
}

/// Counts of the frames of one capture.
#[derive(Debug)]
pub(super) struct Tally {
    frames: u64,
    tcp: u64,
    malformed: u64,
    without_time: u64,
    first_without_time: u64,
    others: [u64; KINDS],
    unknown_links: BTreeMap<u16, u64>,
    began_ns: u64,
    ended_ns: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            frames: 0,
            tcp: 0,
            malformed: 0,
            without_time: 0,
            first_without_time: 0,
            others: [0; KINDS],
            unknown_links: BTreeMap::new(),
            began_ns: u64::MAX,
            ended_ns: 0,
        }
    }
}

impl Tally {
    /// One more frame; its number, from 1.
    #[inline]
    pub(super) fn frame(&mut self) -> u64 {
        self.frames += 1;
        self.frames
    }

    /// When a frame was captured.
    #[inline]
    pub(super) fn at(&mut self, ns: u64) {
        self.began_ns = self.began_ns.min(ns);
        self.ended_ns = self.ended_ns.max(ns);
    }

    /// What it was.
    #[inline]
    pub(super) fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Tcp => self.tcp += 1,
            Outcome::Other(kind) => self.others[kind as usize] += 1,
            Outcome::Malformed => self.malformed += 1,
            Outcome::UnknownLink(link) => *self.unknown_links.entry(link).or_default() += 1,
        }
    }

    /// Adds what the frames of a block are, which were numbered here.
    pub(super) fn add(&mut self, outcomes: &Tally) {
        self.tcp += outcomes.tcp;
        self.malformed += outcomes.malformed;
        for (count, more) in self.others.iter_mut().zip(outcomes.others) {
            *count += more;
        }
        for (link, more) in &outcomes.unknown_links {
            *self.unknown_links.entry(*link).or_default() += more;
        }
    }

    /// Counts a frame for which the file has no time, and returns the latest time before it, ns.
    pub(super) fn without_time(&mut self) -> u64 {
        if self.without_time == 0 {
            self.first_without_time = self.frames;
        }
        self.without_time += 1;
        self.ended_ns
    }

    /// The counts put into `read`.
    pub(super) fn into_read(self, read: CaptureRead) -> CaptureRead {
        let named = self.others.iter().zip(NAMES).map(|(count, name)| (name.to_owned(), *count));
        let unknown = self.unknown_links.iter().map(|(link, count)| (unknown_link(*link), *count));
        let mut others: Vec<_> = named.chain(unknown).filter(|(_, count)| *count > 0).collect();
        others.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        CaptureRead {
            frames: self.frames,
            tcp: self.tcp,
            malformed: self.malformed,
            without_time: self.without_time,
            first_without_time: self.first_without_time,
            others,
            began_ns: if self.began_ns == u64::MAX { 0 } else { self.began_ns },
            ended_ns: self.ended_ns,
            ..read
        }
    }
}

/// The name of a link type that is not understood.
fn unknown_link(link: u16) -> String {
    let name = match link {
        186 | 189 | 220 | 249 => "USB packet",
        187 | 201 | 251 | 254 | 272 => "Bluetooth packet",
        227 => "CAN frame",
        253 => "Netlink message",
        6 => "Token Ring frame",
        107 => "Frame Relay frame",
        123 => "ATM cell",
        138 => "FireWire packet",
        143 => "DOCSIS frame",
        147..=162 => "frame of a private type",
        195 | 215 | 230 | 283 => "IEEE 802.15.4 frame",
        _ => "frame not understood",
    };
    format!("{name} (link type {link})")
}
