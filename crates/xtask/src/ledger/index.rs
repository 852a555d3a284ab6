//! Which RFCs have to be there: those of the roadmap (RFC 7414) on the standards track and what came
//! after it, and every RFC that the endpoint's page or its registries cite.
//!
//! An RFC that is not for an endpoint like this one stands in the README beside the ledger files, in
//! a table whose rows are `| NUMBER | what it is | why not |`.

use super::entry::{Ledger, SPECS};
use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;
use ackord_tcp::registry;
use std::collections::{BTreeMap, BTreeSet};

/// RFCs of the roadmap (RFC 7414) that stand on the standards track or are an experiment which stacks
/// have taken up, as they are numbered today, and those of the years since.
const ROADMAP: &[u32] = &[
    // Core, and enhancements on the standards track.
    896, 1122, 1144, 1191, 2018, 2675, 2873, 2883, 3042, 3168, 3390, 4015, 4022, 4821, 4898, 5482,
    5681, 5682, 5925, 5926, 5961, 6093, 6191, 6298, 6528, 6582, 6633, 6675, 6691, 6846, 7323,
    // Experiments and documents that guide implementers.
    1337, 2140, 2525, 2861, 3124, 3465, 3522, 3540, 3649, 3708, 3742, 4653, 4782, 4953, 4987, 5461,
    5562, 5690, 5827, 5927, 6069, 6356, 6928, 6937, 6994, 7413, 7414,
    // Since the roadmap.
    7661, 7805, 8200, 8201, 8257, 8311, 8511, 8547, 8548, 8684, 8803, 8899, 8961, 8985, 9040, 9293,
    9330, 9331, 9332, 9406, 9438, 9648, 9743, 9768, 9937,
];

/// Reports RFCs without a place, and places that are taken twice.
pub(crate) fn check(
    workspace: &Workspace,
    ledgers: &[Ledger],
    findings: &mut Findings,
) -> Result<(), CannotCheck> {
    let readme = workspace.read(&format!("{SPECS}/README.md"))?;
    let outside = outside(&readme);
    for (rfc, reason) in &outside {
        if reason.is_empty() {
            findings.errors.push(format!("README.md: RFC {rfc}: outside without a reason"));
        }
        if ledgers.iter().any(|ledger| ledger.rfc == *rfc) {
            findings.errors.push(format!("README.md: RFC {rfc} is outside and has a ledger file"));
        }
    }
    let mut wanted = cited(workspace)?;
    for rfc in ROADMAP {
        wanted.entry(*rfc).or_insert_with(|| "the roadmap (RFC 7414) and what came since".into());
    }
    for (rfc, by) in wanted {
        let there = outside.contains_key(&rfc) || ledgers.iter().any(|ledger| ledger.rfc == rfc);
        if !there {
            findings.errors.push(format!(
                "RFC {rfc} is cited by {by}: write {SPECS}/rfc{rfc}.toml, or a row in its README.md \
                 that says why not"
            ));
        }
    }
    Ok(())
}

/// RFCs that the endpoint's page and its registries cite, and where.
fn cited(workspace: &Workspace) -> Result<BTreeMap<u32, String>, CannotCheck> {
    let mut found = BTreeMap::new();
    let mut note = |text: &str, by: &str| {
        for rfc in rfcs(text) {
            found.entry(rfc).or_insert_with(|| by.to_owned());
        }
    };
    note(&workspace.read("docs/tcp.md")?, "docs/tcp.md");
    let endpoint = std::iter::once(registry::ENDPOINT);
    for mechanism in registry::CHOICES.iter().flat_map(|chosen| chosen.mechanisms).chain(endpoint) {
        let by = format!("the registry ({} {})", mechanism.family, mechanism.name);
        note(mechanism.source, &by);
        mechanism.knobs.iter().for_each(|knob| note(knob.source, &by));
    }
    for profile in registry::PROFILES {
        let by = format!("profile {}", profile.name);
        profile
            .settings
            .iter()
            .chain(profile.of_others)
            .for_each(|setting| note(setting.source, &by));
    }
    Ok(found)
}

/// The numbers that follow `RFC` or `RFCs`, also in lists: "RFC 2018, 6675 and 9937".
fn rfcs(text: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("RFC") {
        let mut rest = text[at + 3..].trim_start_matches('s').trim_start_matches([' ', '\n', '-']);
        // In a list the later ones have four figures: "RFC 6298, 200 ms" names one RFC.
        let mut least_figures = 3;
        while let Some((number, behind)) = leading_number(rest, least_figures) {
            found.insert(number);
            least_figures = 4;
            rest = [", ", " and "]
                .iter()
                .find_map(|joint| behind.strip_prefix(joint))
                .unwrap_or_default();
        }
    }
    found
}

/// A number of at most four figures that stands for itself.
fn leading_number(text: &str, least_figures: usize) -> Option<(u32, &str)> {
    let figures = text.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &text[figures..];
    let whole = (least_figures..=4).contains(&figures)
        && !behind.starts_with(|c: char| c.is_alphanumeric());
    whole.then(|| (text[..figures].parse().expect("a few figures"), behind))
}

/// The README's rows of RFCs outside, with the reason.
fn outside(readme: &str) -> BTreeMap<u32, String> {
    let rows = readme.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let rfc = cells.first()?.parse().ok()?;
        Some((rfc, cells.get(2).copied().unwrap_or_default().to_owned()))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_out_of_prose() {
        let text = "RFC 2018, 6675 §4; RFC 3042 would; RFCs 3522, 3708 and 4015; of 1995, RFC\n896";
        let found: Vec<u32> = rfcs(text).into_iter().collect();
        assert_eq!(found, [896, 2018, 3042, 3522, 3708, 4015, 6675]);
        assert!(rfcs("RFC 9293 §3.8, 200 ms").contains(&9293));
        assert_eq!(rfcs("RFC 6298, 200 ms").len(), 1);
    }

    #[test]
    fn rows_of_the_readme_are_read_with_their_reason() {
        let found = outside(
            "| RFC | what | why |\n| --- | --- | --- |\n| 1144 | headers | links |\n| 5925 | x | |\n",
        );
        assert_eq!(found.get(&1144).map(String::as_str), Some("links"));
        assert_eq!(found.get(&5925).map(String::as_str), Some(""));
    }
}
