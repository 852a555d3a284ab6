//! Captures of a live run: what passed at a place, in a file of its own. A tool that reads two places in
//! one file takes the second sight of a packet for a retransmission.

use crate::clock::Clock;
use crate::emulate::Device;
use crate::error::LiveError;
use ackord_units::Time;
use ackord_wire::{FlowId, InterfaceIndex, PacketRecord, PcapngWriter};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A capture that is being written. A failing disk ends the capture, not the run.
#[derive(Debug)]
pub(crate) struct CaptureFile {
    pub(crate) path: PathBuf,
    writer: PcapngWriter<File>,
    interface: InterfaceIndex,
    clock: Clock,
    failure: Option<io::Error>,
}

impl CaptureFile {
    /// Begins `NAME.pcapng` in `folder`, which is made if it is missing.
    pub(crate) fn create(
        folder: &Path,
        (name, description): (&str, &str),
        clock: Clock,
    ) -> Result<CaptureFile, LiveError> {
        let made = fs::create_dir_all(folder);
        made.map_err(|source| LiveError::Output { path: folder.to_owned(), source })?;
        let path = folder.join(format!("{name}.pcapng"));
        let begin = || {
            let file = File::create(&path)?;
            let tool = concat!("ackord ", env!("CARGO_PKG_VERSION"));
            let mut writer = PcapngWriter::new(file, tool)?;
            let interface = writer.add_interface(name, description)?;
            Ok((writer, interface))
        };
        match begin() {
            Ok((writer, interface)) => {
                Ok(CaptureFile { path, writer, interface, clock, failure: None })
            }
            Err(source) => Err(LiveError::Output { path, source }),
        }
    }

    /// Adds a packet of `original_len` bytes, of which these are there, that passed at `at` of the run.
    pub(crate) fn record(&mut self, at: Time, bytes: &[u8], original_len: u32) {
        if self.failure.is_none() {
            let (interface, at) = (self.interface, self.clock.wall(at));
            let record = PacketRecord { interface, at, bytes, original_len, comment: None };
            self.failure = self.writer.write_packet(&record).err();
        }
    }

    /// Ends the file; the first failure of the disk comes out here.
    pub(crate) fn finish(self) -> Result<(), LiveError> {
        let result = match self.failure {
            Some(failure) => Err(failure),
            None => self.writer.finish(),
        };
        result.map_err(|source| LiveError::Output { path: self.path, source })
    }
}

/// A device of which everything is captured: of one in real time when it really passes.
pub(crate) struct CapturedDevice {
    pub(crate) device: Box<dyn Device>,
    pub(crate) file: Rc<RefCell<CaptureFile>>,
}

impl CapturedDevice {
    fn record(&self, now: Time, bytes: &[u8]) {
        let file = &mut *self.file.borrow_mut();
        let at = if self.device.is_local() { now } else { file.clock.now() };
        file.record(at, bytes, bytes.len() as u32);
    }
}

impl Device for CapturedDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.device.descriptor()
    }

    fn longest(&self) -> usize {
        self.device.longest()
    }

    fn is_local(&self) -> bool {
        self.device.is_local()
    }

    fn read_packet(&mut self, now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let read = self.device.read_packet(now, buffer)?;
        if let Some(len) = read {
            self.record(now, &buffer[..len]);
        }
        Ok(read)
    }

    fn write_packet(&mut self, now: Time, flow: FlowId, bytes: &[u8]) -> io::Result<()> {
        // Before it is answered.
        if self.device.is_local() {
            self.record(now, bytes);
            return self.device.write_packet(now, flow, bytes);
        }
        let taken = self.device.write_packet(now, flow, bytes);
        self.record(now, bytes);
        taken
    }

    fn deadline(&self) -> Option<Time> {
        self.device.deadline()
    }
}
