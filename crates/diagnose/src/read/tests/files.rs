//! Frames in every format of file.

use super::frames::{ethernet, ipv4, tcp};

/// Byte orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub(super) fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    pub(super) fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    pub(super) fn u64(self, value: u64) -> [u8; 8] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }
}

pub(super) const ORDERS: [Order; 2] = [Order::Little, Order::Big];

/// Magic numbers of classic pcap.
pub(super) const MICROS: u32 = 0xa1b2_c3d4;
pub(super) const NANOS: u32 = 0xa1b2_3c4d;
pub(super) const MODIFIED: u32 = 0xa1b2_cd34;

/// Header of a classic pcap file.
pub(super) fn pcap_header(order: Order, magic: u32, link: u32) -> Vec<u8> {
    let mut file = order.u32(magic).to_vec();
    file.extend(order.u16(2));
    file.extend(order.u16(4));
    for word in [0, 0, 262_144, link] {
        file.extend(order.u32(word));
    }
    file
}

/// A classic pcap file; the frames are at 1000 s and 1, 2, ... units.
pub(super) fn pcap(order: Order, magic: u32, link: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = pcap_header(order, magic, link);
    for (number, frame) in frames.iter().enumerate() {
        let len = frame.len() as u32;
        for word in [1_000, number as u32 + 1, len, len] {
            file.extend(order.u32(word));
        }
        if magic == MODIFIED {
            file.extend([0; 8]);
        }
        file.extend(frame);
    }
    file
}

/// A block of pcapng.
pub(super) fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let len = order.u32(body.len() as u32 + 12);
    [&order.u32(kind)[..], &len, &body, &len].concat()
}

/// An option of pcapng.
pub(super) fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut option = [order.u16(code), order.u16(value.len() as u16)].concat();
    option.extend(value);
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

pub(super) fn section(order: Order) -> Vec<u8> {
    let mut body = order.u32(0x1a2b_3c4d).to_vec();
    body.extend(order.u16(1));
    body.extend(order.u16(0));
    body.extend([0xff; 8]);
    block(order, 0x0a0d_0d0a, &body)
}

pub(super) fn interface(order: Order, link: u16, snap_len: u32, options: &[u8]) -> Vec<u8> {
    let head = [&order.u16(link)[..], &[0, 0], &order.u32(snap_len)].concat();
    block(order, 1, &[&head, options].concat())
}

/// An enhanced packet block.
pub(super) fn enhanced(
    order: Order,
    interface: u32,
    stamp: u64,
    frame: &[u8],
    options: &[u8],
) -> Vec<u8> {
    let len = frame.len() as u32;
    let mut body = Vec::new();
    for word in [interface, (stamp >> 32) as u32, stamp as u32, len, len] {
        body.extend(order.u32(word));
    }
    body.extend(frame);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(options);
    block(order, 6, &body)
}

/// A pcapng file of one interface; the frames are at 1000 s and 1, 2, ... us.
pub(super) fn pcapng(order: Order, link: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = section(order);
    file.extend(interface(order, link, 0, &[]));
    for (number, frame) in frames.iter().enumerate() {
        file.extend(enhanced(order, 0, 1_000_000_001 + number as u64, frame, &[]));
    }
    file
}

/// Three frames: TCP, UDP, TCP.
pub(super) fn three() -> Vec<Vec<u8>> {
    let tcp = ethernet(0x0800, &ipv4(6, &tcp()));
    vec![tcp.clone(), ethernet(0x0800, &ipv4(17, &[0; 20])), tcp]
}

/// The same again and again.
pub(super) fn many(times: usize) -> Vec<Vec<u8>> {
    three().into_iter().cycle().take(3 * times).collect()
}

/// Three frames in every format.
pub(super) fn all() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for order in ORDERS {
        for magic in [MICROS, NANOS, MODIFIED] {
            all.push((format!("{order:?} {magic:x}"), pcap(order, magic, 1, &three())));
        }
        all.push((format!("{order:?} pcapng"), pcapng(order, 1, &three())));
    }
    all
}
