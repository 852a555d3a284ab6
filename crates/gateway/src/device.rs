//! Interfaces by ioctl, netdevice(7): their number, their state, what they are; and a TAP device of our own.

#![allow(unsafe_code, reason = "ioctl has no safe wrapper")]

use crate::LinkKind;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::fs::File;
use std::io::{self, Read as _};
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};

/// Bare IP, as modems have it (linux/if_arp.h).
const ARPHRD_RAWIP: u16 = 519;

/// What kind of link an interface of this type (`ARPHRD_*`) has, if that is understood.
pub(crate) fn link_kind(hardware: u16) -> Option<LinkKind> {
    match hardware {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Some(LinkKind::Ethernet),
        libc::ARPHRD_NONE | libc::ARPHRD_PPP | ARPHRD_RAWIP => Some(LinkKind::Bare),
        _ => None,
    }
}

/// Where interfaces are asked about.
#[derive(Debug)]
pub(crate) struct Control(OwnedFd);

/// An interface as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub(crate) index: u32,
    pub(crate) is_up: bool,
    /// `ARPHRD_*`.
    pub(crate) hardware: u16,
}

impl Control {
    pub(crate) fn open() -> io::Result<Control> {
        let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
        Ok(Control(socket))
    }

    fn ask(&self, number: libc::Ioctl, request: &mut libc::ifreq) -> Result<(), Errno> {
        // SAFETY: the numbers used here all ask for this structure.
        let answer =
            unsafe { libc::ioctl(self.0.as_raw_fd(), number, std::ptr::from_mut(request)) };
        Errno::result(answer).map(drop)
    }

    /// The interface of this name, ENODEV if there is none.
    pub(crate) fn present(&self, name: &str) -> Result<Present, Errno> {
        let mut request = request_for(name)?;
        self.ask(libc::SIOCGIFINDEX as libc::Ioctl, &mut request)?;
        // SAFETY: each answer is in the part of the union that belongs to its question.
        let index = unsafe { request.ifr_ifru.ifru_ifindex } as u32;
        self.ask(libc::SIOCGIFFLAGS as libc::Ioctl, &mut request)?;
        // SAFETY: as above.
        let is_up = i32::from(unsafe { request.ifr_ifru.ifru_flags }) & libc::IFF_UP != 0;
        self.ask(libc::SIOCGIFHWADDR as libc::Ioctl, &mut request)?;
        // SAFETY: as above.
        let hardware = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_family;
        Ok(Present { index, is_up, hardware })
    }

    /// A number that ethtool(8) tells, or EOPNOTSUPP.
    pub(crate) fn ethtool(&self, name: &str, command: u32) -> Result<u32, Errno> {
        let mut value = [command, 0];
        let mut request = request_for(name)?;
        request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        self.ask(libc::SIOCETHTOOL as libc::Ioctl, &mut request)?;
        Ok(value[1])
    }
}

fn request_for(name: &str) -> Result<libc::ifreq, Errno> {
    // SAFETY: all-zero bytes are a value of this plain structure.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.len() >= request.ifr_name.len() || name.contains('\0') {
        return Err(Errno::ENODEV);
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// A TAP device (or, without Ethernet headers, a TUN device), gone with its descriptor.
///
/// It takes packets of TCP whole that offloading has put together, with a virtio header before each. Nothing
/// but what is redirected goes there: it has no address, asks for nobody's, and speaks no IPv6.
#[derive(Debug)]
pub(crate) struct Tap {
    file: File,
    pub(crate) index: u32,
    /// Its own Ethernet address: what has it as its source is the kernel's own.
    pub(crate) address: [u8; 6],
}

impl Tap {
    /// The longest frame with its headers.
    pub(crate) const LONGEST: usize = (1 << 16) + 256;
    /// Below what IPv6 needs (RFC 8200 §5), so that the kernel does not do IPv6 there. What is redirected is
    /// not held to it.
    const MTU: libc::c_int = 1_000;
    /// Packets that may wait to be read: 20 ms of 200,000 a second.
    const WAITING: libc::c_int = 4_096;

    pub(crate) fn open(kind: LinkKind) -> io::Result<Tap> {
        // SAFETY: the path is a constant; the descriptor is owned from here on.
        let file = unsafe {
            let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NONBLOCK;
            let tap = Errno::result(libc::open(c"/dev/net/tun".as_ptr(), flags))?;
            File::from(OwnedFd::from_raw_fd(tap))
        };
        let layer = if kind == LinkKind::Ethernet { libc::IFF_TAP } else { libc::IFF_TUN };
        let mut request = request_for("ackord%d")?;
        request.ifr_ifru.ifru_flags =
            (layer | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        let tap = file.as_raw_fd();
        // SAFETY: the first takes the structure, the second a number.
        unsafe {
            Errno::result(libc::ioctl(tap, libc::TUNSETIFF, &raw mut request))?;
            Errno::result(libc::ioctl(tap, libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads)))?;
        }
        let control = Control::open()?;
        let (mut address, index) = ([0; 6], control.index(&mut request)?);
        if kind == LinkKind::Ethernet {
            control.ask(libc::SIOCGIFHWADDR as libc::Ioctl, &mut request)?;
            // SAFETY: the answer is in this part of the union.
            let bytes = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_data;
            for (to, from) in address.iter_mut().zip(bytes) {
                *to = from as u8;
            }
        }
        control.set_number(libc::SIOCSIFMTU as libc::Ioctl, &mut request, Tap::MTU)?;
        // Where this is refused 500 packets may wait.
        let _ = control.set_number(libc::SIOCSIFTXQLEN as libc::Ioctl, &mut request, Tap::WAITING);
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_NOARP) as libc::c_short;
        control.ask(libc::SIOCSIFFLAGS as libc::Ioctl, &mut request)?;
        Ok(Tap { file, index, address })
    }

    /// Reads a packet with its virtio header; nothing where none waits.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(into) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Control {
    fn index(&self, request: &mut libc::ifreq) -> Result<u32, Errno> {
        self.ask(libc::SIOCGIFINDEX as libc::Ioctl, request)?;
        // SAFETY: the answer is in this part of the union.
        Ok(unsafe { request.ifr_ifru.ifru_ifindex } as u32)
    }

    fn set_number(
        &self,
        number: libc::Ioctl,
        request: &mut libc::ifreq,
        value: libc::c_int,
    ) -> Result<(), Errno> {
        request.ifr_ifru.ifru_mtu = value;
        self.ask(number, request)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
