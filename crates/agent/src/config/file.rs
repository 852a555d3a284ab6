//! Texts on their way to a configuration: a file, or a line of options.
//!
//! Options become the text of a file, which is then checked: whatever is wrong with one is said as it would be
//! said of a file, and the file is there to begin with.

use super::AgentConfig;
use ackord_scenario::spelling::{quoted, share};

/// The text of a configuration, not yet checked.
pub type ConfigFile = ackord_daemon::config::ConfigFile<AgentConfig>;

/// A configuration of one line: what somebody typed who wants to try it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigOptions {
    /// The control group; the whole hierarchy when absent.
    pub cgroup: Option<String>,
    /// What tells applications apart.
    pub by: Option<String>,
    /// Levers.
    pub levers: Vec<String>,
    /// The share of connections that are left alone: `5%`.
    pub control: Option<String>,
    /// Whether to have quick routes.
    pub quick: bool,
}

impl ConfigOptions {
    /// What they say as a file.
    pub fn file(&self) -> ConfigFile {
        let mut text = String::new();
        let mut say = |key: &str, value: Option<String>| {
            text.extend(value.map(|value| format!("{key} = {value}\n")));
        };
        say("cgroup", self.cgroup.as_deref().map(quoted));
        say("by", self.by.as_deref().map(quoted));
        let levers: Vec<String> = self.levers.iter().map(|lever| quoted(lever)).collect();
        say(
            "levers",
            match &levers[..] {
                [] => None,
                [one] => Some(one.clone()),
                several => Some(format!("[{}]", several.join(", "))),
            },
        );
        say("control", self.control.as_deref().map(|given| quoted(&share(given))));
        if self.quick {
            text.push_str("\n[quick]\n");
        }
        ConfigFile::new("the options, as a file", text)
    }
}
