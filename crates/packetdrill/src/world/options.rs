//! What the options of a socket are, and what they make of an endpoint.

use super::link::Cork;
use super::option_table::{Name, integer};
use crate::setup::Setup;
use ackord_tcp::nagle::NagleOffConfig;
use ackord_tcp::registry::NagleVariant;
use ackord_tcp::{Config, Keepalive, Mechanisms};
use ackord_units::{Bytes, Span};
use ackord_wire::IpVersion;
use libc::{
    IP_TTL, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPV6_UNICAST_HOPS, IPV6_V6ONLY, SO_KEEPALIVE,
    SO_RCVLOWAT, SO_REUSEADDR, SOL_SOCKET, TCP_CORK, TCP_KEEPCNT, TCP_KEEPIDLE, TCP_KEEPINTVL,
    TCP_LINGER2, TCP_MAXSEG, TCP_NODELAY, TCP_SYNCNT, TCP_USER_TIMEOUT,
};
use std::collections::BTreeMap;

/// What a program has set.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) integers: BTreeMap<Name, i32>,
    pub(super) congestion: Option<&'static str>,
    pub(super) receive_buffer: Option<i32>,
    pub(super) send_buffer: Option<i32>,
    /// How long close waits; no time at all means a reset.
    pub(super) linger: Option<Span>,
    pub(super) receive_timeout: Option<Span>,
    pub(super) send_timeout: Option<Span>,
}
impl Options {
    pub(super) fn integer(&self, name: Name) -> i32 {
        let initial = integer(name).map_or(0, |option| option.initial);
        self.integers.get(&name).copied().unwrap_or(initial)
    }

    /// The same for an option whose initial value is a sysctl's, as `config` has it.
    pub(super) fn integer_with(&self, name: Name, config: &Config) -> i32 {
        let keepalive = config.keepalive;
        let secs = |span: Span| (span.as_millis() / 1_000) as i32;
        let linear = config.retries.syn_linear;
        let initial = match name {
            (IPPROTO_TCP, TCP_KEEPIDLE) => Some(secs(keepalive.idle)),
            (IPPROTO_TCP, TCP_KEEPINTVL) => Some(secs(keepalive.interval)),
            (IPPROTO_TCP, TCP_KEEPCNT) => Some(keepalive.probes as i32),
            (IPPROTO_TCP, TCP_SYNCNT) => {
                config.retries.syn.map(|all| all.saturating_sub(linear) as i32)
            }
            (IPPROTO_TCP, TCP_LINGER2) => config.closing.fin_wait_2_timeout.map(secs),
            _ => None,
        };
        match (self.integers.get(&name), initial) {
            (None, Some(initial)) => initial,
            _ => self.integer(name),
        }
    }

    pub(super) fn is_on(&self, name: Name) -> bool {
        self.integer(name) != 0
    }

    pub(super) fn reuses_address(&self) -> bool {
        self.is_on((SOL_SOCKET, SO_REUSEADDR))
    }

    pub(super) fn only_ipv6(&self) -> bool {
        self.is_on((IPPROTO_IPV6, IPV6_V6ONLY))
    }

    pub(super) fn receive_low_water(&self) -> usize {
        self.integer((SOL_SOCKET, SO_RCVLOWAT)).max(1) as usize
    }

    /// The time to live, or hop limit, of a connection's packets.
    pub(super) fn ttl(&self, ip: IpVersion) -> u8 {
        self.integer(match ip {
            IpVersion::V4 => (IPPROTO_IP, IP_TTL),
            IpVersion::V6 => (IPPROTO_IPV6, IPV6_UNICAST_HOPS),
        }) as u8
    }

    pub(super) fn cork(&self) -> Cork {
        if self.is_on((IPPROTO_TCP, TCP_CORK)) { Cork::In } else { Cork::Out }
    }

    /// What an endpoint is made of that begins with these options.
    pub(super) fn endpoint(&self, setup: &Setup, ip: IpVersion) -> (Config, Mechanisms) {
        let mut config = setup.config(ip);
        let set = |name| self.integers.get(&(IPPROTO_TCP, name)).copied();
        if let Some(mss) = set(TCP_MAXSEG) {
            config.mss = config.mss.min(Bytes(mss as u64));
        }
        if let Some(times) = set(TCP_SYNCNT) {
            // The linear ones come on top (tcp_write_timeout).
            config.retries.syn = Some(times as u32 + config.retries.syn_linear);
        }
        // A buffer that was set is no longer the kernel's to tune.
        if let Some(bytes) = self.receive_buffer {
            config.buffers.receive = Bytes(bytes as u64);
            config.buffers.tunes_receive = false;
        }
        if let Some(bytes) = self.send_buffer {
            config.buffers.send = Bytes(bytes as u64);
            config.buffers.tunes_send = false;
        }
        if let Some(millis) = set(TCP_USER_TIMEOUT).filter(|&millis| millis > 0) {
            config.retries.user_timeout = Some(Span::from_millis(millis as u64));
        }
        if let Some(secs) = set(TCP_LINGER2).filter(|&secs| secs > 0) {
            config.closing.fin_wait_2_timeout = Some(Span::from_secs(secs as u64));
        }
        config.keepalive = self.keepalive(config.keepalive);
        let mut mechanisms = setup.mechanisms();
        if let Some(congestion) = self.congestion {
            let mut stack = setup.stack.clone();
            assert!(stack.choose("congestion", congestion), "only what is listed is set");
            mechanisms.congestion = stack.congestion.config().build();
        }
        mechanisms.nagle = self.nagle(setup).config().build();
        (config, mechanisms)
    }

    /// The rule for small segments.
    pub(super) fn nagle(&self, setup: &Setup) -> NagleVariant {
        if self.is_on((IPPROTO_TCP, TCP_NODELAY)) {
            NagleOffConfig::default().into()
        } else {
            setup.stack.nagle.clone()
        }
    }

    /// How a silent peer is watched, where a program has said so.
    pub(super) fn keepalive(&self, otherwise: Keepalive) -> Keepalive {
        let set = |name| self.integers.get(&(IPPROTO_TCP, name)).copied();
        let span =
            |name, otherwise| set(name).map_or(otherwise, |secs: i32| Span::from_secs(secs as u64));
        let wanted = match self.integers.get(&(SOL_SOCKET, SO_KEEPALIVE)) {
            None => otherwise.wanted,
            Some(0) => false,
            Some(_) => true,
        };
        Keepalive {
            wanted,
            idle: span(TCP_KEEPIDLE, otherwise.idle),
            interval: span(TCP_KEEPINTVL, otherwise.interval),
            probes: set(TCP_KEEPCNT).map_or(otherwise.probes, |count| count as u32),
        }
    }
}
