//! Everything that the keeper needs, made before the clone so that it need not allocate.

use super::allowed::NamespaceError;
use super::inside::{CommandInside, Inside, RouteSettings, TerminalUse};
use super::message::QUESTION_LEN;
use super::netlink::Request;
use libc::{c_char, c_int, pid_t};
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::null;
use std::sync::Arc;

/// As many devices as the keeper has room for.
pub(super) const MOST_DEVICES: usize = 4;

/// What the keeper needs to know.
pub(super) struct Plan {
    /// The maps of a user namespace; nothing where none is made.
    pub(super) id_maps: Option<IdMaps>,
    /// Names of the devices, each at most 15 bytes; at least one.
    pub(super) devices: Vec<CString>,
    /// Where the first is from; the others are made.
    pub(super) device_exists: bool,
    /// Bytes of IP packet that go through each.
    pub(super) mtu: c_int,
    /// What should be there and may be refused.
    pub(super) wishes: Vec<Wish>,
    /// Commands to run once the driver says so.
    pub(super) commands: Vec<Command>,
}

/// What goes into `/proc/self/uid_map` and `gid_map`.
pub(super) struct IdMaps {
    /// "0 OUTSIDE 1" for users.
    pub(super) users: CString,
    /// The same for groups.
    pub(super) groups: CString,
}

/// Something that the kernel may refuse; told by its place, see [`Plan::wishes`].
pub(super) struct Wish {
    /// What it is called when it is refused.
    pub(super) name: String,
    /// What to do.
    pub(super) what: What,
    /// About which of the devices, where it is about one.
    pub(super) device: usize,
}

/// What to do for a wish.
pub(super) enum What {
    /// Write into a file, before the device is made.
    Write(CString, CString),
    /// Ask the kernel's routing, once the device is up.
    Ask(Request),
    /// Ask the kernel's routing; where it is refused, ask the second thing, which is the same
    /// without what a kernel may not have.
    AskOr(Request, Request),
}

/// A command as `execve` wants it.
pub(super) struct Command {
    /// Ended by a null pointer; into `words`.
    argv: Vec<*const c_char>,
    /// Ended by a null pointer; into `words`.
    environment: Vec<*const c_char>,
    /// What they point into: on the heap, so that they stay where they are.
    _words: Vec<CString>,
    pub(super) terminal: TerminalUse,
    /// Where standard output and standard error go, if not where the program's go.
    pub(super) streams: [Option<Arc<File>>; 2],
    /// Its process number as the keeper knows it; zero while it does not run.
    pub(super) process: Cell<pid_t>,
}

impl Command {
    pub(super) fn argv(&self) -> *const *const c_char {
        self.argv.as_ptr()
    }

    pub(super) fn environment(&self) -> *const *const c_char {
        self.environment.as_ptr()
    }
}

impl Plan {
    /// Makes ready what `inside` asks for, without a user namespace.
    pub(super) fn new(inside: &Inside) -> Result<Plan, NamespaceError> {
        let text =
            |text: &str| CString::new(text).map_err(|_| NamespaceError::BadText(text.to_owned()));
        let mut wishes = Vec::new();
        // Nobody on our device but us: no link-local address, no router to ask for. A kernel
        // without IPv6 has nothing to forbid.
        let own = [("addr_gen_mode", "1"), ("accept_ra", "0")];
        let own =
            own.map(|(name, value)| (format!("net/ipv6/conf/default/{name}"), value.to_owned()));
        for (path, value) in own.iter().chain(&inside.sysctls) {
            let file = text(&format!("/proc/sys/{path}"))?;
            let what = What::Write(file, text(value)?);
            wishes.push(Wish { name: path.clone(), what, device: 0 });
        }
        for &(address, prefix_len) in &inside.addresses {
            let name = format!("address {address}/{prefix_len}");
            let what = What::Ask(Request::address(address, prefix_len));
            wishes.push(Wish { name, what, device: 0 });
        }
        if let Some(settings) = &inside.route {
            wishes.extend(routes(inside, settings));
        }
        let mut devices = vec![text(&inside.device)?];
        for beside in &inside.beside {
            let plain = RouteSettings::default();
            wishes.extend(beside.reach.iter().map(|&(to, prefix_len)| Wish {
                name: format!("route {to}/{prefix_len} through {}", beside.name),
                what: What::Ask(Request::route((to, prefix_len), &plain)),
                device: devices.len(),
            }));
            devices.push(text(&beside.name)?);
        }
        assert!(devices.len() <= MOST_DEVICES, "no room for {} devices", devices.len());
        let commands: Result<Vec<_>, _> = inside.commands.iter().map(command).collect();
        Ok(Plan {
            id_maps: None,
            devices,
            device_exists: inside.device_exists,
            mtu: c_int::from(inside.mtu),
            wishes,
            commands: commands?,
        })
    }

    /// The descriptors that stay open inside, in order: these, and where the commands write.
    pub(super) fn kept(&self, sockets: [RawFd; 2]) -> Vec<RawFd> {
        let streams = self.commands.iter().flat_map(|command| command.streams.iter().flatten());
        let streams = streams.map(|file| file.as_raw_fd());
        let mut kept: Vec<RawFd> = streams.chain(sockets).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}

/// A route to each of what is to be reached, or else a default route for each family that there is
/// an address of.
fn routes(inside: &Inside, settings: &RouteSettings) -> Vec<Wish> {
    let plain = RouteSettings { congestion: None, ..settings.clone() };
    let wish = |name: String, request: &dyn Fn(&RouteSettings) -> Request| {
        let what = match &settings.congestion {
            None => What::Ask(request(settings)),
            // A kernel may not have this congestion control.
            Some(_) => What::AskOr(request(settings), request(&plain)),
        };
        Wish { name, what, device: 0 }
    };
    let to = |&(to, prefix_len): &(IpAddr, u8)| {
        let route = |settings: &RouteSettings| Request::route((to, prefix_len), settings);
        wish(format!("route {to}/{prefix_len}"), &route)
    };
    if !inside.reach.is_empty() {
        return inside.reach.iter().map(to).collect();
    }
    let default = |name: &str, is_it: &dyn Fn(&IpAddr) -> bool| {
        let (example, _) = *inside.addresses.iter().find(|(address, _)| is_it(address))?;
        let route = |settings: &RouteSettings| Request::default_route(example, settings);
        Some(wish(format!("default route of {name}"), &route))
    };
    let of_both = [default("IPv4", &IpAddr::is_ipv4), default("IPv6", &IpAddr::is_ipv6)];
    of_both.into_iter().flatten().collect()
}

fn command(command: &CommandInside) -> Result<Command, NamespaceError> {
    let bad = || NamespaceError::BadText(command.argv.join(" "));
    let c_string = |bytes: Vec<u8>| CString::new(bytes).map_err(|_| bad());
    let mut words = Vec::new();
    for word in &command.argv {
        words.push(c_string(word.clone().into_bytes())?);
    }
    if words.is_empty() {
        return Err(bad());
    }
    let arguments = words.len();
    let set =
        |name: &std::ffi::OsStr| command.environment.iter().any(|(own, _)| name == own.as_str());
    for (name, value) in std::env::vars_os().filter(|(name, _)| !set(name)) {
        let mut both = name.into_encoded_bytes();
        both.push(b'=');
        both.extend(value.into_encoded_bytes());
        words.push(c_string(both)?);
    }
    for (name, value) in &command.environment {
        words.push(c_string(format!("{name}={value}").into_bytes())?);
    }
    let pointers = |words: &[CString]| {
        words.iter().map(|word| CStr::as_ptr(word)).chain([null()]).collect::<Vec<_>>()
    };
    Ok(Command {
        argv: pointers(&words[..arguments]),
        environment: pointers(&words[arguments..]),
        terminal: command.terminal,
        streams: [command.stdout.clone(), command.stderr.clone()],
        process: Cell::new(0),
        _words: words,
    })
}

/// A question with a path after its message, see [`super::message::OPEN`]; nothing where the path
/// is too long.
pub(super) fn with_path(message: [u8; super::message::MESSAGE_LEN], path: &str) -> Option<Vec<u8>> {
    let mut question = message.to_vec();
    question.extend(path.as_bytes());
    question.push(0);
    (question.len() <= QUESTION_LEN && !path.contains('\0')).then_some(question)
}
