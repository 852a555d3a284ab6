//! Where source comes from: a package of Debian, or a tree of one's own.
//!
//! A package need not be installed, and nobody has to be root: `apt-get download` and `dpkg-deb -x` put its
//! archive into the folder of the build, and it goes when that goes.

use super::hash::{Digester, hash_of_file, hexadecimal};
use super::tool::Tools;
use super::{KernelError, Source};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What packages with source are called before their version.
const PACKAGE: &str = "linux-source-";
/// Where packages put their archives.
const INSTALLED: &str = "/usr/src";
/// What no User-Mode Linux is made of: nine tenths of the files. Every Kconfig and Makefile stays, for kconfig
/// reads them all.
const NOT_NEEDED: [&str; 10] = [
    "*/Documentation/*/*",
    "*/tools/testing",
    "*/drivers/gpu/*.[ch]",
    "*/drivers/media/*.[ch]",
    "*/sound/*.[ch]",
    "*/drivers/net/wireless/*.[ch]",
    "*/drivers/net/ethernet/*.[ch]",
    "*/drivers/staging/*.[ch]",
    "*/arch/[a-tv-w]*/*.[chS]",
    "*/boot/dts",
];

/// Files by which the kernel's own Makefile knows that its tree was built in.
const BUILT_IN: [&str; 3] = [".config", "include/config", "arch/um/include/generated"];
/// Files that the source of such a kernel has.
const ESSENTIAL: [&str; 4] =
    ["Makefile", "Kconfig", "arch/um/Kconfig", "arch/um/drivers/virtio_uml.c"];

/// Source of a stock version that is to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// What the kernel will say that it was built from.
    pub(super) source: Source,
    /// The archive, where it is on this machine already.
    archive: Option<PathBuf>,
}

/// Whether this is the name of a stock version, such as `6.12`, and not of a tree of one's own.
pub(super) fn is_version(name: &str) -> bool {
    let numbers: Vec<&str> = name.split('.').collect();
    let digits = |number: &&str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    numbers.len() > 1 && numbers.iter().all(digits)
}

/// Looks for source of a stock version: the archive of an installed package, or else what apt offers.
pub(super) fn offer(version: &str) -> Result<Offer, KernelError> {
    let package = format!("{PACKAGE}{version}");
    if is_version(version) {
        if let Some(archive) = archive_below(Path::new(INSTALLED), version) {
            let installed =
                said(Command::new("dpkg-query").args(["-W", "-f=${Version}", &package]));
            let of_file = || {
                let hash = hash_of_file(&archive).map_err(KernelError::io(&archive))?;
                Ok(format!("sha256:{}", &hash[..12]))
            };
            let version = installed.map_or_else(of_file, Ok)?;
            return Ok(Offer {
                source: Source::Package { package, version },
                archive: Some(archive),
            });
        }
        let shown = said(Command::new("apt-cache").args(["show", "--no-all-versions", &package]));
        let shown = shown.unwrap_or_default();
        if let Some(version) = shown.lines().find_map(|line| line.strip_prefix("Version: ")) {
            let version = version.trim().to_owned();
            return Ok(Offer { source: Source::Package { package, version }, archive: None });
        }
    }
    let offered = versions();
    let nearest = ackord_units::nearest_name(version, offered.iter().map(String::as_str));
    let nearest = nearest.map(str::to_owned);
    Err(KernelError::NoSource { given: version.to_owned(), nearest, offered })
}

/// Every stock version that there is source of.
pub(super) fn versions() -> Vec<String> {
    let known = said(Command::new("apt-cache").args(["pkgnames", PACKAGE])).unwrap_or_default();
    let mut versions: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    let installed = fs::read_dir(INSTALLED).into_iter().flatten().flatten();
    versions.extend(
        installed.filter_map(|entry| {
            Some(entry.file_name().to_str()?.split(".tar.").next()?.to_owned())
        }),
    );
    let version = |name: &String| name.strip_prefix(PACKAGE).map(str::to_owned);
    versions.iter().filter_map(version).filter(|version| is_version(version)).collect()
}

/// The archive in a folder such as /usr/src: Debian's, or Ubuntu's.
fn archive_below(folder: &Path, version: &str) -> Option<PathBuf> {
    let name = format!("{PACKAGE}{version}");
    let places = [folder.to_owned(), folder.join(&name)];
    let archives = places
        .iter()
        .flat_map(|place| ["xz", "bz2"].map(|ending| place.join(format!("{name}.tar.{ending}"))));
    archives.into_iter().find(|archive| archive.is_file())
}

impl Offer {
    /// The archive, fetched into this folder where it is not on this machine.
    pub(super) fn archive(
        &self,
        work: &Path,
        tools: &mut Tools,
        watch: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<PathBuf, KernelError> {
        if let Some(archive) = &self.archive {
            return Ok(archive.clone());
        }
        let Source::Package { package, version } = &self.source else {
            unreachable!("only packages are offered")
        };
        let mut fetch = Command::new("apt-get");
        // The version that was asked for, not one that has come since.
        fetch.args(["-q", "download", &format!("{package}={version}")]).current_dir(work);
        tools.run("fetch the source of", fetch, &mut |_| watch())?;
        let is_package = |path: &PathBuf| path.extension() == Some(OsStr::new("deb"));
        let entries = fs::read_dir(work).map_err(KernelError::io(work))?;
        let deb = entries.flatten().map(|entry| entry.path()).find(is_package);
        let Some(deb) = deb else {
            return Err(KernelError::NotATree { path: work.into(), lacks: "*.deb" });
        };
        let mut extract = Command::new("dpkg-deb");
        extract.arg("-x").arg(&deb).arg(work.join("package"));
        tools.run("fetch the source of", extract, &mut |_| watch())?;
        fs::remove_file(&deb).map_err(KernelError::io(&deb))?;
        let number = package.strip_prefix(PACKAGE).unwrap_or(package);
        archive_below(&work.join("package").join(INSTALLED.trim_start_matches('/')), number)
            .ok_or(KernelError::NotATree { path: work.into(), lacks: "linux-source-*.tar.xz" })
    }
}

/// Unpacks an archive into a new folder, without what no build needs.
pub(super) fn unpack(
    archive: &Path,
    folder: &Path,
    tools: &mut Tools,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(), KernelError> {
    fs::create_dir(folder).map_err(KernelError::io(folder))?;
    let mut tar = Command::new("tar");
    let packed = if archive.extension() == Some(OsStr::new("bz2")) { "--bzip2" } else { "--xz" };
    tar.args(["--extract", packed, "--no-same-owner", "--strip-components=1", "--directory"]);
    tar.arg(folder).args(NOT_NEEDED.map(|pattern| format!("--exclude={pattern}")));
    tools.feed("unpack the source of", tar, archive, watch)
}

/// Makes sure that a kernel can be built from a tree, without touching it.
pub(super) fn check_tree(path: &Path) -> Result<(), KernelError> {
    if let Some(lacks) = ESSENTIAL.into_iter().find(|file| !path.join(file).is_file()) {
        return Err(KernelError::NotATree { path: path.to_owned(), lacks });
    }
    match BUILT_IN.into_iter().find(|left| path.join(left).exists()) {
        Some(left) => Err(KernelError::NotClean { path: path.to_owned(), left }),
        None => Ok(()),
    }
}

/// SHA-256 of a tree: of the names of its files and of what is in them, without what git keeps of it.
pub(super) fn hash_of_tree(
    path: &Path,
    watch: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<String, KernelError> {
    let mut hasher = Sha256::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        if watch().is_break() {
            return Err(KernelError::Interrupted);
        }
        let failed = KernelError::io(&folder);
        let entries = fs::read_dir(&folder).map_err(&failed)?;
        let entries: io::Result<Vec<PathBuf>> =
            entries.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut entries = entries.map_err(&failed)?;
        entries.sort();
        for entry in entries {
            if entry.file_name() == Some(OsStr::new(".git")) {
                continue;
            }
            let failed = KernelError::io(&entry);
            let kind = entry.symlink_metadata().map_err(&failed)?;
            let name = entry.strip_prefix(path).unwrap_or(&entry);
            hasher.update(name.as_os_str().as_encoded_bytes());
            // Names have no zero in them, and lengths say where contents end: no two trees look alike.
            if kind.is_dir() {
                hasher.update(b"\0folder\0");
                folders.push(entry.clone());
            } else if kind.is_symlink() {
                let target = fs::read_link(&entry).map_err(&failed)?;
                hasher.update(b"\0link\0");
                hasher.update(target.as_os_str().as_encoded_bytes());
                hasher.update(b"\0");
            } else {
                hasher.update(b"\0file\0");
                hasher.update(kind.len().to_le_bytes());
                let mut file = File::open(&entry).map_err(&failed)?;
                io::copy(&mut file, &mut Digester(&mut hasher)).map_err(&failed)?;
            }
        }
    }
    Ok(hexadecimal(hasher))
}

/// What a tool prints, where it succeeds and prints anything.
fn said(command: &mut Command) -> Option<String> {
    let output =
        command.env("LC_ALL", "C").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned()).filter(|text| !text.is_empty())
}
