//! Whole reports of a made-up run.

mod common;

use ackord_events::{EndpointId, Event, Sink};
use ackord_measure::{
    Allowed, Claim, Claimant, Comparison, Direction, FlowLabel, RunIdentity, RunLabels, RunSummary,
    Summary, VariantSummary, Verdict,
};
use ackord_report::document::{Block, Section};
use ackord_report::plot::{Topology, TopologyLink, TopologyNode};
use ackord_report::{
    Context, PaperResults, Screen, compare_document, document_files, paper_document, run_document,
    run_files, to_html, to_terminal,
};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, Side};
use common::{Shape, run};
use std::collections::BTreeMap;

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
    let text = to_terminal(&run_document(&summary, Some(&series), &context()), Screen::NONE);
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

/// Where parts of a page begin, which are there.
fn places<const N: usize>(html: &str, parts: [&str; N]) -> [usize; N] {
    parts.map(|part| html.find(part).unwrap_or_else(|| panic!("{part} is not in the page")))
}

#[test]
fn a_run_s_page_answers_first_then_has_flows_topology_plots_and_the_rest() {
    let (summary, series) = run(Shape { flows: 2, secs: 3 });
    let node = |name: &str| TopologyNode { name: name.to_owned(), ..TopologyNode::default() };
    let link = TopologyLink { ends: [0, 1], ..TopologyLink::default() };
    let topology = Topology { nodes: vec![node("a"), node("b")], links: vec![link], flows: vec![] };
    let context = Context { topology: Some(topology), ..context() };
    let document = run_document(&summary, Some(&series), &context);
    let html = to_html(&document);
    let parts = [
        "class=\"answer\"",
        "<h2>Flows</h2>",
        "<table",
        "<h2>Topology</h2>",
        "Topology: 2 hosts, 0 routers, 0 flows",
        "<h2>Over time</h2>",
        "<h2>Links and queues</h2>",
        "scenario hash",
    ];
    assert!(places(&html, parts).is_sorted(), "{:?}", places(&html, parts));
    let files = document_files(&document);
    for name in ["plots/topology.svg", "plots/topology.png"] {
        assert!(files.iter().any(|file| file.path.ends_with(name)), "{name}");
    }
}

#[test]
fn the_answer_of_a_run_is_a_sentence_of_its_summary_s_numbers() {
    let (summary, _) = run(Shape { flows: 2, secs: 3 });
    let text = to_terminal(&run_document(&summary, None, &context()), Screen::NONE);
    let total: f64 = summary.flows.iter().map(|flow| flow.goodput_bit_s).sum();
    let answer = text.lines().skip(2).take(4).collect::<Vec<_>>().join(" ");
    let total = format!("2 flows got {:.3} Mbit/s of goodput together in 3.000 s", total / 1e6);
    assert!(answer.starts_with(&total), "{answer}");
    let index = summary.fairness.jain_index.expect("two flows");
    assert!(answer.contains(&format!("Jain's index {index:.3}")), "{answer}");
    assert!(answer.contains("the busiest link, bottleneck"), "{answer}");
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
    let text = to_terminal(&document, Screen::NONE);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains('±') && text.contains("vegas"), "{text}");
    let html = to_html(&document);
    let parts =
        ["class=\"answer\"", "Of 2 values of congestion", "<table", "class=\"ackord-plot\""];
    assert!(places(&html, parts).is_sorted(), "{:?}", places(&html, parts));
    let svg = document.plots().next().expect("windows").to_svg();
    assert!(svg.contains("reno: flow0: cwnd") && svg.contains("vegas: flow1: cwnd"));
}

#[test]
fn a_paper_s_page_has_its_verdict_and_contents_first_then_its_claims() {
    let claim = |id: &str, verdict| Claim {
        id: id.to_owned(),
        by: Claimant::Paper,
        what: format!("fairness of {id}"),
        unit: "%".to_owned(),
        paper: Some(91.62),
        allowed: Allowed::AtLeast { low: 88.0 },
        direction: Direction { what: "fairer".to_owned(), measured: 5.25, ci95: Some(1.5) },
        measured: 93.25,
        ci95: Some(1.5),
        runs: 20,
        verdict,
        runs_to_decide: None,
        contradicted: Vec::new(),
        why: format!("the start times of {id} are random here"),
    };
    let results = PaperResults {
        paper: "selective-drop".to_owned(),
        version: "0.1.0".to_owned(),
        seed: 1,
        claims: vec![claim("a", Verdict::Holds), claim("b", Verdict::Fails)],
    };
    let (summary, series) = run(Shape { flows: 2, secs: 3 });
    let drawn = run_document(&summary, Some(&series), &context());
    let plot = drawn.plots().next().expect("it is drawn").clone();
    let words = || Block::Text("words".to_owned());
    let told = Section::new("Told").with(words());
    let figure = Section::new("Figure 1").with(words()).with(Block::Plot(plot));
    let document = paper_document(&results, vec![told, figure], &context());
    let headings: Vec<_> = document.sections.iter().map(|section| &*section.heading).collect();
    assert_eq!(headings[..4], ["", "Claims", "Figure 1", "Told"]);
    assert!(matches!(document.sections[2].blocks[0], Block::Plot(_)));
    let text = to_terminal(&document, Screen::NONE);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("93.25 ± 1.50") && text.contains("holds") && text.contains("fails"));
    let verdict = "Half of the paper's claims or fewer hold here: of 2, 1 holds and 1 fails.";
    assert!(text.lines().nth(2) == Some(verdict), "{text}");
    // Why a claim fails is said at once, why one holds only to who asks.
    assert!(text.contains("start times of b") && !text.contains("start times of a"), "{text}");
    let html = to_html(&document);
    assert!(html.contains("start times of a"));
    let parts = [
        verdict.split_once('\'').map_or(verdict, |(_, rest)| rest),
        "<nav class=\"contents\"",
        "<a href=\"#part-1\">Claims</a>",
        "<a href=\"#part-3\">Told</a>",
        "id=\"part-1\"",
        "id=\"part-3\"",
    ];
    assert!(places(&html, parts).is_sorted(), "{:?}", places(&html, parts));
    assert!(html.contains("<span class=\"verdict holds\">holds</span>"));
    assert_eq!(document_files(&document).len(), 3, "the page, and the plot twice");
}

/// A flow with three transfers of 100 kB of 40, 50 and 90 ms, and one that is not over.
fn with_transfers() -> RunSummary {
    let label = FlowLabel {
        name: "downloads".to_owned(),
        kind: ackord_measure::FlowKind::Connection,
        mechanisms: BTreeMap::new(),
        profile: None,
        sends: Side::Server,
        size: None,
        started_at: Time::ZERO,
    };
    let duration = Span::from_secs(1);
    let labels = RunLabels { flows: vec![label], duration, ..RunLabels::default() };
    let mut summary = Summary::new(&labels);
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let end = |side| EndpointId { flow: FlowId(0), side };
    for (index, (began, over)) in
        [(0, Some(40)), (100, Some(150)), (200, Some(290)), (300, None)].into_iter().enumerate()
    {
        let (index, bytes) = (index as u64, Bytes(100_000));
        let endpoint = end(Side::Server);
        summary.emit(at(began), Event::TransferBegan { endpoint, index, bytes });
        if let Some(over) = over {
            let endpoint = end(Side::Client);
            summary.emit(at(over), Event::TransferCompleted { endpoint, index, bytes });
        }
    }
    summary.finish(RunIdentity::default(), Time::ZERO + duration)
}

#[test]
fn transfers_have_a_table_a_csv_file_and_json_and_runs_without_them_have_none() {
    let run = with_transfers();
    let document = run_document(&run, None, &context());
    let text = to_terminal(&document, Screen::NONE);
    // Mean 60 ms, median 50, worst 90; 20, 16 and 8.889 Mbit/s.
    let line = text.lines().find(|line| line.starts_with("  downloads") && line.contains("60.00"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    for number in ["3", "50.00", "90.00", "14.96", "8.889"] {
        assert!(line.contains(number), "{number} is not in {line}");
    }
    let files = run_files(&run, None, &document);
    let csv = files.iter().find(|file| file.path.ends_with("transfers.csv")).expect("a file");
    let csv = String::from_utf8(csv.bytes.clone()).expect("UTF-8");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.starts_with("flow,transfer,bytes,began_s,took_s,rate_bit_s"), "{csv}");
    let json = serde_json::to_value(&run).expect("JSON");
    let transfers = &json["flows"][0]["transfers"];
    assert_eq!((&transfers["began"], &transfers["completed"]), (&4.into(), &3.into()));
    assert_eq!(transfers["time_ms"]["max"], 90.0);

    let compared = Comparison {
        identity: RunIdentity::default(),
        varied: "ack".to_owned(),
        variants: vec![VariantSummary::of("delayed", &[run.clone(), run])],
    };
    let text = to_terminal(&compare_document(&compared, &[], &context()), Screen::NONE);
    assert!(text.contains("60.00 ±"), "{text}");

    let (plain, _) = common::run(Shape { flows: 1, secs: 1 });
    let files = run_files(&plain, None, &run_document(&plain, None, &context()));
    assert!(!files.iter().any(|file| file.path.ends_with("transfers.csv")));
}
