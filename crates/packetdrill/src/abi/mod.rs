//! What C calls.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | `packetdrill_interface_init` and the structure it fills; doors by number |
//! | `calls.rs` | the socket calls |
//! | `files.rs` | the calls on descriptors of any kind, time and packets |
//! | `memory.rs` | reading and writing the caller's memory |
//! | `preload.rs` | calls of packetdrill's that its interface does not know |
//! | `address.rs` | socket addresses as bytes |
//!
//! Each call finds its door by the number behind `userdata` (never a pointer that could dangle),
//! copies what the caller gave, asks the safe part, and copies the answer out. A panic becomes
//! ENOTRECOVERABLE and never crosses into C.
//!
//! `fcntl` and `ioctl` are variadic in C. Rust cannot define such functions; these take a third
//! argument that stands where a variadic one would: on Linux, x86-64 and aarch64 pass an integer or
//! pointer of either kind in the same register. It is read only for requests that have one.

mod address;
mod calls;
mod files;
mod memory;
mod preload;

use crate::door::Door;
use crate::setup::Setup;
use nix::errno::Errno;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use libc::{
    epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, size_t, sockaddr, socklen_t, ssize_t,
    timeval, timezone, useconds_t,
};

type Data = *mut c_void;

/// `struct packetdrill_interface`: functions that the caller uses instead of the system's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each is the system call it is named after; see the header")]
#[rustfmt::skip]
pub struct Interface {
    pub userdata: Data,
    pub free: unsafe extern "C" fn(Data),
    pub socket: unsafe extern "C" fn(Data, c_int, c_int, c_int) -> c_int,
    pub bind: unsafe extern "C" fn(Data, c_int, *const sockaddr, socklen_t) -> c_int,
    pub listen: unsafe extern "C" fn(Data, c_int, c_int) -> c_int,
    pub accept: unsafe extern "C" fn(Data, c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    pub connect: unsafe extern "C" fn(Data, c_int, *const sockaddr, socklen_t) -> c_int,
    pub read: unsafe extern "C" fn(Data, c_int, *mut c_void, size_t) -> ssize_t,
    pub readv: unsafe extern "C" fn(Data, c_int, *const iovec, c_int) -> ssize_t,
    pub recv: unsafe extern "C" fn(Data, c_int, *mut c_void, size_t, c_int) -> ssize_t,
    pub recvfrom: unsafe extern "C" fn(Data, c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t,
    pub recvmsg: unsafe extern "C" fn(Data, c_int, *mut msghdr, c_int) -> ssize_t,
    pub write: unsafe extern "C" fn(Data, c_int, *const c_void, size_t) -> ssize_t,
    pub writev: unsafe extern "C" fn(Data, c_int, *const iovec, c_int) -> ssize_t,
    pub send: unsafe extern "C" fn(Data, c_int, *const c_void, size_t, c_int) -> ssize_t,
    pub sendto: unsafe extern "C" fn(Data, c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t,
    pub sendmsg: unsafe extern "C" fn(Data, c_int, *const msghdr, c_int) -> ssize_t,
    pub fcntl: unsafe extern "C" fn(Data, c_int, c_int, c_long) -> c_int,
    pub ioctl: unsafe extern "C" fn(Data, c_int, c_ulong, *mut c_void) -> c_int,
    pub close: unsafe extern "C" fn(Data, c_int) -> c_int,
    pub shutdown: unsafe extern "C" fn(Data, c_int, c_int) -> c_int,
    pub getsockopt: unsafe extern "C" fn(Data, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    pub setsockopt: unsafe extern "C" fn(Data, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int,
    pub poll: unsafe extern "C" fn(Data, *mut pollfd, nfds_t, c_int) -> c_int,
    pub netdev_send: unsafe extern "C" fn(Data, *const c_void, size_t) -> c_int,
    pub netdev_receive: unsafe extern "C" fn(Data, *mut c_void, *mut size_t, *mut c_longlong) -> c_int,
    pub usleep: unsafe extern "C" fn(Data, useconds_t) -> c_int,
    pub gettimeofday: unsafe extern "C" fn(Data, *mut timeval, *mut timezone) -> c_int,
    pub epoll_create: unsafe extern "C" fn(Data, c_int) -> c_int,
    pub epoll_ctl: unsafe extern "C" fn(Data, c_int, c_int, c_int, *mut epoll_event) -> c_int,
    pub epoll_wait: unsafe extern "C" fn(Data, c_int, *mut epoll_event, c_int, c_int) -> c_int,
    pub pipe: unsafe extern "C" fn(Data, *mut c_int) -> c_int,
    pub splice: unsafe extern "C" fn(Data, c_int, *mut loff_t, c_int, *mut loff_t, size_t, c_uint) -> ssize_t,
}

/// Every door that is open, by the number that is its `userdata`.
static DOORS: RwLock<BTreeMap<usize, Arc<Door>>> = RwLock::new(BTreeMap::new());

/// Opens a door as `flags` say and fills `ifc`. Returns 0; or -1 with a message on stderr, and
/// then every function in `ifc` fails with EINVAL.
///
/// # Safety
/// `flags` is null or a C string; `ifc` points to memory for a `struct packetdrill_interface`.
#[unsafe(no_mangle)]
#[allow(unsafe_code, reason = "called from C")]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    ifc: *mut Interface,
) -> c_int {
    if ifc.is_null() {
        Errno::EFAULT.set();
        return -1;
    }
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let text = if flags.is_null() {
            String::new()
        } else {
            // SAFETY: the caller says that it is a C string.
            unsafe { CStr::from_ptr(flags) }.to_string_lossy().into_owned()
        };
        open(&text)
    }));
    let opened = opened.unwrap_or_else(|_| Err("the library failed".to_owned()));
    let userdata = opened.as_ref().map_or(0, |&number| number);
    // SAFETY: not null, and the caller says that there is room for it.
    unsafe { ifc.write(interface(userdata)) };
    match opened {
        Ok(_) => 0,
        Err(message) => {
            eprintln!("ackord_packetdrill: {message}");
            Errno::EINVAL.set();
            -1
        }
    }
}

fn open(flags: &str) -> Result<usize, String> {
    let door = Arc::new(Door::new(Setup::parse(flags)?));
    let mut doors = DOORS.write().unwrap_or_else(PoisonError::into_inner);
    // Numbers are not given twice while the library is loaded.
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    doors.insert(number, door);
    Ok(number)
}

fn interface(userdata: usize) -> Interface {
    Interface {
        userdata: std::ptr::without_provenance_mut(userdata),
        free: files::free,
        socket: calls::socket,
        bind: calls::bind,
        listen: calls::listen,
        accept: calls::accept,
        connect: calls::connect,
        read: calls::read,
        readv: calls::readv,
        recv: calls::recv,
        recvfrom: calls::recvfrom,
        recvmsg: calls::recvmsg,
        write: calls::write,
        writev: calls::writev,
        send: calls::send,
        sendto: calls::sendto,
        sendmsg: calls::sendmsg,
        fcntl: files::fcntl,
        ioctl: files::ioctl,
        close: files::close,
        shutdown: calls::shutdown,
        getsockopt: calls::getsockopt,
        setsockopt: calls::setsockopt,
        poll: files::poll,
        netdev_send: files::netdev_send,
        netdev_receive: files::netdev_receive,
        usleep: files::usleep,
        gettimeofday: files::gettimeofday,
        epoll_create: files::epoll_create,
        epoll_ctl: files::epoll_ctl,
        epoll_wait: files::epoll_wait,
        pipe: files::pipe,
        splice: files::splice,
    }
}

/// Takes a door away; later calls on it fail.
fn take(userdata: Data) -> Option<Arc<Door>> {
    DOORS.write().unwrap_or_else(PoisonError::into_inner).remove(&userdata.addr())
}

/// What a C function returns.
trait Returned: Copy {
    const FAILED: Self;
}

impl Returned for c_int {
    const FAILED: c_int = -1;
}

impl Returned for ssize_t {
    const FAILED: ssize_t = -1;
}

/// Runs a call on the door behind `userdata`; an error becomes -1 and errno.
fn on_door<T: Returned>(userdata: Data, call: impl FnOnce(&Door) -> Result<T, Errno>) -> T {
    let found = DOORS.read().unwrap_or_else(PoisonError::into_inner).get(&userdata.addr()).cloned();
    let answer = match found {
        None => Err(Errno::EINVAL),
        Some(door) => {
            catch_unwind(AssertUnwindSafe(|| call(&door))).unwrap_or(Err(Errno::ENOTRECOVERABLE))
        }
    };
    answer.unwrap_or_else(|error| {
        error.set();
        T::FAILED
    })
}
