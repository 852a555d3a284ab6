//! The exchange as an ASCII time-sequence diagram: the endpoint on the left, the peer on the right.

use crate::notation::Direction;
use crate::run::{Exchange, seconds};
use std::fmt::Write;

/// Least width of the space between the two ends.
const NARROWEST: usize = 40;

/// The diagram of these segments.
pub fn ladder(exchanged: &[Exchange]) -> String {
    let widest = exchanged.iter().map(|each| each.text.len() + 6).max().unwrap_or(0);
    let width = widest.max(NARROWEST);
    let mut out = String::new();
    let mut line = |time: &str, between: &str, rest: &str| {
        writeln!(out, "{}", format!("{time:>12}  |{between:^width$}|  {rest}").trim_end())
            .expect("a string takes everything");
    };
    line(
        "time",
        &format!("{:<half$}{:>half$}", "endpoint", "peer", half = width / 2),
        "cwnd  state",
    );
    for each in exchanged {
        let text = &each.text;
        let dashes = |len: usize| "-".repeat(len);
        let between = match each.direction {
            Direction::Out => format!("{text} {}>", dashes(width - text.len() - 2)),
            Direction::In => format!("<{} {text}", dashes(width - text.len() - 2)),
        };
        // Before the connection is established nobody has set a window.
        let rest = match each.state {
            "LISTEN" | "SYN-SENT" | "SYN-RECEIVED" | "CLOSED" | "-" => format!("-  {}", each.state),
            state => format!("{}  {state}", each.cwnd.get()),
        };
        line(&seconds(each.at), &between, &rest);
    }
    out
}
