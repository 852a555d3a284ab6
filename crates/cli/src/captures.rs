//! Folders for captures.

use crate::errors::Failure;
use crate::input::check_folder;
use ackord_study::CaptureFolder;
use std::path::Path;

/// The folder, created if it is not there, and refused before any work where nothing can be written.
pub(crate) fn open_folder(folder: &Path) -> Result<CaptureFolder, Failure> {
    check_folder(folder)?;
    Ok(CaptureFolder::open(folder)?)
}
