//! The schedule against a tree with keys of two words, an indexed 4-ary heap and a plain search, on the mix a simulation makes.
//!
//! Mostly the earliest entry is given its next time (a link whose head has arrived), sometimes
//! somebody else's time moves (a timer is set again). `cargo bench -p ackord-path --bench schedule`
//! prints nanoseconds per step; decision 0050 keeps the figures.
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use ackord_path::Schedule;
use ackord_units::{RandomStream, Span, Time};
use std::hint::{black_box, select_unpredictable};
use std::time::Instant;

const STEPS: u64 = 2_000_000;

/// What every candidate can do.
trait Candidate {
    fn with(ids: usize) -> Self;
    fn set(&mut self, id: u32, time: u64);
    fn earliest(&self) -> (u64, u32);
}

struct WinnerTree(Schedule);

impl Candidate for WinnerTree {
    fn with(ids: usize) -> Self {
        WinnerTree(Schedule::new(ids))
    }

    fn set(&mut self, id: u32, time: u64) {
        self.0.set(id, Time::from_nanos(time));
    }

    fn earliest(&self) -> (u64, u32) {
        let (time, id) = self.0.peek().expect("somebody is always due");
        (time.as_nanos(), id)
    }
}

/// The same tree with the time and the id in two words, as the schedule was before.
struct Binary {
    nodes: Vec<(u64, u32)>,
    leaves: usize,
}

impl Candidate for Binary {
    fn with(ids: usize) -> Self {
        let leaves = ids.next_power_of_two().max(2);
        let leaf = |node: usize| (u64::MAX - 1, node.saturating_sub(leaves) as u32);
        Binary { nodes: (0..2 * leaves).map(leaf).collect(), leaves }
    }

    fn set(&mut self, id: u32, time: u64) {
        let mut node = self.leaves + id as usize;
        let (mut due, mut whose) = (time, id);
        self.nodes[node] = (due, whose);
        while node > 1 {
            let (other_due, other) = self.nodes[node ^ 1];
            // Nodes to the left hold smaller ids, which win ties.
            let other_wins = other_due < due + (node & 1) as u64;
            due = select_unpredictable(other_wins, other_due, due);
            whose = select_unpredictable(other_wins, other, whose);
            node >>= 1;
            self.nodes[node] = (due, whose);
        }
    }

    fn earliest(&self) -> (u64, u32) {
        self.nodes[1]
    }
}

/// A heap of ids by (time, id), and where each id stands in it.
struct IndexedHeap<const ARITY: usize> {
    heap: Vec<(u64, u32)>,
    place: Vec<u32>,
}

impl<const ARITY: usize> IndexedHeap<ARITY> {
    fn put(&mut self, at: usize, entry: (u64, u32)) {
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }
}

impl<const ARITY: usize> Candidate for IndexedHeap<ARITY> {
    fn with(ids: usize) -> Self {
        let ids = ids as u32;
        IndexedHeap { heap: (0..ids).map(|id| (u64::MAX, id)).collect(), place: (0..ids).collect() }
    }

    fn set(&mut self, id: u32, time: u64) {
        let entry = (time, id);
        let mut at = self.place[id as usize] as usize;
        while at > 0 && entry < self.heap[(at - 1) / ARITY] {
            self.put(at, self.heap[(at - 1) / ARITY]);
            at = (at - 1) / ARITY;
        }
        loop {
            let first = at * ARITY + 1;
            let last = (first + ARITY).min(self.heap.len());
            let Some(least) = (first..last).min_by_key(|&child| self.heap[child]) else { break };
            if self.heap[least] >= entry {
                break;
            }
            self.put(at, self.heap[least]);
            at = least;
        }
        self.put(at, entry);
    }

    fn earliest(&self) -> (u64, u32) {
        self.heap[0]
    }
}

struct Search(Vec<u64>);

impl Candidate for Search {
    fn with(ids: usize) -> Self {
        Search(vec![u64::MAX; ids])
    }

    fn set(&mut self, id: u32, time: u64) {
        self.0[id as usize] = time;
    }

    fn earliest(&self) -> (u64, u32) {
        let (id, time) = self.0.iter().enumerate().min_by_key(|&(_, time)| time).expect("ids");
        (*time, id as u32)
    }
}

/// Nanoseconds per step, and a checksum that every candidate must share.
fn measure<C: Candidate>(ids: usize) -> (f64, u64) {
    let mut stream = RandomStream::for_element(1, "bench");
    let mut span = move || stream.uniform(Span::from_nanos(1), Span::from_millis(2)).as_nanos();
    let spans: Vec<u64> = (0..4096).map(|_| span()).collect();
    let mut candidate = C::with(ids);
    for id in 0..ids {
        candidate.set(id as u32, spans[id % 4096]);
    }
    let mut checksum = 0_u64;
    let start = Instant::now();
    for step in 0..STEPS as usize {
        let (now, id) = candidate.earliest();
        checksum = checksum.wrapping_mul(31).wrapping_add(now ^ u64::from(id));
        candidate.set(id, now + spans[step % 4096]);
        // One step in four also sets somebody else's time, as an acknowledgment does.
        if step % 4 == 0 {
            let other = (spans[(step + 7) % 4096] % ids as u64) as u32;
            candidate.set(other, now + spans[(step + 99) % 4096]);
        }
    }
    let nanos = start.elapsed().as_secs_f64() * 1e9 / STEPS as f64;
    (nanos, black_box(checksum))
}

fn best<C: Candidate>(ids: usize) -> (f64, u64) {
    (0..5).map(|_| measure::<C>(ids)).min_by(|a, b| a.0.total_cmp(&b.0)).expect("five runs")
}

fn main() {
    println!(
        "{:>6} {:>12} {:>12} {:>12} {:>12}",
        "ids", "one word", "two words", "4-ary heap", "search"
    );
    for ids in [2, 6, 16, 64, 200, 600, 2_000, 10_000] {
        let tree = best::<WinnerTree>(ids);
        let binary = best::<Binary>(ids);
        let heap = best::<IndexedHeap<4>>(ids);
        assert!(tree.1 == heap.1 && heap.1 == binary.1, "every candidate gives the same order");
        let search = if ids <= 200 { format!("{:.1}", best::<Search>(ids).0) } else { "-".into() };
        println!("{ids:>6} {:>12.1} {:>12.1} {:>12.1} {search:>12}", tree.0, binary.0, heap.0);
    }
}
