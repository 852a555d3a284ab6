//! Captures through the table of connections to the answer.

use crate::causes::Sharing;
use crate::flow::Connection;
use crate::flow::table::{Table, shard};
use crate::report::answer;
use crate::{Address, Artefact, ArtefactKind, CaptureRead, Diagnosis, Reader, Seen, Trace};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

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

/// Reads captures to their ends and accounts for every connection in them. `progress` is told the share
/// of the octets read, where that is known, and may stop it.
///
/// # Errors
/// Where a capture cannot be read on, and when stopped.
pub fn diagnose(
    readers: Vec<Reader>,
    options: &Options,
    progress: &mut dyn FnMut(Option<f64>) -> ControlFlow<()>,
) -> Result<(Diagnosis, Vec<Trace>), DiagnoseError> {
    let mut captures = Vec::new();
    let mut connections = Vec::new();
    for mut reader in readers {
        let shards = options.jobs.max(1);
        let tables = match shards {
            1 => vec![in_one_thread(&mut reader, options, progress)?],
            shards => in_threads(&mut reader, shards, options, progress)?,
        };
        captures.push(reader.finish());
        connections.extend(tables.into_iter().flat_map(Table::into_connections));
    }
    Ok(answers(captures, connections))
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

fn in_one_thread(
    reader: &mut Reader,
    options: &Options,
    progress: &mut dyn FnMut(Option<f64>) -> ControlFlow<()>,
) -> Result<Table, DiagnoseError> {
    let mut table = Table::new(&options.points_of);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        let more = reader.read(&mut batch, BATCH)?;
        for seen in &batch {
            table.packet(seen);
        }
        if !more {
            return Ok(table);
        }
        if progress(reader.progress()).is_break() {
            return Err(DiagnoseError::Interrupted);
        }
    }
}

/// One thread reads, others take the connections in: each connection always the same one.
fn in_threads(
    reader: &mut Reader,
    shards: usize,
    options: &Options,
    progress: &mut dyn FnMut(Option<f64>) -> ControlFlow<()>,
) -> Result<Vec<Table>, DiagnoseError> {
    std::thread::scope(|scope| {
        let mut ways: Vec<SyncSender<Vec<Seen>>> = Vec::new();
        let mut workers = Vec::new();
        for _ in 0..shards {
            let (way, packets) = sync_channel(WAITING);
            ways.push(way);
            workers.push(scope.spawn(move || take_in(&packets, options)));
        }
        let mut batches: Vec<Vec<Seen>> = vec![Vec::new(); shards];
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            let more = reader.read(&mut batch, BATCH)?;
            for seen in &batch {
                batches[shard(seen, shards)].push(*seen);
            }
            for (way, batch) in ways.iter().zip(&mut batches) {
                if batch.len() >= BATCH / 2 || !more {
                    // A worker that is gone has panicked, which joining tells.
                    let _ = way.send(std::mem::take(batch));
                }
            }
            if !more {
                break;
            }
            if progress(reader.progress()).is_break() {
                return Err(DiagnoseError::Interrupted);
            }
        }
        drop(ways);
        let join = |worker: std::thread::ScopedJoinHandle<'_, Table>| match worker.join() {
            Ok(table) => table,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok(workers.into_iter().map(join).collect())
    })
}

fn take_in(packets: &Receiver<Vec<Seen>>, options: &Options) -> Table {
    let mut table = Table::new(&options.points_of);
    for batch in packets {
        for seen in &batch {
            table.packet(seen);
        }
    }
    table
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
