//! Middle boxes at a wireless link, with their knobs: one file per box.

mod proxy_tcp;
mod split;

use super::BuildError;
use crate::proxy::Proxy;
use ackord_units::{Choice, Mechanism};

/// Middle boxes.
pub static PROXY: &[Mechanism] = &[split::I_TCP, proxy_tcp::PROXY_TCP];

/// The middle box somebody chose.
pub fn build_proxy(choice: &Choice) -> Result<Proxy, BuildError> {
    match choice.mechanism.name {
        "i-tcp" => split::build_i_tcp(choice),
        "proxy-tcp" => proxy_tcp::build(choice),
        name => Err(BuildError::UnknownMechanism { family: "proxy", name: name.to_owned() }),
    }
}
