//! Middle boxes at a wireless link, with their knobs: one file per box.

use super::BuildError;
use crate::proxy::Proxy;
use ackord_units::{Choice, Mechanism};

/// Middle boxes.
pub static PROXY: &[Mechanism] = &[];

/// The middle box somebody chose.
pub fn build_proxy(choice: &Choice) -> Result<Proxy, BuildError> {
    let name = choice.mechanism.name;
    Err(BuildError::UnknownMechanism { family: "proxy", name: name.to_owned() })
}
