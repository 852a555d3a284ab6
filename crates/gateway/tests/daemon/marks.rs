//! Rules by the marks of packets. Where nothing else can set marks, a program on the router does for its own
//! packets; to a ring they are like any other's.

use super::Trial;
use crate::hosts::world::{MOBILE, World, is_possible};
use ackord_gateway::config::MarkMatch;
use ackord_gateway::{Interface, Ring, Wanted};
use nix::sys::socket::{setsockopt, sockopt};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

#[test]
fn a_ring_of_marked_packets_shows_those_that_leave_with_the_mark_and_their_headers_alone() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    let seen = world.spawn("r", || {
        let wanted = MarkMatch { value: 0x10, mask: 0xff };
        let mut ring =
            Ring::open("lan", Interface::Lan(0), Wanted::MarkedOut(wanted)).expect("it opens");
        for (mark, port) in [(0, 1), (0x10, 2), (0x110, 3), (0x11, 4), (0xff10, 5), (0x1000, 6)] {
            let socket = UdpSocket::bind("0.0.0.0:0").expect("free");
            setsockopt(&socket, sockopt::Mark, &mark).expect("root may");
            // Nobody listens there: what answers comes in.
            let _ = socket.send_to(&[7; 1_000], (MOBILE, port));
        }
        let mut ports = Vec::new();
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(10));
            ring.read(|_, sighting| {
                assert_eq!(sighting.mark, Some(wanted));
                assert!(sighting.frame.len() < 200, "{}", sighting.frame.len());
                ports.push(sighting.frame[14 + 20 + 3]);
            });
        }
        ports
    });
    assert_eq!(seen.join().expect("it looks"), [2, 3, 5]);
}

/// A connection from the router to the mobile host that goes on until it is dropped.
struct Going {
    stream: Option<TcpStream>,
    reader: Option<JoinHandle<()>>,
}

impl Going {
    fn begin(world: &World, port: u16) -> Going {
        let (ready, is_ready) = std::sync::mpsc::channel();
        let reader = world.spawn("m", move || {
            let listener = TcpListener::bind((MOBILE, port)).expect("free");
            ready.send(()).expect("awaited");
            let (mut stream, _) = listener.accept().expect("it comes");
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        });
        is_ready.recv().expect("it binds");
        let connect = move || TcpStream::connect((MOBILE, port)).expect("it listens");
        let stream = world.spawn("r", connect).join().expect("it connects");
        let mut going = Going { stream: Some(stream), reader: Some(reader) };
        going.write();
        going
    }

    fn write(&mut self) {
        let stream = self.stream.as_mut().expect("until it is dropped");
        stream.write_all(&[1; 5_000]).expect("it reads");
    }

    /// From here on its packets have this mark.
    fn mark(&mut self, mark: u32) {
        setsockopt(self.stream.as_ref().expect("there"), sockopt::Mark, &mark).expect("root may");
        self.write();
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        drop(self.stream.take());
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn rules(first: &str, second: &str) -> String {
    format!(
        "control = \"0 %\"\nremedy = \"proxy-tcp\"\n\
         [[rule]]\nname = \"first\"\nmark = \"{first}\"\nremedy = \"none\"\n\
         [[rule]]\nname = \"second\"\nmark = \"{second}\"\nremedy = \"snoop\""
    )
}

#[test]
fn a_rule_by_mark_takes_its_connections_when_the_mark_is_known_and_after_a_reload() {
    if !is_possible() {
        return;
    }
    let trial = Trial::new(100);
    // They overlap: the first that matches takes a connection.
    trial.configure(&rules("0x10/0xff", "0x10/0xf0"));
    let mut gateway = trial.start();
    let mut going: Vec<Going> =
        (5_001..5_005).map(|port| Going::begin(&trial.world, port)).collect();
    let expect = |what: &str, classes: [&str; 4]| {
        trial.until(what, |status| {
            let class = |port: u16| {
                let one = status.top_flows.iter().find(|one| one.mobile.port() == port);
                one.map_or("", |one| one.class.as_str())
            };
            [5_001, 5_002, 5_003, 5_004].map(class) == classes
        })
    };
    expect("unmarked", ["default"; 4]);
    for (one, mark) in going.iter_mut().zip([0x310, 0x11, 0x20]) {
        one.mark(mark);
    }
    let status = expect("marked", ["first", "second", "default", "default"]);
    let bytes = |status: &ackord_gateway::watch::Status| status.bytes_to_mobile;
    assert_eq!(bytes(&status), 7 * 5_000, "what a ring of marks shows is counted once");
    trial.configure(&rules("0x20/0xff", "0x7"));
    assert_eq!(gateway.tell("reload"), "reloaded 2");
    // What is known of a mark stays known; the ring of the new one tells of the next packet.
    going.iter_mut().for_each(Going::write);
    expect("after a reload", ["default", "default", "first", "default"]);
    assert_eq!(gateway.tell("stop"), "ended Ok(())");
}
