//! The kernel's end of a connection as what a script is played against.

use super::addresses_of;
use super::facts;
use super::machine::{Machine, in_short};
use crate::error::LiveError;
use crate::guest::{Facts, ScriptOrder, ScriptTold};
use crate::tcp_info::TcpInfo;
use ackord_script::{Call, Departure, Endpoint, Fact, Quantity, Reads, Script, Went};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{
    Ecn, Flags, FlowAddresses, IpFields, Payload, SackBlock, SackBlocks, Segment, Side, Timestamps,
    decode, encode,
};
use std::collections::VecDeque;

/// What the kernel's clock of timestamps says at time zero, as scripts have it: any number but zero.
const STAMPS_FROM: u32 = 0x2000_0000;

/// By how much what is done to the kernel comes after the instant of the script's that it is due at. The
/// kernel's clock counts in steps of 256 ns, so its ticks are as much off; whatever is due at an instant
/// by itself comes before anything else that happens then, as in the simulator.
const AFTER_TICKS: u64 = 300;

/// The kernel's end.
pub(super) struct KernelEndpoint<'a> {
    machine: &'a mut Machine,
    script: &'a Script,
    side: Side,
    addresses: FlowAddresses,
    /// The script's time zero.
    zero: u64,
    departures: VecDeque<Departure>,
    /// What is added to the kernel's numbers to make them the script's; known when they are.
    seq_shift: Option<u32>,
    stamp_shift: Option<u32>,
    /// What the kernel has said of the connection, until anything happens.
    facts: Option<Facts>,
    smss: Bytes,
    failed: Option<LiveError>,
}

impl<'a> KernelEndpoint<'a> {
    /// For a script of this number, for which the kernel is prepared; it is time zero afterwards.
    pub(super) fn new(
        machine: &'a mut Machine,
        number: usize,
        script: &'a Script,
    ) -> Result<KernelEndpoint<'a>, LiveError> {
        let zero = machine.next_beginning();
        while machine.now() < zero + AFTER_TICKS {
            machine.run_until(zero + AFTER_TICKS)?;
            // Of an earlier script.
            while machine.sent().is_some() {}
        }
        Ok(KernelEndpoint {
            addresses: addresses_of(number, script),
            side: script.side(),
            machine,
            script,
            zero,
            departures: VecDeque::new(),
            seq_shift: None,
            stamp_shift: None,
            facts: None,
            smss: Bytes::ZERO,
            failed: None,
        })
    }

    /// Why the kernel does not go on, if it does not.
    pub(super) fn failed(self) -> Option<LiveError> {
        self.failed
    }

    fn broken(&mut self, error: LiveError) -> Went {
        let went = Went::Broken(in_short(&error));
        self.failed = Some(error);
        went
    }

    /// The application does something at `now`.
    fn order(&mut self, now: Time, order: ScriptOrder) -> Result<ScriptTold, Went> {
        self.come_to(now)?;
        let began = self.machine.now();
        let told = self.machine.order(order).map_err(|error| self.broken(error))?;
        self.take_sent(|at| now + Span::from_nanos(at - began));
        self.facts = None;
        Ok(told)
    }

    /// At `now` of the script, or as soon after it as the kernel has done with what came before.
    fn come_to(&mut self, now: Time) -> Result<(), Went> {
        let at = self.zero + now.as_nanos() + AFTER_TICKS;
        while self.machine.now() < at {
            self.machine.run_until(at).map_err(|error| self.broken(error))?;
            let zero = self.zero;
            self.take_sent(|at| Time::from_nanos(at.saturating_sub(zero)));
        }
        Ok(())
    }

    /// Takes the segments that the kernel has sent; `when` says when that was, for the script.
    fn take_sent(&mut self, when: impl Fn(u64) -> Time) {
        while let Some((at, packet)) = self.machine.sent() {
            let Ok(read) = decode(&packet) else { continue };
            if read.endpoints != self.addresses.endpoints(self.side) {
                continue;
            }
            let segment = self.as_script_has_it(read.segment, at);
            self.departures.push_back(Departure { at: when(at), segment, ecn: read.ip.ecn });
        }
    }

    /// A segment of the kernel's with the script's numbers.
    fn as_script_has_it(&mut self, mut segment: Segment, at: u64) -> Segment {
        if segment.flags.contains(Flags::SYN) {
            self.seq_shift = Some(self.script.iss.0.wrapping_sub(segment.seq.0));
        }
        // A reset where there is no connection has the number that was acknowledged to it, or zero.
        let bare = segment.flags.contains(Flags::RST) && segment.seq == Seq(0);
        if !bare {
            segment.seq = Seq(segment.seq.0.wrapping_add(self.seq_shift.unwrap_or(0)));
        }
        if let Some(stamps) = &mut segment.options.timestamps {
            let millis = self.machine.millis_between(self.zero, at) as u32;
            let says = STAMPS_FROM.wrapping_add(millis);
            let shift = *self.stamp_shift.get_or_insert(says.wrapping_sub(stamps.value));
            stamps.value = stamps.value.wrapping_add(shift);
        }
        segment
    }

    /// A segment of the peer's with the kernel's numbers.
    fn as_kernel_has_it(&self, mut segment: Segment) -> Segment {
        let back = |seq: Seq| Seq(seq.0.wrapping_sub(self.seq_shift.unwrap_or(0)));
        if segment.flags.contains(Flags::ACK) {
            segment.ack = back(segment.ack);
        }
        let mut blocks = SackBlocks::default();
        for block in segment.options.sack.as_slice() {
            blocks.push(SackBlock { start: back(block.start), end: back(block.end) });
        }
        segment.options.sack = blocks;
        let shift = self.stamp_shift.unwrap_or(0);
        segment.options.timestamps = segment.options.timestamps.map(|stamps| Timestamps {
            echo: if stamps.echo == 0 { 0 } else { stamps.echo.wrapping_sub(shift) },
            ..stamps
        });
        segment
    }

    fn ask(&mut self, now: Time) -> Result<Facts, Went> {
        if let Some(facts) = &self.facts {
            return Ok(facts.clone());
        }
        let facts = match self.order(now, ScriptOrder::Ask)? {
            ScriptTold::Facts(facts) => facts,
            other => return Err(Went::Broken(format!("{other:?}"))),
        };
        if let Some(bytes) = &facts.tcp_info {
            self.smss = TcpInfo::from_bytes(bytes).snd_mss;
        }
        self.facts = Some(facts.clone());
        Ok(facts)
    }
}

impl Endpoint for KernelEndpoint<'_> {
    fn call(&mut self, now: Time, call: Call) -> Result<(), Went> {
        let (order, wanted) = match call {
            Call::Connect => (ScriptOrder::Connect, None),
            Call::Listen => (ScriptOrder::Listen, None),
            Call::Write { bytes, takes } => (ScriptOrder::Write(bytes.get()), Some(takes.get())),
            Call::Read(bytes) => (ScriptOrder::Read(bytes.get()), None),
            Call::ReadAll => (ScriptOrder::ReadAll, None),
            Call::Close => (ScriptOrder::Close, None),
            Call::Release => (ScriptOrder::Release, None),
            Call::Abort => (ScriptOrder::Abort, None),
        };
        match (self.order(now, order)?, wanted) {
            (ScriptTold::Done(taken), Some(wanted)) if taken != wanted => {
                Err(Went::Call(format!("the endpoint takes {taken} B, not {wanted} B")))
            }
            (ScriptTold::Done(_), _) => Ok(()),
            (ScriptTold::Otherwise(what), _) => Err(Went::Call(what)),
            (ScriptTold::NoSuchCall(what), _) => Err(Went::Unplayable(what)),
            (other, _) => Err(Went::Broken(format!("{other:?}"))),
        }
    }

    fn arrive(&mut self, now: Time, segment: &Segment, ecn: Ecn, reads: Reads) -> Result<(), Went> {
        self.come_to(now)?;
        let segment = self.as_kernel_has_it(*segment);
        let payload = vec![0; segment.payload_len as usize];
        let ip = IpFields { ecn, ..IpFields::default() };
        let endpoints = self.addresses.endpoints(self.side.other());
        let mut packet = Vec::new();
        encode(endpoints, ip, &segment, Payload::Bytes(&payload), &mut packet)
            .map_err(|error| Went::Codec(error.to_string()))?;
        let began = self.machine.now();
        self.machine.packet_arrives(&packet).map_err(|error| self.broken(error))?;
        self.take_sent(|at| now + Span::from_nanos(at - began));
        self.facts = None;
        if reads == Reads::AtOnce {
            self.order(now, ScriptOrder::ReadAll)?;
        }
        Ok(())
    }

    fn go_on(&mut self, _now: Time, to: Time, including: bool) -> Result<Option<Time>, Went> {
        let at = self.zero.saturating_add(to.as_nanos());
        let until =
            if including { at.saturating_add(AFTER_TICKS) } else { at.saturating_sub(AFTER_TICKS) };
        while self.departures.is_empty() && self.machine.now() < until {
            self.machine.run_until(until).map_err(|error| self.broken(error))?;
            let zero = self.zero;
            self.take_sent(|at| Time::from_nanos(at.saturating_sub(zero)));
            self.facts = None;
        }
        Ok(self.departures.front().map(|departure| departure.at))
    }

    fn poll(&mut self, _now: Time) -> Option<Departure> {
        self.departures.pop_front()
    }

    fn stamps_from(&self) -> u32 {
        STAMPS_FROM
    }

    fn fact(&mut self, quantity: &'static Quantity, now: Time) -> Result<Option<Fact>, Went> {
        let facts = self.ask(now)?;
        Ok(facts::fact_of(quantity, &facts))
    }

    fn smss(&self) -> Bytes {
        self.smss
    }

    fn glance(&self) -> Option<(Bytes, &'static str)> {
        None
    }
}
