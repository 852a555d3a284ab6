//! pcapng: sections of either byte order, each with its interfaces and packets
//! (draft-ietf-opsawg-pcapng).
//!
//! Not modelled: names, secrets for decryption and whatever else is not a packet (skipped).

use super::block::{self, Interface};
use super::buffer::{CAPACITY, Order};
use super::layers::Stamp;
use super::tally::{Kind, Outcome};
use super::{Batch, FrameAt, Next, Sink};
use ackord_units::Time;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// Wireshark counts these as frames.
const JOURNAL_ENTRY: u32 = 9;

/// The shortest section header.
pub(super) const SHORTEST_SECTION: usize = 28;
/// The shortest block: its type and both its lengths.
const SHORTEST: u32 = 12;
/// Longer blocks are damage (Wireshark's bound).
const LONGEST: u32 = 16 << 20;
/// More interfaces than a file has sense for.
const MOST_INTERFACES: usize = 1 << 16;

/// Whether a file that begins so is in this format.
pub(super) fn recognises(head: &[u8]) -> bool {
    let magic = |order: Order| head.len() >= 12 && order.u32(head, 8) == BYTE_ORDER_MAGIC;
    head.len() >= 4
        && Order::Little.u32(head, 0) == SECTION_HEADER
        && (head.len() < 12 || magic(Order::Little) || magic(Order::Big))
}

/// A file in this format.
pub(super) struct Pcapng {
    order: Order,
    /// Those of all sections, one after the other.
    interfaces: Vec<Interface>,
    /// Where those of the section begin.
    section: usize,
    /// Packets lost, as the packets say.
    lost: Option<u64>,
}

impl Default for Pcapng {
    fn default() -> Pcapng {
        Pcapng { order: Order::Little, interfaces: Vec::new(), section: 0, lost: None }
    }
}

/// A packet as its block has it.
struct Packet<'a> {
    /// In its section.
    interface: usize,
    /// In the interface's units.
    stamp: Option<u64>,
    /// Position of the frame in the block's body.
    at: usize,
    frame: &'a [u8],
    wire: u32,
    /// 1 inbound, 2 outbound, 0 if the block does not state it.
    direction: u8,
}

impl Pcapng {
    /// The most that is kept of a frame, on any interface.
    pub(super) fn snap_len(&self) -> Option<u32> {
        let most = self.interfaces.iter().map(|interface| interface.snap_len).max()?;
        Some(most).filter(|_| self.interfaces.iter().all(|interface| interface.snap_len > 0))
    }

    /// Packets lost, on all interfaces.
    pub(super) fn dropped(&self) -> Option<u64> {
        let dropped = self.interfaces.iter().filter_map(|interface| interface.dropped);
        let counted = dropped.reduce(u64::saturating_add);
        counted.max(self.lost)
    }

    /// Reads blocks that are at hand as a whole; the bytes read.
    pub(super) fn at_hand<S: Sink>(
        &mut self,
        bytes: &[u8],
        batch: &mut Batch<'_, S>,
    ) -> (usize, Next) {
        let mut used = 0;
        while batch.limit > 0 {
            let rest = &bytes[used..];
            let Some(head) = rest.first_chunk::<12>() else {
                return (used, Next::Need(12));
            };
            if Order::Little.u32(head, 0) == SECTION_HEADER {
                match [Order::Little, Order::Big]
                    .into_iter()
                    .find(|order| order.u32(head, 8) == BYTE_ORDER_MAGIC)
                {
                    Some(order) => self.order = order,
                    None => return (used, damaged("a section without byte order")),
                }
            }
            let (kind, len) = (self.order.u32(head, 0), self.order.u32(head, 4));
            if !(SHORTEST..=LONGEST).contains(&len) || !len.is_multiple_of(4) {
                return (used, Next::Damaged(format!("a block of {len} bytes is impossible")));
            }
            let len = len as usize;
            if len > CAPACITY {
                return match kind {
                    OLD_PACKET | SIMPLE_PACKET | ENHANCED_PACKET => {
                        (used, Next::Damaged(format!("a packet of {len} bytes is impossible")))
                    }
                    _ => (used, Next::Skip(len as u64)),
                };
            }
            let Some(block) = rest.get(..len) else {
                return (used, Next::Need(len));
            };
            if self.order.u32(block, len - 4) as usize != len {
                return (used, damaged("the two lengths of a block differ"));
            }
            if let Err(what) = self.block(kind, (used + 8, &block[8..len - 4]), batch) {
                return (used, damaged(what));
            }
            used += len;
        }
        (used, Next::Enough)
    }

    /// Takes a block in, whose body is `at` a position in the bytes at hand; an error where its content
    /// cannot be.
    #[inline]
    fn block<S: Sink>(
        &mut self,
        kind: u32,
        (at, body): (usize, &[u8]),
        batch: &mut Batch<'_, S>,
    ) -> Result<(), &'static str> {
        match kind {
            ENHANCED_PACKET => {
                let packet = self.enhanced(body).ok_or("a packet longer than its block")?;
                self.packet(at, &packet, batch);
            }
            SIMPLE_PACKET => {
                let packet = self.simple(body).ok_or("a packet longer than its block")?;
                self.packet(at, &packet, batch);
            }
            OLD_PACKET => {
                let packet = self.old(body).ok_or("a packet longer than its block")?;
                self.packet(at, &packet, batch);
            }
            SECTION_HEADER => self.section = self.interfaces.len(),
            INTERFACE_DESCRIPTION => {
                let interface =
                    Interface::of(self.order, body).ok_or("an interface without description")?;
                if self.interfaces.len() == MOST_INTERFACES {
                    return Err("more than 65536 interfaces");
                }
                self.interfaces.push(interface);
            }
            INTERFACE_STATISTICS => {
                if let Some((interface, dropped)) = block::statistics(self.order, body) {
                    let place = self.section.saturating_add(interface as usize);
                    if let Some(interface) = self.interfaces.get_mut(place) {
                        interface.dropped = interface.dropped.max(Some(dropped));
                    }
                }
            }
            JOURNAL_ENTRY => {
                batch.tally.frame();
                batch.tally.count(Outcome::Other(Kind::JournalEntry));
                batch.limit -= 1;
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn enhanced<'a>(&mut self, body: &'a [u8]) -> Option<Packet<'a>> {
        let head = body.first_chunk::<20>()?;
        let [interface, high, low, kept, wire] =
            [0, 4, 8, 12, 16].map(|at| self.order.u32(head, at));
        let end = 20 + kept as usize;
        let frame = body.get(20..end)?;
        let mut direction = 0;
        if let Some(options @ [_, ..]) = body.get(end.next_multiple_of(4)..) {
            let about = block::packet_options(self.order, options);
            if let Some(lost) = about.lost_before {
                self.lost = Some(self.lost.unwrap_or(0).saturating_add(lost));
            }
            direction = about.direction;
        }
        let stamp = Some(u64::from(high) << 32 | u64::from(low));
        Some(Packet { interface: interface as usize, stamp, at: 20, frame, wire, direction })
    }

    /// A packet without a time, of the section's first interface. The block does not say how much of
    /// it was kept: as much as fits into the block and the interface's snap length.
    fn simple<'a>(&mut self, body: &'a [u8]) -> Option<Packet<'a>> {
        let wire = self.order.u32(body.first_chunk::<4>()?, 0);
        let snap_len = self.interfaces.get(self.section).map_or(0, |interface| interface.snap_len);
        let most = if snap_len == 0 { wire } else { wire.min(snap_len) };
        let kept = (most as usize).min(body.len() - 4);
        Some(Packet {
            interface: 0,
            stamp: None,
            at: 4,
            frame: &body[4..4 + kept],
            wire,
            direction: 0,
        })
    }

    /// The packet block that the enhanced one has replaced.
    fn old<'a>(&mut self, body: &'a [u8]) -> Option<Packet<'a>> {
        let head = body.first_chunk::<20>()?;
        let interface = usize::from(self.order.u16(head, 0));
        // 0xffff: it was not counted.
        let lost = self.order.u16(head, 2);
        if lost != u16::MAX {
            self.lost = Some(self.lost.unwrap_or(0).saturating_add(u64::from(lost)));
        }
        let [high, low, kept, wire] = [4, 8, 12, 16].map(|at| self.order.u32(head, at));
        let end = 20 + kept as usize;
        let frame = body.get(20..end)?;
        let options = body.get(end.next_multiple_of(4)..).unwrap_or(&[]);
        let direction = block::packet_options(self.order, options).direction;
        let stamp = Some(u64::from(high) << 32 | u64::from(low));
        Some(Packet { interface, stamp, at: 20, frame, wire, direction })
    }

    #[inline]
    fn packet<S: Sink>(&self, at: usize, packet: &Packet<'_>, batch: &mut Batch<'_, S>) {
        let number = batch.tally.frame();
        let place = self.section + packet.interface;
        let Some(interface) = self.interfaces.get(place) else {
            batch.tally.count(Outcome::Malformed);
            batch.limit -= 1;
            return;
        };
        let ns = match packet.stamp {
            Some(stamp) => {
                let ns = interface.nanos(stamp);
                batch.tally.at(ns);
                ns
            }
            None => batch.tally.without_time(),
        };
        let stamp = Stamp {
            frame: number,
            at: Time::from_nanos(ns),
            file: batch.file,
            interface: place as u16,
            direction: packet.direction,
        };
        let (link, at, bytes, wire) = (interface.link, at + packet.at, packet.frame, packet.wire);
        batch.frame(&FrameAt { link, at, bytes, wire, stamp });
    }
}

fn damaged(what: &str) -> Next {
    Next::Damaged(what.to_owned())
}
