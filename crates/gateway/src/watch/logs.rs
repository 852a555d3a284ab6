//! Where the events of a gateway go: to the journal with their fields where systemd started it, else to
//! standard error, a line each.
//!
//! Whoever tells something writes `tracing::info!(field = value, "what happened")`. Per packet nothing is
//! told above `trace`.

use std::io;
use std::os::fd::AsFd;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

/// The names of the levels, from the fewest events to the most.
pub const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The events of this process.
#[derive(Debug)]
pub struct Logs {
    level: reload::Handle<LevelFilter, Registry>,
}

impl Logs {
    /// From now on the events up to this level, one of [`LOG_LEVELS`], are told.
    ///
    /// # Errors
    /// Where somebody else collects them already, or the level is unknown.
    pub fn start(level: &str) -> io::Result<Logs> {
        let (filter, handle) = reload::Layer::new(parse(level)?);
        let journal = match goes_to_the_journal() {
            // Without its socket the journal still takes lines.
            true => tracing_journald::layer().ok(),
            false => None,
        };
        let lines =
            journal.is_none().then(|| fmt::layer().with_writer(io::stderr).with_target(false));
        let told = Registry::default().with(filter).with(journal).with(lines.map(Layer::boxed));
        told.try_init().map_err(io::Error::other)?;
        Ok(Logs { level: handle })
    }

    /// From now on those up to this level.
    ///
    /// # Errors
    /// Where the level is unknown.
    pub fn set_level(&self, level: &str) -> io::Result<()> {
        self.level.reload(parse(level)?).map_err(io::Error::other)
    }
}

fn parse(level: &str) -> io::Result<LevelFilter> {
    let known = LOG_LEVELS.contains(&level).then(|| level.parse().ok()).flatten();
    known.ok_or_else(|| {
        let why = format!("there is no log level `{level}`; there are: {}", LOG_LEVELS.join(", "));
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

/// Whether standard error is the journal's: systemd says which file that is, and whoever has redirected it
/// since has another one (systemd.exec(5), JOURNAL_STREAM).
fn goes_to_the_journal() -> bool {
    #[allow(clippy::disallowed_methods, reason = "how systemd says it; where events go, not what")]
    let Ok(said) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(stat) = nix::sys::stat::fstat(io::stderr().as_fd()) else { return false };
    said == format!("{}:{}", stat.st_dev, stat.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test: a process has one place for its events.
    #[test]
    fn levels_are_known_by_name_and_can_be_changed() {
        let error = parse("loud").expect_err("unknown").to_string();
        assert!(error.contains("`loud`") && error.contains("off, error, warn"), "{error}");
        assert!(LOG_LEVELS.iter().all(|level| parse(level).is_ok()));
        assert!(parse("3").is_err(), "only names");
        let logs = Logs::start("error").expect("nobody else collects them");
        assert!(!tracing::enabled!(tracing::Level::INFO));
        logs.set_level("debug").expect("known");
        assert!(tracing::enabled!(tracing::Level::DEBUG));
        assert!(Logs::start("info").is_err());
        tracing::info!(flows = 3, "a line with a field, on standard error");
    }
}
