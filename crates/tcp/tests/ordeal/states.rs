//! Which state may follow which: RFC 9293 Figure 5, written down a second time.

use ackord_events::TcpState::{self, *};

const ARROWS: &[(TcpState, &[TcpState])] = &[
    (Listen, &[SynReceived, SynSent]),
    (SynSent, &[SynReceived, Established]),
    (SynReceived, &[Listen, Established, FinWait1, CloseWait]),
    (Established, &[FinWait1, CloseWait]),
    (FinWait1, &[FinWait2, Closing, TimeWait]),
    (FinWait2, &[TimeWait]),
    (Closing, &[TimeWait]),
    (CloseWait, &[LastAck]),
    (LastAck, &[]),
    (TimeWait, &[]),
    (Closed, &[]),
];

/// Whether arrows lead from one to the other; CLOSED can be reached from anywhere.
pub fn reachable(from: TcpState, to: TcpState) -> bool {
    if from == to || to == Closed {
        return true;
    }
    let next = ARROWS.iter().find(|(state, _)| *state == from).map_or(&[][..], |arrow| arrow.1);
    // The only circle leads from SYN-RECEIVED back to LISTEN.
    next.iter().any(|&state| state == to || state != Listen && reachable(state, to))
}

/// Whether both sequence numbers are agreed on, as RFC 9293 §3.4 has it: SYN-RECEIVED counts,
/// since it knows both.
pub fn synchronized(state: TcpState) -> bool {
    !matches!(state, Listen | SynSent | Closed)
}

/// Its place in a list of all.
pub fn number(state: TcpState) -> usize {
    ARROWS.iter().position(|(listed, _)| *listed == state).expect("all are listed")
}

/// How many there are.
pub const COUNT: usize = ARROWS.len();

#[test]
fn no_way_leads_back() {
    assert!(reachable(Listen, LastAck) && reachable(FinWait1, TimeWait));
    assert!(!reachable(TimeWait, Established) && !reachable(FinWait2, Closing));
    assert!(!reachable(Closed, Listen) && !reachable(CloseWait, FinWait1));
}
