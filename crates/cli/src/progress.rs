//! The progress bar: on a terminal only, and only for work that takes a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Work that is quicker than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Parts into which the whole is cut.
const WHOLE: u64 = 10_000;

/// Shows how far some work has come; may be told from several threads.
pub(crate) struct Meter {
    began: Instant,
    what: String,
    /// Whether anybody would see it.
    shown: bool,
    bar: OnceLock<ProgressBar>,
}

impl Meter {
    /// For work called `what`, which begins now.
    pub(crate) fn begin(what: &str) -> Meter {
        let shown = std::io::stderr().is_terminal();
        Meter { began: Instant::now(), what: what.to_owned(), shown, bar: OnceLock::new() }
    }

    /// Whether there is a terminal for a bar to be seen on.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }

    /// This share, 0 to 1, is done.
    pub(crate) fn at(&self, share: f64) {
        if self.shown && (self.bar.get().is_some() || self.began.elapsed() >= PATIENCE) {
            let bar = self.bar.get_or_init(|| new_bar(&self.what, self.began.elapsed()));
            bar.set_position((share * WHOLE as f64) as u64);
        }
    }

    /// The bar vanishes: what follows are results.
    pub(crate) fn end(self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(what: &str, elapsed: Duration) -> ProgressBar {
    // The library's own estimate looks at the latest steps, of which the first, late one is the
    // largest; the mean speed since the work began is steadier.
    let left = |state: &ProgressState, out: &mut dyn Write| {
        let share = f64::from(state.fraction());
        let left = state.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-4);
        // A line that cannot be drawn is not worth a word.
        let _ = write!(out, "{left:.0} s left");
    };
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3} %  {left}");
    let style = style.expect("a template of known fields").with_key("left", left);
    let bar = ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::stderr());
    let bar = bar.with_elapsed(elapsed).with_message(what.to_owned());
    bar.set_style(style.progress_chars("=> "));
    bar
}
