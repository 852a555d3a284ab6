//! Downloads over a radio link, frame by frame, and what is said of them.

use super::*;
use ackord_units::{Bytes, Seq};
use ackord_wire::{Endpoints, IpFields, Payload, Segment, Timestamps, encode};
use proptest::prelude::*;

mod accounting;

const MSS: u32 = 1_448;

fn advisor() -> Advisor {
    let limits = Limits {
        connections: 100,
        bytes_each: Bytes(1 << 20),
        bytes_in_all: Bytes(1 << 24),
        idle_for: Span::from_secs(60),
        injected_per_mille: 1_000,
        injected_rate: ackord_units::Rate::from_mbits_per_sec(100),
        fast: ackord_units::Rate::from_mbits_per_sec(500),
    };
    let (wan, lan) = (LinkKind::Bare, vec![LinkKind::Bare]);
    let config = AdviseConfig { limits, wan, lan, rules: Rules::default() };
    Advisor::new(config)
}

/// One connection, told apart by its port.
struct Download<'a> {
    advisor: &'a mut Advisor,
    port: u16,
    timestamps: bool,
}

impl Download<'_> {
    /// Segment number `index`, from zero, passes towards the mobile host.
    fn data(&mut self, millis: u64, index: u32) {
        let segment = self.segment(millis, 1 + index * MSS, 1, MSS);
        self.see(millis, Way::Out, segment);
    }

    /// The mobile host has all segments before number `index`.
    fn ack(&mut self, millis: u64, index: u32) {
        let segment = self.segment(millis, 1, 1 + index * MSS, 0);
        self.see(millis, Way::In, segment);
    }

    fn segment(&self, millis: u64, seq: u32, ack: u32, payload_len: u32) -> Segment {
        let mut segment = Segment {
            seq: Seq(seq),
            ack: Seq(ack),
            flags: Flags::ACK,
            window: 60_000,
            payload_len,
            ..Segment::default()
        };
        let value = millis as u32 + 1_000;
        segment.options.timestamps =
            self.timestamps.then_some(Timestamps { value, echo: value - 1 });
        segment
    }

    fn see(&mut self, millis: u64, way: Way, segment: Segment) {
        let to_mobile = Endpoints {
            src: "198.51.100.1:443".parse().expect("one"),
            dst: std::net::SocketAddr::from(([192, 0, 2, 7], self.port)),
        };
        let endpoints = if way == Way::Out { to_mobile } else { to_mobile.reversed() };
        let mut frame = Vec::new();
        let payload = Payload::Zeros(segment.payload_len);
        encode(endpoints, IpFields::default(), &segment, payload, &mut frame).expect("sound");
        let sighting = Sighting {
            interface: Interface::Lan(0),
            way,
            frame: &frame,
            vlan: None,
            segment_size: 0,
            checksum: TcpChecksum::Verified,
            mark: None,
            is_sample: false,
        };
        self.advisor.see(Time::ZERO + Span::from_millis(millis), &sighting);
    }
}

/// A download whose segment 200 is lost on the radio link; the sender, 400 ms away, recovers it.
fn one_loss(timestamps: bool) -> Advice {
    let mut advisor = advisor();
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps };
    const LOST: u32 = 200;
    for millis in 0..3_000 {
        let index = (millis / 10) as u32;
        if millis % 10 == 0 {
            download.data(millis, index);
        }
        // 20 ms over the link and back.
        if millis >= 20 && millis % 10 == 0 {
            let arrived = index - 2;
            let recovered = millis >= 2_000 + 450 + 20;
            download.ack(millis, if arrived < LOST || recovered { arrived + 1 } else { LOST });
        }
        if millis == 2_000 + 450 {
            download.data(millis, LOST);
        }
    }
    advisor.advice()
}

#[test]
fn a_loss_is_recovered_earlier_than_by_a_sender_that_is_far_away() {
    let advice = one_loss(true);
    let [class] = &advice.classes[..] else { panic!("one class: {advice:?}") };
    assert_eq!((class.connections, class.stalls), (1, (0, Span::ZERO)));
    assert!(class.duplicates[0] > 30 && class.duplicates[1] == 0);
    let snoop = class.remedies.iter().find(|one| one.name == "snoop").expect("it was tried");
    assert_eq!((snoop.earlier, snoop.not_earlier, snoop.needless), (1, 0, 0));
    // It was lost at 2000, and asked for again and again from 2020 on; the sender recovered it at 2450.
    let by = snoop.earlier_by.as_millis();
    assert!((390..=430).contains(&by), "{by}");
    assert!(!snoop.nothing_to_gain && snoop.estimate.is_some());
    assert!(
        (snoop.at_most - snoop.earlier_by.as_secs_f64() / class.active.as_secs_f64()).abs() < 1e-9
    );
    let without = one_loss(false);
    assert!(without.classes[0].duplicates[0] == 0 && without.classes[0].duplicates[1] > 30);
}

/// From second 1 to 2 the link is away; the sender tries again at 1.3, 1.7 and 2.5 s.
#[test]
fn an_outage_could_have_been_shorter_by_the_senders_last_wait() {
    let mut advisor = advisor();
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
    for index in 0..100 {
        let millis = u64::from(index) * 10;
        download.data(millis, index);
        if index >= 2 {
            download.ack(millis, index - 1);
        }
    }
    for millis in [1_300, 1_700, 2_500] {
        download.data(millis, 98);
    }
    download.ack(2_520, 100);
    let advice = advisor.advice();
    let class = &advice.classes[0];
    assert_eq!((class.stalls.0, class.stalls_by_retry), (1, 1));
    // Waiting since the acknowledgment at 990.
    assert_eq!(class.stalls.1, Span::from_millis(2_520 - 990));
    assert_eq!(class.stalls_shorter, Span::from_millis(2_500 - 1_700));
    let proxy = class.remedies.iter().find(|one| one.name == "proxy-tcp").expect("it was tried");
    // What was lost in the outage is not counted once more as losses.
    assert_eq!((proxy.earlier, proxy.not_earlier), (0, 0));
    let share = 0.8 / class.active.as_secs_f64();
    assert!((proxy.at_most - share).abs() < 1e-9);
    let likely = proxy.estimate.expect("it was long enough").mean;
    assert!((likely - share / 2.0).abs() < 1e-9, "{likely}");
    let text = advice.to_string();
    assert!(text.contains("stalls shorter by 0 to 0.8 s in all"), "{text}");
    assert_eq!(advice.to_json()["classes"][0]["stalls_by_retry"], 1);
}

/// The recovery itself saves 0.4 s of ten minutes, but the sender halves its window for the loss.
#[test]
fn a_loss_that_a_remedy_recovers_is_never_nothing_to_gain() {
    let mut advisor = advisor();
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
    const LOST: u32 = 200;
    for millis in (0..600_000).step_by(10) {
        let index = (millis / 10) as u32;
        download.data(millis, index);
        if index >= 2 {
            let recovered = millis >= 2_470;
            let arrived = if index - 2 < LOST || recovered { index - 1 } else { LOST };
            download.ack(millis, arrived);
        }
        if millis == 2_450 {
            download.data(millis, LOST);
        }
    }
    let advice = advisor.advice();
    for remedy in advice.classes[0].remedies.iter().filter(|one| one.earlier > 0) {
        assert!(remedy.at_most < 0.001 && !remedy.nothing_to_gain, "{remedy:?}");
    }
    assert!(advice.classes[0].remedies.iter().any(|one| one.earlier > 0));
    assert_eq!(advice.to_json()["classes"][0]["remedies"][1]["nothing_to_gain"], false);
}

#[test]
fn a_stall_that_ends_by_itself_is_nobodys_gain() {
    let mut advisor = advisor();
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
    download.data(0, 0);
    download.ack(20, 1);
    download.data(30, 1);
    download.ack(1_530, 2);
    let advice = advisor.advice();
    assert_eq!((advice.classes[0].stalls.0, advice.classes[0].stalls_by_retry), (1, 0));
    assert!(advice.classes[0].remedies.iter().all(|one| one.at_most == 0.0));
}

#[test]
fn where_nothing_is_lost_there_is_nothing_to_gain() {
    let mut advisor = advisor();
    assert!(advisor.advice().to_string().contains("nothing can be said"));
    let mut download = Download { advisor: &mut advisor, port: 50_000, timestamps: true };
    for index in 0..300 {
        download.data(u64::from(index) * 10, index);
        download.ack(u64::from(index) * 10 + 5, index + 1);
    }
    let advice = advisor.advice();
    assert!(!advice.queue_is_worth_it());
    assert!(advice.classes[0].remedies.iter().all(|one| one.nothing_to_gain && one.needless == 0));
    assert_eq!(advice.to_string().matches("nothing to gain here").count(), 3, "{advice}");
}

#[test]
fn who_shares_a_queue_and_how_is_seen() {
    let mut advisor = advisor();
    // One has three times as much, and packets wait up to 100 ms.
    for millis in 0..5_000_u64 {
        for (port, every) in [(50_000, 10), (50_001, 30)] {
            let mut download = Download { advisor: &mut advisor, port, timestamps: true };
            if millis % every == 0 {
                download.data(millis, (millis / every) as u32);
            }
            let wait = millis / 50;
            if millis % every == every - 1 && millis > 100 {
                download.ack(millis, (millis.saturating_sub(wait) / every) as u32);
            }
        }
    }
    let advice = advisor.advice();
    let fairness = advice.fairness.expect("they compete").mean;
    // (3 + 1)^2 / (2 (9 + 1))
    assert!((fairness - 0.8).abs() < 0.02, "{fairness}");
    assert!(advice.queue_is_worth_it());
    assert!(advice.to_string().contains("selective-drop or fq-codel"), "{advice}");
}

proptest! {
    /// Whatever passes, nothing panics, and what is remembered is what is counted.
    #[test]
    fn any_segments_in_any_order(
        steps in proptest::collection::vec(
            (0_u64..400, 0_u16..3, any::<bool>(), 0_u32..12, any::<u8>()), 0..60)
    ) {
        let mut advisor = advisor();
        let mut millis = 0;
        for (later, port, is_data, index, flags) in steps {
            millis += later;
            let mut download = Download { advisor: &mut advisor, port, timestamps: flags & 64 != 0 };
            let (way, len) = if is_data { (Way::Out, MSS + u32::from(flags)) } else { (Way::In, 0) };
            let number = 1_u32.wrapping_sub(3 * MSS).wrapping_add(index * MSS);
            let mut segment = download.segment(millis, number, number, len);
            if flags & 0x30 == 0x30 {
                segment.flags = if flags & 1 == 0 { Flags::SYN } else { Flags::RST | Flags::ACK };
            }
            download.see(millis, way, segment);
            let remembered: usize = advisor.watched.values().map(|(_, one)| one.remembered()).sum();
            prop_assert_eq!(remembered, advisor.remembered);
        }
        let advice = advisor.advice();
        for remedy in advice.classes.iter().flat_map(|class| &class.remedies) {
            prop_assert!((0.0..=1.0).contains(&remedy.at_most));
        }
        let _ = (advice.to_string(), advice.to_json());
    }
}
