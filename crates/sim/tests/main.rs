//! Whole simulations, held against theory.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod answers;
mod bucket;
mod congestion;
mod cwnd_use;
mod datagrams;
mod dumbbell;
mod ecn;
mod fills_path;
mod foreign;
mod killed_box;
mod phase;
mod split;
mod stands_aside;
mod workloads;
