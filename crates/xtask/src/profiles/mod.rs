//! The profiles (`rfc`, `linux`, `ns2`) knob by knob: each value has a source, and a test that holds
//! it.
//!
//! | file | job |
//! | --- | --- |
//! | `rows.rs` | every knob of the endpoint and of the mechanisms a profile chooses, with its value |
//! | `held.rs` | `crates/tcp/specs/profiles.toml`: which tests hold which value |
//! | `page.rs` | docs/profiles.md |
//!
//! Not checked: whether a test fails when the value changes; scripts are run with other values by
//! their own tests.

mod held;
mod page;
mod rows;

use crate::findings::{CannotCheck, Findings};
use crate::ledger::Evidence;
use crate::workspace::Workspace;
use ackord_tcp::registry::{PROFILES, Profile};
pub(crate) use held::FILE;
use held::{DEFAULT, Held};
pub(crate) use page::page;
use rows::{Row, Said, rows};
use std::collections::BTreeSet;

/// Checks that every knob of every profile says where its value comes from, and that tests that
/// exist hold it.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    let held = match Held::read(&workspace.read(FILE)?) {
        Ok(held) => held,
        Err(error) => {
            findings.errors.push(format!("{FILE}: {error}"));
            return Ok(findings);
        }
    };
    let mut known = BTreeSet::new();
    let mut missing = Vec::new();
    for profile in PROFILES {
        findings.errors.extend(doubled(profile));
        let rows = rows(profile);
        known.extend(rows.iter().map(|row| (profile.name, row.key.clone())));
        known.extend(rows.iter().map(|row| (DEFAULT, row.key.clone())));
        for row in &rows {
            missing.extend(unsaid(profile.name, row));
            if held.tests(profile.name, row).next().is_none() {
                missing.push(unheld(profile.name, row));
            }
        }
    }
    findings.errors.append(&mut missing);
    let mut evidence = Evidence::new(workspace)?;
    for (profile, key, tests) in held.entries() {
        if !known.contains(&(profile, key.to_owned())) {
            let names = known.iter().filter(|(of, _)| *of == profile).map(|(_, key)| key.as_str());
            let names: Vec<&str> = names.collect();
            let hint = crate::ledger::meant(key, names);
            findings.errors.push(format!("{FILE}: [{profile}] has no knob `{key}`{hint}"));
        }
        let complaints = tests.iter().filter_map(|test| evidence.complaint(test));
        findings
            .errors
            .extend(complaints.map(|complaint| format!("{FILE}: [{profile}] {key}: {complaint}")));
    }
    Ok(findings)
}

/// Keys that a profile says twice.
fn doubled(profile: &Profile) -> impl Iterator<Item = String> {
    let Profile { name, settings, of_others, .. } = *profile;
    let mut keys: Vec<&str> = settings.iter().chain(of_others).map(|setting| setting.key).collect();
    keys.sort_unstable();
    let twice: Vec<&str> =
        keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    twice.into_iter().map(move |key| {
        format!("profile {name} says `{key}` twice: crates/tcp/src/registry/profiles/{name}.rs")
    })
}

/// What is to be written where a profile leaves a knob to the registry's default: whoever changes
/// that would change the profile.
fn unsaid(profile: &str, row: &Row) -> Option<String> {
    let Row { key, value, .. } = row;
    let of = match profile {
        "linux" => "a stock kernel has",
        "ns2" => "ns-2 has",
        _ => "the RFC names",
    };
    (row.said == Said::ByDefault && !value.is_empty()).then(|| {
        format!(
            "profile {profile} says nothing of `{key}`: write `set(\"{key}\", \"{value}\", \
             \"WHERE IT COMES FROM\")` into crates/tcp/src/registry/profiles/{profile}.rs, with the \
             value that {of}"
        )
    })
}

/// What is to be written where no test holds a value.
fn unheld(profile: &str, row: &Row) -> String {
    let Row { key, .. } = row;
    let value = row.shown();
    format!(
        "profile {profile}: no test holds `{key} = {value}`: write into {FILE}, under [{profile}]{}, \
         `\"{key}\" = [\"path.rs::test\"]` or `[\"scripts/tcp/FOLDER/NAME.tcp\"]`, with a test that \
         fails if the value changes",
        if row.is_default() {
            " (or under [default], for every profile with this value)"
        } else {
            ""
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_tcp::registry::{Setting, profile};

    fn row(key: &str) -> Row {
        let rows = rows(profile("linux").expect("listed"));
        rows.into_iter().find(|row| row.key == key).expect("a knob")
    }

    #[test]
    fn what_is_missing_is_told_with_what_to_write() {
        let left = Row { said: Said::ByDefault, ..row("rto_min") };
        let told = unsaid("linux", &left).expect("it is left to the default");
        assert!(told.contains("`set(\"rto_min\", \"200 ms\", "), "{told}");
        assert_eq!(unsaid("linux", &row("rto_min")), None);
        let without = Row { value: "", said: Said::ByDefault, ..row("max_window") };
        assert_eq!(unsaid("linux", &without), None, "there is no value to be said");
        let told = unheld("linux", &row("rto_min"));
        assert!(told.contains("under [linux], `\"rto_min\" = ["), "{told}");
    }

    #[test]
    fn what_is_said_twice_is_told() {
        const ONE: Setting = Setting { key: "mss", value: "1 kB", source: "x" };
        static TWICE: &[Setting] = &[ONE, Setting { key: "sack", ..ONE }, ONE];
        let twice = Profile { name: "linux", summary: "", settings: TWICE, of_others: &[] };
        let told: Vec<String> = doubled(&twice).collect();
        assert!(told.len() == 1 && told[0].contains("says `mss` twice"), "{told:?}");
    }
}
