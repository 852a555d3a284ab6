//! Headers that receivers of 802.11 put before frames: radiotap, PPI, Prism and AVS.

use super::airtime::{He, Modulation, Streams};
use super::layers::Frame;
use super::tally::Outcome;
use super::wifi::Reception;

/// Alignment and length of the fields of radiotap, by their bit (<https://www.radiotap.org/fields/defined>).
const FIELDS: [(usize, usize); 28] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (2, 4),
    (1, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (4, 8),
    (1, 3),
    (4, 8),
    (2, 12),
    (8, 12),
    (2, 12),
    (2, 12),
    (2, 6),
    (1, 1),
    (2, 4),
];

/// Fields of one radiotap header that matter here.
#[derive(Default)]
struct Tapped {
    how: Reception,
    short_preamble: bool,
    low_band: bool,
    rate: u32,
    ht: Option<[u8; 3]>,
    vht: Option<[u8; 12]>,
    he: Option<[u8; 12]>,
}

impl Frame<'_> {
    /// Parses a radiotap header and the frame behind it. Only fields that the first word announces are
    /// read; those of other words follow them.
    pub(super) fn radiotap(&mut self) -> Option<Outcome> {
        const MORE: u32 = 1 << 31;
        let head = *self.head::<8>(0)?;
        let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
        if head[0] != 0 || len < 8 {
            return None;
        }
        let header = self.bytes.get(..len)?;
        let first = little(header, 4)?;
        let (mut word, mut at) = (first, 8);
        while word & MORE != 0 {
            word = little(header, at)?;
            at += 4;
        }
        let mut tapped = Tapped::default();
        for (bit, (align, field_len)) in FIELDS.iter().enumerate() {
            if first & 1 << bit == 0 {
                continue;
            }
            at = at.next_multiple_of(*align);
            tapped.field(bit, header.get(at..at + field_len)?);
            at += field_len;
        }
        self.received(len, &tapped.reception())
    }

    /// Parses a PPI header (Per-Packet Information 1.0.10), which may precede frames of any link type.
    pub(super) fn ppi(&mut self) -> Option<Outcome> {
        const COMMON: u16 = 2;
        const HT_MAC: u16 = 3;
        const HT_MAC_AND_PHY: u16 = 4;
        const WIFI: u32 = 105;
        let head = *self.head::<8>(0)?;
        let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let header = self.bytes.get(..len)?;
        let link = little(&head, 4)?;
        if head[0] != 0 || len < 8 {
            return None;
        }
        if link != WIFI {
            return self.behind(len, link as u16);
        }
        let mut tapped = Tapped::default();
        let mut at = 8;
        while let Some(&[k0, k1, l0, l1]) = header.get(at..).and_then(|rest| rest.first_chunk()) {
            let field = header.get(at + 4..).unwrap_or(&[]);
            match (u16::from_le_bytes([k0, k1]), field) {
                (COMMON, [_, _, _, _, _, _, _, _, f0, _, r0, r1, c0, c1, ..]) => {
                    tapped.how.fcs = f0 & 1 != 0;
                    tapped.how.damaged = f0 & 4 != 0;
                    tapped.rate = u32::from(u16::from_le_bytes([*r0, *r1]));
                    tapped.low_band = is_low_band(u16::from_le_bytes([*c0, *c1]));
                }
                (kind @ (HT_MAC | HT_MAC_AND_PHY), [flags, _, _, _, _, _, _, _, _, mcs, ..]) => {
                    tapped.how.in_aggregate = flags & 0x10 != 0;
                    // As radiotap has it: what is known, bandwidth and guard interval, index.
                    let bits = (flags >> 1 & 1) | (flags & 4) | (flags & 1) << 3;
                    let known = if kind == HT_MAC_AND_PHY { 2 } else { 0 };
                    tapped.ht = (known != 0).then_some([known, bits, *mcs]);
                }
                _ => {}
            }
            at += 4 + usize::from(u16::from_le_bytes([l0, l1]));
        }
        self.received(len, &tapped.reception())
    }

    /// Parses a Prism header: 24 bytes, then items of 12 of which one is the rate. Its byte order is that of
    /// the machine that captured. An AVS header may stand in its place.
    pub(super) fn prism(&mut self) -> Option<Outcome> {
        const RATES: [u32; 2] = [0x0008_0044, 0x0000_8041];
        let head = *self.head::<24>(0)?;
        if is_avs(&head) {
            return self.avs();
        }
        let swapped = little(&head, 4)? > 0xffff;
        let word = |at: usize| {
            little(self.bytes, at).map(|word| if swapped { word.swap_bytes() } else { word })
        };
        let len = word(4)? as usize;
        if !(24..=0xffff).contains(&len) {
            return None;
        }
        let mut tapped = Tapped::default();
        for at in (24..len.min(self.bytes.len())).step_by(12) {
            if RATES.contains(&word(at)?) {
                tapped.rate = word(at + 8)?;
            }
        }
        self.received(len, &tapped.reception())
    }

    /// Parses an AVS header, versions 1 and 2. It gives rates in 100 kbit/s.
    pub(super) fn avs(&mut self) -> Option<Outcome> {
        let head = *self.head::<64>(0)?;
        let word = |at: usize| little(&head, at).map_or(0, u32::swap_bytes);
        let len = word(4) as usize;
        if !is_avs(&head[..24]) || !(64..=0xffff).contains(&len) {
            return None;
        }
        let tapped = Tapped {
            rate: word(32) / 5,
            short_preamble: word(56) == 1,
            // Only one of its kinds of radio, OFDM of 802.11a, is of the other band.
            low_band: word(24) != 8,
            ..Tapped::default()
        };
        self.received(len, &tapped.reception())
    }
}

fn is_avs(head: &[u8]) -> bool {
    matches!(head, [0x80, 0x21, 0x10, _, ..])
}

fn is_low_band(mhz: u16) -> bool {
    (2_000..3_000).contains(&mhz)
}

/// Returns the little-endian word at `at`.
fn little(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

impl Tapped {
    /// Takes in a field of radiotap, which has the length that its bit demands.
    fn field(&mut self, bit: usize, value: &[u8]) {
        match bit {
            1 => {
                let flags = value[0];
                self.short_preamble = flags & 0x02 != 0;
                self.how.fcs = flags & 0x10 != 0;
                self.how.padded = flags & 0x20 != 0;
                self.how.damaged = flags & 0x40 != 0;
            }
            2 => self.rate = u32::from(value[0]),
            3 => self.low_band = is_low_band(u16::from_le_bytes([value[0], value[1]])),
            19 => self.ht = value.try_into().ok(),
            20 => self.how.in_aggregate = true,
            21 => self.vht = value.try_into().ok(),
            23 => self.he = value.try_into().ok(),
            26 => self.how.empty = true,
            _ => {}
        }
    }

    fn reception(&self) -> Reception {
        let modulation = match (self.he, self.vht, self.ht) {
            (Some(he), ..) => self.he(&he),
            (_, Some(vht), _) => self.vht(&vht),
            (.., Some(ht)) => self.ht(ht),
            _ => Modulation::legacy(self.rate, self.short_preamble, self.low_band),
        };
        Reception { modulation, ..self.how }
    }

    fn ht(&self, [known, flags, mcs]: [u8; 3]) -> Option<Modulation> {
        if known & 2 == 0 {
            return None;
        }
        let streams = Streams {
            mcs: usize::from(mcs),
            spatial: 0,
            stbc: flags & 0x60 != 0,
            ldpc: flags & 0x10 != 0,
            low_band: self.low_band,
        };
        Modulation::ht(streams, flags & 3 == 1, flags & 4 != 0, flags & 8 != 0)
    }

    /// Of several users the first that is there.
    fn vht(&self, field: &[u8; 12]) -> Option<Modulation> {
        let user = (0..4).find(|user| field[4 + user] & 0xf != 0)?;
        let (flags, rates) = (field[2], field[4 + user]);
        let streams = Streams {
            mcs: usize::from(rates >> 4),
            spatial: usize::from(rates & 0xf),
            stbc: flags & 1 != 0,
            ldpc: field[8] >> user & 1 != 0,
            low_band: self.low_band,
        };
        let mhz = match field[3] {
            0 | 2 | 3 | 7..=10 | 18..=25 => 20,
            1 | 5 | 6 | 14..=17 => 40,
            4 | 12 | 13 => 80,
            11 => 160,
            _ => return None,
        };
        Modulation::vht(streams, mhz, flags & 4 != 0)
    }

    fn he(&self, field: &[u8; 12]) -> Option<Modulation> {
        const INDEX_KNOWN: u16 = 0x0020;
        const WIDTH_KNOWN: u16 = 0x4000;
        const GUARD_KNOWN: u16 = 0x0002;
        const TRAINING_KNOWN: u16 = 0x0004;
        let word = |at: usize| u16::from_le_bytes([field[2 * at], field[2 * at + 1]]);
        let (known, also_known, data, shape) = (word(0), word(1), word(2), word(4));
        if known & INDEX_KNOWN == 0 || known & WIDTH_KNOWN == 0 || also_known & GUARD_KNOWN == 0 {
            return None;
        }
        let stbc = data & 0x8000 != 0;
        let space_time = usize::from(word(5) & 0xf);
        let streams = Streams {
            mcs: usize::from(data >> 8 & 0xf),
            spatial: if stbc { space_time.div_ceil(2) } else { space_time },
            stbc,
            ldpc: data & 0x2000 != 0,
            low_band: self.low_band,
        };
        let subcarriers = *[234, 468, 980, 1_960, 24, 48, 102, 234, 468, 980, 1_960]
            .get(usize::from(shape & 0xf))?;
        let he = He {
            subcarriers,
            dual_carrier: data & 0x1000 != 0,
            guard_ns: *[800, 1_600, 3_200].get(usize::from(shape >> 4 & 3))?,
            // Where unknown, the size that is most in use.
            training_ns: [6_400, 3_200, 6_400, 12_800][usize::from(shape >> 6 & 3)],
            training: (also_known & TRAINING_KNOWN != 0)
                .then(|| [1, 2, 4, 6, 8, 8, 8, 8][usize::from(shape >> 8 & 7)]),
            signal_ns: if known & 3 == 1 { 16_000 } else { 8_000 },
            training_short_ns: if known & 3 == 3 { 8_000 } else { 4_000 },
        };
        Modulation::he(streams, &he)
    }
}
