//! All captures of a fleet, on all cores.

use super::files::FleetFile;
use super::folder::{FleetError, FleetFolder};
use super::part::{FleetOptions, fleet_part};
use ackord_study::{Ended, OfJob, Watch, run_each};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A fleet that has a data set to write.
pub struct Fleet<'a> {
    folder: FleetFolder,
    options: &'a FleetOptions,
    files: usize,
    missing: Vec<&'a FleetFile>,
}

/// How a fleet was diagnosed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetOutcome {
    /// Captures that are in the data set now and could be read, those known before included.
    pub read: usize,
    /// Why captures could not be read, in order of their paths.
    pub unreadable: Vec<String>,
    /// True if the work was stopped before every capture was read.
    pub stopped: bool,
}

impl<'a> Fleet<'a> {
    /// Begins a data set in `out`, or continues the one that is there.
    ///
    /// # Errors
    /// If another program is at work on it, or the system refuses.
    pub fn begin(
        files: &'a [FleetFile],
        out: &Path,
        options: &'a FleetOptions,
    ) -> Result<Fleet<'a>, FleetError> {
        let folder = FleetFolder::begin(out)?;
        let missing = files.iter().filter(|file| !folder.has(file, options)).collect();
        Ok(Fleet { folder, options, files: files.len(), missing })
    }

    /// Number of captures that are in the data set already.
    pub fn known(&self) -> usize {
        self.files - self.missing.len()
    }

    /// Diagnoses the captures that are missing, on `jobs` threads or one per core, and writes the rows of each as
    /// soon as it is done. `watch` is called with the share of their bytes that has been read.
    ///
    /// # Errors
    /// If the data set cannot be written.
    pub fn run(
        &self,
        jobs: Option<NonZeroUsize>,
        watch: &Watch<'_>,
    ) -> Result<FleetOutcome, FleetError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, NonZeroUsize::get));
        let pool = pool.build().map_err(|error| {
            FleetError::io("start threads for", self.folder.path(), std::io::Error::other(error))
        })?;
        // Few captures get several threads each.
        let threads = (pool.current_num_threads() / self.missing.len().max(1)).max(1);
        let broken = AtomicBool::new(false);
        let one = |file: &&FleetFile, progress: &mut OfJob<'_>| {
            let Some(part) = fleet_part(file, self.options, threads, progress) else {
                return Ended::Stopped;
            };
            let error = part.error.clone();
            match self.folder.take(part) {
                Ok(()) => Ended::Kept(error),
                Err(refused) => {
                    broken.store(true, Ordering::Relaxed);
                    Ended::Failed(refused)
                }
            }
        };
        // Captures whose rows cannot be written would be read in vain.
        let watch = |share: f64| match broken.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => watch(share),
        };
        // Opening even the smallest file is some work.
        let weight = |file: &&FleetFile| file.size.max(1000);
        let ended = pool.install(|| run_each(&self.missing, weight, one, &watch));
        let mut outcome = FleetOutcome { read: self.known(), ..FleetOutcome::default() };
        for ended in ended {
            match ended {
                Ended::Kept(None) => outcome.read += 1,
                Ended::Kept(Some(why)) => outcome.unreadable.push(why),
                Ended::Failed(error) => return Err(error),
                Ended::Stopped => outcome.stopped = true,
            }
        }
        Ok(outcome)
    }
}
