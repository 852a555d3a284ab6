//! Turns of the whole link, as a made-up link answers them.

use super::*;
use ackord_daemon::Harm;
use ackord_daemon::switchback::Outcome;
use ackord_units::portable;

const TURNS: Turns = Turns { length: Span::from_secs(4), settle: Span::from_secs(1), in_block: 2 };

/// A download of so many segments each 100 ms in turns with the remedy, and without; each is acknowledged 20 ms later.
/// Returns the engine after `seconds`.
fn download(with: u32, without: u32, seconds: u64) -> Engine {
    let config = EngineConfig { turns: Some(TURNS), ..config(0) };
    let mut engine = Engine::new(config, classes("proxy-tcp"), Box::new(|_| 0));
    let mut next = 1;
    for tenth in 0..10 * seconds {
        let millis = 100 * tenth;
        engine.handle_deadlines(at(millis));
        // A little noise, so that intervals have a width.
        let noise = ((tenth * 2_654_435_761) >> 7) as u32 % 2;
        let segments = noise + if engine.is_turn_treated() { with } else { without };
        for _ in 0..segments {
            let data = packet(Interface::Lan(0), segment(next, 1, MSS, millis), 0);
            see(&mut engine, millis, Interface::Lan(0), Way::Out, &data, MSS);
            next += MSS;
        }
        let ack = packet(Interface::Wan, segment(1, next, 0, millis), 0);
        see(&mut engine, millis + 20, Interface::Lan(0), Way::In, &ack, 0);
        let injected = injections(&mut engine);
        assert!(injected.is_empty() || engine.is_turn_treated(), "{injected:?}");
    }
    engine
}

#[test]
fn turns_show_what_remedies_do_to_the_link() {
    let engine = download(20, 10, 120);
    let compared = engine.link_compared();
    assert_eq!(compared.blocks, 14, "of 8 s each, the last not complete");
    let [delivered, _, air, others] = compared.log_ratios;
    let delivered = delivered.expect("many blocks");
    let truth = portable::ln(20.5 / 10.5);
    assert!(delivered.low < truth && truth < delivered.high, "{delivered:?} {truth}");
    assert!(air.expect("many blocks").mean.abs() < 0.01, "all that is sent arrives");
    assert_eq!(others, None, "no connection is without a remedy in all turns");
    assert_eq!(engine.classes()[0].standing(), Standing::AtWork);
}

#[test]
fn a_remedy_that_harms_the_link_stands_down_for_it() {
    let engine = download(9, 10, 120);
    let standing = engine.classes()[0].standing();
    let Standing::StoodDown { harm: Harm::ToLink(Outcome::Goodput), since } = standing else {
        panic!("{standing:?} after {:?}", engine.link_compared());
    };
    // Eight blocks of 8 s, and the look after them.
    assert!((at(64_000)..at(90_000)).contains(&since), "{since}");
    assert!(engine.is_turn_treated(), "there is nothing left to take turns with");
}

#[test]
fn without_remedies_no_turns_are_taken() {
    let config = EngineConfig { turns: Some(TURNS), ..config(0) };
    let alone = vec![ClassConfig { name: "default".into(), remedy: None }];
    let mut engine = Engine::new(config, alone, Box::new(|_| 0));
    for second in 0..60 {
        engine.handle_deadlines(at(1_000 * second));
        assert!(engine.is_turn_treated() && !engine.switches());
    }
}
