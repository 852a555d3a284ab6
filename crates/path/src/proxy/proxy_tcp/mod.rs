//! Proxy TCP: a Proxy Manager in the base station's LAN that watches connections over a wireless
//! link, repeats what was lost there, and bridges fading (Kang and Jang).
//!
//! | file | what |
//! | --- | --- |
//! | `paper.rs` | [`PaperProxy`]: what the paper says and no more |
//! | `practical.rs` | [`PracticalProxy`]: for use, beside the path or in it |
//! | `connection.rs` | one connection in practical mode |
//! | `detect.rs` | the wireless round trip, and the silence that counts as fading |
//! | `hold.rs` | while the mobile host is silent: probes, and what an answer says |
//! | `repair.rs` | which segments were lost while the link works |
//! | `stance.rs` | whether a connection is better off without repairs |
//! | `rate.rs` | how fast the link delivers: the pace of repetitions |
//! | `reserve.rs` | acknowledgments held back, in the path only |
//! | `copies.rs` | packets for the mobile host: data again, probes |
//! | `flows.rs` | the connections it knows, in bounded space |
//!
//! Both forms acknowledge nothing that the mobile has not, and send no data but what has passed.
//!
//! Not modelled: data that the mobile host sends; it passes.

mod connection;
mod copies;
mod detect;
mod flows;
mod hold;
mod paper;
mod practical;
mod rate;
mod repair;
mod reserve;
mod stance;

pub use flows::Limits;
pub use paper::{PaperConfig, PaperProxy, ProxyAckUse};
pub use practical::{Freeze, PracticalConfig, PracticalProxy, Standing};
pub use reserve::ReserveConfig;
