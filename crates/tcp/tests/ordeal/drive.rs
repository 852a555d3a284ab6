//! The run: virtual time, both ends, both lanes, both accounts. `packets.rs` lets packets arrive and
//! leave, `calm.rs` asks at the end for all that is promised.

mod calm;
mod packets;

use super::boxes::Turn;
use super::case::{Open, Patience};
use super::forge::{self, Known};
use super::lane::Lane;
use super::ledger::Ledger;
use super::promises::Books;
use super::{Broken, Case, Op, hold, states};
use ackord_events::{EndpointId, NoSink, TcpState};
use ackord_tcp::{CloseReason, Config, Connection, Outbound, PayloadPlace, reset_for};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{
    Decoded, Ecn, Endpoints, Flags, FlowId, IpFields, IpVersion, Payload, Segment, Side,
    Timestamps, decode, encode,
};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes that an application writes at most in a case.
const MOST_WRITTEN: u64 = 400_000;

/// More packets than any case needs: two ends answer each other without end.
const STORM: u64 = 60_000;

/// The same where something was forged, when that is to be expected: there is no more to learn.
const FORGED_STORM: u64 = 15_000;

/// Each way, once nothing is lost any more.
const CALM_DELAY: Span = Span::from_millis(20);

/// What a case came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub packets: u64,
    pub delivered: u64,
    /// Packets that were damaged on the way and found to be.
    pub damaged: u64,
    /// Whether everything that is promised of a calm path was asked for.
    pub finished: bool,
    /// How long both ends needed to finish in calm, and how long they were given.
    pub calm: (Span, Span),
    /// Most timer events in a virtual second.
    pub busiest: u64,
    /// Whether what was forged makes the ends answer each other without end.
    pub stormed: bool,
    /// States that were seen, a bit each.
    pub states: u16,
}

struct End {
    connection: Connection,
    config: Config,
    reads: bool,
    acked: u64,
    patience: Patience,
    /// The latest timestamps sent to it.
    stamps: Option<Timestamps>,
}

struct Drive<'a> {
    now: Time,
    case: &'a Case,
    ends: [End; 2],
    /// By who sends.
    lanes: [Lane; 2],
    ledgers: [Ledger; 2],
    /// Nobody forges or promises for others.
    honest: bool,
    /// An end was aborted, closed before it had a connection, or cannot have one.
    broken_off: bool,
    options_agree: bool,
    /// The virtual second, and timer events in it.
    second: (u64, u64),
    outcome: Outcome,
    told: Option<Vec<String>>,
}

/// Runs a case.
///
/// # Errors
/// The promise that was not kept.
pub fn run(case: &Case) -> Result<Outcome, Broken> {
    Drive::new(case, None).through()
}

/// Runs a case and writes down what happens, packet by packet.
pub fn run_told(case: &Case) -> (Result<Outcome, Broken>, String) {
    let mut drive = Drive::new(case, Some(Vec::new()));
    let result = drive.all();
    (result.map(|()| drive.outcome), drive.told.unwrap_or_default().join("\n"))
}

fn index(side: Side) -> usize {
    usize::from(side == Side::Server)
}

const SIDES: [Side; 2] = [Side::Client, Side::Server];

impl<'a> Drive<'a> {
    fn new(case: &'a Case, told: Option<Vec<String>>) -> Drive<'a> {
        let end = |side: Side| {
            let (config, mechanisms, patience) = case.ends[index(side)].build(case.ip);
            let id = EndpointId { flow: FlowId(0), side };
            let iss = case.iss[index(side)];
            let mut connection = Connection::listen(config.clone(), mechanisms, id, iss);
            if side == Side::Client || case.open == Open::ByBoth {
                connection.open(Time::ZERO, &mut NoSink);
            }
            End { connection, config, reads: true, acked: 0, patience, stamps: None }
        };
        let ends = SIDES.map(end);
        let ledgers = [0, 1].map(|end: usize| {
            Ledger::new(case.iss[end], ends[end].config.mss.get() as u32, case.ip)
        });
        Drive {
            now: Time::ZERO,
            case,
            lanes: case.delays.map(Lane::of),
            ledgers,
            ends,
            honest: true,
            broken_off: false,
            options_agree: true,
            second: (0, 0),
            outcome: Outcome::default(),
            told,
        }
    }

    fn through(mut self) -> Result<Outcome, Broken> {
        self.all()?;
        Ok(self.outcome)
    }

    fn all(&mut self) -> Result<(), Broken> {
        for side in SIDES {
            self.settle(side)?;
        }
        for op in self.case.ops.clone() {
            self.tell(|| format!("-- {op:?}"));
            self.apply(op)?;
        }
        self.calm()
    }

    fn tell(&mut self, what: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(told) = &mut self.told {
            told.push(format!("{:>12.6} {}", now.as_secs_f64(), what()));
        }
    }

    fn end(&mut self, side: Side) -> &mut End {
        &mut self.ends[index(side)]
    }

    fn lane(&mut self, from: Side) -> &mut Lane {
        &mut self.lanes[index(from)]
    }

    fn apply(&mut self, op: Op) -> Result<(), Broken> {
        let now = self.now;
        match op {
            Op::Write { side, bytes } => self.write(side, u64::from(bytes))?,
            Op::Read { side, bytes } => {
                self.end(side).connection.read(Bytes(u64::from(bytes)));
                self.settle(side)?;
            }
            Op::Close { side } => self.close(side)?,
            Op::Abort { side } => {
                self.broken_off = true;
                self.end(side).connection.abort();
                self.settle(side)?;
            }
            Op::Wait(span) => self.run_until(now + span)?,
            Op::Reads { side, eagerly } => {
                self.end(side).reads = eagerly;
                self.settle(side)?;
            }
            Op::Poke { side } => {
                self.end(side).connection.handle_deadline(now, &mut NoSink);
                self.settle(side)?;
            }
            Op::Forge { to, kind, by } => self.forge(to, kind, by),
            of_path => self.prepare(of_path),
        }
        Ok(())
    }

    /// An operation of the path.
    fn prepare(&mut self, op: Op) {
        let now = self.now;
        match op {
            Op::Lose { from, mask } => self.lane(from).lose = mask,
            Op::Late { from, by, mask } => {
                let lane = self.lane(from);
                (lane.late_by, lane.late) = (by, mask);
            }
            Op::Delay { from, to } => self.lane(from).delay = to,
            Op::Duplicate { from, mask } => self.lane(from).duplicate = mask,
            Op::Corrupt { from, at } => self.lane(from).corrupt = Some(at),
            Op::Cut { from, at } => self.lane(from).cut = Some(at),
            Op::Split { from, at } => self.lane(from).split = Some(at),
            Op::Shorten { from, at } => self.lane(from).shorten = Some(at),
            Op::Strip { from, what, packets } => {
                self.options_agree = false;
                // Where one end believes that timestamps are agreed on and the other does not, all
                // is discarded that comes without them (RFC 7323 §3.2).
                self.broken_off |= what >> 3 & 1 == 1;
                self.lane(from).strip = (what, packets);
            }
            Op::Mark { from, mask } => self.lane(from).mark = mask,
            Op::Blackout { both, from, length } => {
                let until = now + length;
                for side in SIDES.into_iter().filter(|side| both || *side == from) {
                    self.lane(side).dark_until = until;
                }
            }
            Op::Replay { from, back } => self.lane(from).replay(now, back),
            Op::Narrow { from, packets, to } => {
                let lane = self.lane(from);
                (lane.rewindow, lane.rewindow_packets) = (Some((Turn::Lower, to)), packets);
            }
            Op::Widen { from, packets, to } => {
                self.honest = false;
                let lane = self.lane(from);
                (lane.rewindow, lane.rewindow_packets) = (Some((Turn::Raise, to)), packets);
            }
            _ => {}
        }
    }

    fn write(&mut self, side: Side, bytes: u64) -> Result<(), Broken> {
        let room = MOST_WRITTEN - self.ledgers[index(side)].written;
        let taken = self.end(side).connection.write(Bytes(bytes.min(room)));
        hold!(taken.get() <= bytes, "{taken} taken of {bytes} written");
        self.ledgers[index(side)].written += taken.get();
        self.settle(side)
    }

    fn close(&mut self, side: Side) -> Result<(), Broken> {
        let connection = &mut self.end(side).connection;
        let early = matches!(connection.state(), TcpState::Listen | TcpState::SynSent);
        connection.close();
        self.broken_off |= early;
        self.ledgers[index(side)].closed = true;
        self.settle(side)
    }

    fn forge(&mut self, to: Side, kind: u8, by: u16) {
        use TcpState::{Closed, Listen, SynReceived, SynSent};
        let end = &self.ends[index(to)];
        // A forged SYN may lead back to LISTEN, where another would begin another connection.
        if matches!(end.connection.state(), Closed | Listen | SynSent | SynReceived) {
            return;
        }
        self.honest = false;
        let (own, peers) = (&self.ledgers[index(to)], &self.ledgers[index(to.other())]);
        let known = Known {
            rcv_nxt: peers.iss + peers.acknowledged as u32,
            snd_una: own.iss + own.acked as u32,
            snd_nxt: own.iss + own.sent as u32,
            stamps: end.stamps,
        };
        let segment = forge::segment(kind, by, &known);
        let payload = vec![by as u8; segment.payload_len as usize];
        if let Some(bytes) = self.packet(to.other(), &segment, Ecn::NotEct, &payload) {
            self.tell(|| format!("forged for {to:?}: {segment:?}"));
            let now = self.now;
            self.lane(to.other()).put(now, bytes);
        }
    }

    fn packet(&self, from: Side, segment: &Segment, ecn: Ecn, payload: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let fields = IpFields { ecn, ..IpFields::default() };
        let endpoints = addresses(self.case.ip, from);
        encode(endpoints, fields, segment, Payload::Bytes(payload), &mut bytes).ok()?;
        Some(bytes)
    }

    /// Lets time pass.
    fn run_until(&mut self, end: Time) -> Result<(), Broken> {
        while let Some(next) = self.next_at().filter(|at| *at <= end) {
            self.now = self.now.max(next);
            self.step()?;
        }
        self.now = self.now.max(end);
        Ok(())
    }

    /// When something happens next; never again once what was forged has raised a storm.
    fn next_at(&self) -> Option<Time> {
        if self.outcome.stormed {
            return None;
        }
        let arrivals = self.lanes.iter().filter_map(Lane::next_at);
        let timers = self.ends.iter().filter_map(|end| end.connection.deadline());
        arrivals.chain(timers).min()
    }

    /// One packet arrives, or timers act.
    fn step(&mut self) -> Result<(), Broken> {
        let now = self.now;
        for from in SIDES {
            if self.lane(from).next_at().is_some_and(|at| at <= now) {
                let bytes = self.lane(from).take().expect("just seen");
                return self.arrive(from, &bytes);
            }
        }
        self.count_timer()?;
        for side in SIDES {
            if self.end(side).connection.deadline().is_some_and(|at| at <= now) {
                self.let_timers_act(side)?;
            }
        }
        Ok(())
    }

    fn let_timers_act(&mut self, side: Side) -> Result<(), Broken> {
        let now = self.now;
        let before = self.end(side).connection.state();
        self.end(side).connection.handle_deadline(now, &mut NoSink);
        self.judge_state(side, before)?;
        self.settle(side)?;
        let due = self.end(side).connection.deadline();
        hold!(
            due.is_none_or(|at| at > now),
            "{side:?}: a deadline at {due:?} that {now:?} does not settle"
        );
        Ok(())
    }

    fn count_timer(&mut self) -> Result<(), Broken> {
        let second = self.now.as_nanos() / 1_000_000_000;
        let count = if self.second.0 == second { self.second.1 + 1 } else { 1 };
        self.second = (second, count);
        self.outcome.busiest = self.outcome.busiest.max(count);
        hold!(count < 20_000, "{count} timer events within a second");
        Ok(())
    }

    fn judge_state(&mut self, side: Side, before: TcpState) -> Result<(), Broken> {
        let after = self.end(side).connection.state();
        self.outcome.states |= 1 << states::number(after);
        hold!(states::reachable(before, after), "{side:?} goes from {before:?} to {after:?}");
        if after == TcpState::Listen && before != after {
            self.ledgers[index(side)].begin_sending_anew();
            self.ledgers[index(side.other())].begin_receiving_anew();
        }
        Ok(())
    }

    /// The application reads, and everything leaves that may.
    fn settle(&mut self, side: Side) -> Result<(), Broken> {
        self.flush(side)?;
        if self.end(side).reads {
            let end = self.end(side);
            let readable = end.connection.readable();
            end.connection.read(readable);
            self.flush(side)?;
        }
        let end = self.end(side);
        let (readable, buffer) = (end.connection.readable(), end.config.buffers.receive);
        hold!(readable <= buffer, "{readable} wait to be read, the buffer holds {buffer}");
        let flight = end.connection.flight_size().get();
        let written = self.ledgers[index(side)].written;
        hold!(flight <= written + 2, "{flight} bytes in flight, {written} written");
        Ok(())
    }
}

/// Addresses and ports of the packets of a side.
pub(super) fn addresses(ip: IpVersion, from: Side) -> Endpoints {
    let (client, server) = match ip {
        IpVersion::V4 => (Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(10, 0, 0, 2).into()),
        IpVersion::V6 => (
            Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1).into(),
            Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2).into(),
        ),
    };
    let client: SocketAddr = SocketAddr::new(client, 40_000);
    let server = SocketAddr::new(server, 80);
    match from {
        Side::Client => Endpoints { src: client, dst: server },
        Side::Server => Endpoints { src: server, dst: client },
    }
}

/// A segment in a line.
pub(super) fn brief(segment: &Segment) -> String {
    let Segment { seq, ack, flags, window, payload_len, options } = segment;
    format!("{flags:?} {seq}+{payload_len} ack {ack} win {window} {options:?}")
}
