//! The folder where kernels are kept.
//!
//! ```text
//! ackord/kernels/
//!   6.12-250hz-1f0c9a7be2d4/     a kernel: `linux`, `kernel.config`, `kernel.json`
//!   lock                         held by the one that builds
//!   .building/                   where it builds; what a crash left there, the next one removes
//! ```
//!
//! A kernel appears by one rename, complete, and is never changed. Whoever finds one compares its hash with
//! the one in `kernel.json`, which costs milliseconds.

use super::hash::hash_of_file;
use super::recipe;
use super::{DEFAULT_HZ, HZ_CHOICES, Kernel, KernelError, KernelWish, Source};
use std::cmp::Reverse;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The binary of a kernel.
pub(super) const BINARY: &str = "linux";
/// Its complete configuration.
pub(super) const CONFIG: &str = "kernel.config";
/// What is known of it: a [`Kernel`].
const RECORD: &str = "kernel.json";

/// A folder where kernels are kept.
#[derive(Clone, Debug)]
pub struct Kernels {
    folder: PathBuf,
}

/// A kernel that is kept, and whether it can be used.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The kernel.
    pub kernel: Kernel,
    /// Whether it can be used.
    pub state: State,
}

/// Whether a kernel that is kept can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It can.
    Sound,
    /// It was built with another configuration than this program's.
    Outdated,
    /// It is not what was built: why.
    Damaged(String),
}

/// All that is kept.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Kernels, by name and ticks, the newest of each first.
    pub kernels: Vec<Kept>,
    /// Folders of which nothing is known: nothing finds them, [`Kernels::remove_all`] removes them.
    pub unreadable: Vec<PathBuf>,
}

impl Kernels {
    /// The user's: `$XDG_CACHE_HOME/ackord/kernels`, or `~/.cache/ackord/kernels`.
    ///
    /// # Errors
    /// [`KernelError::NoCache`].
    pub fn of_user() -> Result<Kernels, KernelError> {
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        // The XDG specification has relative folders ignored.
        let cache = folder("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || folder("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = cache.or_else(home).ok_or(KernelError::NoCache)?;
        Ok(Kernels::at(&cache.join("ackord/kernels")))
    }

    /// Those in this folder, which need not be there yet.
    pub fn at(folder: &Path) -> Kernels {
        Kernels { folder: folder.to_owned() }
    }

    /// Where they are kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Everything that is kept, each looked at.
    ///
    /// # Errors
    /// [`KernelError::Io`].
    pub fn list(&self) -> Result<Listing, KernelError> {
        let mut listing = Listing::default();
        for folder in self.entries()? {
            match load(&folder) {
                Ok(kernel) => {
                    let state = state(&kernel);
                    listing.kernels.push(Kept { kernel, state });
                }
                Err(_) => listing.unreadable.push(folder),
            }
        }
        listing
            .kernels
            .sort_by_key(|kept| (kept.kernel.wish().name, kept.kernel.hz, newness(&kept.kernel)));
        Ok(listing)
    }

    /// Finds a kernel and makes sure that it is the one that was built. Of several the newest.
    ///
    /// # Errors
    /// [`KernelError`], which says how to build it.
    pub fn find(&self, wish: &KernelWish) -> Result<Kernel, KernelError> {
        if !HZ_CHOICES.contains(&wish.hz) {
            return Err(KernelError::BadHz(wish.hz));
        }
        let kernels: Vec<Kernel> =
            self.entries()?.iter().filter_map(|folder| load(folder).ok()).collect();
        let meant = |kernel: &&Kernel| {
            kernel.hz == wish.hz && (kernel.name == wish.name || kernel.release == wish.name)
        };
        let mut found: Vec<&Kernel> = kernels.iter().filter(meant).collect();
        // A kernel by that name comes before another with that release.
        found.sort_by_key(|kernel| (kernel.name != wish.name, newness(kernel)));
        let Some(first) = found.first() else { return Err(not_built(wish, &kernels)) };
        let how = how_to_build(wish, Some(&first.source));
        let Some(kernel) = found.iter().find(|kernel| kernel.recipe == recipe::hash(kernel.hz))
        else {
            return Err(KernelError::Outdated { wish: wish.to_string(), how });
        };
        match state(kernel) {
            State::Damaged(what) => Err(KernelError::Damaged { wish: wish.to_string(), what, how }),
            State::Sound | State::Outdated => Ok((*kernel).clone()),
        }
    }

    /// Removes every kernel of this name, release or folder; of these ticks, where they are said.
    ///
    /// # Errors
    /// [`KernelError::NotKept`], [`KernelError::Io`].
    pub fn remove(&self, name: &str, hz: Option<u32>) -> Result<Vec<Kernel>, KernelError> {
        let mut removed = Vec::new();
        let mut kept = Vec::new();
        for folder in self.entries()? {
            let Ok(kernel) = load(&folder) else { continue };
            let own = folder.file_name().is_some_and(|own| own == name);
            let named = own || kernel.name == name || kernel.release == name;
            if named && hz.is_none_or(|hz| hz == kernel.hz) {
                remove_folder(&folder)?;
                removed.push(kernel);
            } else {
                kept.push(kernel.wish().to_string());
            }
        }
        if removed.is_empty() {
            kept.dedup();
            let nearest = ackord_units::nearest_name(name, kept.iter().map(String::as_str));
            let nearest = nearest.map(str::to_owned);
            return Err(KernelError::NotKept { given: name.to_owned(), nearest, kept });
        }
        Ok(removed)
    }

    /// Removes everything, what cannot be read included; says how many folders that were.
    ///
    /// # Errors
    /// [`KernelError::Io`].
    pub fn remove_all(&self) -> Result<usize, KernelError> {
        let entries = self.entries()?;
        entries.iter().try_for_each(|folder| remove_folder(folder))?;
        Ok(entries.len())
    }

    /// Where a kernel with this key is kept.
    pub(super) fn place(&self, wish: &KernelWish, key: &str) -> PathBuf {
        self.folder.join(format!("{}-{}hz-{}", wish.name, wish.hz, &key[..12]))
    }

    /// The kernel in this place, if it is there and sound.
    pub(super) fn sound_at(&self, place: &Path) -> Option<Kernel> {
        load(place).ok().filter(|kernel| state(kernel) == State::Sound)
    }

    /// Keeps what lies in `made` (a binary and its configuration, in the same file system) in this place,
    /// and removes what it replaces.
    pub(super) fn keep(
        &self,
        made: &Path,
        place: &Path,
        kernel: &Kernel,
    ) -> Result<Kernel, KernelError> {
        let record = made.join(RECORD);
        let json = serde_json::to_string_pretty(kernel).expect("plain data");
        fs::write(&record, json + "\n").map_err(KernelError::io(&record))?;
        for name in [BINARY, CONFIG, RECORD] {
            let file = made.join(name);
            File::open(&file).and_then(|file| file.sync_all()).map_err(KernelError::io(&file))?;
        }
        if place.exists() {
            // It was damaged, or nobody would have built anew.
            remove_folder(place)?;
        }
        fs::rename(made, place).map_err(KernelError::io(place))?;
        // The name is part of what has to be on disk.
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(KernelError::io(&self.folder))?;
        self.remove_replaced(place, kernel)?;
        load(place).map_err(|what| KernelError::Damaged {
            wish: kernel.wish().to_string(),
            what,
            how: how_to_build(&kernel.wish(), Some(&kernel.source)),
        })
    }

    /// A tree of one's own that was changed replaces what it was; stock kernels are replaced only where
    /// this program can no longer use them, for results may have been made with an older package.
    fn remove_replaced(&self, place: &Path, by: &Kernel) -> Result<(), KernelError> {
        for folder in self.entries()?.iter().filter(|folder| *folder != place) {
            let Ok(old) = load(folder) else { continue };
            let own = matches!(old.source, Source::Tree { .. });
            if old.wish() == by.wish() && (own || old.recipe != by.recipe) {
                remove_folder(folder)?;
            }
        }
        Ok(())
    }

    /// Folders that may be kernels.
    fn entries(&self) -> Result<Vec<PathBuf>, KernelError> {
        let failed = KernelError::io(&self.folder);
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let entry = entry.map_err(&failed)?;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden && entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
        folders.sort();
        Ok(folders)
    }
}

/// Reads what is known of a kernel; its files are where the record is.
fn load(folder: &Path) -> Result<Kernel, String> {
    let text = fs::read_to_string(folder.join(RECORD)).map_err(|error| error.to_string())?;
    let kernel: Kernel = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(Kernel { binary: folder.join(BINARY), config: folder.join(CONFIG), ..kernel })
}

fn state(kernel: &Kernel) -> State {
    match hash_of_file(&kernel.binary) {
        Err(error) => State::Damaged(format!("{}: {error}", kernel.binary.display())),
        Ok(hash) if hash != kernel.hash => {
            State::Damaged(format!("{} is not what was built", kernel.binary.display()))
        }
        Ok(_) if kernel.recipe != recipe::hash(kernel.hz) => State::Outdated,
        Ok(_) => State::Sound,
    }
}

/// Sorts the newest first: by release, then by when it was built.
fn newness(kernel: &Kernel) -> Reverse<(Vec<u32>, u64)> {
    let numbers = kernel.release.split(['.', '-', '+', '~']);
    let numbers = numbers.map_while(|number| number.parse().ok()).collect();
    Reverse((numbers, kernel.built_at_unix_s))
}

fn not_built(wish: &KernelWish, kernels: &[Kernel]) -> KernelError {
    let mut built: Vec<String> = kernels.iter().map(|kernel| kernel.wish().to_string()).collect();
    built.sort();
    built.dedup();
    let given = wish.to_string();
    // Another version is not what was meant, however alike the numbers are; other ticks may be.
    let near =
        |built: &&String| super::source::is_version(&wish.name) == super::source::is_version(built);
    let nearest = ackord_units::nearest_name(&given, built.iter().filter(near).map(String::as_str));
    let nearest = nearest.filter(|_| !super::source::is_version(&wish.name)).map(str::to_owned);
    KernelError::NotBuilt { wish: given, how: how_to_build(wish, None), nearest, built }
}

/// The command that builds it.
pub(super) fn how_to_build(wish: &KernelWish, source: Option<&Source>) -> String {
    let hz = if wish.hz == DEFAULT_HZ { String::new() } else { format!(" --hz {}", wish.hz) };
    match source {
        Some(Source::Tree { path, .. }) => {
            format!("`ackord kernel build --source {} --name {}{hz}`", path.display(), wish.name)
        }
        None if !super::source::is_version(&wish.name) => {
            format!("`ackord kernel build --source DIR --name {}{hz}`", wish.name)
        }
        // A release is built as what it is a release of.
        Some(Source::Package { package, .. }) => {
            let version = package.strip_prefix("linux-source-").unwrap_or(&wish.name);
            format!("`ackord kernel build {version}{hz}`")
        }
        None => format!("`ackord kernel build {}{hz}`", wish.name),
    }
}

pub(super) fn remove_folder(folder: &Path) -> Result<(), KernelError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(KernelError::io(folder)(error))
        }
        _ => Ok(()),
    }
}
