//! Levers, tried by the programs in a control group of its own: this process moves there for a moment, and connects to
//! itself.

#![expect(clippy::disallowed_types, reason = "a probe connects to itself")]

use super::{Finding, circumstances};
use crate::cgroups;
use crate::kernel::layout::{RawClass, RawReport, RawSettings};
use crate::kernel::{Attached, Pass, Programs, foreign, rights};
use crate::routes::Table;
use std::fs::{self, File};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that an agent needs or may use. Whatever is tried is undone at once.
pub fn probe() -> Vec<Finding> {
    let mut found = circumstances();
    found.extend(rights::NEEDED.iter().map(|one| {
        let has = match rights::lacking().contains(one) {
            true => {
                Err("this process does not have it: run it as root, or give it this".to_owned())
            }
            false => Ok("this process has it".to_owned()),
        };
        Finding::needed(one, has, "nothing goes without it")
    }));
    let mut programs = match Programs::load() {
        Ok(programs) => {
            let remark = "CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; 5.15";
            found.push(Finding::new("programs", Ok("the kernel takes them".to_owned()), remark));
            programs
        }
        Err(error) => {
            let why = error.to_string();
            found.push(Finding::needed("programs", Err(why), "nothing goes without them"));
            return found;
        }
    };
    let root = cgroups::mounted().ok().flatten();
    match root.as_deref().map_or_else(|| Err(io::Error::from_raw_os_error(libc::ENOENT)), Own::new)
    {
        Ok(own) => found.extend(levers(&mut programs, &own)),
        Err(error) => {
            let why = format!("no control group can be made to try them in: {error}");
            found.push(Finding::new("levers", Err(why), "none was tried"));
        }
    }
    if let Some(root) = root {
        found.push(others(&root));
    }
    found.push(routes());
    found
}

fn others(root: &Path) -> Finding {
    let remark = "beside other programs at these hooks an agent only observes";
    let found = match foreign(root) {
        Ok(names) if names.is_empty() => Ok("nobody else is there".to_owned()),
        Ok(names) => Err(format!("these are there: {}", names.join(", "))),
        Err(error) => Err(error.to_string()),
    };
    Finding::new("hooks", found, remark)
}

fn routes() -> Finding {
    let table = Table { table: 7_411, priority: 7_411, mark: 0x1000_0000 };
    let own = Table { table: 0x7411_0000 | std::process::id() & 0xffff, mark: 0, ..table };
    let made = table.is_taken().map_err(|error| error.to_string()).and_then(|taken| match taken {
        Some(why) => Err(why),
        // Another one, empty and of this process alone: several may probe at the same time.
        None => own
            .make_rules()
            .and_then(|()| own.remove())
            .map(|()| "table 7411, mark 0x10000000".to_owned())
            .map_err(|error| format!("{error}; as root, or with CAP_NET_ADMIN")),
    });
    Finding::new("table of routes", made, "`[quick]`, `[routes]`; any kernel with policy routing")
}

fn levers(programs: &mut Programs, own: &Own) -> Vec<Finding> {
    let try_one = |programs: &mut Programs, class: RawClass| -> io::Result<RawReport> {
        let _attached = own.attach(programs)?;
        programs.set_class(0, class).map_err(io::Error::other)?;
        let connected = connect()?;
        let opened = report(programs, |one| one.kind == 1 && one.way == 1);
        drop(connected);
        opened
    };
    let settings = RawSettings {
        mark: 0x1000_0000,
        report_every_us: 250_000,
        delack_stock_us: crate::DELACK_STOCK_US,
        by: 2,
        ..RawSettings::default()
    };
    programs.set(settings);
    let nodelay = try_one(programs, RawClass { nodelay: 1, ..RawClass::default() });
    let least = super::least_delack();
    let delack_max_us = (least.as_nanos() / 1_000) as u32;
    let delack = try_one(programs, RawClass { delack_max_us, ..RawClass::default() });
    let quick = try_one(programs, RawClass { quick_segments: 20, ..RawClass::default() });
    let lever = |what, tried: io::Result<RawReport>, bit: u8, yes: String, remark| {
        let how = match tried {
            Ok(report) if report.levers & bit != 0 => Ok(yes),
            Ok(_) => Err("the kernel does not take it from a program".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        Finding::new(what, how, remark)
    };
    vec![
        lever("nodelay", nodelay, 1, "TCP_NODELAY at establishment".to_owned(), "6.1"),
        lever("delayed-ack", delack, 2, format!("TCP_BPF_DELACK_MAX, {least} at least"), "5.10"),
        lever("quick-ack", quick, 4, "SO_MARK, for a route with `quickack`".to_owned(), "5.10"),
        adopting(programs, own, settings),
        cleaning(programs, settings),
    ]
}

fn adopting(programs: &mut Programs, own: &Own, settings: RawSettings) -> Finding {
    let mut how = || -> io::Result<u64> {
        let connected = connect()?;
        let _attached = own.attach(programs)?;
        programs.adopt_of(&[own.number()?]).map_err(io::Error::other)?;
        let adopted = programs.pass(Pass::Adopt, settings).map_err(io::Error::other)?;
        drop(connected);
        Ok(adopted.count)
    };
    let how = match how() {
        Ok(0) => Err("the kernel does not let a pass turn on a socket's callbacks".to_owned()),
        Ok(_) => Ok("connections that are open already".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    Finding::new("adopting", how, "`ackord agent adopt`; 6.12")
}

fn cleaning(programs: &mut Programs, settings: RawSettings) -> Finding {
    let how = programs.pass(Pass::Look, settings);
    let how = how.map(|_| "a pass over all sockets".to_owned()).map_err(|error| error.to_string());
    Finding::new("cleaning up", how, "at its end, and after a crash; 5.15")
}

/// A connection of this process to itself.
fn connect() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let connected = TcpStream::connect(listener.local_addr()?)?;
    let (accepted, _) = listener.accept()?;
    Ok((connected, accepted))
}

fn report(programs: &Programs, is_it: impl Fn(&RawReport) -> bool) -> io::Result<RawReport> {
    for _ in 0..20 {
        let reports = programs.reports(Duration::from_millis(50)).map_err(io::Error::other)?;
        if let Some(one) = reports.into_iter().find(&is_it) {
            return Ok(one);
        }
    }
    Err(io::Error::other("its programs told nothing of a connection within a second"))
}

/// A control group of its own, in which this process is meanwhile.
struct Own {
    path: PathBuf,
    before: PathBuf,
}

impl Own {
    fn new(root: &Path) -> io::Result<Own> {
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        let before = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or("");
        let path = root.join(format!("ackord-probe-{}", std::process::id()));
        let own = Own { before: root.join(before), path };
        fs::create_dir(&own.path)?;
        enter(&own.path)?;
        Ok(own)
    }

    fn attach(&self, programs: &Programs) -> io::Result<Attached> {
        let directory = File::open(&self.path)?;
        programs.attach(directory.as_fd()).map_err(io::Error::other)
    }

    fn number(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.path)?.ino())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = enter(&self.before);
        let _ = fs::remove_dir(&self.path);
    }
}

fn enter(cgroup: &Path) -> io::Result<()> {
    fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string())
}
