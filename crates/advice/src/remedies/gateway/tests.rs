//! Forecasts from captures of simulated downloads, whose link is known.

use super::downloads::Download;
use super::episodes::{CAPTURE, Episode};
use super::fades::{Fade, Fades};
use super::link::Link;
use super::transmissions::transmissions;
use super::{GatewayForecast, NoForecast, forecast};
use crate::remedies::allowance::Allowance;
use crate::remedies::simulate::run_captured;
use crate::remedies::table::BBR_OF_LINUX;
use ackord_diagnose::{Point, PointKind, Reader, Trace};
use ackord_scenario::ScenarioFile;
use ackord_units::RandomStream;
use proptest::prelude::*;
use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;

const CUBIC: &str = "\"cubic\"";

fn link(rate_bit_s: f64, loss: f64) -> Link {
    Link {
        rate_bit_s,
        rate_is_shown: true,
        air_s: 0.008,
        queue: 200.0,
        loss,
        losses: 0.0,
        fades: Fades::default(),
    }
}

/// A download of this size, from a server 36 ms away.
fn download(began_s: f64, size: u64) -> Download {
    Download {
        server: IpAddr::V4(Ipv4Addr::LOCALHOST),
        began_s,
        lasted_s: 10.0,
        time_s: 10.0,
        sizes: vec![size],
        request: 16,
        gap_s: 0.0,
        think_s: 0.0,
        wired_s: 0.036,
        air_s: 0.008,
        mss: 1448.0,
        window: None,
        capacity: None,
        rate: 0.0,
        sent: Vec::new(),
    }
}

/// What a gateway captures of `count` downloads, one after the other, and forecasts.
fn of(
    link: &Link,
    control: &str,
    (count, size): (usize, u64),
) -> Result<GatewayForecast, NoForecast> {
    let downloads: Vec<Download> = (0..count).map(|at| download(12.0 * at as f64, size)).collect();
    let episode = Episode { downloads: downloads.iter().collect(), part: 1.0 };
    let text = episode.toml(link, None, control, 5);
    let scenario = ScenarioFile::new("test.toml", text).check().expect("a sound scenario");
    let run = run_captured(&scenario, CAPTURE, 5, &Allowance::unlimited()).expect("a sound run");
    let open =
        || Reader::from_reader("test", Box::new(Cursor::new(run.1.clone())), 0).expect("pcapng");
    forecast([open(), open()], &Allowance::unlimited(), &mut |_| {})
}

fn gain(found: &GatewayForecast, remedy: &str) -> f64 {
    let one = found.remedies.iter().find(|one| one.remedy == remedy).expect("it was tried");
    one.gain_percent
}

#[test]
fn the_link_and_the_gain_follow_from_the_downloads_of_a_lossy_link() {
    let found = of(&link(20e6, 0.01), CUBIC, (10, 600_000)).expect("a forecast");
    assert!((19e6..21.5e6).contains(&found.link.rate_bit_s), "{found:?}");
    // 4,150 packets, of which 41 are lost, give or take 6.
    assert!((0.5..1.5).contains(&found.link.loss_percent), "{found:?}");
    assert_eq!((found.downloads, found.link.fades), (10, 0));
    assert_eq!(found.congestion_control, "CUBIC");
    // Without losses a download takes 0.45 s; CUBIC with 1 % of them takes twice as long.
    assert!(gain(&found, "proxy-tcp") > 25.0 && gain(&found, "snoop") > 20.0, "{found:?}");
    assert!(!found.nothing_to_gain());
    let text = found.to_string();
    assert!(text.contains("less time [") && !text.contains("nothing to gain"), "{text}");
}

#[test]
fn senders_with_bbr_are_recognised_and_have_little_to_gain() {
    let found = of(&link(20e6, 0.01), BBR_OF_LINUX, (6, 1_000_000)).expect("a forecast");
    assert_eq!(found.congestion_control, "BBR version 1");
    assert!(gain(&found, "proxy-tcp") < 10.0, "{found:?}");
}

#[test]
fn too_few_downloads_have_no_forecast() {
    let found = of(&link(20e6, 0.01), CUBIC, (4, 100_000));
    assert!(matches!(found, Err(NoForecast::TooFew(4))), "{found:?}");
}

#[test]
fn a_caller_that_has_no_time_is_obeyed() {
    let nothing = || Reader::from_reader("test", Box::new(Cursor::new(capture_of_nothing())), 0);
    let go_on = || ControlFlow::Break(());
    let readers = [nothing().expect("pcapng"), nothing().expect("pcapng")];
    let found = forecast(readers, &Allowance::new(&go_on), &mut |_| {});
    assert!(matches!(found, Err(NoForecast::Diagnose(_))), "{found:?}");
}

fn capture_of_nothing() -> Vec<u8> {
    let mut bytes = Vec::new();
    let writer = ackord_wire::PcapngWriter::new(&mut bytes, "test").expect("memory");
    writer.finish().expect("memory");
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// Nothing is lost but by the link's own queue: no remedy gains. Downloads that end in slow start do not show the
    /// link's rate; a model that is then too slow is refused.
    #[test]
    fn without_losses_nothing_is_gained(mbit in 4.0..40.0_f64, size in 50_000..600_000_u64) {
        let bandwidth_delay = 1e6 * mbit / 8.0 * 0.044;
        let found = match of(&link(1e6 * mbit, 0.0), CUBIC, (6, size)) {
            Err(NoForecast::BadFit { .. }) if (size as f64) < 2.0 * bandwidth_delay => return Ok(()),
            found => found.expect("a forecast"),
        };
        prop_assert!(found.nothing_to_gain(), "{:?}", found);
        prop_assert!(found.to_string().contains("nothing to gain here"));
        for one in &found.remedies {
            prop_assert!(one.gain_percent.abs() < 5.0, "{:?}", found);
        }
    }
}

fn trace(points: &[(f64, PointKind, u64, u64)]) -> Trace {
    let point =
        |&(t, kind, from, to): &(f64, PointKind, u64, u64)| Point { t, kind, from, to, frame: 0 };
    Trace { points: points.iter().map(point).collect(), ..Trace::default() }
}

#[test]
fn a_repeated_packet_was_lost_unless_its_answer_comes_too_soon() {
    use PointKind::{Ack, Data, Retransmission, Sack};
    let trace = trace(&[
        (0.000, Data, 0, 1000),
        (0.001, Data, 1000, 2000),
        (0.010, Sack, 1000, 2000),
        (0.050, Retransmission, 0, 1000),
        (0.060, Ack, 2000, 9000),
        (0.100, Data, 2000, 3000),
        (0.400, Retransmission, 2000, 3000),
        (0.402, Ack, 3000, 9000),
    ]);
    let lost: Vec<bool> = transmissions(&trace, 0.010, 1448).iter().map(|one| one.lost).collect();
    assert_eq!(lost, [true, false, false, false, false]);
}

#[test]
fn a_train_that_was_put_together_counts_packet_by_packet() {
    use PointKind::{Ack, Data, Retransmission};
    let trace =
        trace(&[(0.0, Data, 0, 4000), (0.1, Retransmission, 1000, 2000), (0.2, Ack, 4000, 9000)]);
    let lost: Vec<bool> = transmissions(&trace, 0.01, 1000).iter().map(|one| one.lost).collect();
    assert_eq!(lost, [false, true, false, false, false]);
}

#[test]
fn recoveries_do_not_show_twice_the_rate_of_the_link() {
    // A short queue drops every second packet of a slow start, and each retransmission has two acknowledged.
    let short = Link { queue: 26.0, ..link(3e6, 0.008) };
    let found = of(&short, CUBIC, (6, 400_000)).expect("a forecast");
    assert!((2.8e6..3.3e6).contains(&found.link.rate_bit_s), "{found:?}");
}

#[test]
fn a_fade_lasts_from_the_first_loss_to_the_last_and_at_most_to_what_arrived_next() {
    let mut one = download(0.0, 1_000_000);
    let sent = |t: f64, lost: bool| super::transmissions::Transmission {
        t,
        bytes: 1448,
        lost,
        queue_s: None,
    };
    one.sent = (0..400).map(|at| sent(0.001 * f64::from(at), false)).collect();
    one.sent.extend([0.40, 0.65, 1.15].map(|t| sent(t, true)));
    one.sent.push(sent(2.15, false));
    let [fade] = Fade::all(&one)[..] else { panic!("{:?}", Fade::all(&one)) };
    assert!((fade.from_s - 0.40).abs() < 1e-9 && (fade.least_s - 0.75).abs() < 1e-9, "{fade:?}");
    assert!((fade.most_s - 1.751).abs() < 1e-9, "{fade:?}");
    // Two losses of neighbours are no fade, however rare they are.
    one.sent.retain(|sent| sent.t < 0.6 || sent.t > 2.0);
    assert_eq!(Fade::all(&one), []);
}

#[test]
fn fades_are_drawn_as_often_and_as_long_as_they_were_seen() {
    let fades = Fades { count: 10, every_s: 6.0, lengths: vec![(1.0, 0.5), (2.0, 0.5)] };
    let mut stream = RandomStream::for_element(1, "fades");
    let drawn = fades.draw(75_000.0, &mut stream);
    // One in 7.5 s.
    assert!((9_500..10_500).contains(&drawn.len()), "{}", drawn.len());
    let out: f64 = drawn.iter().map(|one| one.1).sum();
    assert!((out / 75_000.0 - 0.2).abs() < 0.01, "{out}");
    assert!(drawn.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
}

#[test]
fn downloads_that_overlap_share_an_episode() {
    let downloads = [0.0, 5.0, 20.0].map(|began| download(began, 100_000));
    let episodes = Episode::all(&downloads);
    assert_eq!(episodes.iter().map(|one| one.downloads.len()).collect::<Vec<_>>(), [2, 1]);
    // A long one is simulated in part.
    let long = [download(0.0, 100_000_000)];
    let [one] = &Episode::all(&long)[..] else { panic!("one download") };
    assert!(one.part < 0.3 && one.packets() < 15_001.0, "{}", one.part);
}
