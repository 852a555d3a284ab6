//! The environment of a program of one thread.

#![allow(unsafe_code, reason = "the environment is set, which no other thread may read meanwhile")]

use std::fs;
use std::io::{Error, ErrorKind, Result};

/// Sets the environment of this program to this and nothing else.
///
/// # Errors
/// Where the program has another thread, or `/proc` does not say.
pub fn replace_environment(environment: &[(String, String)]) -> Result<()> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(Error::new(ErrorKind::ResourceBusy, "another thread may read the environment"));
    }
    let before: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    // SAFETY: this is the only thread, as has just been seen, so that nobody reads it meanwhile.
    unsafe {
        for name in before {
            std::env::remove_var(name);
        }
        for (name, value) in environment {
            std::env::set_var(name, value);
        }
    }
    Ok(())
}
