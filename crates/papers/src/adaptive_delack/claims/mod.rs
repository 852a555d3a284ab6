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

use super::arrivals::Writes;
use super::ato::{self, LARGE, SMALL};
use super::ns3::Band;
use super::sample::{Sample, over};
use super::simulation::Row;
use crate::verdict::{Stated, Why, above, below};
use ackord_measure::{Allowed, Claim, Claimant};

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) simulation: &'a [Row],
    pub(super) at_once: &'a [Row],
    pub(super) band: &'a Band,
    pub(super) phones: &'a [super::phones::Row],
    pub(super) ato: &'a [ato::Row],
}

impl<'a> Findings<'a> {
    fn both_ways(&self) -> [(Writes, &'a [Row]); 2] {
        [(Writes::Messages, self.simulation), (Writes::AtOnce, self.at_once)]
    }
}

/// Every claim, in the order of the paper.
pub(super) fn claims(findings: &Findings<'_>) -> Vec<Claim> {
    let mut stated = arrivals::arrivals(findings);
    stated.extend(simulation::windows(findings));
    stated.extend(simulation::beside_ns3(findings));
    stated.extend(simulation::transfers(findings));
    stated.extend(phones::tables(findings));
    stated.extend(seconds::seconds(findings));
    stated.extend(gain_of_a(findings));
    stated.into_iter().map(Stated::judged).collect()
}

fn mean_of(row: &Row, pick: fn(&Sample) -> f64) -> f64 {
    over(&row.damaged, pick).mean
}

/// §3.2: what a large `a` does.
fn gain_of_a(findings: &Findings<'_>) -> Vec<Stated> {
    let (small, large) = (ato::find(findings.ato, SMALL, 0), ato::find(findings.ato, LARGE, 0));
    let (most, least) = (large.ato(|ato| ato.max_ms), large.ato(|ato| ato.min_ms));
    let small_most = small.ato(|ato| ato.max_ms).mean;
    let small_least = small.ato(|ato| ato.min_ms).mean;
    let gap = ato::find(findings.ato, "1.0", 0).ato(|ato| ato.max_ms).mean;
    vec![
        Stated {
            id: "ato-least".to_owned(),
            by: Claimant::Paper,
            what: format!("§3.2: with a large a (here {LARGE}) the ATO falls as low as 0.2 ms"),
            unit: "ms",
            paper: Some(0.2),
            allowed: Allowed::AtMost { high: 0.2 },
            measured: least,
            direction: below("lower than with the small a", &least, small_least),
            why: Why::measured(format!(
                "With {SMALL} it stays above {small_least:.2} ms. A frame of 1500 B takes 0.326 ms at \
                 54 Mbit/s with its overheads and no backoff, so gaps are no shorter; the paper's \
                 phones saw 0.27 ms."
            )),
        },
        Stated {
            id: "ato-most".to_owned(),
            by: Claimant::Paper,
            what: format!("§3.2: with a large a (here {LARGE}) the ATO rises as high as 5 s"),
            unit: "ms",
            paper: Some(5_000.0),
            allowed: Allowed::AtLeast { low: 5_000.0 },
            measured: most,
            direction: above("higher than with the small a", &most, small_most),
            why: Why::measured(format!(
                "With {SMALL} the largest is {small_most:.0} ms. The longest gap between segments in \
                 these runs is {gap:.0} ms."
            ))
            .since(gap < 1_000.0, "Nothing here interrupts the radio for seconds"),
        },
    ]
}
