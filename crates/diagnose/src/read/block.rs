//! Blocks of pcapng that describe: interfaces, statistics, and the options of both.

use super::buffer::Order;

pub(super) const OPTION_END: u16 = 0;
const INTERFACE_TSRESOL: u16 = 9;
const INTERFACE_TSOFFSET: u16 = 14;
const STATISTICS_IFDROP: u16 = 5;
const STATISTICS_OSDROP: u16 = 7;
const PACKET_FLAGS: u16 = 2;
const PACKET_DROPCOUNT: u16 = 4;

/// Options one after the other: code and value.
pub(super) struct Options<'a> {
    order: Order,
    bytes: &'a [u8],
}

impl<'a> Options<'a> {
    pub(super) fn new(order: Order, bytes: &'a [u8]) -> Options<'a> {
        Options { order, bytes }
    }

    /// The value of the first option of this code that has eight bytes, as a number.
    fn number(self, code: u16) -> Option<u64> {
        let order = self.order;
        let mut values = self.filter(|(found, _)| *found == code).map(|(_, value)| value);
        values.find_map(|value| value.try_into().ok()).map(|value| order.u64(value))
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let head = self.bytes.get(..4)?;
        let (code, len) = (self.order.u16(head, 0), usize::from(self.order.u16(head, 2)));
        if code == OPTION_END {
            return None;
        }
        let value = self.bytes.get(4..4 + len)?;
        self.bytes = self.bytes.get(4 + len.next_multiple_of(4)..).unwrap_or(&[]);
        Some((code, value))
    }
}

/// An interface of a capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    pub(super) link: u16,
    /// Bytes kept of a frame at most; zero for all.
    pub(super) snap_len: u32,
    units: Units,
    /// To be added to each time, s.
    offset_secs: i64,
    /// What it lost, as its statistics say.
    pub(super) dropped: Option<u64>,
}

/// What a timestamp counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Units {
    /// Of so many nanoseconds.
    Nanos(u64),
    /// So many of them are a nanosecond.
    PerNano(u64),
    /// 2^-n s.
    Binary(u32),
    /// Shorter than anything that counts.
    TooShort,
}

impl Interface {
    /// Reads an interface description; nothing if it is too short.
    pub(super) fn of(order: Order, body: &[u8]) -> Option<Interface> {
        let head = body.get(..8)?;
        let mut units = Units::Nanos(1_000);
        let mut offset_secs = 0;
        for (code, value) in Options::new(order, &body[8..]) {
            match (code, value) {
                (INTERFACE_TSRESOL, [resolution, ..]) => units = Units::of(*resolution),
                (INTERFACE_TSOFFSET, value) => {
                    if let Ok(value) = value.try_into() {
                        offset_secs = order.u64(value) as i64;
                    }
                }
                _ => {}
            }
        }
        let (link, snap_len) = (order.u16(head, 0), order.u32(head, 4));
        Some(Interface { link, snap_len, units, offset_secs, dropped: None })
    }

    /// A timestamp as nanoseconds since 1970.
    #[inline]
    pub(super) fn nanos(&self, stamp: u64) -> u64 {
        let nanos = match self.units {
            Units::Nanos(nanos) => stamp.saturating_mul(nanos),
            Units::PerNano(units) => stamp / units,
            Units::Binary(bits) => {
                let nanos = (u128::from(stamp) * 1_000_000_000) >> bits;
                u64::try_from(nanos).unwrap_or(u64::MAX)
            }
            Units::TooShort => 0,
        };
        if self.offset_secs == 0 {
            return nanos;
        }
        let offset = self.offset_secs.saturating_mul(1_000_000_000);
        nanos.saturating_add_signed(offset)
    }
}

impl Units {
    /// What the option `if_tsresol` says.
    fn of(resolution: u8) -> Units {
        let exponent = u32::from(resolution & 0x7f);
        match (resolution & 0x80 != 0, exponent) {
            (true, _) => Units::Binary(exponent),
            (false, 0..=9) => Units::Nanos(10_u64.pow(9 - exponent)),
            (false, 10..=28) => Units::PerNano(10_u64.pow(exponent - 9)),
            (false, _) => Units::TooShort,
        }
    }
}

/// What a statistics block says: the interface, and how many packets it lost so far.
pub(super) fn statistics(order: Order, body: &[u8]) -> Option<(u32, u64)> {
    let head = body.get(..12)?;
    let options = || Options::new(order, &body[12..]);
    let [interface, system] =
        [STATISTICS_IFDROP, STATISTICS_OSDROP].map(|code| options().number(code));
    let dropped = interface.or(system)?.saturating_add(interface.and(system).unwrap_or(0));
    Some((order.u32(head, 0), dropped))
}

/// Options of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacketOptions {
    /// Packets lost between this one and the one before.
    pub(super) lost_before: Option<u64>,
    /// 1 inbound, 2 outbound, 0 if unknown.
    pub(super) direction: u8,
}

/// Reads the options of a packet.
pub(super) fn packet_options(order: Order, options: &[u8]) -> PacketOptions {
    let mut about = PacketOptions::default();
    for (code, value) in Options::new(order, options) {
        match (code, value.len()) {
            (PACKET_DROPCOUNT, 8) if about.lost_before.is_none() => {
                about.lost_before = value.try_into().ok().map(|value| order.u64(value));
            }
            (PACKET_FLAGS, 4) => about.direction = (order.u32(value, 0) & 3) as u8,
            _ => {}
        }
    }
    about
}
