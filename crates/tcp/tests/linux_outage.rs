//! The sender of `profile = "linux"` through an outage, beside what a stock kernel did on the same
//! path with the same help.

mod kit;

use ackord_units::Span;
use kit::outage::{Help, Setup, run};

#[test]
fn explore() {
    for congestion in ["reno", "cubic"] {
        for sack in ["on", "off"] {
            for timestamps in ["on", "off"] {
                for (help, name) in Help::OUTAGES {
                    for outage in [1_500, 2_500] {
                        let outage = Span::from_millis(outage);
                        let base = Setup { congestion, timestamps, sack, help, outage, ..Setup::default() };
                        let outcome = run(base);
                        println!(
                            "{congestion} ts={timestamps} sack={sack} {name:15} {outage}: {:.2} MB, new after {:?} s, {} rexmt, {} timeouts",
                            outcome.mbytes,
                            outcome.new_data_after.map(|span| span.as_nanos() as f64 / 1e9),
                            outcome.retransmissions,
                            outcome.timeouts,
                        );
                    }
                }
            }
        }
    }
}
