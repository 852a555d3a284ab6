//! The measurements as a document: tables beside the goals, and what they mean.

use super::{Micros, Results};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;

/// The same for people.
pub fn document(results: &Results, command: String) -> Document {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let met: Vec<bool> = (results.rates.iter().filter_map(|row| row.goal_met))
        .chain(results.delays.iter().map(|row| row.goal_met))
        .chain(results.most.iter().filter_map(|row| row.goal_met))
        .collect();
    let verdict = match met.iter().filter(|met| !**met).count() {
        0 => format!("All {} goals are met.", met.len()),
        missed => format!("{missed} of {} goals are missed.", met.len()),
    };
    let integrity = match results.damaged {
        0 => "Everything that arrived was as it was sent, and in order.".to_owned(),
        damaged => {
            format!("{damaged} bytes or datagrams arrived other than sent, or out of order.")
        }
    };
    let load = results.load_average_before.map_or("unknown".to_owned(), |load| load.to_string());
    let mut sections = vec![
        Section::new("Rate")
            .with(Block::Text(format!("{verdict} {integrity}")))
            .with(Block::Table(rate_table(results)))
            .with(Block::notes(RATE_NOTES)),
        Section::new("Delay")
            .with(Block::Table(delay_table(results)))
            .with(Block::Table(parts_table(results)))
            .with(Block::notes(DELAY_NOTES)),
        Section::new("How late the emulator was")
            .with(Block::Table(histogram_table(results)))
            .with(Block::notes(LATENESS_NOTES))
            .with(Block::Command { caption: "To repeat it".to_owned(), line: command }),
    ];
    if !results.most.is_empty() {
        let most = Section::new("The most that goes through")
            .with(Block::Table(most_table(results)))
            .with(Block::notes(MOST_NOTES));
        sections.insert(2, most);
    }
    Document {
        title: "How exactly the emulator emulates".to_owned(),
        purpose: "One emulated link between two network namespaces on the stock kernel: rate and \
                  delay against what they should be, and the most that goes through."
            .to_owned(),
        facts: vec![
            fact("kernel", results.kernel.clone()),
            fact("processors", results.processors.to_string()),
            fact("load average before", load),
            fact("scheduling of the emulator", results.scheduling.to_owned()),
            fact("each measurement", format!("{} s", results.duration_s)),
            fact("version", results.version.to_owned()),
            fact("build", results.build.to_owned()),
        ],
        sections,
    }
}

const RATE_NOTES: &[&str] = &[
    "delivered: IP packets, headers included, at the receiver's socket: datagrams by the kernel's \
     stamps of their arrival, TCP by the bytes read, times 1500 by the payload of a full segment; \
     the first fifth of the time is left out",
    "UDP offers a tenth more than the link carries; TCP is one connection of the stock kernel",
    "late: by how much the emulator handed over later than it should have, half of the packets and \
     all but 1 %",
];

const DELAY_NOTES: &[&str] = &[
    "by how much datagrams came later than theory has it, half of them and all but 1 %: from the stamp that the sender takes before its call to the stamp of the receiver's \
     kernel, less transmission, propagation (5 ms) and the wait for those before it; nothing is \
     taken off for what the program that measures costs",
    "into: of this, until the emulator had the packet (the call, the kernel's sending, the \
     emulator's waking up); out: of this, from when the emulator should have let it go (its \
     lateness, the kernel's receiving); late by itself: what the emulator knows of. These do not add up to the error quantile by quantile, \
     and where packets wait for one another what is late on the way in need not be late on the way \
     out",
    "idle: datagrams of 60 bytes, 200 each second; busy: packets of 1500 bytes at 80 % of the \
     rate, eight at a time",
    "no emulator: the same sender and receiver over the loopback device of one namespace, the part \
     of the error that no emulator could avoid",
];

const MOST_NOTES: &[&str] = &[
    "each packet passes the kernel four times and the emulator once; sender, receiver and emulator \
     share the processors",
    "delivered: the highest of six rates offered; without loss: the highest of them at which less \
     than 0.1 % was lost",
];

const LATENESS_NOTES: &[&str] = &[
    "all measurements of rate and delay together; a live run is untrustworthy where more than 1 % \
       of its packets are more than 1 ms late",
];

fn verdict(met: bool) -> Cell {
    Cell::text(if met { "met" } else { "MISSED" })
}

fn rate_words(bit_s: u64) -> String {
    ackord_units::Rate::from_bits_per_sec(bit_s).to_string()
}

fn rate_table(results: &Results) -> Table {
    table!(results.rates.iter(), |row| [
        words("link") => rate_words(row.configured_bit_s),
        words("by") => row.traffic,
        numbers("offered", "Mbit/s") => Cell::number(row.offered_bit_s as f64 / 1e6, 2),
        numbers("delivered", "Mbit/s") => Cell::number(row.delivered_bit_s as f64 / 1e6, 3),
        numbers("error", "%") => Cell::number(row.error_percent, 3),
        words("goal: 1 %") => row.goal_met.map_or(Cell::text("too little offered"), verdict),
        numbers("dropped", "packets") => row.dropped_packets,
        numbers("late, half", "us") => Cell::number(row.lateness.p50_us, 1),
        numbers("99 %", "us") => Cell::number(row.lateness.p99_us, 1),
    ])
}

fn delay_table(results: &Results) -> Table {
    let goal = "goal: 50 and 200 us";
    let rows = results.delays.iter().map(|row| {
        let link = rate_words(row.configured_bit_s);
        (link, row.load, row.error_us, verdict(row.goal_met))
    });
    let control = ("no emulator".to_owned(), "idle", results.control_us, Cell::Missing);
    table!(rows.chain([control]), |(link, load, error, verdict)| [
        words("link") => link,
        words("load") => load,
        numbers("measured", "datagrams") => error.count,
        numbers("half", "us") => Cell::number(error.p50, 1),
        numbers("99 %", "us") => Cell::number(error.p99, 1),
        numbers("most", "us") => Cell::number(error.max, 1),
        words(goal) => verdict,
    ])
}

fn parts_table(results: &Results) -> Table {
    let half = |part: &Option<Micros>| Cell::number(part.map(|part| part.p50), 1);
    let most = |part: &Option<Micros>| Cell::number(part.map(|part| part.p99), 1);
    table!(results.delays.iter(), |row| [
        words("link") => rate_words(row.configured_bit_s),
        words("load") => row.load,
        numbers("into: half", "us") => half(&row.of_this_into_the_emulator_us),
        numbers("99 %", "us") => most(&row.of_this_into_the_emulator_us),
        numbers("out of: half", "us") => half(&row.of_this_out_of_the_emulator_us),
        numbers("99 %", "us") => most(&row.of_this_out_of_the_emulator_us),
        numbers("late by itself: half", "us") => Cell::number(row.lateness.p50_us, 1),
        numbers("99 %", "us") => Cell::number(row.lateness.p99_us, 1),
    ])
    .captioned("Where the error comes from")
}

fn most_table(results: &Results) -> Table {
    table!(results.most.iter(), |row| [
        words("of") => match row.what {
            "tcp" => "one TCP connection",
            "udp-1500" => "UDP, 1500 bytes",
            _ => "UDP, 60 bytes",
        },
        numbers("delivered", "Mbit/s") => Cell::number(row.delivered_bit_s as f64 / 1e6, 1),
        numbers("delivered", "packets/s") => row.packets_per_s,
        words("goal") => row.goal,
        words("") => row.goal_met.map_or(Cell::Missing, verdict),
        numbers("offered", "packets/s") => row.offered_packets_per_s,
        numbers("without loss", "packets/s") => row.lossless_packets_per_s,
    ])
}

fn histogram_table(results: &Results) -> Table {
    let all = results.lateness.packets.max(1) as f64;
    table!(results.lateness_histogram.iter(), |bucket| [
        numbers("late by up to", "us") => Cell::number(bucket.up_to_us, 0),
        numbers("packets", "") => bucket.packets,
        numbers("share", "%") => Cell::number(100.0 * bucket.packets as f64 / all, 3),
    ])
}
