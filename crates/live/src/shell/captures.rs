//! Captures of a shell: everything that passes at each end of its link, and at the middle box.

use crate::clock::Clock;
use crate::emulate::Tapped;
use ackord_events::{LinkId, TapPoint};
use ackord_scenario::{Capture, Scenario, Way};
use ackord_wire::{InterfaceIndex, PacketRecord, PcapngWriter};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Files for the places of a shell. A failing disk ends a file, not the run.
#[derive(Debug)]
pub(super) struct Captures {
    places: Vec<Place>,
    clock: Clock,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    taps: [TapPoint; 2],
    writer: PcapngWriter<BufWriter<File>>,
    interface: InterfaceIndex,
    failure: Option<io::Error>,
}

/// A file that could not be written.
pub(super) type Failure = (PathBuf, io::Error);

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
    /// with a middle box `base.pcapng`, between it and the link.
    pub(super) fn create(
        folder: &Path,
        scenario: &Scenario,
        clock: Clock,
    ) -> Result<Captures, Failure> {
        fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
        let near = [TapPoint::LinkOut(way(0)), TapPoint::LinkIn(way(1))];
        let far = [TapPoint::LinkIn(way(0)), TapPoint::LinkOut(way(1))];
        let beyond = [TapPoint::LinkIn(way(2)), TapPoint::LinkOut(way(3))];
        let mut places = vec![("inside", "what the shell sends and gets", near)];
        if scenario.links.len() > 1 {
            places.push(("base", "between the middle box and the link", far));
            places.push(("outside", "what comes from outside and goes there", beyond));
        } else {
            places.push(("outside", "what comes from outside and goes there", far));
        }
        let places: Result<Vec<Place>, Failure> = places
            .into_iter()
            .map(|(name, description, taps)| {
                let path = folder.join(format!("{name}.pcapng"));
                Place::create(&path, (name, description), taps).map_err(|error| (path, error))
            })
            .collect();
        Ok(Captures { places: places?, clock })
    }

    /// The names of the files.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.places.iter().map(|place| place.path.clone()).collect()
    }

    /// A packet passes a tap.
    pub(super) fn take(&mut self, tapped: Tapped<'_>) {
        let places = self.places.iter_mut().filter(|place| place.taps.contains(&tapped.tap));
        for place in places.filter(|place| place.failure.is_none()) {
            let record = PacketRecord {
                interface: place.interface,
                at: self.clock.wall(tapped.at),
                bytes: tapped.bytes,
                original_len: tapped.original_len,
                comment: None,
            };
            place.failure = place.writer.write_packet(&record).err();
        }
    }

    /// Ends the files; the first failure of the disk comes out here.
    pub(super) fn finish(self) -> Result<(), Failure> {
        for place in self.places {
            let result = match place.failure {
                Some(failure) => Err(failure),
                None => place.writer.finish().map(drop),
            };
            result.map_err(|error| (place.path, error))?;
        }
        Ok(())
    }
}

impl Place {
    fn create(
        path: &Path,
        (name, description): (&str, &str),
        taps: [TapPoint; 2],
    ) -> io::Result<Place> {
        let file = BufWriter::new(File::create(path)?);
        let mut writer = PcapngWriter::new(file, concat!("ackord ", env!("CARGO_PKG_VERSION")))?;
        let interface = writer.add_interface(name, description)?;
        Ok(Place { path: path.to_owned(), taps, writer, interface, failure: None })
    }
}
