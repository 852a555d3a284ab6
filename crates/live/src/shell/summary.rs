//! What a link does, in a few words: for prompts and summaries.

use ackord_path::registry::{JitterChoice, LossChoice, QueueChoice};
use ackord_scenario::{Direction, Scenario};
use ackord_units::{Knobs, Quantity, Rate, Span};

/// Fast enough for what a computer can emulate: where no rate is given, nothing waits for one.
pub(super) const FAST: &str = "100 Gbit/s";

/// A link in a few words; what it has not is not said.
pub(super) fn summary(scenario: &Scenario) -> String {
    let Some(link) = scenario.links.first() else { return String::new() };
    let (down, up) = (&link.forward, &link.reverse);
    let mut words: Vec<String> = Vec::new();
    let fast = Rate::parse(FAST).unwrap_or_default();
    match (&down.trace, &up.trace) {
        (None, None) if down.rate == up.rate && down.rate >= fast => {}
        (None, None) if down.rate == up.rate => words.push(down.rate.to_string()),
        (None, None) => words.push(format!("up {}, down {}", up.rate, down.rate)),
        _ => words.push("trace".to_owned()),
    }
    match (down.delay, up.delay) {
        (Span::ZERO, Span::ZERO) => {}
        (down, up) if down == up => words.push(format!("delay {down}")),
        (down, up) => words.push(format!("delay up {up}, down {down}")),
    }
    let either = |of: fn(&Direction) -> Option<String>| of(down).or_else(|| of(up));
    words.extend(either(|way| {
        way.jitter.as_ref().map(|jitter| match jitter {
            JitterChoice::HeldBack(_) => format!("reorder {}", shown(jitter, "share")),
            _ => format!("jitter {}", shown(jitter, "deviation")),
        })
    }));
    words.extend(either(|way| {
        way.loss.as_ref().map(|loss| match loss {
            LossChoice::Gilbert(_) => format!("burst loss {}", shown(loss, "mean_loss")),
            LossChoice::Random(random) if random.per_packet.is_some() => {
                format!("loss {}", shown(loss, "per_packet"))
            }
            other => format!("loss {}", other.mechanism().name),
        })
    }));
    words.extend(either(|way| way.corrupt.as_ref().map(|_| "damage".to_owned())));
    words.extend(either(|way| way.duplicate.as_ref().map(|_| "duplicates".to_owned())));
    words.extend(either(|way| way.outage.as_ref().map(|_| "fades".to_owned())));
    let queue = |way: &Direction| {
        let plain = matches!(way.queue, QueueChoice::DropTail(_));
        (!plain).then(|| way.queue.mechanism().name.to_owned())
    };
    words.extend(queue(down).or_else(|| queue(up)));
    words.extend(link.medium.as_ref().map(|medium| medium.mechanism().name.to_owned()));
    let proxy = scenario.proxies.first().and_then(|proxy| proxy.choice.as_ref());
    words.extend(proxy.map(|proxy| proxy.mechanism().name.to_owned()));
    if words.is_empty() { "a link that does nothing".to_owned() } else { words.join(", ") }
}

/// A knob's value as it is shown.
fn shown(choice: &dyn Knobs, knob: &str) -> String {
    choice.value(knob).map_or("?".to_owned(), |value| value.to_string())
}
