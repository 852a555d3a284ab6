//! Texts on their way to a configuration: a file, or a line of options.
//!
//! Options become the text of a file, which is then checked: whatever is wrong with one is said as it would be
//! said of a file, and the file is there to begin with.

use super::GatewayConfig;
use ackord_path::registry::{ProxyChoice, QueueChoice};
use ackord_scenario::spelling::{mechanism, quoted, rate, share};
use ackord_units::Choice;

/// The text of a configuration, not yet checked.
pub type ConfigFile = ackord_daemon::config::ConfigFile<GatewayConfig>;

/// A configuration of one line: what somebody typed who wants to try it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigOptions {
    /// The interface towards the fixed hosts.
    pub wan: String,
    /// Those towards the mobile hosts.
    pub lan: Vec<String>,
    /// A remedy, with knobs behind a colon: `proxy-tcp:mode=paper`.
    pub remedy: Option<String>,
    /// A queue towards the mobile hosts, likewise.
    pub queue: Option<String>,
    /// Its rate: `20mbit`.
    pub rate: Option<String>,
    /// The lowest rate of `auto`.
    pub rate_min: Option<String>,
    /// Its highest rate.
    pub rate_max: Option<String>,
    /// Its rate at the start.
    pub rate_start: Option<String>,
    /// True if the decisions of `auto` are only reported.
    pub rate_dry_run: bool,
    /// The share of connections that are left alone: `5%`.
    pub control: Option<String>,
    /// The share of turns in which no connection gets a remedy: `50%`.
    pub untreated: Option<String>,
}

impl ConfigOptions {
    /// What they say as a file.
    pub fn file(&self) -> ConfigFile {
        let lan: Vec<String> = self.lan.iter().map(|name| quoted(name)).collect();
        let lan = match &lan[..] {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let mut text = format!("wan = {}\nlan = {lan}\n", quoted(&self.wan));
        let mut say = |line: Option<String>| text.extend(line);
        say(self
            .remedy
            .as_ref()
            .map(|given| format!("remedy = {}\n", mechanism(ProxyChoice::MECHANISMS, given))));
        say(self.control.as_ref().map(|given| format!("control = {}\n", quoted(&share(given)))));
        let untreated = self.untreated.as_ref();
        say(untreated.map(|given| format!("\n[turns]\nuntreated = {}\n", quoted(&share(given)))));
        if self.queue.is_some() || self.rate.is_some() {
            say(Some("\n[queue.lan]\n".to_owned()));
        }
        let queue = self.queue.as_ref();
        say(queue
            .map(|given| format!("discipline = {}\n", mechanism(QueueChoice::MECHANISMS, given))));
        let rates = [
            ("rate", &self.rate),
            ("rate_min", &self.rate_min),
            ("rate_max", &self.rate_max),
            ("rate_start", &self.rate_start),
        ];
        for (key, given) in rates {
            say(given.as_ref().map(|given| format!("{key} = {}\n", quoted(&rate(given)))));
        }
        say(self.rate_dry_run.then(|| "rate_decisions = \"report\"\n".to_owned()));
        ConfigFile::new("the options, as a file", text)
    }
}
