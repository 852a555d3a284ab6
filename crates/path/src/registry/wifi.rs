//! Wi-Fi. Clauses and tables are those of IEEE 802.11-2020.

use super::MediumKnobs;
use crate::medium::{Aggregation, Background, MediumConfig, OnOff, WifiConfig};
use ackord_units::{Bytes, Contradiction, Knobs, RandomStream, Rate, Ratio, Span};

/// IEEE 802.11: both directions contend for one half-duplex medium, every frame is
/// acknowledged and tried again; the link's rate is the PHY rate
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "medium", name = "wifi",
    source = "IEEE 802.11-2020 §10.3", check = Self::in_order
)]
pub struct WifiKnobs {
    /// Slot time
    #[knob(
        min = Span::from_micros(1), max = Span::from_millis(1), default = "9 us",
        source = "Table 17-21"
    )]
    slot: Span,
    /// Between a frame and its link acknowledgment
    #[knob(min = Span::ZERO, max = Span::from_millis(1), default = "16 us", source = "Table 17-21")]
    sifs: Span,
    /// Idle time before backoff counters run
    #[knob(
        min = Span::ZERO, max = Span::from_millis(1), default = "34 us",
        source = "§10.3.2.3.5: SIFS and two slots"
    )]
    difs: Span,
    /// First contention window; not above `cw_max`
    #[knob(min = 0, max = 32_767, unit = "slots", default = "15", source = "Table 17-21")]
    cw_min: u32,
    /// Largest contention window
    #[knob(min = 0, max = 32_767, unit = "slots", default = "1023", source = "Table 17-21")]
    cw_max: u32,
    /// How often a frame is retransmitted before it is given up
    #[knob(
        min = 0,
        max = 255,
        unit = "times",
        default = "7",
        source = "dot11ShortRetryLimit, Annex C"
    )]
    retries: u32,
    /// Before the payload of a data frame; 36 us for 802.11n with one stream
    #[knob(
        min = Span::ZERO, max = Span::from_millis(1), default = "20 us",
        source = "§17.3.2; §19.3.9"
    )]
    preamble: Span,
    /// One OFDM symbol
    #[knob(
        min = Span::from_micros(1), max = Span::from_millis(1), default = "4 us",
        source = "Table 17-5"
    )]
    symbol: Span,
    /// Rate of link acknowledgments
    #[knob(
        min = Rate::from_bits_per_sec(1_000_000), max = Rate::from_bits_per_sec(1_000_000_000),
        default = "24 Mbit/s",
        source = "§10.6.6.5.2: the highest mandatory rate not above the data's"
    )]
    basic_rate: Rate,
    /// What a frame has beside the IP packet: MAC header, LLC/SNAP, FCS
    #[knob(min = Bytes(0), max = Bytes(200), default = "36 B", source = "§9.2.3")]
    mac_overhead: Bytes,
    /// Probability that a frame is damaged, at every attempt anew
    #[knob(default = "0 %", source = "set by the scenario")]
    frame_error: Ratio,
    /// Probability that a bit of a frame is damaged, at every attempt anew
    #[knob(default = "0 %", source = "set by the scenario")]
    bit_error: Ratio,
    /// Frames in one transmission (A-MPDU), with a block acknowledgment from 2 on
    #[knob(min = 1, max = 64, unit = "frames", default = "1", source = "§9.7, §10.12")]
    aggregate_frames: u32,
    /// Bytes in one transmission, delimiters and padding included
    #[knob(
        min = Bytes(1), max = Bytes(1_048_575), default = "65535 B",
        source = "Table 9-184: Maximum A-MPDU Length Exponent 3"
    )]
    aggregate_bytes: Bytes,
    /// Others that contend for the medium
    #[knob(min = 0, max = 100, unit = "stations", default = "0", source = "set by the scenario")]
    stations: u32,
    /// The IP packets the others send, one a frame
    #[knob(min = Bytes(1), max = Bytes(2_304), default = "1500 B", source = "Ethernet's MTU")]
    station_packet: Bytes,
    /// PHY rate of the others; the link's own when absent
    #[knob(
        min = Rate::from_bits_per_sec(1_000_000), max = Rate::from_bits_per_sec(10_000_000_000),
        source = "this project"
    )]
    station_rate: Option<Rate>,
    /// Mean time the others have frames to send, evenly from 0 to twice that; always when absent
    #[knob(min = Span::from_millis(1), max = Span::from_secs(1_000), source = "this project")]
    station_on: Option<Span>,
    /// Mean time between those times, evenly from 0 to twice that
    #[knob(
        min = Span::ZERO, max = Span::from_secs(1_000), default = "1 s",
        source = "this project"
    )]
    station_off: Span,
}

impl WifiKnobs {
    fn in_order(&self) -> Result<(), Contradiction> {
        let (min, max) = (self.cw_min, self.cw_max);
        if min > max {
            let why = format!("`cw_min` is {min} and above `cw_max`, {max}");
            return Err(Contradiction::new(why, "a `cw_min` that is not above `cw_max`"));
        }
        Ok(())
    }

    /// The others on the medium, if there are any.
    fn background(&self, rate: Rate) -> Option<Background> {
        (self.stations > 0).then(|| Background {
            stations: self.stations,
            packet: self.station_packet,
            rate: self.station_rate.unwrap_or(rate),
            on_off: self.station_on.map(|on| OnOff { on, off: self.station_off }),
        })
    }

    fn config(&self, rate: Rate, stream: RandomStream) -> WifiConfig {
        let aggregation =
            Aggregation { frames: self.aggregate_frames, bytes: self.aggregate_bytes };
        WifiConfig {
            slot: self.slot,
            sifs: self.sifs,
            difs: self.difs,
            cw_min_slots: self.cw_min,
            cw_max_slots: self.cw_max,
            retries: self.retries,
            preamble: self.preamble,
            symbol: self.symbol,
            basic_rate: self.basic_rate,
            mac_overhead: self.mac_overhead,
            frame_error: self.frame_error,
            bit_error: self.bit_error,
            aggregation: Some(aggregation).filter(|limit| limit.frames > 1),
            background: self.background(rate),
            stream,
        }
    }
}

impl MediumKnobs for WifiKnobs {
    fn shared(&self, rate: Rate, stream: RandomStream) -> Option<MediumConfig> {
        Some(MediumConfig::Wifi(Box::new(self.config(rate, stream))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(knobs: &WifiKnobs) -> WifiConfig {
        knobs.config(Rate::from_mbits_per_sec(65), RandomStream::for_element(1, "medium"))
    }

    #[test]
    fn the_registered_defaults_are_the_elements_own() {
        let built = build(&WifiKnobs::default());
        let own = WifiConfig { stream: built.stream.clone(), ..WifiConfig::default() };
        assert_eq!(format!("{built:?}"), format!("{own:?}"));
    }

    #[test]
    fn knobs_reach_the_element() {
        let built = build(&WifiKnobs {
            aggregate_frames: 8,
            stations: 2,
            station_on: Some(Span::from_millis(20)),
            ..WifiKnobs::default()
        });
        assert_eq!(built.aggregation.map(|limit| limit.frames), Some(8));
        let background = built.background.expect("two stations");
        assert_eq!((background.stations, background.rate), (2, Rate::from_mbits_per_sec(65)));
        assert_eq!(background.on_off.map(|times| times.off), Some(Span::from_secs(1)));
    }

    #[test]
    fn a_first_window_above_the_largest_is_a_problem() {
        let reversed = WifiKnobs { cw_min: 2_047, ..WifiKnobs::default() };
        let refused = reversed.check().expect_err("above the largest").why;
        assert_eq!(refused, "`cw_min` is 2047 and above `cw_max`, 1023");
        assert_eq!(WifiKnobs::default().check(), Ok(()));
    }
}
