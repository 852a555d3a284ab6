//! A ledger file: one RFC, its sections, and what a section's row must have.

use ackord_units::nearest_name;
use serde::Deserialize;

/// Where the ledger is.
pub(crate) const SPECS: &str = "crates/tcp/specs";

/// What becomes of what a section asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    /// Done as asked.
    Implemented,
    /// Done, but not as asked.
    Deviates,
    /// Not done, and somebody could miss it.
    NotDone,
    /// Asked of something that this endpoint is not.
    NotApplicable,
    /// Asks nothing.
    Informative,
}

impl Status {
    /// Every status, in the order in which they are counted.
    pub(crate) const ALL: [Status; 5] = [
        Status::Implemented,
        Status::Deviates,
        Status::NotDone,
        Status::NotApplicable,
        Status::Informative,
    ];

    /// As it is written in a file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Status::Implemented => "implemented",
            Status::Deviates => "deviates",
            Status::NotDone => "not-done",
            Status::NotApplicable => "not-applicable",
            Status::Informative => "informative",
        }
    }
}

/// A row: what one section asks, or one requirement of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Section {
    /// The section's number, and beyond a blank which requirement of it is meant.
    pub(crate) at: String,
    /// What it asks, in our own words.
    #[serde(default)]
    pub(crate) asks: String,
    /// What becomes of it.
    pub(crate) status: Status,
    /// Where it is done.
    #[serde(default)]
    pub(crate) code: Vec<String>,
    /// What would fail if it were not.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// What is done instead, and why.
    #[serde(default)]
    pub(crate) deviation: String,
    /// Who could notice that.
    #[serde(default)]
    pub(crate) noticed_by: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rfc: u32,
    title: String,
    #[serde(default)]
    section: Vec<Section>,
}

/// The ledger of one RFC.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    /// The file's name.
    pub(crate) file: String,
    /// The RFC's number.
    pub(crate) rfc: u32,
    /// Its title.
    pub(crate) title: String,
    /// Its rows.
    pub(crate) sections: Vec<Section>,
}

const FILE_KEYS: &[&str] = &["rfc", "title", "section"];
const SECTION_KEYS: &[&str] = &["at", "asks", "status", "code", "tests", "deviation", "noticed_by"];

impl Ledger {
    /// Reads a file's text.
    pub(crate) fn read(file: &str, text: &str) -> Result<Ledger, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        refuse_unknown(&table, FILE_KEYS)?;
        let sections = table.get("section").and_then(toml::Value::as_array);
        for section in sections.into_iter().flatten().filter_map(toml::Value::as_table) {
            let at = section.get("at").and_then(toml::Value::as_str).unwrap_or("?");
            refuse_unknown(section, SECTION_KEYS).map_err(|error| format!("{at}: {error}"))?;
            if let Some(word) = section.get("status").and_then(toml::Value::as_str) {
                known_status(word).map_err(|error| format!("{at}: {error}"))?;
            }
        }
        let File { rfc, title, section } =
            toml::from_str(text).map_err(|error| format!("{error}"))?;
        Ok(Ledger { file: file.to_owned(), rfc, title, sections: section })
    }

    /// What its rows lack, and what is wrong with their order.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.file != format!("rfc{}.toml", self.rfc) {
            found.push(format!("is about RFC {}: name it rfc{}.toml", self.rfc, self.rfc));
        }
        if self.title.trim().is_empty() {
            found.push("the RFC's title is missing".to_owned());
        }
        if self.sections.is_empty() {
            found.push("has no section".to_owned());
        }
        for section in &self.sections {
            found.extend(
                section.complaints().map(|complaint| format!("{}: {complaint}", section.at)),
            );
        }
        for (index, section) in self.sections.iter().enumerate() {
            let before = &self.sections[..index];
            if before.iter().any(|other| other.at == section.at) {
                found.push(format!(
                    "{}: is there twice; say which requirement is meant, as in `{} MUST-5`",
                    section.at, section.at
                ));
            }
            if before.last().is_some_and(|last| place(&last.at) > place(&section.at)) {
                found.push(format!("{}: stands after {}", section.at, before[index - 1].at));
            }
        }
        found.into_iter().map(|complaint| format!("{}: {complaint}", self.file)).collect()
    }
}

impl Section {
    fn complaints(&self) -> impl Iterator<Item = String> {
        let status = self.status.word();
        let done = matches!(self.status, Status::Implemented | Status::Deviates);
        let otherwise = matches!(self.status, Status::Deviates | Status::NotDone);
        let lacks = |there: bool, what: &str| (!there).then(|| format!("{status} without {what}"));
        let asks = self.status == Status::Informative || !self.asks.trim().is_empty();
        let number = place(&self.at).is_empty();
        [
            number.then(|| "`at` does not begin with a section's number".to_owned()),
            lacks(asks, "`asks`: what the section asks, in our own words"),
            lacks(!done || !self.code.is_empty(), "`code`"),
            lacks(!done || !self.tests.is_empty(), "`tests`"),
            lacks(
                !otherwise || !self.deviation.trim().is_empty(),
                "`deviation`: what we do instead, and why",
            ),
            lacks(
                !otherwise || !self.noticed_by.trim().is_empty(),
                "`noticed_by`: who could notice",
            ),
            (self.status == Status::Implemented && !self.deviation.is_empty())
                .then(|| "implemented, and has a `deviation`: then it `deviates`".to_owned()),
        ]
        .into_iter()
        .flatten()
    }
}

/// Where a section stands in its RFC: `3.10.7.4` by its numbers, appendices (`A.1`) behind.
/// Empty if it does not begin with a number.
fn place(at: &str) -> Vec<u32> {
    let number = at.split_whitespace().next().unwrap_or_default();
    let parts = number.split('.').map(|part| match part.parse::<u32>() {
        Ok(value) => Some(value),
        Err(_) => match part.as_bytes() {
            [letter @ b'A'..=b'Z'] => Some(1_000 + u32::from(*letter)),
            _ => None,
        },
    });
    parts.collect::<Option<Vec<u32>>>().unwrap_or_default()
}

/// Refuses the first key that is not known, and says which may have been meant.
pub(crate) fn refuse_unknown(table: &toml::Table, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("unknown key `{key}`{}", meant(key, known.iter().copied()))),
    }
}

fn known_status(word: &str) -> Result<(), String> {
    let words = Status::ALL.map(Status::word);
    if words.contains(&word) {
        return Ok(());
    }
    Err(format!("`{word}` is no status{}", meant(word, words)))
}

/// What may have been meant, or everything there is.
pub(crate) fn meant<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest_name(given, known.clone()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; known: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        rfc = 5961
        title = "Blind attacks"
        [[section]]
        at = "3.2"
        asks = "A challenge"
        status = "implemented"
        code = ["a.rs::f"]
        tests = ["a.rs::g"]
        [[section]]
        at = "3.10 MUST-1"
        asks = "Something"
        status = "not-done"
        deviation = "not needed"
        noticed_by = "nobody"
        [[section]]
        at = "A.1"
        status = "informative"
    "#;

    fn complaints(text: &str) -> Vec<String> {
        Ledger::read("rfc5961.toml", text).expect("it can be read").complaints()
    }

    #[test]
    fn a_whole_file_passes() {
        assert_eq!(complaints(GOOD), [""; 0]);
    }

    #[test]
    fn each_missing_part_is_told() {
        for (part, told) in [
            ("code = [\"a.rs::f\"]", "implemented without `code`"),
            ("tests = [\"a.rs::g\"]", "implemented without `tests`"),
            ("asks = \"A challenge\"", "implemented without `asks`"),
            ("deviation = \"not needed\"", "not-done without `deviation`"),
            ("noticed_by = \"nobody\"", "not-done without `noticed_by`"),
        ] {
            let found = complaints(&GOOD.replace(part, ""));
            assert!(found.len() == 1 && found[0].contains(told), "{part}: {found:?}");
        }
    }

    #[test]
    fn order_doubles_and_names_are_told() {
        let found = complaints(&GOOD.replace("\"3.2\"", "\"3.11\""));
        assert_eq!(found, ["rfc5961.toml: 3.10 MUST-1: stands after 3.11"]);
        let found = complaints(&GOOD.replace("3.10 MUST-1", "3.2"));
        assert!(found.len() == 1 && found[0].contains("is there twice"), "{found:?}");
        let found = complaints(&GOOD.replace("= 5961", "= 5962"));
        assert!(found.len() == 1 && found[0].contains("name it rfc5962.toml"), "{found:?}");
        let found = complaints(&GOOD.replace("\"A.1\"", "\"Appendix\""));
        assert!(found[0].contains("does not begin with a section's number"), "{found:?}");
    }

    #[test]
    fn a_misspelt_key_or_status_finds_its_neighbour() {
        let read = |text: String| Ledger::read("rfc5961.toml", &text).unwrap_err();
        let told = read(GOOD.replace("noticed_by", "noticed"));
        assert_eq!(told, "3.10 MUST-1: unknown key `noticed`; did you mean `noticed_by`?");
        let told = read(GOOD.replace("title", "titel"));
        assert_eq!(told, "unknown key `titel`; did you mean `title`?");
        let told = read(GOOD.replace("not-done", "not_done"));
        assert_eq!(told, "3.10 MUST-1: `not_done` is no status; did you mean `not-done`?");
    }
}
