//! What the emulator learns from events: which packets there are no more, or once more, and which
//! pass a tap.

use super::bytes::{Bytes, Found};
use super::classify::FlowTable;
use ackord_events::{Event, Sink, TapPoint};
use ackord_sim::FOREIGN;
use ackord_units::Time;
use ackord_wire::Packet;

/// A packet that passes a tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tapped<'a> {
    /// When, since the start of the run.
    pub at: Time,
    /// Where.
    pub tap: TapPoint,
    /// The IP packet, real bytes; cut off after the headers where a middlebox made it and the
    /// payload is not known.
    pub bytes: &'a [u8],
    /// Bytes of the whole packet.
    pub original_len: u32,
}

/// Told of every packet that passes a tap.
pub type TapObserver = Box<dyn FnMut(Tapped<'_>)>;

/// What has become of a packet of a foreign host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyChange {
    /// It died, or a middlebox took it in.
    Gone,
    /// There is one more: doubled, or sent (again) by a middlebox.
    Again,
}

/// The emulator's sink around the caller's.
pub(crate) struct Watching<'a, S> {
    inner: &'a mut S,
    changes: &'a mut Vec<(u64, CopyChange)>,
    taps: Option<&'a mut TapObserver>,
    bytes: &'a mut Bytes,
    flows: &'a FlowTable,
}

impl<'a, S> Watching<'a, S> {
    pub(crate) fn new(
        inner: &'a mut S,
        changes: &'a mut Vec<(u64, CopyChange)>,
        (taps, bytes, flows): (&'a mut Option<TapObserver>, &'a mut Bytes, &'a FlowTable),
    ) -> Watching<'a, S> {
        Watching { inner, changes, taps: taps.as_mut(), bytes, flows }
    }

    #[inline]
    fn change(&mut self, packet: &Packet, change: CopyChange) {
        if packet.tag & FOREIGN != 0 {
            self.changes.push((packet.tag, change));
        }
    }

    fn tap(&mut self, at: Time, tap: TapPoint, packet: &Packet) {
        let Some(observer) = &mut self.taps else { return };
        let original_len = packet.ip_len;
        match self.bytes.of(packet, self.flows) {
            Found::Kept(bytes, _) | Found::Made(bytes) | Found::HeaderOnly(bytes) => {
                observer(Tapped { at, tap, bytes, original_len });
            }
            Found::Nothing => {}
        }
    }
}

impl<S: Sink> Sink for Watching<'_, S> {
    #[inline]
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::PacketDropped { packet, .. } | Event::ProxyAbsorbed { packet, .. } => {
                self.change(packet, CopyChange::Gone);
            }
            Event::PacketDuplicated { packet, .. }
            | Event::ProxySent { packet, .. }
            | Event::ProxyReleased { packet, .. } => self.change(packet, CopyChange::Again),
            Event::PacketTapped { tap, packet } => self.tap(at, tap, packet),
            // No packet more or less, and no tap.
            Event::StateChanged { .. }
            | Event::FlowSeen { .. }
            | Event::SegmentSent { .. }
            | Event::DataDelivered { .. }
            | Event::TransferBegan { .. }
            | Event::TransferCompleted { .. }
            | Event::DatagramSent { .. }
            | Event::DatagramDelivered { .. }
            | Event::AckAdvanced { .. }
            | Event::CwndChanged { .. }
            | Event::RttSampled { .. }
            | Event::AckTimeoutChanged { .. }
            | Event::SegmentLost { .. }
            | Event::RecoveryEntered { .. }
            | Event::RecoveryExited { .. }
            | Event::RecoveryUndone { .. }
            | Event::RetransmissionSpurious { .. }
            | Event::RetransmissionTimeout { .. }
            | Event::R1Reached { .. }
            | Event::SegmentRefused { .. }
            | Event::PacketEnqueued { .. }
            | Event::PacketDequeued { .. }
            | Event::OutageMet { .. }
            | Event::MediumTaken { .. }
            | Event::ProxyActed { .. }
            | Event::ProxyFailed { .. }
            | Event::ProxyRestarted { .. } => {}
        }
        self.inner.emit(at, event);
    }
}
