//! The time and memory of a run, checked before it begins.

use crate::console::Console;
use crate::errors::Failure;
use ackord_study::Cost;
use clap::Args;
use std::fs;
use std::io::{self, BufRead, IsTerminal};

/// A run that is estimated to take longer is not begun without being asked for.
const LONG_SECONDS: f64 = 60.0;
/// The same for memory.
const MUCH_MEMORY: f64 = 1e9;

#[derive(Args)]
pub(crate) struct CostArguments {
    /// Begin even if the run may take more than a minute, or more than a gigabyte of memory
    #[arg(long)]
    yes: bool,
}

impl CostArguments {
    /// Checks a cost against the limits. Beyond them it prompts on a terminal, and requires `--yes` elsewhere.
    ///
    /// # Errors
    /// [`Failure::Costs`] without `--yes` and without a "y" on the terminal.
    pub(crate) fn agree(&self, cost: Cost, console: &Console) -> Result<(), Failure> {
        if self.yes || (cost.seconds <= LONG_SECONDS && cost.bytes <= MUCH_MEMORY) {
            return Ok(());
        }
        let mut words = words(cost);
        if let Some(available) = available_memory().filter(|available| *available < cost.bytes) {
            words += &format!(", of which {:.1} GB are free", available / 1e9);
        }
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(Failure::Costs(words));
        }
        console.complain(&format!("This takes up to about {words}. Begin? [y/N] "));
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        match answer.trim() {
            "y" | "Y" | "yes" => Ok(()),
            _ => Err(Failure::Costs(words)),
        }
    }
}

/// A cost as it is shown: "3 minutes and 71 MB of memory".
pub(crate) fn words(cost: Cost) -> String {
    let time = match cost.seconds {
        seconds if seconds < 1.0 => "1 s".to_owned(),
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} minutes", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.0} hours", seconds / 3600.0),
        seconds if seconds < 1e9 => format!("{:.0} days", seconds / 86_400.0),
        _ => "30 years".to_owned(),
    };
    match cost.bytes {
        bytes if bytes < MUCH_MEMORY => format!("{time} and {:.0} MB of memory", bytes / 1e6),
        bytes => format!("{time} and {:.1} GB of memory", bytes / 1e9),
    }
}

/// The memory that the system could give, in bytes, where it says so.
fn available_memory() -> Option<f64> {
    let facts = fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}
