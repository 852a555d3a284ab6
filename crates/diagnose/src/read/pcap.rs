//! Classic pcap: both byte orders, micro- and nanoseconds, and the longer records that Kuznetzov's
//! tcpdump wrote.
//!
//! Layout: a header of 24 bytes, then per frame 16 bytes (24 in the modified format) and the bytes
//! kept (draft-ietf-opsawg-pcap).

use super::buffer::{CAPACITY, Order};
use super::layers::Stamp;
use super::{Batch, FrameAt, Next, Sink};
use ackord_units::Time;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const MODIFIED: u32 = 0xa1b2_cd34;

/// What no frame is longer than if the file asked for less (libpcap's `MAXIMUM_SNAPLEN`).
const USUAL_MOST: u32 = 256 << 10;
/// What no frame is longer than whatever the file asked for.
const MOST: u32 = (CAPACITY - 4096) as u32;

/// A file in this format.
pub(super) struct Pcap {
    order: Order,
    ns_per_unit: u64,
    record_len: usize,
    snap_len: u32,
    /// The bytes that a frame may have.
    most: u32,
    link: u16,
    name: &'static str,
}

impl Pcap {
    /// Bytes of the file's header.
    pub(super) const HEADER_LEN: usize = 24;

    /// Reads the header of a file; nothing if it is in another format.
    pub(super) fn open(head: &[u8]) -> Option<Result<Pcap, &'static str>> {
        let magic = head.first_chunk::<4>()?;
        let (order, magic) = [Order::Little, Order::Big]
            .map(|order| (order, order.u32(magic, 0)))
            .into_iter()
            .find(|(_, magic)| [MICROSECONDS, NANOSECONDS, MODIFIED].contains(magic))?;
        let Some(head) = head.first_chunk::<{ Pcap::HEADER_LEN }>() else {
            return Some(Err("the file ends within its header"));
        };
        let (ns_per_unit, record_len, name) = match magic {
            NANOSECONDS => (1, 16, "pcap (nanoseconds)"),
            MODIFIED => (1_000, 24, "pcap (modified)"),
            _ => (1_000, 16, "pcap"),
        };
        let snap_len = order.u32(head, 16);
        // The upper bits tell of frame check sequences, which nobody here looks at.
        let link = order.u32(head, 20) as u16;
        let most = snap_len.clamp(USUAL_MOST, MOST);
        Some(Ok(Pcap { order, ns_per_unit, record_len, snap_len, most, link, name }))
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn snap_len(&self) -> Option<u32> {
        Some(self.snap_len).filter(|len| *len > 0)
    }

    /// Reads frames that are at hand as a whole; the bytes read.
    pub(super) fn at_hand<S: Sink>(&self, bytes: &[u8], batch: &mut Batch<'_, S>) -> (usize, Next) {
        let order = self.order;
        let mut used = 0;
        while batch.limit > 0 {
            let Some(record) = bytes.get(used..used + self.record_len) else {
                return (used, Next::Need(self.record_len));
            };
            let record: &[u8; 16] = record.first_chunk().expect("at least 16 bytes");
            let [secs, fraction, kept, wire] = [0, 4, 8, 12].map(|at| order.u32(record, at));
            if kept > self.most {
                return (used, Next::Damaged(format!("a frame of {kept} bytes is impossible")));
            }
            if record == &[0; 16] {
                let what = "zeros where a frame should begin".to_owned();
                return (used, Next::Damaged(what));
            }
            let whole = self.record_len + kept as usize;
            let Some(frame) = bytes.get(used + self.record_len..used + whole) else {
                return (used, Next::Need(whole));
            };
            let ns = u64::from(secs) * 1_000_000_000 + u64::from(fraction) * self.ns_per_unit;
            batch.tally.at(ns);
            let stamp = Stamp {
                frame: batch.tally.frame(),
                at: Time::from_nanos(ns),
                file: batch.file,
                interface: 0,
                direction: 0,
            };
            let at = used + self.record_len;
            batch.frame(&FrameAt { link: self.link, at, bytes: frame, wire, stamp });
            used += whole;
        }
        (used, Next::Enough)
    }
}
