//! The format of scripts, the runner, and every script of the project.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod failures;
mod format;
mod held;
mod permutations;
mod retold;
mod robust;
mod scripts;
