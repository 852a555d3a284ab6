//! What is learnt from events: how often our endpoints did what; whoever wants every event may listen.

use ackord_events::{CwndReason, Event, RecoveryKind, SegmentKind, Sink};
use ackord_units::Time;
use std::cell::RefCell;
use std::rc::Rc;

/// Told every event of a run, with its instant since the start.
pub type Observer = Box<dyn FnMut(Time, &Event<'_>)>;

/// How often things happened at our endpoints and on the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Fast recoveries entered.
    pub fast_recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Reductions of cwnd because marks came back.
    pub ecn_reductions: u64,
    /// Resets our connections sent; those that answer segments for nobody are not among them.
    pub resets: u64,
    /// Packets the path doubled.
    pub packets_doubled: u64,
}

/// The sink of a run: of our endpoints, and of the path between them.
#[derive(Clone, Default)]
pub(crate) struct Watch(Rc<RefCell<WatchState>>);

#[derive(Default)]
struct WatchState {
    counts: EventCounts,
    observer: Option<Observer>,
}

impl Watch {
    /// Tells `observer` too.
    pub(crate) fn new(observer: Option<Observer>) -> Watch {
        Watch(Rc::new(RefCell::new(WatchState { observer, ..WatchState::default() })))
    }

    /// What has happened so far.
    pub(crate) fn counts(&self) -> EventCounts {
        self.0.borrow().counts
    }
}

impl Sink for Watch {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        let WatchState { counts, observer } = &mut *self.0.borrow_mut();
        match event {
            Event::PacketDuplicated { .. } => counts.packets_doubled += 1,
            Event::RecoveryEntered { kind, .. } => {
                counts.fast_recoveries += u64::from(kind == RecoveryKind::Fast);
            }
            Event::RetransmissionTimeout { .. } => counts.timeouts += 1,
            Event::SegmentSent { kind, .. } => {
                counts.window_probes += u64::from(kind == SegmentKind::WindowProbe);
                counts.resets += u64::from(kind == SegmentKind::Reset);
            }
            Event::CwndChanged { reason, .. } => {
                counts.ecn_reductions += u64::from(reason == CwndReason::Ecn);
            }
            // Nothing that is counted here.
            Event::PacketDropped { .. }
            | Event::StateChanged { .. }
            | Event::FlowSeen { .. }
            | Event::DataDelivered { .. }
            | Event::TransferBegan { .. }
            | Event::TransferCompleted { .. }
            | Event::DatagramSent { .. }
            | Event::DatagramDelivered { .. }
            | Event::AckAdvanced { .. }
            | Event::RttSampled { .. }
            | Event::AckTimeoutChanged { .. }
            | Event::SegmentLost { .. }
            | Event::RecoveryExited { .. }
            | Event::RecoveryUndone { .. }
            | Event::RetransmissionSpurious { .. }
            | Event::R1Reached { .. }
            | Event::SegmentRefused { .. }
            | Event::PacketEnqueued { .. }
            | Event::PacketDequeued { .. }
            | Event::OutageMet { .. }
            | Event::MediumTaken { .. }
            | Event::ProxySent { .. }
            | Event::ProxyAbsorbed { .. }
            | Event::ProxyReleased { .. }
            | Event::ProxyActed { .. }
            | Event::ProxyFailed { .. }
            | Event::ProxyRestarted { .. }
            | Event::PacketTapped { .. } => {}
        }
        if let Some(observer) = observer {
            observer(at, &event);
        }
    }
}
