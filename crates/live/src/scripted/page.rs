//! The page that tells how a stock kernel differs: every difference, in groups by cause.

use super::causes::{CAUSES, cause_of};
use super::{ScriptVerdict, ScriptsTally};
use std::fmt::Write as _;

/// A script's name with what has come of it.
type Named = (String, ScriptVerdict);

/// The page for a kernel of this name: what has come of the scripts of `profile linux` as they stand, and
/// of all scripts held against what the simulator's profile does.
pub fn kernel_page(
    kernel: &str,
    of_scripts: &[(String, ScriptVerdict)],
    of_profile: &[(String, ScriptVerdict)],
) -> String {
    let mut page = String::new();
    let tally = |all: &[Named]| ScriptsTally::of(all.iter().map(|(_, verdict)| verdict));
    let _ = write!(page, "{}", HEAD.replace("KERNEL", kernel));
    let _ = writeln!(page, "\n## The scripts of `profile linux`\n\n{}.", counts(tally(of_scripts)));
    list(&mut page, of_scripts);
    not_playable(&mut page, of_scripts);
    let _ = writeln!(
        page,
        "\n## All scripts, against what the profile does\n\nOnly what arrives and what is called is \
         taken from the scripts, with `profile linux` and as much of their headers as a kernel can be \
         told. What is expected is what the simulator does then, and its state, cwnd (unless it recovers), \
         ssthresh, kind of recovery and timeout after each of these. PSH and windows are not compared. The \
         first difference of each script is told: what follows mostly follows from it.\n\n{}.",
        counts(tally(of_profile))
    );
    list(&mut page, of_profile);
    not_playable(&mut page, of_profile);
    page
}

const HEAD: &str = "\
# How Linux KERNEL differs under scripts

`ackord script --against kernel=KERNEL` plays the scripts of `scripts/tcp` against a stock kernel in
simulated time. This page lists where it did otherwise, in groups by what in the kernel does it; functions
are those of `net/ipv4`. Written by `ackord script --against kernel=KERNEL --page FILE`.

What happens at an instant of a script happens at that instant of the kernel's, to the nanosecond; a
kernel that computes needs no time, but 256 ns for each look at the clock outside of interrupts. What a
call or an arrival lets it send may leave four looks (1.024 us) later; no other tolerance is allowed. Its
timers expire on ticks of 4 ms, and a script's time zero is a tick.
";

fn counts(tally: ScriptsTally) -> String {
    let ScriptsTally { played, alike, different, not_playable, broken, not_asked } = tally;
    let mut text = format!(
        "{played} played, {alike} alike, {different} different, {not_playable} not playable on a kernel; \
         {not_asked} assertions not asked of it"
    );
    if broken > 0 {
        let _ = write!(text, "; {broken} where the kernel did not go on");
    }
    text
}

/// What is different, by cause.
fn list(page: &mut String, all: &[Named]) {
    let different: Vec<&Named> =
        all.iter().filter(|(_, verdict)| !verdict.differences().is_empty()).collect();
    for cause in CAUSES {
        let of_it =
            |(file, _): &&&Named| cause_of(file).is_some_and(|found| std::ptr::eq(found, cause));
        let of_it: Vec<_> = different.iter().filter(of_it).collect();
        if !of_it.is_empty() {
            let _ = writeln!(page, "\n### {}\n\n{}\n", cause.title, cause.how);
            of_it.iter().for_each(|named| row(page, named));
        }
    }
    let others: Vec<_> = different.iter().filter(|(file, _)| cause_of(file).is_none()).collect();
    if !others.is_empty() {
        let _ = writeln!(page, "\n### Not looked into yet\n");
        others.iter().for_each(|named| row(page, named));
    }
}

fn row(page: &mut String, (file, verdict): &Named) {
    let Some(first) = verdict.differences().first() else { return };
    let (line, text, said) = (first.record.line, &first.text, &first.said);
    let name = file.split("scripts/tcp/").last().unwrap_or(file);
    let _ = writeln!(page, "- `{name}`, line {line} (`{text}`): {said}");
}

fn not_playable(page: &mut String, all: &[Named]) {
    let mut begun = false;
    for (file, verdict) in all {
        let why = match verdict {
            ScriptVerdict::NotPlayable { knobs } => knobs.join("; "),
            ScriptVerdict::Broken { why } => format!("the kernel did not go on: {why}"),
            ScriptVerdict::Played { .. } => continue,
        };
        if !begun {
            let _ = writeln!(page, "\n### Not playable on a kernel\n");
            begun = true;
        }
        let name = file.split("scripts/tcp/").last().unwrap_or(file);
        let _ = writeln!(page, "- `{name}`: {why}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_script_with_a_cause_is_there_and_has_one() {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/tcp");
        let mut named: Vec<&str> =
            CAUSES.iter().flat_map(|cause| cause.scripts.iter().copied()).collect();
        for name in &named {
            assert!(scripts.join(format!("{name}.tcp")).exists(), "{name}");
        }
        named.sort_unstable();
        let all = named.len();
        named.dedup();
        assert_eq!(named.len(), all);
    }
}
