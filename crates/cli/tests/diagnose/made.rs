//! Captures made for tests, frame by frame.

use std::path::{Path, PathBuf};

/// A pcap file of these Ethernet frames, a second apart.
pub(super) fn pcap(folder: &Path, name: &str, frames: &[Vec<u8>]) -> PathBuf {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(word.to_le_bytes());
    }
    for (second, frame) in (1_700_000_000_u32..).zip(frames) {
        let len = frame.len() as u32;
        for word in [second, 0, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    let path = folder.join(name);
    std::fs::write(&path, file).expect("a fresh folder");
    path
}

/// An Ethernet frame of this type.
pub(super) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(ether_type.to_be_bytes());
    frame.extend(payload);
    frame
}

/// An IPv4 packet of this protocol in such a frame.
pub(super) fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(len.to_be_bytes());
    packet.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(payload);
    ethernet(0x0800, &packet)
}

/// A UDP datagram in such a packet.
pub(super) fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    datagram.extend(ports[0].to_be_bytes());
    datagram.extend(ports[1].to_be_bytes());
    datagram.extend((8 + payload.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    ip(17, &datagram)
}

/// An upload whose segments are acknowledged one by one.
pub(super) struct Exchange {
    pub(super) round_trip_us: u64,
    /// Payload of a segment, bytes.
    pub(super) segment: u32,
    pub(super) segments: u32,
    /// One segment in so many is lost and retransmitted after 200 ms.
    pub(super) timeout_every: u32,
}

/// A pcap file of so many connections of this kind, a millisecond apart. Payload is cut off.
pub(super) fn connections(folder: &Path, name: &str, count: u16, exchange: &Exchange) -> PathBuf {
    let mut packets: Vec<(u64, Vec<u8>, u32)> = Vec::new();
    for number in 0..count {
        let mut at = 1_700_000_000_000_000 + 1_000 * u64::from(number);
        let ports = [20_000 + number, 80];
        let mut add =
            |at: u64, from_client: bool, (seq, ack, flags): (u32, u32, u8), payload: u32| {
                let (packet, len) = segment(ports, from_client, (seq, ack, flags), payload);
                packets.push((at, packet, len));
            };
        add(at, true, (0, 0, SYN), 0);
        at += exchange.round_trip_us;
        add(at, false, (0, 1, SYN | ACK), 0);
        add(at + 1, true, (1, 1, ACK), 0);
        let mut seq = 1;
        for number in 0..exchange.segments {
            at += 5 * exchange.round_trip_us;
            add(at, true, (seq, 1, ACK), exchange.segment);
            if has_timeout(number, exchange.timeout_every) {
                at += 200_000;
                add(at, true, (seq, 1, ACK), exchange.segment);
            }
            at += exchange.round_trip_us;
            seq += exchange.segment;
            add(at, false, (1, seq, ACK), 0);
        }
    }
    packets.sort_by_key(|(at, ..)| *at);
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, RAW_IP] {
        file.extend(word.to_le_bytes());
    }
    for (at, packet, len) in packets {
        let times = [(at / 1_000_000) as u32, (at % 1_000_000) as u32];
        for word in [times[0], times[1], packet.len() as u32, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    let path = folder.join(name);
    std::fs::write(&path, file).expect("a fresh folder");
    path
}

const SYN: u8 = 2;
const ACK: u8 = 16;
/// The link type of IP packets without a header of a link.
const RAW_IP: u32 = 101;

/// The headers of a segment, and its length as a packet.
fn segment(
    ports: [u16; 2],
    from_client: bool,
    (seq, ack, flags): (u32, u32, u8),
    payload: u32,
) -> (Vec<u8>, u32) {
    let options: &[u8] = if flags & SYN > 0 { &[2, 4, 5, 180, 1, 3, 3, 14] } else { &[] };
    let len = 40 + options.len() as u32 + payload;
    let [from, to] = if from_client { [1, 2] } else { [2, 1] };
    let mut packet = vec![0x45, 0];
    packet.extend((len as u16).to_be_bytes());
    packet.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    let [from, to] = if from_client { ports } else { [ports[1], ports[0]] };
    packet.extend(from.to_be_bytes());
    packet.extend(to.to_be_bytes());
    packet.extend(seq.to_be_bytes());
    packet.extend(ack.to_be_bytes());
    packet.extend([((20 + options.len()) as u8 / 4) << 4, flags]);
    packet.extend([0xff, 0xff, 0, 0, 0, 0]);
    packet.extend(options);
    (packet, len)
}

/// Returns true for one segment in each `every`, at another place each time: at equal distances they would be those
/// that a policer drops.
fn has_timeout(number: u32, every: u32) -> bool {
    number % every == (number / every).wrapping_mul(2_654_435_761) % every
}
