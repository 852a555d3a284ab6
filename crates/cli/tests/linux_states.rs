//! Each kind of segment in each state of a connection: what our endpoint of `profile = "linux"` answers
//! and becomes, beside stock kernels in simulated time.
//!
//! `scripts/linux-states.py` asks a kernel. It prints a table; docs/linux-states.md says where the two differ,
//! and why.

use crate::common::kernel::{differences_are_those_of, kernels, said_by};
use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::Connection;
use ackord_tcp::registry::Stack;
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, Options, Segment, Side};
use serde::Deserialize;

const ISS: Seq = Seq(u32::MAX - 1);
const IRS: Seq = Seq(5_000);

/// What the script prints.
#[derive(Deserialize)]
struct Kernel {
    kernel: String,
    cases: Vec<Case>,
}

/// A segment to a connection in a state, counted from RCV.NXT and SND.NXT, and what came of it.
#[derive(Deserialize)]
struct Case {
    state: String,
    stimulus: String,
    flags: u8,
    seq: i32,
    ack: Option<i32>,
    octets: u32,
    answers: Vec<Answer>,
    after: String,
}

/// A segment that left, counted from the two initial numbers.
#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Answer {
    flags: u8,
    seq: i32,
    ack: i32,
}

/// Where we differ from the kernel on purpose: the state, the stimulus, why.
const DIFFER: &[(&str, &str, &str)] = &[
    ("SYN-RECEIVED", "SYN inside the window", SYN_RESET),
    ("FIN-WAIT-1", "FIN below the window", OLD_FIN),
    ("CLOSING", "FIN below the window", OLD_FIN),
    ("LAST-ACK", "FIN below the window", OLD_FIN),
    ("CLOSE-WAIT", "reset just below the window", RESET_BELOW_FIN),
    ("CLOSING", "reset just below the window", RESET_BELOW_FIN),
    ("LAST-ACK", "reset just below the window", RESET_BELOW_FIN),
    ("TIME-WAIT", "reset inside the window", NO_CHALLENGE),
    ("TIME-WAIT", "acknowledgment of one byte unsent", NO_CHALLENGE),
    ("TIME-WAIT", "acknowledgment from long ago", NO_CHALLENGE),
];

/// Where older kernels differ too.
const OLDER: [&str; 2] = ["6.1.", "6.12."];
const OLDER_DIFFER: &[(&str, &str, &str)] = &[
    ("ESTABLISHED", "acknowledgment of one byte unsent", SILENT_DROP),
    ("ESTABLISHED", "ten bytes, unsent acknowledged", SILENT_DROP),
];

const SYN_RESET: &str = "both forget the connection; the kernel resets the SYN as well, so that a \
    peer that began anew is refused, where RFC 9293 §3.10.7.4 listens for the SYN to come again";
const OLD_FIN: &str = "the kernel takes the acknowledgment of a segment that ends where the window \
    begins; RFC 9293 §3.10.7.4 drops it, and the acknowledgment comes again with ours";
const RESET_BELOW_FIN: &str = "after a FIN the kernel takes a reset one below RCV.NXT too, for the \
    sake of hosts that number resets so; RFC 5961 §3.2 does not";
const NO_CHALLENGE: &str = "the kernel is silent in TIME-WAIT; RFC 5961 §3.2 and §5.2 challenge";

const SILENT_DROP: &str = "kernels up to 6.12 drop it without a word; 6.18 challenges, as RFC 9293 \
    §3.10.7.4 and RFC 5961 §5.2 have it, and so do we";

/// Our endpoint, brought into states as the script brings the kernel.
struct Ours {
    now: Time,
    connection: Connection,
    rcv_nxt: Seq,
    left: Vec<Segment>,
}

impl Ours {
    fn in_state(state: &str) -> Ours {
        let stack = Stack::named("linux").expect("it is listed");
        let (config, mechanisms) = (stack.config(), stack.mechanisms());
        let passive = state == "SYN-RECEIVED";
        let side = if passive { Side::Server } else { Side::Client };
        let id = EndpointId { flow: FlowId(0), side };
        let connection = match side {
            Side::Server => Connection::listen(config, mechanisms, id, ISS),
            Side::Client => Connection::connect(config, mechanisms, id, ISS, Time::ZERO),
        };
        let mut ours = Ours { now: Time::ZERO, connection, rcv_nxt: IRS + 1, left: Vec::new() };
        if passive {
            ours.arrives(ours.syn(Flags::SYN));
            return ours;
        }
        ours.wait(20);
        if state != "SYN-SENT" {
            ours.arrives(Segment { ack: ISS + 1, ..ours.syn(Flags::SYN | Flags::ACK) });
        }
        let closes_first = ["FIN-WAIT-1", "FIN-WAIT-2", "CLOSING", "TIME-WAIT"].contains(&state);
        if closes_first {
            ours.close();
        }
        if state == "FIN-WAIT-2" {
            ours.arrives(ours.plain(Flags::ACK, 2));
        }
        if ["CLOSE-WAIT", "CLOSING", "LAST-ACK", "TIME-WAIT"].contains(&state) {
            let acked = if state == "TIME-WAIT" { 2 } else { 1 };
            ours.arrives(ours.plain(Flags::FIN | Flags::ACK, acked));
            ours.rcv_nxt += 1;
            // The linux policy lets the acknowledgment of a FIN wait.
            ours.wait(60);
        }
        if state == "LAST-ACK" {
            ours.close();
        }
        ours.wait(20);
        assert_eq!(ours.state(), state);
        ours
    }

    fn syn(&self, flags: Flags) -> Segment {
        let options = Options {
            mss: Some(1460),
            sack_permitted: true,
            window_scale: Some(7),
            ..Options::default()
        };
        Segment { seq: IRS, flags, window: 500, options, ..Segment::default() }
    }

    fn plain(&self, flags: Flags, acked: u32) -> Segment {
        let (seq, ack) = (self.rcv_nxt, ISS + acked);
        Segment { seq, ack, flags, window: 500, ..Segment::default() }
    }

    fn close(&mut self) {
        self.connection.close();
        self.poll();
    }

    fn poll(&mut self) {
        while let Some(outbound) = self.connection.poll_segment(self.now, &mut NoSink) {
            self.left.push(outbound.segment);
        }
    }

    fn arrives(&mut self, segment: Segment) {
        self.connection.handle_segment(self.now, &segment, Ecn::NotEct, &mut NoSink);
        self.poll();
    }

    fn wait(&mut self, millis: u64) {
        self.poll();
        let end = self.now + Span::from_millis(millis);
        while let Some(at) = self.connection.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.connection.handle_deadline(self.now, &mut NoSink);
            self.poll();
        }
        self.now = end;
    }

    fn meets(&mut self, case: &Case) -> Vec<Answer> {
        self.left.clear();
        let ack = case.ack.map_or(Seq(0), |ack| self.connection.snd_nxt() + ack as u32);
        let segment = Segment {
            seq: self.rcv_nxt + case.seq as u32,
            ack,
            flags: Flags::from_bits(case.flags),
            window: 500,
            payload_len: case.octets,
            ..Segment::default()
        };
        self.arrives(segment);
        self.wait(60);
        let told = |left: &Segment| Answer {
            flags: left.flags.bits(),
            seq: left.seq.since(ISS) as i32,
            ack: if left.flags.contains(Flags::ACK) { left.ack.since(IRS) as i32 } else { 0 },
        };
        self.left.iter().map(told).collect()
    }

    fn state(&self) -> &'static str {
        match self.connection.state() {
            // A listener, or what is left of one connection: the script's table has neither.
            TcpState::Closed | TcpState::Listen => "none",
            TcpState::SynSent => "SYN-SENT",
            TcpState::SynReceived => "SYN-RECEIVED",
            TcpState::Established => "ESTABLISHED",
            TcpState::FinWait1 => "FIN-WAIT-1",
            TcpState::FinWait2 => "FIN-WAIT-2",
            TcpState::CloseWait => "CLOSE-WAIT",
            TcpState::Closing => "CLOSING",
            TcpState::LastAck => "LAST-ACK",
            TcpState::TimeWait => "TIME-WAIT",
        }
    }
}

/// Without SYNs and FINs that a timer retransmits: the script takes its time.
fn answers(said: &[Answer]) -> Vec<Answer> {
    let again = |answer: &&Answer| {
        let flags = Flags::from_bits(answer.flags);
        let syn = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        !syn && !flags.contains(Flags::FIN)
    };
    said.iter().filter(again).cloned().collect()
}

#[test]
fn every_segment_in_every_state_is_answered_as_the_kernel_answers() {
    for name in kernels() {
        let Some(kernel): Option<Kernel> = said_by(&name, "linux-states.py") else { return };
        println!("Linux {}: {} cases", kernel.kernel, kernel.cases.len());
        assert!(kernel.cases.len() >= 150, "only {} cases", kernel.cases.len());
        let head = "state, stimulus: we; the kernel";
        differences_are_those_of(&kernel.kernel, head, &unexpected(&kernel));
    }
}

/// Where we differ and did not know of it, or do not differ any more.
fn unexpected(kernel: &Kernel) -> Vec<String> {
    let (mut complaints, mut excused) = (Vec::new(), 0);
    let older = OLDER.iter().any(|older| kernel.kernel.starts_with(older));
    let differ = [DIFFER, if older { OLDER_DIFFER } else { &[] }].concat();
    for case in &kernel.cases {
        let mut ours = Ours::in_state(&case.state);
        let said = ours.meets(case);
        let alike = answers(&said) == answers(&case.answers) && ours.state() == case.after;
        let known = differ
            .iter()
            .any(|(state, stimulus, _)| (*state, *stimulus) == (&case.state, &case.stimulus));
        excused += usize::from(known && !alike);
        if known && alike {
            complaints.push(format!("{}, {}: no longer different", case.state, case.stimulus));
        } else if !known && !alike {
            complaints.push(format!(
                "{}, {}: {said:?} and {}; the kernel {:?} and {}",
                case.state,
                case.stimulus,
                ours.state(),
                case.answers,
                case.after
            ));
        }
    }
    println!("{excused} of {} differ as docs/linux-states.md says:", kernel.cases.len());
    for (state, stimulus, why) in differ {
        println!("  {state}, {stimulus}: {why}");
    }
    complaints
}
