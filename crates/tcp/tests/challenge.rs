//! Blind attacks, and hosts that disagree: RFC 5961 in every state it speaks of.

use crate::kit::lone::{ACK, FIN, ISS, Lone, RST, SYN, seg};
use ackord_events::{NoSink, TcpState};
use ackord_tcp::CloseReason;
use ackord_units::Bytes;
use ackord_wire::{Ecn, Flags, Side};

/// RFC 5961 §3.2: outside the window nothing happens, inside it is challenged, at RCV.NXT it
/// counts.
#[test]
fn a_reset_counts_only_where_the_next_byte_is_expected() {
    let mut lone = Lone::established(&[]);
    assert_eq!(lone.arrives(RST, 0, 0, 0), vec![]);
    assert_eq!(lone.arrives(RST, 70_000, 0, 0), vec![]);
    assert_eq!(lone.host.stats().challenge_acks, 0);
    assert_eq!(lone.arrives(RST, 2, 0, 0), vec![seg(ACK, 1, 1, 0)]);
    assert_eq!(lone.host.stats().challenge_acks, 1);
    assert_eq!(lone.host.state(), TcpState::Established);
    assert_eq!(lone.arrives(RST, 1, 0, 0), vec![]);
    assert_eq!(lone.host.close_reason(), Some(CloseReason::ResetByPeer));
}

/// RFC 5961 §4: whatever its number, a SYN is answered with where the connection stands.
#[test]
fn a_syn_is_challenged_inside_the_window_and_outside() {
    let mut lone = Lone::established(&[]);
    for seq in [500, -100, 60_000_000] {
        assert_eq!(lone.arrives(SYN, seq, 0, 0), vec![seg(ACK, 1, 1, 0)], "{seq}");
        assert_eq!(lone.host.state(), TcpState::Established);
    }
    assert_eq!((lone.told_of("UnexpectedSyn"), lone.told_of("OutsideWindow")), (1, 2));
}

/// RFC 5961 §5: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT, both bounds included.
#[test]
fn an_acknowledgment_too_old_or_too_new_has_its_segment_discarded() {
    let oldest = 1 + 2_000 - 50_000;
    for (ack, delivered) in
        [(2_001, 100), (2_002, 0), (oldest, 100), (oldest - 1, 0), (i32::MIN + 5_000, 0)]
    {
        let mut lone = Lone::established(&[]);
        lone.write(2_000);
        lone.arrives(ACK, 1, 2_001, 0);
        let answer = lone.arrives(ACK, 1, ack, 100);
        assert_eq!(lone.host.readable().get(), delivered, "{ack}");
        assert_eq!(answer, vec![seg(ACK, 2_001, 1 + delivered as i32, 0)], "{ack}");
        assert_eq!(lone.host.stats().challenge_acks, u64::from(delivered == 0));
    }
}

/// RFC 5961 §7: ten within five seconds, then silence, then ten more.
#[test]
fn challenges_are_throttled() {
    let mut lone = Lone::established(&[]);
    let challenge = |lone: &mut Lone| lone.arrives(RST, 100, 0, 0).len();
    assert_eq!((0..25).map(|_| challenge(&mut lone)).sum::<usize>(), 10);
    assert_eq!(lone.host.stats().answers_throttled, 15);
    lone.wait(4_999);
    assert_eq!(challenge(&mut lone), 0);
    lone.wait(1);
    assert_eq!((0..25).map(|_| challenge(&mut lone)).sum::<usize>(), 10);
    // Data out of the window is not throttled: its sender waits for an answer.
    let answers = (0..25).map(|_| lone.arrives(ACK, -1_000, 1, 100).len());
    assert_eq!(answers.sum::<usize>(), 25);
}

/// What is left of two connections after a box between them died that had split theirs: each finds
/// the other's numbers outside its window. The kernel's limit ends it after one exchange.
#[test]
fn two_hosts_that_disagree_fall_silent() {
    for (limits, in_all) in [
        (&[][..], 20),
        (&[("challenge_ack_limit", "1"), ("challenge_ack_interval", "500 ms")][..], 2),
    ] {
        let mut hosts = [Lone::established(limits), Lone::established(limits)];
        let mut said = 0;
        while hosts[said % 2].arrives(ACK, -10_000, 1, 0).len() == 1 {
            said += 1;
            assert!(said <= in_all, "endless with {limits:?}");
            hosts.iter_mut().for_each(|host| drop(host.wait(40)));
        }
        assert_eq!(said, in_all);
    }
}

/// RFC 9293 §3.10.7.4 in SYN-RECEIVED: a passive open goes back to LISTEN, by a reset and by a SYN
/// inside the window, and the next handshake gets all it would have got.
#[test]
fn a_passive_open_that_does_not_get_through_listens_again() {
    for (flags, seq) in [(RST, 1), (SYN, 30_000)] {
        let mut lone = Lone::listening(&[]);
        assert_eq!(lone.arrives(SYN, 0, 0, 0), vec![seg(SYN | ACK, 0, 1, 0)]);
        assert_eq!(lone.arrives(flags, seq, 0, 0), vec![]);
        assert_eq!((lone.host.state(), lone.host.deadline()), (TcpState::Listen, None));
        assert_eq!(lone.arrives(SYN, 5_000, 0, 0), vec![seg(SYN | ACK, 0, 5_001, 0)]);
        lone.arrives(ACK, 5_001, 1, 0);
        assert_eq!(lone.host.state(), TcpState::Established);
        assert_eq!(lone.host.cwnd().get(), 10_000, "nothing was lost");
    }
}

/// RFC 9293 §3.10.7.4: a reset in each synchronized state ends it, and says why.
#[test]
fn a_reset_ends_every_state_with_the_reason_that_fits() {
    use TcpState::*;
    let reach = |state| {
        let mut lone = Lone::established(&[]);
        match state {
            FinWait1 => drop(lone.close()),
            FinWait2 => {
                lone.close();
                lone.arrives(ACK, 1, 2, 0);
            }
            CloseWait => drop(lone.arrives(FIN | ACK, 1, 1, 0)),
            Closing => {
                lone.close();
                lone.arrives(FIN | ACK, 1, 1, 0);
            }
            LastAck => {
                lone.arrives(FIN | ACK, 1, 1, 0);
                lone.close();
            }
            TimeWait => {
                lone.close();
                lone.arrives(FIN | ACK, 1, 2, 0);
            }
            _ => {}
        }
        assert_eq!(lone.host.state(), state);
        lone
    };
    for state in [Established, FinWait1, FinWait2, CloseWait, Closing, LastAck, TimeWait] {
        let mut lone = reach(state);
        let next = 1 + i32::from(lone.host.peer_finished());
        assert_eq!(lone.arrives(RST, next + 1, 0, 0).len(), 1, "{state:?}: a challenge");
        assert_eq!(lone.host.state(), state);
        lone.arrives(RST, next, 0, 0);
        assert_eq!((lone.host.state(), lone.host.deadline()), (Closed, None));
        let orderly = matches!(state, Closing | LastAck | TimeWait);
        let reason = if orderly { CloseReason::Orderly } else { CloseReason::ResetByPeer };
        assert_eq!(lone.host.close_reason(), Some(reason), "{state:?}");
    }
}

/// RFC 3168 §6.1.1: the client gives ECN up by sending a SYN without it.
#[test]
fn a_plain_syn_again_gives_ecn_up() {
    let setup = Flags::ECE | Flags::CWR;
    for (again, marked) in [(SYN, false), (SYN | setup, true)] {
        let mut lone = Lone::listening(&[("ecn", "accept")]);
        lone.arrives(SYN | setup, 0, 0, 0);
        lone.wait(500);
        assert_eq!(lone.arrives(again, 0, 0, 0), vec![seg(ACK, 1, 1, 0)]);
        lone.arrives(ACK, 1, 1, 0);
        lone.host.write(Bytes(1_000));
        let data = lone.host.poll_segment(lone.now, &mut NoSink).expect("data");
        assert_eq!(data.ecn == Ecn::Ect0, marked);
    }
}

/// RFC 9293 §3.10.4, §3.10.5: neither call has a moment to tell of.
#[test]
fn a_close_without_a_moment_is_told_with_the_next_poll() {
    for abort in [true, false] {
        let mut lone = Lone::of(&[], Side::Client);
        lone.out();
        if abort {
            lone.host.abort();
        } else {
            lone.host.close();
        }
        assert_eq!(lone.out(), vec![]);
        assert_eq!(lone.told_of("from: SynSent, to: Closed"), 1);
        assert_eq!(lone.out(), vec![]);
        assert_eq!(lone.told_of("StateChanged"), 1, "once");
    }
}

/// RFC 9293 §3.6.1 MAY-2, RFC 6191 §2: which SYN may follow a connection in TIME-WAIT.
#[test]
fn time_wait_gives_way_to_what_cannot_be_old() {
    let waiting = |stamps: Option<u32>| {
        let on = if stamps.is_some() { "on" } else { "off" };
        let mut lone = Lone::listening(&[("timestamps", on)]);
        lone.stamp = stamps;
        lone.arrives(SYN, 0, 0, 0);
        lone.arrives(ACK, 1, 1, 0);
        lone.close();
        lone.arrives(FIN | ACK, 1, 2, 0);
        assert_eq!(lone.host.state(), TcpState::TimeWait);
        lone
    };
    let asks = |lone: &mut Lone, seq: i32, stamp: Option<u32>| {
        lone.stamp = stamp;
        let syn = lone.segment(SYN, seq, 0, 0);
        lone.host.may_be_succeeded_by(&syn).map(|iss| iss.since(ISS))
    };
    // With timestamps: a later one whatever the number, the same one by the number.
    let mut lone = waiting(Some(1_000));
    for (seq, stamp, follows) in [
        (-9_000, Some(1_001), true),
        (9_000, Some(1_000), true),
        (-9_000, Some(1_000), false),
        (9_000, Some(999), false),
        (9_000, None, true),
        (2, None, false),
    ] {
        let least_iss = asks(&mut lone, seq, stamp);
        assert_eq!(least_iss, follows.then_some(2 + 65_537), "{seq} {stamp:?}");
    }
    // Without: by the number alone, as this end does not offer timestamps.
    let mut lone = waiting(None);
    for (seq, follows) in [(3, true), (2, false), (-9_000, false)] {
        assert_eq!(asks(&mut lone, seq, Some(7)).is_some(), follows, "{seq}");
    }
    // Nothing but a SYN, and in no other state.
    lone.stamp = None;
    for flags in [SYN | ACK, SYN | RST, SYN | FIN, ACK] {
        let segment = lone.segment(flags, 9_000, 1, 0);
        assert_eq!(lone.host.may_be_succeeded_by(&segment), None);
    }
    let mut open = Lone::established(&[]);
    assert_eq!(asks(&mut open, 9_000, None), None);
}
