//! Where the time of a connection went.
//!
//! | file | what |
//! | --- | --- |
//! | `span.rs` | the account as it is written while packets pass |

mod span;

pub(crate) use span::{Account, Measured, NO_LOSS, Stretch, Wait};
