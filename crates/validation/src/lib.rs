//! What this project says, held against stock kernels.
//!
//! | folder | what |
//! | --- | --- |
//! | `validate/` | [`validate`]: the simulator beside the stock kernel, scenario by scenario |
//! | `accuracy.rs` | [`accuracy`]: how exactly a machine emulates, beside the goals |
//! | `interop.rs` | [`interop`]: what came of our endpoint against the kernel's |
//! | `gateway_trials/` | [`gateway_trials`]: the gateway on stock kernels, beside its simulation |
//! | `switchback.rs` | [`switchback`]: turns of a link with a remedy and without, beside the simulator's truth |
//! | `rate_following/` | [`rate_following`]: a shaper that follows a cellular link, beside fixed rates and an oracle |
//! | `self_test/` | [`self_test`]: the diagnosis of captures, held against what really happened |
//!
//! Nothing is printed: whoever wants to show progress is called back.

pub mod accuracy;
pub mod gateway_trials;
pub mod interop;
pub mod rate_following;
pub mod self_test;
pub mod switchback;
pub mod validate;
