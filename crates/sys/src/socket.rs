//! What a socket tells and takes beyond what nix has a wrapper for: TCP_INFO, the bytes that are
//! not acknowledged, any option, and word of an acknowledgment.

#![allow(unsafe_code, reason = "ioctl and the raw socket options have no safe wrapper in nix")]

use nix::errno::Errno;
use nix::sys::socket::{self, SockFlag, SockaddrStorage, accept4};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Longer than the `tcp_info` of any kernel of today.
pub const TCP_INFO_ROOM: usize = 512;

/// The kernel's `tcp_info` of this socket as bytes, as many as the kernel has of it.
///
/// # Errors
/// What getsockopt(2) says, such as ENOPROTOOPT where the socket is not TCP's.
pub fn tcp_info_bytes<'a>(
    socket: BorrowedFd<'_>,
    room: &'a mut [u8; TCP_INFO_ROOM],
) -> Result<&'a [u8], Errno> {
    let mut len = TCP_INFO_ROOM as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes, which is the room's length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            room.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    Errno::result(result)?;
    Ok(&room[..(len as usize).min(TCP_INFO_ROOM)])
}

/// Bytes written that the peer has not acknowledged (SIOCOUTQ of tcp(7)).
///
/// # Errors
/// What ioctl(2) says.
pub fn unacknowledged(socket: BorrowedFd<'_>) -> Result<u64, Errno> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCOUTQ, which is TIOCOUTQ on a socket, writes one integer.
    Errno::result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Bytes that can be read (SIOCINQ of tcp(7)).
///
/// # Errors
/// What ioctl(2) says.
pub fn readable(socket: BorrowedFd<'_>) -> Result<u64, Errno> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: FIONREAD writes one integer.
    Errno::result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Sets a socket option to these bytes.
///
/// # Errors
/// What setsockopt(2) says.
pub fn set_option(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
    value: &[u8],
) -> Result<(), Errno> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of a live slice.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), len) };
    Errno::result(result).map(drop)
}

/// What a socket has for an option, as bytes.
///
/// # Errors
/// What getsockopt(2) says.
pub fn option(socket: BorrowedFd<'_>, level: i32, name: i32) -> Result<Vec<u8>, Errno> {
    let mut room = vec![0; 64];
    let mut len = room.len() as libc::socklen_t;
    let to = room.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `len` bytes, which is the room's length.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, to, &raw mut len) };
    Errno::result(result)?;
    room.truncate(len as usize);
    Ok(room)
}

/// From now on the error queue becomes readable whenever the last byte of a write has been
/// acknowledged (SOF_TIMESTAMPING_TX_ACK of the kernel's timestamping page).
///
/// # Errors
/// What setsockopt(2) says.
pub fn tell_of_acknowledgments(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = libc::SOF_TIMESTAMPING_TX_ACK
        | libc::SOF_TIMESTAMPING_SOFTWARE
        // The queue holds a time and none of the data.
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags.to_ne_bytes())
}

/// The next connection that waits to be accepted, not blocking.
///
/// # Errors
/// What accept4(2) says; EAGAIN where none waits.
pub fn accept(listening: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = accept4(listening.as_raw_fd(), flags)?;
    // SAFETY: the kernel has just made this descriptor for us and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// A socket that takes and sends whole frames of this protocol at the device of this number.
///
/// # Errors
/// What socket(2) or bind(2) says; EPERM without CAP_NET_RAW.
pub fn packet_socket(device: i32, protocol: u16) -> Result<OwnedFd, Errno> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol.to_be(),
        sll_ifindex: device,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the descriptor is new and nobody else has it; the address is a plain structure of this
    // length that lives through the call.
    unsafe {
        let socket = libc::socket(libc::AF_PACKET, kind, i32::from(protocol.to_be()));
        let socket = OwnedFd::from_raw_fd(Errno::result(socket)?);
        Errno::result(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length))?;
        Ok(socket)
    }
}

/// Gives a socket its own address.
///
/// # Errors
/// What bind(2) says.
pub fn bind(socket: BorrowedFd<'_>, local: SocketAddr) -> Result<(), Errno> {
    socket::bind(socket.as_raw_fd(), &SockaddrStorage::from(local))
}

/// Opens a connection, or says where datagrams go.
///
/// # Errors
/// What connect(2) says; EINPROGRESS where it goes on by itself.
pub fn connect(socket: BorrowedFd<'_>, remote: SocketAddr) -> Result<(), Errno> {
    socket::connect(socket.as_raw_fd(), &SockaddrStorage::from(remote))
}

/// The other end of a connection.
///
/// # Errors
/// What getpeername(2) says, or EAFNOSUPPORT if that is no address of IP.
pub fn peer(socket: BorrowedFd<'_>) -> Result<SocketAddr, Errno> {
    let peer = socket::getpeername::<SockaddrStorage>(socket.as_raw_fd())?;
    let v4 = peer.as_sockaddr_in().map(|v4| SocketAddr::V4(SocketAddrV4::from(*v4)));
    let v6 = || peer.as_sockaddr_in6().map(|v6| SocketAddr::V6(SocketAddrV6::from(*v6)));
    v4.or_else(v6).ok_or(Errno::EAFNOSUPPORT)
}
