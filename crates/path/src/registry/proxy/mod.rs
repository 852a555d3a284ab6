//! Middle boxes at a wireless link, with their knobs: one file per box.

mod proxy_tcp;

use super::BuildError;
use crate::proxy::Proxy;
use ackord_units::{Choice, Mechanism};

/// Middle boxes.
pub static PROXY: &[Mechanism] = &[proxy_tcp::PROXY_TCP];

/// The middle box somebody chose.
pub fn build_proxy(choice: &Choice) -> Result<Proxy, BuildError> {
    match choice.mechanism.name {
        "proxy-tcp" => proxy_tcp::build(choice),
        name => Err(BuildError::UnknownMechanism { family: "proxy", name: name.to_owned() }),
    }
}
