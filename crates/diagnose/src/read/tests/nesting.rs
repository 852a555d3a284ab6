//! The packet in tunnels within tunnels, in any order, cut anywhere: it is found, or the frame is counted.

use super::super::layers::{Stamp, frame};
use super::super::tally::{Kind, Outcome};
use super::frames::{self, TCP_LEN, ethernet, expected, ipv4, ipv6, joined, tcp, udp};
use super::wireless::{self, header, snap};
use crate::Seen;
use ackord_units::Time;
use proptest::collection::vec;
use proptest::prelude::*;

/// One more layer around a packet of IP.
#[derive(Clone, Copy, Debug)]
enum Layer {
    IpInIp,
    Gre,
    GreBridged,
    GreInUdp,
    Vxlan,
    VxlanGpe,
    Geneve,
    Gtp,
    MplsInUdp,
    Capwap,
    Aruba,
    Pptp,
}

const LAYERS: [Layer; 12] = [
    Layer::IpInIp,
    Layer::Gre,
    Layer::GreBridged,
    Layer::GreInUdp,
    Layer::Vxlan,
    Layer::VxlanGpe,
    Layer::Geneve,
    Layer::Gtp,
    Layer::MplsInUdp,
    Layer::Capwap,
    Layer::Aruba,
    Layer::Pptp,
];

/// The type of a packet of IP, and its number in VXLAN-GPE.
fn kind(packet: &[u8]) -> (u16, u8) {
    if packet[0] >> 4 == 4 { (0x0800, 1) } else { (0x86dd, 2) }
}

/// A frame with `tags` tags around a packet.
fn tagged(packet: &[u8], tags: usize) -> Vec<u8> {
    let mut ether_type = kind(packet).0;
    let mut content = packet.to_vec();
    for tag in 0..tags {
        content = joined(&[&[0, tag as u8], &ether_type.to_be_bytes(), &content]);
        ether_type = if tag == 0 { 0x8100 } else { 0x88a8 };
    }
    ethernet(ether_type, &content)
}

/// An 802.11 frame around a packet; the lowest bits of `shape` are its form.
fn wifi(packet: &[u8], shape: usize) -> Vec<u8> {
    let forms = wireless::wifi(kind(packet).0, packet);
    forms[shape % forms.len()].1.clone()
}

impl Layer {
    /// The packet in this tunnel, in IP of a version.
    fn around(self, packet: &[u8], v6: bool, tags: usize) -> Vec<u8> {
        let (ether_type, next) = kind(packet);
        let typed = ether_type.to_be_bytes();
        let ip = |protocol, content: &[u8]| match v6 {
            true => ipv6(protocol, content),
            false => ipv4(protocol, content),
        };
        let datagram = |port, content: &[u8]| ip(17, &udp(40_000, port, content));
        let frame = tagged(packet, tags);
        let gre = joined(&[&[0x20, 0], &typed, &[0, 0, 0, 7], packet]);
        match self {
            Layer::IpInIp => ip(if next == 1 { 4 } else { 41 }, packet),
            Layer::Gre => ip(47, &gre),
            Layer::GreBridged => ip(47, &joined(&[&[0, 0, 0x65, 0x58], &frame])),
            Layer::GreInUdp => datagram(4754, &gre),
            Layer::Vxlan => datagram(4789, &joined(&[&[8, 0, 0, 0, 0, 0, 5, 0], &frame])),
            Layer::VxlanGpe => datagram(4790, &joined(&[&[12, 0, 0, next, 0, 0, 5, 0], packet])),
            Layer::Geneve => datagram(6081, &joined(&[&[0, 0, 0x65, 0x58, 0, 0, 5, 0], &frame])),
            Layer::Gtp => {
                let len = (packet.len() as u16).to_be_bytes();
                datagram(2152, &joined(&[&[0x30, 0xff], &len, &[0, 0, 0, 7], packet]))
            }
            Layer::MplsInUdp => {
                datagram(6635, &joined(&[&[0, 1, 0x10, 64, 0, 1, 0x11, 64], packet]))
            }
            Layer::Capwap => {
                let head = [0, 2 << 3, 0x43, 0, 0, 0, 0, 0];
                datagram(5247, &joined(&[&head, &wifi(packet, tags)]))
            }
            Layer::Aruba => ip(47, &joined(&[&[0, 0, 0x82, 0x10], &wifi(packet, tags)])),
            Layer::Pptp => {
                let protocol: [u8; 2] = if next == 1 { [0, 0x21] } else { [0, 0x57] };
                let head = [0x30, 1, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0, 1];
                ip(47, &joined(&[&head, &protocol, packet]))
            }
        }
    }
}

fn down(link: u16, bytes: &[u8], wire: usize) -> (Outcome, Vec<Seen>) {
    let stamp = Stamp { frame: 1, at: Time::ZERO, file: 0, interface: 0, direction: 0 };
    let mut out = Vec::new();
    let outcome = frame(link, bytes, wire as u32, stamp, &mut out);
    (outcome, out)
}

proptest! {
    #[test]
    fn a_packet_in_any_tunnels_is_found_or_its_frame_is_counted(
        layers in vec((0..LAYERS.len(), any::<bool>(), 0..4_usize), 0..4),
        outermost in 0..12_usize,
        v6 in any::<bool>(),
        kept in any::<prop::sample::Index>(),
    ) {
        let version = if v6 { 6 } else { 4 };
        let mut packet = if v6 { ipv6(6, &tcp()) } else { ipv4(6, &tcp()) };
        let ip_len = packet.len() as u32;
        for (layer, v6, tags) in &layers {
            packet = LAYERS[*layer].around(&packet, *v6, *tags);
        }
        let (link, bytes) = match outermost {
            0 => (1, tagged(&packet, layers.len())),
            shape => (105, wifi(&packet, shape - 1)),
        };
        let whole = bytes.len();
        let (outcome, seen) = down(link, &bytes, whole);
        let nested = outcome == Outcome::Other(Kind::NestedTooDeep);
        prop_assert!(outcome == Outcome::Tcp || nested && layers.len() > 1, "{:?}", outcome);
        if outcome == Outcome::Tcp {
            let same = Seen { hop: 0, radio: None, ..seen[0] };
            prop_assert_eq!(same, Seen { ip_len, ..expected(version) });
            prop_assert_eq!(seen.len(), 1);
        }
        // Cut off: what is there is the same, and nothing is made up.
        let kept = kept.index(whole);
        let header = whole - frames::PAYLOAD as usize - TCP_LEN;
        let (cut, part) = down(link, &bytes[..kept], whole);
        prop_assert!(cut != Outcome::Tcp || kept >= header + 16);
        if let (Some(full), Outcome::Tcp) = (seen.first(), outcome) {
            prop_assert_eq!(cut == Outcome::Tcp, kept >= header + 16, "{:?}", cut);
            for part in &part {
                let (options_cut, timestamps, sacks) = (part.options_cut, part.timestamps, part.sacks);
                prop_assert_eq!(options_cut, kept < header + TCP_LEN);
                prop_assert_eq!(*part, Seen { options_cut, timestamps, sacks, ..*full });
            }
        }
    }

    #[test]
    fn tags_without_end_come_to_an_end(
        link in prop::sample::select(vec![1_u16, 9, 50, 105, 127, 192, 204, 205, 219, 258]),
        which in 0..TAGS.len(),
        start in vec(any::<u8>(), 0..3),
    ) {
        // As large as a frame may be. What is repeated is a type and what is before the next one.
        let (first, tag) = TAGS[which];
        let repeated = tag.iter().copied().cycle().take(200_000);
        let content: Vec<u8> = start.into_iter().chain(repeated).collect();
        down(link, &content, content.len());
        let frame = ethernet(first, &content);
        down(1, &frame, frame.len());
        let frame = joined(&[&header(0x08, 1, &[]), &snap(first, &content)]);
        down(105, &frame, frame.len());
    }

    #[test]
    fn any_bytes_of_any_link_type_are_counted(
        link in 0..300_u16,
        bytes in vec(any::<u8>(), 0..300),
        beyond in 0..2_000_usize,
    ) {
        let (outcome, seen) = down(link, &bytes, bytes.len() + beyond);
        prop_assert_eq!(outcome == Outcome::Tcp, !seen.is_empty());
    }

    #[test]
    fn any_fields_of_radio_headers_are_counted(
        link in prop::sample::select(vec![119_u16, 127, 163, 192]),
        present in any::<u32>(),
        fields in vec(any::<u8>(), 0..120),
        retry in any::<bool>(),
    ) {
        let head = match link {
            127 => wireless::radiotap(present, &fields),
            192 => wireless::ppi(105, &fields),
            119 => wireless::prism(),
            _ => wireless::avs(),
        };
        let flags = if retry { 9 } else { 1 };
        let frame = joined(&[&head, &header(0x08, flags, &[]), &snap(0x0800, &ipv4(6, &tcp()))]);
        for radio in down(link, &frame, frame.len()).1.iter().filter_map(|seen| seen.radio) {
            prop_assert_eq!(radio.retry, retry);
            prop_assert_eq!(radio.rate_kbit_s == 0, radio.airtime_us == 0);
        }
    }
}

/// Types, and what repeats them.
const TAGS: [(u16, &[u8]); 8] = [
    (0x8100, &[0, 5, 0x81, 0]),
    (0x8926, &[0, 1, 0, 2, 0x89, 0x26]),
    (0xdada, &[0, 0, 0xc0, 0x18, 0, 0, 0xda, 0xda]),
    (0x0008, &[0xaa, 0xaa, 3, 0, 0, 0, 0x81, 0, 0, 5, 0, 8]),
    (0x880b, &[0x0f, 0, 0x88, 0x0b]),
    (0x894f, &[0x0f, 0xc2, 2, 4, 0, 0, 1, 255]),
    (0x8847, &[0, 1, 0x10, 64]),
    (0x6558, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x65, 0x58]),
];
