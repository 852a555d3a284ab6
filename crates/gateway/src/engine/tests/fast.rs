//! Connections that are let pass, shown as the rings of a drive would show them.

use super::*;
use crate::Connection;
use crate::engine::Leaving;

pub(super) const FAST: u16 = 50_000;
pub(super) const BESIDE: u16 = 50_001;
/// Data of a packet of the fast one: two of them a millisecond are twice the limit.
pub(super) const LARGE: u32 = 62_500;

fn ends(port: u16) -> Endpoints {
    let mut ends = to_mobile();
    ends.dst.set_port(port);
    ends
}

/// Downloads, millisecond by millisecond, and what a ring does for who is let pass.
pub(super) struct Downloads {
    pub(super) engine: Engine,
    pub(super) millis: u64,
    /// Whether there is one beside the fast one.
    pub(super) beside: bool,
    /// By port: bytes so far.
    pub(super) sent: [u32; 2],
    /// Packets of the fast one that were shown.
    shown: u64,
    /// Packets that left and were not heard.
    pub(super) unheard: u64,
}

impl Downloads {
    pub(super) fn new() -> Downloads {
        Downloads {
            engine: engine("proxy-tcp"),
            millis: 0,
            beside: true,
            sent: [0; 2],
            shown: 0,
            unheard: 0,
        }
    }

    pub(super) fn is_let_pass(&mut self, port: u16) -> bool {
        let fast = self.engine.fast(at(self.millis));
        fast.connections.iter().any(|(_, key)| key.mobile.port() == port)
    }

    pub(super) fn connection(&self, port: u16) -> &Connection {
        let mut all = self.engine.connections().iter();
        all.find(|one| one.key.mobile.port() == port).expect("known")
    }

    /// A packet of one of them passes.
    pub(super) fn pass(&mut self, way: Way, port: u16, segment: Segment) {
        let attention = self.engine.attention(at(self.millis));
        let (fast, by_lan) = (attention.fast, attention.by_lan);
        let is_sample = fast.connections.iter().any(|(_, key)| key.mobile.port() == port)
            && !segment.flags.intersects(Flags::SYN | Flags::FIN | Flags::RST);
        let is_heard = way == Way::In || by_lan == Leaving::All;
        let is_shown = is_heard && (!is_sample || fast.are_shown);
        self.unheard += u64::from(!is_heard);
        self.shown += u64::from(is_shown && port == FAST);
        if !is_shown {
            return;
        }
        let ends = if way == Way::Out { ends(port) } else { ends(port).reversed() };
        let mut frame = Vec::new();
        encode(
            ends,
            IpFields::default(),
            &segment,
            Payload::Zeros(segment.payload_len),
            &mut frame,
        )
        .expect("sound");
        let is_cut = is_sample && frame.len() > 122;
        frame.truncate(if is_cut { 122 } else { frame.len() });
        let sighting = Sighting {
            interface: Interface::Lan(0),
            way,
            frame: &frame,
            vlan: None,
            segment_size: if segment.payload_len > MSS { MSS } else { 0 },
            checksum: TcpChecksum::Trusted,
            mark: None,
            is_sample: is_cut,
        };
        self.engine.see(at(self.millis), &sighting);
    }

    /// Data passes, and the acknowledgment of all that was there 20 ms ago.
    pub(super) fn data(&mut self, port: u16, len: u32, before: u32) {
        let sent = self.sent[usize::from(port - FAST)];
        self.pass(Way::Out, port, segment(sent, 1, len, self.millis));
        self.sent[usize::from(port - FAST)] += len;
        self.pass(Way::In, port, segment(1, sent.saturating_sub(before), 0, self.millis));
    }

    /// So many milliseconds go by, the first of them with packets of this size twice in each.
    pub(super) fn go_on(&mut self, millis: u64, len: Option<u32>) {
        for _ in 0..millis {
            self.engine.handle_deadlines(at(self.millis));
            for len in [len, len].into_iter().flatten() {
                self.data(FAST, len, 20 * 2 * len);
            }
            if self.beside && self.millis.is_multiple_of(4) {
                self.data(BESIDE, MSS, 5 * MSS);
            }
            self.millis += 1;
        }
    }
}

#[test]
fn who_is_fast_is_let_pass_until_it_slows_down_and_then_is_taken_up_in_the_middle() {
    let mut downloads = Downloads::new();
    downloads.go_on(90, Some(LARGE));
    assert!(!downloads.is_let_pass(FAST) && downloads.connection(FAST).kept() > Bytes::ZERO);
    downloads.go_on(30, Some(LARGE));
    assert!(downloads.is_let_pass(FAST) && !downloads.is_let_pass(BESIDE));
    assert_eq!(downloads.connection(FAST).kept(), Bytes::ZERO);
    let (before, shown) = (downloads.connection(FAST).to_mobile, downloads.shown);
    downloads.go_on(4_000, Some(LARGE));
    // An eighth, about, both ways.
    let share = (downloads.shown - shown) as f64 / 16_000.0;
    assert!((0.1..0.15).contains(&share), "{share}");
    assert!(downloads.is_let_pass(FAST));
    // What passed meanwhile is estimated, and no evidence.
    let (sent, connection) = (f64::from(downloads.sent[0]), downloads.connection(FAST));
    let counted = connection.counters.bytes_to_mobile as f64;
    assert!((0.9..1.1).contains(&(counted / sent)), "{counted} {sent}");
    assert_eq!(connection.to_mobile.until(at(downloads.millis)), before);

    downloads.go_on(1_200, Some(MSS));
    assert!(!downloads.is_let_pass(FAST));
    downloads.go_on(1_000, Some(MSS));
    let connection = downloads.connection(FAST);
    assert!(connection.kept() > Bytes::ZERO);
    assert_eq!(connection.to_mobile.stalls, 0);
    let acknowledged = connection.to_mobile.bytes - before.bytes;
    let longest = u64::from(MSS) * 2 * 2_200;
    assert!((longest / 3..longest).contains(&acknowledged), "{acknowledged} {longest}");
    let active = connection.to_mobile.active.saturating_sub(before.active);
    assert!(active <= Span::from_millis(2_200), "{active}");

    // Beside it nothing was missed.
    let beside = downloads.connection(BESIDE);
    assert_eq!(beside.counters.bytes_to_mobile, u64::from(downloads.sent[1]));
    assert_eq!(beside.to_mobile.bytes, u64::from(downloads.sent[1] - 6 * MSS));
    assert_eq!((beside.to_mobile.stalls, beside.counters.refused), (0, 0));
    assert_eq!(downloads.unheard, 0);
}

#[test]
fn bytes_of_a_fast_connection_are_not_on_the_air_of_the_link() {
    let mut downloads = Downloads::new();
    downloads.go_on(200, Some(LARGE));
    assert!(downloads.is_let_pass(FAST));
    let totals = |downloads: &Downloads| downloads.engine.link_totals(at(downloads.millis));
    let before = totals(&downloads);
    downloads.go_on(4_000, Some(LARGE));
    // What is acknowledged of it is not known, so that its bytes would look like waste.
    let passed = totals(&downloads).since(&before);
    assert_eq!(passed.air_bytes, f64::from(MSS) * 1_000.0);
    assert_eq!(passed.useful_bytes, passed.air_bytes);
}

#[test]
fn who_stands_still_ends_or_begins_anew_is_not_let_pass_any_more() {
    for how in ["stands still", "ends", "begins anew"] {
        let mut downloads = Downloads::new();
        downloads.pass(Way::Out, FAST, Segment { flags: Flags::SYN, ..segment(0, 0, 0, 0) });
        downloads.go_on(150, Some(LARGE));
        assert!(downloads.is_let_pass(FAST));
        match how {
            "stands still" => downloads.go_on(2_000, None),
            "ends" => downloads.pass(Way::In, FAST, rst()),
            _ => {
                let syn = Segment { flags: Flags::SYN, ..segment(7_000_000, 0, 0, 0) };
                downloads.pass(Way::Out, FAST, syn);
            }
        }
        assert!(!downloads.is_let_pass(FAST), "{how}");
    }
}

#[test]
fn what_stands_before_a_syn_is_known_whichever_interface_tells_first() {
    for (wan_first, flags) in
        [(true, Flags::SYN), (false, Flags::SYN), (true, Flags::ACK), (false, Flags::ACK)]
    {
        let mut engine = engine("m-tcp");
        let syn = packet(Interface::Wan, Segment { flags, ..segment(0, 0, 0, 0) }, 0);
        let mut frame = [&[7; 12][..], &[0x08, 0x00], &syn].concat();
        let lan = |engine: &mut Engine| see(engine, 1, Interface::Lan(0), Way::In, &syn, 0);
        if !wan_first {
            lan(&mut engine);
        }
        see(&mut engine, 1, Interface::Wan, Way::Out, &frame, 0);
        if wan_first {
            lan(&mut engine);
        }
        let to_wan = |engine: &Engine| {
            let connection = engine.connections().iter().next().expect("one");
            connection.to_wan.map(|link| link.bytes()[0])
        };
        // Of anything else there will be another packet.
        let known = flags == Flags::SYN || !wan_first;
        assert_eq!(to_wan(&engine), known.then_some(7), "{wan_first} {flags:?}");
        frame[0] = 9;
        see(&mut engine, 2, Interface::Wan, Way::Out, &frame, 0);
        assert_eq!(to_wan(&engine), Some(9), "another way");
    }
}

#[test]
fn syns_that_nobody_claims_are_forgotten() {
    let mut engine = engine("m-tcp");
    for number in 0..1_000_u16 {
        let segment = Segment { flags: Flags::SYN, ..segment(0, 0, 0, 0) };
        let mut frame = [&[7; 12][..], &[0x08, 0x00]].concat();
        encode(
            ends(number).reversed(),
            IpFields::default(),
            &segment,
            Payload::Zeros(0),
            &mut frame,
        )
        .expect("sound");
        see(&mut engine, 0, Interface::Wan, Way::Out, &frame, 0);
    }
    assert_eq!((engine.ahead.len(), engine.connections().len()), (64, 0));
}
