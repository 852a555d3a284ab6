//! TCP through the gateway.

use super::bench::{Bench, Client, descriptors, pattern};
use ackord_tcp::CloseReason;
use ackord_units::Span;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// A server for one connection; says its port.
fn server<T: Send + 'static>(
    at: IpAddr,
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (u16, JoinHandle<T>) {
    let listener = TcpListener::bind((at, 0)).expect("a port");
    let port = listener.local_addr().expect("its own").port();
    (port, thread::spawn(move || serve(listener.accept().expect("a connection").0)))
}

fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("no reset");
    all
}

/// Why the client's connections ended.
fn reasons(bench: &mut Bench) -> Vec<CloseReason> {
    bench.client.take_closed().iter().filter_map(|report| report.close_reason).collect()
}

#[test]
fn bytes_arrive_as_they_were_sent_both_ways_over_both_families() {
    for at in [V4, V6] {
        let (there, back) = (pattern(3_000_000), pattern(2_000_000));
        let answer = back.clone();
        let (port, thread) = server(at, move |mut stream| {
            let mut other = stream.try_clone().expect("a descriptor");
            let writer = thread::spawn(move || {
                other.write_all(&answer).expect("taken");
                other.shutdown(Shutdown::Write).expect("open");
            });
            let all = read_all(&mut stream);
            writer.join().expect("no panic");
            all
        });
        let mut bench = Bench::new();
        let client = Client::sending(&there);
        client.0.borrow_mut().closes = true;
        bench.connect(&client, at, port);
        assert!(bench.until(|bench| client.0.borrow().ended && bench.client.is_quiet()));
        assert!(client.0.borrow().received == back, "the answer is another");
        assert!(thread.join().expect("no panic") == there, "the request is another");
        assert!(bench.longest <= 1500, "{} bytes", bench.longest);
        let report = bench.relay.report();
        assert_eq!((report.connected, report.most_connections), (1, 1));
    }
}

#[test]
fn a_port_where_nobody_listens_refuses_and_a_network_that_is_not_there_is_told() {
    let closed = {
        let listener = TcpListener::bind((V4, 0)).expect("a port");
        listener.local_addr().expect("its own").port()
    };
    let mut bench = Bench::new();
    bench.connect(&Client::default(), V4, closed);
    assert!(bench.until(|bench| bench.client.is_quiet()));
    assert_eq!(reasons(&mut bench), [CloseReason::Refused]);
    assert_eq!((bench.relay.report().refused, bench.relay.report().connected), (1, 0));
}

#[test]
fn whoever_closes_first_the_other_direction_goes_on() {
    // The server first.
    let (port, thread) = server(V4, |mut stream| {
        stream.write_all(b"all I have").expect("taken");
        stream.shutdown(Shutdown::Write).expect("open");
        read_all(&mut stream)
    });
    let mut bench = Bench::new();
    let client = Client::default();
    let ends = bench.connect(&client, V4, port);
    assert!(bench.until(|_| client.0.borrow().ended));
    assert_eq!(client.0.borrow().received, b"all I have");
    bench.pass(Span::from_millis(20));
    client.0.borrow_mut().to_send = b"and here is mine".to_vec();
    client.0.borrow_mut().closes = true;
    bench.nudge(ends);
    assert_eq!(bench_join(&mut bench, thread), b"and here is mine");

    // The client first.
    let (port, thread) = server(V4, |mut stream| {
        let all = read_all(&mut stream);
        thread::sleep(std::time::Duration::from_millis(20));
        stream.write_all(b"late answer").expect("taken");
        all
    });
    let client = Client::sending(b"a question");
    client.0.borrow_mut().closes = true;
    bench.connect(&client, V4, port);
    assert!(bench.until(|bench| client.0.borrow().ended && bench.client.is_quiet()));
    assert_eq!(client.0.borrow().received, b"late answer");
    assert_eq!(bench_join(&mut bench, thread), b"a question");
    assert!(reasons(&mut bench).iter().all(|reason| *reason == CloseReason::Orderly));
}

/// Goes on until the server is done.
fn bench_join<T>(bench: &mut Bench, thread: JoinHandle<T>) -> T {
    assert!(bench.until(|_| thread.is_finished()), "the server still waits");
    thread.join().expect("no panic")
}

#[test]
fn a_reset_goes_through_from_either_side() {
    let (asked, request) = mpsc::channel();
    let (port, thread) = server(V4, move |mut stream| {
        let mut buffer = [0; 100];
        assert_eq!(stream.read(&mut buffer).expect("a request"), 4);
        asked.send(()).expect("the test waits");
        stream.read(&mut buffer).map_err(|error| error.kind())
    });
    let mut bench = Bench::new();
    let client = Client::sending(b"GET ");
    let ends = bench.connect(&client, V4, port);
    assert!(bench.until(|_| request.try_recv().is_ok()), "the request does not come");
    client.0.borrow_mut().aborts = true;
    bench.nudge(ends);
    assert_eq!(bench_join(&mut bench, thread), Err(std::io::ErrorKind::ConnectionReset));

    // Closing with something unread is a reset (RFC 2525 §2.17).
    let (port, thread) = server(V4, |mut stream| {
        stream.write_all(b"the last words").expect("taken");
        stream.peek(&mut [0]).expect("something comes");
    });
    bench.client.take_closed();
    let client = Client::sending(b"never read");
    bench.connect(&client, V4, port);
    assert!(bench.until(|bench| bench.client.is_quiet()));
    assert_eq!(reasons(&mut bench), [CloseReason::ResetByPeer]);
    assert_eq!(client.0.borrow().received, b"the last words", "what came before it arrives");
    bench_join(&mut bench, thread);
}

#[test]
fn neither_side_is_read_faster_than_the_other_takes() {
    // A client that does not read: the server is stopped after what the buffers between hold.
    let (port, thread) = server(V4, |mut stream| {
        stream.set_nonblocking(true).expect("it can");
        let (mut written, mut idle) = (0, 0);
        while idle < 20 && written < 200_000_000 {
            match stream.write(&[7; 65_536]) {
                Ok(count) => (written, idle) = (written + count, 0),
                Err(_) => {
                    idle += 1;
                    thread::sleep(std::time::Duration::from_millis(10));
                }
            }
        }
        written
    });
    let mut bench = Bench::new();
    let client = Client::default();
    client.0.borrow_mut().reads_up_to = Some(1_000);
    bench.connect(&client, V4, port);
    let written = bench_join(&mut bench, thread);
    // The kernel's two socket buffers, our send buffer and the client's window, 4 to 6 MB each.
    assert!((1_000..40_000_000).contains(&written), "{written} bytes went nowhere");

    // A server that does not read: the client is stopped.
    let (port, thread) = server(V4, |mut stream| {
        thread::sleep(std::time::Duration::from_millis(300));
        read_all(&mut stream).len()
    });
    let client = Client::sending(&pattern(30_000_000));
    client.0.borrow_mut().closes = true;
    bench.connect(&client, V4, port);
    bench.pass(Span::from_millis(250));
    let sent = client.0.borrow().sent;
    assert!(sent < 25_000_000, "{sent} bytes went to a server that does not read");
    assert_eq!(bench_join(&mut bench, thread), 30_000_000);
}

#[test]
fn five_hundred_connections_at_once_and_no_descriptor_is_left() {
    let before = descriptors();
    {
        let listener = TcpListener::bind((V4, 0)).expect("a port");
        let port = listener.local_addr().expect("its own").port();
        // All are there before any is answered.
        let thread = thread::spawn(move || {
            let all: Vec<TcpStream> =
                (0..500).map(|_| listener.accept().expect("a connection").0).collect();
            for mut stream in all {
                let question = read_all(&mut stream);
                stream.write_all(&question).expect("taken");
            }
        });
        let mut bench = Bench::new();
        let clients: Vec<Client> = (0..500_u32)
            .map(|number| {
                let client = Client::sending(&number.to_be_bytes());
                client.0.borrow_mut().closes = true;
                bench.connect(&client, V4, port);
                client
            })
            .collect();
        let done = bench.until(|bench| bench.client.is_quiet());
        assert!(done, "{} connected", bench.relay.report().connected);
        for (number, client) in (0_u32..).zip(&clients) {
            assert_eq!(client.0.borrow().received, number.to_be_bytes());
        }
        thread.join().expect("no panic");
        assert_eq!(bench.relay.report().most_connections, 500);
    }
    // Other tests of this process come and go meanwhile.
    let after = descriptors();
    assert!(after < before + 100, "{before} descriptors before, {after} after");
}
