//! One processor for the kernels of a run and whoever drives them.
//!
//! Only one of them runs at a time, so a second processor would gain nothing, and to wake somebody on
//! another one takes longer than what he then does: a run that wanders takes more than twice as long.
//! Runs side by side have a processor each.

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many runs each processor has.
static TAKEN: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// The calling thread, and the processes that it starts, on one processor as long as this lives.
pub(crate) struct OneProcessor {
    /// Where the thread may run otherwise, and which processor it has; nothing where the system does
    /// not tell.
    before: Option<(CpuSet, usize)>,
}

/// The calling thread itself.
const THIS_THREAD: Pid = Pid::from_raw(0);

impl OneProcessor {
    /// The processor with the fewest runs of those that the thread may have; the one that it has, if
    /// that is among them.
    pub(crate) fn take() -> OneProcessor {
        OneProcessor { before: OneProcessor::try_take() }
    }

    fn try_take() -> Option<(CpuSet, usize)> {
        let before = sched_getaffinity(THIS_THREAD).ok()?;
        let here = sched_getcpu().ok()?;
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = (0..CpuSet::count()).filter(|cpu| before.is_set(*cpu).unwrap_or(false));
        let runs = |cpu: &usize| (taken.get(cpu).copied().unwrap_or(0), *cpu != here);
        let cpu = allowed.min_by_key(runs)?;
        let mut only = CpuSet::new();
        only.set(cpu).ok()?;
        sched_setaffinity(THIS_THREAD, &only).ok()?;
        *taken.entry(cpu).or_default() += 1;
        Some((before, cpu))
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        if let Some((before, cpu)) = self.before {
            let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
            taken.entry(cpu).and_modify(|runs| *runs = runs.saturating_sub(1));
            // What was allowed before still is.
            let _ = sched_setaffinity(THIS_THREAD, &before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_one_processor_and_gives_it_back() {
        let allowed = || sched_getaffinity(THIS_THREAD).expect("told");
        let before = allowed();
        let run = OneProcessor::take();
        let count =
            |set: &CpuSet| (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).count();
        assert_eq!(count(&allowed()), 1);
        drop(run);
        assert_eq!(allowed(), before);
    }
}
