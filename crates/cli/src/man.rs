//! `ackord man`: manual pages, from the same words as `--help`.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::check_folder;
use ackord_report::WriteError;
use clap::{Args, Command};
use std::path::PathBuf;

/// Write manual pages: ackord(1), and one per command, as ackord-run(1)
#[derive(Args)]
#[command(after_help = "\
Example:
  ackord man ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The folder for them
    folder: PathBuf,
}

pub(crate) fn man(
    command: Command,
    arguments: &ManArguments,
    console: &Console,
) -> Result<(), Failure> {
    let folder = &arguments.folder;
    check_folder(folder)?;
    let not_written = |source| WriteError::NotWritable { path: folder.clone(), source };
    std::fs::create_dir_all(folder).map_err(not_written)?;
    clap_mangen::generate_to(command, folder).map_err(not_written)?;
    console.remark(&format!("wrote manual pages to {}", folder.display()));
    Ok(())
}
