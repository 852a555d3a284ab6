//! A file that grows into room that was reserved for it.
//!
//! Where a file grows by writing, the system looks for room and counts it page by page, which is a third of what
//! writing costs. Reserving it in one go leaves the copying.

use nix::fcntl::{FallocateFlags, fallocate};
use std::fs::File;
use std::io::{self, Write};

/// Nothing is reserved for a file that is shorter, bytes.
const SHORTEST: u64 = 1 << 20;
/// At most this much at once, bytes.
const MOST: u64 = 1 << 25;

/// A file that is written from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Reserved {
    file: File,
    written: u64,
    /// How far its room reaches, as far as it was asked for.
    reserved: u64,
}

impl Reserved {
    /// An empty file.
    pub(crate) fn new(file: File) -> Reserved {
        Reserved { file, written: 0, reserved: 0 }
    }

    /// Reserves as much again as there is, so that it is never much more than what is needed.
    fn reserve(&mut self) {
        let (from, len) = (self.written, self.written.min(MOST));
        // Where a file system cannot reserve, or has not so much left, it looks for room as before.
        let _ = fallocate(&self.file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from as i64, len as i64);
        self.reserved = from + len;
    }
}

impl Write for Reserved {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written >= self.reserved.max(SHORTEST) {
            self.reserve();
        }
        let len = self.file.write(bytes)?;
        self.written += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // The same length as it has: what was reserved behind it is given back.
        if self.reserved > self.written {
            let _ = self.file.set_len(self.written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_holds_what_was_written_and_keeps_no_more_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let piece: Vec<u8> = (0..1 << 17).map(|at: u32| (at % 251) as u8).collect();
        let mut file = Reserved::new(File::create(&path).expect("a file"));
        for _ in 0..20 {
            file.write_all(&piece).expect("written");
        }
        file.write_all(b"the end").expect("written");
        assert!(file.reserved > file.written, "the room was doubled last at two of its three MB");
        drop(file);
        let found = std::fs::read(&path).expect("readable");
        assert_eq!(found.len(), 20 * piece.len() + 7);
        assert!(found.chunks(piece.len()).take(20).all(|part| part == piece));
        // In units of 512 bytes; a file system may round up.
        let room = std::fs::metadata(&path).expect("there").blocks() * 512;
        assert!(room < found.len() as u64 + (1 << 17), "{room} bytes for {}", found.len());
    }
}
