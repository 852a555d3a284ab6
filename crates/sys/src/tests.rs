//! Namespaces made for real; SKIPPED where this machine does not let us.

use super::*;
use ackord_testing::{installed, skipped};
use ackord_units::Span;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::Signal;
use nix::sys::socket::{AddressFamily, SockType};
use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;

/// The namespace, or nothing with a loud word where it may not be made.
fn made(inside: &Inside) -> Option<Namespace> {
    match Namespace::create(inside) {
        Ok(namespace) => Some(namespace),
        Err(error @ NamespaceError::NotAllowed(_)) => {
            skipped(format_args!("namespaces need root or rootless TUN: {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// A command of the shell whose output goes into a file that has no name.
fn shell(script: &str) -> (CommandInside, Arc<File>) {
    let file = Arc::new(tempfile::tempfile().expect("a file"));
    let mut command = CommandInside::new(["sh", "-c", script].map(str::to_owned).to_vec());
    command.terminal = TerminalUse::Background;
    command.stdout = Some(Arc::clone(&file));
    (command, file)
}

fn text(file: &Arc<File>) -> String {
    let mut text = String::new();
    let mut file = file.as_ref();
    file.seek(SeekFrom::Start(0)).expect("a file");
    file.read_to_string(&mut text).expect("text");
    text
}

/// The next end of a command, for which a minute is plenty.
fn end(namespace: &mut Namespace) -> (usize, CommandEnd) {
    loop {
        if let Some(end) = namespace.command_end() {
            return end;
        }
        let mut watched = [PollFd::new(namespace.as_fd(), PollFlags::POLLIN)];
        let ready =
            poll(&mut watched, PollTimeout::from(60_000_u16)).expect("it can be waited for");
        assert!(ready > 0, "no command ended");
    }
}

#[test]
fn everything_that_was_asked_for_is_inside() {
    if !installed(&["ip"]) {
        return;
    }
    let addresses = ["10.1.2.1", "10.9.9.1", "fd00:acc0::1"].map(address);
    let lengths = [32, 24, 128];
    let mut inside = Inside::new(addresses.into_iter().zip(lengths).collect());
    inside.device = "radio".to_owned();
    inside.mtu = 1300;
    inside.route = Some(RouteSettings {
        initcwnd: Some(4),
        initrwnd: Some(20),
        quick_ack: true,
        rto_min: Some(Span::from_millis(70)),
        reordering: Some(5),
        congestion: Some("reno".to_owned()),
    });
    inside.sysctls = [("net/ipv4/tcp_sack", "0"), ("net/ipv4/tcp_no_such_thing", "1")]
        .map(|(path, value)| (path.to_owned(), value.to_owned()))
        .to_vec();
    let (routes, printed) =
        shell("ip -4 route; ip -6 route show default; ip -br address show radio");
    inside.commands = vec![routes];
    let Some(mut namespace) = made(&inside) else { return };
    assert_eq!(namespace.sysctl("net/ipv4/tcp_sack").expect("readable"), "0");
    let of_ipv6 =
        |name: &str| name.contains("IPv6") || name.contains("ipv6") || name.contains("::");
    let refused: Vec<_> = namespace.refused().iter().filter(|(name, _)| !of_ipv6(name)).collect();
    assert_eq!(refused, [&("net/ipv4/tcp_no_such_thing".to_owned(), Errno::ENOENT)]);
    namespace.start_command(0).expect("the keeper lives");
    assert_eq!(end(&mut namespace), (0, CommandEnd::Exited(0)));
    let printed = text(&printed);
    for line in ["default dev radio", "10.9.9.0/24 dev radio", "10.1.2.1/32"] {
        assert!(printed.contains(line), "{line} is not in\n{printed}");
    }
    let attributes = [
        "reordering 5",
        "rto_min lock 70ms",
        "initcwnd 4",
        "congctl reno",
        "initrwnd 20",
        "quickack 1",
    ];
    let routes: Vec<&str> = printed.lines().filter(|line| line.starts_with("default")).collect();
    let ipv6 = printed.contains("fd00:acc0::1/128");
    assert_eq!(routes.len(), if ipv6 { 2 } else { 1 }, "{printed}");
    for (route, attribute) in routes.iter().flat_map(|route| attributes.map(|a| (route, a))) {
        assert!(route.contains(attribute), "{attribute} is not in {route}");
    }
    assert!(namespace.table("snmp").is_some_and(|table| table.contains("Tcp:")));
    assert!(namespace.table("no-such-table").is_none());
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_leaves_the_route_without_it() {
    if !installed(&["ip"]) {
        return;
    }
    let mut inside = Inside::new(vec![(address("10.1.2.1"), 32)]);
    let congestion = Some("no-such-control".to_owned());
    inside.route = Some(RouteSettings { congestion, ..RouteSettings::default() });
    let (routes, printed) = shell("ip route");
    inside.commands = vec![routes];
    let Some(mut namespace) = made(&inside) else { return };
    let refused: Vec<&str> = namespace.refused().iter().map(|(what, _)| what.as_str()).collect();
    assert_eq!(refused, ["default route of IPv4"]);
    namespace.start_command(0).expect("the keeper lives");
    assert_eq!(end(&mut namespace), (0, CommandEnd::Exited(0)));
    assert!(text(&printed).starts_with("default dev ackord0"), "{}", text(&printed));
}

/// Both sockets are used by this program, which is outside; the packets never leave the inside.
#[test]
fn sockets_made_inside_belong_there() {
    let inside = Inside::new(vec![(address("10.1.2.1"), 32)]);
    let Some(namespace) = made(&inside) else { return };
    let socket = |kind| namespace.socket(AddressFamily::Inet, kind).expect("a socket");
    let bound = UdpSocket::from(socket(SockType::Datagram));
    let local = bound.local_addr().expect("it has a family");
    assert_eq!(local, SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    let listener = socket(SockType::Stream);
    let here = nix::sys::socket::SockaddrIn::new(10, 1, 2, 1, 7001);
    nix::sys::socket::bind(std::os::fd::AsRawFd::as_raw_fd(&listener), &here).expect("our address");
    nix::sys::socket::listen(&listener, nix::sys::socket::Backlog::new(4).expect("few"))
        .expect("ok");
    let client = socket(SockType::Stream);
    nix::sys::socket::connect(std::os::fd::AsRawFd::as_raw_fd(&client), &here).expect("connected");
    let (mut served, from) = TcpListener::from(listener).accept().expect("a connection");
    assert_eq!(from.ip(), address("10.1.2.1"));
    TcpStream::from(client).write_all(b"inside").expect("sent");
    let mut got = String::new();
    served.read_to_string(&mut got).expect("received");
    assert_eq!(got, "inside");
    // Nobody outside has that address.
    assert!(UdpSocket::bind("10.1.2.1:0").is_err());
}

#[test]
fn commands_start_and_end_one_by_one() {
    let mut inside = Inside::new(vec![(address("10.1.2.1"), 32)]);
    let (mut greeting, greeted) = shell("echo $GREETING; exit 3");
    greeting.environment = vec![("GREETING".to_owned(), "good evening".to_owned())];
    let (sleeping, _) = shell("sleep 60 & wait");
    let mut missing = CommandInside::new(vec!["no-such-program-at-all".to_owned()]);
    missing.terminal = TerminalUse::Background;
    inside.commands = vec![sleeping, greeting, missing];
    let Some(mut namespace) = made(&inside) else { return };
    for index in [0, 1] {
        namespace.start_command(index).expect("the keeper lives");
    }
    assert_eq!(end(&mut namespace), (1, CommandEnd::Exited(3)));
    assert_eq!(text(&greeted), "good evening\n");
    namespace.start_command(2).expect("the keeper lives");
    assert_eq!(end(&mut namespace), (2, CommandEnd::NotStarted(Errno::ENOENT)));
    assert_eq!(namespace.command_end(), None);
    namespace.signal_command(0, Signal::SIGTERM).expect("the keeper lives");
    assert_eq!(end(&mut namespace), (0, CommandEnd::Killed(Signal::SIGTERM)));
    // It may start again.
    namespace.start_command(1).expect("the keeper lives");
    assert_eq!(end(&mut namespace), (1, CommandEnd::Exited(3)));
}

#[test]
fn no_text_may_hold_a_zero_byte() {
    let mut inside = Inside::new(Vec::new());
    inside.commands = vec![CommandInside::new(vec!["a\0b".to_owned()])];
    assert!(
        matches!(Namespace::create(&inside), Err(NamespaceError::BadText(text)) if text == "a\0b")
    );
    inside.commands = vec![CommandInside::new(Vec::new())];
    assert!(matches!(Namespace::create(&inside), Err(NamespaceError::BadText(_))));
}

/// In a thread that has left for a namespace of its own, so that the machine is not changed.
#[test]
fn a_device_in_our_own_namespace_is_gone_with_its_file() {
    let there = |name: &str| {
        std::fs::read_to_string("/proc/thread-self/net/dev").expect("a table").contains(name)
    };
    let done = std::thread::spawn(move || {
        if let Err(errno) = unshare(CloneFlags::CLONE_NEWNET) {
            return skipped(format_args!("a device of our own needs root: {errno}"));
        }
        let wanted = TunHere {
            name: "far%d".to_owned(),
            addresses: vec![(address("10.3.0.1"), 32)],
            routes: vec![(address("10.3.0.2"), 32), (address("10.4.0.0"), 16)],
            mtu: 1400,
        };
        let made = match make_here(&wanted) {
            Ok(made) => made,
            Err(errno) => return skipped(format_args!("no device: {errno}")),
        };
        assert_eq!((made.name.as_str(), made.refused.as_slice()), ("far0", &[][..]));
        assert!(there("far0"));
        let second = make_here(&wanted).expect("another number");
        assert_eq!(second.name, "far1");
        // The routes stay with the first.
        let taken = ["route 10.3.0.2/32", "route 10.4.0.0/16"];
        assert_eq!(second.refused, taken.map(|route| (route.to_owned(), Errno::EEXIST)));
        let sent = UdpSocket::bind("10.3.0.1:0").expect("our address").send_to(b"hi", "10.4.1.1:9");
        sent.expect("a route");
        let mut packet = [0; 100];
        // The kernel may have something to say about multicast in IPv6 first.
        let len = loop {
            let len = (&made.file).read(&mut packet).expect("a packet");
            if packet[0] >> 4 == 4 {
                break len;
            }
        };
        // Headers of IPv4 and UDP, and two bytes.
        assert_eq!((len, &packet[12..20]), (30, &[10, 3, 0, 1, 10, 4, 1, 1][..]));
        drop((made, second));
        assert!(!there("far0") && !there("far1"));
    });
    done.join().expect("the thread's assertions");
}
