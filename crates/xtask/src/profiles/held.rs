//! `crates/tcp/specs/profiles.toml`: which tests hold which value of which profile.

use super::rows::Row;
use ackord_tcp::registry::PROFILES;
use std::collections::BTreeMap;

/// Where it is.
pub(crate) const FILE: &str = "crates/tcp/specs/profiles.toml";

/// The table of values that are the registry's default, whichever profile has them.
pub(super) const DEFAULT: &str = "default";

/// The file's tables: profile, key, tests.
#[derive(Debug)]
pub(super) struct Held(BTreeMap<String, BTreeMap<String, Vec<String>>>);

impl Held {
    /// Reads the file's text.
    pub(super) fn read(text: &str) -> Result<Held, String> {
        let tables: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            toml::from_str(text).map_err(|error| error.to_string())?;
        let known = || PROFILES.iter().map(|profile| profile.name).chain([DEFAULT]);
        match tables.keys().find(|name| known().all(|known| known != *name)) {
            None => Ok(Held(tables)),
            Some(name) => {
                let hint = crate::ledger::meant(name, known());
                Err(format!("there is no profile `{name}`{hint}"))
            }
        }
    }

    /// The tests that hold a row of a profile.
    pub(super) fn tests(&self, profile: &str, row: &Row) -> impl Iterator<Item = &str> {
        let of = |table: &str| self.0.get(table).and_then(|table| table.get(&row.key));
        let shared = if row.is_default() { of(DEFAULT) } else { None };
        of(profile).into_iter().chain(shared).flatten().map(String::as_str)
    }

    /// Everything the file says: profile, key, tests.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &str, &[String])> {
        self.0.iter().flat_map(|(profile, table)| {
            table.iter().map(|(key, tests)| (profile.as_str(), key.as_str(), tests.as_slice()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;
    use ackord_tcp::registry;

    #[test]
    fn a_default_is_held_for_every_profile_that_has_it_and_for_no_other() {
        let held =
            Held::read("[default]\nrto_min = [\"a\"]\n[linux]\nrto_min = [\"b\"]\n").unwrap();
        let tests = |name: &str| {
            let rows = rows(registry::profile(name).expect("listed"));
            let row = rows.into_iter().find(|row| row.key == "rto_min").expect("a knob");
            held.tests(name, &row).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(tests("rfc"), ["a"]);
        assert_eq!(tests("linux"), ["b"]);
        assert_eq!(tests("ns2"), [""; 0]);
    }

    #[test]
    fn a_profile_that_is_none_is_told() {
        let told = Held::read("[linus]\n").unwrap_err();
        assert_eq!(told, "there is no profile `linus`; did you mean `linux`?");
    }
}
