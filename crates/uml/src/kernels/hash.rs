//! SHA-256 of files and of whatever else, in hexadecimal.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

/// SHA-256 of a file, in hexadecimal.
pub(super) fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut Digester(&mut hasher))?;
    Ok(hexadecimal(hasher))
}

/// A hash that is written into.
pub(super) struct Digester<'a>(pub(super) &'a mut Sha256);

impl io::Write for Digester<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
