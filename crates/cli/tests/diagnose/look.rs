//! `--live`: an interface looked at while it happens.

use super::output;
use crate::common::ackord;
use ackord_testing::{installed, skipped};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

#[test]
fn an_interface_is_looked_at_for_a_while_and_answered_for_at_the_end() {
    if !installed(&["tcpdump"]) {
        return;
    }
    let arguments = ["diagnose", "--live", "lo", "--for", "5 s", "--no-predict", "--json", "-"];
    let mut command = ackord(&arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all.len()
    });
    let mut client = TcpStream::connect(address).unwrap();
    for _ in 0..40 {
        client.write_all(&[7; 10_000]).unwrap();
        thread::sleep(Duration::from_millis(100));
    }
    drop(client);
    assert_eq!(server.join().unwrap(), 400_000);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("no permission to capture") {
        assert_eq!(output.status.code(), Some(2));
        skipped("not allowed to capture packets");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = address.to_string();
    let ours = told["connections"].as_array().unwrap().iter();
    let ours = ours.clone().find(|one| one["server"] == *server || one["client"] == *server);
    let bytes = ours.expect("the connection was seen")["bytes"].as_u64().unwrap();
    assert!(bytes > 0 && bytes <= 400_000, "{bytes}");
    assert!(errors.lines().any(|line| line.starts_with("lo, ")), "a line now and then: {errors}");
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    if !installed(&["tcpdump"]) {
        return;
    }
    let output = output(&["diagnose", "--live", "no-such-if", "--for", "1 s"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("no such interface") || errors.contains("no permission"), "{errors}");
}
