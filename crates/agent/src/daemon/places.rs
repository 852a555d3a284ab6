//! Control groups: where the programs are attached.

use super::DaemonError;
use crate::cgroups::{self, Cgroups};
use crate::config::AgentConfig;
use crate::kernel::{Attached, Programs, foreign};
use crate::names::Names;
use crate::pods;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The control group that a configuration asks for, which need not be there yet.
pub(super) fn root(config: &AgentConfig) -> Result<PathBuf, DaemonError> {
    let system = |source| DaemonError::System { what: "/proc".to_owned(), source };
    let mount = cgroups::mounted().map_err(system)?.ok_or(DaemonError::NoCgroups)?;
    match &config.cgroup {
        None => Ok(mount),
        Some(path) if cgroups::may_become_one(&mount, path) => Ok(path.clone()),
        Some(path) => Err(DaemonError::NoCgroup(path.clone())),
    }
}

/// Where the programs are attached: the root, or the control groups of pods.
#[derive(Debug)]
pub(super) struct Places {
    root: PathBuf,
    /// Whether levers are pulled, for which nobody else may be at the hooks.
    acts: bool,
    attached: BTreeMap<String, Place>,
    /// Whether the program that observes arriving packets is attached, too.
    observes_arrivals: bool,
    /// Why they are not attached where they should be.
    waits: BTreeMap<String, String>,
}

/// A control group with the programs.
#[derive(Debug)]
struct Place {
    /// Its number: one that is made anew under the same path has another.
    number: u64,
    opened: File,
    attached: Attached,
}

impl Places {
    pub(super) fn new(root: PathBuf, acts: bool) -> Places {
        let (attached, waits) = (BTreeMap::new(), BTreeMap::new());
        Places { root, acts, attached, observes_arrivals: true, waits }
    }

    /// Attaches them where they are to be, and nowhere else. A control group that is not there is waited for. Returns
    /// whether they are attached anywhere anew.
    pub(super) fn follow(
        &mut self,
        config: &AgentConfig,
        programs: &Programs,
        names: &mut Names,
    ) -> Result<bool, DaemonError> {
        let Some(pods) = &config.pods else {
            return self.attach("/", programs);
        };
        let uids = pods::wanting(pods).map_err(DaemonError::Pods)?;
        let cgroups = names.cgroups();
        cgroups.look();
        let wanted = pods::cgroups_of(&uids, cgroups.all().map(|(_, path)| path));
        self.attached.retain(|path, _| wanted.contains(path));
        self.waits.retain(|path, _| wanted.contains(path));
        let mut is_new = false;
        for path in &wanted {
            is_new |= self.attach(path, programs)?;
        }
        Ok(is_new)
    }

    fn attach(&mut self, path: &str, programs: &Programs) -> Result<bool, DaemonError> {
        let directory = self.path(path);
        let failed = |source| DaemonError::System { what: directory.display().to_string(), source };
        let number = match fs::metadata(&directory) {
            Ok(metadata) => metadata.ino(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.wait(path, "it is not there yet".to_owned());
                return Ok(false);
            }
            Err(error) => return Err(failed(error)),
        };
        if self.attached.get(path).is_some_and(|place| place.number == number) {
            return Ok(false);
        }
        // What was at the one before is gone with it.
        self.attached.remove(path);
        let others = if self.acts { foreign(&directory).unwrap_or_default() } else { Vec::new() };
        if !others.is_empty() {
            let others = others.join(", ");
            self.wait(path, format!("programs of somebody else are at its hooks: {others}"));
            return Ok(false);
        }
        let opened = File::open(&directory).map_err(failed)?;
        let mut attached = match programs.attach(opened.as_fd()) {
            Ok(attached) => attached,
            Err(error) => {
                // Somebody who shares the hooks with nobody may end.
                let others = foreign(&directory).unwrap_or_default();
                if others.is_empty() {
                    return Err(error.into());
                }
                self.wait(path, format!("{} share its hooks with nobody", others.join(", ")));
                return Ok(false);
            }
        };
        programs.observe_arrivals(&mut attached, opened.as_fd(), self.observes_arrivals)?;
        self.attached.insert(path.to_owned(), Place { number, opened, attached });
        self.waits.remove(path);
        Ok(true)
    }

    /// Attaches or detaches the program that observes arriving packets, wherever the others are.
    pub(super) fn observe_arrivals(
        &mut self,
        programs: &Programs,
        is_wanted: bool,
    ) -> Result<(), DaemonError> {
        self.observes_arrivals = is_wanted;
        for place in self.attached.values_mut() {
            programs.observe_arrivals(&mut place.attached, place.opened.as_fd(), is_wanted)?;
        }
        Ok(())
    }

    fn wait(&mut self, path: &str, why: String) {
        self.attached.remove(path);
        self.waits.insert(path.to_owned(), why);
    }

    /// The control groups that are waited for, each with the reason.
    pub(super) fn waits(&self) -> Vec<String> {
        let told =
            |(path, why): (&String, &String)| format!("{}: {why}", self.path(path).display());
        self.waits.iter().map(told).collect()
    }

    /// They are attached nowhere any more.
    pub(super) fn leave(&mut self) {
        self.attached.clear();
    }

    fn path(&self, place: &str) -> PathBuf {
        match place.trim_start_matches('/') {
            "" => self.root.clone(),
            below => self.root.join(below),
        }
    }

    /// Where they are.
    pub(super) fn told(&self) -> Vec<String> {
        self.attached.keys().map(|place| self.path(place).display().to_string()).collect()
    }

    /// The numbers of the control groups at which or below which they are.
    pub(super) fn numbers(&self, cgroups: &Cgroups) -> Vec<u64> {
        let is_below = |path: &str| {
            self.attached.keys().any(|place| Path::new(path).starts_with(place.as_str()))
        };
        cgroups.all().filter(|(_, path)| is_below(path)).map(|(number, _)| number).collect()
    }
}
