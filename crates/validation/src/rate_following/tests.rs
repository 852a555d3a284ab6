//! Runs of half a minute over drawn traces, with the bounds that the comparison promises.

use super::*;

fn comparison(folder: &std::path::Path, seed: u64) -> Comparison {
    let trace = synthetic(seed, Rate::from_mbits_per_sec(6), Span::from_secs(30)).expect("a trace");
    let path = folder.join(format!("{seed}.trace"));
    std::fs::write(&path, trace.to_text()).expect("it is writable");
    let (duration, congestion) = (Span::from_secs(30), "cubic".to_owned());
    Comparison { trace: path, duration, modem: 1_000, congestion }
}

#[test]
fn follows_drawn_links_nearly_as_well_as_an_oracle_and_better_than_any_constant_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in [11, 12] {
        let comparison = comparison(folder.path(), seed);
        let trace = comparison.trace().expect("sound");
        let run = |by| comparison.run(by).unwrap_or_else(|error| panic!("{error}"));
        let oracle = run(ShapedBy::Oracle(Span::from_millis(100), 1.0));
        let auto = run(ShapedBy::Follow(limits()));
        assert!(auto.goodput >= 0.9 * oracle.goodput, "{seed}: {}", auto.goodput / oracle.goodput);
        let (delay, most) = (auto.mean_delay(), oracle.mean_delay() * 2);
        assert!(delay <= most, "{seed}: {delay} of {most}");
        for share in [0.1, 0.5, 0.9] {
            let fixed = run(ShapedBy::Fixed(percentile(&trace, share)));
            // More of one costs more of the other.
            let loses = fixed.goodput < auto.goodput || fixed.mean_delay() > delay;
            assert!(loses, "{seed}, {share}: {} and {}", fixed.goodput, fixed.mean_delay());
        }
    }
}

#[test]
fn decides_the_same_each_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let comparison = Comparison { duration: Span::from_secs(8), ..comparison(folder.path(), 3) };
    let run = || comparison.run(ShapedBy::Follow(limits())).expect("sound").decisions;
    let (first, second) = (run(), run());
    assert!(first.len() == 200 && first == second);
}

#[test]
fn a_trace_begins_anew_also_where_its_rate_is_computed() {
    let trace = Trace::parse("100\n200\n200\n1000\n").expect("a trace");
    let rate = |from, span| {
        rate_between(&trace, Time::ZERO + Span::from_millis(from), Span::from_millis(span))
    };
    let packets =
        |count: u64, millis: u64| Rate::from_bits_per_sec(count * 1_504 * 8 * 1_000 / millis);
    assert_eq!(rate(0, 1_000), packets(4, 1_000));
    assert_eq!(rate(150, 100), packets(2, 100));
    assert_eq!(rate(900, 200), packets(2, 200));
    assert_eq!(percentile(&trace, 0.5), packets(4, 1_000));
}
