//! What is done for sockets beside levers: owners of old ones, and TCP_NODELAY held back while no file can name who has
//! it. What Health shows of either.

use super::kept::Kept;
use super::{Daemon, DaemonError};
use crate::kernel::Pass;
use crate::names::owners::{self, Which};
use ackord_daemon::{Finding, Severity};

impl Daemon {
    /// Assigns sockets that were created before the programs were attached to their processes. Where that is not to be
    /// had, for want of rights or a kernel that can, they belong to no known program, as Health shows.
    pub(super) fn own(&mut self, which: Which) {
        if self.config.by.looks_at_processes() {
            let owners = owners::find(which);
            let _ = self.programs.own(owners.iter(), self.settings);
        }
    }

    /// As long as the list of sockets cannot be written TCP_NODELAY is set for none, and those that no file has lose it
    /// again: otherwise a crash would leave them with it for good.
    pub(super) fn hold(&mut self) -> Result<(), DaemonError> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let held = u32::from(kept.unlisted().is_some());
        if self.settings.nodelay_held != held {
            self.settings.nodelay_held = held;
            self.programs.set(self.settings);
        }
        if held == 0 {
            return Ok(());
        }
        let unwritten = kept.take_unwritten();
        if !unwritten.is_empty() {
            self.programs.nodelay_was_ours(&unwritten)?;
            self.programs.pass(Pass::Back, self.settings)?;
            self.programs.forget_nodelay(&unwritten)?;
        }
        Ok(())
    }

    /// What is worth knowing beside what the engine shows.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.unmeasured.iter().cloned().collect();
        findings.extend(self.places.waits().into_iter().map(|what| Finding {
            severity: Severity::Warning,
            what: format!("waits for the control group {what}"),
            advice: "Its connections are followed as soon as that has changed.".to_owned(),
        }));
        if let Some(why) = self.kept.as_ref().and_then(Kept::unlisted) {
            findings.push(Finding {
                severity: Severity::Warning,
                what: format!(
                    "TCP_NODELAY is set for no connection: the list of sockets in {} cannot be written: {why}",
                    self.config.state.display()
                ),
                advice: "Make room there; it goes on by itself.".to_owned(),
            });
        }
        findings
    }
}
