//! Turns by a made-up link, whose totals are known.

use super::*;

const TURNS: Turns =
    Turns { length: Span::from_secs(60), settle: Span::from_secs(10), in_block: 2 };

/// A link that delivers `rate` bytes a second, more by turns, with noise of a hundredth.
struct MadeUp {
    totals: LinkTotals,
    word: u64,
}

impl MadeUp {
    fn pass(&mut self, rate: f64, air: f64, active: f64, rtt: f64) {
        self.word = mix(self.word);
        let noise = 1.0 + 0.01 * ((self.word >> 40) as f64 / (1_u64 << 24) as f64 - 0.5);
        let useful = rate * noise;
        let more = LinkTotals {
            useful_bytes: useful,
            air_bytes: air * useful,
            active_s: active * useful,
            others_rtt_s: rtt * noise,
            others_rtts: 1.0,
        };
        self.totals.add(&more);
    }
}

/// Turns of an hour on a link whose treated seconds have these values in place of 1.
fn hour(turns: Turns, seed: u64, [rate, air, active, rtt]: [f64; 4]) -> Switchback {
    let mut link = MadeUp { totals: LinkTotals::default(), word: seed };
    let mut switchback = Switchback::new(turns, seed, Time::ZERO);
    for second in 1..=3600_u64 {
        match switchback.is_treated() {
            true => link.pass(1e6 * rate, air, active, rtt),
            false => link.pass(1e6, 1.0, 1.0, 1.0),
        }
        switchback.advance(Time::ZERO + Span::from_secs(second), || link.totals);
    }
    switchback
}

#[test]
fn one_turn_of_each_block_is_untreated_at_random() {
    let turns = Turns { in_block: 5, ..TURNS };
    let untreated =
        |block: u64| (block * 5..block * 5 + 5).filter(|turn| !turns.is_treated(7, *turn));
    let positions: Vec<u64> =
        (0..200).flat_map(|block| untreated(block).map(|turn| turn % 5)).collect();
    assert_eq!(positions.len(), 200);
    for position in 0..5 {
        let count = positions.iter().filter(|one| **one == position).count();
        // A fifth of 200 is 40, give or take 5.7 (a standard deviation).
        assert!((20..60).contains(&count), "{position}: {count}");
    }
}

#[test]
fn effects_are_those_of_the_link_and_their_absence_is_shown() {
    for in_block in [2, 5] {
        let turns = Turns { in_block, ..TURNS };
        let compared = hour(turns, 3, [1.2, 1.5, 0.8, 2.0]).compare();
        assert_eq!(compared.blocks, 60 / in_block as usize);
        for (found, truth) in compared.log_ratios.into_iter().zip([1.2, 0.8, 1.5, 2.0]) {
            let found = found.expect("enough blocks");
            assert!((found.mean - portable::ln(truth)).abs() < 0.01, "{found:?} for {truth}");
        }
    }
}

#[test]
fn harm_to_the_link_its_airtime_and_its_neighbours_is_told_apart_from_a_price() {
    let harm = |values| hour(TURNS, 5, values).harm(0.99, 8);
    assert_eq!(harm([0.9, 1.0, 1.0, 1.0]), Some(Outcome::Goodput));
    assert_eq!(harm([1.0, 1.0, 1.1, 1.0]), Some(Outcome::TimePerByte));
    assert_eq!(harm([1.0, 1.77, 1.0, 1.0]), Some(Outcome::AirPerByte), "waste");
    assert_eq!(harm([1.5, 1.77, 0.7, 1.0]), None, "a price of a gain");
    assert_eq!(harm([1.0, 1.0, 1.0, 1.4]), Some(Outcome::OthersDelay));
    assert_eq!(harm([1.5, 1.02, 0.7, 1.1]), None);
    assert_eq!(hour(TURNS, 5, [0.5, 1.0, 1.0, 1.0]).harm(0.99, 31), None, "too few blocks");
}

#[test]
fn a_remedy_without_effect_is_seldom_blamed() {
    let blamed = (0..200).filter(|seed| hour(TURNS, *seed, [1.0; 4]).harm(0.99, 8).is_some());
    // An interval of 99 % errs to one side in one of 200; two outcomes are looked at without a margin.
    let blamed = blamed.count();
    assert!(blamed <= 6, "{blamed}");
}

#[test]
fn a_clock_that_jumps_over_turns_leaves_no_block_half_counted() {
    let mut switchback = Switchback::new(TURNS, 1, Time::ZERO);
    for minutes in (0..600).step_by(3) {
        switchback.advance(Time::ZERO + Span::from_secs(60 * minutes), LinkTotals::default);
    }
    assert_eq!(switchback.compare(), LinkCompared::default());
}
