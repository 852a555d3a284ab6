//! From words to arguments: colours and width of clap's own output, the nearest name for a misspelt one.
//!
//! clap compares names by Jaro similarity, which finds `kernel` near `rn`. Its suggestions are replaced by those of
//! the rule that the rest of the program follows ([`ackord_units::nearest_name`]).

use crate::Arguments;
use crate::groups::grouped;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{ColorChoice, Command, CommandFactory as _, FromArgMatches as _, ValueEnum as _};
use std::ffi::OsString;
use std::path::Path;

/// Fewer letters begin names by chance.
const SHORTEST_PREFIX: usize = 2;

/// Returns the whole command line, as help, manual pages and completions describe it.
pub(crate) fn command() -> Command {
    grouped(Arguments::command())
}

/// Parses the words after the program's name. Prints the help or an error, and exits, where that is what they
/// come to.
pub(crate) fn parse() -> Arguments {
    let words: Vec<OsString> = std::env::args_os().collect();
    let given: Vec<String> =
        words.iter().skip(1).map(|word| word.to_string_lossy().into()).collect();
    let mut command = command().color(color(&given));
    let matches = command.try_get_matches_from_mut(words);
    let parsed = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| {
        let mut error = error.format(&mut command);
        suggest(&mut error, &command, &given);
        suggest_in_place_of_a_file(&mut error, &command, &given);
        error.exit()
    })
}

/// Returns the last value of `--color`, for which errors in other arguments do not matter. Words after `--` are for
/// another program.
fn color(given: &[String]) -> ColorChoice {
    let ours = given.iter().take_while(|word| *word != "--");
    let next = given.iter().skip(1);
    let values = ours.zip(next.map(Some).chain([None])).filter_map(|(word, next)| {
        let value = match word.strip_prefix("--color") {
            Some("") => next.map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        ColorChoice::from_str(value?, false).ok()
    });
    values.last().unwrap_or_default()
}

/// Puts the nearest name into an error about an unknown one.
fn suggest(error: &mut Error, command: &Command, given: &[String]) {
    let (wrong, right, known) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = ContextKind::InvalidSubcommand;
            let known = subcommands(under_way(command, given, one(error, wrong)));
            (wrong, ContextKind::SuggestedSubcommand, known)
        }
        ErrorKind::UnknownArgument => {
            let wrong = ContextKind::InvalidArg;
            let known = options(under_way(command, given, one(error, wrong)));
            (wrong, ContextKind::SuggestedArg, known)
        }
        ErrorKind::InvalidValue => {
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(known)) => known.clone(),
                _ => Vec::new(),
            };
            (ContextKind::InvalidValue, ContextKind::SuggestedValue, known)
        }
        _ => return,
    };
    let nearest = one(error, wrong).and_then(|given| nearest(given, &known)).map(str::to_owned);
    error.remove(right);
    if let Some(name) = nearest {
        error.insert(right, ContextValue::String(name));
    }
}

/// Suggests a subcommand where a command takes a file or a subcommand, and was given neither: `ackord sweep shw`.
fn suggest_in_place_of_a_file(error: &mut Error, command: &Command, given: &[String]) {
    use ErrorKind::{ArgumentConflict, MissingRequiredArgument, UnknownArgument};
    if !matches!(error.kind(), ArgumentConflict | MissingRequiredArgument | UnknownArgument) {
        return;
    }
    let known = subcommands(under_way(command, given, None));
    let names = |word: &&String| !word.starts_with('-') && command.find_subcommand(word).is_none();
    let Some(file) = given.iter().find(names).filter(|file| !Path::new(file).exists()) else {
        return;
    };
    if let Some(name) = nearest(file, &known) {
        let name = ContextValue::String(name.to_owned());
        error.insert(ContextKind::SuggestedSubcommand, name);
    }
}

/// Returns a fact of an error that is a single text.
fn one(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns the command in whose place a wrong word was given: subcommands are looked up word by word until then.
fn under_way<'a>(command: &'a Command, given: &[String], wrong: Option<&str>) -> &'a Command {
    let before = given.iter().take_while(|word| Some(word.as_str()) != wrong);
    // `help` takes the names of its siblings.
    let before = before.skip_while(|word| *word == "help");
    before.fold(command, |command, word| command.find_subcommand(word).unwrap_or(command))
}

fn subcommands(command: &Command) -> Vec<String> {
    let visible = command.get_subcommands().filter(|each| !each.is_hide_set());
    visible.map(|each| each.get_name().to_owned()).collect()
}

fn options(command: &Command) -> Vec<String> {
    let long = command.get_arguments().filter(|each| !each.is_hide_set());
    long.filter_map(|each| each.get_long()).map(|long| format!("--{long}")).collect()
}

/// Returns the name that was probably meant: the one spelt most alike, or else the first that begins with what was
/// given, since people cut words short.
fn nearest<'a>(given: &str, known: &'a [String]) -> Option<&'a str> {
    let names = || known.iter().map(String::as_str);
    // Dashes are no letters that one could mistake.
    let bare = |name: &'a str| name.trim_start_matches('-');
    let given = given.trim_start_matches('-');
    let alike = ackord_units::nearest_name(given, names().map(bare));
    let whole = |alike: &str| names().find(|name| bare(name) == alike);
    let begins =
        || names().find(|name| given.len() >= SHORTEST_PREFIX && bare(name).starts_with(given));
    alike.and_then(whole).or_else(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// The error for a command line, with suggestions.
    fn error(line: &str) -> String {
        let given = words(line);
        let mut command = command();
        let parsed =
            command.try_get_matches_from_mut([vec!["ackord".to_owned()], given.clone()].concat());
        let mut error = parsed.expect_err(line).format(&mut command);
        suggest(&mut error, &command, &given);
        suggest_in_place_of_a_file(&mut error, &command, &given);
        error.to_string()
    }

    #[test]
    fn unknown_words_get_the_nearest_name_at_every_depth() {
        for (line, name) in [
            ("rn", "'run'"),
            ("lst", "'list'"),
            ("diagnos x", "'diagnose'"),
            ("comp x", "'compare'"),
            ("live rn dumbbell", "'run'"),
            ("--color never live rn dumbbell", "'run'"),
            ("history imprt", "'import'"),
            ("help lst", "'list'"),
            ("help live rn", "'run'"),
            ("sweep shw", "'show'"),
            ("sweep shw out", "'show'"),
            ("list mechs", "'mechanisms'"),
            ("list profile", "'profiles'"),
            ("completions bsh", "'bash'"),
            ("run x --sed 3", "'--seed'"),
            ("live run x --outt y", "'--out'"),
            ("--colour always run x", "'--color'"),
        ] {
            let error = error(line);
            assert!(error.contains("similar") && error.contains(name), "{line}: {error}");
        }
        for line in ["xyzzy", "run x --xyzzy", "run x --abcd", "list xyzzy"] {
            assert!(!error(line).contains("similar"), "{line}: {}", error(line));
        }
    }

    #[test]
    fn colours_are_as_the_last_option_says_and_words_after_two_dashes_are_not_ours() {
        for (line, choice) in [
            ("run x", ColorChoice::Auto),
            ("--color always run x", ColorChoice::Always),
            ("run x --color=never", ColorChoice::Never),
            ("--color always run --color never", ColorChoice::Never),
            ("shell -- ls --color=always", ColorChoice::Auto),
            ("run --color", ColorChoice::Auto),
            ("run --color blue", ColorChoice::Auto),
        ] {
            assert_eq!(color(&words(line)), choice, "{line}");
        }
    }
}
