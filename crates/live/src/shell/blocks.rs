//! Where a shell's addresses come from: blocks within blocks, so that a shell inside a shell is
//! routed like any other network, without translation.
//!
//! ```text
//! 100.64.0.0/10                 the shared address space of RFC 6598, which nobody else routes
//!   100.64+k.0.0/16             a shell: .0.1 is the base, outside; .0.2 is inside
//!     100.64+k.16j.0/20         a shell in it, j = 1 to 15; the parent's own addresses are in j = 0
//!       100.64+k.16j+i.0/24     a shell in that
//!         100.64+k.16j+i.16m/28 and a last one
//! ```
//!
//! IPv6 is the same number at the end of a unique local prefix (RFC 4193), so that one plan serves
//! both. Its 40 bits are not random: they are the same on every machine, as the plan of IPv4 is,
//! and nothing of it leaves the machine.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses that belongs to one shell and the shells within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    network: u32,
    /// How many of its bits are the network's: 16, 20, 24 or 28; 10 for all of them together.
    bits: u8,
}

/// `fd61:636b:6f72:6400::/96`: in front of an IPv4 address of the plan.
const ULA: u128 = 0xfd61_636b_6f72_6400 << 64;
/// Bits of it.
const ULA_BITS: u8 = 96;

impl Block {
    /// What the blocks of shells that are in no other shell are taken from.
    pub(crate) const ALL: Block = Block { network: 0x6440_0000, bits: 10 };

    /// The blocks that shells within this one may have, in order; none in the smallest.
    pub(crate) fn children(self) -> impl Iterator<Item = Block> {
        let (bits, first) = match self.bits {
            10 => (16, 0),
            16 | 20 | 24 => (self.bits + 4, 1),
            _ => (32, 1),
        };
        let count = if bits < 32 { 1_u32 << (bits - self.bits) } else { 0 };
        let step = 1_u32.checked_shl(32 - u32::from(bits)).unwrap_or(0);
        (first..count).map(move |index| Block { network: self.network + index * step, bits })
    }

    /// The block of the shell whose inside has this address with a prefix of so many bits.
    pub(crate) fn of_inside(address: Ipv4Addr, prefix_bits: u8) -> Option<Block> {
        let block = Block { network: u32::from(address).wrapping_sub(INSIDE), bits: prefix_bits };
        let known = matches!(prefix_bits, 16 | 20 | 24 | 28);
        let aligned = known && block.network & (u32::MAX >> prefix_bits) == 0;
        (aligned && Block::ALL.contains(IpAddr::V4(address))).then_some(block)
    }

    /// How many of an address's bits are the block's.
    pub(crate) fn bits(self) -> u8 {
        self.bits
    }

    /// The block of the shell that this one is in, however many there are between.
    pub(crate) fn outermost(self) -> Block {
        Block { network: self.network & 0xffff_0000, bits: 16 }
    }

    /// How many shells one is in, counting from one for a shell in no other.
    pub fn depth(self) -> u32 {
        u32::from(self.bits.saturating_sub(12) / 4)
    }

    /// The address outside, of the caller, as seen from inside.
    pub fn base(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network + BASE)
    }

    /// The address inside.
    pub fn inside(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network + INSIDE)
    }

    /// [`Block::base`] in IPv6.
    pub fn base_v6(self) -> Ipv6Addr {
        in_v6(self.base())
    }

    /// [`Block::inside`] in IPv6.
    pub fn inside_v6(self) -> Ipv6Addr {
        in_v6(self.inside())
    }

    /// The addresses outside with the lengths of their prefixes.
    pub(crate) fn outside_addresses(self) -> Vec<(IpAddr, u8)> {
        vec![(self.base().into(), self.bits), (self.base_v6().into(), ULA_BITS + self.bits)]
    }

    /// The addresses inside with the lengths of their prefixes.
    pub(crate) fn inside_addresses(self) -> Vec<(IpAddr, u8)> {
        vec![(self.inside().into(), self.bits), (self.inside_v6().into(), ULA_BITS + self.bits)]
    }

    /// Whether an address is one of the block's, in either family.
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        let v4 = match address {
            IpAddr::V4(v4) => u32::from(v4),
            IpAddr::V6(v6) if u128::from(v6) >> 32 == ULA >> 32 => u128::from(v6) as u32,
            IpAddr::V6(_) => return false,
        };
        (v4 ^ self.network) >> (32 - u32::from(self.bits)) == 0
    }

    /// Whether a network of IPv4 has addresses in common with the block.
    pub(crate) fn overlaps(self, network: Ipv4Addr, bits: u8) -> bool {
        let shared = u32::from(self.bits.min(bits));
        (u32::from(network) ^ self.network).checked_shr(32 - shared).unwrap_or(0) == 0
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.network), self.bits)
    }
}

/// The base's number in its block.
const BASE: u32 = 1;
/// The inside's number in its block.
const INSIDE: u32 = 2;

fn in_v6(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from(ULA | u128::from(u32::from(address)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn shells_nest_four_deep_and_no_address_is_given_twice() {
        let mut block = Block::ALL;
        let mut seen = BTreeSet::new();
        let mut path = Vec::new();
        for depth in 1..=4 {
            block = block.children().last().expect("a place for another");
            assert_eq!(block.depth(), depth);
            assert!(seen.insert(block.base()) && seen.insert(block.inside()));
            path.push(block.to_string());
        }
        let whole =
            ["100.127.0.0/16", "100.127.240.0/20", "100.127.255.0/24", "100.127.255.240/28"];
        assert_eq!(path, whole);
        assert_eq!(block.outermost().to_string(), path[0]);
        assert_eq!(block.children().count(), 0, "the smallest block has no room");
        assert_eq!(Block::ALL.children().count(), 64);
    }

    #[test]
    fn a_child_lies_in_its_parent_and_holds_neither_of_its_addresses() {
        for parent in Block::ALL.children() {
            for child in parent.children() {
                assert!(parent.contains(child.base().into()) && child.base() != parent.base());
                assert!(!child.contains(parent.base().into()));
                assert!(!child.contains(parent.inside().into()));
                assert!(child.overlaps(parent.base(), 16) && !child.overlaps(parent.base(), 32));
            }
        }
    }

    #[test]
    fn a_block_is_found_again_from_the_address_inside_and_from_no_other() {
        let mut block = Block::ALL;
        while let Some(child) = block.children().nth(3) {
            let (IpAddr::V4(inside), bits) = child.inside_addresses()[0] else {
                panic!("v4 first")
            };
            assert_eq!(Block::of_inside(inside, bits), Some(child));
            assert_eq!(Block::of_inside(child.base(), bits), None);
            assert_eq!(Block::of_inside(inside, bits + 1), None);
            block = child;
        }
        assert_eq!(Block::of_inside(Ipv4Addr::new(10, 77, 0, 2), 16), None);
        assert_eq!(Block::of_inside(Ipv4Addr::new(100, 128, 0, 2), 16), None);
    }

    #[test]
    fn both_families_follow_the_same_plan() {
        let block = Block::ALL.children().nth(5).and_then(|b| b.children().nth(1)).expect("room");
        assert_eq!(block.inside().to_string(), "100.69.32.2");
        assert_eq!(block.inside_v6().to_string(), "fd61:636b:6f72:6400::6445:2002");
        assert!(block.contains(block.base_v6().into()) && block.contains(block.base().into()));
        assert!(!block.contains("fd77::6445:2002".parse().expect("an address")));
        assert_eq!(block.inside_addresses()[1].1, 116);
    }
}
