//! What is sent in an interoperation run: bytes that each end can work out for itself, so that a
//! prefix can be checked too, and checksums over what really came.
//!
//! A block of 65,536 pseudo-random bytes, drawn from seed, end and connection, is repeated with a
//! turn and a number in front, so that no two blocks are alike and nothing may be out of place.
//! `peer.py` makes the same stream by itself.

use sha2::{Digest, Sha256};

/// Bytes of a block.
pub(super) const BLOCK: usize = 65_536;
/// By how many bytes a block is turned further than the one before.
const TURN: u64 = 4_099;

/// Which end sends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Sender {
    Ours = 1,
    Kernel = 2,
}

/// The bytes that one end sends on one connection.
#[derive(Clone, Debug)]
pub(super) struct Source {
    state: u64,
    base: Vec<u8>,
    block: Vec<u8>,
    at: u64,
}

impl Source {
    /// From its beginning.
    pub(super) fn new(seed: u64, sender: Sender, connection: u64) -> Source {
        let state = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add((sender as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9))
            .wrapping_add(connection.wrapping_mul(0x94d0_49bb_1331_11eb));
        Source { state: state | 1, base: Vec::new(), block: Vec::new(), at: 0 }
    }

    /// The next bytes, at most `limit` and at most to the end of a block; [`Source::advance`] says
    /// how many were used.
    pub(super) fn peek(&mut self, limit: u64) -> &[u8] {
        let (index, inside) = (self.at / BLOCK as u64, (self.at % BLOCK as u64) as usize);
        let len = limit.min((BLOCK - inside) as u64) as usize;
        let needed = if index == 0 { inside + len } else { BLOCK };
        if self.base.len() < needed || inside == 0 || self.block.len() < inside + len {
            self.grow(needed);
            self.make_block(index);
        }
        &self.block[inside..inside + len]
    }

    /// So many bytes were used.
    pub(super) fn advance(&mut self, used: usize) {
        self.at += used as u64;
    }

    fn make_block(&mut self, index: u64) {
        let turn = if index == 0 { 0 } else { (index * TURN % BLOCK as u64) as usize };
        self.block.clear();
        self.block.extend_from_slice(&self.base[turn..]);
        self.block.extend_from_slice(&self.base[..turn]);
        let head = self.block.len().min(8);
        self.block[..head].copy_from_slice(&index.to_be_bytes()[..head]);
    }

    /// Draws more of the base (xorshift64*, Vigna 2016): a short stream needs only its beginning.
    fn grow(&mut self, len: usize) {
        while self.base.len() < len {
            let mut x = self.state;
            x ^= x >> 12;
            x ^= x << 25;
            x ^= x >> 27;
            self.state = x;
            self.base.extend_from_slice(&x.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes());
        }
    }
}

/// A SHA-256 checksum; those of several connections are put together by exclusive or, in whatever
/// order they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksum([u8; 32]);

impl Checksum {
    /// Of what a hasher has seen.
    pub(super) fn of(hasher: &Sha256) -> Checksum {
        Checksum(hasher.clone().finalize().into())
    }

    /// Of the first `len` bytes of a stream.
    pub(super) fn of_prefix(mut source: Source, len: u64) -> Checksum {
        let mut hasher = Sha256::new();
        let mut left = len;
        while left > 0 {
            let piece = source.peek(left);
            hasher.update(piece);
            let used = piece.len();
            source.advance(used);
            left -= used as u64;
        }
        Checksum::of(&hasher)
    }

    /// Adds another connection's.
    pub(super) fn join(&mut self, other: Checksum) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0) {
            *ours ^= theirs;
        }
    }

    /// 64 hexadecimal digits.
    pub(super) fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(source: &mut Source, len: usize, piece: u64) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < len {
            let bytes = source.peek(piece.min((len - all.len()) as u64)).to_vec();
            source.advance(bytes.len());
            all.extend(bytes);
        }
        all
    }

    #[test]
    fn a_stream_is_the_same_however_it_is_taken_and_no_two_are_alike() {
        let whole = take(&mut Source::new(1, Sender::Ours, 0), 300_000, u64::MAX);
        for piece in [1_000, 65_535, 7] {
            assert!(take(&mut Source::new(1, Sender::Ours, 0), 300_000, piece) == whole);
        }
        for other in [
            Source::new(2, Sender::Ours, 0),
            Source::new(1, Sender::Kernel, 0),
            Source::new(1, Sender::Ours, 1),
        ] {
            let mut other = other;
            assert!(take(&mut other, 1_000, 1_000) != whole[..1_000]);
        }
        let blocks: Vec<_> = whole.chunks(BLOCK).collect();
        assert!(blocks[0] != blocks[1] && blocks[1][8..] != blocks[2][8..]);
    }

    #[test]
    fn the_checksum_of_a_prefix_is_that_of_its_bytes() {
        let bytes = take(&mut Source::new(3, Sender::Ours, 5), 100_001, 999);
        let mut hasher = Sha256::new();
        hasher.update(&bytes);
        let expected = Checksum::of(&hasher);
        assert_eq!(Checksum::of_prefix(Source::new(3, Sender::Ours, 5), 100_001), expected);
        let mut both = expected;
        both.join(expected);
        assert_eq!(both, Checksum::default());
        // FIPS 180-4: the checksum of nothing.
        let nothing = Checksum::of_prefix(Source::new(3, Sender::Ours, 5), 0);
        assert!(nothing.hex().starts_with("e3b0c44298fc1c14"), "{}", nothing.hex());
    }
}
