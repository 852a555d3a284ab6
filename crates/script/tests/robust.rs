//! Whatever the text, reading it ends with a value; whatever is read, playing it ends.

use ackord_script::{parse, render_failure, render_problems, run};
use proptest::prelude::*;

/// What scripts are made of, and what they should not be.
const PIECES: &[&str] = &[
    "0",
    "0.1",
    "+20",
    "ms",
    "+1 ms",
    "1e9",
    "99999999999999999999",
    "-5",
    "\n",
    "\n",
    "\n",
    " ",
    "handshake",
    "inject",
    "expect",
    "call",
    "write",
    "read",
    "all",
    "close",
    "abort",
    "connect",
    "listen",
    "assert",
    "quiet",
    "until",
    "for",
    "nothing",
    "repeat",
    "as",
    "i",
    "end",
    "profile",
    "rfc",
    "linux",
    "set",
    "congestion",
    "=",
    "reno",
    "loss.threshold",
    "ip",
    "v6",
    "role",
    "passive",
    "iss",
    "irs",
    "reads",
    "at-once",
    "SYN",
    "SYN+ACK",
    "FIN",
    "RST",
    "NONE",
    "noACK",
    "PSH",
    "ECE",
    "CE",
    "seq",
    "1:1001",
    "1+1000*i",
    "(((((",
    "ack",
    "win",
    "rawwin",
    "len",
    "any",
    "10",
    "segments",
    "of",
    "1000 B",
    "from",
    "1",
    "every",
    "<",
    ">",
    "mss",
    "wscale",
    "sackOK",
    "ts",
    "ecr",
    "raw",
    "sack",
    "2001:3001",
    "no",
    "only",
    ",",
    "cwnd",
    "state",
    "rto",
    "<=",
    "+-5 ms",
    "takes",
    "#",
    "\u{b5}s",
    "\u{1f600}",
    "\t",
    "\r\n",
    "\0",
    "rtt",
    "4294967295",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_heap_of_words_is_read_and_played_without_a_panic(
        picked in prop::collection::vec(0..PIECES.len(), 0..60),
    ) {
        let text = picked.iter().map(|&at| PIECES[at]).collect::<Vec<_>>().join(" ");
        play(&text);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        play(&text);
    }
}

fn play(text: &str) {
    match parse(text) {
        Ok(script) => {
            let outcome = run(&script);
            render_failure("any", &script.lines, &outcome);
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            render_problems("any", text, &problems);
        }
    }
}

#[test]
fn scripts_with_a_line_changed_or_lost_are_read_and_played_too() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/tcp");
    for path in ackord_script::find_scripts(&root).expect("they are there") {
        let text = std::fs::read_to_string(&path).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        for lost in 0..lines.len() {
            let mut fewer = lines.clone();
            fewer.remove(lost);
            play(&fewer.join("\n"));
            let half = lines[lost].len() / 2;
            if let Some(cut) = lines[lost].get(..half) {
                fewer.insert(lost, cut);
                play(&fewer.join("\n"));
            }
        }
    }
}
