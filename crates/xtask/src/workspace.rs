//! The checkout under inspection: where it is, which files it tracks, how to build its program.

use crate::findings::CannotCheck;
use cargo_metadata::{Metadata, MetadataCommand};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A checkout of the project.
pub(crate) struct Workspace {
    /// Its folder.
    pub(crate) root: PathBuf,
    /// What cargo says of its crates (without their outside dependencies).
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// The workspace that the current folder is in.
    pub(crate) fn find() -> Result<Workspace, CannotCheck> {
        let metadata = MetadataCommand::new().no_deps().exec()?;
        Ok(Workspace { root: metadata.workspace_root.clone().into_std_path_buf(), metadata })
    }

    /// Files under version control that exist, relative to the root, in order of name. Files that
    /// are new and not ignored count too: a check before the commit must see them.
    pub(crate) fn files(&self) -> Result<Vec<String>, CannotCheck> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root)
            .output()?;
        if !listed.status.success() {
            return Err("git cannot list the files: is this a checkout?".into());
        }
        let mut files: Vec<String> = String::from_utf8(listed.stdout)?
            .split('\0')
            .filter(|name| !name.is_empty() && self.root.join(name).is_file())
            .map(str::to_owned)
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The files whose name ends so.
    pub(crate) fn files_ending(&self, suffix: &str) -> Result<Vec<String>, CannotCheck> {
        Ok(self.files()?.into_iter().filter(|name| name.ends_with(suffix)).collect())
    }

    /// A file's text.
    pub(crate) fn read(&self, name: &str) -> Result<String, CannotCheck> {
        std::fs::read_to_string(self.root.join(name))
            .map_err(|error| format!("{name}: {error}").into())
    }

    /// Builds the command line program and says where it is.
    pub(crate) fn build_program(&self) -> Result<PathBuf, CannotCheck> {
        let built = Command::new("cargo")
            .args(["build", "--quiet", "--release", "--package", "ackord-cli"])
            .current_dir(&self.root)
            .status()?;
        if !built.success() {
            return Err("the program does not build".into());
        }
        Ok(Path::new(&self.metadata.target_directory).join("release/ackord"))
    }
}
