//! A configuration file that is read anew on request.

use crate::config::{AgentConfig, ConfigFile};
use ackord_scenario::Errors;
use std::path::PathBuf;

/// A file, and what is said beside it.
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// What options of the command line change in it: they hold each time that it is read.
    pub amend: Box<dyn Fn(&mut AgentConfig)>,
}

impl Source {
    pub(super) fn read(&self) -> Result<AgentConfig, Errors> {
        let mut config = ConfigFile::open(&self.path)?.check()?;
        (self.amend)(&mut config);
        Ok(config)
    }

    pub(super) fn told(&self) -> String {
        self.path.display().to_string()
    }
}
