//! Where the events of a daemon go: to the journal with their fields where systemd started it, else to
//! standard error, a line each.
//!
//! Whoever tells something writes `tracing::info!(field = value, "what happened")`. Per packet nothing is
//! told above `trace`.

use std::io;
use std::os::fd::AsFd;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// From which level on.
    pub level: LogLevel,
    /// Where to.
    pub to: LogTarget,
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Something does not work.
    Error,
    /// Something works less well than it could.
    Warn,
    /// What an operator wants to know.
    Info,
    /// What somebody who looks for a fault wants to know.
    Debug,
    /// All there is.
    Trace,
}

/// Where messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// To the journal where a service manager started the daemon, else to standard error.
    Auto,
    /// To standard error.
    Stderr,
    /// To the journal of systemd.
    Journald,
}

/// The events of this process.
#[derive(Debug)]
pub struct Logs {
    level: reload::Handle<LevelFilter, Registry>,
}

impl Logs {
    /// From now on events are told as this says.
    ///
    /// # Errors
    /// Where somebody else collects them already, or the journal is wanted and is not there.
    pub fn start(config: LogConfig) -> io::Result<Logs> {
        let (filter, handle) = reload::Layer::new(filter(config.level));
        let journal = match config.to {
            LogTarget::Journald => Some(tracing_journald::layer()?),
            // Without its socket the journal still takes lines.
            LogTarget::Auto if goes_to_the_journal() => tracing_journald::layer().ok(),
            LogTarget::Auto | LogTarget::Stderr => None,
        };
        let to_stderr = || fmt::layer().with_writer(io::stderr).with_target(false);
        let lines = journal.is_none().then(to_stderr);
        let told = Registry::default().with(filter).with(journal).with(lines);
        told.try_init().map_err(io::Error::other)?;
        Ok(Logs { level: handle })
    }

    /// From now on those up to this level.
    pub fn set_level(&self, level: LogLevel) {
        // Nobody took the filter away: it lives as long as the process.
        let _ = self.level.reload(filter(level));
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

/// Whether standard error is the journal's: systemd says which file that is, and whoever has redirected it
/// since has another one (systemd.exec(5), JOURNAL_STREAM).
pub fn goes_to_the_journal() -> bool {
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
    fn a_level_can_be_changed_while_events_are_told() {
        let config = LogConfig { level: LogLevel::Error, to: LogTarget::Stderr };
        let logs = Logs::start(config).expect("nobody else collects them");
        assert!(!tracing::enabled!(tracing::Level::INFO));
        logs.set_level(LogLevel::Debug);
        assert!(tracing::enabled!(tracing::Level::DEBUG));
        assert!(!tracing::enabled!(tracing::Level::TRACE));
        assert!(Logs::start(config).is_err());
        tracing::info!(flows = 3, "a line with a field, on standard error");
    }
}
