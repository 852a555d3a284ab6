//! The ranges within which a model's values make a sound scenario.
//!
//! A capture can suggest anything: a queue of a gigabyte, a window of 300 bytes, an outage that began before
//! the connection. [`Model::sound`] is the only place where values are brought into the ranges of the
//! scenario format, and [`Model::toml`] writes nothing else.

use super::allowance::MOST_QUEUED;
use super::model::{LossProcess, Model, Outage, Traffic};

/// Rates of a link, bit/s.
const RATE: [f64; 2] = [1e3, 100e9];
/// Delays of a link, s.
const DELAY: [f64; 2] = [0.0, 10.0];
/// Pauses and intervals of applications, s.
const PAUSE: [f64; 2] = [0.0, 3600.0];
/// The shortest interval of paced messages, s.
const LEAST_INTERVAL_S: f64 = 1e-6;
/// Mean times of a loss process, and lengths of outages, s.
const EPISODE: [f64; 2] = [1e-6, 86_400.0];
/// Duration of a run, s.
const DURATION: [f64; 2] = [0.001, 1e6];
/// How long packets are held back, s.
const HELD_BACK: [f64; 2] = [0.0, 10.0];
/// Lengths that applications write, bytes.
const LENGTH: [u64; 2] = [1, 1_000_000_000];
/// Numbers of messages and transfers.
const COUNT: [u64; 2] = [1, 1_000_000];
/// Socket buffers, bytes.
const BUFFER: [u64; 2] = [1_000, 1_073_725_440];
/// First windows, segments.
const INITIAL_WINDOW: [u32; 2] = [1, 100];
/// Other flows in the queue.
const MOST_RIVALS: u32 = 64;
/// Outages of a schedule.
const MOST_OUTAGES: usize = 1_000;
/// Delayed acknowledgments wait no longer, s (RFC 5681, section 4.2).
const ACK_DELAY: [f64; 2] = [1e-6, 0.5];

/// Brings a number into a range; what is no number becomes its lower end.
fn within(value: f64, [least, most]: [f64; 2]) -> f64 {
    if value.is_nan() { least } else { value.clamp(least, most) }
}

fn whole(value: u64, [least, most]: [u64; 2]) -> u64 {
    value.clamp(least, most)
}

impl Model {
    /// Returns the nearest model whose scenario is sound.
    pub(super) fn sound(&self) -> Model {
        let mut model = self.clone();
        model.rate_bit_s = within(self.rate_bit_s, RATE);
        model.wired_s = within(self.wired_s, DELAY);
        model.air_s = within(self.air_s, DELAY);
        model.buffer = self.buffer.clamp(2, MOST_QUEUED);
        model.loss = match self.loss {
            LossProcess::None => LossProcess::None,
            LossProcess::Random { share } => {
                LossProcess::Random { share: within(share, [0.0, 1.0]) }
            }
            LossProcess::Bursts { good_s, bad_s } => LossProcess::Bursts {
                good_s: within(good_s, EPISODE),
                bad_s: within(bad_s, EPISODE),
            },
        };
        model.reordering = self
            .reordering
            .map(|(share, by_s)| (within(share, [0.0, 1.0]), within(by_s, HELD_BACK)));
        model.outages = in_order(&self.outages);
        model.initial_window = self.initial_window.clamp(INITIAL_WINDOW[0], INITIAL_WINDOW[1]);
        model.receive_buffer = self.receive_buffer.map(|bytes| whole(bytes, BUFFER));
        model.send_buffer = self.send_buffer.map(|bytes| whole(bytes, BUFFER));
        model.ack_delay_s = self.ack_delay_s.map(|delay_s| within(delay_s, ACK_DELAY));
        model.rivals = self.rivals.min(MOST_RIVALS);
        model.traffic = self.traffic.sound();
        model.duration_s = within(self.duration_s, DURATION);
        model
    }
}

impl Traffic {
    fn sound(&self) -> Traffic {
        let length = |bytes: u64| whole(bytes, LENGTH);
        let count = |count: u64| whole(count, COUNT);
        let pause = |pause_s: f64| within(pause_s, PAUSE);
        match self {
            Traffic::Bulk { bytes } => Traffic::Bulk { bytes: length(*bytes) },
            Traffic::Transfers { sizes, gap_s } => {
                let mut sizes: Vec<u64> =
                    sizes.iter().take(COUNT[1] as usize).map(|bytes| length(*bytes)).collect();
                if sizes.is_empty() {
                    sizes.push(LENGTH[0]);
                }
                Traffic::Transfers { sizes, gap_s: pause(*gap_s) }
            }
            Traffic::Questions { request, response, count: all, gap_s, think_s } => {
                Traffic::Questions {
                    request: length(*request),
                    response: length(*response),
                    count: count(*all),
                    gap_s: pause(*gap_s),
                    think_s: pause(*think_s),
                }
            }
            Traffic::TwoWrites { head, body, reply, count: all, gap_s } => Traffic::TwoWrites {
                head: length(*head),
                body: length(*body),
                reply: length(*reply),
                count: count(*all),
                gap_s: pause(*gap_s),
            },
            Traffic::Paced { message, interval_s, messages } => Traffic::Paced {
                message: length(*message),
                interval_s: within(*interval_s, [LEAST_INTERVAL_S, PAUSE[1]]),
                messages: count(*messages),
            },
        }
    }
}

/// Returns outages in order of time, none of which begins before the one before it is over.
fn in_order(outages: &[Outage]) -> Vec<Outage> {
    let mut sorted: Vec<Outage> = outages
        .iter()
        .map(|outage| {
            let least_s = within(outage.least_s, EPISODE);
            let most_s = within(outage.most_s, EPISODE).max(least_s);
            Outage { from_s: within(outage.from_s, [0.0, EPISODE[1]]), least_s, most_s }
        })
        .collect();
    sorted.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    let mut kept: Vec<Outage> = Vec::new();
    for outage in sorted {
        // A microsecond between them, to which times are written.
        let free = kept.last().is_none_or(|last| outage.from_s > last.from_s + last.most_s + 2e-6);
        if free && kept.len() < MOST_OUTAGES {
            kept.push(outage);
        }
    }
    kept
}
