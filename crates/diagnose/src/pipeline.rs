//! One capture on several threads, with the result of one.
//!
//! All threads do the same: each takes the next block of the capture through all steps. The packets of a block
//! enter the tables of connections in the block's turn, so that every connection has its packets in the order
//! of the file. While one thread is at one table, others are at other tables, or read and parse.

use crate::engine::DiagnoseError;
use crate::flow::table::{Table, shard};
use crate::in_order::InOrder;
use crate::read::{Block, Blocks};
use crate::{Reader, Seen};
use ackord_units::Time;
use std::ops::ControlFlow;
use std::thread;

#[cfg(test)]
mod tests;

/// Called with the share of the bytes read, where that is known; may stop the work.
pub(crate) type Progress<'a> = dyn FnMut(Option<f64>) -> ControlFlow<()> + 'a;

/// What the threads share.
struct Pipeline<'a> {
    blocks: Blocks<'a>,
    tables: Vec<InOrder<&'a mut Table>>,
}

/// The table of a packet's connection.
#[inline]
pub(crate) fn table_of<'a>(seen: &Seen, tables: &'a mut [Table]) -> &'a mut Table {
    match tables {
        [one] => one,
        many => &mut many[shard(seen, many.len())],
    }
}

/// Takes the rest of a capture in on `jobs` threads. Returns the time of its last packet.
///
/// # Errors
/// If the capture cannot be read on, and when stopped.
pub(crate) fn take(
    reader: &mut Reader,
    tables: &mut [Table],
    jobs: usize,
    progress: &mut Progress<'_>,
) -> Result<Time, DiagnoseError> {
    let tables = tables.iter_mut().map(InOrder::new).collect();
    let pipeline = Pipeline { blocks: reader.blocks(), tables };
    let ended = thread::scope(|scope| {
        let work = || pipeline.work(&mut |_| ControlFlow::Continue(()));
        let others: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut ended = pipeline.work(progress);
        for other in others {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ended = match (ended, other) {
                (Ok(one), Ok(other)) => Ok(one.max(other)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        }
        ended
    })?;
    pipeline.blocks.finish();
    Ok(ended)
}

impl Pipeline<'_> {
    /// Takes blocks in until there are no more. Returns the time of the last packet.
    fn work(&self, progress: &mut Progress<'_>) -> Result<Time, DiagnoseError> {
        // Where this thread fails or panics the others would wait for its turns.
        let stop = StopAll(self);
        let mut block = Block::default();
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); self.tables.len()];
        let mut ended = Time::ZERO;
        while self.blocks.next(&mut block)? {
            for (place, seen) in (0..).zip(&block.seen) {
                places[shard(seen, self.tables.len())].push(place);
                ended = ended.max(seen.at);
            }
            for (table, places) in self.tables.iter().zip(&mut places) {
                table.take_turn(block.index, |table| {
                    for place in places.drain(..) {
                        table.packet(&block.seen[place as usize]);
                    }
                });
                places.clear();
            }
            if progress(self.blocks.progress()).is_break() {
                return Err(DiagnoseError::Interrupted);
            }
        }
        std::mem::forget(stop);
        Ok(ended)
    }

    fn stop(&self) {
        self.blocks.stop();
        self.tables.iter().for_each(InOrder::stop);
    }
}

/// Stops all threads unless it is forgotten.
struct StopAll<'a, 'b>(&'a Pipeline<'b>);

impl Drop for StopAll<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
