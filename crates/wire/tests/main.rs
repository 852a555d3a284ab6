//! Packets and captures as bytes.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod codec;
mod pcapng;
mod tshark;
