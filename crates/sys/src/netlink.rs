//! Messages of rtnetlink(7) for addresses and default routes, made before they are needed.
//!
//! Only the number of the device is missing in them; it is filled in where the device is made. So
//! they can be sent by a process that must not allocate. The layout is that of rtnetlink(7).

use super::inside::RouteSettings;
use libc::c_int;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send,
    socket,
};
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// `RTAX_*` of `linux/rtnetlink.h`, which `libc` does not have.
mod metric {
    pub(super) const LOCK: u16 = 1;
    pub(super) const REORDERING: u16 = 9;
    pub(super) const INITCWND: u16 = 11;
    pub(super) const RTO_MIN: u16 = 13;
    pub(super) const INITRWND: u16 = 14;
    pub(super) const QUICKACK: u16 = 15;
    pub(super) const CC_ALGO: u16 = 16;
}

/// Bytes of `nlmsghdr`.
const HEADER: usize = 16;
/// Bytes that the kernel has for the name of a congestion control, the zero at its end included.
const CONGESTION_NAME: usize = 16;
/// Bytes of the longest request: a route with every attribute has 116, names of congestion
/// controls included, which have 16 at most.
const LONGEST: usize = 256;

/// A request that lacks only the number of the device.
#[derive(Clone, Debug)]
pub(super) struct Request {
    bytes: Vec<u8>,
    /// Where the device's number goes, four bytes.
    device_at: usize,
}

impl Request {
    fn new(kind: u16, flags: c_int) -> Request {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Request { bytes, device_at: 0 }
    }

    /// An address with a prefix of this many bits. It may be used at once: nobody else is on the
    /// device who could have it too.
    pub(super) fn address(address: IpAddr, prefix_len: u8) -> Request {
        let mut request = Request::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        let no_detection = libc::IFA_F_NODAD as u8;
        request.bytes.extend([family(address), prefix_len, no_detection, libc::RT_SCOPE_UNIVERSE]);
        request.device_at = request.bytes.len();
        request.bytes.extend([0; 4]);
        request.attribute(libc::IFA_LOCAL, &bytes_of(address));
        request.attribute(libc::IFA_ADDRESS, &bytes_of(address));
        request.done()
    }

    /// A route to everything through the device, of the family of `example`.
    pub(super) fn default_route(example: IpAddr, settings: &RouteSettings) -> Request {
        let nowhere = match example {
            IpAddr::V4(_) => IpAddr::from([0; 4]),
            IpAddr::V6(_) => IpAddr::from([0; 16]),
        };
        Request::route((nowhere, 0), settings)
    }

    /// A route to what shares the first bits with an address, through the device.
    pub(super) fn route((to, prefix_len): (IpAddr, u8), settings: &RouteSettings) -> Request {
        // Nobody's route is taken away: in a namespace of somebody else there may be one.
        let mut request = Request::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL);
        request.bytes.extend([
            family(to),
            prefix_len,
            0,
            0,
            libc::RT_TABLE_MAIN,
            libc::RTPROT_BOOT,
            libc::RT_SCOPE_LINK,
            libc::RTN_UNICAST,
        ]);
        request.bytes.extend([0; 4]);
        if prefix_len > 0 {
            request.attribute(libc::RTA_DST, &bytes_of(to));
        }
        request.device_at = request.bytes.len() + 4;
        request.attribute(libc::RTA_OIF, &[0; 4]);
        let metrics = metrics(settings);
        if !metrics.is_empty() {
            request.attribute(libc::RTA_METRICS | libc::NLA_F_NESTED as u16, &metrics);
        }
        request.done()
    }

    /// The same in the place of what is there.
    fn replacing(mut self) -> Request {
        let flags =
            libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
        self.bytes[6..8].copy_from_slice(&(flags as u16).to_ne_bytes());
        self
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        attribute(&mut self.bytes, kind, value);
    }

    fn done(mut self) -> Request {
        let len = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&len.to_ne_bytes());
        self
    }

    /// Sends the request about the device of this number, and waits for the kernel's word.
    /// The errno where it is refused.
    /// Nothing is allocated, locked or freed.
    pub(super) fn carry_out(&self, socket: BorrowedFd<'_>, device: c_int) -> nix::Result<()> {
        let mut question = [0_u8; LONGEST];
        let len = self.bytes.len().min(LONGEST);
        question[..len].copy_from_slice(&self.bytes[..len]);
        question[self.device_at..self.device_at + 4].copy_from_slice(&device.to_ne_bytes());
        let mut answer = [0_u8; 1024];
        send(socket.as_raw_fd(), &question[..len], MsgFlags::empty())?;
        let got = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        let kind = u16::from_ne_bytes([answer[4], answer[5]]);
        if got < HEADER + size_of::<c_int>() || kind != libc::NLMSG_ERROR as u16 {
            return Err(Errno::EPROTO);
        }
        let [a, b, c, d] = [16, 17, 18, 19].map(|at: usize| answer[at]);
        match i32::from_ne_bytes([a, b, c, d]) {
            0 => Ok(()),
            negative => Err(Errno::from_raw(-negative)),
        }
    }
}

/// A socket to the kernel's routing of the caller's network namespace.
pub(super) fn open() -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let route = SockProtocol::NetlinkRoute;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, route)?;
    connect(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    Ok(socket)
}

/// Gives the default route through a device, of the family of `example`, other settings.
///
/// # Errors
/// What the kernel says.
pub fn replace_default_route(
    example: IpAddr,
    device: c_int,
    settings: &RouteSettings,
) -> nix::Result<()> {
    let request = Request::default_route(example, settings).replacing();
    request.carry_out(open()?.as_fd(), device)
}

fn metrics(settings: &RouteSettings) -> Vec<u8> {
    let mut bytes = Vec::new();
    let numbers = [
        (metric::INITCWND, settings.initcwnd),
        (metric::INITRWND, settings.initrwnd),
        (metric::REORDERING, settings.reordering),
        (metric::QUICKACK, settings.quick_ack.then_some(1)),
        // A zero would mean that nothing is said.
        (metric::RTO_MIN, settings.rto_min.map(|least| (least.as_millis() as u32).max(1))),
        // The kernel looks at the least timeout of a route only where it is locked.
        (metric::LOCK, settings.rto_min.map(|_| 1 << metric::RTO_MIN)),
    ];
    for (kind, number) in numbers {
        if let Some(number) = number {
            attribute(&mut bytes, kind, &number.to_ne_bytes());
        }
    }
    if let Some(name) = &settings.congestion {
        let mut text = name.clone().into_bytes();
        text.truncate(CONGESTION_NAME - 1);
        text.push(0);
        attribute(&mut bytes, metric::CC_ALGO, &text);
    }
    bytes
}

/// Appends an attribute and fills up to a multiple of four bytes.
fn attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let len = (value.len() + 4) as u16;
    bytes.extend(len.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

fn bytes_of(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    #[test]
    fn a_request_says_its_length_and_leaves_room_for_the_device() {
        let address = Request::address("10.0.3.1".parse().expect("an address"), 32);
        let len = u32::from_ne_bytes(address.bytes[..4].try_into().expect("four"));
        assert_eq!(len as usize, address.bytes.len());
        assert_eq!(address.bytes.len(), 16 + 8 + 2 * 8);
        assert_eq!(address.device_at, 20);
        let settings = RouteSettings {
            initcwnd: Some(4),
            rto_min: Some(Span::from_micros(300)),
            congestion: Some("cubic".to_owned()),
            ..RouteSettings::default()
        };
        let route = Request::default_route("fd00::1".parse().expect("an address"), &settings);
        // Header, rtmsg, the device, and metrics: 4, then 8 + 8 + 8 + 12.
        assert_eq!(route.bytes.len(), 16 + 12 + 8 + 4 + 36);
        let plain = RouteSettings::default();
        let route = Request::default_route("10.0.0.1".parse().expect("an address"), &plain);
        assert_eq!((route.bytes.len(), route.device_at), (16 + 12 + 8, 32));
    }

    #[test]
    fn a_timeout_of_a_route_is_locked_and_never_zero() {
        let settings =
            RouteSettings { rto_min: Some(Span::from_micros(300)), ..RouteSettings::default() };
        let bytes = metrics(&settings);
        assert_eq!(bytes[4..8], 1_u32.to_ne_bytes());
        assert_eq!(bytes[12..16], (1_u32 << 13).to_ne_bytes());
    }
}
