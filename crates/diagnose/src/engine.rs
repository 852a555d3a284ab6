//! Captures through the table of connections to the answer.

use crate::causes::Sharing;
use crate::flow::{Connection, settle_numbers};
use crate::flow::table::{Table, shard};
use crate::join::join;
use crate::report::answer;
use crate::{Address, Artefact, ArtefactKind, CaptureRead, Diagnosis, Reader, Seen, Trace};
use ackord_units::Time;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};

/// How to go about it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Threads that take connections in; 0 and 1: none besides the caller's.
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
/// Batches that may wait for a thread.
const WAITING: usize = 8;

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
    Ok(answers(captures, join(places)))
}

/// What was captured at one place, by one file after the other.
struct Place {
    /// Each takes the connections of one thread.
    tables: Vec<Table>,
    ended: Time,
}

impl Place {
    fn new(options: &Options, marked: bool) -> Place {
        let table = || Table::new(&options.points_of, marked);
        let tables = std::iter::repeat_with(table).take(options.jobs.max(1)).collect();
        Place { tables, ended: Time::ZERO }
    }

    /// Takes a capture in, of which the first packets are there.
    fn take(
        &mut self,
        reader: &mut Reader,
        first: (Vec<Seen>, bool),
        progress: &mut dyn FnMut(Option<f64>) -> ControlFlow<()>,
    ) -> Result<(), DiagnoseError> {
        let ended = &mut self.ended;
        match &mut self.tables[..] {
            [table] => batches(reader, first, progress, &mut |batch, _| {
                for seen in batch {
                    table.packet(seen);
                    *ended = (*ended).max(seen.at);
                }
            }),
            tables => std::thread::scope(|scope| {
                let mut ways: Vec<(SyncSender<Vec<Seen>>, Vec<Seen>)> = Vec::new();
                for table in tables {
                    let (way, packets) = sync_channel::<Vec<Seen>>(WAITING);
                    ways.push((way, Vec::new()));
                    // A thread that panics is told of by the scope.
                    scope.spawn(move || {
                        packets.iter().flatten().for_each(|seen| table.packet(&seen))
                    });
                }
                batches(reader, first, progress, &mut |batch, more| {
                    for seen in batch {
                        let shard = shard(seen, ways.len());
                        ways[shard].1.push(*seen);
                        *ended = (*ended).max(seen.at);
                    }
                    for (way, batch) in &mut ways {
                        if batch.len() >= BATCH / 2 || !more {
                            let _ = way.send(std::mem::take(batch));
                        }
                    }
                })
            }),
        }
    }

    fn into_connections(self) -> Vec<Connection> {
        self.tables.into_iter().flat_map(Table::into_connections).collect()
    }
}

/// Hands over all packets of a capture, some at a time, each with whether more follow.
fn batches(
    reader: &mut Reader,
    (mut batch, mut more): (Vec<Seen>, bool),
    progress: &mut dyn FnMut(Option<f64>) -> ControlFlow<()>,
    take: &mut dyn FnMut(&[Seen], bool),
) -> Result<(), DiagnoseError> {
    loop {
        take(&batch, more);
        if !more {
            return Ok(());
        }
        if progress(reader.progress()).is_break() {
            return Err(DiagnoseError::Interrupted);
        }
        batch.clear();
        more = reader.read(&mut batch, BATCH)?;
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
        answers(captures, self.0.clone().into_connections()).0
    }
}

/// The account of every connection, from its first packet to its last.
fn answers(
    captures: Vec<CaptureRead>,
    mut connections: Vec<Connection>,
) -> (Diagnosis, Vec<Trace>) {
    connections.sort_by_key(|connection| (connection.began, connection.began_frame));
    connections.iter_mut().for_each(Connection::finish);
    settle_numbers(&mut connections);
    let sharing = Sharing::of(&connections);
    let mut traces = Vec::new();
    let mut answers = Vec::with_capacity(connections.len());
    for (id, connection) in (0..).zip(&mut connections) {
        let answered = answer(id, connection, &sharing);
        if let Some(points) = connection.points.take() {
            let sender = u8::from(answered.bytes_by[1] > answered.bytes_by[0]);
            let of_sender = points.into_iter().filter(|(side, _)| *side == sender);
            let points = of_sender.map(|(_, point)| point).collect();
            traces.push(Trace { connection: id, points });
        }
        answers.push(answered);
    }
    let artefacts = all_artefacts(&captures, &answers);
    (Diagnosis { captures, artefacts, connections: answers }, traces)
}

/// What is wrong with the captures: what connections show, added up, and what the files say.
fn all_artefacts(captures: &[CaptureRead], answers: &[crate::Connection]) -> Vec<Artefact> {
    let mut by_kind: BTreeMap<ArtefactKind, Artefact> = BTreeMap::new();
    for artefact in answers.iter().flat_map(|answer| &answer.artefacts) {
        let one = by_kind.entry(artefact.kind);
        one.and_modify(|sum| sum.count += artefact.count).or_insert_with(|| artefact.clone());
    }
    for capture in captures {
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
