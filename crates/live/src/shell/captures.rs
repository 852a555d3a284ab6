//! Captures of a shell: everything that passes at each end of its link, and at the middlebox.

use crate::capture::CaptureFile;
use crate::clock::Clock;
use crate::emulate::Tapped;
use crate::error::LiveError;
use ackord_events::{LinkId, TapPoint};
use ackord_scenario::{Capture, Scenario, Way};
use std::path::{Path, PathBuf};

/// Files for the places of a shell, each with where its packets pass.
#[derive(Debug)]
pub(super) struct Captures(Vec<([TapPoint; 2], CaptureFile)>);

/// A direction of a link by its number: forward of the first is 0, its reverse 1.
const fn way(number: u32) -> LinkId {
    LinkId(number)
}

/// What the scenario of a shell has to capture for [`Captures`].
pub(super) fn wanted(scenario: &Scenario) -> Vec<Capture> {
    let links = 0..scenario.links.len();
    let both = links.flat_map(|link| [Way::Forward, Way::Reverse].map(|way| Capture { link, way }));
    both.collect()
}

impl Captures {
    /// Begins `inside.pcapng` and `outside.pcapng` in `folder`, which is made if it is missing, and
    /// with a middlebox `base.pcapng`, between it and the link.
    pub(super) fn create(
        folder: &Path,
        scenario: &Scenario,
        clock: Clock,
    ) -> Result<Captures, LiveError> {
        let near = [TapPoint::LinkOut(way(0)), TapPoint::LinkIn(way(1))];
        let far = [TapPoint::LinkIn(way(0)), TapPoint::LinkOut(way(1))];
        let beyond = [TapPoint::LinkIn(way(2)), TapPoint::LinkOut(way(3))];
        let mut places = vec![("inside", "what the shell sends and gets", near)];
        if scenario.links.len() > 1 {
            places.push(("base", "between the middlebox and the link", far));
            places.push(("outside", "what comes from outside and goes there", beyond));
        } else {
            places.push(("outside", "what comes from outside and goes there", far));
        }
        let files = places.into_iter().map(|(name, description, taps)| {
            CaptureFile::create(folder, (name, description), clock).map(|file| (taps, file))
        });
        Ok(Captures(files.collect::<Result<_, _>>()?))
    }

    /// A packet passes a tap.
    pub(super) fn take(&mut self, tapped: Tapped<'_>) {
        for (_, file) in self.0.iter_mut().filter(|(taps, _)| taps.contains(&tapped.tap)) {
            file.record(tapped.at, tapped.bytes, tapped.original_len);
        }
    }

    /// Ends the files, and names them; the first failure of the disk comes out here.
    pub(super) fn finish(self) -> Result<Vec<PathBuf>, LiveError> {
        let ended = self.0.into_iter().map(|(_, file)| {
            let path = file.path.clone();
            file.finish().map(|()| path)
        });
        ended.collect()
    }
}
