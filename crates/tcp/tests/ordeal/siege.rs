//! One endpoint that hears nobody but an attacker who knows all its numbers and who, where that
//! leads further, behaves: so every state is reached, and every state is asked for nonsense.
//!
//! Bytes are not followed here; what is judged is the state machine, and what may never be
//! believed.

use super::case::Make;
use super::forge::{self, Known};
use super::{Broken, hold, states};
use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::{Config, Connection};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, IpVersion, Options, Segment, Side, Timestamps};

/// Bytes before the first operation: flags, initial sequence number, the endpoint.
const HEAD: usize = 16;

const MOST_OPS: usize = 256;
const MOST_WRITTEN: u64 = 200_000;

/// More segments than this at once: it does not stop.
const MOST_AT_ONCE: usize = 20_000;

/// The attacker's initial sequence number.
const IRS: Seq = Seq(u32::MAX - 700);

/// What a siege came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Segments that the endpoint was sent.
    pub injected: u64,
    pub answered: u64,
    /// States in which segments arrived, a bit each.
    pub states: u16,
}

struct Siege {
    now: Time,
    connection: Connection,
    config: Config,
    iss: Seq,
    /// Of the SYN that was believed.
    irs: Seq,
    snd_nxt: Seq,
    written: u64,
    acked: u64,
    received: u64,
    last_ack: Option<Seq>,
    stamps: Option<Timestamps>,
    outcome: Outcome,
}

/// Runs the siege that any bytes stand for.
///
/// # Errors
/// The promise that was not kept.
pub fn run(bytes: &[u8]) -> Result<Outcome, Broken> {
    let (head, ops) = bytes.split_at(bytes.len().min(HEAD));
    let at = |place: usize| head.get(place).copied().unwrap_or(0);
    let make = Make::of(head.get(4..).unwrap_or(&[]));
    let ip = if at(0) & 2 == 0 { IpVersion::V4 } else { IpVersion::V6 };
    let (config, mechanisms, _) = make.build(ip);
    let iss = Seq(u32::from_be_bytes([at(1), at(2), 0xff, 0xf0]));
    let id = EndpointId { flow: FlowId(0), side: Side::Server };
    let mut connection = Connection::listen(config.clone(), mechanisms, id, iss);
    if at(0) & 1 == 1 {
        connection.open(Time::ZERO, &mut NoSink);
    }
    let mut siege = Siege {
        now: Time::ZERO,
        connection,
        config,
        iss,
        irs: IRS,
        snd_nxt: iss,
        written: 0,
        acked: 0,
        received: 0,
        last_ack: None,
        stamps: None,
        outcome: Outcome::default(),
    };
    siege.flush()?;
    for op in ops.as_chunks::<4>().0.iter().take(MOST_OPS) {
        siege.apply(*op)?;
    }
    Ok(siege.outcome)
}

impl Siege {
    fn apply(&mut self, [kind, a, low, high]: [u8; 4]) -> Result<(), Broken> {
        let by = u16::from_le_bytes([low, high]);
        match kind % 16 {
            0 => {
                let room = MOST_WRITTEN - self.written;
                let taken = self.connection.write(Bytes(u64::from(by).min(room)));
                self.written += taken.get();
                self.flush()
            }
            1 => {
                self.connection.read(Bytes(u64::from(by)));
                self.flush()
            }
            2 => {
                self.connection.close();
                self.flush()
            }
            3 if a > 200 => {
                self.connection.abort();
                self.flush()
            }
            3 => {
                self.connection.open(self.now, &mut NoSink);
                self.flush()
            }
            4 | 5 => {
                let unit = [1, 100, 1_000, 10_000][usize::from(a % 4)];
                self.wait(Span::from_micros(u64::from(by) * unit))
            }
            6..=10 => self.inject(self.well_behaved(a, by)),
            11 => self.inject(self.anything(a, by)),
            _ => self.inject(forge::segment(a, by, &self.known())),
        }
    }

    /// What it expects next: by the account of what has arrived in order.
    fn rcv_nxt(&self) -> Seq {
        let finished = u32::from(self.connection.peer_finished());
        self.irs + 1 + self.connection.bytes_received() as u32 + finished
    }

    fn known(&self) -> Known {
        Known {
            rcv_nxt: self.rcv_nxt(),
            snd_una: self.iss + 1 + self.connection.bytes_acked() as u32,
            snd_nxt: self.snd_nxt,
            stamps: self.stamps,
        }
    }

    /// What a peer would send that wants to get on with it.
    fn well_behaved(&self, what: u8, by: u16) -> Segment {
        let Known { rcv_nxt, snd_una, snd_nxt, stamps } = self.known();
        let syn = Segment {
            seq: self.irs,
            flags: Flags::SYN,
            window: by,
            options: Options {
                mss: (what & 0x10 == 0).then_some(by),
                window_scale: (what & 0x20 == 0).then_some(what >> 4),
                sack_permitted: what & 0x40 == 0,
                timestamps: (what & 0x80 == 0).then_some(Timestamps { value: 1, echo: 0 }),
                ..Options::default()
            },
            ..Segment::default()
        };
        let ack = Segment {
            seq: rcv_nxt,
            ack: snd_nxt,
            flags: Flags::ACK,
            window: 50_000,
            options: Options { timestamps: stamps, ..Options::default() },
            ..Segment::default()
        };
        match what % 8 {
            0 => syn,
            1 => Segment { ack: self.iss + 1, flags: Flags::SYN | Flags::ACK, ..syn },
            2 | 3 => ack,
            4 | 5 => Segment { payload_len: u32::from(by) % 1_461, ..ack },
            6 => Segment { flags: Flags::FIN | Flags::ACK, ..ack },
            // Its FIN crosses ours.
            _ => Segment { ack: snd_una, flags: Flags::FIN | Flags::ACK, ..ack },
        }
    }

    /// Any flags, around the right numbers.
    fn anything(&self, flags: u8, by: u16) -> Segment {
        let Known { rcv_nxt, snd_nxt, stamps, .. } = self.known();
        let beside = |bytes: u16| u32::from(bytes & 0xff).wrapping_sub(128);
        Segment {
            seq: rcv_nxt + beside(by),
            ack: snd_nxt + beside(by >> 8),
            flags: Flags::from_bits(flags),
            window: by,
            payload_len: u32::from(by >> 12),
            options: Options { timestamps: stamps, ..Options::default() },
        }
    }

    fn inject(&mut self, segment: Segment) -> Result<(), Broken> {
        let before = self.connection.state();
        let (rcv_nxt, acked) = (self.rcv_nxt(), self.connection.bytes_acked());
        self.outcome.injected += 1;
        self.outcome.states |= 1 << states::number(before);
        self.connection.handle_segment(self.now, &segment, Ecn::NotEct, &mut NoSink);
        let after = self.connection.state();
        let opens = matches!(before, TcpState::Listen | TcpState::SynSent) && after != before;
        if opens && after != TcpState::Closed {
            self.irs = segment.seq;
        }
        if after == TcpState::Listen && before != after {
            // A passive opening that is given up begins anew.
            (self.last_ack, self.stamps, self.snd_nxt) = (None, None, self.iss);
        }
        hold!(states::reachable(before, after), "{segment:?} leads from {before:?} to {after:?}");
        self.judge_belief(&segment, before, rcv_nxt)?;
        let beyond = segment.ack.after(self.snd_nxt + 1);
        let now_acked = self.connection.bytes_acked();
        let synchronized = states::synchronized(before);
        let believed = synchronized && beyond && now_acked != acked;
        hold!(!believed, "acknowledges {}, sent to {}: believed", segment.ack, self.snd_nxt);
        self.flush()
    }

    /// RFC 5961 §3, §4; RFC 9293 §3.10.7.4: what changes nothing in a synchronized state.
    fn judge_belief(
        &self,
        segment: &Segment,
        before: TcpState,
        rcv_nxt: Seq,
    ) -> Result<(), Broken> {
        let after = self.connection.state();
        if !states::synchronized(before) || after == before {
            return Ok(());
        }
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            let exact = segment.seq == rcv_nxt;
            hold!(
                exact,
                "a reset at {}, expecting {rcv_nxt}: {before:?} to {after:?}",
                segment.seq
            );
        } else if flags.contains(Flags::SYN) {
            // RFC 6191 lets a SYN end TIME-WAIT, RFC 9293 a passive opening.
            let may = matches!(before, TcpState::TimeWait | TcpState::SynReceived);
            hold!(may, "a SYN leads from {before:?} to {after:?}");
        } else {
            hold!(flags.contains(Flags::ACK), "{segment:?} leads from {before:?} to {after:?}");
        }
        Ok(())
    }

    fn wait(&mut self, span: Span) -> Result<(), Broken> {
        let end = self.now + span;
        let mut acts = 0;
        while let Some(at) = self.connection.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            let before = self.connection.state();
            self.connection.handle_deadline(self.now, &mut NoSink);
            let after = self.connection.state();
            hold!(states::reachable(before, after), "a timer leads from {before:?} to {after:?}");
            self.flush()?;
            let next = self.connection.deadline();
            let now = self.now;
            hold!(next.is_none_or(|at| at > now), "a deadline at {next:?} that {now:?} leaves");
            acts += 1;
            // A timer each millisecond, and all of them for as long as anybody waits.
            hold!(acts < 2_000_000, "{acts} timer events in {span}");
        }
        self.now = end;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Broken> {
        for _ in 0..MOST_AT_ONCE {
            let before = self.connection.state();
            let Some(outbound) = self.connection.poll_segment(self.now, &mut NoSink) else {
                return self.judge();
            };
            let after = self.connection.state();
            hold!(states::reachable(before, after), "sending leads from {before:?} to {after:?}");
            self.outcome.answered += 1;
            self.on_answer(&outbound.segment)?;
        }
        Err(format!("{MOST_AT_ONCE} segments at once"))
    }

    fn on_answer(&mut self, segment: &Segment) -> Result<(), Broken> {
        hold!(segment.options.wire_len() <= 40, "options of {segment:?} do not fit");
        if segment.flags.contains(Flags::RST) {
            return Ok(());
        }
        if segment.end_seq().after(self.snd_nxt) {
            self.snd_nxt = segment.end_seq();
        }
        let sent = self.snd_nxt.since(self.iss);
        hold!(u64::from(sent) <= self.written + 2, "{sent} sent, {} written", self.written);
        if let Some(stamps) = segment.options.timestamps {
            // As a peer would answer: its own clock runs, ours comes back.
            let value = self.stamps.map_or(2, |stamps| stamps.value.wrapping_add(1));
            self.stamps = Some(Timestamps { value, echo: stamps.value });
        }
        let acks =
            segment.flags.contains(Flags::ACK) && states::synchronized(self.connection.state());
        if acks {
            let (ack, next) = (segment.ack, self.rcv_nxt());
            hold!(ack == next, "acknowledges {ack}, and {next} is what it expects");
            let last = self.last_ack.replace(ack).unwrap_or(ack);
            hold!(last.at_or_before(ack), "acknowledges {ack} after {last}");
        }
        Ok(())
    }

    fn judge(&mut self) -> Result<(), Broken> {
        let (connection, buffer) = (&self.connection, self.config.buffers.receive);
        let readable = connection.readable();
        hold!(readable <= buffer, "{readable} wait to be read, the buffer holds {buffer}");
        let (acked, received) = (connection.bytes_acked(), connection.bytes_received());
        hold!((self.acked..=self.written).contains(&acked), "{acked} acknowledged");
        hold!(received >= self.received, "{received} received after {}", self.received);
        (self.acked, self.received) = (acked, received);
        let flight = connection.flight_size().get();
        hold!(flight <= self.written + 2, "{flight} in flight, {} written", self.written);
        let state = connection.state();
        if state == TcpState::Closed {
            hold!(connection.deadline().is_none(), "a deadline, and it is closed");
        }
        if state == TcpState::Established {
            hold!(connection.cwnd() > Bytes::ZERO, "cwnd is zero");
        }
        Ok(())
    }
}
