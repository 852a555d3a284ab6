//! The packet in 802.11 frames behind every radio header, and what these headers state.

use super::super::layers::{Stamp, frame};
use super::super::tally::{Kind, Outcome};
use super::frames::{Framed, expected, ipv4, ipv6, joined, tcp, udp};
use crate::{Radio, Seen};
use ackord_units::Time;

const RECEIVER: [u8; 6] = [2, 0, 0, 0, 0, 1];
const TRANSMITTER: [u8; 6] = [2, 0, 0, 0, 0, 2];
const OTHER: [u8; 6] = [2, 0, 0, 0, 0, 3];
pub(super) const WIFI: u16 = 105;
pub(super) const PRISM: u16 = 119;
pub(super) const RADIOTAP: u16 = 127;
pub(super) const AVS: u16 = 163;
pub(super) const PPI: u16 = 192;

/// LLC and SNAP before a packet.
pub(super) fn snap(ether_type: u16, packet: &[u8]) -> Vec<u8> {
    joined(&[&[0xaa, 0xaa, 3, 0, 0, 0], &ether_type.to_be_bytes(), packet])
}

/// An 802.11 header: frame control, duration, three addresses, sequence control, and what follows these.
pub(super) fn header(kind: u8, flags: u8, more: &[u8]) -> Vec<u8> {
    let start = [kind, flags, 0x2c, 0];
    joined(&[&start, &RECEIVER, &TRANSMITTER, &OTHER, &[0x10, 0x3f], more])
}

/// A frame within an A-MSDU, padded.
fn subframe(content: &[u8], padded: bool) -> Vec<u8> {
    let mut frame = joined(&[&OTHER, &TRANSMITTER, &(content.len() as u16).to_be_bytes(), content]);
    if padded {
        frame.resize(frame.len().next_multiple_of(4), 0);
    }
    frame
}

/// A radiotap header of these fields, whose bytes are aligned already.
pub(super) fn radiotap(present: u32, fields: &[u8]) -> Vec<u8> {
    let len = (8 + fields.len()) as u16;
    joined(&[&[0, 0], &len.to_le_bytes(), &present.to_le_bytes(), fields])
}

/// Flags and rate, of the fields of radiotap.
pub(super) fn tapped(flags: u8, half_mbits: u8) -> Vec<u8> {
    radiotap(0b110, &[flags, half_mbits])
}

/// The packet in every kind of 802.11 frame.
pub(super) fn wifi(ether_type: u16, ip: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let body = snap(ether_type, ip);
    let with = |kind, flags, more: &[u8], body: &[u8]| joined(&[&header(kind, flags, more), body]);
    let other = snap(0x0800, &ipv4(17, &udp(1_024, 1_025, &[7; 9])));
    let aggregate = joined(&[&subframe(&other, true), &subframe(&body, false)]);
    let iv = [1, 0, 0, 0x20, 0, 0, 0, 0];
    vec![
        ("802.11, to the access point", with(0x08, 1, &[], &body)),
        ("802.11, from the access point, again", with(0x08, 2 | 8, &[], &body)),
        ("802.11 QoS", with(0x88, 1, &[5, 0], &body)),
        ("802.11 QoS with HT control", with(0x88, 2 | 0x80, &[0, 0, 1, 2, 3, 4], &body)),
        ("802.11 of four addresses", with(0x08, 3, &OTHER, &body)),
        ("802.11 QoS of four addresses", with(0x88, 3, &joined(&[&OTHER, &[0, 0]]), &body)),
        ("802.11 A-MSDU", with(0x88, 2, &[0x80, 0], &aggregate)),
        ("802.11, decrypted", with(0x88, 2 | 0x40, &[0, 0], &joined(&[&iv, &body]))),
        ("802.11, decrypted, without a vector", with(0x88, 2 | 0x40, &[0, 0], &body)),
        ("802.11 mesh", with(0x88, 3, &joined(&[&OTHER, &[0, 1], &[0, 31, 1, 0, 0, 0]]), &body)),
        (
            "802.11 mesh of six addresses",
            with(
                0x88,
                3,
                &joined(&[&OTHER, &[0, 1], &[2, 31, 1, 0, 0, 0], &OTHER, &RECEIVER]),
                &body,
            ),
        ),
    ]
}

/// The packet in every kind of 802.11 frame, and behind every radio header.
pub(super) fn all(version: u8, ether_type: u16, ip: &[u8]) -> Vec<Framed> {
    let mut all: Vec<_> = wifi(ether_type, ip)
        .into_iter()
        .map(|(name, bytes)| Framed { name, link: WIFI, version, bytes })
        .collect();
    let bare = joined(&[&header(0x08, 1, &[]), &snap(ether_type, ip)]);
    let qos = joined(&[&header(0x88, 1, &[0, 0]), &snap(ether_type, ip)]);
    let padded = joined(&[&header(0x88, 1, &[0, 0]), &[0, 0], &snap(ether_type, ip)]);
    let ppi_wifi = ppi(105, &joined(&[&[2, 0, 20, 0], &[0; 8], &[0, 0, 108, 0], &[0; 8]]));
    let ethernet = super::frames::ethernet(ether_type, ip);
    for (name, link, head, frame) in [
        ("radiotap", RADIOTAP, tapped(0, 108), &qos),
        ("radiotap, padded", RADIOTAP, tapped(0x20, 108), &padded),
        ("radiotap of three words", RADIOTAP, three_words(), &qos),
        ("PPI", PPI, ppi_wifi, &bare),
        ("PPI, Ethernet", PPI, ppi(1, &[]), &ethernet),
        ("Prism", PRISM, prism(), &bare),
        ("AVS", AVS, avs(), &bare),
        ("AVS as Prism", PRISM, avs(), &bare),
    ] {
        all.push(Framed { name, link, version, bytes: joined(&[&head, frame]) });
    }
    all
}

/// A radiotap header with fields of other antennas behind those of all.
fn three_words() -> Vec<u8> {
    let more = 1_u32 << 31;
    let again = 1_u32 << 29;
    let words = [more | again | 0b110, more | again | 1 << 5, 1 << 5].map(u32::to_le_bytes);
    joined(&[&[0, 0, 20, 0], &words.concat(), &[0, 108, 0xc0, 0xc1]])
}

/// A PPI header.
pub(super) fn ppi(link: u32, fields: &[u8]) -> Vec<u8> {
    let len = (8 + fields.len()) as u16;
    joined(&[&[0, 0], &len.to_le_bytes(), &link.to_le_bytes(), fields])
}

/// A Prism header of ten items, of which the eighth is a rate of 11 Mbit/s.
pub(super) fn prism() -> Vec<u8> {
    let mut head = joined(&[&[0x44, 0, 0, 0, 144, 0, 0, 0], b"wlan0\0\0\0\0\0\0\0\0\0\0\0"]);
    for item in 1..=10_u32 {
        head.extend((item << 16 | 0x44).to_le_bytes());
        head.extend([0, 0, 4, 0]);
        head.extend((if item == 8 { 22_u32 } else { 0 }).to_le_bytes());
    }
    head
}

/// An AVS header of the first version: 54 Mbit/s.
pub(super) fn avs() -> Vec<u8> {
    let mut head = joined(&[&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64], &[0; 16]]);
    for word in [8_u32, 36, 540, 0, 0, 0, 0, 0, 2, 4] {
        head.extend(word.to_be_bytes());
    }
    head
}

fn down(link: u16, bytes: &[u8], kept: usize) -> (Outcome, Vec<Seen>) {
    let stamp = Stamp { frame: 1, at: Time::ZERO, file: 0, interface: 0, direction: 0 };
    let mut out = Vec::new();
    let outcome = frame(link, &bytes[..kept], bytes.len() as u32, stamp, &mut out);
    (outcome, out)
}

/// What is stated of the reception of the packet in a plain frame behind this header.
fn radio(link: u16, head: &[u8], retry: bool) -> Option<Radio> {
    let flags = if retry { 9 } else { 1 };
    let frame = joined(&[head, &header(0x08, flags, &[]), &snap(0x0800, &ipv4(6, &tcp()))]);
    let (outcome, seen) = down(link, &frame, frame.len());
    assert_eq!(outcome, Outcome::Tcp);
    seen[0].radio
}

/// 24 bytes of header, 8 of SNAP, 96 of IP, and the check sequence.
const LEN: u32 = 24 + 8 + 96 + 4;

#[test]
fn radio_headers_state_rate_and_airtime() {
    let sequence = 0x3f1;
    let stated = |rate_kbit_s, airtime_us| {
        Some(Radio { sequence, rate_kbit_s, airtime_us, ..Radio::default() })
    };
    let ofdm_54 = 20 + 4 * (22 + 8 * LEN as u16).div_ceil(216);
    let dsss_11 = (8 * LEN as u16).div_ceil(11);
    assert_eq!(radio(RADIOTAP, &tapped(0, 108), false), stated(54_000, ofdm_54));
    assert_eq!(radio(RADIOTAP, &tapped(0, 22), false), stated(11_000, 192 + dsss_11));
    assert_eq!(radio(RADIOTAP, &tapped(2, 22), false), stated(11_000, 96 + dsss_11));
    assert_eq!(radio(PRISM, &prism(), false), stated(11_000, 192 + dsss_11));
    assert_eq!(radio(AVS, &avs(), false), stated(54_000, ofdm_54));
    let common = [2, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 108, 0, 0x94, 9, 0, 0, 0, 0, 0, 0];
    assert_eq!(radio(PPI, &ppi(105, &common), false), stated(54_000, ofdm_54 + 6));
    // Channel 11, behind the rate.
    let channel = radiotap(0b1110, &[0, 108, 0x9e, 9, 0, 0]);
    assert_eq!(radio(RADIOTAP, &channel, false), stated(54_000, ofdm_54 + 6));
    // HT, index 7 of 40 MHz with a short guard interval: 3 symbols of 540 bits.
    let ht = radiotap(1 << 19, &[0x1f, 1 | 4, 7]);
    assert_eq!(radio(RADIOTAP, &ht, false), stated(150_000, 36 + 8));
    // VHT, index 9 of 80 MHz, two streams; HE, index 11 of 80 MHz, two streams.
    let vht = radiotap(1 << 21, &[0x44, 0, 0, 4, 0x92, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(radio(RADIOTAP, &vht, false), stated(780_000, 44 + 4));
    let he = [0x60, 0x40, 6, 0, 0, 0x2b, 0, 0, 0x82, 1, 2, 0];
    let he = radiotap(1 << 23, &he);
    // 20 us of legacy preamble, RL-SIG, HE-SIG-A, HE-STF, two fields of 7.2 us, a symbol of 13.6 us.
    assert_eq!(radio(RADIOTAP, &he, false), stated(1_200_955, 64));
    // What is not known is zero.
    for (link, head) in [(WIFI, &b""[..]), (RADIOTAP, &radiotap(0, &[])), (RADIOTAP, &tapped(0, 7))]
    {
        assert_eq!(radio(link, head, false), stated(0, 0));
    }
}

#[test]
fn repeated_frames_are_marked_as_such() {
    for (link, head) in [(WIFI, Vec::new()), (RADIOTAP, tapped(0, 12)), (PRISM, prism())] {
        assert_eq!(radio(link, &head, true).map(|radio| radio.retry), Some(true));
        assert_eq!(radio(link, &head, false).map(|radio| radio.retry), Some(false));
    }
    // The sequence number is that of the header, the traffic identifier that of the QoS control field.
    let qos = joined(&[&header(0x88, 9, &[5, 0]), &snap(0x0800, &ipv4(6, &tcp()))]);
    let radio = down(WIFI, &qos, qos.len()).1[0].radio.expect("802.11");
    assert_eq!((radio.sequence, radio.tid, radio.retry), (0x3f1, 5, true));
    let ethernet = super::frames::ethernet(0x0800, &ipv4(6, &tcp()));
    assert_eq!(down(1, &ethernet, ethernet.len()).1[0].radio, None);
}

#[test]
fn check_sequences_are_no_part_of_the_content() {
    let fcs = [0xaa; 4];
    let head = header(0x88, 2, &[0x80, 0]);
    // An A-MSDU whose check sequence could be the beginning of a subframe.
    let body = subframe(&snap(0x0800, &ipv4(6, &tcp())), true);
    let bytes = joined(&[&tapped(0x10, 108), &head, &body, &body, &fcs]);
    let (outcome, seen) = down(RADIOTAP, &bytes, bytes.len());
    assert_eq!((outcome, seen.len()), (Outcome::Tcp, 2));
    assert_eq!(seen[0], seen[1]);
    let len = (head.len() + 2 * body.len() + 4) as u32;
    let airtime = seen[0].radio.map(|radio| u32::from(radio.airtime_us));
    assert_eq!(airtime, Some(20 + 4 * (22 + 8 * len).div_ceil(216)));
    // The length of a packet that does not state its own is that without the check sequence.
    let mut ip = ipv4(6, &tcp());
    ip[2..4].copy_from_slice(&[0, 0]);
    let bytes = joined(&[&tapped(0x10, 108), &header(0x08, 1, &[]), &snap(0x0800, &ip), &fcs]);
    assert_eq!(down(RADIOTAP, &bytes, bytes.len()).1[0].ip_len, ip.len() as u32);
}

#[test]
fn an_aggregate_holds_several_packets() {
    let packet = snap(0x0800, &ipv4(6, &tcp()));
    let other = snap(0x0800, &ipv4(17, &udp(53, 53, &[1; 9])));
    let v6 = snap(0x86dd, &ipv6(6, &tcp()));
    let body = [&packet, &other, &v6, &packet].map(|content| subframe(content, true)).concat();
    let bytes = joined(&[&header(0x88, 1, &[0x80, 0]), &body]);
    let (outcome, seen) = down(WIFI, &bytes, bytes.len());
    let none = |seen: &Seen| Seen { hop: 0, radio: None, ..*seen };
    assert_eq!(outcome, Outcome::Tcp);
    assert_eq!(seen.iter().map(none).collect::<Vec<_>>(), [expected(4), expected(6), expected(4)]);
    assert!(seen.iter().all(|one| one.hop == seen[0].hop), "they were received together");
    // What is cut off is not there.
    let first = 26 + subframe(&packet, true).len();
    assert_eq!(down(WIFI, &bytes, first).1.len(), 1);
    let alone = joined(&[&header(0x88, 1, &[0x80, 0]), &subframe(&other, true)]);
    assert_eq!(down(WIFI, &alone, alone.len()).0, Outcome::Other(Kind::Udp));
}

#[test]
fn what_carries_no_data_or_cannot_be_read_is_counted_by_what_it_is() {
    let body = snap(0x0800, &ipv4(6, &tcp()));
    let secret = [&[1, 0, 0, 0x20, 0, 0, 0, 0][..], &[0x5c; 120]].concat();
    let with = |kind, flags, more: &[u8], body: &[u8]| joined(&[&header(kind, flags, more), body]);
    let mut fragment = with(0x08, 1, &[], &body);
    fragment[22] |= 1;
    for (link, frame, kind) in [
        (WIFI, with(0x80, 0, &[], &[0; 40]), Kind::WifiControl),
        (WIFI, vec![0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1], Kind::WifiControl),
        (WIFI, with(0xc8, 1, &[0, 0], &[]), Kind::WifiControl),
        (WIFI, with(0x88, 1 | 0x40, &[0, 0], &secret), Kind::WifiEncrypted),
        (WIFI, with(0x08, 1 | 0x40, &[], &secret), Kind::WifiEncrypted),
        (WIFI, with(0x88, 1 | 0x40, &[0x80, 0], &secret), Kind::WifiEncrypted),
        (WIFI, fragment, Kind::WifiFragment),
        (WIFI, with(0x08, 1, &[], &[0x42; 40]), Kind::Llc),
        (WIFI, with(0x08, 1, &[], &snap(0x888e, &[0; 20])), Kind::Eapol),
        (RADIOTAP, joined(&[&tapped(0x50, 108), &with(0x08, 1, &[], &body)]), Kind::WifiDamaged),
        (RADIOTAP, radiotap(1 << 26, &[0]), Kind::WifiControl),
    ] {
        assert_eq!(down(link, &frame, frame.len()).0, Outcome::Other(kind), "{frame:x?}");
    }
    // Another version, or shorter than it states.
    for (link, frame) in [
        (WIFI, with(0x09, 1, &[], &body)),
        (WIFI, vec![8]),
        (RADIOTAP, vec![0, 0, 200, 0, 0, 0, 0, 0, 1, 2, 3]),
        (RADIOTAP, vec![1, 0, 8, 0, 0, 0, 0, 0, 1, 2, 3]),
        (RADIOTAP, radiotap(1 << 21, &[0; 4])),
        (AVS, vec![0; 80]),
    ] {
        assert_eq!(down(link, &frame, frame.len()).0, Outcome::Malformed, "{frame:x?}");
    }
}
