//! A model as a scenario file.

use super::model::{LossProcess, Model, Outage, Traffic};
use ackord_live::Direction;
use std::fmt::Write;

impl Model {
    /// The scenario file, with the lengths of outages that are not exactly known drawn by `seed`,
    /// but for a tenth at either end, since timers are not those of the observed sender to the
    /// millisecond: what was lost there is to be lost here. Without a seed, in the middle.
    ///
    /// The scenario is always sound: values outside of the format's ranges are brought into them.
    pub fn toml(&self, seed: Option<u64>) -> String {
        self.sound().write(seed)
    }

    fn write(&self, seed: Option<u64>) -> String {
        let mut text = String::new();
        let kernel =
            self.kernel.as_ref().map_or(String::new(), |name| format!("kernel = \"{name}\"\n"));
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "version = 1\nname = \"fitted\"\npurpose = \"A path fitted to an observed connection\"\n\
             seed = {}\nduration = \"{} ms\"\n\n[hosts.server]\n{kernel}[hosts.client]\n{kernel}[routers.router]\n",
            seed.unwrap_or(1),
            (self.duration_s * 1e3).ceil()
        );
        self.links(&mut text, seed);
        if let Some(proxy) = &self.proxy {
            let _ =
                write!(text, "\n[[proxies]]\nat = \"router\"\nlink = \"air\"\nproxy = {proxy}\n");
        }
        self.ends(&mut text);
        let (file, _) = self.capture();
        let _ = write!(text, "\n[record]\ncaptures = [\"{file}\", \"{file}.reverse\"]\n");
        text
    }

    fn links(&self, text: &mut String, seed: Option<u64>) {
        let (from, to) = match self.direction {
            Direction::Download => ("server", "client"),
            Direction::Upload => ("client", "server"),
        };
        for (from, to) in [(from, "router"), ("router", to)] {
            let is_air = from == "client" || to == "client";
            let (name, rate, delay) = match is_air {
                true => ("air", self.rate_bit_s, self.air_s),
                false => ("wired", (10.0 * self.rate_bit_s).clamp(1e9, 1e12), self.wired_s),
            };
            let _ = write!(
                text,
                "\n[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate:.0} bit/s\"\n\
                 delay = \"{:.0} ns\"\n",
                delay * 1e9
            );
            if is_air {
                self.air(text, seed);
            } else {
                text.push_str("queue = { kind = \"drop-tail\", limit = \"20000 packets\" }\n");
            }
        }
    }

    fn air(&self, text: &mut String, seed: Option<u64>) {
        let drop_tail = format!("{{ kind = \"drop-tail\", limit = \"{} packets\" }}", self.buffer);
        let _ = writeln!(text, "queue = {}", self.queue.as_ref().unwrap_or(&drop_tail));
        let _ = match self.loss {
            LossProcess::None => Ok(()),
            LossProcess::Random { share } => {
                writeln!(
                    text,
                    "loss = {{ kind = \"random\", per_packet = \"{:.5} %\" }}",
                    100.0 * share
                )
            }
            LossProcess::Bursts { good_s, bad_s } => writeln!(
                text,
                "loss = {{ kind = \"gilbert-elliott\", good_for = \"{:.0} us\", bad_for = \"{:.0} us\" }}",
                1e6 * good_s,
                1e6 * bad_s
            ),
        };
        if let Some((share, by_s)) = self.reordering {
            let _ = writeln!(
                text,
                "jitter = {{ kind = \"held-back\", share = \"{:.5} %\", by = \"{:.0} us\" }}",
                100.0 * share,
                1e6 * by_s
            );
        }
        if !self.outages.is_empty() {
            self.schedule(text, seed);
        }
        text.push_str(&self.more);
        text.push_str("[links.reverse]\n");
        if self.loss != LossProcess::None {
            text.push_str("loss = \"none\"\n");
        }
        if self.reordering.is_some() {
            text.push_str("jitter = \"none\"\n");
        }
        text.push_str("queue = { kind = \"drop-tail\", limit = \"1000 packets\" }\n");
    }

    fn schedule(&self, text: &mut String, seed: Option<u64>) {
        let list = |of: &dyn Fn((usize, &Outage)) -> f64| {
            let each =
                self.outages.iter().enumerate().map(|it| format!("\"{:.0} us\"", 1e6 * of(it)));
            each.collect::<Vec<_>>().join(", ")
        };
        let place = |index: usize| seed.map_or(0.5, |seed| 0.1 + 0.8 * evenly(seed, index));
        let _ = writeln!(
            text,
            "outage = {{ kind = \"schedule\", from = [{}], for = [{}], does = \"{}\" }}",
            list(&|(_, outage)| outage.from_s),
            list(&|(index, outage)| {
                outage.least_s + place(index) * (outage.most_s - outage.least_s)
            }),
            if self.outages_hold { "holds" } else { "loses" },
        );
    }

    fn ends(&self, text: &mut String) {
        let sends = if self.direction == Direction::Download { "server" } else { "client" };
        text.push_str("\n[tcp]\nprofile = \"linux\"\n");
        if self.no_delay {
            text.push_str("nagle = \"off\"\n");
        }
        let mut sender = format!(
            "congestion = {}, initial_window = \"{} segments\"",
            self.congestion, self.initial_window
        );
        if let Some(detection) = &self.detection {
            let _ = write!(sender, ", loss = {detection}");
        }
        if let Some(bytes) = self.send_buffer {
            let _ = write!(sender, ", send_buffer = \"{bytes} B\", send_buffer_tuning = \"off\"");
        }
        let mut receiver = Vec::new();
        if let Some(bytes) = self.receive_buffer {
            receiver
                .push(format!("receive_buffer = \"{bytes} B\", receive_buffer_tuning = \"off\""));
        }
        if let Some(ack) = &self.ack {
            receiver.push(format!("ack = {ack}"));
        } else if let Some(delay_s) = self.ack_delay_s {
            let timeout = (1e6 * delay_s).round();
            receiver.push(format!("ack = {{ kind = \"delayed\", timeout = \"{timeout:.0} us\" }}"));
        }
        let _ = write!(
            text,
            "\n[[flows]]\nname = \"observed\"\nfrom = \"client\"\nto = \"server\"\nsends = \"{sends}\"\n\
             traffic = {}\ntcp = {{ {sender} }}\nreceiver_tcp = {{ {} }}\n",
            self.traffic(),
            receiver.join(", ")
        );
        for number in 0..self.rivals {
            let _ = write!(
                text,
                "\n[[flows]]\nname = \"rival-{number}\"\nfrom = \"client\"\nto = \"server\"\nsends = \"{sends}\"\n\
                 traffic = \"bulk\"\n"
            );
        }
    }

    fn traffic(&self) -> String {
        let us = |seconds: f64| format!("\"{:.0} us\"", 1e6 * seconds);
        match &self.traffic {
            Traffic::Bulk { bytes } => format!("{{ kind = \"bulk\", size = \"{bytes} B\" }}"),
            Traffic::Transfers { sizes, gap_s } => {
                let each: Vec<String> =
                    sizes.iter().map(|bytes| format!("\"{bytes} B\"")).collect();
                format!(
                    "{{ kind = \"transfers\", sizes = [{}], count = {}, gap = {} }}",
                    each.join(", "),
                    sizes.len(),
                    us(*gap_s)
                )
            }
            Traffic::Questions { request, response, count, gap_s, think_s } => format!(
                "{{ kind = \"request\", request = \"{request} B\", response = \"{response} B\", count = {count}, \
                 gap = {}, think = {} }}",
                us(*gap_s),
                us(*think_s)
            ),
            Traffic::Paced { message, interval_s, messages } => format!(
                "{{ kind = \"paced\", message = \"{message} B\", interval = {}, messages = {messages} }}",
                us(*interval_s)
            ),
            Traffic::TwoWrites { head, body, reply, count, gap_s } => format!(
                "{{ kind = \"write-write-read\", head = \"{head} B\", body = \"{body} B\", reply = \"{reply} B\", \
                 count = {count}, gap = {} }}",
                us(*gap_s)
            ),
        }
    }
}

/// A number from 0 to 1, evenly spread over seeds and indices (the golden ratio's multiples).
fn evenly(seed: u64, index: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const SILVER: f64 = 0.414_213_562_373_095_1;
    (seed as f64 * GOLDEN + index as f64 * SILVER).fract()
}
