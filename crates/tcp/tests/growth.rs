//! What a connection begins with: segment sizes and the initial window (RFC 9293 §3.7.1, RFC 6928,
//! RFC 3390, RFC 5681 §3.1).

use crate::kit::endpoint;
use crate::kit::stack::stack;
use ackord_events::NoSink;
use ackord_tcp::Connection;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, IpVersion, Options, Segment, Side};

/// A client that has sent its SYN `syns` times, answered with this MSS.
fn client(settings: &[(&str, &str)], ip: IpVersion, mss: Option<u16>, syns: u32) -> Connection {
    let (mut config, mechanisms) = stack(settings);
    config.ip = ip;
    let id = endpoint(Side::Client);
    let mut now = Time::ZERO;
    let mut client = Connection::connect(config, mechanisms, id, Seq(1), now);
    for sent in 1..=syns {
        assert!(client.poll_segment(now, &mut NoSink).is_some(), "the SYN");
        if sent < syns {
            now = client.deadline().expect("its timer");
            client.handle_deadline(now, &mut NoSink);
        }
    }
    let (ack, flags) = (Seq(2), Flags::SYN | Flags::ACK);
    let options = Options { mss, ..Options::default() };
    let answer = Segment { seq: Seq(9), ack, flags, window: 60_000, options, ..Segment::default() };
    client.handle_segment(now + Span::from_millis(40), &answer, Ecn::NotEct, &mut NoSink);
    client
}

#[test]
fn a_peer_that_says_no_mss() {
    let smss = |ip, mss| client(&[("timestamps", "off")], ip, mss, 1).smss();
    assert_eq!(smss(IpVersion::V4, None), Bytes(536));
    assert_eq!(smss(IpVersion::V6, None), Bytes(1220));
    assert_eq!(smss(IpVersion::V6, Some(600)), Bytes(600));
}

#[test]
fn the_initial_window_is_bounded_in_bytes_where_chosen() {
    let window = |bound: &'static str, mss: &'static str| {
        let peers = mss.trim_end_matches(" B").parse().expect("a number");
        let settings = [("initial_window_bound", bound), ("mss", mss), ("timestamps", "off")];
        client(&settings, IpVersion::V4, Some(peers), 1).cwnd()
    };
    assert_eq!(window("none", "8960 B"), Bytes(89_600));
    assert_eq!(window("rfc-6928", "8960 B"), Bytes(17_920));
    assert_eq!(window("rfc-6928", "1460 B"), Bytes(14_600));
    assert_eq!(window("rfc-3390", "1460 B"), Bytes(4_380));
    assert_eq!(window("rfc-5681", "1460 B"), Bytes(4_380));
    assert_eq!(window("rfc-5681", "536 B"), Bytes(2_144));
    // Fewer segments than the bound allows remain fewer.
    let two = [("initial_window_bound", "rfc-6928"), ("initial_window", "2")];
    let two = client(&[&two[..], &[("timestamps", "off")]].concat(), IpVersion::V4, Some(1460), 1);
    assert_eq!(two.cwnd(), Bytes(2_920));
}

/// RFC 5681 §3.1: one segment after a lost SYN; Linux tolerates one loss.
#[test]
fn lost_syns_shrink_the_initial_window() {
    let cwnd = |tolerated: &'static str, syns| {
        let settings =
            [("syn_losses_tolerated", tolerated), ("timestamps", "off"), ("mss", "1000 B")];
        client(&settings, IpVersion::V4, Some(1000), syns).cwnd().get() / 1000
    };
    assert_eq!((cwnd("0", 1), cwnd("0", 2)), (10, 1));
    assert_eq!((cwnd("1", 1), cwnd("1", 2), cwnd("1", 3)), (10, 10, 1));
}

/// `scripts/linux-sender.py` on Linux 6.18: a SYN lost never, once and twice.
#[test]
fn the_linux_profile_tolerates_a_lost_syn_as_a_kernel_does() {
    let profile = ackord_tcp::registry::profile("linux").expect("listed");
    let settings = profile.settings.iter().map(|setting| (setting.key, setting.value));
    let settings: Vec<_> = settings.collect();
    for (syns, kernel) in [(1, 10), (2, 10), (3, 1)] {
        let client = client(&settings, IpVersion::V4, Some(1000), syns);
        assert_eq!(client.cwnd().get() / client.smss().get(), kernel, "{syns} SYNs");
    }
}
