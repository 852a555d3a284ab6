//! What is sent and received to measure with: datagrams with a number and a stamp, a stream of TCP.
//!
//! The sender stamps each datagram just before it hands it to the kernel. The receiver does not wait
//! for datagrams: it takes what has come every half a millisecond, so that it disturbs the emulator
//! little; the kernel has stamped each when it came.

use ackord_sys::Stamped;
use ackord_sys::{StopHandle, sharpen_timers};
use ackord_units::Span;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How datagrams are spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// Datagrams sent together.
    pub(super) burst: u32,
    /// From one burst to the next.
    pub(super) every: Span,
    /// Bytes of UDP payload of each.
    pub(super) payload: usize,
    /// Whether the kernel is handed a whole burst at once and cuts it up.
    pub(super) cut_by: CutBy,
}

/// Who makes datagrams of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutBy {
    /// One call for each datagram.
    Program,
    /// One call for a burst (UDP_SEGMENT): the program costs less.
    Kernel,
}

/// What was sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// By number: nanoseconds since 1970 just before it was handed over.
    pub(super) stamps: Vec<u64>,
    /// Calls that failed because a buffer was full.
    pub(super) refused: u64,
    /// How long sending took.
    pub(super) took: Span,
}

/// A datagram that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Got {
    pub(super) number: u64,
    /// Nanoseconds since 1970 at which the kernel received it.
    pub(super) at_nanos: u64,
}

/// What was received.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    pub(super) datagrams: Vec<Got>,
    /// Came with other bytes than were sent.
    pub(super) damaged: u64,
}

/// What a TCP receiver had when.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedStream {
    /// Nanoseconds since 1970, bytes read by then; a point for every read.
    pub(super) points: Vec<(u64, u64)>,
    /// Bytes that were not as sent.
    pub(super) damaged: u64,
    /// Bytes of payload that a full segment carries.
    pub(super) mss: u32,
}

/// Both directions between the threads and the emulation.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// The sender has sent everything.
    pub(super) all_sent: AtomicBool,
    /// Everything is to end at once.
    pub(super) abandon: AtomicBool,
}

/// Bytes of number before the rest of the payload.
const NUMBER: usize = 8;
/// How often the receiver looks.
const LOOKS_EVERY: Duration = Duration::from_micros(500);
/// After so long without a datagram nothing more comes.
const QUIET: Duration = Duration::from_millis(300);
/// Bytes written and read at once.
const CHUNK: usize = 64 * 1024;
/// What is sent repeats after so many bytes, a prime.
const PERIOD: usize = 251;

impl Signs {
    fn are_up(&self) -> bool {
        self.abandon.load(Ordering::Relaxed)
    }
}

/// Puts the sign up to end at once when a run is told to stop; comes back when all is sent.
pub(super) fn abandon_when_stopped(stop: &StopHandle, signs: &Signs) {
    let looks_every = PollTimeout::from(50_u8);
    while !signs.all_sent.load(Ordering::Acquire) {
        let mut watched = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
        if poll(&mut watched, looks_every) == Ok(1) {
            return signs.abandon.store(true, Ordering::Relaxed);
        }
    }
}

/// Nanoseconds since 1970.
pub(super) fn since_1970() -> u64 {
    nanos_of(ClockId::CLOCK_REALTIME)
}

fn nanos_of(clock: ClockId) -> u64 {
    // The clocks asked for are on every Linux.
    let Ok(now) = clock_gettime(clock) else { return 0 };
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

fn sleep_until(monotonic_nanos: u64) {
    let until = Duration::from_nanos(monotonic_nanos).into();
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until)
        == Err(Errno::EINTR)
    {}
}

/// Sends datagrams at this pace for so long; where a burst is late, the following ones catch up.
pub(super) fn send_datagrams(
    socket: &UdpSocket,
    pace: Pace,
    lasts: Span,
    signs: &Signs,
) -> io::Result<Sent> {
    sharpen_timers();
    let pace = prepare(socket, pace);
    let expected = lasts.as_nanos() / pace.every.as_nanos().max(1) * u64::from(pace.burst);
    let mut sent = Sent { stamps: Vec::with_capacity(expected as usize + 64), ..Sent::default() };
    let mut bytes = vec![0; pace.payload * pace.burst as usize];
    let begin = nanos_of(ClockId::CLOCK_MONOTONIC);
    let passed = || nanos_of(ClockId::CLOCK_MONOTONIC).saturating_sub(begin);
    let mut due = begin;
    // A sender that cannot keep its pace offers less, it does not send for longer.
    while due.saturating_sub(begin).max(passed()) < lasts.as_nanos() && !signs.are_up() {
        sleep_until(due);
        due += pace.every.as_nanos();
        match pace.cut_by {
            CutBy::Program => {
                for _ in 0..pace.burst {
                    send_one(socket, &mut bytes[..pace.payload], &mut sent)?;
                }
            }
            CutBy::Kernel => send_burst(socket, pace.payload, &mut bytes, &mut sent)?,
        }
    }
    sent.took = Span::from_nanos(passed());
    signs.all_sent.store(true, Ordering::Release);
    Ok(sent)
}

impl Sent {
    /// Datagrams sent per second.
    pub(super) fn per_second(&self) -> f64 {
        self.stamps.len() as f64 / self.took.as_secs_f64().max(1e-9)
    }
}

/// Where this kernel does not cut datagrams, the program does.
fn prepare(socket: &UdpSocket, pace: Pace) -> Pace {
    // Large enough for what waits in the device; refused to ordinary users, who have what they have.
    let _ = setsockopt(socket, sockopt::SndBufForce, &(8 << 20));
    let size = pace.payload as i32;
    let cuts =
        pace.cut_by == CutBy::Kernel && setsockopt(socket, sockopt::UdpGsoSegment, &size).is_ok();
    Pace { cut_by: if cuts { CutBy::Kernel } else { CutBy::Program }, ..pace }
}

fn send_one(socket: &UdpSocket, bytes: &mut [u8], sent: &mut Sent) -> io::Result<()> {
    number(bytes, sent.stamps.len() as u64);
    let stamp = since_1970();
    hand_over(socket, bytes, sent)?;
    sent.stamps.push(stamp);
    Ok(())
}

fn send_burst(
    socket: &UdpSocket,
    payload: usize,
    bytes: &mut [u8],
    sent: &mut Sent,
) -> io::Result<()> {
    let first = sent.stamps.len() as u64;
    for (bytes, of) in bytes.chunks_mut(payload).zip(first..) {
        number(bytes, of);
    }
    let stamp = since_1970();
    hand_over(socket, bytes, sent)?;
    sent.stamps.extend(std::iter::repeat_n(stamp, bytes.len() / payload));
    Ok(())
}

fn hand_over(socket: &UdpSocket, bytes: &[u8], sent: &mut Sent) -> io::Result<()> {
    match socket.send(bytes) {
        Ok(_) => Ok(()),
        Err(error)
            if error.kind() == ErrorKind::WouldBlock
                || error.raw_os_error() == Some(Errno::ENOBUFS as i32) =>
        {
            sent.refused += 1;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// A datagram's number, and bytes that follow from it.
fn number(bytes: &mut [u8], number: u64) {
    let (head, rest) = bytes.split_at_mut(NUMBER);
    head.copy_from_slice(&number.to_be_bytes());
    rest.fill(number as u8);
}

/// Takes datagrams until everything has been sent and nothing more comes.
pub(super) fn receive_datagrams(
    socket: &UdpSocket,
    payload: usize,
    signs: &Signs,
) -> io::Result<Received> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    if setsockopt(socket, sockopt::RcvBufForce, &(16 << 20)).is_err() {
        let _ = setsockopt(socket, sockopt::RcvBuf, &(4 << 20));
    }
    sharpen_timers();
    let mut stamped = Stamped::default();
    let mut received = Received::default();
    let mut quiet_since = nanos_of(ClockId::CLOCK_MONOTONIC);
    while !signs.are_up() {
        match stamped.receive(socket.as_fd()) {
            Ok(count) => {
                (0..count).for_each(|index| received.take(stamped.datagram(index), payload));
                quiet_since = nanos_of(ClockId::CLOCK_MONOTONIC);
            }
            Err(Errno::EAGAIN) => {
                let quiet = nanos_of(ClockId::CLOCK_MONOTONIC).saturating_sub(quiet_since);
                if !signs.all_sent.load(Ordering::Acquire) {
                    quiet_since += quiet;
                } else if quiet > QUIET.as_nanos() as u64 {
                    break;
                }
                std::thread::sleep(LOOKS_EVERY);
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(received)
}

impl Received {
    fn take(&mut self, (bytes, stamp): (&[u8], Option<u64>), payload: usize) {
        let Some((head, rest)) = bytes.split_first_chunk::<NUMBER>() else {
            self.damaged += 1;
            return;
        };
        let number = u64::from_be_bytes(*head);
        if bytes.len() != payload || rest.iter().any(|byte| *byte != number as u8) {
            self.damaged += 1;
        }
        self.datagrams.push(Got { number, at_nanos: stamp.unwrap_or_else(since_1970) });
    }
}

/// Writes as much as TCP takes for so long, to whoever listens at the other end.
pub(super) fn send_stream(mut stream: TcpStream, lasts: Span, signs: &Signs) -> io::Result<u64> {
    stream.set_write_timeout(Some(Duration::from_millis(200)))?;
    let pattern = pattern();
    let begin = nanos_of(ClockId::CLOCK_MONOTONIC);
    let mut written = 0u64;
    while nanos_of(ClockId::CLOCK_MONOTONIC) < begin + lasts.as_nanos() && !signs.are_up() {
        let at = (written % PERIOD as u64) as usize;
        match stream.write(&pattern[at..at + CHUNK]) {
            Ok(count) => written += count as u64,
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    signs.all_sent.store(true, Ordering::Release);
    stream.shutdown(std::net::Shutdown::Write)?;
    Ok(written)
}

/// Reads until the sender has sent everything; what is still under way then is of no interest.
pub(super) fn receive_stream(listener: &TcpListener, signs: &Signs) -> io::Result<ReceivedStream> {
    let mut read = ReceivedStream::default();
    let Some(mut stream) = accept(listener, signs)? else { return Ok(read) };
    read.mss = nix::sys::socket::getsockopt(&stream, sockopt::TcpMaxSeg)?;
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    let pattern = pattern();
    let mut bytes = vec![0; CHUNK];
    let mut total = 0u64;
    while !signs.are_up() && !signs.all_sent.load(Ordering::Acquire) {
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => {
                let at = (total % PERIOD as u64) as usize;
                if bytes[..count] != pattern[at..at + count] {
                    read.damaged += count as u64;
                }
                total += count as u64;
                read.points.push((since_1970(), total));
                if count < CHUNK / 4 {
                    std::thread::sleep(LOOKS_EVERY);
                }
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

fn accept(listener: &TcpListener, signs: &Signs) -> io::Result<Option<TcpStream>> {
    listener.set_nonblocking(true)?;
    while !signs.are_up() {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(Some(stream));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(LOOKS_EVERY);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Bytes of which any chunk, from any place in the first period on, is what comes there.
fn pattern() -> Vec<u8> {
    (0..CHUNK + PERIOD).map(|at| (at % PERIOD) as u8).collect()
}
