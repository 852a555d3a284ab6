//! Which packets of an interface a kernel copies, and how much of each: a program of classic BPF.
//!
//! Of a few connections it copies headers only, or nothing but SYN, FIN and RST: [`Few`]. They are known by their
//! ports and addresses, of IPv6 addresses by the last four bytes: whoever is taken for another goes unseen, which
//! only lets it pass. Packets of IPv4 with options, of IPv6 with extension headers and in frames with more than one
//! VLAN tag are shown, whosever they are.

use crate::LinkKind;
use crate::config::MarkMatch;
use ackord_wire::Endpoints;
use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_B, BPF_JA, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD};
use libc::{BPF_MEM, BPF_RET, BPF_ST, BPF_W, sock_filter};
use std::net::SocketAddr;

/// The longest headers: Ethernet with two tags, IP and TCP with all options.
const HEADERS: u32 = 14 + 8 + 60 + 60;
/// The longest headers of a packet of one of the few, which have no options of IP. Another number than
/// [`HEADERS`], so that whoever reads a ring can tell them apart.
pub(super) const HEADERS_OF_FEW: u32 = 14 + 8 + 40 + 60;
/// Of so many packets that go out one is shown where a share is wanted; a power of two.
const SHARE: u32 = 16;

/// Connections that are let pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Few {
    /// Their ends, as their packets go out; no more than [`Few::MOST`] count.
    pub(crate) ends: Vec<Endpoints>,
    /// Whether they are looked at now.
    pub(crate) are_shown: bool,
}

impl Few {
    /// Each packet is compared with all of them.
    pub(crate) const MOST: usize = 16;

    fn bytes(&self) -> u32 {
        if self.are_shown { HEADERS_OF_FEW } else { 0 }
    }
}

/// What is wanted of the packets of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Headers of what goes out: of each SYN, and of a share of everything else.
    ShareOut,
    /// Headers of what goes out.
    HeadersOut,
    /// Headers of what comes in.
    HeadersIn,
    /// All of what goes out, headers of what comes in.
    DataOutHeadersIn,
    /// Headers of everything.
    Headers,
    /// All of everything.
    Everything,
    /// Headers of what goes out with such a mark: a ring does not tell marks, but its filter sees them.
    MarkedOut(MarkMatch),
}

impl Wanted {
    /// Bytes that are copied of packets that go out and come in.
    fn bytes(self) -> (u32, u32) {
        match self {
            Wanted::ShareOut => (0, 0),
            Wanted::HeadersOut | Wanted::MarkedOut(_) => (HEADERS, 0),
            Wanted::HeadersIn => (0, HEADERS),
            Wanted::DataOutHeadersIn => (u32::MAX, HEADERS),
            Wanted::Headers => (HEADERS, HEADERS),
            Wanted::Everything => (u32::MAX, u32::MAX),
        }
    }

    /// A block holds the largest packet, or many headers.
    pub(super) fn block(self) -> usize {
        match self {
            Wanted::DataOutHeadersIn | Wanted::Everything => 1 << 17,
            _ => 1 << 14,
        }
    }

    /// Blocks of a ring. One is handed over after a millisecond, however empty, so that so many of them are
    /// also the milliseconds for which a reader may be kept from reading. Of a marked packet that is missed
    /// there will be another of the same connection.
    pub(super) fn blocks(self) -> usize {
        match self {
            Wanted::MarkedOut(_) => 16,
            _ => 256,
        }
    }

    pub(super) fn mark(self) -> Option<MarkMatch> {
        match self {
            Wanted::MarkedOut(mark) => Some(mark),
            _ => None,
        }
    }

    /// A program that answers how much of a packet is copied.
    pub(super) fn filter(self, kind: LinkKind, few: &Few) -> Vec<sock_filter> {
        let go_out = &few.ends[..few.ends.len().min(Few::MOST)];
        let come_in: Vec<Endpoints> = go_out.iter().map(|one| one.reversed()).collect();
        let families = || [V4, V6].map(|family| family.on(kind));
        let (out, inwards) = self.bytes();
        let mut outwards: Vec<sock_filter> = self.mark().into_iter().flat_map(has_mark).collect();
        outwards.extend(families().iter().flat_map(|one| one.few(go_out, few.bytes())));
        if self == Wanted::ShareOut {
            outwards.extend(one_of_a_share());
            outwards.extend(families().iter().flat_map(Family::syn));
        }
        outwards.push(answer(out));
        let mut steps = vec![load_beside(libc::SKF_AD_PKTTYPE)];
        steps.push(equals(u32::from(libc::PACKET_OUTGOING), 0, outwards.len() as u8));
        steps.extend(outwards);
        steps.extend(families().iter().flat_map(|one| one.few(&come_in, few.bytes())));
        steps.push(answer(inwards));
        steps
    }
}

/// Where TCP is in the packets of a version of IP, from the beginning of a frame on.
#[derive(Clone, Copy)]
struct Family {
    /// The byte with the version, and what it is under the mask where there are no options.
    version: (u32, u32, u32),
    protocol: u32,
    /// The last four bytes of either address.
    addresses: [u32; 2],
    tcp: u32,
}

const V4: Family = Family { version: (0, 0xff, 0x45), protocol: 9, addresses: [12, 16], tcp: 20 };
const V6: Family = Family { version: (0, 0xf0, 0x60), protocol: 6, addresses: [20, 36], tcp: 40 };

impl Family {
    /// Frames are read from their beginning: where the kernel says that IP begins only what is in one piece
    /// could be.
    fn on(self, kind: LinkKind) -> Family {
        let link = if kind == LinkKind::Ethernet { 14 } else { 0 };
        let (version, mask, is) = self.version;
        Family {
            version: (version + link, mask, is),
            protocol: self.protocol + link,
            addresses: self.addresses.map(|at| at + link),
            tcp: self.tcp + link,
        }
    }

    /// Goes past the next `steps` unless it is a packet of this version.
    fn unless_version(&self, steps: u8) -> [sock_filter; 3] {
        let (at, mask, is) = self.version;
        [load(BPF_B, at), step(BPF_ALU | BPF_AND | BPF_K, mask), equals(is, 0, steps)]
    }

    /// Goes past the next `steps` unless it is TCP. What is left to be looked at are its flags.
    fn unless_tcp(&self, steps: u8) -> [sock_filter; 3] {
        let flags = load(BPF_B, self.tcp + 13);
        [load(BPF_B, self.protocol), equals(6, 0, steps + 1), flags]
    }

    /// Answers headers where it is a SYN.
    fn syn(&self) -> Vec<sock_filter> {
        let is_syn = [jump(BPF_JSET, SYN, 0, 1), answer(HEADERS)];
        let is_tcp = self.unless_tcp(is_syn.len() as u8);
        let version = self.unless_version((is_tcp.len() + is_syn.len()) as u8);
        [&version[..], &is_tcp, &is_syn].concat()
    }

    /// Answers so many bytes for packets of connections between these ends.
    fn few(&self, few: &[Endpoints], bytes: u32) -> Vec<sock_filter> {
        let of_family = |one: &&Endpoints| one.src.is_ipv4() == (self.version.2 == V4.version.2);
        let few: Vec<&Endpoints> = few.iter().filter(of_family).collect();
        if few.is_empty() {
            return Vec::new();
        }
        let its = [jump(BPF_JSET, SYN | FIN | RST, 1, 0), answer(bytes)];
        let found = [&self.unless_tcp(its.len() as u8)[..], &its].concat();
        let mut compared = vec![load(BPF_W, self.tcp), step(BPF_ST, 0)];
        for (left, one) in (0..few.len()).rev().zip(&few) {
            let ports = u32::from(one.src.port()) << 16 | u32::from(one.dst.port());
            compared.extend([
                step(BPF_LD | BPF_MEM, 0),
                equals(ports, 0, 4),
                load(BPF_W, self.addresses[0]),
                equals(last_four(one.src), 0, 2),
                load(BPF_W, self.addresses[1]),
                // Past those that are left, and the jump behind them.
                equals(last_four(one.dst), 6 * left as u8 + 1, 0),
            ]);
        }
        compared.push(step(BPF_JMP | BPF_JA, found.len() as u32));
        let version = self.unless_version((compared.len() + found.len()) as u8);
        [&version[..], &compared, &found].concat()
    }
}

const FIN: u32 = 1;
const SYN: u32 = 2;
const RST: u32 = 4;

fn last_four(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(address) => address.ip().to_bits(),
        SocketAddr::V6(address) => address.ip().to_bits() as u32,
    }
}

/// Answers headers for one of [`SHARE`] packets, by chance.
fn one_of_a_share() -> [sock_filter; 4] {
    let masked = step(BPF_ALU | BPF_AND | BPF_K, SHARE - 1);
    [load_beside(libc::SKF_AD_RANDOM), masked, equals(0, 0, 1), answer(HEADERS)]
}

/// Answers nothing for packets without this mark.
fn has_mark(mark: MarkMatch) -> [sock_filter; 4] {
    let masked = step(BPF_ALU | BPF_AND | BPF_K, mark.mask);
    [load_beside(libc::SKF_AD_MARK), masked, equals(mark.value, 1, 0), answer(0)]
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(how: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..step(BPF_JMP | how | BPF_K, k) }
}

fn equals(k: u32, jt: u8, jf: u8) -> sock_filter {
    jump(BPF_JEQ, k, jt, jf)
}

fn load(size: u32, at: u32) -> sock_filter {
    step(BPF_LD | size | BPF_ABS, at)
}

/// What a kernel knows beside a packet.
fn load_beside(what: libc::c_int) -> sock_filter {
    load(BPF_W, (libc::SKF_AD_OFF + what) as u32)
}

pub(super) fn answer(bytes: u32) -> sock_filter {
    step(BPF_RET | BPF_K, bytes)
}

#[cfg(test)]
mod tests;
