//! From which side connections are opened.
//!
//! Mobile hosts are clients as a rule. If nearly all connections are opened from the WAN side, WAN and LAN are
//! probably exchanged. A connection counts once both hosts have answered each other, so a flood of SYNs with forged
//! addresses does not count.
//!
//! Limits: where servers are behind the LAN interface, the two cases look the same. Connections that were open before
//! the gateway started do not count.

/// Connections by the side that opened them, the older ones decayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Openings {
    /// Opened by a mobile host.
    pub from_lan: u64,
    /// Opened by a fixed host.
    pub from_wan: u64,
}

/// Which side sent the first SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedFrom {
    /// The side of the mobile hosts.
    Lan,
    /// The side of the fixed hosts.
    Wan,
}

impl Openings {
    /// Fewer connections give no finding.
    const ENOUGH: u64 = 20;
    /// Beyond this number both counts are halved, so that the recent ones prevail.
    const DECAYED_AT: u64 = 200;

    /// Counts a connection.
    pub fn count(&mut self, opened: OpenedFrom) {
        if self.from_lan + self.from_wan >= Openings::DECAYED_AT {
            self.from_lan /= 2;
            self.from_wan /= 2;
        }
        match opened {
            OpenedFrom::Lan => self.from_lan += 1,
            OpenedFrom::Wan => self.from_wan += 1,
        }
    }

    /// True if at least nine of ten connections, and enough of them, were opened from the WAN side.
    pub fn are_reversed(self) -> bool {
        let all = self.from_lan + self.from_wan;
        all >= Openings::ENOUGH && self.from_lan * 10 <= all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(from_lan: u64, from_wan: u64) -> Openings {
        Openings { from_lan, from_wan }
    }

    #[test]
    fn nine_of_ten_opened_from_the_wan_side_are_reversed_if_there_are_enough() {
        assert!(!opened(0, 19).are_reversed(), "too few");
        assert!(opened(0, 20).are_reversed());
        assert!(opened(2, 18).are_reversed() && !opened(3, 18).are_reversed());
        assert!(!opened(100, 0).are_reversed());
    }

    #[test]
    fn recent_connections_outweigh_old_ones() {
        let mut openings = Openings::default();
        (0..10_000).for_each(|_| openings.count(OpenedFrom::Wan));
        assert!(openings.are_reversed() && openings.from_wan <= 200, "{openings:?}");
        (0..100).for_each(|_| openings.count(OpenedFrom::Lan));
        assert!(!openings.are_reversed(), "{openings:?}");
    }
}
