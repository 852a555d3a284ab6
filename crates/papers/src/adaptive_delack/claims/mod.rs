//! What the paper claims, with our verdicts and the measured facts behind them.
//!
//! A number may be off by a tenth, the phones' by the 95 % interval of the paper's own runs.
//!
//! | file | claims about |
//! | --- | --- |
//! | `arrivals.rs` | Fig. 4, §4.2, §4.3: gaps between segments |
//! | `simulation.rs` | Fig. 5 and 6, ns-3, §4.4 |
//! | `phones.rs` | Tables 1 and 2 and Eq. 1 in every reading |
//! | `seconds.rs` | Fig. 7, Fig. 8, §5.3: what a run looks like |

mod arrivals;
mod phones;
mod seconds;
mod simulation;

use super::ato::{Atos, LARGE, SMALL};
use super::measured::Measured;
use crate::claims::{Stated, at_least, at_most, paper};

/// Every claim, in the order of the paper.
pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let mut stated = arrivals::arrivals(&measured.simulations);
    stated.extend(simulation::windows(&measured.simulations));
    stated.extend(simulation::beside_ns3(measured));
    stated.extend(simulation::transfers(measured));
    stated.extend(phones::tables(&measured.phones));
    stated.extend(seconds::seconds(&measured.phones));
    stated.extend(gain_of_a(&measured.ato));
    stated
}

/// §3.2: what a large `a` does.
fn gain_of_a(atos: &Atos) -> [Stated; 2] {
    let (small, large) = (atos.of(&(0, SMALL)), atos.of(&(0, LARGE)));
    let [small_most, small_least] =
        [small.ato(|ato| ato.max_ms).mean, small.ato(|ato| ato.min_ms).mean];
    let gap = atos.of(&(0, "1.0")).ato(|ato| ato.max_ms).mean;
    [
        paper(
            "ato-least",
            format!("§3.2: with a large a (here {LARGE}) the ATO falls as low as 0.2 ms"),
            "ms",
            large.ato(|ato| ato.min_ms),
            at_most(0.2),
        )
        .published(0.2)
        .below("lower than with the small a", small_least)
        .why(format!(
            "With {SMALL} it stays above {small_least:.2} ms. A frame of 1500 B takes 0.326 ms at \
             54 Mbit/s with its overheads and no backoff, so gaps are no shorter; the paper's \
             phones saw 0.27 ms."
        )),
        paper(
            "ato-most",
            format!("§3.2: with a large a (here {LARGE}) the ATO rises as high as 5 s"),
            "ms",
            large.ato(|ato| ato.max_ms),
            at_least(5_000.0),
        )
        .published(5_000.0)
        .above("higher than with the small a", small_most)
        .why(format!(
            "With {SMALL} the largest is {small_most:.0} ms. The longest gap between segments in \
             these runs is {gap:.0} ms."
        ))
        .since(gap < 1_000.0, "Nothing here interrupts the radio for seconds"),
    ]
}
