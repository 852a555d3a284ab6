//! A TUN device in the network namespace that the program itself is in.
//!
//! It needs CAP_NET_ADMIN there: root, or whoever is root in a user namespace, such as a command
//! inside one of our own namespaces. The device is gone when its descriptor is closed, whoever
//! closes it.

use super::device;
use super::inside::RouteSettings;
use super::netlink::{self, Request};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::ffi::CString;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::AsFd;

/// What a device in our own namespace looks like.
#[derive(Clone, Debug)]
pub struct TunHere {
    /// Its name, at most 15 bytes; the kernel puts a free number in the place of `%d`.
    pub name: String,
    /// Its addresses, each with the length of its prefix in bits.
    pub addresses: Vec<(IpAddr, u8)>,
    /// What else is reached through it: addresses with the lengths of their prefixes.
    pub routes: Vec<(IpAddr, u8)>,
    /// Bytes of IP packet that go through it.
    pub mtu: u16,
}

/// A device that was made, and what was refused.
#[derive(Debug)]
pub struct TunMade {
    /// Packets come and go here, without blocking. The device lives as long as this.
    pub file: File,
    /// The name that it got.
    pub name: String,
    /// Addresses and routes that the kernel refused, as `address A/L` and `route A/L`.
    pub refused: Vec<(String, Errno)>,
}

/// Makes the device and brings it up.
///
/// # Errors
/// What the kernel said: EPERM without CAP_NET_ADMIN, EACCES where `/dev/net/tun` may not be opened,
/// EBUSY where the name is taken.
pub fn make_here(wanted: &TunHere) -> nix::Result<TunMade> {
    let name = CString::new(wanted.name.as_str()).map_err(|_| Errno::EINVAL)?;
    let mut name = device::name_of(&name);
    let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let file = File::from(device::open()?);
    device::make(file.as_fd(), &mut name).ok_or_else(Errno::last)?;
    // Nobody at the other end asks for a link-local address. Without IPv6 there is none.
    let quiet = format!("/proc/sys/net/ipv6/conf/{}/addr_gen_mode", text_of(&name));
    let _ = std::fs::write(quiet, "1");
    let mtu = i32::from(wanted.mtu);
    let number = device::configure(control.as_fd(), &name, mtu).ok_or_else(Errno::last)?;
    let routing = netlink::open()?;
    let addresses = wanted.addresses.iter().map(|&(address, prefix)| {
        (format!("address {address}/{prefix}"), Request::address(address, prefix))
    });
    let plain = RouteSettings::default();
    let routes = wanted.routes.iter().map(|&(to, prefix)| {
        (format!("route {to}/{prefix}"), Request::route((to, prefix), &plain))
    });
    let mut refused = Vec::new();
    for (what, request) in addresses.chain(routes) {
        if let Err(errno) = request.carry_out(routing.as_fd(), number) {
            refused.push((what, errno));
        }
    }
    Ok(TunMade { file, name: text_of(&name), refused })
}

fn text_of(name: &device::Name) -> String {
    let bytes: Vec<u8> =
        name.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
