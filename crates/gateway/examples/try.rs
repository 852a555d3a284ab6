use ackord_gateway::*;
use ackord_path::registry::{PROXY, build_proxy};
use ackord_units::{Bytes, Choice};
use std::ops::ControlFlow;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mechanism = PROXY.iter().find(|one| one.name == words[3]).expect("registered");
    let proxy = build_proxy(&Choice::of(mechanism)).expect("sound");
    let limits =
        Limits { connections: 10_000, octets_each: Bytes(1 << 20), octets_in_all: Bytes(1 << 27) };
    let config = EngineConfig {
        limits,
        wan: LinkKind::Ethernet,
        lan: LinkKind::Ethernet,
        control_per_mille: 0,
    };
    let mut drive = Drive::open((&words[1], &words[2]), config, proxy).expect("open");
    let turns: u64 = words[4].parse().expect("seconds");
    let began = std::time::Instant::now();
    drive
        .run(|_| {
            if began.elapsed().as_secs() < turns {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .expect("run");
    let rings = drive.rings();
    println!(
        "{:?}\n{:?}\n{:?} not taken {}",
        drive.engine().stats(),
        drive.engine().proxy_stats(),
        rings,
        drive.not_taken()
    );
    for one in drive.engine().connections().iter() {
        println!("{:?} {:?}", one.key, one.counters);
    }
}
