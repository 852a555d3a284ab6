//! What a script that does not come out as it says is told: the line, what was expected beside what
//! happened, and the segments before.

use ackord_script::{Outcome, Went, ladder, parse, render_failure, run};

/// An endpoint that has sent five segments.
const SENT: &str = "set congestion = reno\n0 handshake rtt 100 ms\n0.1 call write 5000 B\n\
                    expect 5 segments of 1000 B from 1\n";

fn play(text: &str) -> (Outcome, String) {
    let script = parse(text).expect("the script is sound");
    let outcome = run(&script);
    let told = render_failure("it", &script.lines, &outcome);
    (outcome, told)
}

/// What is told of five segments sent and then these lines.
fn told(rest: &str) -> String {
    let (outcome, told) = play(&format!("{SENT}{rest}"));
    assert!(!outcome.passed(), "{rest} comes out as it says");
    told
}

fn passes(rest: &str) {
    let (outcome, told) = play(&format!("{SENT}{rest}"));
    assert!(outcome.passed(), "{told}");
}

#[test]
fn fields_that_differ_are_marked_and_the_others_shown() {
    let told = told("0.2 inject ack 1 <sack 1001:4001>\nexpect seq 1:501 ack 2 <ts>\n");
    assert!(told.starts_with("it:6: another segment than expected: len, ack, ts, ecr\n"), "{told}");
    assert!(told.contains("    6 | expect seq 1:501 ack 2 <ts>\n"), "{told}");
    for row in [
        "  time      0.200000          0.200000\n",
        "  seq       1                 1\n",
        "  len       500               1000       <--\n",
        "  ack       2                 1          <--\n",
        "  window    -                 win 65535\n",
        "  ts        there             absent     <--\n",
    ] {
        assert!(told.contains(row), "{row}{told}");
    }
    assert!(told.contains("the last 8 of 10 segments"), "{told}");
}

#[test]
fn a_segment_that_does_not_come_or_comes_at_another_time_is_a_failure() {
    let missing = told("0.2 expect seq 1:1001\n");
    assert!(missing.starts_with("it:5: nothing left by 0.200000 s where"), "{missing}");
    let early = told("1.3 expect seq 1:1001\n");
    assert!(early.contains("time      1.300000          1.100000   <--"), "{early}");
    passes("1.3 +-200 ms expect seq 1:1001\n");
    passes("1.0 +-100 ms expect seq 1:1001\n");
    let late = told("1.05 +-40 ms expect seq 1:1001\n");
    assert!(late.starts_with("it:5: nothing left by 1.090000 s"), "{late}");
}

#[test]
fn a_segment_that_nothing_expects_is_a_failure_wherever_it_is_noticed() {
    for rest in [
        "0.2 inject ack 1 <sack 1001:4001>\n",
        "0.2 inject ack 1 <sack 1001:4001>\nquiet\n",
        "0.2 inject ack 1 <sack 1001:4001>\n0.3 assert state = ESTABLISHED\nexpect seq 1:1001\n",
        "0.2 inject ack 1 <sack 1001:4001>\ninject ack 5001\nexpect seq 1:1001\n",
        "0.2 inject ack 1 <sack 1001:4001>\ncall close\nexpect seq 1:1001\n",
        "1.2 quiet\n",
        "1.2 call close\n",
    ] {
        let told = told(rest);
        assert!(told.contains("a segment left that nothing expects"), "{rest}{told}");
        assert!(told.contains(" s: seq 1:1001 ack 1 win 65535\n"), "{rest}{told}");
    }
    // At the end of quiet, and not before it; up to its end, and not at it.
    passes("quiet until 1.1\n1.1 expect seq 1:1001\n");
    passes("1.1 expect seq 1:1001\nassert timeouts = 1\nquiet for 1999 ms\n");
    told("quiet for 1 s\n");
}

#[test]
fn what_a_segment_is_is_always_compared_and_the_rest_only_if_written() {
    let closed = "0.2 inject ack 5001\ncall close\n";
    passes(&format!("{closed}expect FIN\n"));
    passes(&format!("{closed}expect FIN+ACK seq 5001 ack 1 win 65535 noPSH noECE NOT-ECT <>\n"));
    for wrong in
        ["", "FIN len 1", "SYN+FIN", "RST", "FIN PSH", "FIN noACK", "FIN ECT0", "FIN win 1"]
    {
        let rest = format!("{closed}expect ack 1 {wrong}\n");
        assert!(told(&rest).contains("another segment than expected"), "{rest}");
    }
    passes(&format!("{closed}expect FIN len any\n"));
    let options = "call listen\ninject SYN <mss 1000, wscale 2>\n";
    let (outcome, told) = play(&format!("{options}expect SYN+ACK <only mss 1460>\n"));
    assert!(matches!(outcome.failure.expect("it fails").what, Went::Otherwise(_)), "{told}");
    let (outcome, told) = play(&format!("{options}expect SYN+ACK <only mss 1460, wscale 7>\n"));
    assert!(outcome.passed(), "{told}");
}

#[test]
fn assertions_tell_what_is_so_instead() {
    let told =
        told("assert cwnd = 11 segments, state = CLOSED, in_flight <= 5000 B, srtt < 100 ms\n");
    assert!(told.contains("expected cwnd = 11 segments; it is 10000 B\n"), "{told}");
    assert!(told.contains("expected state = CLOSED; it is ESTABLISHED\n"), "{told}");
    assert!(told.contains("expected srtt < 100 ms; it is 100 ms\n"), "{told}");
    assert!(!told.contains("expected in_flight"), "{told}");
    passes("assert cwnd = 9.5 segments +- 500 B, cwnd != 9 segments, close_reason = none\n");
}

#[test]
fn what_cannot_be_played_is_told_from_what_did_not_come_out() {
    for (text, said) in [
        ("0 inject ack 1\n0 call write 1 B\n", "a segment left that nothing expects"),
        ("0 call write 1 B\n", "there is no connection yet"),
        ("0 handshake\ncall connect\n", "there is a connection already"),
        (
            "0 handshake <mss 1000, wscale 7>\ninject ack 1 win 1000\n",
            "write 896 or 1024, or `rawwin 7`",
        ),
        ("0 handshake\ninject ack 1 win 70000\n", "a window is 65535 bytes at most"),
        ("0 handshake\ninject ack 1 <ts, sack 1:2 3:4 5:6 7:8>\n", "a header has room for 40"),
        (
            "0 handshake\ninject 5 segments of 10 B every 10 ms\ncall close\n",
            "it is 0.140000 s already",
        ),
        ("role passive\n0 handshake\ncall read 5 B\n", "0 B can be read, not 5 B"),
        ("set send_buffer = 4 KiB\n0 handshake\ncall write 5 kB\n", "takes 4096 B, not 5000 B"),
    ] {
        let (outcome, told) = play(text);
        assert!(!outcome.passed() && told.contains(said), "{text}{told}");
    }
}

#[test]
fn the_diagram_has_the_endpoint_left_the_peer_right_and_every_segment() {
    let (outcome, _) = play(SENT);
    let diagram = ladder(&outcome.exchanged);
    let lines: Vec<_> = diagram.lines().collect();
    assert_eq!(lines.len(), 1 + outcome.exchanged.len());
    assert!(lines[0].contains("|endpoint") && lines[0].contains("peer|  cwnd  state"), "{diagram}");
    assert!(lines[1].contains("|SYN seq 0 win 65535 <mss 1460") && lines[1].contains("-->|"));
    assert!(lines[2].contains("|<--") && lines[2].contains("SYN seq 0 ack 1 win 65535"));
    assert!(lines[8].contains("0.100000") && lines[8].ends_with("10000  ESTABLISHED"), "{diagram}");
}

#[test]
fn timestamps_count_from_time_zero_and_are_echoed_by_the_peer() {
    let (outcome, told) = play(
        "0 handshake rtt 100 ms <mss 1012, sackOK, ts>\n0.25 call write 1000 B\n\
         expect seq 1:1001 <ts 250 ecr 100>\n0.35 inject ack 1001\ncall close\n\
         expect FIN <ts 350 ecr 350>\nassert rttvar > 0 ms, srtt = 100 ms +- 1 ms\n",
    );
    assert!(outcome.passed(), "{told}");
}
