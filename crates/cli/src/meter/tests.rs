//! The picture for any data and any size of terminal, and what the keys do.

use super::draw::{Glyphs, Look, Motion, Picture};
use super::*;
use ackord_live::{Carried, DirectionSample, Lateness, MeteredLink};
use ackord_units::{Bytes, Rate, Time};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

const PLAIN: Look = Look { colours: false, glyphs: Glyphs::Unicode };

/// A link of 10 Mbit/s that is full in the first direction, with acknowledgments in the other.
fn full_link(seconds: u64) -> MeterView {
    let samples = (0..seconds * 10).map(|number| {
        let full = DirectionSample {
            delivered: Carried { packets: 83, bytes: Bytes(125_000) },
            queue: Carried { packets: 40, bytes: Bytes(60_000) },
            queueing_delay: Span::from_millis(48),
            longest_queueing_delay: Span::from_millis(50),
            capacity: Some(Rate::from_mbits_per_sec(10)),
            dropped: [u32::from(number % 20 == 0), 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ..DirectionSample::default()
        };
        let acks = DirectionSample {
            delivered: Carried { packets: 42, bytes: Bytes(2_184) },
            capacity: Some(Rate::from_mbits_per_sec(10)),
            ..DirectionSample::default()
        };
        [full, acks]
    });
    MeterView {
        link: MeteredLink {
            name: "bottleneck".to_owned(),
            directions: ["down", "up"].map(str::to_owned),
            rates: [Rate::from_mbits_per_sec(10); 2],
        },
        began_at: Time::ZERO,
        samples: samples.collect(),
        lateness: Some(lateness(Span::from_micros(80))),
        over: false,
    }
}

fn lateness(p99: Span) -> Lateness {
    let (p50, max) = (Span::from_micros(12), p99 + Span::from_micros(500));
    Lateness { packets: 4_000, p50, p99, max, budget: Span::from_millis(1) }
}

fn picture(view: &MeterView, look: Look) -> Picture<'_> {
    let scale = Span::from_secs(60);
    Picture { view, place: (2, 3), scale, motion: Motion::Moving, look }
}

/// The rows of a terminal of this size with the picture on it.
fn rows(picture: &Picture<'_>, (width, height): (u16, u16)) -> Vec<String> {
    let buffer = drawn(picture, (width, height));
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(row).collect()
}

fn drawn(picture: &Picture<'_>, (width, height): (u16, u16)) -> ratatui::buffer::Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("no terminal");
    terminal.draw(|frame| picture.draw(frame.area(), frame.buffer_mut())).expect("no terminal");
    terminal.backend().buffer().clone()
}

fn column_of_now(row: &str) -> usize {
    row.chars().count()
}

#[test]
fn a_usual_terminal_shows_three_curves_with_units_and_the_numbers_of_now() {
    let view = full_link(60);
    let rows = rows(&picture(&view, PLAIN), (80, 24));
    let all = rows.join("\n");
    assert!(
        rows[0].starts_with("bottleneck (2 of 3): down 10 Mbit/s, up 10 Mbit/s; after 60.0 s"),
        "{all}"
    );
    for said in [
        "throughput  ⠒ down 10 Mbit/s  • up 175 kbit/s",
        "queued  ⠒ down 48 ms, 40 packets  • up 0 µs, 0 packets  (most 50 ms; 0 µs)",
        "packets dropped  ⠒ down 30 (queue-full)  • up 0",
        "10 Mbit/s│",
        "50 ms│",
        "2 packets/s│",
        "-60 s",
        "-30 s",
        "now",
        "emulator late by 12 µs (half), 80 µs (99 %), 580 µs (most)",
        "q leave the meter   p pause   + - last 60 s   Tab next link",
    ] {
        assert!(all.contains(said), "`{said}` in\n{all}");
    }
    // The full direction is a line along the top of the first chart, the other one dots at its foot.
    let top = rows.iter().position(|row| row.contains("10 Mbit/s│")).expect("an axis");
    let line = rows[top].chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    assert!(line > 60, "{line} of {}\n{all}", column_of_now(&rows[top]));
    assert_eq!(rows.iter().filter(|row| row.matches('•').count() > 50).count(), 2, "\n{all}");
}

#[test]
fn numbers_remain_where_there_is_no_room_for_curves() {
    let view = full_link(3);
    for size in [(80, 4), (20, 24), (80, 1), (12, 3)] {
        let rows = rows(&picture(&view, PLAIN), size);
        assert!(rows[0].starts_with("throughput  "), "{rows:?}");
        assert!(!rows.concat().contains('│'), "{rows:?}");
    }
    let one_chart = rows(&picture(&view, PLAIN), (60, 9)).join("\n");
    assert!(one_chart.contains("Mbit/s│") && !one_chart.contains("ms│"), "{one_chart}");
}

#[test]
fn an_emulator_that_is_late_is_said_to_be_even_where_there_is_one_line() {
    let mut view = full_link(3);
    view.lateness = Some(lateness(Span::from_millis(7)));
    for size in [(80, 24), (80, 1), (40, 2)] {
        let all = rows(&picture(&view, PLAIN), size).join("\n");
        assert!(all.contains("UNTRUSTWORTHY: late by 12 µs"), "{all}");
    }
    view.lateness = None;
    let all = rows(&picture(&view, PLAIN), (80, 24)).join("\n");
    assert!(all.contains("emulator: no packet yet"), "{all}");
}

#[test]
fn colour_is_only_used_where_it_is_wanted_and_never_needed() {
    let view = full_link(60);
    let coloured = Look { colours: true, glyphs: Glyphs::Unicode };
    let colours = |look| {
        let buffer = drawn(&picture(&view, look), (80, 24));
        buffer.content.iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert_eq!(colours(PLAIN), 0);
    assert!(colours(coloured) > 100);
    assert_eq!(rows(&picture(&view, PLAIN), (80, 24)), rows(&picture(&view, coloured), (80, 24)));
}

#[test]
fn a_terminal_of_ascii_gets_ascii() {
    let view = full_link(60);
    let ascii = Look { colours: false, glyphs: Glyphs::Ascii };
    let all = rows(&picture(&view, ascii), (80, 24)).join("\n");
    assert!(all.is_ascii() && !all.contains('?'), "{all}");
    assert!(all.contains("*******************") && all.contains("ooooooooooo"), "{all}");
}

#[test]
fn a_trace_shows_its_capacity_as_a_curve_of_its_own() {
    let mut view = full_link(60);
    for (number, pair) in view.samples.iter_mut().enumerate() {
        let rate = if number / 100 % 2 == 0 { 10 } else { 4 };
        pair[0].capacity = Some(Rate::from_mbits_per_sec(rate));
    }
    let all = rows(&picture(&view, PLAIN), (80, 24)).join("\n");
    assert!(all.matches('╌').count() > 20, "{all}");
    assert!(all.contains("of 4 Mbit/s"), "{all}");
}

#[test]
fn keys_leave_pause_and_change_what_is_shown() {
    let text = ackord_scenario::ScenarioFile::from_library("dumbbell").expect("in the library");
    let feed = Arc::new(MeterFeed::of(&text.check().expect("sound")));
    let mut fill = feed.fill();
    for seconds in [45, 90] {
        fill.tick(Time::ZERO + Span::from_secs(seconds), None);
    }
    let links = feed.links().len();
    let link = feed.slowest();
    let mut drawing = Drawing { feed, link, scale: DEFAULT_SCALE, paused: None, look: PLAIN };
    assert_eq!(drawing.view().map(|view| view.samples.len()), Some(600));
    assert_eq!(drawing.press(b"+"), Asked::ToGoOn);
    assert_eq!(drawing.view().map(|view| view.samples.len()), Some(300));
    drawing.press(b"p");
    fill.tick(Time::ZERO + Span::from_secs(95), None);
    let still = drawing.view().expect("a link");
    assert_eq!((still.began_at, still.samples.len()), (Time::ZERO + Span::from_secs(60), 300));
    drawing.press(b"-");
    assert_eq!(drawing.view().map(|view| view.samples.len()), Some(600));
    drawing.press(b"p");
    assert_eq!(drawing.view().map(|v| v.began_at), Some(Time::ZERO + Span::from_secs(35)));
    (0..20).for_each(|_| assert_eq!(drawing.press(b"-"), Asked::ToGoOn));
    assert_eq!(drawing.scale(), Span::from_secs(300));
    (0..links).for_each(|_| assert_eq!(drawing.press(b"\t"), Asked::ToGoOn));
    assert_eq!(drawing.link, link);
    assert_eq!(drawing.press(b"\x1b[q"), Asked::ToGoOn, "an arrow is no key of ours");
    assert_eq!(drawing.press(b"xq"), Asked::ToLeave);
}

fn any_sample() -> impl Strategy<Value = DirectionSample> {
    let carried = || {
        // Products of what is told stay within what a number holds: 2^50 bytes in 100 ms is more
        // than any machine moves.
        (any::<u32>(), 0u64..1 << 50).prop_map(|(packets, bytes)| Carried {
            packets: u64::from(packets),
            bytes: Bytes(bytes),
        })
    };
    let span = || any::<u64>().prop_map(Span::from_nanos);
    let rate = any::<u64>().prop_map(Rate::from_bits_per_sec);
    let dropped = any::<[u32; 10]>();
    (carried(), carried(), carried(), span(), span(), dropped, option::of(rate)).prop_map(
        |(offered, delivered, queue, delay, longest, dropped, capacity)| DirectionSample {
            offered,
            delivered,
            queue,
            queueing_delay: delay,
            longest_queueing_delay: longest,
            dropped,
            capacity,
        },
    )
}

fn any_view() -> impl Strategy<Value = MeterView> {
    let lateness = (0u64..3, any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
        |(packets, p50, p99, max, budget)| Lateness {
            packets,
            p50: Span::from_nanos(p50),
            p99: Span::from_nanos(p99),
            max: Span::from_nanos(max),
            budget: Span::from_nanos(budget),
        },
    );
    let link = (".{0,40}", ".{0,40}", ".{0,40}", any::<[u64; 2]>()).prop_map(
        |(name, forward, reverse, rates)| MeteredLink {
            name,
            directions: [forward, reverse],
            rates: rates.map(Rate::from_bits_per_sec),
        },
    );
    let samples = vec((any_sample(), any_sample()).prop_map(|(a, b)| [a, b]), 0..80);
    (link, 0..u64::MAX / 2, samples, option::of(lateness)).prop_map(
        |(link, began_at, samples, lateness)| MeterView {
            link,
            began_at: Time::from_nanos(began_at),
            samples,
            lateness,
            over: false,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_data_can_be_drawn_at_any_size(
        view in any_view(),
        size in (1u16..160, 1u16..70),
        scale in proptest::sample::select(SCALES.to_vec()),
        ascii in any::<bool>(),
    ) {
        let glyphs = if ascii { Glyphs::Ascii } else { Glyphs::Unicode };
        let look = Look { colours: true, glyphs };
        let scale = Span::from_secs(scale);
        let picture = Picture { view: &view, place: (1, 1), scale, motion: Motion::Paused, look };
        let rows = rows(&picture, size);
        prop_assert_eq!(rows.len(), usize::from(size.1));
        // Nothing but what fits is drawn, and something always is.
        prop_assert!(rows.iter().any(|row| !row.trim().is_empty()));
        if ascii {
            prop_assert!(rows.iter().all(|row| row.is_ascii()), "{:?}", rows);
        }
    }
}
