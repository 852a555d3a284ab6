//! Headers that systems and switches add: Linux's NFLOG, macOS's PKTAP, OpenBSD's pflog, directions, switch
//! tags, and InfiniBand.

use super::layers::Frame;
use super::tally::{Kind, Outcome};

impl Frame<'_> {
    /// Linux's log of its packet filter: values with lengths in the order of the machine that
    /// captured, one of which is the packet.
    pub(super) fn nflog(&mut self) -> Option<Outcome> {
        // Hook, incoming and outgoing interface (linux/netfilter/nfnetlink_log.h).
        const POINT: [u16; 3] = [1, 4, 5];
        const PAYLOAD: u16 = 9;
        let mut at = 4;
        loop {
            let head = *self.head::<4>(at)?;
            let little = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
            // Types are small: the order in which this one is.
            let (len, kind) = match little(2) & 0x7fff {
                kind @ 0..0x100 => (usize::from(little(0)), kind),
                _ => (usize::from(little(0).swap_bytes()), little(2).swap_bytes() & 0x7fff),
            };
            if kind == PAYLOAD {
                return self.ip(at + 4);
            }
            if len < 4 {
                return None;
            }
            if POINT.contains(&kind) {
                self.mix_bytes::<4>(at + 4);
            }
            at += len.next_multiple_of(4);
        }
    }

    /// What macOS puts before frames: the length of that, and the link type of the frame.
    pub(super) fn pktap(&mut self) -> Option<Outcome> {
        let head = self.head::<12>(0)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (len, link) = (word(0) as usize, word(8));
        // The interface's name, and whether the frame came in or went out.
        self.mix_bytes::<24>(12);
        self.mix(u64::from(self.head::<1>(36).map_or(0, |[flags]| flags & 3)));
        match link {
            0 | 108 => self.ip(len.checked_add(4)?),
            1 => self.ethernet(len),
            12 | 14 | 101 => self.ip(len),
            // Other numbers are the same in files, but for those above.
            other => self.behind(len, other as u16),
        }
    }

    /// Parses the log of OpenBSD's packet filter: a length, the interface's name, and the direction.
    pub(super) fn pflog(&mut self) -> Option<Outcome> {
        const DIRECTION: usize = 60;
        let len = usize::from(*self.bytes.first()?);
        self.mix_bytes::<16>(4);
        if len > DIRECTION {
            self.mix_bytes::<1>(DIRECTION);
        }
        self.ip(len.next_multiple_of(4))
    }

    /// Parses a header of `len` bytes of which the first is the direction, and what is behind it.
    pub(super) fn directed(&mut self, len: usize, link: u16) -> Option<Outcome> {
        let direction = *self.bytes.first()?;
        self.mix(1 + u64::from(direction != 0));
        self.behind(len, link)
    }

    /// Parses IP over InfiniBand: what is in the place of addresses, 40 bytes, and the header of RFC 4391.
    pub(super) fn ip_over_infiniband(&mut self) -> Option<Outcome> {
        let ether_type = self.u16(40)?;
        self.mix_bytes::<32>(8);
        self.typed(ether_type, 44)
    }

    /// Parses a packet of InfiniBand (volume 1, chapter 9) that carries IP: a whole message, of a datagram
    /// or a connection.
    pub(super) fn infiniband(&mut self) -> Option<Outcome> {
        const LOCAL_HEADER: usize = 8;
        const GLOBAL_HEADER: usize = 40;
        const TRANSPORT_HEADER: usize = 12;
        const DATAGRAM_HEADER: usize = 8;
        let mut at = LOCAL_HEADER;
        match self.bytes.get(1)? & 3 {
            2 => {}
            3 => at += GLOBAL_HEADER,
            _ => return Some(Outcome::Other(Kind::OtherEther)),
        }
        let operation = *self.bytes.get(at)?;
        at += TRANSPORT_HEADER;
        match operation {
            0x04 => {}
            0x64 => at += DATAGRAM_HEADER,
            _ => return Some(Outcome::Other(Kind::OtherEther)),
        }
        // Local identifiers of destination and source; between them is a length.
        self.mix(u64::from(self.u16(2)?) << 16 | u64::from(self.u16(6)?));
        self.typed(self.u16(at)?, at + 4)
    }

    /// Parses Broadcom's switch tag behind the addresses: its kind and the port are of the capture point.
    pub(super) fn dsa_broadcom(&mut self) -> Option<Outcome> {
        let [kind, _, _, port] = *self.head::<4>(12)?;
        self.mix_bytes::<12>(0);
        self.mix(u64::from(kind >> 5) << 8 | u64::from(port & 0x1f));
        self.typed(self.u16(16)?, 18)
    }

    /// Parses Marvell's switch tag at `at`: direction and switch, port, and VLAN are of the capture point. It
    /// takes the place of a VLAN tag.
    pub(super) fn dsa_marvell(&mut self, at: usize) -> Option<Outcome> {
        let [switch, port, vlan, more] = *self.head::<4>(at)?;
        self.mix_bytes::<12>(0);
        self.mix(u64::from(u32::from_be_bytes([switch, port >> 3, vlan & 0xf, more])));
        self.typed(self.u16(at + 4)?, at + 6)
    }
}
