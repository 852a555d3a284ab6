//! What the flags of a run say: a profile, mechanisms and knobs of the endpoint, and the few things
//! of the door itself.
//!
//! `profile=linux,cc=reno,loss=rack,sack=off,rto_min=300 ms`: the keys, values and words of scenario
//! files, with commas between. `profile` is taken first wherever it stands, so that it never undoes
//! what was said beside it; the rest in the order given. Without a profile it is `linux`, for whose
//! stack most scripts of packetdrill were written.

use ackord_tcp::registry::Stack;
use ackord_tcp::{Config, Mechanisms};
use ackord_units::{Bytes, nearest_name};
use ackord_wire::IpVersion;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// What the endpoints of one run are made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setup {
    pub(crate) stack: Stack,
    /// The address a socket gets that connects without having been bound.
    pub(crate) local: Locals,
    /// Octets of the largest IP packet that leaves.
    pub(crate) mtu: u16,
}

/// Our own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locals {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
}

/// Keys of the door itself, beside those of an endpoint.
const OWN_KEYS: [&str; 3] = ["local", "local6", "mtu"];
/// The profile of those who name none.
const DEFAULT_PROFILE: &str = "linux";

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            stack: Stack::named(DEFAULT_PROFILE).expect("registered"),
            // In the networks from which packetdrill takes its own local addresses.
            local: Locals {
                v4: Ipv4Addr::new(192, 168, 0, 2),
                v6: Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 2),
            },
            mtu: 1500,
        }
    }
}

impl Setup {
    /// Reads flags; the error is for people.
    pub(crate) fn parse(flags: &str) -> Result<Setup, String> {
        let mut setup = Setup::default();
        let settings = || flags.split(',').map(str::trim).filter(|text| !text.is_empty());
        let is_profile = |text: &&str| text.split('=').next().map(str::trim) == Some("profile");
        for setting in settings().filter(is_profile) {
            setup.stack.set_text(setting).map_err(|error| error.to_string())?;
        }
        for setting in settings().filter(|text| !is_profile(text)) {
            setup.set(setting)?;
        }
        setup.stack.check().map_err(|error| error.to_string())?;
        Ok(setup)
    }

    fn set(&mut self, setting: &str) -> Result<(), String> {
        let (key, value) = match setting.split_once('=') {
            Some((key, value)) => (key.trim(), value.trim()),
            None => return self.stack.set_text(setting).map_err(|error| error.to_string()),
        };
        match key {
            "local" => self.local.v4 = parsed(key, value, "an IPv4 address")?,
            "local6" => self.local.v6 = parsed(key, value, "an IPv6 address")?,
            "mtu" => {
                self.mtu = parsed(key, value, "octets, 128 to 65535")?;
                if self.mtu < 128 {
                    return Err(format!("mtu: `{value}` is not octets, 128 to 65535"));
                }
            }
            _ => self.stack.set(key, value).map_err(|error| match nearest_name(key, OWN_KEYS) {
                Some(own) => format!("{error}; of the door itself: {own}"),
                None => error.to_string(),
            })?,
        }
        Ok(())
    }

    /// The configuration of an endpoint that speaks this version of IP.
    pub(crate) fn config(&self, ip: IpVersion) -> Config {
        let mut config = self.stack.config();
        // RFC 6691 §2: the MTU less the headers without options.
        let headers = Bytes(u64::from(ip.header_len()) + 20);
        config.mss = config.mss.min(Bytes(u64::from(self.mtu)).saturating_sub(headers));
        config.ip = ip;
        config
    }

    /// The mechanisms of an endpoint, newly built.
    pub(crate) fn mechanisms(&self) -> Mechanisms {
        self.stack.mechanisms()
    }
}

impl Locals {
    /// The one of the same family as `peer`.
    pub(crate) fn toward(&self, peer: IpAddr) -> IpAddr {
        match peer {
            IpAddr::V4(_) => IpAddr::V4(self.v4),
            IpAddr::V6(_) => IpAddr::V6(self.v6),
        }
    }
}

fn parsed<T: FromStr>(key: &str, value: &str, what: impl fmt::Display) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key}: `{value}` is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_flags_it_is_linux() {
        assert_eq!(Setup::parse("").expect("nothing is fine"), Setup::default());
        assert_eq!(Setup::default().stack.ack.mechanism.name, "linux");
    }

    #[test]
    fn a_profile_does_not_undo_what_stands_before_it() {
        let setup = Setup::parse("cc=reno, sack=off,profile=rfc,mtu=576").expect("valid");
        assert_eq!(setup.stack.congestion.mechanism.name, "reno");
        assert_eq!(setup.stack.ack.mechanism.name, "delayed");
        assert_eq!(setup.config(IpVersion::V4).mss, Bytes(536));
        assert_eq!(setup.config(IpVersion::V6).mss, Bytes(516));
    }

    #[test]
    fn what_is_wrong_names_what_was_probably_meant() {
        let cases = [
            ("profile=linus", "linux"),
            ("cc=rno", "reno"),
            ("rto_mni=1 s", "rto_min"),
            ("locla=192.0.2.1", "local"),
            ("local=here", "IPv4 address"),
            ("mtu=90", "128 to 65535"),
            ("rto_min=3 m", "rto_min"),
            ("cubic", "key=value"),
        ];
        for (flags, named) in cases {
            let error = Setup::parse(flags).expect_err(flags);
            assert!(error.contains(named), "{flags}: {error}");
        }
    }
}
