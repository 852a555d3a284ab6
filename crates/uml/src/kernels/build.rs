//! A build, from its order to a kernel that is kept.
//!
//! One at a time: the second waits, and finds what it wanted if the first has made it. Everything happens in a
//! folder of the cache which nothing looks for kernels in; it goes when the build ends, however it ends, or
//! with the next build.

use super::cache::{BINARY, CONFIG, Kernels, remove_folder};
use super::hash::{hash_of_file, hexadecimal};
use super::source::{self, Offer};
use super::tool::Tools;
use super::{HZ_CHOICES, Kernel, KernelError, KernelWish, Source, recipe, tools};
use sha2::{Digest, Sha256};
use std::env;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a build that waits for another looks again.
const PATIENCE: Duration = Duration::from_millis(200);
/// So many files are compiled, more or less: for the progress bar only.
const FILES: usize = 760;

/// What is to be built.
#[derive(Clone, Debug)]
pub struct BuildOrder {
    /// The kernel: a stock version, or what a tree of one's own is to be called.
    pub wish: KernelWish,
    /// A tree of one's own. It is only read.
    pub tree: Option<PathBuf>,
    /// Compilers at once; as many as there are processors, where nothing is said.
    pub jobs: Option<usize>,
}

/// What came of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The kernel.
    pub kernel: Kernel,
    /// It was not there before.
    pub anew: bool,
}

/// What a build is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Another build is at work.
    Wait,
    /// Reads a tree of one's own, to know whether it has changed.
    Read,
    /// Fetches a package with source.
    Fetch,
    /// Unpacks source.
    Unpack,
    /// Works out the complete configuration.
    Configure,
    /// Compiles: so many files so far.
    Compile(usize),
    /// Links.
    Link,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Wait => "waits for another build",
            Phase::Read => "reads the tree",
            Phase::Fetch => "fetches the source",
            Phase::Unpack => "unpacks the source",
            Phase::Configure => "configures",
            Phase::Compile(_) => "compiles",
            Phase::Link => "links",
        })
    }
}

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What it is at.
    pub phase: Phase,
    /// How much of the whole is done, 0 to 1, as such builds usually go.
    pub share: f64,
}

impl Progress {
    /// This part of a phase is done.
    fn of(phase: Phase, part: f64) -> Progress {
        let (from, to) = match phase {
            Phase::Wait | Phase::Read => (0.0, 0.0),
            Phase::Fetch => (0.0, 0.02),
            Phase::Unpack => (0.02, 0.14),
            Phase::Configure => (0.14, 0.16),
            Phase::Compile(_) => (0.16, 0.97),
            Phase::Link => (0.97, 1.0),
        };
        Progress { phase, share: from + (to - from) * part.clamp(0.0, 1.0) }
    }
}

type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Where a build gets its source.
enum From {
    Package(Offer),
    Tree(PathBuf),
}

impl Kernels {
    /// Builds a kernel, unless it is there. `watch` hears how it goes and may end it.
    ///
    /// # Errors
    /// [`KernelError`]; nothing is left of the build then but its log.
    pub fn build(&self, order: &BuildOrder, watch: Watch<'_>) -> Result<Built, KernelError> {
        let there = |kernel| Built { kernel, anew: false };
        let wish = &order.wish;
        if !HZ_CHOICES.contains(&wish.hz) {
            return Err(KernelError::BadHz(wish.hz));
        }
        let (source, from) = match &order.tree {
            Some(tree) => tree_of_ones_own(wish, tree, watch)?,
            None => match source::offer(&wish.name) {
                Ok(offer) => (offer.source.clone(), From::Package(offer)),
                // Away from any network what was built is as good as ever.
                Err(refusal) => return self.find(wish).map(there).map_err(|_| refusal),
            },
        };
        let place = self.place(wish, &key(&source, wish.hz));
        if let Some(kernel) = self.sound_at(&place) {
            return Ok(there(kernel));
        }
        tools::check()?;
        fs::create_dir_all(self.folder()).map_err(KernelError::io(self.folder()))?;
        let _lock = self.lock(watch)?;
        // Somebody else may have built it meanwhile.
        if let Some(kernel) = self.sound_at(&place) {
            return Ok(there(kernel));
        }
        let work = Work::begin(self.folder().join(".building"))?;
        let jobs = order.jobs.or_else(processors).unwrap_or(1);
        let built = Build { work: &work.0, wish, jobs }.run(from, watch);
        let made = built.map_err(|error| self.with_log_kept(error, wish))?;
        let binary = work.0.join("made").join(BINARY);
        let io = KernelError::io(&binary);
        let kernel = Kernel {
            name: wish.name.clone(),
            release: made.release,
            hz: wish.hz,
            hash: hash_of_file(&binary).map_err(&io)?,
            source,
            recipe: recipe::hash(wish.hz),
            lacks: made.lacks,
            bytes: binary.metadata().map_err(&io)?.len(),
            built_at_unix_s: unix_seconds(),
            binary: BINARY.into(),
            config: CONFIG.into(),
        };
        self.keep(&work.0.join("made"), &place, &kernel).map(|kernel| Built { kernel, anew: true })
    }

    /// Waits until nobody else builds.
    fn lock(&self, watch: Watch<'_>) -> Result<File, KernelError> {
        let path = self.folder().join("lock");
        let failed = KernelError::io(&path);
        let lock = File::options().create(true).append(true).open(&path).map_err(&failed)?;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            if watch(Progress::of(Phase::Wait, 0.0)).is_break() {
                return Err(KernelError::Interrupted);
            }
            thread::sleep(PATIENCE);
        }
    }

    /// What the tools said outlives the folder they worked in, beside the kernels.
    fn with_log_kept(&self, error: KernelError, wish: &KernelWish) -> KernelError {
        let KernelError::Step { step, said, log: Some(log) } = error else { return error };
        let kept = self.folder().join(format!("{}-{}hz.failed.log", wish.name, wish.hz));
        let log = fs::copy(&log, &kept).ok().map(|_| kept);
        KernelError::Step { step, said, log }
    }
}

/// Makes sure that a tree may be built under this name, and reads it.
fn tree_of_ones_own(
    wish: &KernelWish,
    tree: &Path,
    watch: Watch<'_>,
) -> Result<(Source, From), KernelError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let name = &wish.name;
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || name.len() > 64 || !name.chars().all(fits) || source::is_version(name) {
        return Err(KernelError::BadName(name.clone()));
    }
    let path = tree.canonicalize().map_err(KernelError::io(tree))?;
    source::check_tree(&path)?;
    let hash = source::hash_of_tree(&path, &mut || watch(Progress::of(Phase::Read, 0.0)))?;
    Ok((Source::Tree { path: path.clone(), hash }, From::Tree(path)))
}

/// What tells builds apart that may give different kernels. The compiler is not in it: with another one a
/// kernel is another, which its hash tells, but nobody is made to build anew for that.
fn key(source: &Source, hz: u32) -> String {
    let mut hasher = Sha256::new();
    match source {
        Source::Package { package, version } => {
            hasher.update(format!("package {package} {version}\n"));
        }
        Source::Tree { hash, .. } => hasher.update(format!("tree {hash}\n")),
    }
    hasher.update(recipe::hash(hz));
    hexadecimal(hasher)
}

fn processors() -> Option<usize> {
    thread::available_parallelism().ok().map(usize::from)
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The folder of a build, which goes with it.
struct Work(PathBuf);

impl Work {
    fn begin(folder: PathBuf) -> Result<Work, KernelError> {
        // What a crash left there.
        remove_folder(&folder)?;
        let made = folder.join("made");
        fs::create_dir_all(&made).map_err(KernelError::io(&made))?;
        Ok(Work(folder))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // The next build removes what this cannot.
        let _ = remove_folder(&self.0);
    }
}

/// What a build has found out.
struct Made {
    release: String,
    lacks: Vec<String>,
}

/// A build at work in its folder.
struct Build<'a> {
    work: &'a Path,
    wish: &'a KernelWish,
    jobs: usize,
}

impl Build<'_> {
    fn run(&self, from: From, watch: Watch<'_>) -> Result<Made, KernelError> {
        let mut tools = Tools::telling(&self.work.join("log"))?;
        let source = match from {
            From::Tree(tree) => tree,
            From::Package(offer) => {
                let mut wait = || watch(Progress::of(Phase::Fetch, 0.0));
                let archive = offer.archive(self.work, &mut tools, &mut wait)?;
                let source = self.work.join("source");
                let mut fed = |part| watch(Progress::of(Phase::Unpack, part));
                source::unpack(&archive, &source, &mut tools, &mut fed)?;
                let registers = source.join(recipe::REGISTERS);
                let known = fs::read_to_string(&registers).unwrap_or_default();
                if let Some(text) = recipe::with_room_for_registers(&known) {
                    fs::write(&registers, text).map_err(KernelError::io(&registers))?;
                }
                // A fetched archive is as large as all that follows.
                remove_folder(&self.work.join("package"))?;
                source
            }
        };
        let config = self.configure(&source, &mut tools, watch)?;
        let lacks = recipe::check(&config, self.wish.hz)?;
        self.compile(&source, &mut tools, watch)?;
        let release = self.read(&self.out().join("include/config/kernel.release"))?;
        for (from, to) in [("linux", BINARY), (".config", CONFIG)] {
            let (from, to) = (self.out().join(from), self.work.join("made").join(to));
            fs::copy(&from, &to).map_err(KernelError::io(&from))?;
        }
        Ok(Made { release: release.trim().to_owned(), lacks })
    }

    fn out(&self) -> PathBuf {
        self.work.join("out")
    }

    fn read(&self, path: &Path) -> Result<String, KernelError> {
        fs::read_to_string(path).map_err(KernelError::io(path))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, KernelError> {
        let path = self.work.join(name);
        fs::write(&path, text).map_err(KernelError::io(&path))?;
        Ok(path)
    }

    /// Works out the complete configuration, and returns it.
    fn configure(
        &self,
        source: &Path,
        tools: &mut Tools,
        watch: Watch<'_>,
    ) -> Result<String, KernelError> {
        let kconfig = self.read(&source.join("Kconfig"))?;
        let with_hz = recipe::kconfig_with_hz(&kconfig, self.wish.hz);
        let with_hz = with_hz.ok_or_else(|| KernelError::NotATree {
            path: source.to_owned(),
            lacks: "a mainmenu in Kconfig",
        })?;
        self.write("Kconfig", &with_hz)?;
        let fragment = self.write("fragment", recipe::fragment())?;
        fs::create_dir(self.out()).map_err(KernelError::io(&self.out()))?;
        let mut make = self.make(source);
        make.env("KCONFIG_ALLCONFIG", fragment).arg("allnoconfig");
        tools.run("configure", make, &mut |_| watch(Progress::of(Phase::Configure, 0.5)))?;
        self.read(&self.out().join(".config"))
    }

    fn compile(
        &self,
        source: &Path,
        tools: &mut Tools,
        watch: Watch<'_>,
    ) -> Result<(), KernelError> {
        let mut make = self.make(source);
        make.arg(format!("-j{}", self.jobs)).arg("linux");
        let mut progress = Progress::of(Phase::Compile(0), 0.0);
        let mut done = 0;
        tools.run("compile", make, &mut |line| {
            match line.and_then(|line| line.split_whitespace().next()) {
                Some("CC") => {
                    done += 1;
                    let part = done as f64 / FILES as f64;
                    progress = Progress::of(Phase::Compile(done), part);
                }
                Some("LINK") => progress = Progress::of(Phase::Link, 0.0),
                _ => {}
            }
            watch(progress)
        })
    }

    /// `make` in a tree, with everything beside it, told the same wherever and by whomever it is called.
    fn make(&self, source: &Path) -> Command {
        let mut make = Command::new("make");
        make.env_clear().envs(recipe::FIXED);
        make.env("PATH", env::var_os("PATH").unwrap_or_default());
        make.arg("-C").arg(source).args(recipe::MAKE);
        let told = |name: &str, path: PathBuf| {
            let mut word = std::ffi::OsString::from(format!("{name}="));
            word.push(path);
            word
        };
        make.arg(told("O", self.out()));
        make.arg(told("KBUILD_KCONFIG", self.work.join("Kconfig")));
        make
    }
}
