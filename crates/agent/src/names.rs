//! What the application is called to which a connection belongs.
//!
//! | file | what |
//! | --- | --- |
//! | `names.rs` | [`By`], [`Names`]: from a report to an application |
//! | `names/program.rs` | the program that a process runs |
//! | `names/owners.rs` | the processes of sockets that were there before |

#[cfg(feature = "bpf")]
pub(crate) mod owners;
pub(crate) mod program;

use crate::cgroups::{self, Cgroups};
use crate::report::Report;
use std::path::{Path, PathBuf};

/// What tells applications apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The unit of systemd or the container; the program where the control group is that of neither.
    Service,
    /// The control group's path.
    Cgroup,
    /// The unit of systemd.
    Unit,
    /// The container.
    Container,
    /// The program's file; for interpreters, with the script.
    Executable,
    /// The server's port.
    Port,
}

impl By {
    /// All of them, as a user writes them.
    pub const WORDS: [(&'static str, By); 6] = [
        ("service", By::Service),
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
            By::Service => 4,
        }
    }

    /// Whether the programs of processes are looked at.
    pub fn looks_at_processes(self) -> bool {
        matches!(self, By::Executable | By::Service)
    }
}

/// Whom connections belong to.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    by: By,
    cgroups: Cgroups,
    /// The control group below which these are, from the root of the hierarchy.
    above: PathBuf,
}

/// The application of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its name; none if that cannot be found out.
    pub(crate) name: Option<String>,
    /// Others by which a user may know it.
    pub(crate) also: Vec<String>,
}

/// The name of all applications of which none is known. Nothing is done for them.
pub(crate) const UNKNOWN: &str = "unknown";

impl Names {
    /// Told apart like this, control groups being those below `root`.
    pub(crate) fn new(by: By, root: &Path) -> Names {
        let mount = cgroups::mounted().ok().flatten().unwrap_or_default();
        let above = root.strip_prefix(&mount).unwrap_or(Path::new("")).to_owned();
        Names { by, cgroups: Cgroups::below(root), above }
    }

    /// The control groups as they were last looked at.
    pub(crate) fn cgroups(&mut self) -> &mut Cgroups {
        &mut self.cgroups
    }

    /// The application of a connection.
    pub(crate) fn of(&mut self, report: &Report) -> Named {
        let plain = |name| Named { name, also: Vec::new() };
        match self.by {
            By::Cgroup => plain(self.path(report.cgroup)),
            By::Unit => plain(self.whole_path(report.cgroup).map(|path| unit(&path))),
            By::Container => plain(self.whole_path(report.cgroup).map(|path| container(&path))),
            By::Executable => of_program(report.pid),
            By::Service => {
                let path = self.whole_path(report.cgroup);
                let program = of_program(report.pid);
                match path.and_then(|path| service(&path)) {
                    Some(name) => {
                        let also = program.name.into_iter().chain(program.also);
                        Named { name: Some(name), also: also.collect() }
                    }
                    None => program,
                }
            }
            By::Port => plain(match report.application {
                0 => None,
                port => Some(format!("port-{port}")),
            }),
        }
    }

    fn path(&mut self, cgroup: u64) -> Option<String> {
        if self.cgroups.path(cgroup).is_none() {
            self.cgroups.look();
        }
        self.cgroups.path(cgroup).map(str::to_owned)
    }

    /// The path from the root of the hierarchy.
    fn whole_path(&mut self, cgroup: u64) -> Option<String> {
        let below = self.path(cgroup)?;
        let path = Path::new("/").join(&self.above).join(below.trim_start_matches('/'));
        Some(path.to_string_lossy().trim_end_matches('/').to_owned())
    }
}

fn of_program(pid: u32) -> Named {
    match program::of(pid) {
        Some(program) => Named { name: Some(program.name), also: program.also },
        None => Named::default(),
    }
}

/// The container, or the unit, that a path is of. A session of a user, the manager itself and a slice are neither: what
/// runs there are programs that have nothing in common.
fn service(path: &str) -> Option<String> {
    if let Some(container) = container_in(path) {
        return Some(container);
    }
    let last = path.rsplit('/').find(|part| is_unit(part))?;
    let is_session = last.starts_with("session-") || last.starts_with("vte-spawn-");
    let is_manager = last.starts_with("user@") || last == "init.scope";
    let is_none = last.ends_with(".slice") || is_session || is_manager;
    (!is_none).then(|| last.to_owned())
}

fn is_unit(part: &str) -> bool {
    [".service", ".scope", ".socket", ".slice"].iter().any(|kind| part.ends_with(kind))
}

/// The innermost service or scope of a path; the path where there is none.
fn unit(path: &str) -> String {
    path.rsplit('/').find(|part| is_unit(part)).unwrap_or(path).to_owned()
}

/// The innermost container of a path, by the first twelve digits of its identifier, as container engines show it;
/// the unit where there is none.
fn container(path: &str) -> String {
    container_in(path).unwrap_or_else(|| unit(path))
}

fn container_in(path: &str) -> Option<String> {
    let identifier = |part: &str| {
        let part = part.strip_suffix(".scope").unwrap_or(part);
        let last = part.rsplit(['-', ':']).next().unwrap_or(part);
        let is_one = last.len() == 64 && last.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| last[..12].to_owned())
    };
    path.rsplit('/').find_map(identifier)
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
    fn a_service_is_a_unit_or_a_container_and_no_session() {
        let id = "4f9a3b1c".repeat(8);
        let session = "/user.slice/user-1000.slice/session-3.scope";
        let user = "/user.slice/user-1000.slice/user@1000.service";
        for (path, expected) in [
            ("/system.slice/nginx.service".to_owned(), Some("nginx.service")),
            (format!("/system.slice/docker-{id}.scope"), Some("4f9a3b1c4f9a")),
            (format!("/docker/{id}"), Some("4f9a3b1c4f9a")),
            (format!("{user}/app.slice/sync.service"), Some("sync.service")),
            (format!("{user}/app.slice/app-firefox-71.scope"), Some("app-firefox-71.scope")),
            (format!("{user}/app.slice/term.slice/vte-spawn-1f.scope"), None),
            (format!("{user}/init.scope"), None),
            (session.to_owned(), None),
            ("/system.slice".to_owned(), None),
            ("/mine".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(service(&path).as_deref(), expected, "{path}");
        }
    }
}
