//! What the inside of a namespace looks like: said by the driver before there is one.
//!
//! | type | what |
//! | --- | --- |
//! | [`Inside`] | device, addresses, sysctls, routes, commands |
//! | [`DeviceBeside`] | another device, as a router has |
//! | [`RouteSettings`] | the default route through the device, and what its connections start with |
//! | [`CommandInside`] | a command that may be started later |
//!
//! Not modelled: neighbours (nobody is asked for one), a mount namespace
//! (the command sees the files of the program, `/proc` included).

use ackord_units::Span;
use std::fs::File;
use std::net::IpAddr;
use std::sync::Arc;

/// The name of the device where nothing else is said.
pub const DEVICE: &str = "ackord0";

/// What the inside of a namespace looks like.
#[derive(Clone, Debug)]
pub struct Inside {
    /// The device's name, 1 to 15 bytes without a slash or a space.
    pub device: String,
    /// The device is there: the network card of a machine that is ours alone, in the namespace it is in.
    /// Otherwise it is made, as a TUN device, in a network namespace that is made for it.
    pub device_exists: bool,
    /// The kernel's addresses on it, of either family, each with the length of its prefix in bits.
    /// A kernel without IPv6 refuses those of IPv6, see [`super::Namespace::refused`].
    pub addresses: Vec<(IpAddr, u8)>,
    /// Bytes of IP packet that go through the device.
    pub mtu: u16,
    /// Files under `/proc/sys` (such as `net/ipv4/tcp_sack`) and what to write there, in this
    /// order, before the device is made. What is refused does not stop anything, see
    /// [`super::Namespace::refused`].
    pub sysctls: Vec<(String, String)>,
    /// The routes through the device; nothing for none at all, so that only what shares a prefix
    /// with an address is reached.
    pub route: Option<RouteSettings>,
    /// Where the routes lead: addresses with the lengths of their prefixes; everything, in both
    /// families, if there is nothing here.
    pub reach: Vec<(IpAddr, u8)>,
    /// TUN devices beside that one, of the same MTU; at most three.
    pub beside: Vec<DeviceBeside>,
    /// Commands that may be started, by their place here.
    pub commands: Vec<CommandInside>,
}

/// A TUN device without settings of its own.
#[derive(Clone, Debug)]
pub struct DeviceBeside {
    /// Its name, as [`Inside::device`].
    pub name: String,
    /// What is reached through it: addresses with the lengths of their prefixes.
    pub reach: Vec<(IpAddr, u8)>,
}

impl Inside {
    /// A device of 1500 bytes with these addresses, and nothing else.
    pub fn new(addresses: Vec<(IpAddr, u8)>) -> Inside {
        Inside {
            device: DEVICE.to_owned(),
            device_exists: false,
            addresses,
            mtu: 1500,
            sysctls: Vec::new(),
            route: None,
            reach: Vec::new(),
            beside: Vec::new(),
            commands: Vec::new(),
        }
    }
}

/// What connections over the default route start with; nothing leaves the kernel its own way.
///
/// The attributes are those of ip-route(8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteSettings {
    /// The initial congestion window, in segments.
    pub initcwnd: Option<u32>,
    /// The initial receive window, in segments.
    pub initrwnd: Option<u32>,
    /// Whether every segment is acknowledged at once, and not as the kernel sees fit.
    pub quick_ack: bool,
    /// The least retransmission timeout; the kernel counts in milliseconds.
    pub rto_min: Option<Span>,
    /// The duplicate threshold that connections start with; works only where the kernel keeps
    /// metrics of old connections.
    pub reordering: Option<u32>,
    /// The congestion control. Unlike the sysctl of a namespace, a route may name any that the
    /// kernel has.
    pub congestion: Option<String>,
}

/// A command inside.
#[derive(Clone, Debug)]
pub struct CommandInside {
    /// Its name, looked for in `PATH`, and its arguments.
    pub argv: Vec<String>,
    /// Set besides the program's own environment, or in place of what is there.
    pub environment: Vec<(String, String)>,
    /// What it has of the terminal.
    pub terminal: TerminalUse,
    /// Where its standard output goes; the program's own where nothing is said.
    pub stdout: Option<Arc<File>>,
    /// Where its standard error goes; the program's own where nothing is said.
    pub stderr: Option<Arc<File>>,
}

impl CommandInside {
    /// A command that shares terminal and streams with the program, as a child in a shell's job
    /// does.
    pub fn new(argv: Vec<String>) -> CommandInside {
        CommandInside {
            argv,
            environment: Vec::new(),
            terminal: TerminalUse::Shared,
            stdout: None,
            stderr: None,
        }
    }
}

/// What a command has of the terminal, if the program runs at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalUse {
    /// It is part of the program's job: Ctrl-C reaches both.
    Shared,
    /// It has the terminal as a job of its own: Ctrl-C and Ctrl-Z reach it and not the program, so
    /// that a shell's job control works and the path stays up until the command has ended.
    Foreground,
    /// It reads nothing and no key reaches it.
    Background,
}
