//! What this project says, held against stock kernels.
//!
//! | folder | what |
//! | --- | --- |
//! | `validate/` | [`validate`]: the simulator beside the stock kernel, scenario by scenario |
//! | `gateway_trials/` | [`gateway_trials`]: the gateway on stock kernels, beside its simulation |
//! | `self_test/` | [`self_test`]: the diagnosis of captures, held against what really happened |
//!
//! Nothing is printed: whoever wants to show progress is called back.

pub mod gateway_trials;
pub mod self_test;
pub mod validate;
