//! Standard output and error: which of them is a terminal, how wide it is, whether it is coloured, what a closed pipe
//! means.

use ackord_report::Screen;
use ackord_scenario::Style;
use clap::ColorChoice;
use rustix::fd::AsFd;
use std::io::{self, IsTerminal, Write};

/// Tables are laid out for so many columns even where a terminal has fewer.
const NARROWEST: u16 = 40;
/// Longer lines are hard to follow, however wide the terminal is.
const WIDEST: u16 = 120;
/// The help is prose, so its lines are shorter.
const WIDEST_HELP: u16 = 100;

/// Where text goes.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    #[cfg(feature = "meter")]
    colours: ColorChoice,
    out: bool,
    error: bool,
}

impl Console {
    /// Returns this process's output, coloured as `--color` says.
    pub(crate) fn of_process(colours: ColorChoice) -> Console {
        Console {
            #[cfg(feature = "meter")]
            colours,
            out: is_coloured(colours, io::stdout().is_terminal()),
            error: is_coloured(colours, io::stderr().is_terminal()),
        }
    }

    /// Returns the screen for results: the terminal's current width up to the width at which lines can still be
    /// read, or elsewhere `COLUMNS`, or else a width that is the same everywhere.
    pub(crate) fn screen(&self) -> Screen {
        Screen { colours: self.out, columns: columns(WIDEST) }
    }

    /// Returns whether a terminal that is opened by its name is coloured.
    #[cfg(feature = "meter")]
    pub(crate) fn terminal_colours(&self) -> bool {
        is_coloured(self.colours, true)
    }

    /// Whether errors are coloured.
    pub(crate) fn error_style(&self) -> Style {
        if self.error { Style::Coloured } else { Style::Plain }
    }

    /// Results, to standard output.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        self.print_bytes(text.as_bytes())
    }

    /// Results, to standard output.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// What is no result, to standard error. Nobody is left to tell if that fails.
    pub(crate) fn complain(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// A remark of one line, to standard error.
    pub(crate) fn remark(&self, text: &str) {
        self.complain(&format!("{text}\n"));
    }
}

/// Returns the columns for which the help is wrapped.
pub(crate) fn help_columns() -> usize {
    columns(WIDEST_HELP).into()
}

/// Returns the columns of standard output: a terminal's, at most `widest`; elsewhere those of `COLUMNS`, which its
/// user chose, or else the same number everywhere.
fn columns(widest: u16) -> u16 {
    let given = || {
        let given = std::env::var("COLUMNS").ok()?.trim().parse::<u16>().ok()?;
        (given > 0).then(|| given.max(NARROWEST))
    };
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return given().unwrap_or(Screen::NONE.columns);
    }
    match terminal_columns(stdout) {
        Some(columns) => columns.clamp(NARROWEST, widest),
        None => given().unwrap_or(Screen::NONE.columns).min(widest),
    }
}

/// Returns a terminal's columns. One without a size reports zero.
fn terminal_columns(terminal: impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// Returns whether text is coloured: as the user chose, or else as the environment says (no-color.org,
/// bixense.com/clicolors), or else on terminals.
fn is_coloured(colours: ColorChoice, is_terminal: bool) -> bool {
    match colours {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if anstyle_query::no_color() => false,
        ColorChoice::Auto if anstyle_query::clicolor_force() => true,
        ColorChoice::Auto => {
            is_terminal
                && anstyle_query::clicolor() != Some(false)
                && anstyle_query::term_supports_ansi_color()
        }
    }
}
