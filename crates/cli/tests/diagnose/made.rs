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
