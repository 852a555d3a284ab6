//! Transfers out of captured packets.
//!
//! A transfer is what one direction of a connection carries between pauses longer than a limit, so
//! that a connection that stays open between requests counts as several. Its size is what its
//! sequence numbers advance by: what is retransmitted counts once, and what the capture missed counts.
//!
//! The server is the end that answers a SYN; where the capture has none, the end with the lower
//! port. Not modelled: requests that follow each other without a pause (one transfer), and other
//! connections that share a transfer.

use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Endpoints, Flags, Glimpse, Side};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A captured packet of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When, since 1970; nothing where the capture does not say.
    pub at: Option<Time>,
    /// What it says.
    pub glimpse: Glimpse,
}

/// A transfer seen in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundTransfer {
    /// The end that accepted the connection.
    pub server: SocketAddr,
    /// The end that opened it.
    pub client: SocketAddr,
    /// The end that sent the bytes.
    pub from: Side,
    /// How many.
    pub size: Bytes,
    /// When the first of them was seen.
    pub began_at: Time,
    /// When the last of them was seen.
    pub ended_at: Time,
}

/// Which direction of a connection counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The one that carried more.
    Larger,
    /// What the server sent.
    FromServer,
    /// What the client sent.
    FromClient,
    /// Each for itself.
    Both,
}

/// Finds the transfers of all connections of a capture.
#[derive(Clone, Debug)]
pub struct TransferFinder {
    idle: Span,
    counted: Counted,
    connections: BTreeMap<[SocketAddr; 2], Connection>,
    found: Vec<FoundTransfer>,
    latest: Time,
}

/// Both directions; the first is from the lower of the two addresses.
#[derive(Clone, Debug, Default)]
struct Connection {
    /// Which end is the server, if a SYN told.
    server: Option<usize>,
    directions: [Direction; 2],
}

#[derive(Clone, Debug, Default)]
struct Direction {
    /// The next sequence number.
    next: Option<Seq>,
    open: Option<Pause>,
    over: Vec<Pause>,
}

/// What came between two pauses.
#[derive(Clone, Copy, Debug)]
struct Pause {
    bytes: u64,
    began_at: Time,
    last_at: Time,
}

/// Sequence numbers that jump further belong to another connection of the same ports.
const FARTHEST: u32 = 1 << 30;

impl TransferFinder {
    /// A finder for which a pause longer than `idle` ends a transfer. Packets without a time are
    /// taken to be of the packet before them, the first ones of `without_time`.
    pub fn new(idle: Span, counted: Counted, without_time: Time) -> TransferFinder {
        TransferFinder {
            idle,
            counted,
            connections: BTreeMap::new(),
            found: Vec::new(),
            latest: without_time,
        }
    }

    /// Takes the next packet.
    pub fn handle_packet(&mut self, packet: &Captured) {
        let Glimpse { endpoints: Endpoints { src, dst }, seq, flags, payload_len } = packet.glimpse;
        let at = packet.at.unwrap_or(self.latest);
        self.latest = at;
        let ends = if src <= dst { [src, dst] } else { [dst, src] };
        let sender = usize::from(src != ends[0]);
        let syn = flags.contains(Flags::SYN);
        let opens = syn && !flags.contains(Flags::ACK);
        let data_from = if syn { seq + 1 } else { seq };
        let connection = self.connections.entry(ends).or_default();
        let again = connection.directions[sender].next.is_some_and(|next| next != data_from);
        if opens && again {
            let ended = std::mem::take(connection);
            ended.report(ends, self.counted, &mut self.found);
        }
        let connection = self.connections.entry(ends).or_default();
        if syn {
            connection.server = Some(if opens { 1 - sender } else { sender });
        }
        if flags.contains(Flags::RST) {
            // Its number is whatever makes the other end believe it.
            return;
        }
        let direction = &mut connection.directions[sender];
        let next = *direction.next.get_or_insert(data_from);
        let bytes = direction.advance(next, data_from, payload_len);
        if bytes > 0 {
            direction.carry(bytes, at, self.idle);
        }
    }

    /// Every transfer there was, those that the end of the capture cut off too, in the order in
    /// which they ended.
    pub fn finish(mut self) -> Vec<FoundTransfer> {
        for (ends, connection) in self.connections {
            connection.report(ends, self.counted, &mut self.found);
        }
        self.found.sort_by_key(|found| (found.ended_at, found.server, found.client));
        self.found
    }
}

impl Direction {
    /// New bytes that a segment tells of. One without payload (an ACK, a FIN) tells of those before
    /// it that the capture missed.
    fn advance(&mut self, next: Seq, from: Seq, payload_len: u32) -> u32 {
        let end = from + payload_len;
        let ahead = end.since(next);
        let behind = next.since(end);
        if behind < FARTHEST || payload_len == 0 && ahead >= FARTHEST {
            return 0;
        }
        self.next = Some(end);
        if ahead < FARTHEST { ahead } else { payload_len }
    }

    fn carry(&mut self, bytes: u32, at: Time, idle: Span) {
        let bytes = u64::from(bytes);
        match &mut self.open {
            Some(open) if at.saturating_since(open.last_at) <= idle => {
                open.bytes += bytes;
                open.last_at = open.last_at.max(at);
            }
            open => {
                let ended = open.replace(Pause { bytes, began_at: at, last_at: at });
                self.over.extend(ended);
            }
        }
    }

    fn total(&self) -> u64 {
        self.over.iter().chain(&self.open).map(|pause| pause.bytes).sum()
    }
}

impl Connection {
    fn report(self, ends: [SocketAddr; 2], counted: Counted, found: &mut Vec<FoundTransfer>) {
        let server = self.server.unwrap_or_else(|| server_of(ends));
        let totals = self.directions.each_ref().map(Direction::total);
        // Of equals that of the server.
        let larger = if totals[1 - server] > totals[server] { 1 - server } else { server };
        for (sender, direction) in self.directions.into_iter().enumerate() {
            let counts = match counted {
                Counted::Larger => sender == larger,
                Counted::FromServer => sender == server,
                Counted::FromClient => sender != server,
                Counted::Both => true,
            };
            if !counts {
                continue;
            }
            let from = if sender == server { Side::Server } else { Side::Client };
            found.extend(direction.over.into_iter().chain(direction.open).map(|pause| {
                FoundTransfer {
                    server: ends[server],
                    client: ends[1 - server],
                    from,
                    size: Bytes(pause.bytes),
                    began_at: pause.began_at,
                    ended_at: pause.last_at,
                }
            }));
        }
    }
}

/// The end that is probably the server where no SYN tells: the one with the lower port; of equal
/// ports the first.
pub fn server_of(ends: [SocketAddr; 2]) -> usize {
    usize::from(ends[1].port() < ends[0].port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "10.0.0.9:443";
    const CLIENT: &str = "10.0.0.1:50000";

    struct Tape(TransferFinder);

    impl Tape {
        fn new(counted: Counted) -> Tape {
            Tape(TransferFinder::new(Span::from_secs(2), counted, Time::ZERO))
        }

        fn packet(mut self, ms: u64, from: &str, flags: Flags, seq: u32, len: u32) -> Tape {
            let to = if from == SERVER { CLIENT } else { SERVER };
            let parse = |text: &str| text.parse().expect("an address");
            let endpoints = Endpoints { src: parse(from), dst: parse(to) };
            let glimpse = Glimpse { endpoints, seq: Seq(seq), flags, payload_len: len };
            let at = Some(Time::ZERO + Span::from_millis(ms));
            self.0.handle_packet(&Captured { at, glimpse });
            self
        }

        fn data(self, ms: u64, from: &str, seq: u32, len: u32) -> Tape {
            self.packet(ms, from, Flags::ACK, seq, len)
        }

        fn opened(self, ms: u64, client: u32, server: u32) -> Tape {
            self.packet(ms, CLIENT, Flags::SYN, client, 0).packet(
                ms,
                SERVER,
                Flags::SYN | Flags::ACK,
                server,
                0,
            )
        }

        fn sizes(self) -> Vec<u64> {
            self.0.finish().into_iter().map(|found| found.size.get()).collect()
        }
    }

    #[test]
    fn a_connection_that_stays_open_carries_several_transfers() {
        let tape = Tape::new(Counted::FromServer)
            .opened(0, 100, 200)
            .data(10, CLIENT, 101, 50)
            .data(20, SERVER, 201, 1_000)
            .data(1_900, SERVER, 1_201, 1_000)
            .data(3_901, SERVER, 2_201, 700);
        assert_eq!(tape.sizes(), [2_000, 700]);
    }

    #[test]
    fn retransmissions_and_probes_count_once_and_gaps_of_the_capture_count() {
        let tape = Tape::new(Counted::FromServer)
            .opened(0, 0, u32::MAX - 500)
            .data(1, SERVER, u32::MAX - 499, 1_000)
            .data(2, SERVER, u32::MAX - 499, 1_000)
            .data(3, SERVER, 499, 1)
            .data(4, SERVER, 1_500, 1_000)
            .packet(5, SERVER, Flags::ACK | Flags::FIN, 2_700, 0)
            .packet(6, SERVER, Flags::RST, 900_000, 0);
        assert_eq!(tape.sizes(), [3_200]);
    }

    #[test]
    fn ports_used_again_are_another_connection() {
        let tape = Tape::new(Counted::Larger)
            .opened(0, 100, 200)
            .data(1, SERVER, 201, 5_000)
            .opened(10, 90_000, 80_000)
            .packet(11, CLIENT, Flags::SYN, 90_000, 0)
            .data(12, SERVER, 80_001, 300);
        assert_eq!(tape.sizes(), [5_000, 300]);
    }

    #[test]
    fn the_larger_direction_counts_or_each() {
        let upload = |counted| {
            Tape::new(counted)
                .opened(0, 0, 0)
                .data(1, CLIENT, 1, 9_000)
                .data(2, SERVER, 1, 100)
                .sizes()
        };
        assert_eq!(upload(Counted::Larger), [9_000]);
        assert_eq!(upload(Counted::FromServer), [100]);
        assert_eq!(upload(Counted::FromClient), [9_000]);
        assert_eq!(upload(Counted::Both), [9_000, 100]);
    }

    #[test]
    fn a_capture_that_begins_in_the_middle_counts_from_there() {
        let tape = Tape::new(Counted::Larger).data(1, SERVER, 4_000_000_000, 1_000).data(
            2,
            SERVER,
            4_000_001_000,
            1_000,
        );
        let found = tape.0.finish();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].size, found[0].from), (Bytes(2_000), Side::Server));
        assert_eq!(found[0].server, SERVER.parse().expect("an address"));
        assert_eq!(found[0].ended_at.saturating_since(found[0].began_at), Span::from_millis(1));
    }
}
