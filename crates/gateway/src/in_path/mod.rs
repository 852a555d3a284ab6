//! A queue of `path` in a router's path, at a rate, while its process is alive.
//!
//! ```text
//!            kernel forwards
//! ══════════════════════════════► interface ═══►
//!    │ while alive: redirected      ▲ packet socket, whose packets pass
//!    └──► TAP ──► sort ──► queue ───┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `shaper.rs` | a queue and a rate |
//! | `frames.rs` | what came out of the TAP device, told apart and cut up |
//! | `held.rs` | packets on their way through the queue |
//! | `sender.rs` | the packet socket |
//! | `work.rs` | what is open while packets are steered, and one turn of it |
//! | `thread.rs` | the thread: turns, orders, trying again |
//! | `following.rs` | the rate that follows the link behind the queue |
//! | `stats.rs` | [`InPathStats`] |
//!
//! Not there: datagrams of UDP that offloading has put together (the kernel cuts them up before the TAP
//! device); priorities of packets; marks where there is no Ethernet.

mod following;
mod frames;
mod held;
mod sender;
mod shaper;
mod stats;
#[cfg(test)]
mod tests;
mod thread;
mod work;

use crate::{AttachBy, Journal};
use ackord_path::registry::{QueueChoice, QueuePlace, UnknownFlow};
use ackord_path::{Queue, QueueDiscipline as _};
use ackord_units::{Bytes, RandomStream, Rate, Span};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender as Orders;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use thread::{Order, Shared};

pub use following::{Decisions, Follow, FollowStats, RateChange};
pub use stats::{Drops, InPathState, InPathStats, Quantiles};

/// A queue in the path, and where.
#[derive(Clone, Debug)]
pub struct InPathConfig {
    /// The interface whose outgoing packets go through it.
    pub interface: String,
    /// Which queue.
    pub queue: QueueChoice,
    /// How fast it sends; at first, if it follows the link.
    pub rate: Rate,
    /// How the rate follows the link behind the queue; `None` for a constant rate.
    pub follow: Option<Follow>,
    /// How long packets travel behind it, for queues that go by that.
    pub delay: Span,
    /// What the random numbers of a queue that draws derive from.
    pub seed: u64,
    /// The most bytes that may wait, whatever the queue's own limit is.
    pub memory: Bytes,
    /// How its program is attached.
    pub attach: AttachBy,
    /// Whether its thread asks to go before all ordinary ones (SCHED_FIFO).
    pub real_time: bool,
}

/// Why there is no queue in the path.
#[derive(Debug, thiserror::Error)]
pub enum InPathError {
    /// The queue cannot be built.
    #[error("queue: {0}")]
    Queue(#[from] UnknownFlow),
    /// A rate of zero never sends.
    #[error("a rate of zero: at least 1 bit/s")]
    ZeroRate,
    /// The system does not allow it.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What came of it.
        error: io::Error,
    },
}

/// A queue in the path; dropped, it stops as [`InPath::stop`] does.
#[derive(Debug)]
pub struct InPath {
    config: InPathConfig,
    orders: Orders<Order>,
    wake: Arc<EventFd>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl InPath {
    /// Puts a queue into the path. From here on its thread sees to it that it is there whenever the interface
    /// is.
    ///
    /// # Errors
    /// If the queue cannot be built, or what it needs is not there at the first attempt. An interface that is missing
    /// or down is no error: the queue waits for it.
    pub fn start(config: InPathConfig, journal: &Arc<Journal>) -> Result<InPath, InPathError> {
        let queue = build(&config)?;
        let system = |what| move |error: io::Error| InPathError::System { what, error };
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = EventFd::from_flags(flags).map_err(|errno| system("eventfd")(errno.into()))?;
        let wake = Arc::new(wake);
        let shared = Arc::new(Shared::new());
        let (orders, taken) = std::sync::mpsc::channel();
        let (ready, told) = std::sync::mpsc::channel();
        let whole = thread::Thread {
            config: config.clone(),
            journal: Arc::clone(journal),
            shared: Arc::clone(&shared),
            wake: Arc::clone(&wake),
            orders: taken,
        };
        let named = std::thread::Builder::new().name(format!("queue-{}", config.interface));
        let thread = named.spawn(move || whole.run(queue, &ready)).map_err(system("a thread"))?;
        let handle = InPath { config, orders, wake, shared, thread: Some(thread) };
        match told.recv() {
            Ok(Ok(())) => Ok(handle),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(system("the thread")(io::Error::other("it ended"))),
        }
    }

    /// What it did so far, at most 50 ms ago.
    pub fn stats(&self) -> InPathStats {
        let mut stats = self.shared.stats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let beat = self.shared.beat_nanos.load(Ordering::Relaxed);
        let now = ackord_daemon::monotonic_nanos();
        stats.heartbeat_age = Span::from_nanos(now.saturating_sub(beat));
        stats
    }

    /// Another queue, another rate, which follows the link or is constant: what waits joins the new queue in order.
    ///
    /// # Errors
    /// If the queue cannot be built; the old one stays then.
    pub fn change(
        &mut self,
        queue: QueueChoice,
        rate: Rate,
        follow: Option<Follow>,
    ) -> Result<(), InPathError> {
        let config = InPathConfig { queue, rate, follow, ..self.config.clone() };
        let queue = build(&config)?;
        // Where the interface is gone the ring is opened when it is back.
        let is_wanted = queue.wants_reverse() || follow.is_some();
        let reverse = thread::reverse(&config.interface, is_wanted).unwrap_or(None);
        self.config = config;
        self.order(Order::Change(Box::new(queue), rate, follow, reverse));
        Ok(())
    }

    /// Sends what waits, in order and before what comes after, and takes the queue out of the path. Answers
    /// what it did.
    pub fn stop(mut self) -> InPathStats {
        self.end();
        self.stats()
    }

    fn order(&self, order: Order) {
        // A thread that has ended takes no more orders, and needs none.
        let _ = self.orders.send(order);
        let _ = self.wake.write(1);
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.order(Order::Stop);
            let _ = thread.join();
        }
    }
}

impl Drop for InPath {
    fn drop(&mut self) {
        self.end();
    }
}

fn build(config: &InPathConfig) -> Result<Queue, InPathError> {
    if config.rate.as_bits_per_sec() == 0 {
        return Err(InPathError::ZeroRate);
    }
    let context = QueuePlace {
        rate: config.rate,
        delay: config.delay,
        flow_named: &|_| None,
        stream: RandomStream::for_element(config.seed, &config.interface),
    };
    Ok(config.queue.config().build(&context)?)
}
