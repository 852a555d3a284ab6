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
        let is_one = last.len() == 64 && last.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| last[..12].to_owned())
    };
    path.rsplit('/').find_map(identifier).unwrap_or_else(|| unit(path))
}

/// The name of the file that a process runs.
fn executable(pid: u32) -> Option<String> {
    if pid == 0 {
        return None;
    }
    let link = fs::read_link(format!("/proc/{pid}/exe")).ok();
    link.and_then(|link| called(&link.to_string_lossy())).or_else(|| {
        let command = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(command.trim_end().to_owned())
    })
}

/// What the link to a program's file calls it. A file that was replaced since is told as such by the kernel, and what is
/// run from memory (memfd_create(2)) has no file but a name, if it was given one.
fn called(link: &str) -> Option<String> {
    let path = link.strip_suffix(" (deleted)").unwrap_or(link);
    let name = path.strip_prefix("/memfd:").or_else(|| path.rsplit('/').next());
    name.filter(|name| !name.is_empty()).map(str::to_owned)
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
    fn what_was_replaced_or_runs_from_memory_is_called_as_it_was() {
        for (link, expected) in [
            ("/usr/sbin/nginx", Some("nginx")),
            ("/usr/sbin/nginx (deleted)", Some("nginx")),
            ("/memfd:runc_cloned:/proc/self/exe (deleted)", Some("runc_cloned:/proc/self/exe")),
            ("/memfd:app (deleted)", Some("app")),
            ("/memfd: (deleted)", None),
        ] {
            assert_eq!(called(link).as_deref(), expected, "{link}");
        }
    }

    /// Runs itself anew from memory, then waits for the end of its input.
    const FROM_MEMORY: &str = "
import os, sys
if len(sys.argv) == 1:
    fd = os.memfd_create('from-memory')
    with open(os.path.realpath('/proc/self/exe'), 'rb') as file: os.write(fd, file.read())
    os.execve(fd, [sys.executable, '-c', sys.orig_argv[2], 'again'], os.environ)
print('here', flush=True)
sys.stdin.read()
";

    #[test]
    fn a_process_without_a_file_is_called_by_the_name_of_its_memory() {
        use std::io::{BufRead as _, BufReader};
        use std::process::{Command, Stdio};
        if !ackord_testing::installed(&["python3"]) {
            return;
        }
        let mut python = Command::new("python3");
        python.args(["-c", FROM_MEMORY]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = python.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let name = executable(child.id());
        drop(child.stdin.take());
        child.wait().expect("ours");
        assert_eq!((line.trim(), name.as_deref()), ("here", Some("from-memory")));
    }

    #[test]
    fn a_process_is_called_as_its_file() {
        let own = executable(std::process::id()).expect("this one runs");
        assert!(own.starts_with("ackord_agent"), "{own}");
        assert_eq!(executable(0), None);
    }
}
