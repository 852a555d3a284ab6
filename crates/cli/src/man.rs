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
use std::path::{Path, PathBuf};

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
    complete(folder).map_err(not_written)?;
    #[cfg(feature = "daemons")]
    for (name, page) in formats::pages() {
        write_one(&folder.join(name), page.as_bytes())?;
    }
    console.remark(&format!("wrote manual pages to {}", folder.display()));
    Ok(())
}

/// Exit codes of all commands.
const EXIT_STATUS: &str = r#".SH "EXIT STATUS"
.TP
0
Done.
.TP
1
Failed, or no daemon answers.
.TP
2
Bad input: nothing was done.
.TP
3
Done, with warnings; only if \-\-exit\-code is given.
.TP
130
Interrupted.
"#;

/// Files of a daemon, and the pages about it.
fn files(daemon: &str, state: &str) -> String {
    format!(
        ".SH FILES\n.TP\n\\fI/etc/ackord/{daemon}.toml\\fR\nConfiguration of the systemd unit \\fBackord\\-{daemon}\\fR, see \
         {daemon}.toml(5).\n.TP\n\\fI{state}\\fR\nControl socket, lock, and journal of changes to undo.\n.TP\n\
         \\fI/usr/share/doc/ackord\\fR\n{daemon}.md, which explains its use, and examples.\n.SH \"SEE ALSO\"\n\
         \\fBackord\\fR(1), \\fBackord\\-{daemon}\\fR(1), \\fB{daemon}.toml\\fR(5)\n"
    )
}

/// Adds exit codes to each page in `folder`, files and references to those of daemons, and names examples as such.
fn complete(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("ackord") || !name.ends_with(".1") {
            continue;
        }
        let page = std::fs::read_to_string(&path)?.replace(".SH EXTRA\n", ".SH EXAMPLES\n");
        let more = match () {
            () if name.starts_with("ackord-gateway") => files("gateway", "/run/ackord-gateway"),
            () if name.starts_with("ackord-agent") => files("agent", "/run/ackord"),
            () => ".SH \"SEE ALSO\"\n\\fBackord\\fR(1)\n".to_owned(),
        };
        std::fs::write(&path, format!("{page}{EXIT_STATUS}{more}"))?;
    }
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
