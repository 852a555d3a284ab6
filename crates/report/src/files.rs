//! Files written so that nobody ever sees half of one.
//!
//! Every file is first written beside its place under a name ending in `.partial`; only when all
//! are complete do they take their names. What fails before that leaves the folder as it was.
//! Devices, pipes and links are written to in place: `/dev/null` is to remain what it is.

use std::io;
use std::path::{Component, Path, PathBuf};

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Where, below the output folder.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl OutputFile {
    /// A file of these bytes.
    pub fn new(path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> OutputFile {
        OutputFile { path: path.into(), bytes: bytes.into() }
    }
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output folder is a file.
    #[error("`{}` is a file; outputs need a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Nothing can be written into the folder.
    #[error("cannot write into `{}`", path.display())]
    NotWritable {
        /// The folder, or the nearest one above it that is there.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path leads out of the output folder.
    #[error("`{}` does not stay inside the output folder", .0.display())]
    Outside(PathBuf),
    /// The system refused.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What was tried, e.g. "create the folder".
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Writes `files` below `folder`, which is created if it is not there, and returns where they are.
///
/// # Errors
/// When the folder is a file, a path leaves it, or the system refuses; no file has then been
/// replaced, unless it was the last step, the renaming, that failed half-way.
pub fn write_all(folder: &Path, files: &[OutputFile]) -> Result<Vec<PathBuf>, WriteError> {
    write_each(folder, files.iter().map(|file| (file.path.as_path(), file.bytes.as_slice())))
}

/// Writes files, given by their paths below `folder` and their bytes, as [`write_all`] does.
fn write_each<'a>(
    folder: &Path,
    files: impl Iterator<Item = (&'a Path, &'a [u8])>,
) -> Result<Vec<PathBuf>, WriteError> {
    if folder.exists() && !folder.is_dir() {
        return Err(WriteError::NotAFolder(folder.to_owned()));
    }
    let mut pending = Pending(Vec::new());
    for (path, bytes) in files {
        pending.write(folder, path, bytes)?;
    }
    pending.rename()
}

/// Writes one file at `path`, replacing what is there.
///
/// # Errors
/// When the system refuses; what was there before is then still there.
pub fn write_one(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let name = path.file_name().ok_or_else(|| WriteError::Outside(path.to_owned()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = std::iter::once((Path::new(name), bytes));
    write_each(folder.unwrap_or(Path::new(".")), file).map(|_| ())
}

/// Files that are complete but have not taken their names; removed if they never do.
struct Pending(Vec<(PathBuf, PathBuf)>);

impl Pending {
    fn write(&mut self, folder: &Path, below: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let inside = below.components().all(|part| matches!(part, Component::Normal(_)));
        let Some(name) = below.file_name().filter(|_| inside) else {
            return Err(WriteError::Outside(below.to_owned()));
        };
        let path = folder.join(below);
        if let Some(parent) = path.parent() {
            let refused = |source| io_error("create the folder", parent, source);
            std::fs::create_dir_all(parent).map_err(refused)?;
        }
        if path.is_dir() {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(io_error("replace", &path, source));
        }
        if std::fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            let refused = |source| io_error("write", &path, source);
            return std::fs::write(&path, bytes).map_err(refused);
        }
        let mut partial = name.to_owned();
        partial.push(".partial");
        let partial = path.with_file_name(partial);
        self.0.push((partial.clone(), path));
        std::fs::write(&partial, bytes).map_err(|source| io_error("write", &partial, source))
    }

    fn rename(mut self) -> Result<Vec<PathBuf>, WriteError> {
        let mut written = Vec::new();
        for (partial, path) in &self.0 {
            std::fs::rename(partial, path).map_err(|source| io_error("write", path, source))?;
            written.push(path.clone());
        }
        self.0.clear();
        Ok(written)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for (partial, _) in &self.0 {
            // It may never have come to exist; there is nothing more to be done about it here.
            let _ = std::fs::remove_file(partial);
        }
    }
}

fn io_error(what: &'static str, path: &Path, source: io::Error) -> WriteError {
    WriteError::Io { what, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_and_their_folders_appear_under_their_names_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("new/out");
        let files = [OutputFile::new("a.json", "{}"), OutputFile::new("series/b.csv", "x")];
        let written = write_all(&out, &files).expect("a fresh folder");
        assert_eq!(written, [out.join("a.json"), out.join("series/b.csv")]);
        assert_eq!(files_in(&out), ["a.json", "series"]);
        assert_eq!(files_in(&out.join("series")), ["b.csv"]);
    }

    #[test]
    fn when_one_file_cannot_be_written_the_others_are_left_as_they_were() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_one(&folder.path().join("a.txt"), b"old").expect("a fresh folder");
        std::fs::create_dir(folder.path().join("b.txt")).expect("a fresh folder");
        let files = [OutputFile::new("a.txt", "new"), OutputFile::new("b.txt", "new")];
        let error = write_all(folder.path(), &files).expect_err("b.txt is a folder");
        assert!(matches!(error, WriteError::Io { what: "replace", .. }), "{error}");
        assert_eq!(files_in(folder.path()), ["a.txt", "b.txt"]);
        assert_eq!(std::fs::read(folder.path().join("a.txt")).expect("still there"), b"old");
    }

    #[test]
    fn a_file_in_the_folder_s_place_and_a_way_out_of_it_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        write_one(&file, b"x").expect("a fresh folder");
        assert!(matches!(write_all(&file, &[]), Err(WriteError::NotAFolder(_))));
        for path in ["../x", "/tmp/x", ""] {
            let refused = write_all(folder.path(), &[OutputFile::new(path, "x")]);
            assert!(matches!(refused, Err(WriteError::Outside(_))), "{path}");
        }
    }

    #[test]
    fn what_is_no_plain_file_is_written_to_and_not_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).expect("a fresh folder");
        write_one(&link, b"x").expect("it leads into the folder");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&target).expect("made through the link"), b"x");
    }
}
