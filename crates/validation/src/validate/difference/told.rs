//! A first difference as a document.

use super::{FirstDifference, Parting};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;

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
    let before = parting.before.iter().map(|segment| ("both", segment));
    let model = parting.model.iter().map(|segment| ("model", segment));
    let kernel = parting.kernel.iter().map(|segment| ("kernel", segment));
    table!(before.chain(model).chain(kernel), |(side, segment)| {
        let blocks = segment.sack.iter().map(|(start, end)| format!("{start}:{end}"));
        [
            words("side") => side,
            words("sent by") => &segment.end,
            numbers("at", "s") => Cell::number(segment.at_s, 6),
            words("flags") => &segment.flags,
            numbers("first byte", "") => segment.seq,
            numbers("length", "B") => segment.length,
            numbers("acknowledges", "") => segment.ack,
            words("SACK") => blocks.collect::<Vec<_>>().join(" "),
            numbers("window field", "") => u32::from(segment.window),
        ]
    })
    .captioned("The segments before, as the model sent them, and the first that differs.")
}

fn states(parting: &Parting) -> Table {
    let both = [("model", &parting.model_state), ("kernel", &parting.kernel_state)];
    table!(both, |(side, state)| [
        words("end") => side,
        numbers("told at", "s") => Cell::number(state.told_at_s, 6),
        numbers("cwnd", "B") => state.cwnd_bytes,
        numbers("ssthresh", "B") => state.ssthresh_bytes,
        numbers("SRTT", "ms") => Cell::number(state.srtt_ms, 3),
        numbers("RTO", "ms") => Cell::number(state.rto_ms, 1),
        words("recovery") => state.recovery.unwrap_or("none"),
        numbers("taken for lost", "segments") => state.lost_segments,
        numbers("timeouts", "") => state.timeouts,
    ])
    .captioned(
        "What that end was like then. A kernel's losses and timeouts are told from its packets \
         and from TCP_INFO, each millisecond.",
    )
}
