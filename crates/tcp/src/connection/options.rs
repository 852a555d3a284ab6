//! What the two SYNs agree on, and the timestamps option with PAWS (RFC 7323).

use super::Connection;
use crate::config::{Config, MissingTimestamps};
use crate::ts_clock::{TimestampEcho, TsClock};
use ackord_events::RefusalReason;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{IpVersion, Options, Segment, Timestamps};

/// Options in use, known once both SYNs have been seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Agreed {
    pub(super) sack: bool,
    pub(super) window_scaling: bool,
    /// TS.Recent and when it was taken, if timestamps are in use.
    pub(super) timestamps: Option<TsRecent>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TsRecent {
    value: u32,
    taken_at: Time,
}

impl TsRecent {
    /// RFC 7323 §5.5: after so long a silence its value says nothing any more.
    #[inline]
    fn is_stale(&self, now: Time) -> bool {
        now.saturating_since(self.taken_at) >= TS_RECENT_LIFETIME
    }
}

/// RFC 7323 §5.5: TS.Recent older than this no longer refuses anything.
const TS_RECENT_LIFETIME: Span = Span::from_secs(24 * 24 * 3600);

/// No MSS of a peer's is taken for less.
const SMALLEST_MSS: u16 = 48;

/// The shift to offer.
pub(super) fn scale_for(config: &Config) -> u8 {
    if config.offers.window_scaling { config.buffers.window_shift() } else { 0 }
}

impl Connection {
    /// Options of our SYN or SYN-ACK. A SYN-ACK carries only what the SYN offered.
    pub(super) fn syn_options(&self, now: Time, answers: bool) -> Options {
        let offers = self.config.offers;
        let wants = |offer: bool, agreed: bool| offer && (!answers || agreed);
        let timestamps = wants(offers.timestamps, self.agreed.timestamps.is_some());
        Options {
            mss: Some(self.config.mss.get().min(u64::from(u16::MAX)) as u16),
            window_scale: wants(offers.window_scaling, self.agreed.window_scaling)
                .then_some(self.receiver.scale),
            sack_permitted: wants(offers.sack, self.agreed.sack),
            timestamps: timestamps.then(|| self.timestamps(now)),
            ..Options::default()
        }
    }

    /// The timestamps option for a segment leaving now; TSecr is zero before anything came.
    pub(super) fn timestamps(&self, now: Time) -> Timestamps {
        Timestamps {
            value: self.ts_clock().at(now),
            echo: self.agreed.timestamps.map_or(0, |recent| recent.value),
        }
    }

    fn ts_clock(&self) -> TsClock {
        let tick = self.config.rto.granularity;
        match self.config.timestamp_offset {
            Some(offset) => TsClock::from_offset(tick, offset),
            None => TsClock::new(tick, self.sender.queue().iss()),
        }
    }

    /// Takes in the peer's SYN: sizes and options.
    pub(super) fn agree(&mut self, now: Time, syn: &Segment) {
        let offers = self.config.offers;
        let peer = &syn.options;
        self.agreed.sack = offers.sack && peer.sack_permitted;
        let timestamps = peer.timestamps.filter(|_| offers.timestamps);
        self.agreed.timestamps =
            timestamps.map(|stamps| TsRecent { value: stamps.value, taken_at: now });
        let scale = peer.window_scale.filter(|_| offers.window_scaling);
        self.agreed.window_scaling = scale.is_some();
        match scale {
            // RFC 7323 §2.3: a larger shift is taken as 14.
            Some(shift) => self.sender.set_peer_scale(shift.min(14)),
            None => self.receiver.scale = 0,
        }
        // RFC 9293 §3.7.1: 536 bytes if the peer said nothing, over IPv6 1220; RFC 6691: options
        // that every segment carries come out of it. Less than 48 is nobody's MSS, but would make
        // segments of next to nothing (Linux's tcp_min_snd_mss).
        let unsaid = match self.config.ip {
            IpVersion::V4 => 536,
            IpVersion::V6 => 1220,
        };
        let peer_mss = Bytes(u64::from(peer.mss.map_or(unsaid, |mss| mss.max(SMALLEST_MSS))));
        let stamps = if self.agreed.timestamps.is_some() { Bytes(12) } else { Bytes::ZERO };
        self.sender.set_smss(self.config.mss.min(peer_mss).saturating_sub(stamps).max(Bytes(1)));
        // What full-sized segments of the peer carry at least: otherwise every second one of 524
        // bytes (an MSS of 536, with timestamps) would not count as such.
        let smallest = self.receiver.full_size.min(self.config.mss);
        self.receiver.full_size = smallest.saturating_sub(stamps).max(Bytes(1));
        let clock = self.agreed.timestamps.is_some().then(|| self.ts_clock());
        self.sender.agree(self.agreed.sack, clock);
    }

    /// Why a segment that is no reset is refused for its timestamp, or for want of one: RFC 7323
    /// §5.3 R1 (PAWS), §3.2.
    #[inline]
    pub(super) fn refused_for_timestamp(
        &self,
        now: Time,
        segment: &Segment,
    ) -> Option<RefusalReason> {
        let recent = self.agreed.timestamps?;
        let Some(stamps) = segment.options.timestamps else {
            let drop = self.config.missing_timestamps == MissingTimestamps::Drop;
            return drop.then_some(RefusalReason::NoTimestamp);
        };
        let older = (stamps.value.wrapping_sub(recent.value) as i32) < 0;
        (older && !recent.is_stale(now)).then_some(RefusalReason::OldTimestamp)
    }

    /// Whether nothing is to be said against a segment for its timestamp, at a glance.
    #[inline]
    pub(super) fn is_no_older(&self, segment: &Segment) -> bool {
        let Some(recent) = &self.agreed.timestamps else { return true };
        let stamps = &segment.options.timestamps;
        stamps.is_some_and(|stamps| (stamps.value.wrapping_sub(recent.value) as i32) >= 0)
    }

    /// TS.Recent, where timestamps are in use.
    pub(super) fn ts_recent(&self) -> Option<u32> {
        self.agreed.timestamps.map(|recent| recent.value)
    }

    /// Whether this end would agree on timestamps.
    pub(super) fn offers_timestamps(&self) -> bool {
        self.config.offers.timestamps
    }

    /// RFC 7323 §4.3: TS.Recent follows the segment that the last acknowledgment asked for.
    #[inline]
    pub(super) fn note_timestamp(&mut self, now: Time, segment: &Segment) {
        if let (Some(recent), Some(stamps)) =
            (&mut self.agreed.timestamps, segment.options.timestamps)
        {
            let newer = (stamps.value.wrapping_sub(recent.value) as i32) >= 0;
            if (newer || recent.is_stale(now))
                && segment.seq.at_or_before(self.receiver.last_ack_sent)
            {
                *recent = TsRecent { value: stamps.value, taken_at: now };
            }
        }
    }

    /// The echo of our own clock that a segment carries (RFC 7323 §4.1).
    #[inline]
    pub(super) fn timestamp_echo(&self, segment: &Segment) -> Option<TimestampEcho> {
        self.agreed.timestamps?;
        let value = segment.options.timestamps?.echo;
        Some(TimestampEcho { value, clock: self.ts_clock() })
    }

    /// Round-trip time by the echo of our own clock, to the tick.
    #[inline]
    pub(super) fn timestamp_rtt(&self, now: Time, segment: &Segment) -> Option<Span> {
        self.timestamp_echo(segment)?.rtt(now)
    }
}
