//! How long an 802.11 frame exchange takes on the air: OFDM framing (IEEE 802.11-2020 §17.3, §19.3).

use super::config::WifiConfig;
use ackord_units::{Bytes, Rate, Span};

/// SERVICE and tail bits around a PSDU (§17.3.2.2).
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;
/// Acknowledgments go out in the legacy OFDM format: training and SIGNAL (§17.3.2).
const LEGACY_PREAMBLE: Span = Span::from_micros(20);
/// Symbols of that format (Table 17-5).
const LEGACY_SYMBOL: Span = Span::from_micros(4);
/// Length of an Ack frame (§9.3.1.4).
const ACK_BYTES: u64 = 14;
/// Length of a compressed BlockAck frame (§9.3.1.8.2).
const BLOCK_ACK_BYTES: u64 = 32;
/// Delimiter before each MPDU of an A-MPDU (§9.7.1); MPDUs are padded to multiples of it.
const DELIMITER_BYTES: u64 = 4;

/// Whether MPDUs travel alone or in an A-MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Single,
    Aggregated,
}

/// Works out times on the air.
#[derive(Clone, Debug)]
pub(super) struct Airtime {
    preamble: Span,
    symbol: Span,
    overhead: u64,
    framing: Framing,
    /// SIFS and the acknowledgment.
    response: Span,
}

impl Airtime {
    pub(super) fn new(config: &WifiConfig) -> Airtime {
        let (framing, ack) = match config.aggregation {
            None => (Framing::Single, ACK_BYTES),
            Some(_) => (Framing::Aggregated, BLOCK_ACK_BYTES),
        };
        let ack = LEGACY_PREAMBLE + payload_time(ack, config.basic_rate, LEGACY_SYMBOL);
        Airtime {
            preamble: config.preamble,
            symbol: config.symbol,
            overhead: config.mac_overhead.get(),
            framing,
            response: config.sifs + ack,
        }
    }

    pub(super) fn framing(&self) -> Framing {
        self.framing
    }

    /// What a packet of this length adds to the payload of a transmission.
    pub(super) fn psdu_bytes(&self, ip_len: u32) -> u64 {
        let mpdu = self.mpdu_bytes(ip_len);
        match self.framing {
            Framing::Single => mpdu,
            Framing::Aggregated => DELIMITER_BYTES + mpdu.next_multiple_of(DELIMITER_BYTES),
        }
    }

    /// Length of the frame that carries a packet.
    pub(super) fn mpdu_bytes(&self, ip_len: u32) -> u64 {
        u64::from(ip_len) + self.overhead
    }

    /// From the first symbol of the preamble to the end of the payload.
    pub(super) fn data(&self, psdu_bytes: u64, rate: Rate) -> Span {
        self.preamble + payload_time(psdu_bytes, rate, self.symbol)
    }

    /// From the end of the payload to the end of the acknowledgment. Where none comes, the sender's
    /// ACK timeout and everybody else's EIFS keep the medium for as long (§10.3.2.3.7, §10.3.2.11).
    pub(super) fn response(&self) -> Span {
        self.response
    }
}

/// A whole number of symbols (§17.3.5.4).
fn payload_time(bytes: u64, rate: Rate, symbol: Span) -> Span {
    let bits = u128::from(SERVICE_AND_TAIL_BITS + Bytes(bytes).bits());
    // Bits per symbol times 10^9, so that a rate that does not divide evenly loses nothing.
    let per_symbol = u128::from(rate.as_bits_per_sec()) * u128::from(symbol.as_nanos());
    let symbols = (bits * 1_000_000_000).div_ceil(per_symbol);
    symbol.saturating_mul(u64::try_from(symbols).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn airtime() -> Airtime {
        Airtime::new(&WifiConfig::default())
    }

    #[test]
    fn known_frames_take_their_known_times() {
        // 1500 bytes of IP are 1536 of MPDU: 12 310 bits in 57 symbols of 216 at 54 Mbit/s; in 513
        // of 24 at 6 Mbit/s.
        let psdu = airtime().psdu_bytes(1_500);
        let at = |mbits| airtime().data(psdu, Rate::from_mbits_per_sec(mbits));
        assert_eq!(at(54), Span::from_micros(20 + 57 * 4));
        assert_eq!(at(6), Span::from_micros(20 + 513 * 4));
        // 14 bytes at 24 Mbit/s: 134 bits in two symbols of 96, after 16 us of SIFS.
        assert_eq!(airtime().response(), Span::from_micros(16 + 28));
    }

    #[test]
    fn an_aggregate_pads_its_frames_and_is_answered_by_a_block_ack() {
        let config = WifiConfig { aggregation: Some(Default::default()), ..WifiConfig::default() };
        let airtime = Airtime::new(&config);
        // 77 bytes of MPDU, padded to 80, behind a delimiter of 4.
        assert_eq!(airtime.psdu_bytes(41), 84);
        // 32 bytes at 24 Mbit/s: 278 bits in three symbols.
        assert_eq!(airtime.response(), Span::from_micros(16 + 32));
    }
}
