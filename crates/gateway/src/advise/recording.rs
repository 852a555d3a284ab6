//! Headers of the observed packets as a capture in memory, for those who simulate what senders would gain.
//!
//! A recording is bounded. When half of the room is used, only connections that open in every second period are
//! recorded, after half of the rest in every fourth, and so on: connections of one time stay together, since they share
//! the link, and the recording covers the whole time.
//!
//! Not recorded: connections that were open before, or that a fixed host opened; data.

use crate::{Interface, Key, LinkHeader, LinkKind, Sighting, Way};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{Flags, InterfaceIndex, PacketRecord, PcapngWriter, decode_offloaded};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::rc::Rc;

/// Bytes kept of each packet: the headers of IP and TCP with all options.
const SNAP: usize = 120;
/// What a block of the capture has around a packet, bytes.
const BLOCK: u64 = 40;
/// Connections are left out for whole periods.
const PERIOD: Span = Span::from_secs(10);

/// A recording.
#[derive(Debug)]
pub struct Recording {
    writer: PcapngWriter<Room>,
    lan: InterfaceIndex,
    room: Room,
    most: u64,
    used: u64,
    recorded: BTreeSet<Key>,
    /// Connections that opened and are not recorded.
    left_out: u64,
}

/// Bytes that are written and read later.
#[derive(Clone, Debug, Default)]
struct Room(Rc<RefCell<Vec<u8>>>);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Recording {
    /// Begins a recording of at most this size.
    ///
    /// # Errors
    /// None that memory has.
    pub fn new(most: Bytes) -> io::Result<Recording> {
        let room = Room::default();
        let mut writer = PcapngWriter::new(room.clone(), "ackord gateway advise")?;
        let lan = writer.add_interface("lan", "towards the mobile hosts")?;
        let (most, recorded) = (most.get(), BTreeSet::new());
        Ok(Recording { writer, lan, room, most, used: 0, recorded, left_out: 0 })
    }

    /// Records a frame of a LAN interface with this kind of link, if its connection is recorded.
    pub(super) fn see(&mut self, now: Time, sighting: &Sighting<'_>, kind: LinkKind) {
        let Some((_, ip)) = LinkHeader::cut(sighting, kind) else { return };
        let Ok(decoded) = decode_offloaded(ip, sighting.checksum) else { return };
        let towards = match sighting.way {
            Way::Out => sighting.interface,
            Way::In => Interface::Wan,
        };
        let key = Key::towards(towards, decoded.endpoints);
        let flags = decoded.segment.flags;
        let opens = sighting.way == Way::In
            && flags.contains(Flags::SYN)
            && !flags.contains(Flags::ACK)
            && !self.recorded.contains(&key);
        if opens && self.takes(now) {
            self.recorded.insert(key);
        } else if opens {
            self.left_out += 1;
        }
        let kept = &ip[..ip.len().min(SNAP)];
        let size = kept.len() as u64 + BLOCK;
        if !self.recorded.contains(&key) || self.used + size > self.most {
            return;
        }
        let record = PacketRecord {
            interface: self.lan,
            at: now,
            bytes: kept,
            original_len: ip.len() as u32,
            comment: None,
        };
        // Memory takes everything.
        if self.writer.write_packet(&record).is_ok() {
            self.used += size;
        }
    }

    /// Returns true if connections that open now are recorded.
    fn takes(&self, now: Time) -> bool {
        let free = self.most.saturating_sub(self.used).max(1);
        let halvings = (self.most / free).max(1).ilog2().min(20);
        let period = now.saturating_since(Time::ZERO).as_nanos() / PERIOD.as_nanos();
        period.is_multiple_of(1 << halvings)
    }

    /// Connections that opened meanwhile and are not recorded.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the capture, in the format pcapng.
    ///
    /// # Errors
    /// None that memory has.
    pub fn into_capture(self) -> io::Result<Vec<u8>> {
        let room = self.room.clone();
        self.writer.finish()?;
        Ok(room.0.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{Endpoints, IpFields, Payload, PcapngReader, Segment, TcpChecksum, encode};
    use std::net::SocketAddr;

    /// The packet of this port passes at that second.
    fn see(recording: &mut Recording, second: u64, way: Way, port: u16, flags: Flags) {
        let mobile = SocketAddr::from(([192, 0, 2, 7], port));
        let fixed = SocketAddr::from(([198, 51, 100, 1], 443));
        let endpoints = match way {
            Way::Out => Endpoints { src: fixed, dst: mobile },
            Way::In => Endpoints { src: mobile, dst: fixed },
        };
        let segment = Segment { flags, payload_len: 1_400, ..Segment::default() };
        let mut frame = Vec::new();
        encode(endpoints, IpFields::default(), &segment, Payload::Zeros(1_400), &mut frame)
            .expect("sound");
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
        recording.see(Time::ZERO + Span::from_secs(second), &sighting, LinkKind::Bare);
    }

    /// Ports of the mobile host in the order of the packets.
    fn ports(recording: Recording) -> Vec<u16> {
        let capture = recording.into_capture().expect("memory");
        let mut reader = PcapngReader::new(&capture[..]).expect("a capture");
        let mut found = Vec::new();
        while let Some(packet) = reader.next_packet().expect("whole") {
            assert!(packet.bytes.len() <= SNAP);
            // Cut packets have the ports in their headers.
            found.push(u16::from_be_bytes([packet.bytes[20], packet.bytes[21]]));
        }
        found
    }

    #[test]
    fn records_connections_from_their_beginning_and_no_others() {
        let mut recording = Recording::new(Bytes(1 << 20)).expect("memory");
        see(&mut recording, 0, Way::In, 1, Flags::ACK);
        see(&mut recording, 1, Way::In, 2, Flags::SYN);
        see(&mut recording, 1, Way::Out, 3, Flags::SYN);
        see(&mut recording, 2, Way::In, 2, Flags::ACK);
        see(&mut recording, 3, Way::In, 3, Flags::SYN | Flags::ACK);
        assert_eq!(recording.left_out(), 0);
        assert_eq!(ports(recording), [2, 2]);
    }

    #[test]
    fn leaves_out_every_second_period_when_half_of_the_room_is_used_and_never_uses_more() {
        let each = SNAP as u64 + BLOCK;
        let mut recording = Recording::new(Bytes(8 * each)).expect("memory");
        see(&mut recording, 0, Way::In, 1, Flags::SYN);
        for _ in 0..3 {
            see(&mut recording, 1, Way::In, 1, Flags::ACK);
        }
        // Half is used: the second ten seconds are left out, the third are not.
        see(&mut recording, 12, Way::In, 2, Flags::SYN);
        see(&mut recording, 22, Way::In, 3, Flags::SYN);
        assert_eq!(recording.left_out(), 1);
        for _ in 0..100 {
            see(&mut recording, 23, Way::In, 3, Flags::ACK);
        }
        assert!(recording.used <= 8 * each);
        assert_eq!(ports(recording), [1, 1, 1, 1, 3, 3, 3, 3]);
    }
}
