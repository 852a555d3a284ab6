//! Links, queues, middleboxes and the graph, from outside.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod ahead;
mod bucket;
mod common;
mod drr;
mod end_to_end;
mod extras;
mod fq_codel;
mod gilbert;
mod graph;
mod jitter;
mod link;
mod outage;
mod pace;
mod proxy;
mod proxy_tcp_paper;
mod proxy_tcp_practical;
mod queues;
mod red;
mod refusals;
mod selective_drop;
mod sfq;
mod split;
mod wifi;
