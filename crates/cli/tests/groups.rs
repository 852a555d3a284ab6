//! What a large group of hosts costs.

use crate::common::{printed, text};
use ackord_testing::{assert_timely, timely};
use std::time::{Duration, Instant};

/// A file with `count` senders, receivers, access links to either and flows.
fn group(count: usize) -> String {
    format!(
        r#"
version = 1
name = "group"
duration = "1 s"
hosts = {{ phone = {{ count = {count} }}, server = {{ count = {count} }} }}
routers = {{ left = {{}}, right = {{}} }}
[[links]]
name = "middle"
from = "left"
to = "right"
rate = "1 Gbit/s"
delay = "1 ms"
[[links]]
name = "air-*"
from = "left"
to = "phone-*"
rate = "10 Mbit/s"
delay = "1 ms"
[[links]]
name = "line-*"
from = "right"
to = "server-*"
rate = "10 Mbit/s"
delay = "1 ms"
[[flows]]
name = "f-*"
from = "phone-*"
to = "server-*"
traffic = "bulk"
"#
    )
}

/// How long `ackord check` takes for a group: the least of three times, as the machine may be busy.
fn time_to_check(count: usize) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("group.toml");
    std::fs::write(&file, group(count)).unwrap();
    let times = (0..3).map(|_| {
        let begun = Instant::now();
        printed(&["check", text(&file)]);
        begun.elapsed()
    });
    times.min().expect("three times")
}

#[test]
fn the_time_to_check_a_group_grows_no_faster_than_the_group() {
    timely(|| {
        let (few, many) = (time_to_check(500), time_to_check(4_000));
        // Eight times the members: 8 if linear, 64 if quadratic.
        assert_timely!(many < few * 20, "{few:?} for 500 members, {many:?} for 4000");
    });
}
