//! Socket options that are an integer: which there are, what they may be, what they are at first.

use libc::{
    IP_FREEBIND, IP_MTU_DISCOVER, IP_RECVERR, IP_TOS, IP_TTL, IPPROTO_IP, IPPROTO_IPV6,
    IPPROTO_TCP, IPV6_TCLASS, IPV6_UNICAST_HOPS, IPV6_V6ONLY, SO_KEEPALIVE, SO_OOBINLINE,
    SO_PRIORITY, SO_RCVLOWAT, SO_REUSEADDR, SO_REUSEPORT, SOL_SOCKET, TCP_CORK, TCP_KEEPCNT,
    TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_LINGER2, TCP_MAXSEG, TCP_NODELAY, TCP_NOTSENT_LOWAT,
    TCP_QUICKACK, TCP_SYNCNT, TCP_USER_TIMEOUT,
};

/// An option by level and name.
pub(super) type Name = (i32, i32);

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntegerOption {
    pub(super) name: Name,
    pub(super) initial: i32,
    pub(super) values: Values,
}

/// What a program may set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values {
    /// Anything; not zero is one.
    Switch,
    /// From the first to the second; EINVAL beyond.
    Range(i32, i32),
}

const fn switch(name: Name, initial: i32) -> IntegerOption {
    IntegerOption { name, initial, values: Values::Switch }
}

const fn range(name: Name, initial: i32, (least, most): (i32, i32)) -> IntegerOption {
    IntegerOption { name, initial, values: Values::Range(least, most) }
}

/// linux/tcp.h; the libc crate has it for some targets only. Its control message has the same number.
pub(crate) const TCP_INQ: i32 = 36;

/// Defaults are Linux's. IP_FREEBIND, IP_TOS, IPV6_TCLASS, IP_RECVERR, IP_MTU_DISCOVER, SO_PRIORITY and
/// SO_REUSEPORT are kept and have no effect; SO_OOBINLINE neither, for urgent data is always in line.
pub(super) const INTEGERS: &[IntegerOption] = &[
    switch((SOL_SOCKET, SO_REUSEADDR), 0),
    switch((SOL_SOCKET, SO_REUSEPORT), 0),
    switch((SOL_SOCKET, SO_KEEPALIVE), 0),
    switch((SOL_SOCKET, SO_OOBINLINE), 0),
    range((SOL_SOCKET, SO_PRIORITY), 0, (0, 6)),
    range((SOL_SOCKET, SO_RCVLOWAT), 1, (0, i32::MAX)),
    switch((IPPROTO_TCP, TCP_NODELAY), 0),
    switch((IPPROTO_TCP, TCP_CORK), 0),
    switch((IPPROTO_TCP, TCP_QUICKACK), 1),
    range((IPPROTO_TCP, TCP_MAXSEG), 0, (88, 32_767)),
    range((IPPROTO_TCP, TCP_KEEPIDLE), 7_200, (1, 32_767)),
    range((IPPROTO_TCP, TCP_KEEPINTVL), 75, (1, 32_767)),
    range((IPPROTO_TCP, TCP_KEEPCNT), 9, (1, 127)),
    range((IPPROTO_TCP, TCP_SYNCNT), 6, (1, 127)),
    range((IPPROTO_TCP, TCP_LINGER2), 60, (-1, 60)),
    range((IPPROTO_TCP, TCP_USER_TIMEOUT), 0, (0, i32::MAX)),
    switch((IPPROTO_TCP, TCP_INQ), 0),
    range((IPPROTO_TCP, TCP_NOTSENT_LOWAT), 0, (i32::MIN, i32::MAX)),
    range((IPPROTO_IP, IP_TTL), 64, (1, 255)),
    range((IPPROTO_IP, IP_TOS), 0, (0, 255)),
    range((IPPROTO_IP, IP_MTU_DISCOVER), 1, (0, 5)),
    switch((IPPROTO_IP, IP_RECVERR), 0),
    switch((IPPROTO_IP, IP_FREEBIND), 0),
    switch((IPPROTO_IPV6, IPV6_V6ONLY), 0),
    range((IPPROTO_IPV6, IPV6_UNICAST_HOPS), 64, (1, 255)),
    range((IPPROTO_IPV6, IPV6_TCLASS), 0, (0, 255)),
];

/// The option of this name.
pub(super) fn integer(name: Name) -> Option<&'static IntegerOption> {
    INTEGERS.iter().find(|option| option.name == name)
}
