//! `ackord completions`: a script for a shell, and the names that the script asks this program for.
//!
//! The script calls the program with the words typed so far and `ACKORD_COMPLETE` in the environment
//! (clap_complete's dynamic completion). So completions are always those of the installed program, and know names
//! from the scenario that stands on the line.
//!
//! | file | what |
//! | --- | --- |
//! | `completions.rs` | the script, and the names of scenarios, mechanisms, profiles, metrics, papers |
//! | `completions/keys.rs` | keys of `--set` and `--vary`, from the schema and the scenario |

mod keys;

use crate::command_line::command;
use crate::console::Console;
use crate::errors::Failure;
use crate::list;
use ackord_papers::papers;
use ackord_scenario::ScenarioFile;
use ackord_tcp::registry::PROFILES;
use clap_complete::engine::{PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{CompletionCandidate as Candidate, Shell};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// Present in the environment when a shell asks.
const VARIABLE: &str = "ACKORD_COMPLETE";

/// Print completions for a shell: bash, zsh, fish, elvish, powershell
///
/// Besides commands and options they know scenarios (built-in ones and files), mechanisms, profiles, metrics, papers,
/// and the keys of `--set` and `--vary` with the links, flows and hosts of the scenario on the line.
#[derive(clap::Args)]
#[command(after_help = "\
For bash:
  ackord completions bash > ~/.local/share/bash-completion/completions/ackord
For zsh, into a folder of $fpath:
  ackord completions zsh > ~/.zfunc/_ackord
For fish:
  ackord completions fish > ~/.config/fish/completions/ackord.fish")]
pub(crate) struct CompletionsArguments {
    /// Which shell
    shell: Shell,
}

/// Prints candidates and exits, if a shell asks for them.
pub(crate) fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

pub(crate) fn completions(
    arguments: &CompletionsArguments,
    console: &Console,
) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let name = arguments.shell.to_string();
    let shell = shells.completer(&name).expect("both lists are the library's");
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "ackord", "ackord", "ackord", &mut script)?;
    if arguments.shell == Shell::Zsh {
        // zsh loads the file at the first completion, which would get no answer without this.
        script.extend_from_slice(
            b"[[ ${funcstack[1]} == _ackord ]] && _clap_dynamic_completer_ackord \"$@\"\n",
        );
    }
    Ok(console.print_bytes(&script)?)
}

/// Returns built-in scenarios, TOML files and folders.
pub(crate) fn scenarios(current: &OsStr) -> Vec<Candidate> {
    let names = ackord_scenario::library().map(|(name, _)| (name.to_owned(), purpose(name)));
    let mut found = beginning(current, names);
    found.extend(toml_files(current));
    found
}

/// Returns TOML files and folders.
fn toml_files(current: &OsStr) -> Vec<Candidate> {
    let is_toml = |path: &Path| {
        path.is_dir() || path.extension().is_some_and(|extension| extension == "toml")
    };
    PathCompleter::any().filter(is_toml).complete(current)
}

fn purpose(name: &str) -> String {
    let text = ackord_scenario::library().find(|(known, _)| *known == name).map(|(_, text)| text);
    let line = text.unwrap_or_default().lines().find_map(|line| line.strip_prefix("purpose = \""));
    line.unwrap_or_default().trim_end_matches('"').to_owned()
}

/// Returns what `ackord list WHAT NAME` can name, by what is listed.
pub(crate) fn listed(current: &OsStr) -> Vec<Candidate> {
    let words = words();
    let after = |word: &String| word == "list";
    let what =
        words.iter().skip_while(|word| !after(word)).find(|word| WHAT.contains(&word.as_str()));
    match what.map(String::as_str) {
        Some("mechanisms") => mechanisms(current),
        Some("profiles") => profiles(current),
        Some("scenarios") => beginning(
            current,
            ackord_scenario::library().map(|(name, _)| (name.to_owned(), purpose(name))),
        ),
        Some("metrics") => metrics(current),
        _ => papers_named(current),
    }
}

const WHAT: [&str; 6] = ["mechanisms", "profiles", "scenarios", "metrics", "papers", "verdicts"];

/// Returns mechanisms and their kinds.
pub(crate) fn mechanisms(current: &OsStr) -> Vec<Candidate> {
    let all = ackord_study::mechanisms::mechanisms();
    let kinds = all.iter().map(|each| (each.family.to_owned(), "a kind of mechanism".to_owned()));
    let names = all.iter().map(|each| (each.name.to_owned(), each.summary.to_owned()));
    beginning(current, kinds.chain(names))
}

/// Returns mechanisms and kinds that the guide explains.
pub(crate) fn guided(current: &OsStr) -> Vec<Candidate> {
    let entries = || ackord_study::guide::entries();
    let kinds = entries().map(|each| (each.family.to_owned(), "a kind of mechanism".to_owned()));
    let names = entries().map(|each| (each.name.to_owned(), format!("of {}", each.family)));
    beginning(current, kinds.chain(names))
}

/// Returns the names of one kind of mechanism: queues, middleboxes.
fn of_kind(kind: &str, current: &OsStr) -> Vec<Candidate> {
    let all = ackord_study::mechanisms::mechanisms().into_iter().filter(|each| each.family == kind);
    beginning(current, all.map(|each| (each.name.to_owned(), each.summary.to_owned())))
}

/// Returns the names of queues.
pub(crate) fn queues(current: &OsStr) -> Vec<Candidate> {
    of_kind("queue", current)
}

/// Returns the rate of a queue that is a word.
#[cfg(feature = "daemons")]
pub(crate) fn rates(current: &OsStr) -> Vec<Candidate> {
    beginning(current, [("auto".to_owned(), "it follows the link".to_owned())])
}

/// Returns the names of middleboxes.
pub(crate) fn proxies(current: &OsStr) -> Vec<Candidate> {
    of_kind("proxy", current)
}

fn profiles(current: &OsStr) -> Vec<Candidate> {
    beginning(current, PROFILES.iter().map(|each| (each.name.to_owned(), each.summary.to_owned())))
}

/// Returns metrics by name.
pub(crate) fn metrics(current: &OsStr) -> Vec<Candidate> {
    beginning(current, list::metrics::names().map(|(name, about)| (name.to_owned(), about)))
}

/// Returns the papers that can be reproduced.
pub(crate) fn papers_named(current: &OsStr) -> Vec<Candidate> {
    beginning(current, papers().iter().map(|each| (each.name.to_owned(), each.title.to_owned())))
}

/// Returns the papers, and `all`.
pub(crate) fn papers_or_all(current: &OsStr) -> Vec<Candidate> {
    let mut found = papers_named(current);
    found.extend(beginning(current, [("all".to_owned(), "every paper".to_owned())]));
    found
}

/// Returns keys with `=`, and values of those that have a few.
pub(crate) fn settings(current: &OsStr) -> Vec<Candidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    let scenario = words().iter().skip(1).find_map(|word| scenario_of(word));
    let names = scenario.map(|file| keys::Names::of(&file)).unwrap_or_default();
    keys::candidates(&names, current).into_iter().map(Candidate::new).collect()
}

/// Returns the scenario that a word names, if it does.
fn scenario_of(word: &str) -> Option<ScenarioFile> {
    let bare = word.trim_matches(['"', '\'']);
    let is_file = Path::new(bare).extension().is_some_and(|extension| extension == "toml");
    let is_known = ackord_scenario::library().any(|(name, _)| name == bare);
    if is_file || is_known { ScenarioFile::open(bare).ok() } else { None }
}

/// Returns the words on the line, the program's name first.
fn words() -> Vec<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.skip_while(|word| word != "--").skip(1).collect()
}

/// Returns the names that begin with what was typed, each once, with the first line of what they mean.
fn beginning(current: &OsStr, names: impl IntoIterator<Item = (String, String)>) -> Vec<Candidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    let mut found = BTreeMap::new();
    for (name, about) in names {
        if name.starts_with(current) {
            found.entry(name).or_insert(about);
        }
    }
    found.into_iter().map(|(name, about)| Candidate::new(name).help(Some(about.into()))).collect()
}
