//! The situations: half of them can be helped, in half there is nothing to gain.

use super::super::model::{LossProcess, Model, Outage, Place, Traffic};
use super::super::table::RemedyKind;
use ackord_live::Direction;

/// A situation, and the remedy that is judged in it; none where there is nothing to gain.
#[derive(Clone, Debug)]
pub struct Situation {
    /// What it is.
    pub name: &'static str,
    /// The path, the ends and the applications, in truth.
    pub truth: Model,
    /// The remedy.
    pub remedy: Option<RemedyKind>,
}

/// All of them. Those called "beyond" have in them what no fitted scenario has.
pub fn situations() -> Vec<Situation> {
    let mut all = losses();
    all.extend(beyond());
    all.extend(outages());
    all.extend(windows());
    all.extend(applications());
    all.extend(nothing());
    all
}

fn helped(
    name: &'static str,
    remedy: RemedyKind,
    mut truth: Model,
    change: impl FnOnce(&mut Model),
) -> Situation {
    change(&mut truth);
    Situation { name, truth, remedy: Some(remedy) }
}

fn random(percent: f64) -> LossProcess {
    LossProcess::Random { share: percent / 100.0 }
}

fn losses() -> Vec<Situation> {
    let clean = Model::clean;
    vec![
        helped("loss 1 %, 20M 40 ms, BBR", RemedyKind::Bbr, clean(20e6, 0.04, 8_000_000), |m| {
            m.loss = random(1.0);
        }),
        helped("loss 3 %, 10M 80 ms, BBR", RemedyKind::Bbr, clean(10e6, 0.08, 3_000_000), |m| {
            m.loss = random(3.0);
            m.place = Place::Client;
        }),
        helped(
            "loss 0.5 %, upload, 8M 100 ms, BBR",
            RemedyKind::Bbr,
            clean(8e6, 0.1, 4_000_000),
            |m| {
                m.loss = random(0.5);
                m.direction = Direction::Upload;
            },
        ),
        helped("loss bursts, 20M 40 ms, BBR", RemedyKind::Bbr, clean(20e6, 0.04, 8_000_000), |m| {
            m.loss = LossProcess::Bursts { good_s: 0.25, bad_s: 0.003 };
        }),
        helped(
            "loss 1 %, 20M 60 ms, proxy",
            RemedyKind::ProxyTcp,
            clean(20e6, 0.06, 6_000_000),
            |m| {
                m.loss = random(1.0);
                m.place = Place::Router;
            },
        ),
        helped(
            "loss 2 %, 10M 50 ms, proxy",
            RemedyKind::ProxyTcp,
            clean(10e6, 0.05, 4_000_000),
            |m| {
                m.loss = random(2.0);
                (m.wired_s, m.air_s) = (0.02, 0.005);
                m.place = Place::Server;
            },
        ),
        helped(
            "loss 2 %, 10M 40 ms, snoop",
            RemedyKind::Snoop,
            clean(10e6, 0.04, 4_000_000),
            |m| {
                m.loss = random(2.0);
                m.buffer = 100;
                m.place = Place::Router;
            },
        ),
    ]
}

/// What no fitted scenario has: losses of acknowledgments, jitter, a rate that varies.
fn beyond() -> Vec<Situation> {
    let clean = Model::clean;
    vec![
        helped(
            "beyond: ACKs lost, 12M 50 ms, BBR",
            RemedyKind::Bbr,
            clean(12e6, 0.05, 4_000_000),
            |m| {
                // Both directions have it.
                m.more = "corrupt = { kind = \"random\", per_packet = \"1.5 %\" }\n".to_owned();
            },
        ),
        helped(
            "beyond: jitter, 20M 50 ms, proxy",
            RemedyKind::ProxyTcp,
            clean(20e6, 0.05, 5_000_000),
            |m| {
                m.loss = random(1.0);
                m.more =
                    "jitter = { kind = \"per-packet\", deviation = \"1 ms\", order = \"kept\" }\n"
                        .to_owned();
                m.place = Place::Router;
            },
        ),
        helped(
            "beyond: rate varies, 16M 60 ms, BBR",
            RemedyKind::Bbr,
            clean(16e6, 0.06, 6_000_000),
            |m| {
                m.loss = random(1.0);
                m.more = "rate_changes = { kind = \"schedule\", at = [\"1 s\", \"2 s\"], \
                      to = [\"10 Mbit/s\", \"16 Mbit/s\"], every = \"3 s\" }\n"
                    .to_owned();
            },
        ),
    ]
}

fn outage(from_s: f64, for_s: f64) -> Outage {
    Outage { from_s, least_s: for_s, most_s: for_s }
}

fn outages() -> Vec<Situation> {
    vec![
        helped(
            "outage of 1.5 s, 10M 40 ms, proxy",
            RemedyKind::ProxyTcp,
            Model::clean(10e6, 0.04, 6_000_000),
            |m| {
                m.outages = vec![outage(2.0, 1.5)];
                m.place = Place::Router;
            },
        ),
        helped(
            "two outages, 5M 60 ms, proxy",
            RemedyKind::ProxyTcp,
            Model::clean(5e6, 0.06, 4_000_000),
            |m| {
                m.outages = vec![outage(1.5, 1.0), outage(5.0, 2.2)];
                m.place = Place::Server;
            },
        ),
    ]
}

fn windows() -> Vec<Situation> {
    let clean = Model::clean;
    let window = |bytes: u64| move |m: &mut Model| m.receive_buffer = Some(bytes);
    vec![
        helped(
            "window 64 kB, 20M 100 ms",
            RemedyKind::ReceiveBuffer,
            clean(20e6, 0.1, 5_000_000),
            window(64_000),
        ),
        helped(
            "window 32 kB, 50M 40 ms",
            RemedyKind::ReceiveBuffer,
            clean(50e6, 0.04, 8_000_000),
            |m| {
                m.receive_buffer = Some(32_000);
                m.place = Place::Client;
            },
        ),
        helped(
            "first window, 200 kB, 50M 100 ms",
            RemedyKind::InitialWindow,
            clean(50e6, 0.1, 200_000),
            |_| {},
        ),
        helped(
            "first window, 400 kB, 100M 60 ms",
            RemedyKind::InitialWindow,
            clean(100e6, 0.06, 400_000),
            |_| {},
        ),
    ]
}

fn applications() -> Vec<Situation> {
    let writes =
        |gap_s: f64| Traffic::TwoWrites { head: 60, body: 60, reply: 200, count: 30, gap_s };
    let clean = Model::clean;
    vec![
        helped("two writes, 20M 20 ms", RemedyKind::NoDelay, clean(20e6, 0.02, 0), |m| {
            m.traffic = writes(0.3);
            m.place = Place::Client;
        }),
        helped("two writes, 5M 60 ms", RemedyKind::NoDelay, clean(5e6, 0.06, 0), |m| {
            m.traffic = writes(0.5);
            m.place = Place::Server;
        }),
        helped(
            "behind another, 10M 40 ms, FQ-CoDel",
            RemedyKind::FqCodel,
            clean(10e6, 0.04, 0),
            |m| {
                m.traffic = Traffic::Transfers { sizes: vec![150_000; 12], gap_s: 0.5 };
                (m.rivals, m.buffer) = (1, 250);
            },
        ),
    ]
}

fn nothing() -> Vec<Situation> {
    let none = |name, truth: Model, change: fn(&mut Model)| {
        let mut truth = truth;
        change(&mut truth);
        Situation { name, truth, remedy: None }
    };
    let clean = Model::clean;
    vec![
        none("clean, 20M 40 ms", clean(20e6, 0.04, 20_000_000), |_| {}),
        none("clean, 5M 80 ms", clean(5e6, 0.08, 8_000_000), |_| {}),
        none("clean, 100M 10 ms", clean(100e6, 0.01, 60_000_000), |_| {}),
        none("clean, at the client, 10M 30 ms", clean(10e6, 0.03, 10_000_000), |m| {
            m.place = Place::Client
        }),
        none("clean, at the router, 2M 60 ms", clean(2e6, 0.06, 3_000_000), |m| {
            m.place = Place::Router
        }),
        none("clean upload, 8M 40 ms", clean(8e6, 0.04, 8_000_000), |m| {
            m.direction = Direction::Upload
        }),
        none("deep buffer, 10M 40 ms", clean(10e6, 0.04, 12_000_000), |m| m.buffer = 600),
        none("Reno, 20M 20 ms", clean(20e6, 0.02, 16_000_000), |m| {
            m.congestion = "\"reno\"".to_owned();
        }),
        none("BBR already, loss 1 %, 10M 40 ms", clean(10e6, 0.04, 10_000_000), |m| {
            m.congestion = "\"bbr\"".to_owned();
            m.loss = random(1.0);
        }),
        none("small answers, 20M 40 ms", clean(20e6, 0.04, 0), |m| {
            m.traffic = Traffic::Questions {
                request: 300,
                response: 6_000,
                count: 40,
                gap_s: 0.1,
                think_s: 0.002,
            };
        }),
        none("small transfers with pauses, 20M 60 ms", clean(20e6, 0.06, 0), |m| {
            m.traffic = Traffic::Transfers { sizes: vec![10_000; 40], gap_s: 0.15 };
        }),
        none("two writes, Nagle off, 20M 20 ms", clean(20e6, 0.02, 0), |m| {
            m.traffic =
                Traffic::TwoWrites { head: 60, body: 60, reply: 200, count: 30, gap_s: 0.3 };
            m.no_delay = true;
        }),
    ]
}
