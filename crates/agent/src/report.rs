//! What the programs tell of a connection, in words of this side.

use crate::kernel::layout::{ALONE, ARRIVALS, RawArrival, RawReport};
use ackord_units::{Bytes, Span, Time};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Why a report is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A connection was established.
    Opened,
    /// It goes on.
    Sample,
    /// It is closed.
    Closed,
}

/// Which group a connection belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// Nothing was to be done when it began.
    Observed,
    /// It gets what its application gets.
    Treated,
    /// It is left alone, to be compared with.
    Control,
}

/// Options that the application has set itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own(pub u8);

impl Own {
    /// TCP_NODELAY, on or off.
    pub const NODELAY: u8 = 1;
    /// TCP_QUICKACK.
    pub const QUICKACK: u8 = 2;
    /// TCP_DELACK_MAX_US.
    pub const DELACK: u8 = 4;
    /// SO_MARK.
    pub const MARK: u8 = 8;

    /// Whether this one is among them.
    pub fn has(self, option: u8) -> bool {
        self.0 & option != 0
    }

    /// Their names, as setsockopt(2) has them.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (Own::NODELAY, "TCP_NODELAY"),
            (Own::QUICKACK, "TCP_QUICKACK"),
            (Own::DELACK, "TCP_DELACK_MAX_US"),
            (Own::MARK, "SO_MARK"),
        ];
        all.into_iter().filter(|(option, _)| self.has(*option)).map(|(_, name)| name).collect()
    }
}

/// A data segment, as it arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Since the one before; none where they came together.
    pub gap: Span,
    /// The acknowledgment that left before the next one came, if one did.
    pub ack: Option<Acked>,
}

/// An acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// How long after the segment.
    pub after: Span,
    /// It carried nothing else, and left because a timer expired.
    pub alone: bool,
}

/// What has been counted of a connection since it was followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Time in exchanges: gaps between packets of less than 300 ms.
    pub active: Span,
    /// Bytes that came and that were acknowledged.
    pub bytes: u64,
    /// Time that small writes were held by Nagle's algorithm, waits of 10 ms and more.
    pub nagle: Span,
    /// How often.
    pub nagle_stalls: u32,
    /// Time that the peer waited for delayed acknowledgments of this host, likewise.
    pub delack: Span,
    /// How often.
    pub delack_stalls: u32,
    /// Data segments, both ways.
    pub segments: u32,
    /// Of these, those that this host sent, retransmissions included.
    pub sent: u32,
}

impl Figures {
    /// What has come since.
    #[must_use]
    pub fn since(self, before: Figures) -> Figures {
        Figures {
            active: self.active.saturating_sub(before.active),
            bytes: self.bytes.saturating_sub(before.bytes),
            nagle: self.nagle.saturating_sub(before.nagle),
            nagle_stalls: self.nagle_stalls.wrapping_sub(before.nagle_stalls),
            delack: self.delack.saturating_sub(before.delack),
            delack_stalls: self.delack_stalls.wrapping_sub(before.delack_stalls),
            segments: self.segments.wrapping_sub(before.segments),
            sent: self.sent.wrapping_sub(before.sent),
        }
    }

    /// Both together. 584 years are as much as there can be, which a hundred thousand connections have in two days.
    #[must_use]
    pub fn plus(self, other: Figures) -> Figures {
        let span = |one: Span, other: Span| {
            Span::from_nanos(one.as_nanos().saturating_add(other.as_nanos()))
        };
        Figures {
            active: span(self.active, other.active),
            bytes: self.bytes.saturating_add(other.bytes),
            nagle: span(self.nagle, other.nagle),
            nagle_stalls: self.nagle_stalls.saturating_add(other.nagle_stalls),
            delack: span(self.delack, other.delack),
            delack_stalls: self.delack_stalls.saturating_add(other.delack_stalls),
            segments: self.segments.saturating_add(other.segments),
            sent: self.sent.saturating_add(other.sent),
        }
    }
}

/// A transfer towards this host that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// Bytes received.
    pub size: Bytes,
    /// From the first segment to the last.
    pub took: Span,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Why it was made.
    pub kind: Kind,
    /// Which socket.
    pub cookie: u64,
    /// What tells its application apart in the kernel; 0 where that is not known.
    pub application: u64,
    /// Its control group, as the kernel numbers it.
    pub cgroup: u64,
    /// The process that made the socket; 0 where that is not known.
    pub pid: u32,
    /// When, since boot.
    pub at: Time,
    /// What was counted.
    pub figures: Figures,
    /// The smoothed round-trip time.
    pub srtt: Span,
    /// The largest segment.
    pub mss: Bytes,
    /// Both ends, this host's first; only of connections that open, are adopted or close.
    pub ends: Option<(SocketAddr, SocketAddr)>,
    /// The class it was given.
    pub class: u16,
    /// Its group.
    pub arm: Arm,
    /// Options that are the application's.
    pub own: Own,
    /// Levers at work, as bits.
    pub levers: u8,
    /// Whether it was there before the agent.
    pub was_there: bool,
    /// Whether it was passed over when it began, and is followed since it became old enough for a stall.
    pub is_late: bool,
    /// The bound of its delayed acknowledgments; none where it is the kernel's own.
    pub delack_max: Option<Span>,
    /// A transfer that is over.
    pub transfer: Option<Transferred>,
    /// Segments retransmitted, and duplicate SACKs that came back.
    pub retransmitted: u32,
    /// Duplicate SACKs (RFC 2883): retransmissions that were not needed.
    pub dsacks: u32,
    /// The kernel's measure of reordering, segments, where any was seen.
    pub reordering: Option<u32>,
    arrivals: [Arrived; ARRIVALS],
    arrived: usize,
}

impl Report {
    /// What a program wrote; nothing where that is no report.
    pub fn of(raw: &RawReport) -> Option<Report> {
        let kind = match raw.kind {
            1 => Kind::Opened,
            2 => Kind::Sample,
            3 => Kind::Closed,
            _ => return None,
        };
        let micros = |value: u32| Span::from_micros(u64::from(value));
        let figures = Figures {
            active: Span::from_micros(raw.active_us),
            bytes: raw.bytes_received.saturating_add(raw.bytes_acked),
            nagle: micros(raw.nagle_us),
            nagle_stalls: raw.nagle_stalls,
            delack: micros(raw.delack_us),
            delack_stalls: raw.delack_stalls,
            segments: raw.data_segments_in.saturating_add(raw.data_segments_out),
            sent: raw.data_segments_out,
        };
        let arrived = |one: RawArrival| Arrived {
            gap: micros(one.gap_us),
            ack: (one.acked_us != 0).then(|| Acked {
                after: micros(one.acked_us & !ALONE),
                alone: one.acked_us & ALONE != 0,
            }),
        };
        let transfer = (raw.transfer_bytes > 0).then(|| Transferred {
            size: Bytes(raw.transfer_bytes),
            took: micros(raw.transfer_us),
        });
        Some(Report {
            kind,
            cookie: raw.cookie,
            application: raw.application,
            cgroup: raw.cgroup,
            pid: raw.pid,
            at: Time::from_nanos(raw.at_us.saturating_mul(1_000)),
            figures,
            srtt: micros(raw.srtt_us),
            mss: Bytes(u64::from(raw.mss)),
            ends: ends(raw),
            class: raw.class,
            arm: match raw.arm {
                1 => Arm::Treated,
                2 => Arm::Control,
                _ => Arm::Observed,
            },
            own: Own(raw.own),
            levers: raw.levers,
            was_there: raw.way == 3,
            is_late: raw.way == 4,
            delack_max: (raw.delack_max_us > 0).then(|| micros(raw.delack_max_us)),
            transfer,
            retransmitted: raw.retransmitted,
            dsacks: raw.dsacks,
            reordering: (raw.reordering_seen > 0).then_some(raw.reordering),
            arrivals: raw.arrival.map(arrived),
            arrived: usize::from(raw.arrivals).min(ARRIVALS),
        })
    }

    /// Data segments that came since the report before, as many as were kept.
    pub fn arrivals(&self) -> &[Arrived] {
        &self.arrivals[..self.arrived]
    }
}

fn ends(raw: &RawReport) -> Option<(SocketAddr, SocketAddr)> {
    let address = |words: [u32; 4]| {
        let mut bytes = [0; 16];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        match raw.family as libc::c_int {
            libc::AF_INET => {
                Some(IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])))
            }
            libc::AF_INET6 => Some(Ipv6Addr::from(bytes).to_canonical()),
            _ => None,
        }
    };
    let local = SocketAddr::new(address(raw.local_ip)?, raw.local_port);
    Some((local, SocketAddr::new(address(raw.remote_ip)?, raw.remote_port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_very_many_connections_stop_where_they_cannot_grow() {
        let year = Span::from_secs(365 * 86_400);
        let one = Figures {
            active: year,
            nagle: year,
            delack: year,
            bytes: 1 << 60,
            ..Figures::default()
        };
        let all = (0..1_000).fold(Figures::default(), |all, _| all.plus(one));
        let most = Span::from_nanos(u64::MAX);
        assert_eq!((all.active, all.nagle, all.delack, all.bytes), (most, most, most, u64::MAX));
    }

    #[test]
    fn a_report_is_read_field_by_field() {
        let mut raw =
            RawReport { kind: 3, cookie: 7, family: 2, arrivals: 200, ..RawReport::default() };
        raw.local_ip[0] = u32::from_ne_bytes([192, 0, 2, 1]);
        raw.remote_ip[0] = u32::from_ne_bytes([198, 51, 100, 9]);
        (raw.local_port, raw.remote_port) = (50_000, 443);
        (raw.bytes_received, raw.bytes_acked, raw.active_us) = (5, 6, 9);
        let report = Report::of(&raw).expect("a report");
        assert_eq!((report.kind, report.cookie), (Kind::Closed, 7));
        let ends = ["192.0.2.1:50000", "198.51.100.9:443"].map(|end| end.parse().expect("one"));
        assert_eq!(report.ends, Some((ends[0], ends[1])));
        assert_eq!((report.figures.bytes, report.figures.active), (11, Span::from_micros(9)));
        assert_eq!(report.arrivals().len(), ARRIVALS, "no more than there can be");
        assert_eq!(Report::of(&RawReport::default()), None);
    }

    #[test]
    fn an_ipv4_address_of_an_ipv6_socket_is_one_of_ipv4() {
        let mut raw = RawReport { kind: 1, family: 10, ..RawReport::default() };
        raw.local_ip =
            [0, 0, u32::from_ne_bytes([0, 0, 255, 255]), u32::from_ne_bytes([192, 0, 2, 1])];
        let (local, remote) = Report::of(&raw).and_then(|report| report.ends).expect("ends");
        assert_eq!(local.ip().to_string(), "192.0.2.1");
        assert_eq!(remote.ip().to_string(), "::");
    }
}
