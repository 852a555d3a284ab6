//! Request targets to files, and never out of the folder that is served.

use percent_encoding::percent_decode_str;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What the names of unfinished uploads begin with; they are neither listed nor served.
const UNFINISHED: &str = ".ackord-upload-";

/// A folder that is served.
#[derive(Clone, Debug)]
pub(crate) struct FileStore {
    /// Without symbolic links, so that places can be compared with it.
    root: PathBuf,
}

/// What is at a target.
#[derive(Debug)]
pub(crate) enum Resource {
    /// A file of this length.
    File(File, u64),
    /// A folder: its entries, one a line, folders with a slash at the end.
    Listing(Vec<u8>),
}

/// Why a target is not served or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// 400: not a target of this kind of server.
    Malformed,
    /// 403: out of the folder, or the system forbids it.
    Forbidden,
    /// 404.
    NotFound,
    /// 409: something that is not a file is in the way.
    InTheWay,
    /// 507: the disk does not take it.
    NoRoom,
}

/// A file that is being uploaded; gone again unless it is committed.
#[derive(Debug)]
pub(crate) struct Upload {
    file: NamedTempFile,
    place: PathBuf,
}

impl FileStore {
    /// The folder `root`.
    pub(crate) fn open(root: &Path) -> io::Result<FileStore> {
        let root = root.canonicalize()?;
        if root.is_dir() {
            Ok(FileStore { root })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// What is at `target`.
    pub(crate) fn find(&self, target: &str) -> Result<Resource, Refused> {
        let place = self.inside(&self.place(target)?)?;
        let metadata = fs::metadata(&place).map_err(refused)?;
        if metadata.is_dir() {
            return listing(&place).map(Resource::Listing).map_err(refused);
        }
        // Opening a pipe or a device could block or do something.
        if !metadata.is_file() {
            return Err(Refused::Forbidden);
        }
        let file = File::open(&place).map_err(refused)?;
        Ok(Resource::File(file, metadata.len()))
    }

    /// Begins an upload to `target`, whose folder must exist.
    pub(crate) fn upload(&self, target: &str) -> Result<Upload, Refused> {
        let place = self.place(target)?;
        let name = place.file_name().ok_or(Refused::InTheWay)?.to_owned();
        let folder = place.parent().ok_or(Refused::Forbidden)?;
        // A target that names the root itself has its parent outside.
        if place == self.root {
            return Err(Refused::InTheWay);
        }
        let folder = self.inside(folder)?;
        let place = folder.join(name);
        if place.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Refused::InTheWay);
        }
        let file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(readable())
            .tempfile_in(&folder)
            .map_err(refused)?;
        Ok(Upload { file, place })
    }

    /// The place of a target, symbolic links not yet followed.
    fn place(&self, target: &str) -> Result<PathBuf, Refused> {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        // RFC 9112 §3.2.2: a server has to take the absolute form too.
        let path = match path.strip_prefix("http://") {
            Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => path,
        };
        let path = path.strip_prefix('/').ok_or(Refused::Malformed)?;
        let mut place = self.root.clone();
        for part in path.split('/') {
            let part: Vec<u8> = percent_decode_str(part).collect();
            match part.as_slice() {
                b"" | b"." => {}
                b".." => return Err(Refused::Forbidden),
                part if part.contains(&0) || part.contains(&b'/') => {
                    return Err(Refused::Malformed);
                }
                part if part.starts_with(UNFINISHED.as_bytes()) => return Err(Refused::NotFound),
                part => place.push(OsStr::from_bytes(part)),
            }
        }
        Ok(place)
    }

    /// The place with symbolic links followed, if it still lies in the folder.
    fn inside(&self, place: &Path) -> Result<PathBuf, Refused> {
        let real = place.canonicalize().map_err(refused)?;
        if real.starts_with(&self.root) { Ok(real) } else { Err(Refused::Forbidden) }
    }
}

impl Upload {
    /// Adds bytes at the end.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        self.file.write_all(bytes).map_err(|_| Refused::NoRoom)
    }

    /// Gives the file its name; until now nobody has seen any of it. Says whether it took the place of
    /// another.
    pub(crate) fn commit(self) -> Result<bool, Refused> {
        let replaces = self.place.exists();
        self.file.persist(&self.place).map_err(|error| refused(error.error))?;
        Ok(replaces)
    }
}

fn readable() -> fs::Permissions {
    // What an ordinary new file has, before the process's mask.
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}

fn refused(error: io::Error) -> Refused {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Refused::NotFound,
        io::ErrorKind::IsADirectory => Refused::InTheWay,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refused::NoRoom,
        _ => Refused::Forbidden,
    }
}

fn listing(folder: &Path) -> io::Result<Vec<u8>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let mut name = entry.file_name().as_bytes().to_vec();
        if name.starts_with(UNFINISHED.as_bytes()) {
            continue;
        }
        if entry.path().is_dir() {
            name.push(b'/');
        }
        name.push(b'\n');
        names.push(name);
    }
    names.sort();
    Ok(names.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder {
        store: FileStore,
        folder: tempfile::TempDir,
    }

    /// `root/` with `a.txt`, `sub/`, and links out of it; `secret` beside it.
    fn folder() -> Folder {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("sub")).expect("made");
        fs::write(root.join("a.txt"), "hello").expect("written");
        fs::write(folder.path().join("secret"), "no").expect("written");
        std::os::unix::fs::symlink(folder.path().join("secret"), root.join("out")).expect("made");
        std::os::unix::fs::symlink(folder.path(), root.join("up")).expect("made");
        Folder { store: FileStore::open(&root).expect("a folder"), folder }
    }

    #[test]
    fn files_and_listings_are_found_by_their_targets() {
        let Folder { store, folder: _kept } = folder();
        for target in ["/a.txt", "/./a%2Etxt?x=y", "http://10.77.0.2/a.txt", "//a.txt"] {
            assert!(matches!(store.find(target), Ok(Resource::File(_, 5))), "{target}");
        }
        let Ok(Resource::Listing(listing)) = store.find("/") else { panic!("no listing") };
        assert_eq!(listing, b"a.txt\nout\nsub/\nup/\n");
        assert_eq!(store.find("/nothing").err(), Some(Refused::NotFound));
        assert_eq!(store.find("/a.txt/b").err(), Some(Refused::NotFound));
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let Folder { store, folder } = folder();
        for target in
            ["/../secret", "/%2e%2e/secret", "/sub/../../secret", "/out", "/up/secret", "/.."]
        {
            assert_eq!(store.find(target).err(), Some(Refused::Forbidden), "{target}");
        }
        for target in ["/..%2fsecret", "/a%00b", "secret", "", "*"] {
            assert_eq!(store.find(target).err(), Some(Refused::Malformed), "{target}");
        }
        for (target, why) in [
            ("/../new", Refused::Forbidden),
            ("/up/new", Refused::Forbidden),
            ("/out", Refused::InTheWay),
            ("/sub", Refused::InTheWay),
            ("/", Refused::InTheWay),
            ("/none/new", Refused::NotFound),
        ] {
            assert_eq!(store.upload(target).err(), Some(why), "{target}");
        }
        assert!(!folder.path().join("new").exists());
    }

    #[test]
    fn an_upload_is_seen_when_it_is_complete_and_leaves_nothing_when_it_is_not() {
        let Folder { store, folder } = folder();
        let root = folder.path().join("root");
        let mut upload = store.upload("/sub/new").expect("allowed");
        upload.write(b"data").expect("room");
        assert!(matches!(store.find("/sub/"), Ok(Resource::Listing(names)) if names.is_empty()));
        assert_eq!(upload.commit(), Ok(false));
        assert_eq!(fs::read(root.join("sub/new")).expect("there"), b"data");
        let mut upload = store.upload("/a.txt").expect("allowed");
        upload.write(b"other").expect("room");
        drop(upload);
        assert_eq!(fs::read(root.join("a.txt")).expect("there"), b"hello");
        assert_eq!(fs::read_dir(&root).expect("there").count(), 4);
        assert_eq!(store.upload("/a.txt").expect("allowed").commit(), Ok(true));
    }
}
