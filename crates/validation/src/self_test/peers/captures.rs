//! The captures of a run, read to be rewritten, and written back.

use super::super::run::{Place, SelfTestError, capture_file};
use super::record::Record;
use ackord_units::Time;
use ackord_wire::{LinkType, PacketRecord, PcapngReader, PcapngWriter, Side};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;

use super::record::Key;

/// What a rewriting needs to know of its run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Client and server of the connection under test.
    pub(super) ends: (SocketAddr, SocketAddr),
    /// End that sends the data.
    pub(super) sends: Side,
    /// Round trip of propagation, ns.
    pub(super) rtt: u64,
    /// Rate of the bottleneck, bit/s, over time (s).
    pub(super) rate: u64,
    /// Seed of the case.
    pub(super) seed: u64,
}

/// The link layer of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Link {
    /// Bare IP packets of two directions, as the run leaves them.
    #[default]
    Raw,
    /// `-i any` of tcpdump on Linux: one pseudo-interface with cooked headers (SLL2).
    Cooked,
    /// Two Ethernet interfaces in one file.
    Ethernet,
}

/// A capture.
#[derive(Clone, Debug, Default)]
pub(super) struct Capture {
    pub(super) records: Vec<Record>,
    pub(super) link: Link,
    pub(super) snap_len: Option<NonZeroU32>,
}

/// The captures of a run, in the order of [`Place::ALL`].
#[derive(Clone, Debug, Default)]
pub(super) struct Captures(pub(super) [Capture; 3]);

impl Run {
    /// Returns the end of the connection under test that sent a packet, if it belongs to that.
    pub(super) fn side_of(&self, record: &Record) -> Option<Side> {
        let client = SocketAddr::V4(record.src()) == self.ends.0;
        record.is_between(self.ends).then_some(if client { Side::Client } else { Side::Server })
    }
}

impl Captures {
    /// Reads the captures in a folder.
    pub(super) fn read(folder: &Path) -> Result<Captures, SelfTestError> {
        let mut captures = Captures::default();
        for (place, capture) in Place::ALL.into_iter().zip(&mut captures.0) {
            let path = capture_file(folder, place);
            let damaged = |why: String| SelfTestError::Kept(path.clone(), why);
            let mut reader = PcapngReader::new(BufReader::new(File::open(&path)?))
                .map_err(|error| damaged(error.to_string()))?;
            while let Some(packet) =
                reader.next_packet().map_err(|error| damaged(error.to_string()))?
            {
                let at = packet.at.map_or(0, Time::as_nanos);
                let record = Record::new(at, packet.interface, packet.bytes, packet.original_len);
                capture.records.extend(record);
            }
        }
        Ok(captures)
    }

    /// Writes them in place of those in a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), SelfTestError> {
        for (place, capture) in Place::ALL.into_iter().zip(&self.0) {
            capture.write(&capture_file(folder, place))?;
        }
        Ok(())
    }

    /// The capture at a place.
    pub(super) fn at(&mut self, place: Place) -> &mut Capture {
        &mut self.0[place as usize]
    }

    /// The capture at the host of an end.
    pub(super) fn of_host(&self, side: Side) -> &Capture {
        match side {
            Side::Server => &self.0[Place::Server as usize],
            Side::Client => &self.0[Place::Client as usize],
        }
    }

    /// Calls `change` with every packet of every place.
    pub(super) fn each(&mut self, mut change: impl FnMut(&mut Record)) {
        self.0.iter_mut().flat_map(|capture| &mut capture.records).for_each(&mut change);
    }

    /// Applies `change` to the packets that have a value in `map`, wherever they were captured.
    pub(super) fn by_key<T>(&mut self, map: &BTreeMap<Key, T>, change: impl Fn(&mut Record, &T)) {
        self.each(|record| {
            if let Some(value) = map.get(&record.key) {
                change(record, value);
            }
        });
    }
}

/// Hardware addresses of a router's two interfaces, and of the nodes behind them.
const MACS: [[[u8; 6]; 2]; 2] =
    [[[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]], [[2, 0, 0, 0, 1, 1], [2, 0, 0, 0, 1, 2]]];

impl Capture {
    /// Sorts packets by time of capture; those of one time stay in order.
    pub(super) fn sort(&mut self) {
        self.records.sort_by_key(|record| record.at);
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let out = BufWriter::new(File::create(path)?);
        let application = format!("ackord {}", ackord_study::VERSION);
        let mut writer = PcapngWriter::new(out, &application)?.with_snap_len(self.snap_len);
        let interfaces = match self.link {
            Link::Raw => vec![writer.add_interface("in", "")?, writer.add_interface("out", "")?],
            Link::Cooked => vec![writer.add_interface_of(LinkType::LINUX_SLL2, "any", "")?; 2],
            Link::Ethernet => ["access", "air"]
                .into_iter()
                .map(|name| writer.add_interface_of(LinkType::ETHERNET, name, ""))
                .collect::<io::Result<_>>()?,
        };
        for record in &self.records {
            let header = self.link.header(record);
            let bytes: Vec<u8> = header.iter().chain(&record.bytes).copied().collect();
            writer.write_packet(&PacketRecord {
                interface: interfaces[record.interface % 2],
                at: Time::from_nanos(record.at),
                bytes: &bytes,
                original_len: record.original_len + header.len() as u32,
                comment: None,
            })?;
        }
        writer.finish()
    }
}

impl Link {
    /// Returns the link-layer header of a packet. In captures of two interfaces the lowest bit of
    /// `interface` is the interface, the next one is set for packets that leave through it.
    fn header(self, record: &Record) -> Vec<u8> {
        let interface = record.interface & 1;
        let leaves = record.interface & 2 != 0;
        let [router, node] = MACS[interface];
        let (src, dst) = if leaves { (router, node) } else { (node, router) };
        match self {
            Link::Raw => Vec::new(),
            Link::Cooked => {
                // Protocol, reserved, interface, ARPHRD_ETHER, packet type (host or outgoing), address.
                let mut header = vec![8, 0, 0, 0, 0, 0, 0, interface as u8 + 2, 0, 1];
                header.extend([if leaves { 4 } else { 0 }, 6]);
                header.extend(src);
                header.extend([0, 0]);
                header
            }
            Link::Ethernet => dst.into_iter().chain(src).chain([8, 0]).collect(),
        }
    }
}
