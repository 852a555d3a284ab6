//! Checks of the workspace itself, for people and for CI: `cargo run -p ackord-xtask -- layers`.
//!
//! | file | check |
//! | --- | --- |
//! | `layers.rs` | no crate uses a room at or below itself |
//! | `sizes.rs` | files and functions stay small enough to hold in one's head |
//! | `modules.rs` | every source file is part of what is built |
//! | `names.rs` | no tracked file names a path of somebody's machine, and prose uses the words of the field |
//! | `docs.rs` | every crate has a row in ARCHITECTURE.md, links lead somewhere, commands exist |
//! | `translations.rs` | a page in Korean has the numbers, the code and the links of its original |
//! | `ledger/` | what the RFCs ask of an endpoint, where it is done and what shows it |
//! | `profiles/` | every knob of every profile has a source, and a test that holds its value |
//! | `cost/` | what the program's workloads cost in instructions, against recorded counts |
//! | `rooms.rs` | the picture of the crates with their sizes |
//! | `generated.rs` | output quoted in the documents is what the program prints today; so are the guide's pages |
//! | `findings.rs` | what a check found |
//! | `workspace.rs` | the checkout: its root, its tracked files, its built program |

mod cost;
mod docs;
mod findings;
mod generated;
mod layers;
mod ledger;
mod modules;
mod names;
mod profiles;
mod rooms;
mod sizes;
mod translations;
mod workspace;

use findings::{CannotCheck, Findings};
use std::process::ExitCode;
use workspace::Workspace;

/// A check's name, and what does it.
type Check = (&'static str, fn(&Workspace) -> Result<Findings, CannotCheck>);

const CHECKS: &[Check] = &[
    ("layers", layers::check),
    ("sizes", sizes::check),
    ("modules", modules::check),
    ("names", names::check),
    ("docs", docs::check),
    ("ledger", ledger::check),
    ("profiles", profiles::check),
    ("generated", generated::check),
    ("guide", generated::check_guide),
    ("cost", cost::check),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let workspace = match Workspace::find() {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("cannot look at the workspace: {error}");
            return ExitCode::from(2);
        }
    };
    if wanted == ["generated", "--write"] {
        return finish("generated --write", generated::write(&workspace));
    }
    if wanted == ["ledger", "--write"] {
        return finish("ledger --write", generated::write_pages(&workspace));
    }
    match wanted.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cost", "--record"] => return finish("cost --record", cost::record(&workspace)),
        ["cost", "--show", name] => return finish("cost --show", cost::show(&workspace, name)),
        _ => {}
    }
    let known = |name: &String| CHECKS.iter().any(|(check, _)| check == name);
    if wanted.is_empty() || !wanted.iter().all(known) {
        let names: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "usage: xtask CHECK...   with {}; or: generated --write, ledger --write, cost --record, cost --show WORKLOAD",
            names.join(", ")
        );
        return ExitCode::from(2);
    }
    let mut worst = ExitCode::SUCCESS;
    for (name, check) in CHECKS.iter().filter(|(name, _)| wanted.iter().any(|w| w == name)) {
        let code = finish(name, check(&workspace));
        if code != ExitCode::SUCCESS {
            worst = code;
        }
    }
    worst
}

/// Prints what a check found; its exit code.
fn finish(name: &str, result: Result<Findings, CannotCheck>) -> ExitCode {
    match result {
        Ok(findings) => {
            for warning in &findings.warnings {
                println!("{name}: look again: {warning}");
            }
            for error in &findings.errors {
                println!("{name}: {error}");
            }
            if findings.errors.is_empty() {
                println!("{name}: fine");
                ExitCode::SUCCESS
            } else {
                ExitCode::from(1)
            }
        }
        Err(error) => {
            eprintln!("{name}: cannot check: {error}");
            ExitCode::from(2)
        }
    }
}
