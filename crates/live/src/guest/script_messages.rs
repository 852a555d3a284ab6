//! What is said between the run and a kernel that scripts are played against.

use super::messages::Job;
use crate::settings::SettingTold;
use serde::{Deserialize, Serialize};

/// What a kernel is started for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// To be a host of a scenario.
    Host(Job),
    /// To be the endpoint of scripts.
    Scripts(ScriptsJob),
}

/// The scripts, one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScriptsJob {
    /// What the kernel's random numbers begin with.
    pub(crate) entropy: String,
    /// Their texts; orders name them by their place here.
    pub(crate) texts: Vec<String>,
}

/// What the kernel's application is to do, at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ScriptOrder {
    /// Set everything as the script of this number wants it, and make its socket.
    Prepare(usize),
    Connect,
    Listen,
    Write(u64),
    /// As much has to be there.
    Read(u64),
    ReadAll,
    /// It has nothing more to write.
    Close,
    /// It neither writes nor reads any more.
    Release,
    Abort,
    /// Say how the connection is.
    Ask,
    /// The script is over: nothing may be left of it.
    Finish,
}

/// What it answers, once for each order and once before all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ScriptTold {
    Ready(Clocks),
    /// It cannot go on.
    Failed(String),
    Prepared(Prepared),
    /// Done, with so many bytes.
    Done(u64),
    /// The call did something else.
    Otherwise(String),
    /// A socket cannot be asked to do that.
    NoSuchCall(String),
    Facts(Facts),
}

/// How a kernel counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clocks {
    /// CLOCK_MONOTONIC, in nanoseconds.
    pub(crate) monotonic: u64,
    /// The same a moment before, and how many ticks it had counted then.
    pub(crate) at: u64,
    pub(crate) jiffies: u64,
    /// The same at a tick.
    pub(crate) tick: u64,
    /// Ticks per second.
    pub(crate) hz: u64,
}

/// What has come of a script's header.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// What the script's own lines ask for and the kernel does not do.
    pub(crate) instead: Vec<SettingTold>,
    /// The same of what its profile asks for.
    pub(crate) by_profile: Vec<SettingTold>,
    /// What the kernel refused, and why.
    pub(crate) refused: Vec<String>,
}

/// How the connection is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The kernel's `tcp_info`, if there is a connection.
    pub(crate) tcp_info: Option<Vec<u8>>,
    /// Bytes that can be read.
    pub(crate) readable: Option<u64>,
    /// Why it was closed, by the number of the error; the last one that was told.
    pub(crate) error: i32,
}
