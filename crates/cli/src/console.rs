//! Standard output and error: what is a terminal, what is coloured, what a closed pipe means.

use ackord_report::{Screen, shows_colours};
use ackord_scenario::Style;
use std::io::{self, IsTerminal, Write};

/// Tables are laid out for so many columns even where a terminal has fewer.
const NARROWEST: u16 = 40;
/// Longer lines are hard to follow, however wide the terminal is.
const WIDEST: u16 = 120;

/// Where text goes.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    out: bool,
    error: bool,
}

impl Console {
    /// This process's output, coloured on terminals unless `NO_COLOR` says otherwise.
    pub(crate) fn of_process() -> Console {
        let no_color = std::env::var_os("NO_COLOR");
        let choose = |terminal| shows_colours(terminal, no_color.as_deref());
        Console {
            out: choose(io::stdout().is_terminal()),
            error: choose(io::stderr().is_terminal()),
        }
    }

    /// What results are written for: the terminal as it is now, up to the width at which lines can
    /// still be read, or else what is the same everywhere.
    pub(crate) fn screen(&self) -> Screen {
        let size = io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(io::stdout()));
        let columns = match size {
            // A terminal without a size says zero.
            Some(Ok(size)) if size.ws_col > 0 => size.ws_col.clamp(NARROWEST, WIDEST),
            _ => Screen::NONE.columns,
        };
        Screen { colours: self.out, columns }
    }

    /// Whether what is drawn on a terminal that is opened by its name is coloured.
    #[cfg(feature = "meter")]
    pub(crate) fn terminal_colours(&self) -> bool {
        shows_colours(true, std::env::var_os("NO_COLOR").as_deref())
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
