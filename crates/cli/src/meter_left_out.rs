//! `--meter` in a program that was built without it.

use crate::console::Console;
use crate::errors::Failure;
use ackord_live::MeterFeed;
use ackord_scenario::Scenario;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// The options of commands that could draw a meter.
#[derive(Args, Clone, Debug)]
pub(crate) struct MeterArguments {
    /// Not in this program: build it with `cargo build --release --package ackord-cli`
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    meter: Option<PathBuf>,
    #[arg(long, hide = true, requires = "meter")]
    meter_link: Option<String>,
}

/// There is none.
pub(crate) enum Meter {}

/// There is no terminal to give back.
pub(crate) fn restore() {}

impl MeterArguments {
    /// It takes none.
    pub(crate) fn takes_own_terminal(&self) -> bool {
        false
    }

    /// Nothing, where nothing is asked for.
    pub(crate) fn of(&self, _scenario: &Scenario) -> Result<Option<Meter>, Failure> {
        match self.meter {
            Some(_) => Err(Failure::LeftOut("--meter")),
            None => Ok(None),
        }
    }

    /// The same.
    pub(crate) fn on(&self, _feed: MeterFeed) -> Result<Option<Meter>, Failure> {
        match self.meter {
            Some(_) => Err(Failure::LeftOut("--meter")),
            None => Ok(None),
        }
    }
}

impl Meter {
    /// Never called.
    pub(crate) fn feed(&self) -> Arc<MeterFeed> {
        match *self {}
    }

    /// Never called.
    pub(crate) fn begin(self, _console: &Console) -> Result<Box<Meter>, Failure> {
        match self {}
    }
}
