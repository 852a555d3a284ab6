//! Middle boxes at a wireless link, with their knobs: one file per box.
//!
//! | file | what |
//! | --- | --- |
//! | `local.rs` | knobs of boxes that cache data and send it again |
//! | `m_tcp.rs` | M-TCP |
//! | `proxy_tcp.rs` | Proxy TCP |
//! | `snoop.rs` | Snoop |
//! | `split.rs` | boxes that split connections |

mod local;
mod m_tcp;
mod proxy_tcp;
mod snoop;
mod split;

use super::BuildError;
use crate::proxy::Proxy;
use ackord_units::{Choice, Mechanism};

/// Middle boxes.
pub static PROXY: &[Mechanism] =
    &[split::I_TCP, split::MTCP, snoop::SNOOP, m_tcp::M_TCP, proxy_tcp::PROXY_TCP];

/// Of these, the ones that leave connections whole: what they know may be lost at any time.
pub static WHOLE: &[Mechanism] = &[snoop::SNOOP, m_tcp::M_TCP, proxy_tcp::PROXY_TCP];

/// The middle box somebody chose.
pub fn build_proxy(choice: &Choice) -> Result<Proxy, BuildError> {
    match choice.mechanism.name {
        "i-tcp" => split::build_i_tcp(choice),
        "mtcp" => split::build_mtcp(choice),
        "proxy-tcp" => proxy_tcp::build(choice),
        "m-tcp" => m_tcp::build(choice),
        "snoop" => snoop::build(choice),
        name => Err(BuildError::UnknownMechanism { family: "proxy", name: name.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_box_can_be_built_with_its_defaults() {
        for mechanism in PROXY {
            for knob in mechanism.knobs {
                knob.default_value();
            }
            let proxy = build_proxy(&Choice::of(mechanism)).expect(mechanism.name);
            let is_whole = WHOLE.iter().any(|one| one.name == mechanism.name);
            assert_eq!(proxy.splits(), !is_whole, "{}", mechanism.name);
        }
    }
}
