//! Rates and airtimes of 802.11 frames (IEEE 802.11-2020, clauses 15 to 19 and 21; IEEE 802.11ax-2021,
//! clause 27).
//!
//! Not modelled: more than one BCC encoder (6 bits a frame each), the extra LDPC symbol, and of HE frames
//! HE-SIG-B and the packet extension. EHT rates are unknown.

/// How the bits of a frame are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modulation {
    /// Bits of data in `per_ns`.
    bits: u32,
    per_ns: u32,
    /// The data part takes a whole number of these, ns.
    quantum_ns: u32,
    /// The data part is then rounded up to this, ns.
    grid_ns: u32,
    /// Preamble, headers and signal extension, ns.
    preamble_ns: u32,
    /// SERVICE field and tail, bits.
    overhead_bits: u32,
}

/// Modulation and coding of an index: bits per subcarrier, and the code rate as a fraction (tables 19-27,
/// 21-30 and 27-55).
const SCHEMES: [(u32, u32, u32); 14] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
    (12, 3, 4),
    (12, 5, 6),
];

/// Long training fields by number of space-time streams (tables 19-13 and 21-13).
const LONG_TRAINING: [u32; 9] = [0, 1, 2, 4, 4, 6, 6, 8, 8];

const SERVICE: u32 = 16;
const TAIL: u32 = 6;
/// Silence behind OFDM frames at 2.4 GHz (aSignalExtension), ns.
const SIGNAL_EXTENSION_NS: u32 = 6_000;
/// Legacy preamble and L-SIG, ns.
const LEGACY_NS: u32 = 20_000;

/// What HT, VHT and HE headers have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streams {
    /// Modulation and coding index of one stream.
    pub(super) mcs: usize,
    /// Spatial streams.
    pub(super) spatial: usize,
    /// Space-time block coding: two space-time streams for each spatial one.
    pub(super) stbc: bool,
    /// LDPC, otherwise BCC.
    pub(super) ldpc: bool,
    /// At 2.4 GHz.
    pub(super) low_band: bool,
}

impl Streams {
    /// Returns the data bits of a symbol of `subcarriers`; nothing if the index is not known.
    fn bits(&self, subcarriers: u32) -> Option<u32> {
        let (bits, part, whole) = *SCHEMES.get(self.mcs)?;
        let streams =
            u32::try_from(self.spatial).ok().filter(|streams| (1..=8).contains(streams))?;
        Some(subcarriers * bits * streams * part / whole)
    }

    fn long_training(&self) -> u32 {
        let streams = self.spatial * if self.stbc { 2 } else { 1 };
        LONG_TRAINING[streams.min(8)]
    }

    fn overhead(&self) -> u32 {
        SERVICE + if self.ldpc { 0 } else { TAIL }
    }

    fn extension_ns(&self) -> u32 {
        if self.low_band { SIGNAL_EXTENSION_NS } else { 0 }
    }
}

impl Modulation {
    /// Returns the modulation of a rate without streams, in 500 kbit/s: DSSS and HR/DSSS (§16.3.4), OFDM
    /// and ERP (§17.4.3, §18.5.3).
    pub(super) fn legacy(
        half_mbits: u32,
        short_preamble: bool,
        low_band: bool,
    ) -> Option<Modulation> {
        // Headers other than radiotap may state any number.
        let kbit_s = half_mbits.saturating_mul(500);
        match half_mbits {
            2 | 4 | 11 | 22 => Some(Modulation {
                bits: kbit_s,
                per_ns: 1_000_000,
                quantum_ns: 1_000,
                grid_ns: 1_000,
                preamble_ns: if short_preamble && half_mbits > 2 { 96_000 } else { 192_000 },
                overhead_bits: 0,
            }),
            12 | 18 | 24 | 36 | 48 | 72 | 96 | 108 => Some(Modulation {
                bits: kbit_s / 250,
                per_ns: 4_000,
                quantum_ns: 4_000,
                grid_ns: 4_000,
                preamble_ns: LEGACY_NS + if low_band { SIGNAL_EXTENSION_NS } else { 0 },
                overhead_bits: SERVICE + TAIL,
            }),
            _ => None,
        }
    }

    /// Returns the modulation of an HT frame (§19.4.3); `mcs` of `streams` counts from 0 to 32.
    pub(super) fn ht(
        mut streams: Streams,
        wide: bool,
        short_guard: bool,
        greenfield: bool,
    ) -> Option<Modulation> {
        let bits = match streams.mcs {
            mcs @ 0..32 => {
                (streams.mcs, streams.spatial) = (mcs % 8, mcs / 8 + 1);
                streams.bits(if wide { 108 } else { 52 })?
            }
            // The same on both halves of 40 MHz.
            32 => {
                streams.spatial = 1;
                24
            }
            _ => return None,
        };
        let training = 4_000 * streams.long_training();
        let preamble = match greenfield {
            // HT-GF-STF, the first long training field of twice the length, HT-SIG.
            true => 8_000 + 8_000 + 8_000 + training - 4_000,
            // HT-SIG, HT-STF.
            false => LEGACY_NS + 8_000 + 4_000 + training,
        };
        Some(Modulation::ht_like(streams, bits, short_guard, preamble))
    }

    /// Returns the modulation of a VHT frame (§21.4.3) in a channel of `mhz`.
    pub(super) fn vht(streams: Streams, mhz: u32, short_guard: bool) -> Option<Modulation> {
        let subcarriers = match mhz {
            20 => 52,
            40 => 108,
            80 => 234,
            160 => 468,
            _ => return None,
        };
        let bits = streams.bits(subcarriers)?;
        // VHT-SIG-A, VHT-STF, training, VHT-SIG-B.
        let preamble = LEGACY_NS + 8_000 + 4_000 + 4_000 * streams.long_training() + 4_000;
        Some(Modulation::ht_like(streams, bits, short_guard, preamble))
    }

    fn ht_like(streams: Streams, bits: u32, short_guard: bool, preamble_ns: u32) -> Modulation {
        let per_ns = if short_guard { 3_600 } else { 4_000 };
        Modulation {
            bits,
            per_ns,
            quantum_ns: if streams.stbc { 2 * per_ns } else { per_ns },
            grid_ns: 4_000,
            preamble_ns: preamble_ns + streams.extension_ns(),
            overhead_bits: streams.overhead(),
        }
    }

    /// Returns the modulation of an HE frame (§27.4.3).
    pub(super) fn he(streams: Streams, he: &He) -> Option<Modulation> {
        let bits = streams.bits(he.subcarriers)? / if he.dual_carrier { 2 } else { 1 };
        let per_ns = 12_800 + he.guard_ns;
        let fields = he.training.unwrap_or_else(|| streams.long_training());
        // RL-SIG, HE-SIG-A, HE-STF.
        let preamble = LEGACY_NS + 4_000 + he.signal_ns + he.training_short_ns;
        Some(Modulation {
            bits,
            per_ns,
            quantum_ns: if streams.stbc { 2 * per_ns } else { per_ns },
            grid_ns: 1,
            preamble_ns: preamble
                + fields * (he.training_ns + he.guard_ns)
                + streams.extension_ns(),
            overhead_bits: streams.overhead(),
        })
    }

    pub(super) fn rate_kbit_s(&self) -> u32 {
        let rate = u64::from(self.bits) * 1_000_000 / u64::from(self.per_ns);
        u32::try_from(rate).unwrap_or(u32::MAX)
    }

    /// Returns the time on the air of a frame of `len` bytes with its check sequence, us. A frame within an
    /// A-MPDU counts with its delimiter and padding, and without the preamble that all of these share.
    pub(super) fn airtime_us(&self, len: usize, in_aggregate: bool) -> u16 {
        let (bits, per_ns) = (u64::from(self.bits), u64::from(self.per_ns));
        let ns = if in_aggregate {
            let len = (len as u64 + 4).next_multiple_of(4);
            (8 * len * per_ns).div_ceil(bits)
        } else {
            let sent = 8 * len as u64 + u64::from(self.overhead_bits);
            let quantum = u64::from(self.quantum_ns);
            let data = (sent * per_ns).div_ceil(bits * quantum) * quantum;
            data.next_multiple_of(u64::from(self.grid_ns)) + u64::from(self.preamble_ns)
        };
        u16::try_from(ns.div_ceil(1_000)).unwrap_or(u16::MAX)
    }
}

/// What only HE frames have.
#[derive(Clone, Copy, Debug)]
pub(super) struct He {
    /// Subcarriers of data in the channel or the resource unit.
    pub(super) subcarriers: u32,
    /// Each bit is sent on two subcarriers.
    pub(super) dual_carrier: bool,
    /// Guard interval, ns.
    pub(super) guard_ns: u32,
    /// A long training field without its guard interval, ns.
    pub(super) training_ns: u32,
    /// Long training fields, if stated.
    pub(super) training: Option<u32>,
    /// HE-SIG-A, ns.
    pub(super) signal_ns: u32,
    /// HE-STF, ns.
    pub(super) training_short_ns: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(mcs: usize, spatial: usize) -> Streams {
        Streams { mcs, spatial, ..Streams::default() }
    }

    /// An HE frame with the shortest guard interval, in a channel of so many subcarriers.
    fn su(subcarriers: u32) -> He {
        He {
            subcarriers,
            dual_carrier: false,
            guard_ns: 800,
            training_ns: 6_400,
            training: None,
            signal_ns: 8_000,
            training_short_ns: 4_000,
        }
    }

    #[test]
    fn legacy_frames_take_the_times_of_the_standard() {
        let time = |half_mbits, short, low, len| {
            let modulation = Modulation::legacy(half_mbits, short, low).expect("a rate");
            assert_eq!(modulation.rate_kbit_s(), 500 * half_mbits);
            modulation.airtime_us(len, false)
        };
        // An ACK at 1 Mbit/s, which has no short preamble; data at 11 Mbit/s with both preambles.
        assert_eq!(time(2, false, true, 14), 304);
        assert_eq!(time(2, true, true, 14), 304);
        assert_eq!(time(22, false, true, 1_500), 192 + 1_091);
        assert_eq!(time(22, true, true, 1_500), 96 + 1_091);
        assert_eq!(time(11, true, true, 100), 96 + 146);
        // An ACK at 24 Mbit/s; data at 54 Mbit/s in both bands.
        assert_eq!(time(48, false, false, 14), 28);
        assert_eq!(time(108, false, false, 1_500), 244);
        assert_eq!(time(108, false, true, 1_500), 250);
        assert_eq!(Modulation::legacy(7, false, false), None);
        assert_eq!(Modulation::legacy(u32::MAX, false, false), None);
    }

    #[test]
    fn rates_with_streams_are_those_of_the_tables() {
        let ht = |mcs, wide, short| Modulation::ht(one(mcs, 0), wide, short, false);
        let rate = |modulation: Option<Modulation>| modulation.map(|one| one.rate_kbit_s());
        assert_eq!(rate(ht(7, false, false)), Some(65_000));
        assert_eq!(rate(ht(7, false, true)), Some(72_222));
        assert_eq!(rate(ht(15, true, true)), Some(300_000));
        assert_eq!(rate(ht(31, true, true)), Some(600_000));
        assert_eq!(rate(ht(32, true, false)), Some(6_000));
        assert_eq!(rate(ht(33, true, false)), None);
        let vht = |mcs, streams, mhz| Modulation::vht(one(mcs, streams), mhz, true);
        assert_eq!(rate(vht(8, 1, 20)), Some(86_666));
        assert_eq!(rate(vht(9, 1, 80)), Some(433_333));
        assert_eq!(rate(vht(9, 2, 160)), Some(1_733_333));
        assert_eq!(rate(vht(9, 0, 80)), None);
        assert_eq!(rate(vht(14, 1, 80)), None);
        assert_eq!(rate(Modulation::he(one(11, 1), &su(234))), Some(143_382));
        assert_eq!(rate(Modulation::he(one(11, 2), &su(980))), Some(1_200_955));
    }

    #[test]
    fn frames_with_streams_have_their_preambles() {
        let ht = |mcs, greenfield| Modulation::ht(one(mcs, 0), false, false, greenfield);
        let time =
            |modulation: Option<Modulation>| modulation.expect("known").airtime_us(1_500, false);
        // 47 symbols of 260 bits.
        assert_eq!(time(ht(7, false)), 36 + 188);
        assert_eq!(time(ht(7, true)), 24 + 188);
        // Of two streams 24 symbols, and one training field more; of three, four of these.
        assert_eq!(time(ht(15, false)), 40 + 96);
        assert_eq!(time(ht(23, false)), 48 + 64);
        // Short guard intervals: 47 * 3.6 us, up to a multiple of 4 us.
        assert_eq!(time(Modulation::ht(one(7, 0), false, true, false)), 36 + 172);
        // 8 symbols of 1560 bits; of HE 36 us, a training field of 7.2 us and 7 symbols of 13.6 us.
        assert_eq!(time(Modulation::vht(one(9, 1), 80, false)), 40 + 32);
        assert_eq!(time(Modulation::he(one(11, 1), &su(234))), 139);
        let low = Streams { low_band: true, ..one(7, 0) };
        assert_eq!(time(Modulation::ht(low, false, false, false)), 36 + 188 + 6);
    }

    #[test]
    fn frames_of_an_aggregate_share_a_preamble_and_symbols() {
        let modulation = Modulation::vht(one(9, 1), 80, false).expect("known");
        // 1504 bytes at 390 Mbit/s.
        assert_eq!(modulation.airtime_us(1_500, true), 31);
        assert_eq!(modulation.airtime_us(1_497, true), 31);
        assert_eq!(
            Modulation::legacy(2, false, true).map(|slow| slow.airtime_us(65_535, false)),
            Some(u16::MAX)
        );
    }
}
