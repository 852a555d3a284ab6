//! What is on a kernel: this program, what it is linked with, and its job.

use super::SimulatedKernels;
use crate::emulate::options::EmulationOptions;
use crate::guest::{JOB_PATH, Job, ProgramPlace, Task};
use ackord_uml::{Entry, initramfs};
use ackord_units::AnyChoice;
use ackord_wire::NodeId;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where programs are looked for when nothing says where.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The archive of a host's files.
pub(super) fn files_of(
    options: &EmulationOptions,
    node: NodeId,
    kernels: &SimulatedKernels,
) -> io::Result<Vec<u8>> {
    let task = Task::Host(job_of(options, node)?);
    archive(kernels.program.as_deref(), &task)
}

/// The archive of a kernel that is started for `task`; `program` is this one if none is named.
pub(crate) fn archive(program: Option<&Path>, task: &Task) -> io::Result<Vec<u8>> {
    let program = match program {
        Some(program) => program.to_owned(),
        None => std::env::current_exe()?,
    };
    let mut entries: Vec<Entry> = ["dev", "proc", "sys", "tmp", "run"].map(folder).to_vec();
    let devices = [("console", 5, 1), ("null", 1, 3), ("zero", 1, 5), ("random", 1, 8)];
    let devices = devices.into_iter().chain([("urandom", 1, 9), ("ttyS0", 4, 64)]);
    entries.extend(devices.map(|(name, major, minor)| Entry::Device {
        path: format!("dev/{name}"),
        numbers: (major, minor),
    }));
    let mut folders = BTreeSet::new();
    for library in linked_with(&program)? {
        let path = library.to_string_lossy().trim_start_matches('/').to_owned();
        let above: Vec<_> = Path::new(&path).ancestors().skip(1).collect();
        for above in above.into_iter().rev().filter(|above| !above.as_os_str().is_empty()) {
            let above = above.to_string_lossy().into_owned();
            if folders.insert(above.clone()) {
                entries.push(folder(&above));
            }
        }
        entries.push(file(&path, true, loaded_part(std::fs::read(&library)?)));
    }
    entries.push(file("init", true, loaded_part(std::fs::read(&program)?)));
    let job = serde_json::to_vec_pretty(task)?;
    entries.push(file(JOB_PATH.trim_start_matches('/'), false, job));
    initramfs(&entries)
}

fn job_of(options: &EmulationOptions, node: NodeId) -> io::Result<Job> {
    let mut scenario = options.scenario.clone();
    // The path is not there, and neither are its files. What was registered in this process is not
    // known there; no kernel could do it.
    for link in &mut scenario.links {
        for direction in [&mut link.forward, &mut link.reverse] {
            direction.trace = None;
            direction.loss.take_if(|loss| !loss.is_listed());
            if !direction.queue.is_listed() {
                assert!(direction.queue.choose("drop-tail"), "it is listed");
            }
        }
    }
    scenario.proxies.retain(|proxy| proxy.choice.as_ref().is_none_or(AnyChoice::is_listed));
    for flow in &mut scenario.flows {
        flow.client_tcp.forget_plug_ins();
        flow.server_tcp.forget_plug_ins();
    }
    let runs_some = options.commands.iter().any(|command| command.host == node);
    Ok(Job {
        // Two kernels of a run must not begin with the same numbers, nor those of two seeds.
        entropy: format!("{} {}", options.seed, scenario.node(node).name),
        scenario: scenario.canonical(),
        seed: options.seed,
        node,
        commands: options.commands.clone(),
        programs: if runs_some { Some(program_place()?) } else { None },
        samples_every: options.samples_every,
    })
}

/// Programs run in the folder that this one was started in. Of its environment they get the path by
/// which they are found, and no more: what a run does is to depend on little.
fn program_place() -> io::Result<ProgramPlace> {
    let folder = std::env::current_dir()?.to_string_lossy().into_owned();
    let path = std::env::var("PATH").unwrap_or_else(|_| PATH.to_owned());
    let environment =
        [("PATH", path.as_str()), ("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    Ok(ProgramPlace { folder, environment: environment.map(owned).to_vec() })
}

fn folder(path: &str) -> Entry {
    Entry::Folder { path: path.to_owned() }
}

fn file(path: &str, executable: bool, bytes: Vec<u8>) -> Entry {
    Entry::File { path: path.to_owned(), executable, bytes }
}

/// The dynamic linker of a program and the libraries that it finds for it, by their paths.
fn linked_with(program: &Path) -> io::Result<Vec<PathBuf>> {
    const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";
    let listed = Command::new(LINKER).arg("--list").arg(program).output()?;
    if !listed.status.success() {
        // Linked with nothing.
        return Ok(Vec::new());
    }
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f...)", or only the path.
    let paths = listed.lines().flat_map(|line| line.split_whitespace());
    let paths: BTreeSet<_> =
        paths.filter(|word| word.starts_with('/')).map(PathBuf::from).collect();
    Ok(paths.into_iter().collect())
}

/// A program without what is there for debuggers only: what lies behind the parts that are loaded.
fn loaded_part(mut bytes: Vec<u8>) -> Vec<u8> {
    let half = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]))
    };
    let long = |bytes: &[u8], at: usize| {
        let eight = bytes.get(at..at + 8)?;
        Some(u64::from_le_bytes(eight.try_into().ok()?))
    };
    // ELF-64: where the program headers are, how long each is, and how many.
    let end = (|| {
        let (table, length, count) = (long(&bytes, 32)?, half(&bytes, 54)?, half(&bytes, 56)?);
        let headers =
            (0..u64::from(count)).map(|number| (table + number * u64::from(length)) as usize);
        let ends = headers.map(|at| Some(long(&bytes, at + 8)? + long(&bytes, at + 32)?));
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    })();
    if let Some(end) = end.filter(|_| bytes.starts_with(b"\x7fELF\x02")) {
        bytes.truncate(end as usize);
        // No table of sections any more: its place, and how many.
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
    }
    bytes
}
