//! Which packets of an interface a kernel copies, and how much of each: a program of classic BPF.

use crate::config::MarkMatch;

/// The longest headers: Ethernet with two tags, IP and TCP with all options.
const HEADERS: u32 = 14 + 8 + 60 + 60;

/// What is wanted of the packets of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Headers of what goes out.
    HeadersOut,
    /// Headers of what comes in.
    HeadersIn,
    /// All of what goes out, headers of what comes in.
    DataOutHeadersIn,
    /// Headers of everything.
    Headers,
    /// All of everything.
    Everything,
    /// Headers of what goes out with such a mark: a ring does not tell marks, but its filter sees them.
    MarkedOut(MarkMatch),
}

impl Wanted {
    /// Octets that are copied of packets that go out and come in.
    fn octets(self) -> (u32, u32) {
        match self {
            Wanted::HeadersOut | Wanted::MarkedOut(_) => (HEADERS, 0),
            Wanted::HeadersIn => (0, HEADERS),
            Wanted::DataOutHeadersIn => (u32::MAX, HEADERS),
            Wanted::Headers => (HEADERS, HEADERS),
            Wanted::Everything => (u32::MAX, u32::MAX),
        }
    }

    /// A block holds the largest packet, or many headers.
    pub(super) fn block(self) -> usize {
        match self {
            Wanted::DataOutHeadersIn | Wanted::Everything => 1 << 17,
            Wanted::HeadersOut | Wanted::HeadersIn | Wanted::Headers | Wanted::MarkedOut(_) => {
                1 << 14
            }
        }
    }

    /// Blocks of a ring. One is handed over after a millisecond, however empty, so that so many of them are
    /// also the milliseconds for which a reader may be kept from reading. Of a marked packet that is missed
    /// there will be another of the same connection.
    pub(super) fn blocks(self) -> usize {
        match self {
            Wanted::MarkedOut(_) => 16,
            _ => 256,
        }
    }

    pub(super) fn mark(self) -> Option<MarkMatch> {
        match self {
            Wanted::MarkedOut(mark) => Some(mark),
            _ => None,
        }
    }

    /// A program of classic BPF (linux/filter.h) that answers how much of a packet is copied.
    pub(super) fn filter(self) -> Vec<libc::sock_filter> {
        let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let load = |what: libc::c_int| {
            let place = (libc::SKF_AD_OFF + what) as u32;
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, place)
        };
        let equals = |jf, k| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, jf, k);
        let answer = |octets| step(libc::BPF_RET | libc::BPF_K, 0, 0, octets);
        let (out, inwards) = self.octets();
        let has_mark = |mark: MarkMatch| {
            let masked = step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, mark.mask);
            [load(libc::SKF_AD_MARK), masked, equals(1, mark.value)]
        };
        let marked: Vec<_> = self.mark().into_iter().flat_map(has_mark).collect();
        let past_out = marked.len() as u8 + 1;
        let mut steps = vec![load(libc::SKF_AD_PKTTYPE)];
        steps.push(equals(past_out, u32::from(libc::PACKET_OUTGOING)));
        steps.extend(marked);
        steps.extend([answer(out), answer(inwards)]);
        steps
    }
}
