//! Why a kernel cannot be had, and what would help.

use std::io;
use std::path::{Path, PathBuf};

/// Why a kernel cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// Nobody knows where the user's cache is.
    #[error("kernels are kept in $XDG_CACHE_HOME or in $HOME/.cache, and neither is set")]
    NoCache,
    /// It has not been built.
    #[error("the kernel {wish} has not been built{}; build it: {how}", others(nearest.as_deref(), built))]
    NotBuilt {
        /// Which.
        wish: String,
        /// The command that builds it.
        how: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// What there is.
        built: Vec<String>,
    },
    /// It was built with another configuration than this program's.
    #[error(
        "the kernel {wish} was built for another version of this program; build it anew: {how}"
    )]
    Outdated {
        /// Which.
        wish: String,
        /// The command that builds it.
        how: String,
    },
    /// What is kept is not what was built.
    #[error("the kernel {wish} is damaged ({what}); build it anew: {how}")]
    Damaged {
        /// Which.
        wish: String,
        /// What is wrong with it.
        what: String,
        /// The command that builds it.
        how: String,
    },
    /// There is no source of that version to be had.
    #[error("there is no source of a kernel {given}{}", offers(nearest.as_deref(), offered))]
    NoSource {
        /// Which was asked for.
        given: String,
        /// The one that was probably meant.
        nearest: Option<String>,
        /// Those that there is source of.
        offered: Vec<String>,
    },
    /// Nothing kept has this name.
    #[error("no kernel is kept under the name `{given}`{}", others(nearest.as_deref(), kept))]
    NotKept {
        /// Which was asked for.
        given: String,
        /// The one that was probably meant.
        nearest: Option<String>,
        /// Those that are kept.
        kept: Vec<String>,
    },
    /// A kernel of one's own cannot be called so.
    #[error(
        "a kernel of your own cannot be called `{0}`: say --name with letters, digits, `.`, `_`, `-`, and not \
         like a version"
    )]
    BadName(String),
    /// No kernel ticks like that.
    #[error("no kernel is built with {0} Hz: 100, 250, 300 and 1000 are")]
    BadHz(u32),
    /// Tools are missing.
    #[error(
        "a kernel cannot be built here: {missing} missing; install (Debian's names): {packages}"
    )]
    Tools {
        /// What is missing.
        missing: String,
        /// The packages that have it.
        packages: String,
    },
    /// The folder is no source of a kernel that this can build.
    #[error("`{}` is not the source of a Linux kernel with User-Mode Linux: no `{lacks}`", path.display())]
    NotATree {
        /// The folder.
        path: PathBuf,
        /// The file that is not there.
        lacks: &'static str,
    },
    /// A kernel was built within the tree, and then none can be built beside it.
    #[error(
        "`{path}` has been built in (`{left}` is there), and the kernel's own Makefile refuses that. A clean \
         tree beside it: `git -C {path} worktree add ../clean`; or clean this one, .config included: \
         `make -C {path} ARCH=um mrproper`",
        path = path.display()
    )]
    NotClean {
        /// The tree.
        path: PathBuf,
        /// What is left of that build.
        left: &'static str,
    },
    /// kconfig did not take what it was told.
    #[error("this source does not take the configuration: {}", .0.join(", "))]
    Options(Vec<String>),
    /// A tool failed.
    #[error("cannot {step} the kernel: {said}{}", whole(log.as_deref()))]
    Step {
        /// What it was to do: "fetch", "compile".
        step: &'static str,
        /// The last it said.
        said: String,
        /// All it said.
        log: Option<PathBuf>,
    },
    /// The kernel ended before its shell did.
    #[error("the kernel ended before its shell did: {0}")]
    Died(String),
    /// A file cannot be read or written.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Whoever watched wanted no more.
    #[error("interrupted")]
    Interrupted,
}

impl KernelError {
    /// For `map_err`: a file could not be used.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> KernelError + '_ {
        |source| KernelError::Io { path: path.to_owned(), source }
    }

    /// What the command line exits with: 2 where whoever called can put it right.
    pub fn exit_code(&self) -> u8 {
        match self {
            KernelError::Interrupted => 130,
            KernelError::Step { .. }
            | KernelError::Options(_)
            | KernelError::Died(_)
            | KernelError::Io { .. } => 1,
            _ => 2,
        }
    }
}

/// What was probably meant, or else what there is.
fn others(nearest: Option<&str>, all: &[String]) -> String {
    match nearest {
        Some(nearest) => format!(" (there is `{nearest}`)"),
        None if all.is_empty() => " (there is none yet)".to_owned(),
        None => format!(" (there are: {})", all.join(", ")),
    }
}

fn offers(nearest: Option<&str>, all: &[String]) -> String {
    match nearest {
        Some(nearest) => {
            format!("; did you mean {nearest}? There is source of: {}", all.join(", "))
        }
        None if all.is_empty() => {
            ": apt-get knows no package linux-source-VERSION, and /usr/src has none (`apt-get update` as \
             root may help; or say --source DIR)"
                .to_owned()
        }
        None => format!("; there is source of: {}", all.join(", ")),
    }
}

fn whole(log: Option<&Path>) -> String {
    log.map(|log| format!("\nall of it: {}", log.display())).unwrap_or_default()
}
