//! A stock kernel before the gateway, over a TUN device; SKIPPED where this machine does not let us.

use super::bench::{BASE, MTU, pattern};
use crate::clock::Clock;
use crate::relay::{Relay, RelayOptions, RelayReport};
use ackord_sys::{CommandEnd, CommandInside, Inside, Namespace, NamespaceError, RouteSettings};
use ackord_testing::{installed, skipped};
use ackord_units::Span;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::thread;

/// Runs a shell script inside with a gateway at the other end of its device; nothing where that is not
/// allowed.
fn run(script: &str) -> Option<RelayReport> {
    let own = vec![([100, 64, 0, 2].into(), 24), ([0xfd77, 0, 0, 0, 0, 0, 0, 2].into(), 64)];
    let mut inside = Inside::new(own);
    inside.route = Some(RouteSettings::default());
    let argv = ["sh", "-e", "-c", script].map(str::to_owned).to_vec();
    inside.commands.push(CommandInside::new(argv));
    let mut namespace = match Namespace::create(&inside) {
        Ok(namespace) => namespace,
        Err(error @ NamespaceError::NotAllowed(_)) => {
            skipped(format_args!("namespaces need root or rootless TUN: {error}"));
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let tun = namespace.take_tun();
    let relay = Relay::new(&RelayOptions::new(BASE, MTU)).expect("a descriptor");
    namespace.start_command(0).expect("it is there");
    Some(serve(relay, tun, namespace))
}

fn serve(mut relay: Relay, mut tun: File, mut namespace: Namespace) -> RelayReport {
    let clock = Clock::start();
    let mut buffer = vec![0; 65_536];
    loop {
        if let Some((_, end)) = namespace.command_end() {
            assert_eq!(end, CommandEnd::Exited(0), "{:?}", relay.report());
            return relay.report();
        }
        let now = clock.now();
        assert!(now.saturating_since(ackord_units::Time::ZERO) < Span::from_secs(120), "it hangs");
        let due = relay.deadline().map_or(Span::from_millis(50), |at| at.saturating_since(now));
        let millis = due.as_nanos().div_ceil(1_000_000).min(50) as u8;
        let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut watched =
            [readable(tun.as_fd()), readable(relay.as_fd()), readable(namespace.as_fd())];
        poll(&mut watched, PollTimeout::from(millis)).expect("descriptors");
        let [packets, sockets, _] = watched.map(|fd| fd.any().unwrap_or(true));
        if sockets {
            relay.handle_ready(clock.now());
        }
        relay.handle_deadline(clock.now());
        while packets && let Ok(len) = tun.read(&mut buffer) {
            relay.write(clock.now(), &buffer[..len]);
        }
        while let Some(len) = relay.read(&mut buffer) {
            // A device that is gone, or full, loses the packet.
            let _ = tun.write(&buffer[..len]);
        }
    }
}

/// Answers every GET with `file`, and keeps what is PUT; a connection for each.
fn web_server(file: Vec<u8>, requests: usize) -> (u16, thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its own").port();
    let serve = move || {
        let mut kept = Vec::new();
        for _ in 0..requests {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
            let head: Vec<String> = reader
                .by_ref()
                .lines()
                .map_while(Result::ok)
                .take_while(|l| !l.is_empty())
                .collect();
            let length = head.iter().find_map(|line| line.strip_prefix("Content-Length: "));
            let length: usize = length.map_or(0, |digits| digits.parse().expect("a number"));
            let body = if length > 0 {
                kept.resize(length, 0);
                reader.read_exact(&mut kept).expect("the whole body");
                &[][..]
            } else {
                &file[..]
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), body].concat()).expect("taken");
        }
        kept
    };
    (port, thread::spawn(serve))
}

#[test]
fn curl_moves_twenty_megabytes_both_ways_as_they_are() {
    if !installed(&["curl"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (down, up) = (pattern(20_000_000), pattern(20_000_001));
    fs::write(folder.path().join("up"), &up).expect("written");
    let (port, server) = web_server(down.clone(), 2);
    let script = format!(
        "cd {}; curl -sS -H Expect: -T up http://100.64.0.1:{port}/; \
         curl -sS -o down http://100.64.0.1:{port}/",
        folder.path().display()
    );
    let Some(report) = run(&script) else { return };
    assert!(server.join().expect("no panic") == up, "what came is not what was sent");
    assert!(fs::read(folder.path().join("down")).expect("there") == down);
    assert_eq!((report.connected, report.malformed), (2, 0));
}

#[test]
fn the_kernel_hears_what_is_refused_and_what_answers_an_echo() {
    if !installed(&["bash", "ping"]) {
        return;
    }
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its own");
    // bash's /dev/tcp fails with the reason.
    let script = format!(
        "LC_ALL=C bash -c 'exec 3<>/dev/tcp/100.64.0.1/{}' 2>&1 | grep -q refused; \
         ping -c 2 -i 0.2 -W 5 100.64.0.1 >/dev/null; \
         ping -c 1 -W 5 fd77::1 >/dev/null",
        closed.port()
    );
    let Some(report) = run(&script) else { return };
    assert_eq!(report.refused, 1);
}
