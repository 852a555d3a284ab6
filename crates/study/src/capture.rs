//! Captures of a run: pcapng files as somebody would have taken them at the ends of a link.
//!
//! A captured link becomes two files, `LINK.at-NODE.pcapng`, one per end, with what passed there
//! both ways: packets that enter the link at that end (before its queue decides about them) and
//! packets that come out of it there. So every packet is in a file once, and analysers that follow
//! a connection see what that node saw. Where a scenario captures only one direction of a link, the
//! files hold that direction alone. The IP identification of a packet is its number in the run,
//! modulo 2^16, so that it can be found again in another file; the payload is zeros.
//!
//! Not modelled: time spent between the interface and the tap.

use ackord_events::{Event, LinkId, Sink, TapPoint};
use ackord_scenario::{Capture, Flow, Scenario, Way};
use ackord_sim::Topology;
use ackord_units::Time;
use ackord_wire::{EncodeError, InterfaceIndex, Packet, PacketRecord, PcapngWriter};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZeroU32;

/// Where capture files come to be. Dropping what was handed out ends a file.
pub trait CaptureFiles {
    /// A new file of this name, which has no folder in it.
    ///
    /// # Errors
    /// What the system answers.
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>>;

    /// How many bytes of a packet are to be kept, where not all are.
    fn snap_len(&self) -> Option<NonZeroU32> {
        None
    }
}

/// One end of a captured link: one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePoint {
    /// The file's name.
    pub file: String,
    /// The taps whose packets go into it, each with the name of its interface.
    pub taps: Vec<(TapPoint, String)>,
}

/// The files that capturing `scenario` gives, in order of link.
pub fn capture_points(scenario: &Scenario) -> Vec<CapturePoint> {
    let captured: BTreeSet<Capture> = scenario.record.captures.iter().copied().collect();
    let mut points = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        // What a node sends into the link goes one way, what it gets out of it the other.
        let ends = [(link.from, Way::Forward, Way::Reverse), (link.to, Way::Reverse, Way::Forward)];
        for (node, sent, received) in ends {
            let id = |way| Topology::link_id(index, way);
            let taps: Vec<_> = [
                (sent, TapPoint::LinkIn(id(sent)), "in"),
                (received, TapPoint::LinkOut(id(received)), "out"),
            ]
            .into_iter()
            .filter(|(way, ..)| captured.contains(&Capture { link: index, way: *way }))
            .map(|(way, tap, what)| (tap, format!("{} {what}", link.direction_name(way))))
            .collect();
            if !taps.is_empty() {
                let file = format!("{}.at-{}.pcapng", link.name, scenario.node(node).name);
                points.push(CapturePoint { file, taps });
            }
        }
    }
    points
}

/// The same scenario with something to capture: what the file asks for, or where it asks for
/// nothing, both directions of the first link at either end of every flow.
#[must_use]
pub fn with_captures(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    if scenario.record.captures.is_empty() {
        let ends = |flow: &Flow| [(flow.client, flow.server), (flow.server, flow.client)];
        let routes = scenario.routes(scenario.flows.iter().flat_map(ends));
        let first_hops = routes.iter().filter_map(|route| route.first());
        let links: BTreeSet<usize> = first_hops.map(|hop| hop.link).collect();
        let both = |link| [Way::Forward, Way::Reverse].map(|way| Capture { link, way });
        scenario.record.captures = links.into_iter().flat_map(both).collect();
    }
    scenario
}

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The system refused.
    #[error("cannot write the capture `{file}`")]
    Io {
        /// Which.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// A simulated packet cannot exist as bytes, which is a defect of this project.
    #[error("a simulated packet has no bytes")]
    Packet(#[from] EncodeError),
}

/// The sink that writes captures.
pub struct CaptureSink {
    files: Vec<OpenFile>,
    /// By direction of link: where packets go that enter it, and that leave it.
    taps: Vec<[Option<Place>; 2]>,
    /// The first thing that went wrong. Sinks cannot answer, so the driver asks now and then.
    error: Option<CaptureError>,
}

struct OpenFile {
    name: String,
    writer: PcapngWriter<Box<dyn Write>>,
}

/// An interface of one of the files.
#[derive(Clone, Copy)]
struct Place {
    file: usize,
    interface: InterfaceIndex,
}

/// Which of the taps it is.
fn number(tap: TapPoint) -> (usize, usize) {
    match tap {
        TapPoint::LinkIn(link) => (link.0 as usize, 0),
        TapPoint::LinkOut(link) => (link.0 as usize, 1),
    }
}

impl CaptureSink {
    /// Creates the files for what `scenario` captures.
    pub fn create(
        scenario: &Scenario,
        files: &mut dyn CaptureFiles,
    ) -> Result<CaptureSink, CaptureError> {
        let LinkId(directions) = Topology::link_id(scenario.links.len(), Way::Forward);
        let taps = vec![[None; 2]; directions as usize];
        let mut sink = CaptureSink { files: Vec::new(), taps, error: None };
        for point in capture_points(scenario) {
            sink.open(&point, files)
                .map_err(|source| CaptureError::Io { file: point.file.clone(), source })?;
        }
        Ok(sink)
    }

    fn open(&mut self, point: &CapturePoint, files: &mut dyn CaptureFiles) -> io::Result<()> {
        let application = format!("ackord {}", crate::VERSION);
        let out = files.create(&point.file)?;
        let mut writer = PcapngWriter::new(out, &application)?.with_snap_len(files.snap_len());
        for (tap, name) in &point.taps {
            let interface = writer.add_interface(name, "")?;
            let (link, end) = number(*tap);
            self.taps[link][end] = Some(Place { file: self.files.len(), interface });
        }
        self.files.push(OpenFile { name: point.file.clone(), writer });
        Ok(())
    }

    /// What went wrong since the last time, if anything.
    pub fn take_error(&mut self) -> Result<(), CaptureError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Completes the files.
    pub fn finish(mut self) -> Result<(), CaptureError> {
        self.take_error()?;
        for OpenFile { name, writer } in self.files {
            writer.finish().map_err(|source| CaptureError::Io { file: name, source })?;
        }
        Ok(())
    }

    fn place(&self, tap: TapPoint) -> Option<Place> {
        let (link, end) = number(tap);
        self.taps.get(link).and_then(|ends| ends[end])
    }

    /// Takes a packet that exists as bytes, and how long it was as a whole.
    pub fn take(&mut self, at: Time, tap: TapPoint, (bytes, original_len): (&[u8], u32)) {
        let Some(Place { file, interface }) = self.place(tap) else { return };
        let OpenFile { name, writer } = &mut self.files[file];
        if self.error.is_none() {
            let record = PacketRecord { interface, at, bytes, original_len, comment: None };
            let written = writer.write_packet(&record);
            self.error = written.map_err(|source| refused(name, source)).err();
        }
    }

    /// Takes a simulated packet.
    fn take_simulated(&mut self, at: Time, tap: TapPoint, packet: &Packet) {
        let Some(Place { file, interface }) = self.place(tap) else { return };
        let OpenFile { name, writer } = &mut self.files[file];
        if self.error.is_some() {
            return;
        }
        match writer.write_simulated((interface, at), packet, packet.tag as u16) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.error = Some(error.into()),
            Err(source) => self.error = Some(refused(name, source)),
        }
    }

    /// Whether something could not be written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }
}

fn refused(file: &str, source: io::Error) -> CaptureError {
    CaptureError::Io { file: file.to_owned(), source }
}

impl Sink for CaptureSink {
    #[inline(always)]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Event::PacketTapped { tap, packet } = event {
            self.take_simulated(at, tap, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::{Override, ScenarioFile};

    fn files(captures: &str) -> Vec<(String, Vec<String>)> {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it comes along");
        let file = file.with_overrides([Override::new("record.captures", captures)]);
        let scenario = with_captures(&file.check().expect("a sound scenario"));
        let names = |point: CapturePoint| {
            (point.file, point.taps.into_iter().map(|(_, name)| name).collect())
        };
        capture_points(&scenario).into_iter().map(names).collect()
    }

    #[test]
    fn a_captured_link_is_two_files_of_both_directions() {
        let both = files("['wifi', 'wifi.reverse']");
        let at = |end: &str, taps: [&str; 2]| {
            (format!("wifi.at-{end}.pcapng"), taps.map(str::to_owned).to_vec())
        };
        let expected = [
            at("server", ["wifi in", "wifi.reverse out"]),
            at("station", ["wifi.reverse in", "wifi out"]),
        ];
        assert_eq!(both, expected);
        // The only link of the only flow is what is captured where the file names none.
        assert_eq!(files("[]"), expected);
    }

    #[test]
    fn one_captured_direction_is_two_files_of_that_direction() {
        let taps: Vec<_> = files("['wifi']").into_iter().map(|(_, taps)| taps).collect();
        assert_eq!(taps, [["wifi in"], ["wifi out"]]);
    }
}
