//! 802.11 frames down to what they carry (IEEE 802.11-2020, clause 9).
//!
//! Addresses of the receiver and the transmitter identify the capture point. Those of the source and the
//! destination do not: in an A-MSDU they are in another place.

use super::airtime::Modulation;
use super::layers::Frame;
use super::tally::{Kind, Outcome};
use crate::Radio;

// Bits of the frame control field's second byte.
const TO_DS: u8 = 1;
const FROM_DS: u8 = 2;
const RETRY: u8 = 8;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;

/// A check sequence, bytes.
const FCS: usize = 4;
/// LLC and the organization of what has an Ethernet type behind it (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// Header of a frame within an A-MSDU, bytes.
const SUBFRAME: usize = 14;

/// What a radio header states of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reception {
    pub(super) modulation: Option<Modulation>,
    /// Part of an A-MPDU.
    pub(super) in_aggregate: bool,
    /// A check sequence is at the end.
    pub(super) fcs: bool,
    /// That check sequence was wrong.
    pub(super) damaged: bool,
    /// The header is padded to a multiple of four bytes.
    pub(super) padded: bool,
    /// There is no 802.11 frame behind this header.
    pub(super) empty: bool,
}

impl Frame<'_> {
    /// Parses an 802.11 frame that was received so.
    pub(super) fn received(&mut self, at: usize, how: &Reception) -> Option<Outcome> {
        if how.empty {
            return Some(Outcome::Other(Kind::WifiControl));
        }
        if how.damaged {
            return Some(Outcome::Other(Kind::WifiDamaged));
        }
        let [_, flags] = *self.head::<2>(at)?;
        let on_air = self.wire().checked_sub(at)?;
        let len = if how.fcs { on_air } else { on_air + FCS };
        let known =
            how.modulation.map(|one| (one.rate_kbit_s(), one.airtime_us(len, how.in_aggregate)));
        let (rate_kbit_s, airtime_us) = known.unwrap_or_default();
        let retry = flags & RETRY != 0;
        self.radio = Some(Radio { retry, rate_kbit_s, airtime_us, ..Radio::default() });
        if how.fcs {
            self.cut(self.wire().checked_sub(FCS)?);
        }
        self.wifi(at, how.padded)
    }

    /// Parses an 802.11 frame in a tunnel from an access point, where the bytes of the frame control field
    /// may be swapped: its version, the lowest two bits, is always zero, and data frames have
    /// [`TO_DS`] or [`FROM_DS`] there then.
    pub(super) fn tunnelled_wifi(&mut self, at: usize) -> Option<Outcome> {
        let [first, second] = *self.head::<2>(at)?;
        match first & 3 != 0 && second & 3 == 0 {
            true => self.wifi_of([second, first], at, false),
            false => self.wifi_of([first, second], at, false),
        }
    }

    fn wifi(&mut self, at: usize, padded: bool) -> Option<Outcome> {
        let control = *self.head::<2>(at)?;
        self.wifi_of(control, at, padded)
    }

    /// Parses an 802.11 header and what is behind it.
    fn wifi_of(&mut self, [kind, flags]: [u8; 2], at: usize, padded: bool) -> Option<Outcome> {
        const DATA: u8 = 2;
        const NO_DATA: u8 = 0x40;
        const QOS: u8 = 0x80;
        if self.too_deep() {
            return Some(Outcome::Other(Kind::NestedTooDeep));
        }
        if kind & 3 != 0 {
            return None;
        }
        if kind >> 2 & 3 != DATA || kind & NO_DATA != 0 {
            return Some(Outcome::Other(Kind::WifiControl));
        }
        // All but the first fragment have no header of IP.
        let control = u16::from_le_bytes(*self.head::<2>(at + 22)?);
        if control & 0xf != 0 {
            return Some(Outcome::Other(Kind::WifiFragment));
        }
        let mut len = if flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS { 30 } else { 24 };
        let mut qos = 0;
        if kind & QOS != 0 {
            qos = u16::from_le_bytes(*self.head::<2>(at + len)?);
            len += if flags & ORDER != 0 { 6 } else { 2 };
        }
        if let Some(radio) = &mut self.radio {
            (radio.sequence, radio.tid) = (control >> 4, (qos & 0xf) as u8);
        }
        self.mix_bytes::<12>(at + 4);
        let mut body = at + if padded { len.next_multiple_of(4) } else { len };
        let aggregated = qos & 0x80 != 0;
        if flags & PROTECTED != 0 {
            match self.decrypted(body, if aggregated { SUBFRAME } else { 0 }) {
                Some(at) => body = at,
                None => return Some(Outcome::Other(Kind::WifiEncrypted)),
            }
        }
        match aggregated {
            true => self.wifi_aggregate(body, qos),
            false => self.wifi_body(body, qos),
        }
    }

    /// Returns where the content of a protected frame begins if the receiver has decrypted it already: with
    /// or without the initialization vector of WEP (4 bytes) or TKIP, CCMP and GCMP (8).
    fn decrypted(&self, at: usize, before: usize) -> Option<usize> {
        let mut places = [at, at + 4, at + 8].into_iter();
        places.find(|place| self.head(place + before) == Some(&SNAP))
    }

    /// Parses LLC, perhaps behind a mesh control field (§9.2.4.7.3), which one bit of the QoS control field
    /// announces in a mesh and which means something else elsewhere.
    fn wifi_body(&mut self, at: usize, qos: u16) -> Option<Outcome> {
        const MESH: u16 = 0x100;
        let head = *self.head::<3>(at)?;
        if head != SNAP[..3] && qos & MESH != 0 && head[0] & 0xfc == 0 {
            let behind = at + 6 + 6 * usize::from(head[0] & 3);
            if self.head(behind) == Some(&SNAP) {
                return self.llc(behind);
            }
        }
        self.llc(at)
    }

    /// Parses the frames of an A-MSDU (§9.3.2.2); one TCP packet makes it a TCP frame.
    fn wifi_aggregate(&mut self, mut at: usize, qos: u16) -> Option<Outcome> {
        let (whole, before) = (self.bytes, self.nesting());
        let mut all = None;
        while let Some(head) = whole.get(at..at + SUBFRAME) {
            let len = SUBFRAME + usize::from(u16::from_be_bytes([head[12], head[13]]));
            self.bytes = whole.get(..at + len).unwrap_or(whole);
            self.set_nesting(before);
            let one = self.wifi_body(at + SUBFRAME, qos);
            // A frame that hides something is not counted by what else is in it.
            let hidden = one == Some(Outcome::Other(Kind::NestedTooDeep));
            if all.is_none() || one == Some(Outcome::Tcp) || hidden && all != Some(Outcome::Tcp) {
                all = one;
            }
            at += len.next_multiple_of(4);
        }
        self.bytes = whole;
        all
    }
}
