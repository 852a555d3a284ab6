//! `ackord sweep show`: pivot tables, the best points, plots.

use crate::console::Console;
use crate::errors::Failure;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct ShowArguments {
    /// Folder of the sweep
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn show(_: &ShowArguments, _: &Console) -> Result<(), Failure> {
    Ok(())
}
