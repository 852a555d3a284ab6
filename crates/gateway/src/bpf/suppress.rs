//! Duplicate ACKs of given connections are removed as they come from the mobile hosts, while the box recovers
//! what they complain about.
//!
//! Removed is a pure ACK whose acknowledgment number, window and ECN flags are those of the ACK seen last, where
//! the byte it asks for is in the range that the box has without a hole, before the entry expires and while
//! the process is alive. Everything else passes. Packet sockets see packets before this does: whoever
//! observes misses nothing.
//!
//! Not there: fragments, IPv6 extension headers, more than two VLAN tags in the frame (all pass).

use super::assembler::{Alu, Assembler, Helper, If, Instruction, Label, Reg, Size};
use super::attach::{AttachBy, Attached, Attachment, Point};
use super::heartbeat::Heartbeat;
use super::sys::{HashMap, Plain, Program, SharedWord};
use super::{LET_PASS, REMOVE};
use crate::journal::Journal;
use crate::{Key, LinkKind};
use ackord_daemon::monotonic_nanos;
use ackord_units::{Seq, Span};
use ackord_wire::Flags;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is removed for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The first byte that the box has and is recovering.
    pub from: Seq,
    /// The one behind the last.
    pub to: Seq,
    /// For how long from now on.
    pub lasting: Span,
}

/// Removes duplicate ACKs at an interface; nothing any more once it is dropped.
#[derive(Debug)]
pub struct Suppressor {
    rules: Rules,
    attachment: Attachment,
}

/// A program, attached or not, and what it goes by.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) program: Program,
    flows: HashMap<FlowKey, Entry>,
    removed: SharedWord,
    pub(super) heartbeat: Heartbeat,
}

/// Addresses and ports of what comes from the mobile host, as they stand in its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct FlowKey {
    /// IPv4 addresses are mapped (RFC 4291 §2.5.5.2).
    src: [u8; 16],
    dst: [u8; 16],
    ports: [u8; 4],
    unused: [u8; 4],
}

// SAFETY: bytes without padding.
#[allow(unsafe_code, reason = "a promise about a layout")]
unsafe impl Plain for FlowKey {}

/// What a program knows of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Entry {
    expires: u64,
    from: u32,
    to: u32,
    last_ack: u32,
    /// In network order.
    last_window: u16,
    last_flags: u8,
    /// Whether the three before are known.
    has_last: u8,
}

// SAFETY: 8 + 4 * 3 + 2 + 1 + 1 bytes are a multiple of 8 without padding.
#[allow(unsafe_code, reason = "a promise about a layout")]
unsafe impl Plain for Entry {}

/// Where the parts of an [`Entry`] are.
mod entry {
    pub(super) const EXPIRES: i16 = 0;
    pub(super) const FROM: i16 = 8;
    pub(super) const TO: i16 = 12;
    pub(super) const LAST_ACK: i16 = 16;
    pub(super) const LAST_WINDOW: i16 = 20;
    pub(super) const LAST_FLAGS: i16 = 22;
    pub(super) const HAS_LAST: i16 = 23;
}

impl FlowKey {
    fn of(key: Key) -> FlowKey {
        let bytes = |end: SocketAddr| match end.ip() {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        let ([a, b], [c, d]) = (key.mobile.port().to_be_bytes(), key.fixed.port().to_be_bytes());
        FlowKey {
            src: bytes(key.mobile),
            dst: bytes(key.fixed),
            ports: [a, b, c, d],
            unused: [0; 4],
        }
    }
}

impl Rules {
    pub(super) fn load(kind: LinkKind, capacity: u32) -> io::Result<Rules> {
        let flows = HashMap::new("ackord_flows", capacity)?;
        let removed = SharedWord::new("ackord_removed")?;
        let heartbeat = Heartbeat::new()?;
        let code = program(kind, &flows, &removed, &heartbeat);
        let program = Program::load("ackord_suppress", &code)?;
        Ok(Rules { program, flows, removed, heartbeat })
    }

    pub(super) fn cover(&self, connection: Key, covered: Covered) -> io::Result<()> {
        let key = FlowKey::of(connection);
        // What was seen last is kept. An ACK that passes meanwhile may be forgotten: then one more passes.
        let before = self.flows.get(&key)?.unwrap_or_default();
        let expires = monotonic_nanos() + covered.lasting.as_nanos();
        let (from, to) = (covered.from.0, covered.to.0);
        Ok(self.flows.set(&key, &Entry { expires, from, to, ..before })?)
    }

    pub(super) fn uncover(&self, connection: Key) -> io::Result<()> {
        Ok(self.flows.remove(&FlowKey::of(connection)).map(drop)?)
    }

    pub(super) fn removed(&self) -> u64 {
        self.removed.get().load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(super) fn is_covered(&self, connection: Key) -> bool {
        self.flows.get(&FlowKey::of(connection)).expect("it looks").is_some()
    }
}

impl Suppressor {
    /// How often [`Suppressor::beat`] has to be called.
    pub const BEAT_EVERY: Span = Heartbeat::EVERY;

    /// For at most `capacity` connections at once, at the interface of this number; one that was not heard of
    /// for long makes room.
    ///
    /// # Errors
    /// Without CAP_BPF and CAP_NET_ADMIN, before Linux 5.8, where there is no such interface.
    pub fn open(
        (index, kind): (u32, LinkKind),
        capacity: u32,
        by: AttachBy,
        journal: &Arc<Journal>,
    ) -> io::Result<Suppressor> {
        let rules = Rules::load(kind, capacity)?;
        let attachment = Attachment::new(&rules.program, (index, Point::Ingress), by, journal)?;
        Ok(Suppressor { rules, attachment })
    }

    /// Tries whether the kernel takes the program; it is attached nowhere.
    pub(crate) fn try_load() -> io::Result<()> {
        Rules::load(LinkKind::Ethernet, 1).map(drop)
    }

    /// Removes duplicate ACKs that ask for a byte of this range, until that has lasted.
    ///
    /// # Errors
    /// Where the kernel has no memory.
    pub fn cover(&self, connection: Key, covered: Covered) -> io::Result<()> {
        self.rules.cover(connection, covered)
    }

    /// Lets everything of a connection pass again, and forgets it.
    ///
    /// # Errors
    /// None that is known of.
    pub fn uncover(&self, connection: Key) -> io::Result<()> {
        self.rules.uncover(connection)
    }

    /// A sign of life, without which everything passes.
    pub fn beat(&self) {
        self.rules.heartbeat.beat(monotonic_nanos());
    }

    /// Lets everything pass until the next beat.
    pub fn pause(&self) {
        self.rules.heartbeat.stop();
    }

    /// ACKs removed so far.
    pub fn removed(&self) -> u64 {
        self.rules.removed()
    }

    /// How it is attached.
    pub fn attached(&self) -> Attached {
        self.attachment.attached()
    }
}

/// Where things are on the stack, from its end.
mod stack {
    /// A `FlowKey`.
    pub(super) const KEY: i16 = -40;
    pub(super) const KEY_DST: i16 = KEY + 16;
    pub(super) const KEY_PORTS: i16 = KEY + 32;
    /// An IP header without options.
    pub(super) const IP: i16 = -80;
    /// A TCP header without options.
    pub(super) const TCP: i16 = -104;
    /// An Ethernet type.
    pub(super) const TYPE: i16 = -112;
}

/// The program: `R6` is the packet; `R7` where its IP header begins, later the ACK's number; `R8` where TCP
/// begins, later the entry; `R9` bytes of TCP, later those of payload.
fn program(
    kind: LinkKind,
    flows: &HashMap<FlowKey, Entry>,
    removed: &SharedWord,
    heartbeat: &Heartbeat,
) -> Vec<Instruction> {
    let mut program = Assembler::default();
    let [pass, v4, v6, tcp] = [(); 4].map(|()| program.label());
    program.set(Reg::R6, Reg::R1);
    match kind {
        LinkKind::Ethernet => skip_ethernet(&mut program, v4, v6),
        LinkKind::Bare => {
            program.set(Reg::R7, 0);
            load_bytes(&mut program, (stack::TYPE, 1), pass);
            program.load(Size::One, Reg::R1, (Reg::R10, stack::TYPE));
            program.alu(Alu::ShiftRight, Reg::R1, 4);
            program.jump_if(If::Equal, Reg::R1, 4, v4);
            program.jump_if(If::Equal, Reg::R1, 6, v6);
        }
    }
    program.here(pass);
    program.exit_with(LET_PASS);
    program.here(v4);
    read_v4(&mut program, tcp, pass);
    program.here(v6);
    read_v6(&mut program, pass);
    program.here(tcp);
    read_tcp(&mut program, flows, pass);
    judge(&mut program, (removed, heartbeat), pass);
    program.finish()
}

/// Copies bytes of the packet from `R7` on to the stack.
fn load_bytes(program: &mut Assembler, (to, len): (i16, i32), otherwise: Label) {
    program.set(Reg::R1, Reg::R6);
    program.set(Reg::R2, Reg::R7);
    program.stack_address(Reg::R3, to);
    program.set(Reg::R4, len);
    program.call(Helper::LoadBytes);
    program.jump_if(If::NotEqual, Reg::R0, 0, otherwise);
}

/// An Ethernet type as it is read from the stack.
fn ether_type(number: u16) -> i32 {
    i32::from(u16::from_ne_bytes(number.to_be_bytes()))
}

/// Finds the IP packet behind at most two VLAN tags; one more may have been taken out by the kernel before.
fn skip_ethernet(program: &mut Assembler, v4: Label, v6: Label) {
    let otherwise = program.label();
    program.set(Reg::R7, 12);
    for tag in 0..3 {
        load_bytes(program, (stack::TYPE, 2), otherwise);
        program.load(Size::Two, Reg::R1, (Reg::R10, stack::TYPE));
        program.alu(Alu::Add, Reg::R7, 2);
        program.jump_if(If::Equal, Reg::R1, ether_type(0x0800), v4);
        program.jump_if(If::Equal, Reg::R1, ether_type(0x86dd), v6);
        if tag < 2 {
            let tagged = program.label();
            program.jump_if(If::Equal, Reg::R1, ether_type(0x8100), tagged);
            program.jump_if(If::NotEqual, Reg::R1, ether_type(0x88a8), otherwise);
            program.here(tagged);
            program.alu(Alu::Add, Reg::R7, 2);
        }
    }
    program.here(otherwise);
}

fn read_v4(program: &mut Assembler, tcp: Label, pass: Label) {
    load_bytes(program, (stack::IP, 20), pass);
    program.load(Size::One, Reg::R8, (Reg::R10, stack::IP));
    program.set(Reg::R1, Reg::R8);
    program.alu(Alu::ShiftRight, Reg::R1, 4);
    program.jump_if(If::NotEqual, Reg::R1, 4, pass);
    program.alu(Alu::And, Reg::R8, 15);
    program.alu(Alu::ShiftLeft, Reg::R8, 2);
    program.jump_if(If::Below, Reg::R8, 20, pass);
    program.load(Size::One, Reg::R1, (Reg::R10, stack::IP + 9));
    program.jump_if(If::NotEqual, Reg::R1, 6, pass);
    // Fragments: "more" or an offset.
    program.load(Size::Two, Reg::R1, (Reg::R10, stack::IP + 6));
    program.jump_if(If::AnyBitOf, Reg::R1, ether_type(0x3fff), pass);
    program.load(Size::Two, Reg::R9, (Reg::R10, stack::IP + 2));
    program.network_order(Reg::R9, 16);
    program.alu(Alu::Sub, Reg::R9, Reg::R8);
    program.alu(Alu::Add, Reg::R8, Reg::R7);
    for (at, from) in [(stack::KEY, 12), (stack::KEY_DST, 16)] {
        program.store(Size::Eight, (Reg::R10, at), 0);
        program.load(Size::Four, Reg::R1, (Reg::R10, stack::IP + from));
        // The second half of a slot first, see `assembler.rs`.
        program.store(Size::Four, (Reg::R10, at + 12), Reg::R1);
        program.store(Size::Four, (Reg::R10, at + 8), i32::from_ne_bytes([0, 0, 0xff, 0xff]));
    }
    program.jump(tcp);
}

fn read_v6(program: &mut Assembler, pass: Label) {
    load_bytes(program, (stack::IP, 40), pass);
    program.load(Size::One, Reg::R1, (Reg::R10, stack::IP + 6));
    program.jump_if(If::NotEqual, Reg::R1, 6, pass);
    program.load(Size::Two, Reg::R9, (Reg::R10, stack::IP + 4));
    program.network_order(Reg::R9, 16);
    program.set(Reg::R8, Reg::R7);
    program.alu(Alu::Add, Reg::R8, 40);
    for at in [0, 8, 16, 24] {
        program.load(Size::Eight, Reg::R1, (Reg::R10, stack::IP + 8 + at));
        program.store(Size::Eight, (Reg::R10, stack::KEY + at), Reg::R1);
    }
}

/// Reads the TCP header, and looks the connection up.
fn read_tcp(program: &mut Assembler, flows: &HashMap<FlowKey, Entry>, pass: Label) {
    program.set(Reg::R7, Reg::R8);
    load_bytes(program, (stack::TCP, 20), pass);
    program.load(Size::One, Reg::R1, (Reg::R10, stack::TCP + 12));
    program.alu(Alu::ShiftRight, Reg::R1, 4);
    program.alu(Alu::ShiftLeft, Reg::R1, 2);
    program.alu(Alu::Sub, Reg::R9, Reg::R1);
    program.load(Size::Four, Reg::R1, (Reg::R10, stack::TCP));
    program.store(Size::Four, (Reg::R10, stack::KEY_PORTS + 4), 0);
    program.store(Size::Four, (Reg::R10, stack::KEY_PORTS), Reg::R1);
    program.set_map(Reg::R1, flows.descriptor());
    program.stack_address(Reg::R2, stack::KEY);
    program.call(Helper::MapLookup);
    program.jump_if(If::Equal, Reg::R0, 0, pass);
    program.set(Reg::R8, Reg::R0);
}

/// Removes the packet, or takes note of what it acknowledges.
fn judge(program: &mut Assembler, (removed, heartbeat): (&SharedWord, &Heartbeat), pass: Label) {
    let note = program.label();
    let bits = |flags: Flags| i32::from(flags.bits());
    program.load(Size::Four, Reg::R7, (Reg::R10, stack::TCP + 8));
    program.network_order(Reg::R7, 32);
    program.load(Size::One, Reg::R1, (Reg::R10, stack::TCP + 13));
    program.load(Size::Two, Reg::R2, (Reg::R10, stack::TCP + 14));
    let is_ack = program.label();
    program.jump_if(If::AnyBitOf, Reg::R1, bits(Flags::ACK), is_ack);
    program.jump(pass);
    program.here(is_ack);
    let not_pure = Flags::SYN | Flags::FIN | Flags::RST | Flags::URG;
    program.jump_if(If::AnyBitOf, Reg::R1, bits(not_pure), note);
    program.jump_if(If::NotEqual, Reg::R9, 0, note);
    // RFC 9293 §3.8.6.1: what answers a probe of a closed window has to arrive.
    program.jump_if(If::Equal, Reg::R2, 0, note);
    program.load(Size::One, Reg::R3, (Reg::R8, entry::HAS_LAST));
    program.jump_if(If::Equal, Reg::R3, 0, note);
    program.load(Size::Four, Reg::R3, (Reg::R8, entry::LAST_ACK));
    program.jump_if32(If::NotEqual, Reg::R3, Reg::R7, note);
    program.load(Size::Two, Reg::R3, (Reg::R8, entry::LAST_WINDOW));
    program.jump_if(If::NotEqual, Reg::R3, Reg::R2, note);
    program.load(Size::One, Reg::R3, (Reg::R8, entry::LAST_FLAGS));
    program.alu(Alu::Xor, Reg::R3, Reg::R1);
    program.jump_if(If::AnyBitOf, Reg::R3, bits(Flags::ECE | Flags::CWR), note);
    // from <= ack < to, modulo 2^32.
    program.load(Size::Four, Reg::R3, (Reg::R8, entry::FROM));
    program.load(Size::Four, Reg::R4, (Reg::R8, entry::TO));
    program.alu32(Alu::Sub, Reg::R4, Reg::R3);
    program.alu32(Alu::Move, Reg::R5, Reg::R7);
    program.alu32(Alu::Sub, Reg::R5, Reg::R3);
    program.jump_if32(If::AtLeast, Reg::R5, Reg::R4, note);
    // R1 and R2 do not outlive the call; what is noted is what is there.
    program.call(Helper::MonotonicNanos);
    program.load(Size::Eight, Reg::R3, (Reg::R8, entry::EXPIRES));
    program.jump_if(If::AtMost, Reg::R3, Reg::R0, pass);
    program.set_map_value(Reg::R1, heartbeat.descriptor());
    program.load(Size::Eight, Reg::R3, (Reg::R1, 0));
    program.jump_if(If::AtMost, Reg::R3, Reg::R0, pass);
    program.set_map_value(Reg::R1, removed.descriptor());
    program.set(Reg::R2, 1);
    program.add_atomically(Reg::R1, Reg::R2);
    program.exit_with(REMOVE);
    program.here(note);
    program.store(Size::Four, (Reg::R8, entry::LAST_ACK), Reg::R7);
    program.store(Size::Two, (Reg::R8, entry::LAST_WINDOW), Reg::R2);
    program.store(Size::One, (Reg::R8, entry::LAST_FLAGS), Reg::R1);
    program.store(Size::One, (Reg::R8, entry::HAS_LAST), 1);
    program.exit_with(LET_PASS);
}
