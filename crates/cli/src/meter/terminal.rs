//! The terminal a meter is drawn on: taken over, and given back as it was.
//!
//! The alternate screen, so that what was on the terminal comes back; no echo and no line editing,
//! so that keys arrive; but Ctrl-C goes on being a signal, to the command inside as well. Given back
//! when dropped, when any thread panics, and by [`restore`] before the process ends in a hurry.
//! Only `kill -9` leaves it as it is (`reset` helps then).

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

/// A terminal with nothing on it but the meter.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<File>>,
    tty: File,
    size: Rect,
    keys: Keys,
}

/// Whether keys pressed on the terminal are for the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// It is the terminal the program runs on.
    Ours,
    /// It is another one, where somebody else reads.
    NotOurs,
}

/// How to give the terminal back.
struct Taken {
    tty: File,
    /// Nothing where it was not changed.
    modes: Option<Termios>,
}

/// The one terminal that is taken. A program draws one meter at most.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

/// How long [`Screen::wait_for_keys`] waits: in tenths of a second, the unit of VTIME.
const WAIT_DECISECONDS: u8 = 1;

impl Screen {
    /// Takes over the terminal at `path`.
    pub(crate) fn take(path: &Path, keys: Keys) -> io::Result<Screen> {
        let tty = OpenOptions::new().read(true).write(true).open(path)?;
        // Also says whether it is a terminal at all.
        let size = size_of(&tty)?;
        let modes = match keys {
            Keys::Ours => Some(tcgetattr(&tty)?),
            Keys::NotOurs => None,
        };
        let taken = Taken { tty: tty.try_clone()?, modes: modes.clone() };
        restore_on_panic();
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
        let screen = Screen { terminal: terminal(&tty, size)?, tty, size, keys };
        if let Some(modes) = modes {
            tcsetattr(&screen.tty, OptionalActions::Now, &for_keys(modes))?;
        }
        execute!(&screen.tty, EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws one picture, as large as the terminal is now.
    pub(crate) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let size = size_of(&self.tty)?;
        if size != self.size {
            // The library would ask the terminal where its cursor is, and read the answer from keys.
            execute!(&self.tty, Clear(ClearType::All))?;
            self.terminal = terminal(&self.tty, size)?;
            self.size = size;
        }
        self.terminal.draw(picture).map(|_| ())
    }

    /// The keys pressed since the last call, waiting for one for at most a tenth of a second.
    pub(crate) fn wait_for_keys(&mut self, keys: &mut Vec<u8>) -> io::Result<()> {
        keys.clear();
        if self.keys == Keys::NotOurs {
            std::thread::sleep(Duration::from_millis(100 * u64::from(WAIT_DECISECONDS)));
            return Ok(());
        }
        let mut buffer = [0; 64];
        match io::Read::read(&mut self.tty, &mut buffer) {
            Ok(count) => keys.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, if one is taken.
pub(crate) fn restore() {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Taken { tty, modes }) = taken else { return };
    // A terminal that is gone needs nothing.
    let _ = execute!(&tty, LeaveAlternateScreen, Show);
    if let Some(modes) = modes {
        let _ = tcsetattr(&tty, OptionalActions::Now, &modes);
    }
}

/// What a panic says has to be readable.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

fn terminal(tty: &File, size: Rect) -> io::Result<Terminal<CrosstermBackend<File>>> {
    let options = TerminalOptions { viewport: Viewport::Fixed(size) };
    Terminal::with_options(CrosstermBackend::new(tty.try_clone()?), options)
}

fn size_of(tty: &File) -> io::Result<Rect> {
    let size = tcgetwinsize(tty)?;
    // A terminal that does not know its size says zero.
    let known = |given, usual| if given == 0 { usual } else { given };
    Ok(Rect::new(0, 0, known(size.ws_col, 80), known(size.ws_row, 24)))
}

/// Keys come at once, are not shown, and reading them ends after a while; Ctrl-Z would leave the
/// terminal as it is, so it does nothing.
fn for_keys(mut modes: Termios) -> Termios {
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = WAIT_DECISECONDS;
    modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
    modes
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::{Winsize, openpty};
    use ratatui::widgets::Paragraph;
    use std::io::Read;
    use std::os::fd::AsFd;

    /// What has been written to the terminal whose other side is `master`.
    fn written(master: &mut File) -> String {
        let mut octets = Vec::new();
        // It ends where nothing more is there yet.
        let end = master.read_to_end(&mut octets).expect_err("the terminal is still open");
        assert_eq!(end.kind(), io::ErrorKind::WouldBlock);
        String::from_utf8_lossy(&octets).into_owned()
    }

    fn modes(of: impl AsFd) -> String {
        format!("{:?}", tcgetattr(of).expect("a terminal"))
    }

    // One test, because there is one terminal that is taken.
    #[test]
    fn the_terminal_is_given_back_as_it_was_after_the_meter_and_after_a_panic() {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None).expect("a pseudo terminal");
        let mut master = File::from(pair.master);
        let flags = nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK);
        nix::fcntl::fcntl(&master, flags).expect("a descriptor of ours");
        let path = nix::unistd::ttyname(&pair.slave).expect("it has a name");
        let before = modes(&pair.slave);
        let no_pixels =
            rustix::termios::Winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
        for (ends_by, columns) in [("the end", 40), ("a panic", 100)] {
            let mut screen = Screen::take(&path, Keys::Ours).expect("it can be taken");
            assert_ne!(modes(&pair.slave), before);
            let draw = |screen: &mut Screen| {
                screen.draw(|frame| frame.render_widget(Paragraph::new("meter"), frame.area()))
            };
            draw(&mut screen).expect("drawn");
            let on = written(&mut master);
            assert!(on.contains("\x1b[?1049h") && on.contains("meter"), "{on:?}");
            let resized = rustix::termios::Winsize { ws_row: 24, ws_col: columns, ..no_pixels };
            rustix::termios::tcsetwinsize(&pair.slave, resized).expect("resized");
            draw(&mut screen).expect("drawn anew");
            assert!(written(&mut master).contains("meter"), "a new size is a new picture");
            let mut keys = Vec::new();
            std::io::Write::write_all(&mut master, b"p").expect("typed");
            screen.wait_for_keys(&mut keys).expect("read");
            assert_eq!(keys, b"p");
            if ends_by == "a panic" {
                let panicked = std::thread::spawn(|| panic!("for the test")).join();
                assert!(panicked.is_err());
                assert_eq!(modes(&pair.slave), before, "while the screen is still there");
            }
            drop(screen);
            let off = written(&mut master);
            assert_eq!(off.matches("\x1b[?1049l").count(), 1, "{off:?}");
            assert!(off.contains("\x1b[?25h"), "the cursor is back: {off:?}");
            assert_eq!(modes(&pair.slave), before);
        }
        let nowhere = Screen::take(Path::new("/dev/null"), Keys::Ours);
        assert!(nowhere.is_err(), "that is no terminal");
    }
}
