//! Proxy TCP: a Proxy Manager in the base station's LAN that watches connections over a wireless
//! link, repeats what was lost there, and bridges fading (Kang and Jang).
//!
//! | file | what |
//! | --- | --- |
//! | `paper.rs` | [`PaperProxy`]: what the paper says and no more |
//! | `detect.rs` | the wireless round trip, and the silence that counts as fading |
//! | `copies.rs` | packets for the mobile host: data again, probes |
//! | `flows.rs` | the connections it knows, in bounded space |
//!
//! Both forms acknowledge nothing that the mobile has not, and send no data but what has passed.

mod copies;
mod detect;
mod flows;
mod paper;

pub use flows::Limits;
pub use paper::{PaperConfig, PaperProxy, ProxyAckUse};
