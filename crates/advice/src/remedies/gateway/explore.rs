use super::*;
use crate::remedies::allowance::Allowance;
use ackord_diagnose::*;
use std::path::Path;
#[test]
#[ignore]
fn explore() {
    let dir = std::env::var("CAPS").unwrap_or("/tmp/advise/cap".into());
    for name in std::env::var("LINKS").unwrap_or("a b c d e f g h i j".into()).split(' ') {
        let path = format!("{dir}/{name}.pcap");
        let open = || Reader::open(Path::new(&path), 0).unwrap();
        match forecast([open(), open()], &Allowance::unlimited(), &mut |_| {}) {
            Ok(f) => println!("== {name}\n{f}"),
            Err(e) => println!("== {name}: {e}"),
        }
    }
}
