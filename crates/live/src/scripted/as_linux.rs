//! A script of any profile for an endpoint of the profile `linux`.

use crate::settings::SettingTold;
use ackord_script::{Script, parse};

/// The same script with the profile `linux` and its mechanisms, without what of its header is in `cannot`.
/// Its lines keep their numbers. How much a send buffer takes at first is left out of it: much of what
/// follows would be about nothing else. Where its header makes no sense with this profile, the profile's own stands alone.
pub(super) fn as_linux(script: &Script, cannot: &[SettingTold]) -> Script {
    let other = |keep: &dyn Fn(&str) -> bool| {
        let lines = script.lines.iter().map(|line| changed(line, keep));
        let mut lines: Vec<String> = lines.collect();
        // A script begins with a comment, and what is free has to be enough for both lines.
        let is_free = |line: &String| line.is_empty() || line.trim_start().starts_with('#');
        let free: Vec<usize> = (0..lines.len()).filter(|at| is_free(&lines[*at])).collect();
        let [first, second, ..] = free[..] else { return None };
        lines[first] = "profile linux".to_owned();
        lines[second] = "set send_buffer_tuning = off".to_owned();
        parse(&lines.join("\n")).ok()
    };
    let can = |key: &str| {
        !is_of_profile(key)
            && !cannot.iter().any(|told| {
                told.knob == key
                    || told.knob.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'))
            })
    };
    let adapted = other(&can).or_else(|| other(&|_| false));
    match adapted {
        Some(adapted) => Script { lines: adapted.lines, ..adapted },
        None => script.clone(),
    }
}

/// Whether the profile would not be the profile with another value.
fn is_of_profile(key: &str) -> bool {
    const KEPT: [&str; 2] = ["ack", "loss.tlp"];
    let family = key.split('.').next().unwrap_or(key);
    matches!(family, "congestion" | "loss" | "recovery" | "ack") && !KEPT.contains(&key)
}

/// A line of a header as it is to be; others stay as they are.
fn changed(line: &str, keep: &dyn Fn(&str) -> bool) -> String {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("profile"), _) => String::new(),
        (Some("set"), Some(key)) if key == "send_buffer_tuning" || !keep(key) => String::new(),
        _ => line.to_owned(),
    }
}
