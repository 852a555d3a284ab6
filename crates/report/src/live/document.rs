//! The report of a live run, and the marks on one that is not to be believed.

use super::kernel::kernel_section;
use super::{
    DeviceCounts, LatenessBucket, LiveCommand, LiveDetails, RealTime, SimulatedTime, TrustWord,
};
use crate::document::{Block, Cell, Column, Document, Section, Table};
use crate::plot::{Mark, Plot, PlotSeries, Scale};
use crate::reports::{Context, run_document, table_with_rows};
use crate::table;
use ackord_measure::{RunSummary, SeriesSet};

/// The report of a live run: that of a simulated one, with what is said here.
pub fn live_document(
    run: &RunSummary,
    series: Option<&SeriesSet>,
    live: &LiveDetails,
    context: &Context,
) -> Document {
    let mut document = run_document(run, series, context);
    for (name, value) in &mut document.facts {
        if name == "simulated" {
            match live.trust {
                TrustWord::SimulatedTime => "ran in simulated time for",
                _ => "ran in real time for",
            }
            .clone_into(name);
            *value = format!("{:.3} s", run.duration_s);
        }
    }
    let trust = match live.trust {
        TrustWord::WithinBudget => Some("lateness within budget"),
        TrustWord::Untrustworthy => Some("UNTRUSTWORTHY: lateness over budget"),
        TrustWord::SimulatedTime => None,
    };
    document.facts.extend(trust.map(|trust| ("trust".to_owned(), trust.to_owned())));
    // Before what is there for looking things up.
    let at = document.sections.iter().position(|section| section.heading == "Mechanisms");
    let at = at.unwrap_or(document.sections.len());
    let programs = programs_section(&live.commands);
    let time = live.real_time.as_ref().map(|late| real_time_section(late, live.trust));
    let time = time.or_else(|| live.simulated_time.as_ref().map(simulated_time_section));
    let new = programs.into_iter().chain([kernel_section(live)]).chain(time);
    document.sections.splice(at..at, new);
    if live.trust == TrustWord::Untrustworthy
        && let Some(late) = &live.real_time
    {
        mark(&mut document, late);
    }
    document
}

/// Says everywhere that the run is not to be believed.
fn mark(document: &mut Document, late: &RealTime) {
    let warning = format!(
        "UNTRUSTWORTHY: 99 % of the packets were handed over up to {:.0} us late, the latest {:.0} \
         us, and the budget is {:.0} us (a hundred times as much for the latest). Delays, rates and what follows from them are those of a busy machine, not of the \
         scenario's path. Run it again on an idle machine, at lower rates, with \
         `--realtime-priority`, or with a larger `--lateness-budget` if that much is of no account.",
        late.p99_us, late.max_us, late.budget_us
    );
    document.title.push_str(" (UNTRUSTWORTHY)");
    document.sections.insert(0, Section::new("Untrustworthy").with(Block::Text(warning)));
    for section in &mut document.sections {
        for block in &mut section.blocks {
            if let Block::Plot(plot) = block {
                plot.title.push_str(" – UNTRUSTWORTHY");
            }
        }
    }
}

fn programs_section(commands: &[LiveCommand]) -> Option<Section> {
    let table = table!(commands, |command| [
        words("flow") => &command.flow,
        words("end") => command.end,
        words("host") => &command.host,
        words("command") => &command.command,
        words("outcome") => &command.outcome,
    ]);
    let mut section = Section::new("Programs");
    section.blocks.extend(table_with_rows(table));
    let unseen = "Timeouts, recoveries and windows of a program's connections do not show on the wire; \
                  what the kernels counted of them stands below.";
    section.blocks.push(Block::Text(unseen.to_owned()));
    let outputs: Vec<_> = commands.iter().flat_map(|command| &command.outputs).collect();
    if !outputs.is_empty() {
        let list: Vec<_> = outputs.iter().map(|output| format!("`{output}`")).collect();
        section.blocks.push(Block::Text(format!("What they wrote: {}.", list.join(", "))));
    }
    (!commands.is_empty()).then_some(section)
}

fn simulated_time_section(time: &SimulatedTime) -> Section {
    let caption = "Stock kernels as User-Mode Linux, whose clock is the run's. HZ is set when one is \
                   built, since User-Mode Linux itself knows no other than 100.";
    let table = table!(&time.kernels, |kernel| [
        words("host") => &kernel.host,
        words("kernel") => &kernel.kernel,
        words("release") => &kernel.release,
        numbers("HZ", "/s") => kernel.hz,
        words("source") => &kernel.source,
        words("SHA-256") => kernel.sha256.get(..12).unwrap_or(&kernel.sha256),
    ])
    .captioned(caption);
    let section = Section::new("Simulated time")
        .with(Block::Table(table))
        .with(Block::Table(device_table(&time.device)));
    match time.exact {
        true => section,
        false => section.with(Block::Text(
            "Programs ran on these kernels. Their time, files and random numbers are the kernel's; what \
             a program asks of the processor itself (its clock, RDTSC; its random numbers, RDRAND) no \
             kernel can keep from it, and a program that does so may differ from run to run."
                .to_owned(),
        )),
    }
}

fn real_time_section(late: &RealTime, trust: TrustWord) -> Section {
    let trust = match trust {
        TrustWord::WithinBudget | TrustWord::SimulatedTime => "within budget",
        TrustWord::Untrustworthy => "UNTRUSTWORTHY",
    };
    let table = table!([late], |late| [
        numbers("handed over", "packets") => late.packets,
        numbers("late, p50", "us") => Cell::number(late.p50_us, 1),
        numbers("p99", "us") => Cell::number(late.p99_us, 1),
        numbers("max", "us") => Cell::number(late.max_us, 1),
        numbers("budget of p99", "us") => Cell::number(late.budget_us, 0),
        words("trust") => trust,
        words("driver") => late.scheduling,
    ])
    .captioned("How much later than planned packets were handed to kernels.");
    let mut section = Section::new("Real time")
        .with(Block::Table(table))
        .with(Block::Table(device_table(&late.device)));
    if !late.histogram.is_empty() {
        section.blocks.push(Block::Plot(lateness_plot(late)));
    }
    section
}

fn device_table(device: &DeviceCounts) -> Table {
    let all = [
        ("entered", device.entered),
        ("delivered", device.delivered),
        ("made anew", device.made),
        ("for nobody", device.ignored),
        ("malformed", device.malformed),
        ("refused by the kernel", device.refused),
        ("too many under way", device.too_many),
        ("without data", device.without_bytes),
    ];
    // The first two always; the others where there is something to tell.
    let told: Vec<_> = all
        .into_iter()
        .enumerate()
        .filter(|(index, (_, count))| *index < 2 || *count > 0)
        .collect();
    Table {
        caption: "Packets at the kernels' devices.".to_owned(),
        columns: told.iter().map(|(_, (name, _))| Column::numbers(name, "")).collect(),
        rows: vec![told.iter().map(|(_, (_, count))| Cell::Count(*count)).collect()],
    }
}

/// The share of packets in each class of lateness.
fn lateness_plot(late: &RealTime) -> Plot {
    let total = late.packets.max(1) as f64;
    let title = format!(
        "Lateness of packets (p50 {:.0} us, p99 {:.0} us, max {:.0} us)",
        late.p50_us, late.p99_us, late.max_us
    );
    let mut plot = Plot::new("lateness", &title, "late by at most (us)", "packets (%)");
    let classes = late.histogram.iter().map(|bucket| format!("{}", bucket.up_to_us));
    plot.x.scale = Scale::Categories(classes.collect());
    let share = |bucket: &LatenessBucket| bucket.packets as f64 / total * 100.0;
    let points = late.histogram.iter().enumerate().map(|(at, bucket)| (at as f64, share(bucket)));
    plot.with(PlotSeries::new("packets", Mark::Bars, points))
}

#[cfg(test)]
mod tests {
    use super::super::kernel::settings_table;
    use super::super::{LiveHost, LiveSetting, SettingWord};
    use super::*;
    use crate::to_html;
    use ackord_measure::{RunIdentity, RunLabels, Summary};
    use std::collections::BTreeMap;

    fn setting(asked: &str, outcome: SettingWord) -> LiveSetting {
        let (setting, detail) = ("nagle".to_owned(), "Minshall's variant".to_owned());
        LiveSetting { of: None, setting, asked: asked.to_owned(), outcome, detail }
    }

    fn host(name: &str, settings: Vec<LiveSetting>) -> LiveHost {
        let counters = BTreeMap::from([("TcpOutSegs".to_owned(), 7)]);
        LiveHost { name: name.to_owned(), place: "kernel", settings, counters }
    }

    fn details(trust: TrustWord) -> LiveDetails {
        let instead = || setting("on", SettingWord::Instead);
        let real_time = RealTime {
            took_s: 1.0,
            scheduling: "ordinary",
            packets: 10,
            p50_us: 20.0,
            p99_us: 3_000.0,
            max_us: 4_000.0,
            budget_us: 1_000.0,
            histogram: vec![
                LatenessBucket { up_to_us: 20.0, packets: 9 },
                LatenessBucket { up_to_us: 5_000.0, packets: 1 },
            ],
            device: DeviceCounts { entered: 11, delivered: 10, ..DeviceCounts::default() },
        };
        let hosts = vec![
            host("a", vec![instead(), setting("off", SettingWord::Set)]),
            host("b", vec![instead(), instead(), setting("x", SettingWord::Instead)]),
        ];
        let real_time = Some(real_time);
        let simulated_time = None;
        let (connections, commands) = (Vec::new(), Vec::new());
        LiveDetails { trust, real_time, simulated_time, hosts, connections, commands }
    }

    fn document(trust: TrustWord) -> Document {
        let labels = RunLabels::default();
        let identity =
            RunIdentity { scenario_hash: "h".to_owned(), seed: 1, version: "0".to_owned() };
        let run = Summary::new(&labels).finish(identity, ackord_units::Time::ZERO);
        live_document(&run, None, &details(trust), &Context::default())
    }

    #[test]
    fn what_kernels_do_alike_is_told_once() {
        let live = details(TrustWord::WithinBudget);
        let rows: Vec<Vec<String>> = settings_table(&live.hosts)
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::show).collect())
            .collect();
        let variant = "Minshall's variant";
        assert_eq!(rows, [["nagle", "on", variant, "all"], ["nagle", "x", variant, "b"]]);
    }

    #[test]
    fn a_run_over_budget_says_so_first_and_on_every_plot() {
        let fine = document(TrustWord::WithinBudget);
        assert!(!to_html(&fine).contains("UNTRUSTWORTHY"));
        let late = document(TrustWord::Untrustworthy);
        assert_eq!(late.sections[0].heading, "Untrustworthy");
        assert!(late.title.contains("UNTRUSTWORTHY"));
        assert!(late.plots().count() > 0);
        assert!(late.plots().all(|plot| plot.title.contains("UNTRUSTWORTHY")));
        // The shares of the classes of lateness are those of the packets.
        let plot = late.plots().find(|plot| plot.id == "lateness").expect("it is drawn");
        let shares: Vec<f64> = plot.series[0].points.iter().map(|point| point.y).collect();
        assert_eq!(shares, [90.0, 10.0]);
    }
}
