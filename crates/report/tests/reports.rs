//! Whole reports of a made-up run.

mod common;

use ackord_measure::{Claim, Comparison, RunIdentity, VariantSummary, Verdict};
use ackord_report::{
    Colour, Context, PaperResults, compare_document, document_files, paper_document, run_document,
    run_files, to_html, to_terminal,
};
use common::{Shape, run};

fn context() -> Context {
    Context {
        title: "Two flows".to_owned(),
        purpose: "Do they share?".to_owned(),
        source: "made up".to_owned(),
        scenario_text: "seed = 7\nname = \"<b>\"\n".to_owned(),
        notes: vec!["nothing real".to_owned()],
        ..Context::default()
    }
}

#[test]
fn a_run_becomes_every_file_and_the_same_run_the_same_bytes() {
    let files = || {
        let (summary, series) = run(Shape { flows: 2, secs: 3 });
        let document = run_document(&summary, Some(&series), &context());
        run_files(&summary, Some(&series), &document)
    };
    let made = files();
    let names: Vec<_> = made.iter().map(|file| file.path.display().to_string()).collect();
    for expected in [
        "report.html",
        "summary.json",
        "flows.csv",
        "queues.csv",
        "links.csv",
        "plots/cwnd.svg",
        "plots/cwnd.png",
        "plots/sequence.svg",
        "plots/throughput.png",
        "plots/queue.svg",
        "series/cwnd.csv",
        "series/queue-packets.csv",
    ] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not among {names:?}");
    }
    assert_eq!(made, files());
}

#[test]
fn csv_headings_carry_units_and_rows_the_summary_s_numbers() {
    let (summary, series) = run(Shape { flows: 2, secs: 3 });
    let document = run_document(&summary, Some(&series), &context());
    let files = run_files(&summary, Some(&series), &document);
    let text = |name: &str| {
        let file = files.iter().find(|file| file.path.ends_with(name)).expect(name);
        String::from_utf8(file.bytes.clone()).expect("UTF-8")
    };
    let cwnd = text("series/cwnd.csv");
    assert!(cwnd.starts_with("time_s,flow,cwnd_bytes\n0.000000000,flow0,3000\n"), "{cwnd:.80}");
    let flows = text("flows.csv");
    let mut reader = csv::Reader::from_reader(flows.as_bytes());
    let place = reader.headers().expect("headings").iter().position(|h| h == "goodput_bit_s");
    let place = place.expect("a goodput");
    for (row, flow) in reader.records().zip(&summary.flows) {
        let cell: f64 = row.expect("a row")[place].parse().expect("a number");
        assert_eq!(cell, flow.goodput_bit_s);
    }
    assert!(text("queues.csv").contains(",dropped_queue_full_packets,"));
}

#[test]
fn the_terminal_shows_what_the_summary_holds_within_a_hundred_columns() {
    let (summary, series) = run(Shape { flows: 2, secs: 3 });
    let text = to_terminal(&run_document(&summary, Some(&series), &context()), Colour::Never);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for expected in
        ["seed 7", "scenario hash f00d", "flow1", "bottleneck", "queue-full", "Mbit/s", "reno"]
    {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
}

#[test]
fn the_html_holds_the_scenario_as_text_and_every_plot() {
    let (summary, series) = run(Shape { flows: 1, secs: 3 });
    let html = to_html(&run_document(&summary, Some(&series), &context()));
    assert!(html.contains("name = &quot;&lt;b&gt;&quot;") && !html.contains("<b>"));
    assert_eq!(html.matches("class=\"ackord-plot\"").count(), 7);
    assert!(html.contains("flow0 around its first retransmission"));
    assert!(html.contains("Results as JSON"));
}

#[test]
fn a_comparison_shows_each_variant_with_its_interval() {
    let runs: Vec<_> = (2..5).map(|secs| run(Shape { flows: 2, secs })).collect();
    let summaries: Vec<_> = runs.iter().map(|(summary, _)| summary.clone()).collect();
    let comparison = Comparison {
        identity: RunIdentity { seed: 7, ..RunIdentity::default() },
        varied: "congestion".to_owned(),
        variants: vec![
            VariantSummary::of("reno", &summaries),
            VariantSummary::of("vegas", &summaries[..1]),
        ],
    };
    let series = [("reno".to_owned(), &runs[0].1), ("vegas".to_owned(), &runs[1].1)];
    let document = compare_document(&comparison, &series, &context());
    let text = to_terminal(&document, Colour::Never);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains('±') && text.contains("vegas"), "{text}");
    let svg = document.plots().next().expect("windows").to_svg();
    assert!(svg.contains("reno: flow0: cwnd") && svg.contains("vegas: flow1: cwnd"));
}

#[test]
fn a_paper_s_claims_come_first_with_their_verdicts() {
    let claim = |id: &str, verdict| Claim {
        id: id.to_owned(),
        what: format!("fairness of {id}"),
        unit: "%".to_owned(),
        paper: Some(91.62),
        measured: 93.25,
        ci95: Some(1.5),
        runs: 20,
        verdict,
        why: format!("the start times of {id} are random here"),
    };
    let results = PaperResults {
        paper: "selective-drop".to_owned(),
        version: "0.1.0".to_owned(),
        seed: 1,
        claims: vec![claim("a", Verdict::Holds), claim("b", Verdict::Fails)],
    };
    let document = paper_document(&results, Vec::new(), &context());
    let text = to_terminal(&document, Colour::Never);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("93.25 ± 1.50") && text.contains("holds") && text.contains("fails"));
    assert!(text.contains("Of 2 claims 1 hold, 0 differ and 1 fail."), "{text}");
    // Why a claim fails is said at once, why one holds only to who asks.
    assert!(text.contains("start times of b") && !text.contains("start times of a"), "{text}");
    let html = to_html(&document);
    assert!(html.contains("start times of a"));
    assert!(html.contains("<span class=\"verdict holds\">holds</span>"));
    assert_eq!(document_files(&document).len(), 1);
}
