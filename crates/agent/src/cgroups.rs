//! Control groups of version 2: where they are, and which one a number stands for.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The mount of the hierarchy of version 2, where there is one.
///
/// # Errors
/// Where /proc cannot be read.
pub fn mounted() -> io::Result<Option<PathBuf>> {
    Ok(mounted_in(&fs::read_to_string("/proc/self/mountinfo")?))
}

/// proc_pid_mountinfo(5): behind the lone dash stands the type; the fifth field is where.
fn mounted_in(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let is_it = behind.split(' ').next() == Some("cgroup2");
        // Spaces in names are written as octal numbers; hierarchies have none.
        is_it.then(|| PathBuf::from(before.split(' ').nth(4).unwrap_or("/sys/fs/cgroup")))
    })
}

/// Whether a directory is a control group of version 2.
pub fn is_cgroup(directory: &Path) -> bool {
    // Each has this file; a hierarchy of version 1 has not.
    directory.join("cgroup.controllers").exists()
}

/// Whether a directory is a control group, or may become one: it is not there yet, and below the mount.
pub fn may_become_one(mount: &Path, directory: &Path) -> bool {
    let is_below = directory.starts_with(mount)
        && directory.components().all(|part| part != Component::ParentDir);
    is_cgroup(directory) || (is_below && !directory.exists())
}

/// The control group that somebody means by a path: from the root of the file system, or from that of the hierarchy.
pub fn meant(path: &str) -> Option<PathBuf> {
    mounted().ok().flatten().and_then(|root| meant_below(&root, path))
}

fn meant_below(root: &Path, path: &str) -> Option<PathBuf> {
    let whole = Some(PathBuf::from(path)).filter(|whole| whole.starts_with(root));
    let below = root.join(path.trim_start_matches('/'));
    whole.into_iter().chain([below]).find(|directory| is_cgroup(directory))
}

/// Whether this process sees the hierarchy of the whole machine: in a container it sees its own part of it.
pub fn is_whole() -> bool {
    // The first namespaces of a kernel have fixed numbers (include/linux/proc_ns.h, PROC_CGROUP_INIT_INO).
    const FIRST: u64 = 0xefff_fffb;
    fs::metadata("/proc/self/ns/cgroup").is_ok_and(|namespace| namespace.ino() == FIRST)
}

/// The control groups below one, by the number that the kernel gives them.
#[derive(Clone, Debug, Default)]
pub struct Cgroups {
    root: PathBuf,
    paths: BTreeMap<u64, String>,
}

/// More control groups than any machine should have.
const MOST: usize = 1 << 16;

impl Cgroups {
    /// Those below this directory, itself included.
    pub fn below(root: &Path) -> Cgroups {
        let mut cgroups = Cgroups { root: root.to_owned(), paths: BTreeMap::new() };
        cgroups.look();
        cgroups
    }

    /// Looks again: they come and go.
    pub fn look(&mut self) {
        self.paths.clear();
        let mut ahead = vec![self.root.clone()];
        while let Some(directory) = ahead.pop() {
            let Ok(metadata) = fs::metadata(&directory) else { continue };
            let path = directory.strip_prefix(&self.root).unwrap_or(&directory);
            // A control group's number is its inode (cgroup_id(), on machines of 64 bits).
            self.paths.insert(metadata.ino(), format!("/{}", path.display()));
            if self.paths.len() >= MOST {
                return;
            }
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            let is_directory = |one: &fs::DirEntry| one.file_type().is_ok_and(|one| one.is_dir());
            ahead.extend(entries.flatten().filter(is_directory).map(|one| one.path()));
        }
    }

    /// The path of the one with this number, from the root.
    pub fn path(&self, number: u64) -> Option<&str> {
        self.paths.get(&number).map(String::as_str)
    }

    /// All numbers and paths.
    pub fn all(&self) -> impl Iterator<Item = (u64, &str)> {
        self.paths.iter().map(|(number, path)| (*number, path.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_of_version_2_is_found_beside_those_of_version_1() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      31 30 0:27 / /sys/fs/cgroup/cpu rw,nosuid shared:5 - cgroup cgroup rw,cpu\n\
                      40 30 0:36 / /sys/fs/cgroup/unified rw shared:9 master:1 - cgroup2 cgroup2 rw\n";
        assert_eq!(mounted_in(mounts), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(mounted_in("30 23 0:26 / / rw - ext4 /dev/vda rw\n"), None);
    }

    #[test]
    fn a_control_group_is_meant_by_its_path_from_either_root() {
        let root = tempfile::tempdir().expect("a directory");
        let deep = root.path().join("system.slice/nginx.service");
        fs::create_dir_all(&deep).expect("ours");
        fs::write(deep.join("cgroup.controllers"), "").expect("ours");
        let whole = deep.display().to_string();
        for path in ["system.slice/nginx.service", "/system.slice/nginx.service", &whole] {
            assert_eq!(meant_below(root.path(), path).as_ref(), Some(&deep), "{path}");
        }
        for path in ["system.slice", "nginx.service", "/etc", "../..", ""] {
            assert_eq!(meant_below(root.path(), path), None, "{path}");
        }
    }

    #[test]
    fn a_control_group_that_is_not_there_may_come_below_the_mount_only() {
        let root = tempfile::tempdir().expect("a directory");
        fs::write(root.path().join("a-file"), "").expect("ours");
        for (path, expected) in [
            ("app.slice/app.service", true),
            ("a-file", false),
            ("", false),
            ("../elsewhere", false),
            ("/etc/none", false),
        ] {
            assert_eq!(may_become_one(root.path(), &root.path().join(path)), expected, "{path}");
        }
    }

    #[test]
    fn directories_are_known_by_their_numbers() {
        let root = tempfile::tempdir().expect("a directory");
        let deep = root.path().join("system.slice/nginx.service");
        fs::create_dir_all(&deep).expect("ours");
        let cgroups = Cgroups::below(root.path());
        let number = fs::metadata(&deep).expect("it is there").ino();
        assert_eq!(cgroups.path(number), Some("/system.slice/nginx.service"));
        assert_eq!(cgroups.all().count(), 3);
        assert_eq!(cgroups.path(0), None);
    }
}
