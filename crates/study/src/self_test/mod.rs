//! The diagnosis of captures, held against what really happened.
//!
//! See [`truth`](truth) for now.

mod bottleneck;
mod cases;
mod episodes;
mod facts;
mod pairs;
mod plan;
mod run;
mod truth;
mod view;
mod write;

pub use plan::{Heading, Path, Plan, Reader};
pub use run::{Place, SelfTestError};
pub use truth::TrueInterval;
pub use write::{KernelTotals, TruthFile, make_case};

/// Every case of a full test.
pub fn cases() -> Vec<Plan> {
    let families = cases::singles().into_iter().chain(pairs::pairs());
    let of = |(at, family): (usize, cases::Family)| {
        (0..family.cases).map(move |number| cases::case(&family, number, at)).collect::<Vec<_>>()
    };
    families.enumerate().flat_map(of).collect()
}
