//! Sockets for which Nagle's algorithm was switched off, in a file: that cannot be told from an application's own
//! choice once the agent is gone. A socket's cookie stays its own as long as the machine runs.
//!
//! A line each, `+` where one was begun and `-` where it is gone, written once a second; where most of the file is of
//! sockets that are gone it is written anew.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The sockets.
#[derive(Debug)]
pub(crate) struct Sockets {
    path: PathBuf,
    file: File,
    living: BTreeSet<u64>,
    lines: usize,
    new: String,
    /// Those among the living that no file has yet.
    unwritten: BTreeSet<u64>,
    /// The last line may be cut off: the disk was full.
    is_torn: bool,
}

impl Sockets {
    /// The file's name in the state directory.
    pub(crate) const FILE: &'static str = "agent.sockets";

    /// A new list in this file.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn create(path: &Path) -> io::Result<Sockets> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        Ok(Sockets {
            path: path.to_owned(),
            file,
            living: BTreeSet::new(),
            lines: 0,
            new: String::new(),
            unwritten: BTreeSet::new(),
            is_torn: false,
        })
    }

    /// The sockets of a list that are not said to be gone; none where there is no list.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn read(path: &Path) -> io::Result<Vec<u64>> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut living = BTreeSet::new();
        for line in text.lines() {
            // The last one may have been cut off by a crash.
            match line.split_at_checked(1).map(|(sign, cookie)| (sign, cookie.parse::<u64>())) {
                Some(("+", Ok(cookie))) => drop(living.insert(cookie)),
                Some(("-", Ok(cookie))) => drop(living.remove(&cookie)),
                _ => {}
            }
        }
        Ok(living.into_iter().collect())
    }

    /// Nagle's algorithm was switched off for this one.
    pub(crate) fn add(&mut self, cookie: u64) {
        if self.living.insert(cookie) {
            self.unwritten.insert(cookie);
            self.say('+', cookie);
        }
    }

    /// It is gone.
    pub(crate) fn remove(&mut self, cookie: u64) {
        self.unwritten.remove(&cookie);
        if self.living.remove(&cookie) {
            self.say('-', cookie);
        }
    }

    /// The sockets that no file has: a write failed, or none was tried yet.
    pub(crate) fn unwritten(&self) -> Vec<u64> {
        self.unwritten.iter().copied().collect()
    }

    fn say(&mut self, sign: char, cookie: u64) {
        self.new.push_str(&format!("{sign}{cookie}\n"));
        self.lines += 1;
    }

    /// Writes what is new.
    ///
    /// # Errors
    /// Where that cannot be written: on a full disk, say. It is tried again next time.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        if self.new.is_empty() {
            return Ok(());
        }
        if self.lines > 1_000 + 2 * self.living.len() {
            let beside = self.path.with_extension("new");
            let lines: String = self.living.iter().map(|cookie| format!("+{cookie}\n")).collect();
            fs::write(&beside, lines)?;
            fs::rename(&beside, &self.path)?;
            self.file = OpenOptions::new().append(true).open(&self.path)?;
            self.lines = self.living.len();
        } else {
            if self.is_torn {
                self.file.write_all(b"\n")?;
            }
            self.is_torn = true;
            self.file.write_all(self.new.as_bytes())?;
        }
        self.is_torn = false;
        self.new.clear();
        self.unwritten.clear();
        Ok(())
    }
}

/// What is not there need not be removed.
pub(crate) fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_live_are_read_again_and_the_file_stays_small() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(Sockets::FILE);
        assert_eq!(Sockets::read(&path).expect("none"), [0_u64; 0]);
        let mut sockets = Sockets::create(&path).expect("ours");
        for cookie in 1..=5_000 {
            sockets.add(cookie);
            if cookie > 3 {
                sockets.remove(cookie);
            }
            if cookie % 100 == 0 {
                sockets.write().expect("ours");
            }
        }
        sockets.write().expect("ours");
        assert_eq!(Sockets::read(&path).expect("a list"), [1, 2, 3]);
        let len = fs::metadata(&path).expect("it is there").len();
        assert!(len < 20_000, "{len} bytes for three sockets");
    }

    #[test]
    fn sockets_that_no_file_has_are_known() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut sockets = Sockets::create(&directory.path().join(Sockets::FILE)).expect("a list");
        sockets.add(1);
        sockets.write().expect("ours");
        sockets.add(2);
        sockets.add(3);
        sockets.remove(3);
        assert_eq!(sockets.unwritten(), [2]);
        sockets.write().expect("ours");
        assert_eq!(sockets.unwritten(), [0_u64; 0]);
    }

    #[test]
    fn a_list_that_was_cut_off_says_what_it_can() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(Sockets::FILE);
        fs::write(&path, "+17\n+18\n-17\n+1x\n\u{e9}\n-").expect("ours");
        assert_eq!(Sockets::read(&path).expect("a list"), [18]);
    }
}
