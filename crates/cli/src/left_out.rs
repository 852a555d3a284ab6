//! `ackord gateway` and `ackord agent` in a program that was built without them.

use clap::Args;
use std::ffi::OsString;

/// Not in this program: build it with `cargo build --release --package ackord-cli`
#[derive(Args)]
pub(crate) struct LeftOut {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}
