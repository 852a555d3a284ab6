//! A script that is told anew with what an endpoint does is one that this endpoint passes.

use ackord_script::{find_scripts, parse, retold, run};
use std::path::Path;

#[test]
fn every_script_told_anew_is_as_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/tcp");
    for path in find_scripts(&root).expect("the folder of scripts can be read") {
        let text = std::fs::read_to_string(&path).expect("a script is text");
        let script = parse(&text).expect("it can be read");
        let retold = retold(&script).expect("it can be played");
        let outcome = run(&retold);
        assert!(outcome.passed(), "{}: {:#?}", path.display(), outcome.failure);
    }
}

#[test]
fn what_is_told_anew_holds_another_endpoint_to_what_this_one_does() {
    let text = |profile: &str| {
        format!(
            "profile {profile}\n0 handshake <mss 1000, sackOK>\n0.1 call write 20 kB\n0.2 inject ack 2001\n"
        )
    };
    let linux = retold(&parse(&text("linux")).expect("sound")).expect("it can be played");
    assert!(run(&linux).passed());
    let mut ns2 = linux.clone();
    ns2.stack = parse(&text("ns2")).expect("sound").stack;
    assert!(!run(&ns2).passed());
}
