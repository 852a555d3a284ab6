//! The applications of a scenario's flows, each at its end of a connection.

use ackord_events::{EndpointId, Event, Sink, TcpState};
use ackord_scenario::Flow;
use ackord_tcp::Connection;
use ackord_traffic::{Socket, Step, Workload, Workloads};
use ackord_units::{Bytes, RandomStream, Time};

/// The applications of a flow, with the random streams of `seed`.
pub fn workloads_for(seed: u64, flow: &Flow) -> Workloads {
    let stream = |what: &str| {
        RandomStream::for_element(seed, &format!("flows/{}/traffic/{what}", flow.name))
    };
    flow.traffic.config().build(&stream)
}

/// The application at one end.
#[derive(Debug)]
pub(crate) struct App {
    endpoint: EndpointId,
    workload: Workload,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The connection is not established yet.
    Before,
    Running,
    /// It has closed, or has never had anything to do.
    Over,
}

/// What an application did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It wrote once, and may write more.
    Wrote,
    /// It wrote until the send buffer was full, for whose room it waits.
    Filled,
    /// It closed.
    Closed,
    /// It waits, or is gone.
    Nothing,
}

/// What the application sees of its connection.
struct View<'a>(&'a Connection);

impl Socket for View<'_> {
    #[inline]
    fn writable(&self) -> Bytes {
        self.0.writable()
    }

    #[inline]
    fn is_drained(&self) -> bool {
        self.0.all_acknowledged()
    }
}

impl App {
    pub(crate) fn new(endpoint: EndpointId, workload: Workload) -> App {
        let phase = if workload.is_idle() { Phase::Over } else { Phase::Before };
        App { endpoint, workload, phase }
    }

    /// It has read so much.
    #[inline]
    pub(crate) fn handle_data(&mut self, now: Time, bytes: Bytes) {
        if self.phase != Phase::Over {
            self.workload.handle_data(now, bytes);
        }
    }

    /// Lets it do what it wants to, up to its next write.
    #[inline(always)]
    pub(crate) fn act<S: Sink>(
        &mut self,
        now: Time,
        connection: &mut Connection,
        sink: &mut S,
    ) -> Act {
        match self.phase {
            Phase::Over => return Act::Nothing,
            // A peer may have finished with the very segment that completed the handshake.
            Phase::Before
                if !matches!(connection.state(), TcpState::Established | TcpState::CloseWait) =>
            {
                return Act::Nothing;
            }
            Phase::Before => {
                self.phase = Phase::Running;
                self.workload.start(now);
            }
            Phase::Running => {}
        }
        let endpoint = self.endpoint;
        loop {
            match self.workload.next(now, &View(connection)) {
                Step::Write(bytes) if connection.write(bytes) == bytes => {
                    return self.wrote(connection);
                }
                Step::Write(_) => {
                    // The connection is gone, or the peer has closed it: nobody takes any more.
                    self.phase = Phase::Over;
                    return Act::Nothing;
                }
                Step::Began(transfer) => {
                    let (index, bytes) = (transfer.index, transfer.bytes);
                    sink.emit(now, Event::TransferBegan { endpoint, index, bytes });
                }
                Step::Completed(transfer) => {
                    let (index, bytes) = (transfer.index, transfer.bytes);
                    sink.emit(now, Event::TransferCompleted { endpoint, index, bytes });
                }
                Step::Wait => return Act::Nothing,
                Step::Close => {
                    connection.close();
                    self.phase = Phase::Over;
                    return Act::Closed;
                }
            }
        }
    }

    /// What a write has come to: a bulk transfer that has filled the send buffer need not be asked again.
    #[inline]
    fn wrote(&self, connection: &Connection) -> Act {
        let waits = self.workload.waits_for_room() && connection.writable() == Bytes::ZERO;
        if waits { Act::Filled } else { Act::Wrote }
    }

    /// When it wants to act again, whatever happens.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        if self.phase == Phase::Running { self.workload.deadline() } else { None }
    }
}
