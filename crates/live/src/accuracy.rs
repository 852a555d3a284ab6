//! How exactly this machine emulates: rate, delay and the most that goes through, measured between
//! two stock kernels.
//!
//! ```text
//! sender ─ kernel ─ TUN ══ emulator ══ TUN ─ kernel ─ receiver
//! stamp before send()    entered   left               the kernel's stamp of arrival
//!        └──── in ───────────┘       └────── out ─────────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `accuracy.rs` | [`accuracy`]: the measurements in their order; what they come to |
//! | `accuracy/report.rs` | what is to be measured, and what was found |
//! | `accuracy/lane.rs` | two namespaces, the emulated link, both ends at work |
//! | `accuracy/load.rs` | what is sent and received |
//! | `accuracy/received.rs` | rates, delays and disorder of what was received |
//! | `accuracy/theory.rs` | when a packet should have come |
//!
//! What the program that measures costs is not taken off anything. It is told beside: the same
//! sender and receiver over the loopback device, without an emulator ([`AccuracyReport::control`]),
//! and for every delay which part lies before the emulator had the packet and which after it should
//! have let it go.
//!
//! Not modelled: two directions at once, several links in a row.

mod lane;
mod load;
mod received;
mod report;
mod theory;

#[cfg(test)]
mod tests;

pub use report::{
    AccuracyNotify, AccuracyOptions, AccuracyReport, DelayRow, Most, MostRow, RateRow, Traffic,
};
pub use theory::Spread;

use crate::error::LiveError;
use crate::lateness::LatenessMeter;
use ackord_units::{Bytes, Rate, Span};
use lane::{Lane, LinkUnderTest, MTU, Manner, Passage};
use load::{
    CutBy, Pace, Received, ReceivedStream, Sent, Signs, abandon_when_stopped, receive_datagrams,
    receive_stream, send_datagrams, send_stream,
};
use received::{disordered, rate_of, rate_of_points, took};
use std::ops::ControlFlow;
use theory::LinkTheory;

/// Propagation delay of the links measured.
const DELAY: Span = Span::from_millis(5);
/// Bytes of headers before a datagram's payload.
const HEADERS: u32 = 28;
/// Payload of a datagram that fills a packet.
const FULL: usize = MTU as usize - HEADERS as usize;
/// Payload of a small one.
const SMALL: usize = 32;
/// As good as no limit: a full packet takes 12 ns.
const NO_LIMIT: Rate = Rate::from_bits_per_sec(1_000_000_000_000);
/// What is tried without a limit, in full packets per second (1 to 4 Gbit/s) and in small ones.
const FULL_TRIED: [u64; 6] = [83_000, 125_000, 167_000, 208_000, 250_000, 333_000];
const SMALL_TRIED: [u64; 6] = [100_000, 150_000, 200_000, 250_000, 300_000, 400_000];
/// Budget of the 99th percentile of lateness: what every live run has.
const BUDGET: Span = Span::from_millis(1);

/// Measures.
///
/// # Errors
/// If namespaces cannot be made here, or something of them fails.
pub fn accuracy(mut options: AccuracyOptions) -> Result<AccuracyReport, LiveError> {
    options.duration = options.duration.max(Span::from_secs(1));
    let most = if options.finds_most { 3 } else { 0 };
    let of = options.rates.len() * 4 + 1 + most;
    let mut work = Work {
        options,
        done: 0,
        of,
        lateness: LatenessMeter::new(),
        damaged: 0,
        realtime_priority: true,
    };
    let control = work.control()?;
    let (mut rates, mut delays) = (Vec::new(), Vec::new());
    for rate in work.options.rates.clone() {
        rates.push(work.rate_of_datagrams(rate)?);
        rates.push(work.rate_of_stream(rate)?);
        delays.push(work.delay(rate, false)?);
        delays.push(work.delay(rate, true)?);
    }
    let most = match work.options.finds_most {
        true => vec![
            work.most_of_stream()?,
            work.most_of_datagrams(Most::FullDatagrams)?,
            work.most_of_datagrams(Most::SmallDatagrams)?,
        ],
        false => Vec::new(),
    };
    Ok(AccuracyReport {
        realtime_priority: work.realtime_priority,
        rates,
        delays,
        most,
        control,
        lateness: work.lateness.report(BUDGET),
        histogram: work.lateness.histogram(),
        damaged: work.damaged,
    })
}

/// The measurements, and what is common to them.
struct Work {
    options: AccuracyOptions,
    done: usize,
    of: usize,
    lateness: LatenessMeter,
    damaged: u64,
    realtime_priority: bool,
}

impl Work {
    fn next(&mut self, what: &str) -> Result<(), LiveError> {
        self.done += 1;
        match (self.options.notify)(what, self.done, self.of) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(LiveError::Interrupted),
        }
    }

    fn duration(&self) -> Span {
        self.options.duration
    }

    /// Sender and receiver without an emulator.
    fn control(&mut self) -> Result<Spread, LiveError> {
        self.next("sender and receiver without an emulator")?;
        let lane = Lane::new(link(Rate::from_mbits_per_sec(100), 1_000))?;
        let (sender, receiver) = lane.loopback_sockets()?;
        let pace = idle_pace();
        let signs = Signs::default();
        let (sent, received) = std::thread::scope(|scope| {
            let lasts = self.duration();
            let (signs, sender, stop) = (&signs, &sender, &self.options.stop);
            scope.spawn(move || abandon_when_stopped(stop, signs));
            let sending = scope.spawn(move || {
                let sent = send_datagrams(sender, pace, lasts, signs);
                signs.all_sent.store(true, std::sync::atomic::Ordering::Release);
                sent
            });
            let received = receive_datagrams(&receiver, pace.payload, signs);
            let sent = sending.join().map_err(|_| std::io::Error::other("the sender panicked"))?;
            Ok::<_, LiveError>((sent?, received?))
        })?;
        self.damaged += received.damaged;
        let took = received.datagrams.iter().map(|got| took(&sent, got));
        Ok(Spread::of(took.collect()))
    }

    /// Datagrams over a link with this much room.
    fn datagrams(
        &mut self,
        link: LinkUnderTest,
        pace: Pace,
        lasts: Span,
    ) -> Result<(Sent, Received, Passage), LiveError> {
        let lane = Lane::new(link)?;
        let (sender, receiver) = lane.datagram_sockets()?;
        let (sent, received, passage) = lane.carry(
            self.manner(),
            |signs| send_datagrams(&sender, pace, lasts, signs),
            |signs| receive_datagrams(&receiver, pace.payload, signs),
        )?;
        self.realtime_priority = passage.realtime_priority;
        self.damaged += received.damaged + disordered(&received);
        Ok((sent, received, passage))
    }

    fn stream(&mut self, link: LinkUnderTest) -> Result<(ReceivedStream, Passage), LiveError> {
        let lane = Lane::new(link)?;
        let (sender, listener) = lane.stream_sockets()?;
        let lasts = self.duration();
        let (_, stream, passage) = lane.carry(
            self.manner(),
            |signs| send_stream(sender.connect()?, lasts, signs),
            |signs| receive_stream(&listener, signs),
        )?;
        self.realtime_priority = passage.realtime_priority;
        self.damaged += stream.damaged;
        Ok((stream, passage))
    }

    fn manner(&self) -> Manner<'_> {
        Manner { realtime_priority: self.options.realtime_priority, stop: &self.options.stop }
    }

    fn rate_of_datagrams(&mut self, rate: Rate) -> Result<RateRow, LiveError> {
        self.next(&format!("rate at {rate}, UDP"))?;
        let pace = Pace { cut_by: CutBy::Kernel, ..full_pace(rate, 11, 10) };
        let lasts = self.duration();
        let (sent, received, passage) =
            self.datagrams(link(rate, room_for_gaps(rate)), pace, lasts)?;
        let delivered = rate_of(&received.datagrams, MTU.into(), lasts);
        self.lateness.add(&passage.lateness);
        let counts = passage.counts;
        Ok(RateRow {
            configured: rate,
            traffic: Traffic::Udp,
            delivered,
            offered: bits(sent.per_second() * f64::from(MTU) * 8.0),
            offered_packets: sent.stamps.len() as u64,
            entered_packets: counts.entered,
            dropped_packets: passage.conservation.dropped.total(),
            handed_over_packets: counts.delivered,
            unread_packets: counts.delivered.saturating_sub(received.datagrams.len() as u64),
            lateness: passage.lateness.report(BUDGET),
        })
    }

    fn rate_of_stream(&mut self, rate: Rate) -> Result<RateRow, LiveError> {
        self.next(&format!("rate at {rate}, TCP"))?;
        let (stream, passage) = self.stream(link(rate, room_for(rate)))?;
        self.lateness.add(&passage.lateness);
        Ok(RateRow {
            configured: rate,
            traffic: Traffic::Tcp,
            delivered: rate_of_points(&stream, self.duration()),
            offered: Bytes(passage.counts.entered_bytes).over(self.duration()),
            offered_packets: passage.counts.entered,
            entered_packets: passage.counts.entered,
            dropped_packets: passage.conservation.dropped.total(),
            handed_over_packets: passage.counts.delivered,
            unread_packets: 0,
            lateness: passage.lateness.report(BUDGET),
        })
    }

    fn delay(&mut self, rate: Rate, busy: bool) -> Result<DelayRow, LiveError> {
        let (word, pace) = match busy {
            false => ("idle", idle_pace()),
            true => ("busy", full_pace(rate, 4, 5)),
        };
        self.next(&format!("delay at {rate}, {word}"))?;
        let lasts = self.duration();
        let (sent, received, passage) = self.datagrams(link(rate, 10_000), pace, lasts)?;
        self.lateness.add(&passage.lateness);
        let got = &received.datagrams;
        let theory = LinkTheory { rate, delay: DELAY };
        let ip_len = pace.payload as u32 + HEADERS;
        let stamps = got.iter().map(|got| sent.stamps[got.number as usize]);
        let expected = theory.arrivals(stamps.clone(), ip_len);
        let differences = |later: &mut dyn Iterator<Item = u64>, earlier: &[u64]| {
            let pairs = later.zip(earlier);
            Spread::of(pairs.map(|(late, early)| late as i64 - *early as i64).collect())
        };
        let mut arrived = got.iter().map(|got| got.at_nanos);
        let error = differences(&mut arrived.clone(), &expected);
        // One by one they can only be told apart if none is missing.
        let whole = passage.entered.len() == got.len() && passage.left.len() == got.len();
        let (into, out_of) = match whole {
            true => (
                differences(&mut passage.entered.iter().copied(), &stamps.collect::<Vec<_>>()),
                differences(&mut arrived, &passage.left),
            ),
            false => Default::default(),
        };
        Ok(DelayRow {
            configured: rate,
            delay: DELAY,
            busy,
            sent: sent.stamps.len() as u64,
            error,
            into,
            out_of,
            lateness: passage.lateness.report(BUDGET),
        })
    }

    fn most_of_stream(&mut self) -> Result<MostRow, LiveError> {
        self.next("no limit, TCP")?;
        let (stream, passage) = self.stream(no_limit())?;
        let delivered = rate_of_points(&stream, self.duration());
        let packets = delivered.as_bits_per_sec() / (u64::from(MTU) * 8);
        let offered = passage.counts.entered as f64 / self.duration().as_secs_f64();
        Ok(MostRow {
            what: Most::Tcp,
            delivered,
            packets_per_sec: packets,
            offered_packets_per_sec: offered as u64,
            lossless_packets_per_sec: None,
        })
    }

    fn most_of_datagrams(&mut self, what: Most) -> Result<MostRow, LiveError> {
        let (payload, tried, word) = match what {
            Most::SmallDatagrams => (SMALL, SMALL_TRIED, "small"),
            _ => (FULL, FULL_TRIED, "full"),
        };
        self.next(&format!("no limit, {word} UDP datagrams"))?;
        let lasts = Span::from_nanos(self.duration().as_nanos() / 3).max(Span::from_secs(1));
        let ip_len = payload as u32 + HEADERS;
        let mut best = MostRow {
            what,
            delivered: Rate::default(),
            packets_per_sec: 0,
            offered_packets_per_sec: 0,
            lossless_packets_per_sec: None,
        };
        for offered in tried {
            let burst = 32;
            let every = Span::from_nanos(u64::from(burst) * 1_000_000_000 / offered);
            let pace = Pace { burst, every, payload, cut_by: CutBy::Kernel };
            let (sent, received, _) = self.datagrams(no_limit(), pace, lasts)?;
            let delivered = rate_of(&received.datagrams, ip_len, lasts);
            let packets_per_sec = delivered.as_bits_per_sec() / (u64::from(ip_len) * 8);
            let offered = sent.per_second() as u64;
            let (sent, got) = (sent.stamps.len() as u64, received.datagrams.len() as u64);
            if packets_per_sec > best.packets_per_sec {
                best = MostRow {
                    delivered,
                    packets_per_sec,
                    offered_packets_per_sec: offered,
                    ..best
                };
            }
            if sent.saturating_sub(got) * 1_000 < sent {
                let lossless = best.lossless_packets_per_sec.max(Some(packets_per_sec));
                best.lossless_packets_per_sec = lossless;
            }
        }
        Ok(best)
    }
}

fn bits(per_second: f64) -> Rate {
    Rate::from_bits_per_sec(per_second as u64)
}

fn link(rate: Rate, queue_packets: u32) -> LinkUnderTest {
    LinkUnderTest { rate, delay: DELAY, queue_packets }
}

fn no_limit() -> LinkUnderTest {
    LinkUnderTest { rate: NO_LIMIT, delay: Span::ZERO, queue_packets: 100_000 }
}

/// A queue that keeps one connection going through its losses: twice what the path holds, and some.
fn room_for(rate: Rate) -> u32 {
    let path = rate.bytes_in(DELAY.saturating_mul(2)).get() / u64::from(MTU);
    (2 * path + 30) as u32
}

/// A queue that lasts through 50 ms in which the sender does not get a processor.
fn room_for_gaps(rate: Rate) -> u32 {
    let packets = rate.bytes_in(Span::from_millis(50)).get() / u64::from(MTU);
    packets.max(30) as u32
}

/// Small datagrams, 200 of them each second.
fn idle_pace() -> Pace {
    let every = Span::from_millis(5);
    Pace { burst: 1, every, payload: SMALL, cut_by: CutBy::Program }
}

/// Full datagrams at so much of `rate`, eight at a time.
fn full_pace(rate: Rate, numerator: u64, denominator: u64) -> Pace {
    let burst = 8;
    let at_rate = rate.time_for(Bytes(u64::from(burst) * u64::from(MTU))).as_nanos();
    let every = Span::from_nanos(at_rate * denominator / numerator);
    Pace { burst, every, payload: FULL, cut_by: CutBy::Program }
}
