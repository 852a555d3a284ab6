//! `ackord man`: manual pages, from the same words as `--help`, and of the daemons' files from their tables of keys.

#[cfg(feature = "daemons")]
mod formats;

use crate::console::Console;
use crate::errors::Failure;
use crate::groups::by_group;
use crate::input::check_folder;
use ackord_report::{WriteError, write_one};
use clap::{Args, Command};
use clap_mangen::Man;
use std::io;
use std::path::PathBuf;

/// Write manual pages: ackord(1), one per command, as ackord-run(1), and gateway.toml(5) and agent.toml(5)
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
    clap_mangen::generate_to(command.clone(), folder).map_err(not_written)?;
    let whole = folder.join("ackord.1");
    write_one(&whole, &grouped(command).map_err(not_written)?)?;
    #[cfg(feature = "daemons")]
    for (name, page) in formats::pages() {
        write_one(&folder.join(name), page.as_bytes())?;
    }
    console.remark(&format!("wrote manual pages to {}", folder.display()));
    Ok(())
}

/// Returns ackord(1) with its commands by purpose, as in the help.
fn grouped(command: Command) -> io::Result<Vec<u8>> {
    let groups = by_group(&command);
    let man = Man::new(command.disable_help_subcommand(true));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for group in groups {
        Man::new(group).render_subcommands_section(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}
