//! Media that links share, with their knobs. Clauses and tables are those of IEEE 802.11-2020.

use super::{BuildError, needed, optional};
use crate::medium::{Aggregation, Background, MediumConfig, OnOff, WifiConfig};
use crate::random::Stream;
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Rate, Span};

const fn knob(
    name: &'static str,
    kind: KnobKind,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Knob {
    Knob { name, kind, default, doc, source }
}

const fn count(unit: &'static str, min: u64, max: u64) -> KnobKind {
    KnobKind::Count { unit, min, max }
}

const fn span(min: Span) -> KnobKind {
    KnobKind::Span { min, max: Span::from_millis(1) }
}

/// Media that both directions of a link share.
pub static MEDIUM: &[Mechanism] = &[WIFI, super::cellular::CELLULAR];

const WIFI: Mechanism = Mechanism {
    name: "wifi",
    family: "medium",
    summary: "IEEE 802.11: both directions contend for one half-duplex medium, every frame is \
              acknowledged and tried again; the link's rate is the PHY rate",
    source: "IEEE 802.11-2020 §10.3",
    knobs: &[
        knob("slot", span(Span::from_micros(1)), "9 us", "Slot time", "Table 17-21"),
        knob(
            "sifs",
            span(Span::ZERO),
            "16 us",
            "Between a frame and its link acknowledgment",
            "Table 17-21",
        ),
        knob(
            "difs",
            span(Span::ZERO),
            "34 us",
            "Idle time before backoff counters run",
            "§10.3.2.3.5: SIFS and two slots",
        ),
        knob(
            "cw_min",
            count("slots", 0, 32_767),
            "15",
            "First contention window; not above `cw_max`",
            "Table 17-21",
        ),
        knob(
            "cw_max",
            count("slots", 0, 32_767),
            "1023",
            "Largest contention window",
            "Table 17-21",
        ),
        knob(
            "retries",
            count("times", 0, 255),
            "7",
            "How often a frame is sent again before it is given up",
            "dot11ShortRetryLimit, Annex C",
        ),
        knob(
            "preamble",
            span(Span::ZERO),
            "20 us",
            "Before the payload of a data frame; 36 us for 802.11n with one stream",
            "§17.3.2; §19.3.9",
        ),
        knob("symbol", span(Span::from_micros(1)), "4 us", "One OFDM symbol", "Table 17-5"),
        knob(
            "basic_rate",
            KnobKind::Rate {
                min: Rate::from_bits_per_sec(1_000_000),
                max: Rate::from_bits_per_sec(1_000_000_000),
            },
            "24 Mbit/s",
            "Rate of link acknowledgments",
            "§10.6.6.5.2: the highest mandatory rate not above the data's",
        ),
        knob(
            "mac_overhead",
            KnobKind::Bytes { min: Bytes(0), max: Bytes(200) },
            "36 B",
            "What a frame has beside the IP packet: MAC header, LLC/SNAP, FCS",
            "§9.2.3",
        ),
        knob(
            "frame_error",
            KnobKind::Ratio,
            "0 %",
            "Probability that a frame is damaged, at every attempt anew",
            "set by the scenario",
        ),
        knob(
            "bit_error",
            KnobKind::Ratio,
            "0 %",
            "Probability that a bit of a frame is damaged, at every attempt anew",
            "set by the scenario",
        ),
        knob(
            "aggregate_frames",
            count("frames", 1, 64),
            "1",
            "Frames in one transmission (A-MPDU), with a block acknowledgment from 2 on",
            "§9.7, §10.12",
        ),
        knob(
            "aggregate_bytes",
            KnobKind::Bytes { min: Bytes(1), max: Bytes(1_048_575) },
            "65535 B",
            "Bytes in one transmission, delimiters and padding included",
            "Table 9-184: Maximum A-MPDU Length Exponent 3",
        ),
        knob(
            "stations",
            count("stations", 0, 100),
            "0",
            "Others that contend for the medium",
            "set by the scenario",
        ),
        knob(
            "station_packet",
            KnobKind::Bytes { min: Bytes(1), max: Bytes(2_304) },
            "1500 B",
            "The IP packets the others send, one a frame",
            "Ethernet's MTU",
        ),
        knob(
            "station_rate",
            KnobKind::Rate {
                min: Rate::from_bits_per_sec(1_000_000),
                max: Rate::from_bits_per_sec(10_000_000_000),
            },
            "",
            "PHY rate of the others; the link's own when absent",
            "this project",
        ),
        knob(
            "station_on",
            KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(1_000) },
            "",
            "Mean time the others have frames to send, evenly from 0 to twice that; always when \
             absent",
            "this project",
        ),
        knob(
            "station_off",
            KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1_000) },
            "1 s",
            "Mean time between those times, evenly from 0 to twice that",
            "this project",
        ),
    ],
};

/// What is wrong with a medium as a whole, each knob being valid by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MediumProblem {
    /// The first contention window is larger than the largest.
    #[error("`cw_min` is {min} and above `cw_max`, {max}")]
    WindowsReversed {
        /// First window, slots.
        min: u64,
        /// Largest window, slots.
        max: u64,
    },
}

impl MediumProblem {
    /// What would be right.
    pub const ALLOWED: &'static str = "a `cw_min` that is not above `cw_max`";
}

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_medium(choice: &Choice) -> Result<(), MediumProblem> {
    if !medium_is_shared(choice) {
        return Ok(());
    }
    let slots = |knob| choice.value(knob).and_then(|value| value.as_count()).unwrap_or(0);
    let (min, max) = (slots("cw_min"), slots("cw_max"));
    if min > max { Err(MediumProblem::WindowsReversed { min, max }) } else { Ok(()) }
}

/// Whether both directions take turns on it; if not, each has a transmitter of its own.
pub fn medium_is_shared(choice: &Choice) -> bool {
    choice.mechanism.name == WIFI.name
}

/// The medium somebody chose for a link of this rate, drawing from a stream of its own.
pub fn build_medium(
    choice: &Choice,
    rate: Rate,
    stream: Stream,
) -> Result<MediumConfig, BuildError> {
    match choice.mechanism.name {
        "wifi" => wifi(choice, rate, stream).map(|config| MediumConfig::Wifi(Box::new(config))),
        name => Err(BuildError::UnknownMechanism { family: "medium", name: name.to_owned() }),
    }
}

fn wifi(choice: &Choice, rate: Rate, stream: Stream) -> Result<WifiConfig, BuildError> {
    let span = |knob| needed(choice, knob, KnobValue::as_span);
    let count = |knob| {
        needed(choice, knob, KnobValue::as_count).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
    };
    let bytes = |knob| needed(choice, knob, KnobValue::as_bytes);
    let ratio = |knob| needed(choice, knob, KnobValue::as_ratio);
    let aggregation =
        Aggregation { frames: count("aggregate_frames")?, bytes: bytes("aggregate_bytes")? };
    Ok(WifiConfig {
        slot: span("slot")?,
        sifs: span("sifs")?,
        difs: span("difs")?,
        cw_min_slots: count("cw_min")?,
        cw_max_slots: count("cw_max")?,
        retries: count("retries")?,
        preamble: span("preamble")?,
        symbol: span("symbol")?,
        basic_rate: needed(choice, "basic_rate", KnobValue::as_rate)?,
        mac_overhead: bytes("mac_overhead")?,
        frame_error: ratio("frame_error")?,
        bit_error: ratio("bit_error")?,
        aggregation: Some(aggregation).filter(|limit| limit.frames > 1),
        background: background(choice, rate, count("stations")?)?,
        stream,
    })
}

fn background(
    choice: &Choice,
    rate: Rate,
    stations: u32,
) -> Result<Option<Background>, BuildError> {
    if stations == 0 {
        return Ok(None);
    }
    let off = needed(choice, "station_off", KnobValue::as_span)?;
    let on = optional(choice, "station_on", KnobValue::as_span)?;
    Ok(Some(Background {
        stations,
        packet: needed(choice, "station_packet", KnobValue::as_bytes)?,
        rate: optional(choice, "station_rate", KnobValue::as_rate)?.unwrap_or(rate),
        on_off: on.map(|on| OnOff { on, off }),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(choice: &Choice) -> WifiConfig {
        let rate = Rate::from_mbits_per_sec(65);
        let built = build_medium(choice, rate, Stream::for_element(1, "medium"));
        let MediumConfig::Wifi(config) = built.expect("valid knobs");
        *config
    }

    #[test]
    fn the_registered_defaults_are_the_elements_own() {
        let built = build(&Choice::of(&MEDIUM[0]));
        let own = WifiConfig { stream: built.stream.clone(), ..WifiConfig::default() };
        assert_eq!(format!("{built:?}"), format!("{own:?}"));
    }

    #[test]
    fn knobs_reach_the_element() {
        let choice = Choice::of(&MEDIUM[0])
            .with("aggregate_frames", KnobValue::Count(8))
            .with("stations", KnobValue::Count(2))
            .with("station_on", KnobValue::Span(Span::from_millis(20)));
        let built = build(&choice);
        assert_eq!(built.aggregation.map(|limit| limit.frames), Some(8));
        let background = built.background.expect("two stations");
        assert_eq!((background.stations, background.rate), (2, Rate::from_mbits_per_sec(65)));
        assert_eq!(background.on_off.map(|times| times.off), Some(Span::from_secs(1)));
    }

    #[test]
    fn a_first_window_above_the_largest_is_a_problem() {
        let choice = Choice::of(&MEDIUM[0]).with("cw_min", KnobValue::Count(2_047));
        let problem = MediumProblem::WindowsReversed { min: 2_047, max: 1_023 };
        assert_eq!(check_medium(&choice), Err(problem));
        assert_eq!(check_medium(&Choice::of(&MEDIUM[0])), Ok(()));
    }
}
