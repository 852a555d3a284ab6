//! Captures of a live run: what passed at our host and what passed at the kernel's.

use crate::clock::Clock;
use ackord_units::Time;
use ackord_wire::{InterfaceIndex, PacketRecord, PcapngWriter};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenAt {
    /// At our host's end of the path.
    Ours,
    /// At the kernel's end of the path.
    Kernel,
}

/// Writes a file for each place: a tool that reads both in one takes the second sight of a packet
/// for a retransmission. A failing disk ends the capture, not the run.
#[derive(Debug)]
pub(crate) struct Capture {
    ours: Place,
    kernel: Place,
    clock: Clock,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    writer: PcapngWriter<BufWriter<File>>,
    interface: InterfaceIndex,
    failure: Option<io::Error>,
}

/// A file of a capture could not be written.
pub(crate) type Failure = (PathBuf, io::Error);

impl Capture {
    /// Begins `ours.pcapng` and `kernel.pcapng` in `folder`, which is made if it is missing.
    pub(crate) fn create(folder: &Path, clock: Clock) -> Result<Capture, Failure> {
        fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
        let place = |name: &str, description| {
            let path = folder.join(format!("{name}.pcapng"));
            Place::create(&path, name, description).map_err(|error| (path, error))
        };
        let ours = place("ours", "the emulated path's end at our TCP")?;
        let kernel = place("kernel", "the emulated path's end at the kernel")?;
        Ok(Capture { ours, kernel, clock })
    }

    /// Adds a packet that passed at `at` of the run.
    pub(crate) fn record(&mut self, seen: SeenAt, at: Time, bytes: &[u8]) {
        let place = match seen {
            SeenAt::Ours => &mut self.ours,
            SeenAt::Kernel => &mut self.kernel,
        };
        if place.failure.is_none() {
            let interface = place.interface;
            let at = self.clock.wall(at);
            let original_len = bytes.len() as u32;
            let record = PacketRecord { interface, at, bytes, original_len, comment: None };
            place.failure = place.writer.write_packet(&record).err();
        }
    }

    /// Ends the files; the first failure of the disk comes out here.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        for place in [self.ours, self.kernel] {
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
    fn create(path: &Path, name: &str, description: &str) -> io::Result<Place> {
        let file = BufWriter::new(File::create(path)?);
        let mut writer = PcapngWriter::new(file, concat!("ackord ", env!("CARGO_PKG_VERSION")))?;
        let interface = writer.add_interface(name, description)?;
        Ok(Place { path: path.to_owned(), writer, interface, failure: None })
    }
}
