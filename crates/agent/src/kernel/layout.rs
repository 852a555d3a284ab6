//! What `agent.h` has, from this side.
//!
//! Sizes are checked here, and by the tests of the programs: what the kernel's side writes is read back field by
//! field.

use std::mem::{offset_of, size_of};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Gaps between data segments that a report has at most.
pub const ARRIVALS: usize = 8;

/// The acknowledgment left by itself after a wait, for the timer expired.
pub const ALONE: u32 = 1 << 31;

/// A data segment, as it arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct RawArrival {
    /// Since the one before, us; 0 where they came together.
    pub gap_us: u32,
    /// When an acknowledgment left after it, us, and [`ALONE`]; 0 where the next segment came first.
    pub acked_us: u32,
}

/// What a program tells of a connection: `struct report` of `agent.h`, field by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
#[allow(missing_docs, reason = "agent.h says what each is")]
pub struct RawReport {
    pub cookie: u64,
    pub application: u64,
    pub cgroup: u64,
    pub at_us: u64,
    pub active_us: u64,
    pub bytes_received: u64,
    pub bytes_acked: u64,
    pub transfer_bytes: u64,
    pub opened_us: u32,
    pub nagle_us: u32,
    pub delack_us: u32,
    pub nagle_stalls: u32,
    pub delack_stalls: u32,
    pub acks_alone: u32,
    pub data_segments_in: u32,
    pub data_segments_out: u32,
    pub retransmitted: u32,
    pub dsacks: u32,
    pub reordering: u32,
    pub srtt_us: u32,
    pub mss: u32,
    pub pid: u32,
    pub delack_max_us: u32,
    pub transfer_us: u32,
    pub family: u32,
    pub local_ip: [u32; 4],
    pub remote_ip: [u32; 4],
    pub local_port: u16,
    pub remote_port: u16,
    pub class: u16,
    pub kind: u8,
    pub arm: u8,
    pub own: u8,
    pub levers: u8,
    pub way: u8,
    pub arrivals: u8,
    pub reordering_seen: u8,
    pub unused: [u8; 7],
    pub arrival: [RawArrival; ARRIVALS],
}

/// What is done for the connections of an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
#[allow(missing_docs, reason = "agent.h says what each is")]
pub struct RawClass {
    pub control_per_mille: u16,
    pub quick_segments: u16,
    pub delack_max_us: u32,
    pub nodelay: u8,
    pub unused: [u8; 3],
}

/// What is done for one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
#[allow(missing_docs, reason = "agent.h says what each is")]
pub struct RawOrder {
    pub delack_max_us: u32,
    pub quick: u8,
    pub unused: [u8; 3],
}

/// What programs count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Counts {
    /// Reports for which the ring had no room.
    pub reports_lost: u64,
    /// Levers that the kernel did not take.
    pub refused: u64,
    /// Connections that were followed.
    pub followed: u64,
    /// Levers put back by a pass over all sockets.
    pub cleaned: u64,
    /// Sockets to which a pass assigned their process.
    pub owned: u64,
}

/// What programs are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
#[allow(missing_docs, reason = "agent.h says what each is")]
pub struct RawSettings {
    pub mark: u32,
    pub report_every_us: u32,
    pub delack_stock_us: u32,
    pub by: u32,
    pub pass: u32,
    pub own_pid: u32,
    pub control_per_mille: u32,
    pub nodelay_held: u32,
    pub untreated: u32,
}

/// Process of a socket that was created before the programs were attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
#[allow(missing_docs, reason = "agent.h says what each is")]
pub struct RawOwner {
    pub program: u64,
    pub pid: u32,
    pub unused: u32,
}

/// Connections of a class that were followed, on one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
#[allow(missing_docs, reason = "agent.h says what each is")]
pub struct RawBudget {
    pub passed_over: u64,
    pub window: u32,
    pub followed: u16,
    pub late: u16,
}

const _: () = {
    assert!(size_of::<RawReport>() == 8 * 8 + 17 * 4 + 32 + 3 * 2 + 5 + 1 + 8 + 64);
    assert!(offset_of!(RawReport, arrival) % 8 == 0);
    assert!(size_of::<RawClass>() == 12);
    assert!(size_of::<RawOrder>() == 8);
    assert!(size_of::<RawSettings>() == 36);
    assert!(size_of::<RawOwner>() == 16);
};

/// A structure as programs write and read it: integers without gaps, which the derives check.
pub trait Raw: FromBytes + IntoBytes + Immutable + Sized {
    /// From what a program wrote; nothing where it is shorter.
    fn read(bytes: &[u8]) -> Option<Self> {
        Self::read_from_prefix(bytes).ok().map(|(raw, _)| raw)
    }

    /// As a program reads it.
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<T: FromBytes + IntoBytes + Immutable> Raw for T {}
