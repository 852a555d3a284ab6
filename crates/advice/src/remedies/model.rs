//! The path, the ends and the applications of one connection, as a scenario file.
//!
//! ```text
//! server ══ wired ══ router ══ air ══ client
//!                      ▲ a gateway may stand here
//! ```
//!
//! `air` is the bottleneck: it has the rate, the buffer and all that goes wrong. Losses strike the
//! direction of most data, outages both.
//!
//! Not modelled: losses of acknowledgments, a rate that changes, more than one bottleneck.

use std::fmt::Write;

/// Which way most data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// From the server to the client.
    Download,
    /// From the client to the server.
    Upload,
}

impl Heading {
    /// The other way.
    #[must_use]
    pub fn other(self) -> Heading {
        match self {
            Heading::Download => Heading::Upload,
            Heading::Upload => Heading::Download,
        }
    }
}

/// How packets are lost that no queue drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossProcess {
    /// None is.
    None,
    /// Each with this probability.
    Random {
        /// 0 to 1.
        share: f64,
    },
    /// All for a while, again and again (Gilbert and Elliott, in time).
    Bursts {
        /// Mean time between, s.
        good_s: f64,
        /// Mean time for which nothing passes, s.
        bad_s: f64,
    },
}

/// A time at which nothing passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// Since the start, s.
    pub from_s: f64,
    /// How long it lasted at least, s: a repetition was lost then.
    pub least_s: f64,
    /// How long at most, s: one arrived then.
    pub most_s: f64,
}

/// What the applications do.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// One transfer.
    Bulk {
        /// Its length, octets.
        bytes: u64,
    },
    /// One after the other, the sender deciding when.
    Transfers {
        /// Their lengths, octets.
        sizes: Vec<u64>,
        /// Pause between two, s.
        gap_s: f64,
    },
    /// Questions, and answers by the end that sends most.
    Questions {
        /// Length of a question, octets.
        request: u64,
        /// Length of an answer, octets.
        response: u64,
        /// How many.
        count: u64,
        /// Pause before the next question, s.
        gap_s: f64,
        /// Time from a question to its answer, s.
        think_s: f64,
    },
    /// A question in two writes, and its answer.
    TwoWrites {
        /// Octets of either write.
        write: u64,
        /// Octets of the answer.
        reply: u64,
        /// How many.
        count: u64,
        /// Pause before the next, s.
        gap_s: f64,
    },
}

/// Where the capture is taken, as seen from the sender of most data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the server.
    Server,
    /// At the router.
    Router,
    /// At the client.
    Client,
}

/// A path, two ends and their applications.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Which way data goes.
    pub heading: Heading,
    /// The rate of the bottleneck, whole packets, bit/s.
    pub rate_bit_s: f64,
    /// The delay between server and router, one way, s.
    pub wired_s: f64,
    /// The delay between router and client, one way, s.
    pub air_s: f64,
    /// What the bottleneck's buffer holds, packets.
    pub buffer: u64,
    /// The bottleneck's queue where it is not drop-tail: a name or a table.
    pub queue: Option<String>,
    /// Losses by chance.
    pub loss: LossProcess,
    /// Share of the packets that are held back (0 to 1), and for how long, s.
    pub reordering: Option<(f64, f64)>,
    /// When nothing passes.
    pub outages: Vec<Outage>,
    /// Packets wait for the end of an outage, instead of being lost.
    pub outages_hold: bool,
    /// The sender's congestion control: a name or a table.
    pub congestion: String,
    /// The sender's loss detection, where it is not Linux's.
    pub detection: Option<String>,
    /// The sender's first window, segments.
    pub initial_window: u32,
    /// What the receiver announces at most, octets, where that is a bound.
    pub receive_buffer: Option<u64>,
    /// What the sender keeps at most, octets, where that is a bound.
    pub send_buffer: Option<u64>,
    /// Whether Nagle's algorithm is off at both ends.
    pub no_delay: bool,
    /// When the receiver acknowledges, where it is not Linux's way.
    pub ack: Option<String>,
    /// Other flows that fill the same queue.
    pub rivals: u32,
    /// What the applications do.
    pub traffic: Traffic,
    /// When it is given up, s.
    pub duration_s: f64,
    /// Where it is captured.
    pub place: Place,
    /// The middle box at the router, if there is one.
    pub proxy: Option<String>,
    /// The stock kernel at both ends, if any.
    pub kernel: Option<String>,
    /// More keys of `air`.
    pub more: String,
}

impl Model {
    /// A clean download of `bytes` between Linux hosts.
    pub fn clean(rate_bit_s: f64, rtt_s: f64, bytes: u64) -> Model {
        let mut model = Model {
            heading: Heading::Download,
            rate_bit_s,
            wired_s: rtt_s / 4.0,
            air_s: rtt_s / 4.0,
            buffer: 0,
            queue: None,
            loss: LossProcess::None,
            reordering: None,
            outages: Vec::new(),
            outages_hold: false,
            congestion: "\"cubic\"".to_owned(),
            detection: None,
            initial_window: 10,
            receive_buffer: None,
            send_buffer: None,
            no_delay: false,
            ack: None,
            rivals: 0,
            traffic: Traffic::Bulk { bytes },
            duration_s: 60.0,
            place: Place::Server,
            proxy: None,
            kernel: None,
            more: String::new(),
        };
        model.buffer = (1.5 * model.bdp_packets()) as u64;
        model.buffer = model.buffer.max(20);
        model
    }

    /// Full packets that fill the path.
    pub fn bdp_packets(&self) -> f64 {
        self.rate_bit_s * 2.0 * (self.wired_s + self.air_s) / 12_000.0
    }

    /// What applications wait by themselves, all in all, s.
    pub fn pauses_s(&self) -> f64 {
        match &self.traffic {
            Traffic::Bulk { .. } => 0.0,
            Traffic::Transfers { sizes, gap_s } => gap_s * sizes.len().saturating_sub(1) as f64,
            Traffic::Questions { count, gap_s, think_s, .. } => {
                gap_s * count.saturating_sub(1) as f64 + think_s * *count as f64
            }
            Traffic::TwoWrites { count, gap_s, .. } => gap_s * count.saturating_sub(1) as f64,
        }
    }

    /// The scenario file, with the lengths of outages that are not exactly known drawn by `seed`,
    /// but for a tenth at either end, since timers are not those of the observed sender to the
    /// millisecond: what was lost there is to be lost here. Without a seed, in the middle.
    pub fn toml(&self, seed: Option<u64>) -> String {
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

    /// The link that is captured, and the file of the capture point.
    pub fn capture(&self) -> (&'static str, &'static str) {
        match self.place {
            Place::Server => ("wired", "wired.at-server.pcapng"),
            Place::Router => ("air", "air.at-router.pcapng"),
            Place::Client => ("air", "air.at-client.pcapng"),
        }
    }

    fn links(&self, text: &mut String, seed: Option<u64>) {
        let (from, to) = match self.heading {
            Heading::Download => ("server", "client"),
            Heading::Upload => ("client", "server"),
        };
        for (from, to) in [(from, "router"), ("router", to)] {
            let is_air = from == "client" || to == "client";
            let (name, rate, delay) = match is_air {
                true => ("air", self.rate_bit_s, self.air_s),
                false => ("wired", (10.0 * self.rate_bit_s).max(1e9), self.wired_s),
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
        let drop_tail =
            format!("{{ kind = \"drop-tail\", limit = \"{} packets\" }}", self.buffer.max(2));
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
                (1e6 * good_s).max(1.0),
                (1e6 * bad_s).max(1.0)
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
                (outage.least_s + place(index) * (outage.most_s - outage.least_s)).max(1e-5)
            }),
            if self.outages_hold { "holds" } else { "loses" },
        );
    }

    fn ends(&self, text: &mut String) {
        let sends = if self.heading == Heading::Download { "server" } else { "client" };
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
            Traffic::TwoWrites { write, reply, count, gap_s } => format!(
                "{{ kind = \"write-write-read\", head = \"{write} B\", body = \"{write} B\", reply = \"{reply} B\", \
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
