//! The commands grouped by purpose: the help of the whole program, and its manual page.
//!
//! clap cannot group subcommands, so the help is a template with a list of its own. A command without a group fails
//! the test below.

use crate::console::help_columns;
use crate::wrap::wrapped;
use clap::Command;
use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use std::fmt::Write as _;

/// Commands that serve one purpose.
pub(crate) struct Group {
    /// Heading in the help.
    pub(crate) heading: &'static str,
    /// Names of the commands, in the order of the help.
    pub(crate) commands: &'static [&'static str],
}

/// Every command that is not hidden, once.
pub(crate) static GROUPS: &[Group] = &[
    Group {
        heading: "Laboratory (simulated time)",
        commands: &["run", "compare", "sweep", "check", "new", "paper", "list", "guide"],
    },
    Group {
        heading: "Real time, real programs and kernels",
        commands: &["shell", "live", "validate", "kernel"],
    },
    Group { heading: "Deployment", commands: &["gateway", "agent"] },
    Group { heading: "Captures", commands: &["diagnose", "history"] },
    Group {
        heading: "Tools",
        commands: &["script", "trace", "schema", "completions", "man", "help"],
    },
];

/// clap's own command, built by default.
const HELP: (&str, &str) = ("help", "Print this message or the help of a command");

/// Colours of the help and of errors in arguments.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Returns `command` with its subcommands grouped in its help, which is coloured and wrapped for the screen.
pub(crate) fn grouped(command: Command) -> Command {
    let columns = help_columns();
    let header = STYLES.get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{header}Options:{header:#}\n\
         {{options}}{{after-help}}",
        listed(&command, columns)
    );
    command.styles(STYLES).term_width(columns).help_template(template)
}

/// Returns the commands of a group with their summaries, as far as `command` has them.
fn members<'a>(command: &'a Command, group: &Group) -> Vec<(&'static str, String)> {
    let about = |name: &str| {
        let found: Option<&'a Command> = command.find_subcommand(name);
        found.map(|found| found.get_about().map(ToString::to_string).unwrap_or_default())
    };
    let member = |name: &&'static str| match *name == HELP.0 {
        true => Some((HELP.0, HELP.1.to_owned())),
        false => about(name).map(|about| (*name, about)),
    };
    group.commands.iter().filter_map(member).collect()
}

/// Returns every group as the help prints it, wrapped to so many columns.
fn listed(command: &Command, columns: usize) -> String {
    let names = GROUPS.iter().flat_map(|group| group.commands);
    let widest = names.map(|name| name.len()).max().unwrap_or(0);
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let mut text = String::new();
    for group in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{header}{}:{header:#}", group.heading);
        for (name, about) in members(command, group) {
            let indent = widest + 4;
            let about = wrapped(&about, indent, columns);
            let _ = writeln!(text, "  {literal}{name:<widest$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

/// Returns a command for each group that has only the group's subcommands: the manual page lists them by it.
pub(crate) fn by_group(command: &Command) -> Vec<Command> {
    let only = |group: &Group| {
        let of_group = group.commands.iter().filter_map(|name| command.find_subcommand(name));
        let of_group = of_group.enumerate().map(|(at, each)| each.clone().display_order(at));
        Command::new("ackord")
            .subcommand_help_heading(group.heading)
            .disable_help_subcommand(true)
            .subcommands(of_group)
    };
    GROUPS.iter().map(only).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_visible_command_is_in_one_group_and_every_group_has_only_commands() {
        let command = crate::Arguments::command();
        let mut commands: Vec<&str> = command
            .get_subcommands()
            .filter(|each| !each.is_hide_set())
            .map(Command::get_name)
            .chain([HELP.0])
            .collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(commands, grouped, "a new command needs a place in `GROUPS`");
    }

    #[test]
    fn summaries_are_broken_between_words_and_fit_the_columns() {
        let text = listed(&crate::Arguments::command(), 60);
        let plain = without_colours(&text);
        assert!(plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
        assert!(plain.contains("\n  run "), "{plain}");
    }

    /// The text without escape sequences.
    fn without_colours(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
    }
}
