//! Captures through the table of connections to the answer.

use crate::causes::Sharing;
use crate::flow::table::Table;
use crate::flow::{Connection, settle_numbers};
use crate::join::join;
use crate::pipeline::{self, Progress};
use crate::report::answer;
use crate::{Address, Artefact, ArtefactKind, CaptureRead, Diagnosis, Reader, Seen, Trace};
use ackord_units::Time;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How to go about it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Threads, the caller's included; 0 is 1.
    pub jobs: usize,
    /// Keep the packets of connections between these ends, for pictures.
    pub points_of: Vec<[Address; 2]>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum DiagnoseError {
    /// The system refused to give more of a capture.
    #[error("cannot read on")]
    Read(#[from] std::io::Error),
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Packets handed over at a time.
const BATCH: usize = 4096;
/// Tables for each thread: while one thread uses one of them, another is at the next.
const TABLES: usize = 8;
/// Connections that a thread judges before it looks for more.
const AT_ONCE: usize = 8;

/// Reads captures to their ends and accounts for every connection in them. A capture that begins when
/// another has ended continues it; captures of the same time were taken at different places, and a
/// connection that stands in both is told once. `progress` is told the share of the bytes read, where
/// that is known, and may stop it.
///
/// # Errors
/// Where a capture cannot be read on, and when stopped.
pub fn diagnose(
    readers: Vec<Reader>,
    options: &Options,
    progress: &mut dyn FnMut(Option<f64>) -> ControlFlow<()>,
) -> Result<(Diagnosis, Vec<Trace>), DiagnoseError> {
    let mut captures = Vec::new();
    let marked = readers.len() > 1;
    let mut places: Vec<Place> = Vec::new();
    for mut reader in readers {
        let mut first = Vec::with_capacity(BATCH);
        let more = reader.read(&mut first, BATCH)?;
        let began = first.first().map_or(Time::ZERO, |seen| seen.at);
        let continued = places.iter().position(|place| place.ended <= began);
        let mut place = match continued {
            Some(at) => places.swap_remove(at),
            None => Place::new(options, marked),
        };
        place.take(&mut reader, (first, more), progress)?;
        places.push(place);
        captures.push(reader.finish());
    }
    let places = places.into_iter().map(Place::into_connections).collect();
    Ok(answers(captures, join(places), options.jobs))
}

/// What was captured at one place, by one file after the other.
struct Place {
    /// Each has the connections of a part of all addresses.
    tables: Vec<Table>,
    /// Threads.
    jobs: usize,
    ended: Time,
}

impl Place {
    fn new(options: &Options, marked: bool) -> Place {
        let jobs = options.jobs.max(1);
        let table = || Table::new(&options.points_of, marked);
        let tables = if jobs == 1 { 1 } else { jobs * TABLES };
        let tables = std::iter::repeat_with(table).take(tables).collect();
        Place { tables, jobs, ended: Time::ZERO }
    }

    /// Takes a capture in, of which the first packets are there.
    fn take(
        &mut self,
        reader: &mut Reader,
        (mut batch, mut more): (Vec<Seen>, bool),
        progress: &mut Progress<'_>,
    ) -> Result<(), DiagnoseError> {
        loop {
            for seen in &batch {
                pipeline::table_of(seen, &mut self.tables).packet(seen);
                self.ended = self.ended.max(seen.at);
            }
            if !more {
                return Ok(());
            }
            if self.jobs > 1 {
                let ended = pipeline::take(reader, &mut self.tables, self.jobs, progress)?;
                self.ended = self.ended.max(ended);
                return Ok(());
            }
            if progress(reader.progress()).is_break() {
                return Err(DiagnoseError::Interrupted);
            }
            batch.clear();
            more = reader.read(&mut batch, BATCH)?;
        }
    }

    /// Returns all connections. Those of a single table are not copied: they may take most of the memory.
    fn into_connections(self) -> Vec<Connection> {
        let mut tables = self.tables.into_iter().map(Table::into_connections);
        let mut all = tables.next().unwrap_or_default();
        tables.for_each(|mut more| all.append(&mut more));
        all
    }
}

/// Connections while their packets come: an answer may be had at any time.
#[derive(Default)]
pub struct Diagnoser(Table);

impl Diagnoser {
    /// Takes a packet in.
    pub fn take(&mut self, seen: &Seen) {
        self.0.packet(seen);
    }

    /// The answer as if the captures ended here.
    pub fn answer(&self, captures: Vec<CaptureRead>) -> Diagnosis {
        answers(captures, self.0.clone().into_connections(), 1).0
    }
}

/// The account of every connection, from its first packet to its last, judged on `jobs` threads.
fn answers(
    captures: Vec<CaptureRead>,
    mut connections: Vec<Connection>,
    jobs: usize,
) -> (Diagnosis, Vec<Trace>) {
    connections.sort_by_key(|connection| (connection.began, connection.began_frame));
    connections.iter_mut().for_each(Connection::finish);
    settle_numbers(&mut connections);
    let sharing = Sharing::of(&connections);
    let traces = traces(&mut connections);
    let answers = judged(connections, &sharing, jobs);
    let artefacts = all_artefacts(&captures, &answers);
    (Diagnosis { captures, artefacts, connections: answers }, traces)
}

/// Returns the packets kept of connections, for pictures.
fn traces(connections: &mut [Connection]) -> Vec<Trace> {
    let traces = (0..).zip(connections).filter_map(|(id, connection)| {
        let points = connection.points.take()?;
        let sender = connection.sender() as u8;
        let of = |wanted: bool| {
            let of_side = points.iter().filter(|(side, _)| (*side == sender) == wanted);
            of_side.map(|(_, point)| *point).collect()
        };
        Some(Trace { connection: id, points: of(true), reverse: of(false) })
    });
    traces.collect()
}

/// Returns the answers for connections, in their order. Each thread takes the next few that no other has, because
/// some are much longer than others. A connection is dropped as soon as it is judged, so that the answers take the
/// memory of the connections and not as much again.
fn judged(connections: Vec<Connection>, sharing: &Sharing, jobs: usize) -> Vec<crate::Connection> {
    let mut answers: Vec<Option<crate::Connection>> = Vec::new();
    answers.resize_with(connections.len(), || None);
    let waiting = Mutex::new((0..).zip(connections).zip(&mut answers));
    let work = || {
        let mut some = Vec::new();
        loop {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            some.extend(waiting.by_ref().take(AT_ONCE));
            drop(waiting);
            if some.is_empty() {
                return;
            }
            for ((id, connection), place) in some.drain(..) {
                *place = Some(answer(id, &connection, sharing));
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        work();
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    drop(waiting);
    answers.into_iter().flatten().collect()
}

/// What is wrong with the captures: what connections show, added up, and what the files say.
fn all_artefacts(captures: &[CaptureRead], answers: &[crate::Connection]) -> Vec<Artefact> {
    let mut by_kind: BTreeMap<ArtefactKind, Artefact> = BTreeMap::new();
    for artefact in answers.iter().flat_map(|answer| &answer.artefacts) {
        let one = by_kind.entry(artefact.kind);
        one.and_modify(|sum| sum.count += artefact.count).or_insert_with(|| artefact.clone());
    }
    for capture in captures {
        if capture.without_time > 0 {
            let kind = ArtefactKind::NoTimes;
            let one = by_kind.entry(kind).or_insert_with(|| Artefact {
                kind,
                count: 0,
                frame: capture.first_without_time,
                meaning: "packets have no time in the file (simple packet blocks of pcapng): they count with \
                          the latest time before them, so spans around them are wrong; capture in another \
                          format"
                    .to_owned(),
            });
            one.count += capture.without_time;
        }
        if let Some(damage) = &capture.damage {
            let kind = ArtefactKind::Truncated;
            let meaning = format!("{}: {damage}", capture.name);
            by_kind.insert(kind, Artefact { kind, count: 1, frame: capture.frames, meaning });
        }
    }
    by_kind.into_values().collect()
}

/// For readers nobody watches.
pub fn without_progress(_: Option<f64>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
