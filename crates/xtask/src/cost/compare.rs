//! Judges counts by the counts of before.

use super::baseline::Recorded;
use super::callgrind::Counted;
use super::{ALLOWED_RISE_PERCENT, RECORDED_PER_MILLE};
use crate::findings::Findings;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// How many functions are named when a workload costs more.
const NAMED: usize = 10;
/// A rise below this share of the workload is not what made it dearer.
const WORTH_NAMING_PER_MILLE: u64 = 1;
const RECORD: &str = "`make cost RECORD=1` records it";

/// Says which workloads cost too much more than before and where, and which are on one side only.
pub(crate) fn judge(
    before: &BTreeMap<String, Recorded>,
    now: &BTreeMap<String, Counted>,
    findings: &mut Findings,
) {
    for name in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        match (before.get(name), now.get(name)) {
            (Some(before), Some(now)) => judge_one(name, before, now, findings),
            (Some(_), None) => findings
                .errors
                .push(format!("{name}: recorded, and no workload any more; {RECORD}")),
            (None, _) => findings.errors.push(format!("{name}: never recorded; {RECORD}")),
        }
    }
}

fn judge_one(name: &str, before: &Recorded, now: &Counted, findings: &mut Findings) {
    let (then, count) = (u128::from(before.instructions), u128::from(now.instructions));
    let allowed = u128::from(ALLOWED_RISE_PERCENT);
    let said = |more: &str| {
        format!(
            "{name}: {} instructions, {} {more} than the recorded {}",
            millions(now.instructions),
            percent(before.instructions, now.instructions).trim_start_matches(['+', '-']),
            millions(before.instructions),
        )
    };
    if count * 100 > then * (100 + allowed) {
        let rose = risen(before, now);
        findings.errors.push(format!("{}; functions that rose:\n{rose}", said("more")));
    } else if count * 100 < then * (100 - allowed) {
        // What is not recorded could be lost again unseen.
        findings.warnings.push(format!("{}; {RECORD}", said("fewer")));
    }
    if let (Some(then), Some(count)) =
        (before.packets, now.packets.filter(|n| before.packets != Some(*n)))
    {
        findings
            .warnings
            .push(format!("{name}: {count} packets instead of {then}: the run is another"));
    }
}

/// The functions that rose most, by how much, a line each.
fn risen(before: &Recorded, now: &Counted) -> String {
    let recorded = by_name(before);
    let mut risen: Vec<(u64, &str, Option<u64>, u64)> = now
        .functions
        .iter()
        .filter_map(|(name, &count)| {
            let then = recorded.get(name.as_str()).copied();
            // Of a function that was too small to be recorded only the largest it can have been is known.
            let rise = count.saturating_sub(then.unwrap_or_else(|| before.least()));
            (rise * 1_000 >= before.instructions * WORTH_NAMING_PER_MILLE).then_some((
                rise,
                name.as_str(),
                then,
                count,
            ))
        })
        .collect();
    risen.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let mut text = String::new();
    for (_, name, then, count) in risen.into_iter().take(NAMED) {
        line(&mut text, name, then, count);
    }
    text.trim_end().to_owned()
}

fn by_name(recorded: &Recorded) -> BTreeMap<&str, u64> {
    recorded.functions.iter().map(|(count, name)| (name.as_str(), *count)).collect()
}

fn line(text: &mut String, name: &str, then: Option<u64>, count: u64) {
    let change = then.map_or("new".into(), |then| percent(then, count));
    let then = then.map_or_else(|| format!("< {} %", RECORDED_PER_MILLE as f64 / 10.0), millions);
    writeln!(text, "    {then:>10} -> {:>10} {change:>9}  {name}", millions(count))
        .expect("a string");
}

/// Every workload with its counts, and instructions per packet where packets are known.
pub(crate) fn table(
    before: &BTreeMap<String, Recorded>,
    now: &BTreeMap<String, Counted>,
) -> String {
    let mut text = format!(
        "{:24} {:>14} {:>14} {:>9} {:>12}\n",
        "workload", "recorded", "instructions", "change", "per packet"
    );
    for (name, now) in now {
        let then = before.get(name).map(|before| before.instructions);
        let change = then.map_or("new".into(), |then| percent(then, now.instructions));
        let then = then.map_or("-".into(), |then| then.to_string());
        let each =
            now.packets.filter(|packets| *packets > 0).map(|packets| now.instructions / packets);
        let each = each.map_or(String::new(), |each| each.to_string());
        writeln!(text, "{name:24} {then:>14} {:>14} {change:>9} {each:>12}", now.instructions)
            .expect("a string");
    }
    text
}

/// A workload's functions with their counts, the dearest first.
pub(crate) fn functions(before: Option<&Recorded>, now: &Counted) -> String {
    let recorded = before.map(by_name).unwrap_or_default();
    let mut text = String::new();
    for (count, name) in Recorded::from(now).functions {
        let then = recorded.get(name.as_str()).copied();
        line(
            &mut text,
            &format!("{:5.1} %  {name}", 100.0 * count as f64 / now.instructions as f64),
            then,
            count,
        );
    }
    text
}

fn millions(count: u64) -> String {
    format!("{:.2} M", count as f64 / 1e6)
}

fn percent(then: u64, now: u64) -> String {
    format!("{:+.2} %", 100.0 * (now as f64 / then.max(1) as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(instructions: u64, functions: &[(&str, u64)]) -> Recorded {
        let functions =
            functions.iter().map(|(name, count)| (*count, (*name).to_owned())).collect();
        Recorded { instructions, packets: Some(100), functions }
    }

    fn counted(instructions: u64, functions: &[(&str, u64)]) -> Counted {
        let functions =
            functions.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Counted { instructions, packets: Some(100), functions }
    }

    fn found(before: Recorded, now: Counted) -> Findings {
        let mut findings = Findings::default();
        judge(&[("w".to_owned(), before)].into(), &[("w".to_owned(), now)].into(), &mut findings);
        findings
    }

    #[test]
    fn a_rise_beyond_three_percent_fails_and_names_the_functions() {
        let before = recorded(100_000_000, &[("scan", 60_000_000), ("send", 30_000_000)]);
        let now =
            [("scan", 62_100_000), ("send", 29_000_000), ("fresh", 2_000_000), ("dust", 400_000)];
        let findings = found(before, counted(103_100_000, &now));
        let [error] = &findings.errors[..] else { panic!("{findings:?}") };
        assert!(
            error.contains("103.10 M instructions, 3.10 % more than the recorded 100.00 M"),
            "{error}"
        );
        let names: Vec<_> = error.lines().skip(1).map(|line| line.split("  ").last()).collect();
        assert_eq!(names, [Some("scan"), Some("fresh")], "what rose, the most first: {error}");
        assert!(error.contains("< 0.5 % ->     2.00 M"), "{error}");
        assert!(error.contains("60.00 M ->    62.10 M   +3.50 %"), "{error}");
    }

    #[test]
    fn a_rise_of_less_than_three_percent_passes() {
        let findings = found(
            recorded(100_000_000, &[("scan", 60_000_000)]),
            counted(102_900_000, &[("scan", 62_900_000)]),
        );
        assert!(findings.errors.is_empty() && findings.warnings.is_empty(), "{findings:?}");
        assert!(found(recorded(100, &[]), counted(103, &[])).errors.is_empty(), "three is allowed");
    }

    #[test]
    fn a_fall_beyond_three_percent_asks_to_be_recorded() {
        let findings = found(recorded(1_000_000, &[]), counted(960_000, &[]));
        assert!(findings.errors.is_empty());
        assert!(findings.warnings[0].contains("4.00 % fewer"), "{findings:?}");
    }

    #[test]
    fn another_number_of_packets_is_another_run() {
        let now = Counted { packets: Some(99), ..counted(100, &[]) };
        let findings = found(recorded(100, &[]), now);
        assert!(findings.warnings[0].contains("99 packets instead of 100"), "{findings:?}");
    }

    #[test]
    fn a_workload_on_one_side_only_fails() {
        let mut findings = Findings::default();
        let before = [("gone".to_owned(), recorded(1, &[]))].into();
        judge(&before, &[("fresh".to_owned(), counted(1, &[]))].into(), &mut findings);
        let [fresh, gone] = &findings.errors[..] else { panic!("{findings:?}") };
        assert!(fresh.starts_with("fresh: never recorded"), "{fresh}");
        assert!(gone.starts_with("gone: recorded, and no workload any more"), "{gone}");
    }
}
