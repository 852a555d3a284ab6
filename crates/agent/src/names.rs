//! What the application is called to which a connection belongs.

use crate::cgroups::Cgroups;
use crate::report::Report;
use std::fs;
use std::path::Path;

/// What tells applications apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The control group's path.
    Cgroup,
    /// The unit of systemd.
    Unit,
    /// The container.
    Container,
    /// The program's file.
    Executable,
    /// The server's port.
    Port,
}

impl By {
    /// All of them, as a user writes them.
    pub const WORDS: [(&'static str, By); 5] = [
        ("cgroup", By::Cgroup),
        ("unit", By::Unit),
        ("container", By::Container),
        ("executable", By::Executable),
        ("port", By::Port),
    ];

    /// As a user writes it.
    pub fn name(self) -> &'static str {
        By::WORDS.iter().find(|(_, by)| *by == self).map_or("", |(word, _)| word)
    }

    /// As the programs know it (agent.h).
    pub(crate) fn raw(self) -> u32 {
        match self {
            By::Cgroup | By::Unit | By::Container => 1,
            By::Executable => 2,
            By::Port => 3,
        }
    }
}

/// Whom connections belong to.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    by: By,
    cgroups: Cgroups,
}

/// Who cannot be told.
const UNKNOWN: &str = "unknown";

impl Names {
    /// Told apart like this, control groups being those below `root`.
    pub(crate) fn new(by: By, root: &Path) -> Names {
        Names { by, cgroups: Cgroups::below(root) }
    }

    /// The control groups as they were last looked at.
    pub(crate) fn cgroups(&mut self) -> &mut Cgroups {
        &mut self.cgroups
    }

    /// The application of a connection.
    pub(crate) fn of(&mut self, report: &Report) -> String {
        match self.by {
            By::Cgroup => self.path(report.cgroup),
            By::Unit => unit(&self.path(report.cgroup)),
            By::Container => container(&self.path(report.cgroup)),
            By::Executable => executable(report.pid).unwrap_or_else(|| UNKNOWN.to_owned()),
            By::Port => match report.application {
                0 => UNKNOWN.to_owned(),
                port => format!("port-{port}"),
            },
        }
    }

    fn path(&mut self, cgroup: u64) -> String {
        if self.cgroups.path(cgroup).is_none() {
            self.cgroups.look();
        }
        self.cgroups.path(cgroup).unwrap_or(UNKNOWN).to_owned()
    }
}

/// The innermost service or scope of a path; the path where there is none.
fn unit(path: &str) -> String {
    let is_unit = |part: &&str| {
        [".service", ".scope", ".socket", ".slice"].iter().any(|kind| part.ends_with(kind))
    };
    path.rsplit('/').find(is_unit).unwrap_or(path).to_owned()
}

/// The innermost container of a path, by the first twelve digits of its identifier, as container engines show it;
/// the unit where there is none.
fn container(path: &str) -> String {
    let identifier = |part: &str| {
        let part = part.strip_suffix(".scope").unwrap_or(part);
        let last = part.rsplit(['-', ':']).next().unwrap_or(part);
        let is_one = last.len() == 64 && last.bytes().all(|octet| octet.is_ascii_hexdigit());
        is_one.then(|| last[..12].to_owned())
    };
    path.rsplit('/').find_map(identifier).unwrap_or_else(|| unit(path))
}

/// The name of the file that a process runs.
fn executable(pid: u32) -> Option<String> {
    let link = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name = link.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
    // A file that was replaced since is told as such by the kernel.
    let named = name.map(|name| name.trim_end_matches(" (deleted)").to_owned());
    named.or_else(|| {
        let command = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(command.trim_end().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_containers_are_found_in_paths() {
        let id = "4f9a3b1c".repeat(8);
        for (path, expected_unit, expected_container) in [
            ("/system.slice/nginx.service", "nginx.service", "nginx.service"),
            ("/user.slice/user-0.slice/session-3.scope", "session-3.scope", "session-3.scope"),
            ("/mine", "/mine", "/mine"),
            (
                &format!("/system.slice/docker-{id}.scope"),
                &format!("docker-{id}.scope"),
                "4f9a3b1c4f9a",
            ),
            (&format!("/docker/{id}"), &format!("/docker/{id}"), "4f9a3b1c4f9a"),
            (
                &format!("/kubepods.slice/kubepods-pod1.slice/cri-containerd-{id}.scope/app"),
                &format!("cri-containerd-{id}.scope"),
                "4f9a3b1c4f9a",
            ),
        ] {
            assert_eq!(
                (unit(path).as_str(), container(path).as_str()),
                (expected_unit, expected_container)
            );
        }
    }

    #[test]
    fn a_process_is_called_as_its_file() {
        let own = executable(std::process::id()).expect("this one runs");
        assert!(own.starts_with("ackord_agent"), "{own}");
        assert_eq!(executable(0), None);
    }
}
