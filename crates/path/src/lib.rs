//! The elements between endpoints, sans-IO, and the graph that wires them.
//!
//! | file | what |
//! | --- | --- |
//! | `graph.rs` | [`Graph`]: nodes, one-way links, forwarding, deliveries, conservation of packets |
//! | `graph/builder.rs` | [`GraphBuilder`]: how a graph is put together |
//! | `routes.rs` | which link leads where: the fewest links |
//! | `link/` | a transmitter with its queue, propagation delay (constant or drawn) and loss |
//! | `medium/` | what several links transmit on: Wi-Fi |
//! | `queue/` | what waits for a transmitter: drop-tail to FQ-CoDel and selective drop |
//! | `proxy/` | middleboxes beside a wireless link |
//! | `processing.rs` | [`Processing`]: the time that a host takes for what it sends |
//! | `packets.rs` | [`Packets`]: where the packets under way are kept |
//! | `follow/` | [`follow`]: the rate of a shaper that follows the link behind it |
//! | `schedule.rs` | [`Schedule`]: who is due next, over links here and endpoints in the simulator |
//! | `trace.rs` | [`Trace`]: delivery opportunities, read and written |
//! | `registry/` | every queue, loss model and jitter with its knobs, and how a choice becomes one |
//!
//! Every driver does the same: [`Graph::handle_packet`] when an endpoint sends,
//! [`Graph::poll_delivery`] at or after [`Graph::deadline`]. Inside, packets are worked on at the
//! instants at which they would move, however late the driver asks: lateness does not add up.
//!
//! Not modelled: link-layer framing (a packet costs its IP length, except on Wi-Fi), processing time
//! in routers, hop limits.

pub mod follow;
mod graph;
mod link;
mod medium;
mod packets;
mod processing;
pub mod proxy;
mod queue;
pub mod registry;
mod routes;
mod schedule;
mod trace;

pub use graph::builder::{GraphBuilder, GraphError};
pub use graph::{Conservation, Delivery, Graph, Unbalanced};
pub use link::{
    CaughtBy, Cellular, CellularConfig, ChangeRefused, Changes, Corruption, DelayDistribution,
    DelayShape, DropCounts, Duplication, ErrorRate, GilbertConfig, GilbertElliott, Jitter,
    JitterConfig, LinkChange, LinkConfig, LinkStats, LossModel, LossProcess, MediumId,
    Opportunities, Outage, OutageEffect, Pace, PacketOrder, RateSteps, RateStepsConfig, Redraw,
    Request, Shaper, Sojourn, SojournShape, TokenBucket, Window, Windows,
};
pub use medium::{Aggregation, Background, MediumConfig, MediumStats, OnOff, WifiConfig};
pub use packets::{Packets, Slot};
pub use processing::Processing;
pub use proxy::{Lifetime, Proxy, ProxyConfig, ProxyStats};
pub use queue::{
    BestWindow, BucketBy, Codel, CodelConfig, CountIn, DelayEstimate, Dequeued, DropList, DropTail,
    Drr, DrrConfig, FlowState, FqCodel, FqCodelConfig, Limit, PaperConfig, PaperDrop, Pie,
    PieConfig, PracticalConfig, PracticalDrop, PushOut, Queue, QueueContext, QueueDiscipline,
    QueueLength, Red, RedConfig, Sfq, SfqConfig, SfqTurn, Spacing, Threshold, TripSource, Weights,
};
pub use routes::Role;
pub use schedule::Schedule;
pub use trace::{Instant, OPPORTUNITY, Trace, TraceError};
