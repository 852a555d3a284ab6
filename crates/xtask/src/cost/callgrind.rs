//! Counts the instructions of one command, by function.
//!
//! A function's instructions are its own, with those of what the compiler put into it and without
//! those of what it calls. Functions of one name (instances of one generic function) count together.

use super::workloads::Workload;
use crate::findings::CannotCheck;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What a command cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// From the program's start to its end.
    pub(crate) instructions: u64,
    /// Data packets over the bottleneck, where the command prints that.
    pub(crate) packets: Option<u64>,
    /// Instructions by function, all of them.
    pub(crate) functions: BTreeMap<String, u64>,
}

/// Runs the workload once and leaves its profile in `folder`.
pub(crate) fn count(
    program: &Path,
    workload: &Workload,
    folder: &Path,
) -> Result<Counted, CannotCheck> {
    let profile = folder.join(&workload.name).with_extension("out");
    let out = folder.join(&workload.name);
    let run = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .args(workload.arguments(&out.to_string_lossy()))
        // The environment lies on the stack, and its size moves what lies below.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into());
    }
    let mut counted = parse(&std::fs::read_to_string(&profile)?)?;
    counted.packets = packets(&String::from_utf8_lossy(&run.stdout));
    Ok(counted)
}

/// `ackord bench` prints JSON on one line, with the number of packets.
fn packets(printed: &str) -> Option<u64> {
    let (_, after) = printed.split_once("\"packets\": ")?;
    printed.starts_with("{ \"topology\"").then_some(())?;
    after.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Reads a profile: lines of costs below the function that they belong to. A line after `calls=` is
/// what the call cost, and belongs to the called function.
fn parse(profile: &str) -> Result<Counted, CannotCheck> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut own: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut function, mut summary, mut called) = ("", None, false);
    for line in profile.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = identified(name, &mut names);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            identified(name, &mut names);
        } else if line.starts_with("calls=") {
            called = true;
        } else if let Some(count) = line.strip_prefix("summary: ") {
            summary = Some(count.trim().parse::<u64>()?);
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            // The place in the source, then instructions; no number means none.
            let instructions = line.split_whitespace().nth(1).map_or(Ok(0), str::parse::<u64>)?;
            if !std::mem::take(&mut called) {
                *own.entry(function).or_default() += instructions;
            }
        }
    }
    let instructions = summary.ok_or("a profile without a summary")?;
    let sum: u64 = own.values().sum();
    if sum != instructions {
        return Err(format!(
            "its functions make {sum} instructions, its summary says {instructions}"
        )
        .into());
    }
    let mut functions: BTreeMap<String, u64> = BTreeMap::new();
    for (id, instructions) in own {
        // Where functions call each other in a circle callgrind numbers the depth: name'2.
        let name = names[id].rsplit_once('\'').filter(|(_, depth)| depth.parse::<u32>().is_ok());
        let name = name.map_or(names[id], |(name, _)| name);
        *functions.entry(name.to_owned()).or_default() += instructions;
    }
    Ok(Counted { instructions, packets: None, functions })
}

/// The number of a function, whose name is given only the first time: `(17) name`, then `(17)`.
fn identified<'a>(text: &'a str, names: &mut BTreeMap<&'a str, &'a str>) -> &'a str {
    let (id, name) = text.split_once(' ').unwrap_or((text, ""));
    if !name.is_empty() {
        names.insert(id, name);
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "positions: line\nevents: Ir\nsummary: 160\n\n\
        fl=(1) a.rs\nfn=(1) main\n3 10\n+1 5\ncfn=(2) Scoreboard::mark\ncalls=4 20\n+2 130\n* 5\n\
        fn=(2)\n20 100\nfi=(2) b.rs\n-3 30\n\nfn=(3) Scoreboard::mark'2\n7 10\n9\ntotals: 160\n";

    #[test]
    fn a_call_counts_for_the_called_function_and_instances_count_together() {
        let counted = parse(PROFILE).expect("sound");
        assert_eq!(counted.instructions, 160);
        let own = [("Scoreboard::mark".to_owned(), 140), ("main".to_owned(), 20)];
        assert_eq!(counted.functions, own.into());
    }

    #[test]
    fn a_profile_whose_parts_are_not_its_sum_is_refused() {
        let error = parse(&PROFILE.replace("+1 5", "+1 6")).expect_err("161 are not 160");
        assert!(error.to_string().contains("161"), "{error}");
        assert!(parse("events: Ir\n").is_err(), "no summary");
    }

    #[test]
    fn packets_are_those_that_the_bench_prints() {
        let bench = "{ \"topology\": \"host\", \"flows\": 10, \"packets\": 4132, \"drops\": 1045 }";
        assert_eq!(packets(bench), Some(4132));
        assert_eq!(packets("path  drop-tail  2186"), None);
    }
}
