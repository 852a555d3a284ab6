//! Treated connections against those left alone, between stock kernels.

use super::{Trial, pause};
use crate::hosts::traffic::Stream;
use crate::hosts::world::{MOBILE, is_possible};
use ackord_gateway::watch::{Group, Standing};

/// A remedy that harms: the published Proxy TCP freezes a sender whenever nothing was heard from the mobile
/// host for two hundredths of a second, which a stock sender answers by its retransmission timer.
const HARMFUL: &str = "remedy = { kind = \"proxy-tcp\", mode = \"paper\"}\n\
                       control = \"50 %\"";

#[test]
fn a_remedy_made_harmful_on_purpose_stands_down_and_its_connections_go_on() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(20);
    trial.configure(HARMFUL);
    let mut text = std::fs::read_to_string(trial.file()).expect("it is there");
    text.push_str(
        "[harm]\nsustained = \"1 s\"\nflows = 8\nsignificance = \"1 %\"\nretry = \"never\"\n",
    );
    std::fs::write(trial.file(), text).expect("it is written");
    let mut gateway = trial.start();
    let mut stood_down = None;
    for round in 0..10 {
        let streams: Vec<Stream> = (0..12)
            .map(|port| Stream::start(&trial.world, MOBILE, 5_200 + round * 12 + port, 400_000))
            .collect();
        pause(400);
        trial.outage(800);
        for stream in streams {
            let (octets, are_right, _) = stream.finish();
            assert_eq!((octets, are_right), (400_000, true));
        }
        let status = trial.status();
        println!("{round}: {:?}", status.classes[0]);
        if let Standing::StoodDown { why, .. } = &status.classes[0].standing {
            stood_down = Some(why.clone());
            break;
        }
    }
    let why = stood_down.expect("two thirds of its goodput are gone");
    assert!(why.contains("slower") || why.contains("stall"), "{why}");
    // It is said, and nobody is treated any more.
    let status = trial.status();
    assert!(status.health.iter().any(|finding| finding.what.contains("stood down")));
    let after = Stream::start(&trial.world, MOBILE, 5_900, 2_000_000);
    let status = trial
        .until("untreated", |status| status.top_flows.iter().any(|one| one.mobile.port() == 5_900));
    let one = status.top_flows.iter().find(|one| one.mobile.port() == 5_900).expect("it is there");
    assert_eq!((one.group, one.injected_segments), (Group::Untreated, 0));
    assert!(after.finish().1);
    gateway.tell("stop");
}
