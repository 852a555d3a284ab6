//! `ackord new`: a scenario file to begin with.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use ackord_scenario::ScenarioFile;
use clap::Args;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Write a scenario file to begin with, its comments saying what may be changed
///
/// It runs as it is: one download and one upload over an access link. With --like it is a copy of a
/// built-in scenario. A file that is there already is never touched.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NewArguments {
    /// The file to write, or `-` for standard output
    #[arg(value_name = "FILE|-")]
    file: JsonTarget,
    /// Begin with a copy of this built-in scenario (`ackord list scenarios`) instead
    #[arg(long, value_name = "NAME")]
    like: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  ackord new my.toml && ackord run my.toml
  ackord new my.toml --like bufferbloat
  ackord new - | less
What may stand in a file: ackord list mechanisms, ackord list profiles, ackord schema";

const BEGINNING: &str = include_str!("new.toml");

pub(crate) fn new(arguments: &NewArguments, console: &Console) -> Result<(), Failure> {
    let library = arguments.like.as_deref().map(ScenarioFile::from_library).transpose()?;
    let text = library.as_ref().map_or(BEGINNING, ScenarioFile::text);
    let JsonTarget::File(path) = &arguments.file else { return Ok(console.print(text)?) };
    create(path, &named(text, path)).map_err(|error| {
        let path = path.display().to_string();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Exists(path),
            _ => Failure::CommandOutput { path, source: error },
        }
    })?;
    let file = as_argument(path);
    Ok(console.print(&format!(
        "wrote {}\nNext:\n  ackord check {file}\n  ackord run {file}\n",
        path.display()
    ))?)
}

/// Writes the whole file, unless there is anything of this name.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// The text of a scenario under the name of its file, as far as names may have its characters.
fn named(text: &str, path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = stem.chars().map(|c| if allowed(c) { c } else { '-' }).take(64).collect();
    let name = name.trim_start_matches(['-', '_']);
    let Some((before, rest)) = text.split_once("\nname = \"") else { return text.to_owned() };
    match rest.split_once('"') {
        Some((_, after)) if !name.is_empty() => format!("{before}\nname = \"{name}\"{after}"),
        _ => text.to_owned(),
    }
}

/// The path as a shell takes it.
fn as_argument(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+,@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_named_after_its_file_as_far_as_that_is_a_name() {
        let name = |file: &str| {
            let text = named("version = 1\nname = \"x\"   # y\n", Path::new(file));
            text.split('"').nth(1).expect("a name").to_owned()
        };
        assert_eq!(name("some/where/my-test.toml"), "my-test");
        assert_eq!(name("my test.v2.toml"), "my-test-v2");
        assert_eq!(name("--.toml"), "x");
        assert_eq!(name("é.toml"), "x");
    }

    #[test]
    fn a_path_is_told_as_a_shell_takes_it() {
        assert_eq!(as_argument(Path::new("a/b-1.toml")), "a/b-1.toml");
        assert_eq!(as_argument(Path::new("it's mine.toml")), r"'it'\''s mine.toml'");
    }
}
