//! `--meter`: a live picture of a link while an emulation runs.
//!
//! | file | what |
//! | --- | --- |
//! | `meter.rs` | the options, and the thread that draws and reads keys |
//! | `meter/draw.rs` | the picture, a pure function of what is known |
//! | `meter/series.rs` | samples put together to the points of curves |
//! | `meter/words.rs` | numbers with units |
//! | `meter/terminal.rs` | the terminal, taken over and given back as it was |
//!
//! While a meter is on the terminal nothing else may be written there: a command inside has its
//! output sent elsewhere, and there is no progress bar.

mod draw;
mod series;
mod terminal;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use terminal::restore;

use crate::console::Console;
use crate::errors::Failure;
use ackord_live::{METER_INTERVAL, METER_KEPT, MeterFeed, MeterView};
use ackord_scenario::Scenario;
use ackord_units::Span;
use clap::Args;
use draw::{Glyphs, Look, Motion, Picture};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use terminal::{Keys, Screen};

/// The terminal a program runs on.
const OWN_TERMINAL: &str = "/dev/tty";

/// The options of commands that can draw a meter.
#[derive(Args, Clone, Debug)]
pub(crate) struct MeterArguments {
    /// Draw throughput, queueing delay and drops of a link while it runs; on another terminal if
    /// one is given (`tty` tells its name there)
    ///
    /// Keys: q leaves the meter, p pauses it, + and - change how far back it goes, Tab goes to the
    /// next link.
    #[arg(
        long,
        value_name = "TERMINAL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = OWN_TERMINAL
    )]
    meter: Option<PathBuf>,
    /// The link that the meter shows at first; the slowest if none is named
    #[arg(long, value_name = "LINK", requires = "meter")]
    meter_link: Option<String>,
}

/// What is drawn, and where.
pub(crate) struct Meter {
    feed: Arc<MeterFeed>,
    link: usize,
    terminal: PathBuf,
}

/// A meter on a terminal. It is gone from there when this is.
pub(crate) struct MeterScreen {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MeterArguments {
    /// Whether the meter would take the terminal the program runs on.
    pub(crate) fn takes_own_terminal(&self) -> bool {
        self.meter.as_ref().is_some_and(|path| path.as_os_str() == OWN_TERMINAL)
    }

    /// The meter these options ask for; nothing where they do not.
    pub(crate) fn of(&self, scenario: &Scenario) -> Result<Option<Meter>, Failure> {
        self.on(MeterFeed::of(scenario))
    }

    /// The same, for a feed whose directions have names of their own.
    pub(crate) fn on(&self, feed: MeterFeed) -> Result<Option<Meter>, Failure> {
        let Some(terminal) = self.meter.clone() else { return Ok(None) };
        let link = match &self.meter_link {
            None => feed.slowest(),
            Some(given) => feed.link_named(given).ok_or_else(|| {
                let known = feed.links().iter().map(|link| link.name.clone()).collect();
                Failure::unknown_name("link", given, known)
            })?,
        };
        Ok(Some(Meter { feed: Arc::new(feed), link, terminal }))
    }
}

impl Meter {
    /// What the emulation has to fill.
    pub(crate) fn feed(&self) -> Arc<MeterFeed> {
        Arc::clone(&self.feed)
    }

    /// Takes the terminal and draws from now on.
    pub(crate) fn begin(self, console: &Console) -> Result<MeterScreen, Failure> {
        let keys = match self.terminal.as_os_str() == OWN_TERMINAL {
            true => Keys::Ours,
            false => Keys::NotOurs,
        };
        let screen = Screen::take(&self.terminal, keys).map_err(|source| Failure::Meter {
            terminal: self.terminal.display().to_string(),
            source,
        })?;
        let end = Arc::new(AtomicBool::new(false));
        let mut drawing = Drawing {
            feed: self.feed,
            link: self.link,
            scale: DEFAULT_SCALE,
            paused: None,
            look: look(console),
        };
        let (asked, console) = (Arc::clone(&end), console.clone());
        let thread = std::thread::spawn(move || {
            let left = drawing.go_on(screen, &asked);
            if left == Left::ByKey {
                console.remark("the run goes on without its meter; Ctrl-C ends it");
            }
        });
        Ok(MeterScreen { end, thread: Some(thread) })
    }
}

impl Drop for MeterScreen {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has told itself, and the terminal is given back.
            let _ = thread.join();
        }
    }
}

/// How far back a meter may go, in seconds.
const SCALES: [u64; 5] = [10, 30, 60, 120, 300];
/// Which of them it begins with.
const DEFAULT_SCALE: usize = 2;
const _: () = assert!(
    SCALES[SCALES.len() - 1] * 1_000_000_000 <= METER_KEPT as u64 * METER_INTERVAL.as_nanos(),
    "so much is kept"
);

/// Why a meter is no longer drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Somebody pressed q.
    ByKey,
    /// The run is over, or the terminal is gone.
    Otherwise,
}

/// What the meter shows, as keys have made it.
struct Drawing {
    feed: Arc<MeterFeed>,
    link: usize,
    /// Index into [`SCALES`].
    scale: usize,
    /// What it stands still at.
    paused: Option<MeterView>,
    look: Look,
}

impl Drawing {
    fn go_on(&mut self, mut screen: Screen, end: &AtomicBool) -> Left {
        let mut keys = Vec::new();
        while !end.load(Ordering::Relaxed) && !self.feed.is_over() {
            let Some(view) = self.view() else { break };
            let picture = Picture {
                view: &view,
                place: (self.link + 1, self.feed.links().len()),
                scale: self.scale(),
                motion: if self.paused.is_some() { Motion::Paused } else { Motion::Moving },
                look: self.look,
            };
            if screen.draw(|frame| picture.draw(frame.area(), frame.buffer_mut())).is_err() {
                break;
            }
            if screen.wait_for_keys(&mut keys).is_err() {
                break;
            }
            if self.press(&keys) == Asked::ToLeave {
                return Left::ByKey;
            }
        }
        Left::Otherwise
    }

    fn scale(&self) -> Span {
        Span::from_secs(SCALES[self.scale])
    }

    fn view(&self) -> Option<MeterView> {
        let Some(paused) = &self.paused else {
            return self.feed.view(self.link, self.scale());
        };
        let mut view = paused.clone();
        let shown = (self.scale().as_nanos() / METER_INTERVAL.as_nanos()) as usize;
        let skipped = view.samples.len().saturating_sub(shown);
        view.samples.drain(..skipped);
        view.began_at += METER_INTERVAL.saturating_mul(skipped as u64);
        Some(view)
    }

    fn press(&mut self, keys: &[u8]) -> Asked {
        for key in keys {
            match key {
                b'q' | b'Q' => return Asked::ToLeave,
                b'p' | b'P' | b' ' => {
                    self.paused = match self.paused {
                        Some(_) => None,
                        // All there is, so that the scale can be changed while it stands still.
                        None => {
                            self.feed.view(self.link, Span::from_secs(SCALES[SCALES.len() - 1]))
                        }
                    };
                }
                b'+' | b'=' => self.scale = self.scale.saturating_sub(1),
                b'-' | b'_' => self.scale = (self.scale + 1).min(SCALES.len() - 1),
                b'\t' => {
                    self.link = (self.link + 1) % self.feed.links().len().max(1);
                    self.paused = None;
                }
                // Arrow keys and the like: several bytes, none of them for us.
                0x1b => break,
                _ => {}
            }
        }
        Asked::ToGoOn
    }
}

/// What keys ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    ToGoOn,
    ToLeave,
}

/// What the terminal can show, as far as the environment tells.
fn look(console: &Console) -> Look {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    // The first that is set decides, as setlocale(3) has it.
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    let utf8 = locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    // The console of a machine without a window system has no Braille.
    let plain = set("TERM").is_some_and(|term| term == "linux" || term == "dumb");
    Look {
        colours: console.terminal_colours(),
        glyphs: if utf8 && !plain { Glyphs::Unicode } else { Glyphs::Ascii },
    }
}
