//! Kernels: built from source, kept in the user's cache, found again.
//!
//! ```text
//! Debian's linux-source-6.12 ─┐                                     ┌─ linux
//! somebody's own tree ────────┴─► configure ─► compile ─► cache/NAME-HZhz-KEY ─┼─ kernel.config
//!                  kernel.config, HZ in front                       └─ kernel.json
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `kernels/cache.rs` | [`Kernels`]: the folder where they are kept: list, find, remove |
//! | `kernels/build.rs` | a build, from its order to a kernel that is kept |
//! | `kernels/source.rs` | where source comes from: a package of Debian, a tree of one's own |
//! | `kernels/recipe.rs`, `kernels/kernel.config` | what a kernel has, and whether it really has it |
//! | `kernels/tools.rs` | what a build needs of the machine |
//! | `kernels/tool.rs` | a tool at work: its lines, its failure, its end when nobody waits any longer |
//! | `kernels/shell.rs`, `kernels/inside.rs` | a shell on a kernel, in real time: outside, and the first process inside |
//! | `kernels/hash.rs` | SHA-256 |
//! | `kernels/error.rs` | [`KernelError`] |
//!
//! No kernel is shipped: the licence of Linux asks whoever passes on a binary to pass on its source, and
//! what was compiled here from a distribution's source is nobody's word but the user's own.
//!
//! Not modelled: other architectures than x86-64, modules, more than one processor.

mod build;
mod cache;
mod error;
mod hash;
mod inside;
mod recipe;
mod shell;
mod source;
#[cfg(test)]
mod tests;
mod tool;
mod tools;

pub use build::{BuildOrder, Built, Phase, Progress};
pub use cache::{Kept, Kernels, Listing, State};
pub use error::KernelError;
pub use inside::run_inside;
pub use recipe::fragment;
pub use shell::{ShellEnd, ShellOrder, shell};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The kernel where none is named.
pub const DEFAULT_KERNEL: &str = "6.12";
/// Ticks per second where nothing is said: Debian's.
pub const DEFAULT_HZ: u32 = 250;
/// Ticks per second that kernels are built with anywhere.
pub const HZ_CHOICES: [u32; 4] = [100, 250, 300, 1000];

/// Which kernel is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelWish {
    /// A stock version (`6.12`), a release (`6.12.117`), or the name of a kernel of one's own.
    pub name: String,
    /// Ticks per second.
    pub hz: u32,
}

impl Default for KernelWish {
    fn default() -> KernelWish {
        KernelWish { name: DEFAULT_KERNEL.to_owned(), hz: DEFAULT_HZ }
    }
}

impl KernelWish {
    /// This kernel, with the ticks of Debian's.
    pub fn named(name: &str) -> KernelWish {
        KernelWish { name: name.to_owned(), ..KernelWish::default() }
    }
}

/// `6.12`, or `6.12 with 1000 Hz`.
impl fmt::Display for KernelWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelWish { name, hz } = self;
        if *hz == DEFAULT_HZ { write!(f, "{name}") } else { write!(f, "{name} with {hz} Hz") }
    }
}

/// A kernel that can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// What it is asked for by: `6.12`, or the name that a tree of one's own was given.
    pub name: String,
    /// What it says of itself: `6.12.117`.
    pub release: String,
    /// Ticks per second.
    pub hz: u32,
    /// SHA-256 of the binary, in hexadecimal.
    pub hash: String,
    /// What it was built from.
    pub source: Source,
    /// SHA-256 of the configuration asked for and of all else that a build is told.
    pub recipe: String,
    /// Options that it should have and its version never had.
    pub lacks: Vec<String>,
    /// Bytes of the binary.
    pub bytes: u64,
    /// When it was built, in seconds since 1970.
    pub built_at_unix_s: u64,
    /// The program `linux`.
    pub binary: PathBuf,
    /// Its complete configuration.
    pub config: PathBuf,
}

impl Kernel {
    /// The wish that finds it.
    pub fn wish(&self) -> KernelWish {
        KernelWish { name: self.name.clone(), hz: self.hz }
    }

    /// The beginning of its hash, enough to tell kernels apart.
    pub fn short_hash(&self) -> &str {
        self.hash.get(..12).unwrap_or(&self.hash)
    }
}

/// What a kernel was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Source {
    /// A distribution's package.
    Package {
        /// `linux-source-6.12`.
        package: String,
        /// `6.12.117-1~deb12u1`.
        version: String,
    },
    /// Somebody's own tree.
    Tree {
        /// Where it was.
        path: PathBuf,
        /// SHA-256 of its files, names and all, in hexadecimal.
        hash: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Package { package, version } => write!(f, "{package} {version}"),
            Source::Tree { path, hash } => {
                write!(f, "{} ({})", path.display(), hash.get(..12).unwrap_or(hash))
            }
        }
    }
}

/// Finds a kernel that the user has built: [`Kernels::find`] in the user's own cache.
///
/// # Errors
/// [`KernelError`], which says how to build it.
pub fn find(wish: &KernelWish) -> Result<Kernel, KernelError> {
    Kernels::of_user()?.find(wish)
}
