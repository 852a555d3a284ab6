//! Control groups: where the programs are attached.

use super::DaemonError;
use crate::cgroups::{self, Cgroups};
use crate::config::AgentConfig;
use crate::kernel::{Attached, Programs};
use crate::names::Names;
use crate::pods;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

/// The control group that a configuration asks for.
pub(super) fn root(config: &AgentConfig) -> Result<PathBuf, DaemonError> {
    let system = |source| DaemonError::System { what: "/proc".to_owned(), source };
    let root = match &config.cgroup {
        Some(path) => path.clone(),
        None => cgroups::mounted().map_err(system)?.ok_or(DaemonError::NoCgroups)?,
    };
    if !cgroups::is_cgroup(&root) {
        return Err(DaemonError::NoCgroup(root));
    }
    Ok(root)
}

/// Where the programs are attached: the root, or the control groups of pods.
#[derive(Debug)]
pub(super) struct Places {
    root: PathBuf,
    attached: BTreeMap<String, Attached>,
}

impl Places {
    pub(super) fn new(root: PathBuf) -> Places {
        Places { root, attached: BTreeMap::new() }
    }

    /// Attaches them where they are to be, and nowhere else.
    pub(super) fn follow(
        &mut self,
        config: &AgentConfig,
        programs: &Programs,
        names: &mut Names,
    ) -> Result<(), DaemonError> {
        let Some(pods) = &config.pods else {
            return self.attach("/", programs);
        };
        let uids = pods::wanting(pods).map_err(DaemonError::Pods)?;
        let cgroups = names.cgroups();
        cgroups.look();
        let wanted = pods::cgroups_of(&uids, cgroups.all().map(|(_, path)| path));
        self.attached.retain(|path, _| wanted.contains(path));
        wanted.iter().try_for_each(|path| self.attach(path, programs))
    }

    fn attach(&mut self, path: &str, programs: &Programs) -> Result<(), DaemonError> {
        if self.attached.contains_key(path) {
            return Ok(());
        }
        let directory = self.root.join(path.trim_start_matches('/'));
        let opened = File::open(&directory);
        let failed = |source| DaemonError::System { what: directory.display().to_string(), source };
        let attached = programs.attach(opened.map_err(failed)?.as_fd())?;
        self.attached.insert(path.to_owned(), attached);
        Ok(())
    }

    /// They are attached nowhere any more.
    pub(super) fn leave(&mut self) {
        self.attached.clear();
    }

    /// Where they are.
    pub(super) fn told(&self) -> Vec<String> {
        let place = |path: &String| match path.trim_start_matches('/') {
            "" => self.root.clone(),
            below => self.root.join(below),
        };
        self.attached.keys().map(|path| place(path).display().to_string()).collect()
    }

    /// The numbers of the control groups at which or below which they are.
    pub(super) fn numbers(&self, cgroups: &Cgroups) -> Vec<u64> {
        let is_below = |path: &str| {
            self.attached.keys().any(|place| Path::new(path).starts_with(place.as_str()))
        };
        cgroups.all().filter(|(_, path)| is_below(path)).map(|(number, _)| number).collect()
    }
}
