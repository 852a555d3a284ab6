//! The files of a kernel: an archive that it unpacks into memory before its first program.

use cpio::newc::{Builder, ModeFileType, trailer};
use std::io::{self, Write};

/// What is in an archive.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A folder.
    Folder {
        /// Its path, without a slash in front.
        path: String,
    },
    /// A file.
    File {
        /// Its path.
        path: String,
        /// Whether it may be executed.
        executable: bool,
        /// What is in it.
        bytes: Vec<u8>,
    },
    /// A character device.
    Device {
        /// Its path.
        path: String,
        /// Its numbers, major and minor.
        numbers: (u32, u32),
    },
}

/// The archive of these entries; a folder comes before what is in it.
///
/// # Errors
/// If a file is too long for the format (4 GiB).
pub fn initramfs(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut archive = Vec::new();
    for (entry, inode) in entries.iter().zip(1..) {
        let (path, kind, mode, bytes): (_, _, _, &[u8]) = match entry {
            Entry::Folder { path } => (path, ModeFileType::Directory, 0o755, &[]),
            Entry::File { path, executable, bytes } => {
                (path, ModeFileType::Regular, if *executable { 0o755 } else { 0o644 }, bytes)
            }
            Entry::Device { path, .. } => (path, ModeFileType::Char, 0o666, &[]),
        };
        let mut builder =
            Builder::new(path).ino(inode).nlink(1).mode(mode).set_mode_file_type(kind);
        if let Entry::Device { numbers: (major, minor), .. } = entry {
            builder = builder.rdev_major(*major).rdev_minor(*minor);
        }
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let mut writer = builder.write(&mut archive, length);
        writer.write_all(bytes)?;
        writer.finish()?;
    }
    trailer(&mut archive)?;
    Ok(archive)
}
