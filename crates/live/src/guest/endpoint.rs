//! The application on a kernel that scripts are played against: does what their calls say.
//!
//! Scripts are played one after the other on one kernel. Each has sockets and ports of its own; what
//! an earlier one has set is taken back before the next one's settings, no metrics of connections are
//! kept, and its route is a new one.

use super::dialogue::Dialogue;
use super::script_messages::{Clocks, Facts, Prepared, ScriptOrder, ScriptTold, ScriptsJob};
use crate::scripted::addresses_of;
use crate::settings::{KernelFacts, SettingOutcome, SettingTold, Settings, settings_with};
use ackord_script::{Script, parse};
use ackord_sys::socket::{
    TCP_INFO_ROOM, accept, bind, connect, readable, set_option, tcp_info_bytes,
};
use ackord_sys::{Inside, Namespace, RouteSettings, replace_default_route};
use ackord_tcp::registry::Stack;
use ackord_wire::{IpVersion, NodeId, Side, host_address};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockType, getsockopt, listen, recv, send,
    shutdown, socket, sockopt,
};
use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The network card's name.
const CARD: &str = "eth0";
/// Bytes read at once.
const PIECE: usize = 64 * 1024;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 8;

pub(super) fn work(job: &ScriptsJob, line: &File) -> Result<(), Box<dyn Error>> {
    ackord_uml::seed_random_numbers(&job.entropy)?;
    let both = [IpVersion::V4, IpVersion::V6].map(|ip| host_address(NodeId(1), ip));
    let inside = Inside {
        device: CARD.to_owned(),
        device_exists: true,
        route: Some(RouteSettings::default()),
        ..Inside::new(vec![(both[0], 24), (both[1], 64)])
    };
    let _namespace = Namespace::create(&inside)?;
    let device = if_nametoindex(CARD)? as i32;
    let mut dialogue = Dialogue::open(device, line)?;
    let mut host =
        ScriptHost { device, both, facts: KernelFacts::of_this_machine(), before: BTreeMap::new() };
    let mut end = ScriptEnd::default();
    dialogue.answer(&ScriptTold::Ready(clocks()?))?;
    loop {
        let told = match dialogue.next()? {
            ScriptOrder::Prepare(number) => {
                let text = job.texts.get(number).ok_or("there is no such script")?;
                let script = parse(text).map_err(|_| "the script cannot be read")?;
                let (settings, prepared) = host.prepare(&script);
                end = ScriptEnd::open(&script, number, &settings)?;
                ScriptTold::Prepared(prepared)
            }
            order => end.obey(order),
        };
        dialogue.answer(&told)?;
    }
}

/// What belongs to the whole kernel.
struct ScriptHost {
    device: i32,
    both: [IpAddr; 2],
    facts: KernelFacts,
    /// What scripts have changed, as it was before.
    before: BTreeMap<PathBuf, String>,
}

impl ScriptHost {
    /// Sets everything as the script wants it, and nothing else.
    fn prepare(&mut self, script: &Script) -> (Settings, Prepared) {
        let mut prepared = Prepared::default();
        let mut refused = |what: &str, errno: &dyn std::fmt::Display| {
            prepared.refused.push(format!("{what}: {errno}"));
        };
        for (path, value) in std::mem::take(&mut self.before) {
            if let Err(error) = std::fs::write(&path, value) {
                refused(&path.display().to_string(), &error);
            }
        }
        let settings = settings_with(&script.stack, &self.facts);
        for sysctl in &settings.sysctls {
            let path = Path::new("/proc/sys").join(&sysctl.path);
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            match std::fs::write(&path, &sysctl.value) {
                Ok(()) => drop(self.before.entry(path).or_insert(before)),
                Err(error) => refused(&sysctl.path, &error),
            }
        }
        for example in self.both {
            if let Err(errno) = replace_default_route(example, self.device, &settings.route) {
                refused("default route", &errno);
            }
        }
        let profile = Stack::named(script.stack.profile()).unwrap_or_else(|_| script.stack.clone());
        let by_profile = settings_with(&profile, &self.facts).told;
        let instead = |told: &&SettingTold| matches!(told.outcome, SettingOutcome::Instead(_));
        for told in settings.told.iter().filter(instead) {
            let same = |other: &SettingTold| other.knob == told.knob && other.asked == told.asked;
            let of_profile = by_profile.iter().any(same);
            let list = if of_profile { &mut prepared.by_profile } else { &mut prepared.instead };
            list.push(told.clone());
        }
        (settings, prepared)
    }
}

/// The endpoint of a script.
#[derive(Default)]
struct ScriptEnd {
    /// The socket that was made first, which may only listen.
    first: Option<OwnedFd>,
    listens: bool,
    /// What it has accepted.
    accepted: Option<OwnedFd>,
    remote: Option<std::net::SocketAddr>,
    error: i32,
}

impl ScriptEnd {
    fn open(
        script: &Script,
        number: usize,
        settings: &Settings,
    ) -> Result<ScriptEnd, Box<dyn Error>> {
        let family = match script.ip {
            IpVersion::V4 => AddressFamily::Inet,
            IpVersion::V6 => AddressFamily::Inet6,
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let first = socket(family, SockType::Stream, flags, None)?;
        for option in &settings.options {
            // What a kernel does not have has been told.
            let _ = set_option(first.as_fd(), option.level, option.name, &option.value);
        }
        let side = script.side();
        let ends = addresses_of(number, script).endpoints(side);
        bind(first.as_fd(), ends.src)?;
        let listens = side == Side::Server;
        Ok(ScriptEnd {
            first: Some(first),
            listens,
            remote: Some(ends.dst),
            ..ScriptEnd::default()
        })
    }

    fn obey(&mut self, order: ScriptOrder) -> ScriptTold {
        if order == ScriptOrder::Ask {
            return ScriptTold::Facts(self.facts());
        }
        let needs_connection = matches!(
            order,
            ScriptOrder::Write(_) | ScriptOrder::Read(_) | ScriptOrder::Close | ScriptOrder::Abort
        );
        if needs_connection && self.socket().is_err() {
            let why = "an application has no socket of a connection that is not yet there";
            return ScriptTold::NoSuchCall(why.to_owned());
        }
        match self.act(order) {
            Ok(bytes) => ScriptTold::Done(bytes),
            Err(what) => ScriptTold::Otherwise(what),
        }
    }

    fn act(&mut self, order: ScriptOrder) -> Result<u64, String> {
        let named = |call: &'static str| move |errno: Errno| format!("{call}: {}", errno.desc());
        let first = self.first.as_ref().map(AsFd::as_fd);
        match (order, first, self.remote) {
            (ScriptOrder::Finish, ..) => {
                self.abort();
                *self = ScriptEnd::default();
            }
            (ScriptOrder::Connect, Some(socket), Some(remote)) => match connect(socket, remote) {
                Ok(()) | Err(Errno::EINPROGRESS) => {}
                Err(errno) => return Err(named("connect")(errno)),
            },
            (ScriptOrder::Listen, Some(socket), _) => {
                let backlog = Backlog::new(BACKLOG).map_err(named("listen"))?;
                listen(&socket, backlog).map_err(named("listen"))?;
            }
            (ScriptOrder::Write(bytes), ..) => {
                let data = vec![0; bytes as usize];
                let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
                return match send(self.socket()?, &data, flags) {
                    Ok(taken) => Ok(taken as u64),
                    // Before the connection is there, send(2) waits.
                    Err(Errno::EAGAIN) => Ok(0),
                    Err(errno) => Err(named("send")(errno)),
                };
            }
            (ScriptOrder::Read(bytes), ..) => {
                let socket = self.socket()?;
                let there = self.readable().unwrap_or(0);
                if there < bytes {
                    return Err(format!("{there} B can be read, not {bytes} B"));
                }
                return read(socket, bytes).map_err(named("recv"));
            }
            (ScriptOrder::ReadAll, ..) => {
                // An application that reads at once reads nothing before there is a connection.
                let Ok(socket) = self.socket() else { return Ok(0) };
                return read(socket, u64::MAX).map_err(named("recv"));
            }
            (ScriptOrder::Close, ..) => {
                shutdown(self.socket()?, Shutdown::Write).map_err(named("shutdown"))?;
            }
            (ScriptOrder::Release, ..) => {
                // Whoever listens for no more than one connection stops listening with it.
                self.accept();
                (self.first, self.accepted) = (None, None);
            }
            (ScriptOrder::Abort, ..) => self.abort(),
            _ => return Err("there is no socket".to_owned()),
        }
        Ok(0)
    }

    fn accept(&mut self) {
        if self.listens && self.accepted.is_none() {
            let first = self.first.as_ref().map(AsFd::as_fd);
            self.accepted = first.and_then(|socket| accept(socket).ok());
        }
    }

    /// The connection.
    fn socket(&mut self) -> Result<i32, String> {
        self.accept();
        let socket = if self.listens { &self.accepted } else { &self.first };
        let socket = socket.as_ref().map(AsRawFd::as_raw_fd);
        socket.ok_or_else(|| "there is no connection that could be accepted".to_owned())
    }

    fn readable(&self) -> Option<u64> {
        let socket = if self.listens { &self.accepted } else { &self.first };
        socket.as_ref().and_then(|socket| readable(socket.as_fd()).ok())
    }

    fn facts(&mut self) -> Facts {
        self.accept();
        let socket = if self.listens { &self.accepted } else { &self.first };
        let Some(socket) = socket else { return Facts { error: self.error, ..Facts::default() } };
        let mut room = [0; TCP_INFO_ROOM];
        let tcp_info = tcp_info_bytes(socket.as_fd(), &mut room).ok().map(<[u8]>::to_vec);
        // It is told once.
        let error = getsockopt(socket, sockopt::SocketError).unwrap_or(0);
        if error != 0 {
            self.error = error;
        }
        Facts { tcp_info, readable: readable(socket.as_fd()).ok(), error: self.error }
    }

    /// Resets what there is.
    fn abort(&mut self) {
        self.accept();
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        for socket in [self.accepted.take(), self.first.take()].into_iter().flatten() {
            let _ = nix::sys::socket::setsockopt(&socket, sockopt::Linger, &linger);
        }
    }
}

/// Reads so much, or all there is.
fn read(socket: i32, bytes: u64) -> Result<u64, Errno> {
    let mut room = vec![0; PIECE];
    let mut all = 0;
    while all < bytes {
        let most = PIECE.min((bytes - all) as usize);
        match recv(socket, &mut room[..most], MsgFlags::MSG_DONTWAIT) {
            Ok(0) | Err(Errno::EAGAIN | Errno::ENOTCONN) => break,
            Ok(some) => all += some as u64,
            Err(errno) => return Err(errno),
        }
    }
    Ok(all)
}

/// How this kernel counts time.
fn clocks() -> Result<Clocks, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/timer_list")?;
    let number = |key: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(key))?;
        line.split(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty())?.parse().ok()
    };
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(Clocks {
        monotonic: now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64,
        at: number("now at").ok_or("no time in timer_list")?,
        jiffies: number("jiffies:").ok_or("no ticks in timer_list")?,
        tick: number(".last_tick").unwrap_or(0),
        hz: hz(),
    })
}

/// Ticks per second, by how coarsely the kernel tells of its least timeout.
fn hz() -> u64 {
    let resolution = nix::time::clock_getres(ClockId::CLOCK_MONOTONIC_COARSE);
    resolution.map_or(250, |tick| 1_000_000_000 / (tick.tv_nsec() as u64).max(1))
}
