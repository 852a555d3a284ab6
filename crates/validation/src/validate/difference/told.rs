//! A first difference as a document.

use super::{EndState, FirstDifference, Parting, SentSegment};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};

/// What was found, for people; `command` repeats it.
pub fn difference_document(found: &[FirstDifference], command: &str) -> Document {
    let sections = found.iter().map(section);
    let again = Block::Command { caption: "To repeat it".to_owned(), line: command.to_owned() };
    Document {
        title: "Where the model and the kernel part".to_owned(),
        purpose: "The same scenario with the same seed, once with the profile linux at both ends and once \
                  with a stock kernel in simulated time: the first segment that is not the same. What \
                  comes after it means nothing."
            .to_owned(),
        facts: Vec::new(),
        sections: sections.chain([Section::new("Again").with(again)]).collect(),
    }
}

fn section(found: &FirstDifference) -> Section {
    let FirstDifference { scenario, seed, kernel, tolerance_us, alike_segments, .. } = found;
    let heading = format!("{scenario}, seed {seed}");
    let Some(parting) = &found.parting else {
        return Section::new(&heading).with(Block::Text(format!(
            "All {alike_segments} segments are the same on both sides, with {tolerance_us} us of \
             tolerance, against {kernel}."
        )));
    };
    let text = format!(
        "{alike_segments} segments are the same (times within {tolerance_us} us) against {kernel}. Then \
         segment {} of {} at {} differs: {}.",
        parting.number,
        parting.flow,
        parting.host,
        parting.in_what.join(", ")
    );
    Section::new(&heading)
        .with(Block::Text(text))
        .with(Block::Table(segments(parting)))
        .with(Block::Table(states(parting)))
}

fn segments(parting: &Parting) -> Table {
    let columns = vec![
        Column::words("side"),
        Column::words("sent by"),
        Column::numbers("at", "s"),
        Column::words("flags"),
        Column::numbers("first byte", ""),
        Column::numbers("length", "B"),
        Column::numbers("acknowledges", ""),
        Column::words("SACK"),
        Column::numbers("window field", ""),
    ];
    let before = parting.before.iter().map(|segment| row("both", segment));
    let model = parting.model.iter().map(|segment| row("model", segment));
    let kernel = parting.kernel.iter().map(|segment| row("kernel", segment));
    Table {
        caption: "The segments before, as the model sent them, and the first that differs."
            .to_owned(),
        columns,
        rows: before.chain(model).chain(kernel).collect(),
    }
}

fn row(side: &str, segment: &SentSegment) -> Vec<Cell> {
    let blocks = segment.sack.iter().map(|(start, end)| format!("{start}:{end}"));
    vec![
        Cell::text(side),
        Cell::text(&segment.end),
        Cell::number(segment.at_s, 6),
        Cell::text(&segment.flags),
        Cell::Count(segment.seq),
        Cell::Count(u64::from(segment.length)),
        Cell::Count(segment.ack),
        Cell::text(blocks.collect::<Vec<_>>().join(" ")),
        Cell::Count(u64::from(segment.window)),
    ]
}

fn states(parting: &Parting) -> Table {
    let columns = vec![
        Column::words("end"),
        Column::numbers("told at", "s"),
        Column::numbers("cwnd", "B"),
        Column::numbers("ssthresh", "B"),
        Column::numbers("SRTT", "ms"),
        Column::numbers("RTO", "ms"),
        Column::words("recovery"),
        Column::numbers("taken for lost", "segments"),
        Column::numbers("timeouts", ""),
    ];
    let row = |side: &str, state: &EndState| {
        let count = |count: Option<u64>| count.map_or(Cell::Missing, Cell::Count);
        vec![
            Cell::text(side),
            Cell::number(state.told_at_s, 6),
            count(state.cwnd_bytes),
            count(state.ssthresh_bytes),
            Cell::number(state.srtt_ms, 3),
            Cell::number(state.rto_ms, 1),
            Cell::text(state.recovery.unwrap_or("none")),
            Cell::Count(state.lost_segments),
            Cell::Count(state.timeouts),
        ]
    };
    Table {
        caption:
            "What that end was like then. A kernel's losses and timeouts are told from its packets \
                  and from TCP_INFO, each millisecond."
                .to_owned(),
        columns,
        rows: vec![row("model", &parting.model_state), row("kernel", &parting.kernel_state)],
    }
}
