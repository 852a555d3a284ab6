//! A scenario file on its way to a [`Scenario`]: read, overridden, parsed, checked.

use crate::document::{self, Place, Table};
use crate::error::{Errors, NameOf, Problem, Unreadable, Wrong};
use crate::library;
use crate::model::Scenario;
use crate::overrides::{self, Override, Replaced};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Larger than any file a person writes; keeps an endless file from filling memory.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The text of a scenario, not yet checked, and the overrides to it.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    name: String,
    text: String,
    /// Where other files are to which it refers; the working directory when absent.
    folder: Option<PathBuf>,
    overrides: Vec<Override>,
}

impl ScenarioFile {
    /// A scenario's text; `name` stands in errors. Files to which it refers are looked for from the
    /// working directory.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> ScenarioFile {
        let (name, text) = (name.into(), text.into());
        ScenarioFile { name, text, folder: None, overrides: Vec::new() }
    }

    /// The same text, whose files are in `folder`.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> ScenarioFile {
        self.folder = Some(folder.into());
        self
    }

    /// Reads the file at `path`. Where there is none, a path like a bare name, or one that ends in
    /// `scenarios/NAME.toml`, stands for the library scenario of that name.
    pub fn open(path: impl AsRef<Path>) -> Result<ScenarioFile, Errors> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match read(path) {
            Ok(text) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                Ok(ScenarioFile::new(name, text).in_folder(folder))
            }
            Err(Wrong::Unreadable(Unreadable::NoFile)) => {
                match library_name(path).and_then(library::text) {
                    Some(text) => Ok(ScenarioFile::new(name, text)),
                    None => {
                        let nearest = nearest(path);
                        Err(unreadable(name, Wrong::Unreadable(Unreadable::NotFound { nearest })))
                    }
                }
            }
            Err(wrong) => Err(unreadable(name, wrong)),
        }
    }

    /// The library scenario called `name`.
    pub fn from_library(name: &str) -> Result<ScenarioFile, Errors> {
        match library::text(name) {
            Some(text) => Ok(ScenarioFile::new(name, text)),
            None => {
                let known = library::library().map(|(name, _)| name);
                let wrong = Wrong::unknown_name(NameOf::LibraryScenario, name, known);
                Err(unreadable(name.to_owned(), wrong))
            }
        }
    }

    /// The same file with these changes, after those it has already.
    #[must_use]
    pub fn with_overrides(mut self, overrides: impl IntoIterator<Item = Override>) -> ScenarioFile {
        self.overrides.extend(overrides);
        self
    }

    /// The text as it stands in the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The scenario that the file describes, or everything that is wrong with it.
    pub fn check(&self) -> Result<Scenario, Errors> {
        self.check_overrides().map(|(scenario, _)| scenario)
    }

    /// Checks the file like [`check`](ScenarioFile::check), and also returns the settings that its overrides
    /// replaced by naming another mechanism.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn check_overrides(&self) -> Result<(Scenario, Vec<Replaced>), Errors> {
        let mut document = parse(&self.text).map_err(|problems| self.errors(problems))?;
        let written = (!self.overrides.is_empty()).then(|| document.clone());
        let problems = overrides::apply(&mut document, &self.overrides);
        if !problems.is_empty() {
            return Err(self.errors(problems));
        }
        crate::check::check(document, written, self.folder.as_deref())
            .map_err(|problems| self.errors(problems))
    }

    fn errors(&self, problems: Vec<Problem>) -> Errors {
        let overrides = self.overrides.iter().map(Override::to_string).collect();
        Errors { overrides, ..Errors::new(&self.name, &self.text, problems) }
    }
}

/// A text as a document, or where it is not TOML.
///
/// # Errors
/// Every place where the parser stumbles.
pub fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(document::from_toml(table.get_ref(), &Place::Text));
    }
    let problem = |error: &toml::de::Error| Problem {
        place: error.span().map_or(Place::File, Place::Text),
        path: String::new(),
        wrong: Wrong::Syntax { message: error.message().to_owned() },
    };
    Err(errors.iter().map(problem).collect())
}

impl Scenario {
    /// Checks a scenario's text; `file_name` stands in errors.
    pub fn from_toml(text: &str, file_name: &str) -> Result<Scenario, Errors> {
        ScenarioFile::new(file_name, text).check()
    }

    /// Reads and checks a file, or a library scenario by its name: see [`ScenarioFile::open`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Scenario, Errors> {
        ScenarioFile::open(path)?.check()
    }
}

/// The one thing that is wrong with a file that cannot be read.
pub fn unreadable(file: String, wrong: Wrong) -> Errors {
    let problem = Problem { place: Place::File, path: String::new(), wrong };
    Errors { file, text: String::new(), overrides: Vec::new(), problems: vec![problem] }
}

/// The library scenario that a path may mean.
fn library_name(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let bare = !text.contains(['/', '\\', '.']);
    let in_library = path.parent().is_some_and(|parent| parent.ends_with("scenarios"))
        && path.extension().is_some_and(|extension| extension == "toml");
    if bare {
        Some(text)
    } else if in_library {
        path.file_stem()?.to_str()
    } else {
        None
    }
}

/// The text of a file of a size that people write.
///
/// # Errors
/// Why it cannot be read.
pub fn read(path: &Path) -> Result<String, Wrong> {
    let io = |error: io::Error| {
        Wrong::Unreadable(match error.kind() {
            io::ErrorKind::NotFound => Unreadable::NoFile,
            io::ErrorKind::IsADirectory => Unreadable::Directory,
            _ => Unreadable::Io(error.to_string()),
        })
    };
    let file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Wrong::Unreadable(Unreadable::TooLarge { limit: MAX_FILE }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        Wrong::Unreadable(Unreadable::NotUtf8 { line })
    })
}

/// The library scenario that was probably meant: the one spelt most alike, else the first with the
/// given name in its own, since people remember a part (`wifi`).
fn nearest(path: &Path) -> Option<String> {
    /// Fewer letters are in names by chance.
    const SHORTEST_PART: usize = 3;
    let stem = path.file_stem()?.to_str()?;
    let names = || library::library().map(|(name, _)| name);
    let part = || names().find(|name| stem.len() >= SHORTEST_PART && name.contains(stem));
    ackord_units::nearest_name(stem, names()).or_else(part).map(str::to_owned)
}
