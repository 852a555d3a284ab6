//! The endpoint from outside: two ends, or one end and a peer by hand.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod ack_policies;
mod buffers;
mod challenge;
mod dad_sd;
mod declared_lost;
mod ecn;
mod eifel;
mod frto;
mod growth;
mod idle;
mod kit;
mod linux_ecn;
mod linux_outage;
mod linux_outage_page;
mod linux_receiver;
mod linux_sender;
mod ns2_profile;
mod ordeal;
mod ordeal_findings;
mod ordeals;
mod pacing;
mod policies;
mod rack;
mod rack_linux;
mod recovery;
mod reordering;
mod rfc6298;
mod rfc6675;
mod snapshot;
mod transfer;
mod windows;
