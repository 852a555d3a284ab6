//! The ledger of the RFCs (`crates/tcp/specs`): what each section asks of an endpoint, what becomes
//! of it here, where in the code, and which tests show it.
//!
//! | file | job |
//! | --- | --- |
//! | `entry.rs` | the format of a ledger file, and what a row must have |
//! | `code.rs` | what the rows name in the code: items of Rust files, knobs of the registry |
//! | `evidence.rs` | what the rows name as tests: functions, scripts |
//! | `index.rs` | which RFCs have to be there |
//! | `page.rs` | docs/ledger.md |
//!
//! Not checked: whether a test shows what its row says. That is what review is for.

mod code;
mod entry;
mod evidence;
mod index;
mod page;

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;
use code::Code;
pub(crate) use entry::{Ledger, SPECS, meant};
pub(crate) use evidence::Evidence;
pub(crate) use page::{cell, page, short};

/// Checks every file of the ledger, and that every RFC has one that needs one.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let (ledgers, mut errors) = read(workspace)?;
    let mut code = Code::new(workspace);
    let mut evidence = Evidence::new(workspace)?;
    for ledger in &ledgers {
        for section in &ledger.sections {
            let named = section.code.iter().map(|name| code.complaint(name));
            let shown = section.tests.iter().map(|name| evidence.complaint(name));
            errors.extend(
                named
                    .chain(shown)
                    .flatten()
                    .map(|complaint| format!("{}: {}: {complaint}", ledger.file, section.at)),
            );
        }
    }
    let mut findings = Findings { errors, warnings: Vec::new() };
    index::check(workspace, &ledgers, &mut findings)?;
    println!("ledger: {}", page::totals_line(&ledgers));
    Ok(findings)
}

/// Every ledger file in order of its RFC, and what is wrong with those that cannot be read or
/// whose rows lack something.
pub(crate) fn read(workspace: &Workspace) -> Result<(Vec<Ledger>, Vec<String>), CannotCheck> {
    let (mut ledgers, mut errors) = (Vec::new(), Vec::new());
    for name in workspace.files_ending(".toml")? {
        let file = name.strip_prefix(SPECS).and_then(|rest| rest.strip_prefix('/'));
        let Some(file) = file.filter(|file| file.starts_with("rfc")) else { continue };
        match Ledger::read(file, &workspace.read(&name)?) {
            Ok(ledger) => {
                errors.extend(ledger.complaints());
                ledgers.push(ledger);
            }
            Err(error) => errors.push(format!("{file}: {error}")),
        }
    }
    ledgers.sort_by_key(|ledger| ledger.rfc);
    Ok((ledgers, errors))
}
