//! What the program costs: instructions of a dozen workloads under callgrind, against recorded ones.
//!
//! | file | job |
//! | --- | --- |
//! | `workloads.rs` | which command lines are counted: `benches/cost/workloads.toml` |
//! | `callgrind.rs` | counts one of them, and reads what callgrind writes |
//! | `machine.rs` | what else a count depends on: compiler, valgrind, C library, processor |
//! | `baseline.rs` | the counts of before: `benches/cost/baseline.toml` |
//! | `compare.rs` | which of them rose too far, and the functions that rose |
//!
//! Not measured: what instructions cost. A cache miss counts as much as an addition, so a change of
//! layout that only time shows is not seen here.

mod baseline;
mod callgrind;
mod compare;
mod machine;
mod workloads;

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;
use baseline::Baseline;
use callgrind::Counted;
use machine::Machine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};
use workloads::Workload;

/// How much a workload may cost more than it did before.
const ALLOWED_RISE_PERCENT: u64 = 3;
/// Functions below this share of a workload are not recorded.
const RECORDED_PER_MILLE: u64 = 5;

/// Counts every workload and compares with the recorded counts.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    let workloads = workloads::read(workspace)?;
    let before = baseline::read(workspace)?;
    if let Some(reason) = machine::cannot_count() {
        skip(&reason, env::var("SKIPS").is_ok_and(|skips| skips == "forbidden"), &mut findings);
        return Ok(findings);
    }
    let here = Machine::here()?;
    if let Some(difference) = before.machine.differs_from(&here) {
        let reason = format!("the counts were recorded with {difference}");
        // The compiler is the tree's own choice: whoever changes it counts anew.
        let own = before.machine.rustc != here.rustc;
        skip(
            &reason,
            own && env::var("SKIPS").is_ok_and(|skips| skips == "forbidden"),
            &mut findings,
        );
        return Ok(findings);
    }
    let now = count(&workspace.build_program()?, &workloads, &folder(workspace))?;
    print!("{}", compare::table(&before.workloads, &now));
    compare::judge(&before.workloads, &now, &mut findings);
    Ok(findings)
}

/// Counts every workload and writes the counts down.
pub(crate) fn record(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    if let Some(reason) = machine::cannot_count() {
        return Err(reason.into());
    }
    let workloads = workloads::read(workspace)?;
    let now = count(&workspace.build_program()?, &workloads, &folder(workspace))?;
    // Where nothing was recorded yet there is nothing to compare with.
    let before = baseline::read(workspace).map(|before| before.workloads).unwrap_or_default();
    print!("{}", compare::table(&before, &now));
    baseline::write(workspace, &Baseline::new(Machine::here()?, &now))?;
    println!("written: {}", baseline::FILE);
    Ok(Findings::default())
}

/// Counts one workload and prints its functions beside the recorded ones.
pub(crate) fn show(workspace: &Workspace, name: &str) -> Result<Findings, CannotCheck> {
    if let Some(reason) = machine::cannot_count() {
        return Err(reason.into());
    }
    let mut workloads = workloads::read(workspace)?;
    let names = workloads.iter().map(|workload| workload.name.clone()).collect::<Vec<_>>();
    workloads.retain(|workload| workload.name == name);
    if workloads.is_empty() {
        return Err(format!("no workload is called {name}; there are {}", names.join(", ")).into());
    }
    let folder = folder(workspace);
    let now = count(&workspace.build_program()?, &workloads, &folder)?;
    let before = baseline::read(workspace)?;
    print!("{}", compare::functions(before.workloads.get(name), &now[name]));
    let profile = folder.join(name).with_extension("out");
    println!(
        "with callees, and who calls whom: callgrind_annotate --inclusive=yes --tree=both {}",
        profile.display()
    );
    Ok(Findings::default())
}

fn skip(reason: &str, forbidden: bool, findings: &mut Findings) {
    println!("SKIPPED cost: {reason}; `make cost RECORD=1` records anew");
    if forbidden {
        findings.errors.push(format!("{reason}, and SKIPS=forbidden"));
    }
}

/// Where profiles and whatever the workloads write go.
fn folder(workspace: &Workspace) -> PathBuf {
    Path::new(&workspace.metadata.target_directory).join("cost")
}

/// Counts all `workloads`, as many at once as there are processors: who else computes changes no count.
fn count(
    program: &Path,
    workloads: &[Workload],
    folder: &Path,
) -> Result<BTreeMap<String, Counted>, CannotCheck> {
    fs::create_dir_all(folder)?;
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(workload) = workloads.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counted = callgrind::count(program, workload, folder);
            // An error of another thread's is no `Send`: its words are.
            let counted = counted.map_err(|error| format!("{}: {error}", workload.name));
            done.lock().expect("no thread panics").push((workload.name.clone(), counted));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let done = done.into_inner().expect("no thread panicked");
    Ok(done
        .into_iter()
        .map(|(name, counted)| counted.map(|counted| (name, counted)))
        .collect::<Result<_, String>>()?)
}
