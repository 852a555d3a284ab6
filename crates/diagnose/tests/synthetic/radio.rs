//! A download through an access point, as a monitor beside it captures it: 802.11 frames behind radiotap headers.
//!
//! The packets have no identification, and no timestamps unless a download asks for them, so that only the numbers of
//! 802.11 distinguish a repetition on the air from a retransmission.
//!
//! Not modelled: contention, link acknowledgments and frames of others; ACKs do not wait for data on the air.

use super::download::{Direction, Download, Sent};
use std::collections::BTreeMap;

/// Bytes of a frame that the capture keeps.
const SNAP_LEN: usize = 128;
/// Times begin here, s since 1970.
const EPOCH_S: u64 = 1_700_000_000;
/// Header of radiotap, flags and rate included; 802.11 with QoS; LLC and SNAP.
const RADIOTAP: usize = 10;
const WIFI: usize = 26;
const SNAP: usize = 8;
const FCS: usize = 4;

/// What a capture contains, by direction: from the client, from the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnAir {
    pub(crate) frames: [u64; 2],
    pub(crate) retries: [u64; 2],
    pub(crate) airtime_us: [u64; 2],
}

/// Returns a capture of a download in the format of pcap, and what it contains.
pub(crate) fn capture(download: &Download) -> (Vec<u8>, OnAir) {
    let mut truth = OnAir::default();
    // Attempts in order of time; the last field numbers the MPDUs of a direction.
    let mut frames = BTreeMap::new();
    let mut numbers = [100_u16, 4_090];
    for (order, sent) in download.packets().iter().enumerate() {
        let side = sent.direction as usize;
        for (number, attempt) in sent.attempts.iter().enumerate() {
            let retry = number > 0;
            let bytes = frame(sent, numbers[side], retry, attempt.mbit_s);
            truth.frames[side] += 1;
            truth.retries[side] += u64::from(retry);
            truth.airtime_us[side] += airtime_us(sent.len + 20 + tcp(sent).len(), attempt.mbit_s);
            frames.insert((attempt.at_us, order, number), bytes);
        }
        numbers[side] = (numbers[side] + 1) % 4096;
    }
    let mut file =
        [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, SNAP_LEN as u32, 127].map(u32::to_le_bytes).concat();
    for ((at_us, ..), bytes) in frames {
        let at = [EPOCH_S + at_us / 1_000_000, at_us % 1_000_000];
        let kept = bytes.len().min(SNAP_LEN);
        for word in [at[0] as u32, at[1] as u32, kept as u32, bytes.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&bytes[..kept]);
    }
    (file, truth)
}

/// Returns the airtime of an IP packet of `len` bytes with OFDM at 5 GHz (IEEE 802.11-2020 §17.4.3), us.
pub(crate) fn airtime_us(len: usize, mbit_s: u32) -> u64 {
    let bits = 16 + 6 + 8 * (WIFI + SNAP + len + FCS) as u64;
    20 + 4 * bits.div_ceil(4 * u64::from(mbit_s))
}

/// Returns a frame with its radio header.
fn frame(sent: &Sent, number: u16, retry: bool, mbit_s: u32) -> Vec<u8> {
    let mut bytes = vec![0, 0, RADIOTAP as u8, 0, 0b110, 0, 0, 0, 0, 2 * mbit_s as u8];
    let (way, receiver, transmitter) = match sent.direction {
        Direction::FromClient => (1, 1, 2),
        Direction::FromServer => (2, 2, 1),
    };
    bytes.extend([0x88, way | if retry { 8 } else { 0 }, 0, 0]);
    for station in [receiver, transmitter, 3] {
        bytes.extend([2, 0, 0, 0, 0, station]);
    }
    bytes.extend((number << 4).to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    bytes.extend(packet(sent));
    bytes
}

/// Returns an IPv4 packet without an identification.
fn packet(sent: &Sent) -> Vec<u8> {
    let tcp = tcp(sent);
    let len = (20 + tcp.len() + sent.len) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(len.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    let (client, server) = ([10, 0, 0, 2], [192, 0, 2, 1]);
    packet.extend(match sent.direction {
        Direction::FromClient => [client, server].concat(),
        Direction::FromServer => [server, client].concat(),
    });
    packet.extend(tcp);
    packet.resize(usize::from(len), 0);
    packet
}

/// Returns a TCP header with its options: MSS, window scale and SACK permitted in a SYN, blocks elsewhere,
/// timestamps.
fn tcp(sent: &Sent) -> Vec<u8> {
    let mut options = match (sent.syn, sent.sack) {
        (true, _) => vec![2, 4, 5, 0xb4, 1, 3, 3, 7, 1, 1, 4, 2],
        (false, Some((from, to))) => {
            [&[1, 1, 5, 10][..], &from.to_be_bytes(), &to.to_be_bytes()].concat()
        }
        _ => Vec::new(),
    };
    if let Some((value, echo)) = sent.stamps {
        options.extend([&[1, 1, 8, 10][..], &value.to_be_bytes(), &echo.to_be_bytes()].concat());
    }
    let ports: [u16; 2] = match sent.direction {
        Direction::FromClient => [40_000, 80],
        Direction::FromServer => [80, 40_000],
    };
    let has_ack = !(sent.syn && sent.direction == Direction::FromClient);
    let flags = if sent.syn { 2 } else { 0 } | if has_ack { 0x10 } else { 0 };
    let mut header = ports.map(u16::to_be_bytes).concat();
    header.extend(sent.seq.to_be_bytes());
    header.extend(if has_ack { sent.ack } else { 0 }.to_be_bytes());
    header.extend([((20 + options.len()) as u8 / 4) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    header.extend(options);
    header
}
