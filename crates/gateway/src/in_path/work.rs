//! What is open while packets are steered, and one turn of it.

use super::InPathConfig;
use super::frames::{Frame, Sorter, VnetHeader};
use super::held::Held;
use super::sender::{Sender, Sent};
use crate::bpf::{Attachment, Heartbeat, Point, Steer};
use crate::device::{Control, Present, Tap, link_kind};
use crate::netlink::Netlink;
use crate::{Journal, Ring};
use ackord_daemon::{monotonic, monotonic_nanos};
use ackord_units::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Packets read before others get their turn.
const READS_IN_A_ROW: usize = 64;
/// And the time after which they do, whatever there is to read: a sign of life has to be given.
const READS_AT_MOST: Span = Span::from_millis(2);
/// How often the interface is looked at.
const LOOK_EVERY: Span = Span::from_millis(50);
/// A process that was stopped for longer finds packets that nobody waits for any more.
const STALE: Span = Span::from_millis(250);
/// An interface that takes nothing for so long is given up.
const BLOCKED: Span = Span::from_millis(200);
/// As many packets in a row that the interface's own queue has dropped are a storm.
const STORM: u32 = 10_000;

/// A packet of so many bytes keeps the buffer it was read into.
const WORTH_A_BUFFER: usize = 1 << 14;
/// Buffers kept for later.
const SPARE: usize = 64;

/// What is open while packets are steered. In this order: what steers goes before where it leads.
#[derive(Debug)]
pub(super) struct Work {
    heartbeat: Heartbeat,
    attachment: Attachment,
    tap: Tap,
    sender: Sender,
    reverse: Option<Ring>,
    sorter: Sorter,
    control: Control,
    netlink: Netlink,
    tap_dropped: u64,
    name: String,
    present: Present,
    beaten_at: Time,
    looked_at: Time,
    blocked_at: Option<Time>,
    dropped_in_a_row: u32,
    buffer: Vec<u8>,
    /// Others of its length.
    spare: Vec<Vec<u8>>,
}

impl Work {
    /// # Errors
    /// Where the interface is not there or down, or the system does not allow it: what was tried, and why.
    pub(super) fn open(
        config: &InPathConfig,
        journal: &Arc<Journal>,
        secret: [u64; 2],
    ) -> Result<Work, (&'static str, io::Error)> {
        let at = |what| move |error: io::Error| (what, error);
        let system = |what| move |errno: Errno| (what, io::Error::from(errno));
        let control = Control::open().map_err(at("a socket"))?;
        let present = control.present(&config.interface).map_err(system("the interface"))?;
        if !present.is_up {
            return Err(("the interface", Errno::ENETDOWN.into()));
        }
        let kind = link_kind(present.hardware)
            .ok_or(("the interface", io::Error::other("links of its type are not understood")))?;
        let tap = Tap::open(kind).map_err(at("a TAP device"))?;
        let sender = Sender::open(present.index, kind).map_err(at("a packet socket"))?;
        let heartbeat = Heartbeat::new().map_err(at("a BPF map"))?;
        let cookie = sender.cookie().map_err(system("the socket's cookie"))?;
        let steer = Steer { to: tap.index, cookie, secret: secret[0], kind };
        let program = steer.load(&heartbeat).map_err(at("a BPF program"))?;
        let place = (present.index, Point::Egress);
        let attachment = Attachment::new(&program, place, config.attach, journal)
            .map_err(at("attaching a BPF program"))?;
        let sorter = Sorter { kind, tap: tap.address, steer, salt: secret[1] };
        Ok(Work {
            heartbeat,
            attachment,
            tap,
            sender,
            reverse: None,
            sorter,
            control,
            netlink: Netlink::open().map_err(at("rtnetlink"))?,
            tap_dropped: 0,
            name: config.interface.clone(),
            present,
            beaten_at: Time::ZERO,
            looked_at: Time::ZERO,
            blocked_at: None,
            dropped_in_a_row: 0,
            buffer: vec![0; Tap::LONGEST],
            spare: Vec::new(),
        })
    }

    pub(super) fn attached(&self) -> crate::Attached {
        self.attachment.attached()
    }

    /// What a queue learns from, if it does. What was read before is closed elsewhere: the kernel takes its
    /// time for that, longer than a sign of life holds.
    pub(super) fn watch_reverse(&mut self, reverse: Option<Ring>) {
        if let Some(before) = std::mem::replace(&mut self.reverse, reverse) {
            let closing = std::thread::Builder::new().name("close".to_owned());
            // Without a thread it was closed just now.
            let _ = closing.spawn(move || drop(before));
        }
    }

    /// Waits, and does everything there is to do by then; gives a sign of life at the end of it. Whether it was woken
    /// to be told something.
    ///
    /// # Errors
    /// Where packets cannot be steered or sent any more.
    pub(super) fn turn(&mut self, held: &mut Held, wake: BorrowedFd<'_>) -> io::Result<bool> {
        let (woken, readable) = self.wait(held, wake)?;
        let now = monotonic();
        let since_beat = now.saturating_since(self.beaten_at);
        if self.beaten_at > Time::ZERO && since_beat > STALE {
            self.throw_away_what_is_stale(now, held)?;
        }
        held.shaper.handle_deadline(now);
        held.settle();
        self.send(now, held)?;
        if readable {
            self.read(held)?;
        }
        // Not `now`: packets that were sent since may be acknowledged already.
        self.read_reverse(monotonic(), held);
        if let Some(following) = &mut held.following {
            following.decide(now, &mut held.shaper);
        }
        if now.saturating_since(self.looked_at) >= LOOK_EVERY {
            self.look(held)?;
            self.looked_at = now;
        }
        if self.blocked_at.is_some_and(|since| now.saturating_since(since) > BLOCKED) {
            return Err(io::Error::other("the interface takes no packets"));
        }
        // Only here: whoever hangs above is not alive.
        self.beat(held);
        Ok(woken)
    }

    /// A sign of life.
    pub(super) fn beat(&mut self, held: &mut Held) {
        let beat_at = monotonic_nanos();
        self.heartbeat.beat(beat_at);
        let before = std::mem::replace(&mut self.beaten_at, Time::from_nanos(beat_at));
        let is_late = self.beaten_at.saturating_since(before) > Heartbeat::HOLDS;
        held.stats.lapses += u64::from(before > Time::ZERO && is_late);
    }

    fn wait(&self, held: &Held, wake: BorrowedFd<'_>) -> io::Result<(bool, bool)> {
        let now = monotonic();
        let due = held.shaper.deadline().unwrap_or(Time::NEVER).min(now + Heartbeat::EVERY);
        let wait = due.saturating_since(now);
        let send = match held.out.is_empty() {
            true => PollFlags::empty(),
            false => PollFlags::POLLOUT,
        };
        let mut polled = vec![
            PollFd::new(self.tap.as_fd(), PollFlags::POLLIN),
            PollFd::new(wake, PollFlags::POLLIN),
            PollFd::new(self.sender.as_fd(), send),
        ];
        polled
            .extend(self.reverse.as_ref().map(|ring| PollFd::new(ring.as_fd(), PollFlags::POLLIN)));
        let timeout = TimeSpec::from_duration(std::time::Duration::from_nanos(wait.as_nanos()));
        match ppoll(&mut polled, Some(timeout), None) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok((false, false)),
            Err(error) => return Err(error.into()),
        }
        let any = |at: usize| polled[at].any().unwrap_or(true);
        Ok((any(1), any(0)))
    }

    fn read(&mut self, held: &mut Held) -> io::Result<()> {
        let began = monotonic();
        for _ in 0..READS_IN_A_ROW {
            let Some(len) = self.tap.read(&mut self.buffer)? else { break };
            let now = monotonic();
            held.stats.packets_in += 1;
            held.stats.bytes_in += len.saturating_sub(VnetHeader::LEN) as u64;
            let read = self.take_read(len);
            let sorted = self.sorter.sort(now, read, held.shaper.rate());
            held.take(now, sorted);
            self.send(now, held)?;
            if now.saturating_since(began) > READS_AT_MOST {
                break;
            }
        }
        Ok(())
    }

    /// What was read, as its own: a long packet with the buffer, a short one copied.
    fn take_read(&mut self, len: usize) -> (Vec<u8>, usize) {
        if len < WORTH_A_BUFFER {
            return (self.buffer[..len].to_vec(), len);
        }
        let next = self.spare.pop().unwrap_or_else(|| vec![0; Tap::LONGEST]);
        (std::mem::replace(&mut self.buffer, next), len)
    }

    fn read_reverse(&mut self, now: Time, held: &mut Held) {
        let Some(ring) = &mut self.reverse else { return };
        let sorter = &self.sorter;
        ring.read(|_, sighting| {
            if let Some(packet) = sorter.reverse(sighting) {
                held.stats.reverse += 1;
                if let Some(following) = &mut held.following {
                    following.arrive(now, &packet);
                }
                if held.shaper.wants_reverse() {
                    held.shaper.observe_reverse(now, &packet);
                }
            }
        });
    }

    /// Sends what is to be sent, as far as the interface takes it.
    fn send(&mut self, now: Time, held: &mut Held) -> io::Result<()> {
        while let Some(frame) = held.out.front() {
            // Before the call: over some devices the acknowledgment is there when it returns.
            let sent_at = if frame.measured.is_some() { monotonic() } else { now };
            match self.sender.send(frame)? {
                Sent::Later => {
                    self.blocked_at = self.blocked_at.or(Some(now));
                    held.shaper.block();
                    return Ok(());
                }
                Sent::Yes => {
                    self.dropped_in_a_row = 0;
                    held.stats.packets_out += 1;
                    held.stats.bytes_out += frame.bytes().len() as u64;
                    held.delay.record(monotonic().saturating_since(frame.came_at));
                    if let (Some(following), Some(packet)) = (&mut held.following, &frame.measured)
                    {
                        following.depart(sent_at, packet);
                    }
                }
                Sent::Dropped => {
                    held.stats.drops.interface_queue += 1;
                    self.dropped_in_a_row += 1;
                    if self.dropped_in_a_row > STORM {
                        return Err(io::Error::other("the interface's own queue drops everything"));
                    }
                }
                Sent::Refused => held.stats.drops.refused += 1,
            }
            let buffer = held.out.pop_front().map(Frame::into_buffer);
            self.spare.extend(buffer.filter(|buffer| buffer.len() == Tap::LONGEST));
            self.spare.truncate(SPARE);
        }
        if self.blocked_at.take().is_some() {
            held.shaper.unblock(now);
        }
        Ok(())
    }

    /// Whether the interface is still the one it was; and what the TAP device had no room for.
    fn look(&mut self, held: &mut Held) -> io::Result<()> {
        let dropped = self.netlink.dropped_leaving(self.tap.index)?;
        held.stats.drops.tap += dropped.saturating_sub(self.tap_dropped);
        self.tap_dropped = dropped;
        match self.control.present(&self.name) {
            Ok(present) if present == self.present => Ok(()),
            Ok(present) if !present.is_up => Err(Errno::ENETDOWN.into()),
            Ok(_) => Err(io::Error::other("another interface has its name")),
            Err(errno) => Err(errno.into()),
        }
    }

    fn throw_away_what_is_stale(&mut self, now: Time, held: &mut Held) -> io::Result<()> {
        held.discard(now, |drops, gone| drops.stale += gone);
        while self.tap.read(&mut self.buffer)?.is_some() {
            held.stats.drops.stale += 1;
        }
        Ok(())
    }

    /// Sends what waits, at once, then lets the kernel forward, then sends what came meanwhile.
    pub(super) fn finish(mut self, held: &mut Held) -> io::Result<()> {
        for last in [false, true] {
            let began = monotonic();
            loop {
                let now = monotonic();
                held.shaper.drain(now);
                held.settle();
                let before = held.stats.packets_in;
                self.read(held)?;
                self.send(now, held)?;
                let is_empty = held.out.is_empty() && held.stats.packets_in == before;
                if is_empty && held.shaper.length().packets == 0
                    || now.saturating_since(began) > BLOCKED
                {
                    break;
                }
            }
            if !last {
                self.heartbeat.stop();
                // A processor that still took us for alive is done with its packet after this.
                let nothing = &mut [];
                let _ = ppoll(nothing, Some(TimeSpec::new(0, 1_000_000)), None);
            }
        }
        Ok(())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.heartbeat.stop();
    }
}
