//! Capture files that appear under their names when they are complete, or not at all.

use crate::errors::Failure;
use crate::input::check_folder;
use ackord_study::CaptureFiles;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder into which captures are written.
pub(crate) struct CaptureFolder {
    folder: PathBuf,
    /// Files under their provisional and their final names.
    pending: Vec<(PathBuf, PathBuf)>,
}

impl CaptureFolder {
    /// The folder, created if it is not there.
    pub(crate) fn open(folder: &Path) -> Result<CaptureFolder, Failure> {
        check_folder(folder)?;
        std::fs::create_dir_all(folder).map_err(|source| refused(folder, source))?;
        Ok(CaptureFolder { folder: folder.to_owned(), pending: Vec::new() })
    }

    /// Gives the files their names, and says which they are.
    pub(crate) fn commit(mut self) -> Result<Vec<PathBuf>, Failure> {
        let mut names = Vec::new();
        for (partial, path) in std::mem::take(&mut self.pending) {
            std::fs::rename(&partial, &path).map_err(|source| refused(&self.folder, source))?;
            names.push(path);
        }
        Ok(names)
    }
}

impl CaptureFiles for CaptureFolder {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        let partial = self.folder.join(format!("{name}.partial"));
        let file = File::create(&partial)?;
        self.pending.push((partial, self.folder.join(name)));
        Ok(Box::new(file))
    }
}

impl Drop for CaptureFolder {
    fn drop(&mut self) {
        for (partial, _) in &self.pending {
            // Whatever went wrong before has been told; there is nothing more to be done here.
            let _ = std::fs::remove_file(partial);
        }
    }
}

fn refused(folder: &Path, source: io::Error) -> Failure {
    Failure::Captures { folder: folder.display().to_string(), source }
}
