//! setsockopt and getsockopt; ioctl and fcntl.
//!
//! Most take effect when the connection begins: a connected socket keeps what it began with. At once
//! act TCP_NODELAY, TCP_CORK, TCP_QUICKACK (1: an acknowledgment that waits leaves; 0 changes
//! nothing), SO_KEEPALIVE with its times, TCP_USER_TIMEOUT, SO_SNDBUF, SO_LINGER, SO_RCVLOWAT and the timeouts of calls.
//! SO_SNDBUF and SO_RCVBUF hold as many bytes of payload as were asked for; getsockopt says twice
//! that, as the kernel does, which counts its own overhead.

use super::link::{Cork, Link};
use super::option_table::{INTEGERS, Name, TCP_INQ, Values, integer};
use super::socket::State;
use super::{Open, World};
use ackord_events::TcpState;
use ackord_tcp::Config;
use ackord_tcp::registry::Congestion;
use ackord_units::{Bytes, Choice, Knobs, Span, Time};
use ackord_wire::IpVersion;
use libc::{
    IP_TTL, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPV6_UNICAST_HOPS, SO_ACCEPTCONN, SO_DOMAIN,
    SO_ERROR, SO_KEEPALIVE, SO_LINGER, SO_PROTOCOL, SO_RCVBUF, SO_RCVTIMEO, SO_SNDBUF, SO_SNDTIMEO,
    SO_TYPE, SOL_SOCKET, TCP_CONGESTION, TCP_CORK, TCP_INFO, TCP_KEEPCNT, TCP_KEEPIDLE,
    TCP_KEEPINTVL, TCP_MAXSEG, TCP_NODELAY, TCP_NOTSENT_LOWAT, TCP_QUICKACK, TCP_USER_TIMEOUT,
};
use nix::errno::Errno;

/// linux/tcp.h and asm-generic/socket.h; the libc crate has them for some targets only.
const TCP_CC_INFO: i32 = 26;
const SO_MEMINFO: i32 = 55;
/// Longest name of a congestion control (TCP_CA_NAME_MAX).
const CONGESTION_NAME_LEN: usize = 16;
/// Limits of buffers: SOCK_MIN_SNDBUF and net.core.wmem_max, by payload.
const BUFFER: (i32, i32) = (2_304, 536_870_912);

impl World {
    /// Sets an option; `value` is what the program handed over, however long.
    pub(crate) fn set_option(&mut self, fd: i32, name: Name, value: &[u8]) -> Result<(), Errno> {
        self.socket(fd)?;
        match name {
            (SOL_SOCKET, SO_LINGER) => {
                let (on, secs) = (int(value)?, int(value.get(4..).unwrap_or(&[]))?);
                let span = Span::from_secs(secs.max(0) as u64);
                self.socket_mut(fd)?.options.linger = (on != 0).then_some(span);
            }
            (SOL_SOCKET, SO_RCVTIMEO) => {
                self.socket_mut(fd)?.options.receive_timeout = timeval(value)?;
            }
            (SOL_SOCKET, SO_SNDTIMEO) => {
                self.socket_mut(fd)?.options.send_timeout = timeval(value)?;
            }
            (SOL_SOCKET, SO_RCVBUF) => {
                let bytes = int(value)?.clamp(BUFFER.0, BUFFER.1);
                self.socket_mut(fd)?.options.receive_buffer = Some(bytes);
            }
            (SOL_SOCKET, SO_SNDBUF) => {
                let bytes = int(value)?.clamp(BUFFER.0, BUFFER.1);
                self.socket_mut(fd)?.options.send_buffer = Some(bytes);
                if let Some(key) = self.link_of(fd)
                    && let Some(link) = self.links.get_mut(&key)
                {
                    link.connection.set_send_buffer(Bytes(bytes as u64));
                }
            }
            (IPPROTO_TCP, TCP_CONGESTION) => self.set_congestion(fd, value)?,
            _ => self.set_integer(fd, name, value)?,
        }
        Ok(())
    }

    fn set_integer(&mut self, fd: i32, name: Name, value: &[u8]) -> Result<(), Errno> {
        let option = integer(name).ok_or(Errno::ENOPROTOOPT)?;
        let given = match value {
            // Options of IP may be a byte (do_ip_setsockopt).
            [byte, ..] if value.len() < 4 && name.0 == IPPROTO_IP => i32::from(*byte),
            _ => int(value)?,
        };
        let value = match (option.values, given) {
            (Values::Switch, given) => i32::from(given != 0),
            (Values::Range(least, most), given) if (least..=most).contains(&given) => given,
            _ => return Err(Errno::EINVAL),
        };
        self.socket_mut(fd)?.options.integers.insert(name, value);
        let Some(key) = self.link_of(fd) else { return Ok(()) };
        let (nagle, now) = (self.socket(fd)?.options.nagle(&self.setup), self.now());
        let keepalive =
            self.socket(fd)?.options.keepalive(self.setup.config(IpVersion::V4).keepalive);
        let Some(link) = self.links.get_mut(&key) else { return Ok(()) };
        match name {
            (IPPROTO_TCP, TCP_NODELAY) => {
                link.set_nagle(nagle);
                if value != 0 {
                    // What a cork holds leaves too; the cork stays (tcp_sock_set_nodelay).
                    link.hand_over_all();
                }
            }
            (IPPROTO_TCP, TCP_CORK) => {
                link.cork = if value != 0 { Cork::In } else { Cork::Out };
            }
            (SOL_SOCKET, SO_KEEPALIVE)
            | (IPPROTO_TCP, TCP_KEEPIDLE | TCP_KEEPINTVL | TCP_KEEPCNT) => {
                link.connection.set_keepalive(now, keepalive);
            }
            (IPPROTO_TCP, TCP_USER_TIMEOUT) => {
                let timeout = (value > 0).then(|| Span::from_millis(value as u64));
                link.connection.set_user_timeout(timeout);
            }
            (IPPROTO_TCP, TCP_QUICKACK) if value != 0 => link.connection.acknowledge_now(),
            (IPPROTO_IP, IP_TTL) if link.endpoints.dst.is_ipv4() => link.ttl = value as u8,
            (IPPROTO_IPV6, IPV6_UNICAST_HOPS) if link.endpoints.dst.is_ipv6() => {
                link.ttl = value as u8;
            }
            _ => {}
        }
        self.work(key);
        Ok(())
    }

    /// The control of a connection is settled when it begins.
    fn set_congestion(&mut self, fd: i32, value: &[u8]) -> Result<(), Errno> {
        let text = value.split(|&byte| byte == 0).next().unwrap_or(&[]);
        let name = std::str::from_utf8(text).map_err(|_| Errno::ENOENT)?;
        let found = Congestion::named(name).ok_or(Errno::ENOENT)?.mechanism().name;
        let socket = self.socket(fd)?;
        let now = socket.options.congestion.unwrap_or(self.setup.stack.congestion.mechanism().name);
        let connected = matches!(socket.state, State::Linked { .. });
        if connected && now != found {
            return Err(Errno::EBUSY);
        }
        if now != found {
            self.socket_mut(fd)?.options.congestion = Some(found);
        }
        Ok(())
    }

    /// What an option is, as long as the kernel would answer it.
    pub(crate) fn option(&mut self, fd: i32, name: Name) -> Result<Vec<u8>, Errno> {
        self.setup.refresh();
        let socket = self.socket(fd)?;
        let config = self.setup.config(IpVersion::V4);
        let twice = |bytes: Bytes| (bytes.get() * 2).min(i32::MAX as u64) as i32;
        let number = match name {
            (IPPROTO_TCP, TCP_INFO) => return Ok(self.tcp_info(socket)),
            (IPPROTO_TCP, TCP_CONGESTION) => {
                let set = socket.options.congestion;
                let mut text =
                    set.unwrap_or(self.setup.stack.congestion.mechanism().name).to_owned();
                text.truncate(CONGESTION_NAME_LEN - 1);
                let mut bytes = text.into_bytes();
                bytes.resize(CONGESTION_NAME_LEN, 0);
                return Ok(bytes);
            }
            (SOL_SOCKET, SO_LINGER) => {
                let linger = socket.options.linger;
                let secs = linger.map_or(0, |span| (span.as_millis() / 1_000) as i32);
                return Ok([i32::from(linger.is_some()), secs]
                    .iter()
                    .flat_map(|word| word.to_ne_bytes())
                    .collect());
            }
            (SOL_SOCKET, SO_RCVTIMEO) => return Ok(as_timeval(socket.options.receive_timeout)),
            (SOL_SOCKET, SO_SNDTIMEO) => return Ok(as_timeval(socket.options.send_timeout)),
            (SOL_SOCKET, SO_RCVBUF) => {
                let set = socket.options.receive_buffer;
                set.map_or(twice(config.buffers.receive), |bytes| bytes * 2)
            }
            (SOL_SOCKET, SO_SNDBUF) => {
                let set = socket.options.send_buffer;
                set.map_or(twice(config.buffers.send), |bytes| bytes * 2)
            }
            (SOL_SOCKET, SO_TYPE) => libc::SOCK_STREAM,
            (SOL_SOCKET, SO_PROTOCOL) => IPPROTO_TCP,
            (SOL_SOCKET, SO_DOMAIN) => match socket.family {
                IpVersion::V4 => libc::AF_INET,
                IpVersion::V6 => libc::AF_INET6,
            },
            (SOL_SOCKET, SO_ACCEPTCONN) => i32::from(matches!(socket.state, State::Listening(_))),
            (SOL_SOCKET, SO_ERROR) => self.take_error(fd).map_or(0, |error| error as i32),
            (IPPROTO_TCP, TCP_MAXSEG) => self.segment_size(fd)?,
            // No control here has anything to add: no bytes, as of the kernel's own CUBIC.
            (IPPROTO_TCP, TCP_CC_INFO) => return Ok(Vec::new()),
            (SOL_SOCKET, SO_MEMINFO) => return Ok(self.memory(fd, config)),
            _ if INTEGERS.iter().any(|option| option.name == name) => {
                socket.options.integer_with(name, &config)
            }
            _ => return Err(Errno::ENOPROTOOPT),
        };
        Ok(number.to_ne_bytes().to_vec())
    }

    /// SO_MEMINFO: the kernel's nine counters, as far as there is something to count.
    fn memory(&self, fd: i32, config: Config) -> Vec<u8> {
        let options = self
            .socket(fd)
            .map(|socket| (socket.options.receive_buffer, socket.options.send_buffer));
        let (receive, send) = options.unwrap_or_default();
        let twice = |set: Option<i32>, otherwise: Bytes| {
            set.map_or(otherwise.get(), |bytes| bytes as u64).saturating_mul(2) as u32
        };
        let link = self.link(fd);
        let mut words = [0_u32; 9];
        words[0] = link.map_or(0, |link| link.connection.readable().get() as u32);
        words[1] = twice(receive, config.buffers.receive);
        words[3] = twice(send, config.buffers.send);
        words[5] = link.map_or(0, |link| link.unacknowledged() as u32);
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// How much may wait unsent (TCP_NOTSENT_LOWAT; without it, the sysctl).
    pub(super) fn notsent_lowat(&self, fd: i32) -> u32 {
        let name = (IPPROTO_TCP, TCP_NOTSENT_LOWAT);
        match self.socket(fd).map_or(0, |socket| socket.options.integer(name)) {
            0 => self.setup.notsent_lowat,
            set => set as u32,
        }
    }

    /// What TCP_INQ adds to a read, if it is asked for: bytes that are left, or one for an end that
    /// waits to be read (tcp_inq_hint).
    pub(crate) fn left_to_read(&self, fd: i32) -> Option<i32> {
        self.socket(fd).ok()?.options.is_on((IPPROTO_TCP, TCP_INQ)).then(|| {
            let link = self.link(fd);
            link.map_or(0, |link| match link.connection.readable() {
                Bytes::ZERO => i32::from(link.connection.peer_finished()),
                left => left.get() as i32,
            })
        })
    }

    fn link(&self, fd: i32) -> Option<&Link> {
        self.links.get(&self.link_of(fd)?)
    }

    /// TCP_MAXSEG: of the connection, or what was set, or 536 before anything is known.
    fn segment_size(&self, fd: i32) -> Result<i32, Errno> {
        let set = self.socket(fd)?.options.integer((IPPROTO_TCP, TCP_MAXSEG));
        let link = self.link(fd);
        Ok(match link {
            Some(link) if link.connection.state() != TcpState::SynSent => {
                link.connection.smss().get() as i32
            }
            _ if set != 0 => set,
            _ => 536,
        })
    }

    /// The number that an ioctl asks for.
    pub(crate) fn waiting_bytes(&self, fd: i32, request: Waiting) -> Result<i32, Errno> {
        let file = self.file(fd)?;
        let socket = match (&file.open, request) {
            (Open::PipeOut(pipe) | Open::PipeIn(pipe), Waiting::In) => {
                return Ok(self.pipe_len(*pipe) as i32);
            }
            (Open::Socket(socket), _) => socket,
            _ => return Err(Errno::ENOTTY),
        };
        let key = match socket.state {
            State::Listening(_) => return Err(Errno::EINVAL),
            State::Fresh => return Ok(0),
            State::Linked { link, .. } => link,
        };
        let Some(link) = self.links.get(&key) else { return Ok(0) };
        Ok(match request {
            Waiting::In => link.connection.readable().get(),
            Waiting::Out => link.unacknowledged() + link.fin_outstanding(),
            Waiting::Unsent => link.unsent(),
        } as i32)
    }

    /// How a descriptor may be used, as F_GETFL says it.
    pub(crate) fn access_mode(&self, fd: i32) -> Result<i32, Errno> {
        Ok(match self.file(fd)?.open {
            Open::PipeOut(_) => libc::O_RDONLY,
            Open::PipeIn(_) => libc::O_WRONLY,
            Open::Socket(_) | Open::Epoll(_) => libc::O_RDWR,
        })
    }

    /// Until when a close that begins now lingers, if it does.
    pub(crate) fn linger_until(&self, fd: i32) -> Option<Time> {
        self.socket(fd).ok()?.options.linger.map(|span| self.now() + span)
    }
}

/// What an ioctl asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// FIONREAD, SIOCINQ: to be read.
    In,
    /// SIOCOUTQ: written and not acknowledged; a FIN counts.
    Out,
    /// SIOCOUTQNSD: written and not sent.
    Unsent,
}

fn int(value: &[u8]) -> Result<i32, Errno> {
    let bytes = value.get(..4).ok_or(Errno::EINVAL)?;
    Ok(i32::from_ne_bytes(bytes.try_into().map_err(|_| Errno::EINVAL)?))
}

/// A struct timeval; zero means for ever.
fn timeval(value: &[u8]) -> Result<Option<Span>, Errno> {
    let word = |at: usize| -> Result<i64, Errno> {
        let bytes = value.get(at..at + 8).ok_or(Errno::EINVAL)?;
        Ok(i64::from_ne_bytes(bytes.try_into().map_err(|_| Errno::EINVAL)?))
    };
    let (secs, micros) = (word(0)?, word(8)?);
    if !(0..1_000_000).contains(&micros) {
        return Err(Errno::EDOM);
    }
    let secs = secs.clamp(0, 1 << 32) as u64;
    let span = Span::from_secs(secs) + Span::from_micros(micros as u64);
    Ok((span > Span::ZERO).then_some(span))
}

fn as_timeval(span: Option<Span>) -> Vec<u8> {
    let micros = span.unwrap_or(Span::ZERO).as_nanos() / 1_000;
    let words = [(micros / 1_000_000) as i64, (micros % 1_000_000) as i64];
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
