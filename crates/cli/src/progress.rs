//! The progress bar: on a terminal only, and only for work that takes a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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

    /// This share, 0 to 1, is done.
    pub(crate) fn at(&self, share: f64) {
        if self.shown && (self.bar.get().is_some() || self.began.elapsed() >= PATIENCE) {
            let bar = self.bar.get_or_init(|| new_bar(&self.what));
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

fn new_bar(what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:30} {percent:>3} %  {eta} left");
    let bar = ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::stderr());
    bar.set_style(style.expect("a template of known fields"));
    bar.set_message(what.to_owned());
    bar
}
