//! The thread of a queue in the path: turns, orders, and trying again when the interface is back.

use super::held::Held;
use super::shaper::Shaper;
use super::stats::{InPathState, InPathStats, Quantiles};
use super::work::Work;
use super::{Drops, Follow, InPathConfig, InPathError};
use crate::{Interface, Journal, Ring, Wanted, scheduling};
use ackord_daemon::{monotonic, monotonic_nanos};
use ackord_path::Queue;
use ackord_units::{Bytes, Rate, Span, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// How often it is tried again.
const TRY_EVERY: TimeSpec = TimeSpec::new(0, 100_000_000);
/// How often others are told.
const TELL_EVERY: Span = Span::from_millis(50);

/// What a thread is told.
#[derive(Debug)]
pub(super) enum Order {
    /// Another queue, how its rate follows the link, and what both learn from.
    Change(Box<Queue>, Rate, Option<Follow>, Option<Ring>),
    Stop,
}

/// What a thread tells.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) stats: Mutex<InPathStats>,
    /// When it last gave a sign of life (CLOCK_MONOTONIC).
    pub(super) beat_nanos: AtomicU64,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared { stats: Mutex::new(nothing_yet()), beat_nanos: AtomicU64::new(0) }
    }
}

fn nothing_yet() -> InPathStats {
    InPathStats {
        state: InPathState::Stopped,
        attached: None,
        is_real_time: false,
        heartbeat_age: Span::ZERO,
        lapses: 0,
        packets_in: 0,
        bytes_in: 0,
        packets_out: 0,
        bytes_out: 0,
        control: 0,
        cut_up: 0,
        marked: 0,
        reverse: 0,
        drops: Drops::default(),
        waiting: 0,
        waiting_bytes: Bytes::ZERO,
        delay: Quantiles::default(),
        rate: Rate::from_bits_per_sec(0),
        follow: None,
    }
}

/// The thread before it runs.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) config: InPathConfig,
    pub(super) journal: Arc<Journal>,
    pub(super) shared: Arc<Shared>,
    pub(super) wake: Arc<EventFd>,
    pub(super) orders: Receiver<Order>,
}

impl Thread {
    /// Until it is told to stop; tells first whether it could begin.
    pub(super) fn run(self, queue: Queue, ready: &Sender<Result<(), InPathError>>) {
        let shaper = Shaper::new(queue, self.config.rate);
        let mut held = Held::new(shaper, self.config.memory, nothing_yet());
        held.follow_from(monotonic(), self.config.rate, self.config.follow);
        held.stats.is_real_time = self.config.real_time && scheduling::go_first().is_ok();
        let mut is_first = true;
        loop {
            let ended = match self.open(&mut held) {
                Ok(work) => {
                    let _ = ready.send(Ok(()));
                    self.work(work, &mut held)
                }
                Err((what, error)) if is_first && !is_awaited(&error) => {
                    let _ = ready.send(Err(InPathError::System { what, error }));
                    return;
                }
                Err((what, error)) => {
                    let _ = ready.send(Ok(()));
                    Err(io::Error::other(format!("{what}: {error}")))
                }
            };
            is_first = false;
            let Err(error) = ended else { break };
            let at = monotonic();
            held.discard(at, |drops, gone| drops.interface_gone += gone);
            held.shaper.unblock(at);
            if let Some(following) = &mut held.following {
                following.restart(at);
            }
            held.stats.state = InPathState::Waiting(error.to_string());
            held.stats.attached = None;
            self.tell(&mut held);
            if self.wait_and_obey(&mut held) {
                break;
            }
        }
        held.stats.state = InPathState::Stopped;
        held.stats.attached = None;
        self.tell(&mut held);
    }

    fn open(&self, held: &mut Held) -> Result<Work, (&'static str, io::Error)> {
        let secret = secret().map_err(|error| ("random numbers", error))?;
        let mut work = Work::open(&self.config, &self.journal, secret)?;
        let is_wanted = held.shaper.wants_reverse() || held.following.is_some();
        let reverse = reverse(&self.config.interface, is_wanted);
        work.watch_reverse(reverse.map_err(|error| ("a packet ring", error))?);
        held.stats.state = InPathState::Steering;
        held.stats.attached = Some(work.attached());
        // From here on packets are steered.
        work.beat(held);
        self.tell(held);
        Ok(work)
    }

    /// Until it is told to stop.
    fn work(&self, mut work: Work, held: &mut Held) -> io::Result<()> {
        let mut told_at = Time::ZERO;
        loop {
            let is_woken = work.turn(held, self.wake.as_fd())?;
            if is_woken && self.obey(held, |reverse| work.watch_reverse(reverse)) {
                // What cannot be sent any more is lost with the interface.
                let _ = work.finish(held);
                return Ok(());
            }
            let beat = monotonic_nanos();
            self.shared.beat_nanos.store(beat, Ordering::Relaxed);
            let at = Time::from_nanos(beat);
            if at.saturating_since(told_at) >= TELL_EVERY {
                self.tell(held);
                told_at = at;
            }
        }
    }

    /// Does what it is told; whether that is to stop.
    fn obey(&self, held: &mut Held, mut watch: impl FnMut(Option<Ring>)) -> bool {
        // Only to be waited for again.
        let _ = self.wake.read();
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Stop => return true,
                Order::Change(queue, rate, follow, reverse) => {
                    watch(reverse);
                    let at = monotonic();
                    let rate = held.follow_from(at, rate, follow);
                    held.shaper.change(at, *queue, rate);
                    held.settle();
                }
            }
        }
        false
    }

    fn wait_and_obey(&self, held: &mut Held) -> bool {
        let mut polled = [PollFd::new(self.wake.as_fd(), PollFlags::POLLIN)];
        let _ = ppoll(&mut polled, Some(TRY_EVERY), None);
        // A ring of the old interface is opened anew with the new one.
        self.obey(held, drop)
    }

    fn tell(&self, held: &mut Held) {
        let at = monotonic();
        held.stats.delay = held.delay.quantiles(at);
        held.stats.marked = held.shaper.marked();
        held.stats.rate = held.shaper.rate();
        held.stats.follow = held.following.as_ref().map(|following| following.stats.clone());
        let length = held.shaper.length();
        (held.stats.waiting, held.stats.waiting_bytes) = (length.packets, length.bytes);
        let mut shared = self.shared.stats.lock().unwrap_or_else(PoisonError::into_inner);
        shared.clone_from(&held.stats);
    }
}

/// True if the interface is not there yet, or down: both may change.
fn is_awaited(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO | libc::ENETDOWN))
}

/// What a queue learns from that wants it.
pub(super) fn reverse(interface: &str, is_wanted: bool) -> io::Result<Option<Ring>> {
    is_wanted.then(|| Ring::open(interface, Interface::Lan(0), Wanted::HeadersIn)).transpose()
}

/// Two numbers that nobody knows.
fn secret() -> io::Result<[u64; 2]> {
    use std::io::Read as _;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let whole = u128::from_ne_bytes(bytes);
    Ok([whole as u64, (whole >> 64) as u64])
}
