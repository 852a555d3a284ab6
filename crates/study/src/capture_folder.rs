//! Capture files that appear under their names when they are complete, or not at all.

use crate::capture::CaptureFiles;
use crate::reserved::Reserved;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// A folder into which captures are written.
pub struct CaptureFolder {
    folder: PathBuf,
    snap_len: Option<NonZeroU32>,
    /// Files under their provisional and their final names.
    pending: Vec<(PathBuf, PathBuf)>,
}

/// Why captures could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write captures to `{folder}`")]
pub struct CaptureFolderError {
    /// Where.
    folder: String,
    /// Why not.
    source: io::Error,
}

impl CaptureFolder {
    /// The folder, created if it is not there.
    ///
    /// # Errors
    /// What the system answers.
    pub fn open(folder: &Path) -> Result<CaptureFolder, CaptureFolderError> {
        std::fs::create_dir_all(folder).map_err(|source| refused(folder, source))?;
        Ok(CaptureFolder { folder: folder.to_owned(), snap_len: None, pending: Vec::new() })
    }

    /// The same for captures that keep no more than so many bytes of a packet.
    #[must_use]
    pub fn with_snap_len(mut self, snap_len: Option<NonZeroU32>) -> CaptureFolder {
        self.snap_len = snap_len;
        self
    }

    /// Gives the files their names, and says which they are.
    ///
    /// # Errors
    /// What the system answers.
    pub fn commit(mut self) -> Result<Vec<PathBuf>, CaptureFolderError> {
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
        Ok(Box::new(Reserved::new(file)))
    }

    fn snap_len(&self) -> Option<NonZeroU32> {
        self.snap_len
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

fn refused(folder: &Path, source: io::Error) -> CaptureFolderError {
    CaptureFolderError { folder: folder.display().to_string(), source }
}
