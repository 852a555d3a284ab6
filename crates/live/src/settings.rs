//! What a scenario asks of an endpoint, as the stock kernel lets a program ask for it: by sysctls of
//! a namespace, by options of a socket, by attributes of a route, without any privilege beyond the
//! namespace.
//!
//! | file | what |
//! | --- | --- |
//! | `settings.rs` | [`settings_with`], [`Settings`], and [`SettingTold`]: what came of each wish |
//! | `settings/draft.rs` | settings under way: one call for each way of asking the kernel |
//! | `settings/mechanisms.rs` | the five choices: congestion, loss, recovery, acknowledgments, Nagle |
//! | `settings/endpoint.rs` | the knobs of the endpoint itself |
//! | `settings/host.rs` | [`HostSettings`]: what the flows of a host ask for together |
//! | `settings/kernel.rs` | [`KernelFacts`]: what this kernel has |
//!
//! Every choice and every knob is told: set by what, done by the kernel anyway, or what the kernel
//! does instead. For what the kernel leaves nobody a choice in, the profile `linux` says what it
//! does; docs/live-settings.md is the whole table.
//!
//! Not modelled: parameters of modules (`/sys/module/tcp_cubic/parameters`), since they belong to
//! the whole machine, and BPF, which needs privileges.

mod draft;
mod endpoint;
mod host;
mod kernel;
mod mechanisms;
#[cfg(test)]
mod observed;
#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;

use crate::apps::SocketOption;
use ackord_sys::RouteSettings;
use ackord_tcp::registry::Stack;
use draft::Draft;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use host::SettingsConflict;
pub(crate) use host::{HostSettings, host_settings};
pub(crate) use kernel::KernelFacts;

/// What came of one wish of the scenario at a host on the stock kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingTold {
    /// The key as in a scenario's `tcp` table, such as `congestion` or `ack.timeout`.
    pub knob: String,
    /// The value that the scenario has for it; `none` where it has none.
    pub asked: String,
    /// What came of it.
    pub outcome: SettingOutcome,
}

/// What came of a wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettingOutcome {
    /// It was set, by this.
    Set(String),
    /// Nothing had to be set: the kernel does it anyway, for this reason.
    Already(String),
    /// It cannot be had, or not quite: what the kernel does instead.
    Instead(String),
}

impl SettingOutcome {
    /// One word for it: `set`, `already` or `instead`.
    pub const fn word(&self) -> &'static str {
        match self {
            SettingOutcome::Set(_) => "set",
            SettingOutcome::Already(_) => "already",
            SettingOutcome::Instead(_) => "instead",
        }
    }

    /// What was set, why nothing had to be, or what happens instead.
    pub fn detail(&self) -> &str {
        match self {
            SettingOutcome::Set(text)
            | SettingOutcome::Already(text)
            | SettingOutcome::Instead(text) => text,
        }
    }
}

impl fmt::Display for SettingTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SettingTold { knob, asked, outcome } = self;
        match outcome {
            SettingOutcome::Set(by) => write!(f, "{knob} = {asked}: set by {by}"),
            SettingOutcome::Already(why) => {
                write!(f, "{knob} = {asked}: as the kernel has it, {why}")
            }
            SettingOutcome::Instead(what) => write!(f, "{knob} = {asked}: not so, but {what}"),
        }
    }
}

/// What to do for an endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    /// Files under `/proc/sys` and their content, of the whole namespace.
    pub(crate) sysctls: Vec<Sysctl>,
    /// For each socket, before it connects or listens.
    pub(crate) options: Vec<SocketOption>,
    /// For the default route.
    pub(crate) route: RouteSettings,
    /// What comes of each choice and knob, in the order of the registries.
    pub(crate) told: Vec<SettingTold>,
}

/// A file under `/proc/sys`, what it should hold, and which knob wants it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sysctl {
    pub(crate) path: String,
    pub(crate) value: String,
    pub(crate) knob: String,
}

/// What to do so that the kernel of this machine comes as near to these choices as it lets us.
#[cfg(test)]
pub(crate) fn settings_for(choices: &Stack) -> Settings {
    settings_with(choices, &KernelFacts::of_this_machine())
}

/// What to do so that a kernel comes as near to these choices as it lets us.
pub(crate) fn settings_with(choices: &Stack, kernel: &KernelFacts) -> Settings {
    let mut draft = Draft::new(kernel);
    mechanisms::ask(&mut draft, choices);
    endpoint::ask(&mut draft, choices);
    draft.settings
}
