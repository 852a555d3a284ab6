//! What an ordeal is made of, and the same as bytes: thirty-two bytes, then four per operation.

use super::Op;
use ackord_tcp::registry::{CHOICES, ENDPOINT, PROFILES, Stack};
use ackord_tcp::{Config, Mechanisms};
use ackord_units::{Bytes, Knob, KnobKind, KnobValue, Knobs, Mechanism, Seq, Span};
use ackord_wire::IpVersion;
use std::fmt::Write as _;

/// Bytes before the first operation.
pub const HEAD: usize = 32;

/// More operations than this say nothing new.
const MOST_OPS: usize = 128;

/// One ordeal.
#[derive(Clone, Debug)]
pub struct Case {
    pub ip: IpVersion,
    pub open: Open,
    /// Client and server.
    pub ends: [Make; 2],
    pub iss: [Seq; 2],
    /// Of each direction at first.
    pub delays: [Span; 2],
    pub ops: Vec<Op>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    ByClient,
    ByBoth,
}

/// What an endpoint is made of: everything by number, so that what is newly registered takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Make {
    /// Which profile says what the rest does not.
    pub profile: u8,
    /// Congestion control, loss detection, recovery, acknowledgments, Nagle, by place in their
    /// tables; [`OF_PROFILE`] leaves it to the profile.
    pub choices: [u8; 5],
    /// Knobs (by place among all knobs of this endpoint) and the values they are set to.
    pub knobs: [(u8, u8); 3],
}

pub const OF_PROFILE: u8 = 255;

/// No knob is set.
pub const NO_KNOB: (u8, u8) = (255, 0);

impl Make {
    /// The profile as it stands.
    pub fn plain(profile: u8) -> Make {
        Make { profile, choices: [OF_PROFILE; 5], knobs: [NO_KNOB; 3] }
    }

    /// A profile of this name with mechanisms of these, as (family, name).
    ///
    /// # Panics
    /// If one is not registered.
    pub fn named(profile: &str, mechanisms: &[(&str, &str)]) -> Make {
        let place = PROFILES.iter().position(|listed| listed.name == profile);
        let mut make = Make::plain(place.expect("registered") as u8);
        for (number, chosen) in CHOICES.iter().enumerate() {
            let of_family = mechanisms.iter().find(|(family, _)| chosen.key == *family);
            if let Some((_, name)) = of_family {
                let place = chosen.mechanisms.iter().position(|mechanism| mechanism.name == *name);
                make.choices[number] = place.expect("registered") as u8;
            }
        }
        make
    }

    /// The endpoint that up to twelve bytes stand for.
    pub fn of(bytes: &[u8]) -> Make {
        let at = |place: usize| bytes.get(place).copied().unwrap_or(0);
        Make {
            profile: at(0),
            choices: std::array::from_fn(|family| at(1 + family)),
            knobs: std::array::from_fn(|knob| (at(6 + 2 * knob), at(7 + 2 * knob))),
        }
    }

    /// Appends those bytes.
    pub fn push_to(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.profile);
        bytes.extend(self.choices);
        bytes.extend(self.knobs.iter().flat_map(|&(which, value)| [which, value]));
    }

    /// Sizes, timers and mechanisms, and whether a knob makes it give up before its time.
    pub fn build(&self, ip: IpVersion) -> (Config, Mechanisms, Patience) {
        let (stack, patience) = self.stack();
        (Config { ip, ..stack.config() }, stack.mechanisms(), patience)
    }

    fn stack(&self) -> (Stack, Patience) {
        let profile = &PROFILES[usize::from(self.profile) % PROFILES.len()];
        let mut stack = Stack::of_profile(profile);
        // Losses alone never end a connection here: what ends it then is a fault.
        for knob in ENDPOINT.knobs.iter().filter(|knob| bounds_patience(knob)) {
            if let Some(value) = most_patient(knob) {
                assert!(stack.endpoint.set(knob.name, value), "{}", knob.name);
            }
        }
        for (chosen, &number) in CHOICES.iter().zip(&self.choices) {
            let mechanism = &chosen.mechanisms[usize::from(number) % chosen.mechanisms.len()];
            let choice = stack.choice_mut(chosen.key).expect("one of the five choices");
            if number != OF_PROFILE && mechanism.name != choice.mechanism().name {
                assert!(choice.choose(mechanism.name), "{}", mechanism.name);
            }
        }
        let mut patience = Patience::Endless;
        for &(which, value) in self.knobs.iter().filter(|knob| **knob != NO_KNOB) {
            if set_knob(&mut stack, which, value) == Patience::Short {
                patience = Patience::Short;
            }
        }
        (stack, patience)
    }
}

/// Whether an endpoint may give up by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    Endless,
    Short,
}

fn bounds_patience(knob: &Knob) -> bool {
    ["retransmissions", "user_timeout", "keepalive", "give_up", "probes"]
        .iter()
        .any(|word| knob.name.contains(word))
}

/// The value with which an endpoint endures most; nothing where absence means that.
fn most_patient(knob: &Knob) -> Option<KnobValue> {
    match knob.kind {
        KnobKind::Count { max, .. } if knob.name.contains("retransmissions") => {
            Some(KnobValue::Count(max))
        }
        _ => None,
    }
}

/// Sets one of all the knobs that the stack has.
fn set_knob(stack: &mut Stack, which: u8, value: u8) -> Patience {
    let keys = ["endpoint", "congestion", "loss", "recovery", "ack", "nagle"];
    let parts: Vec<&'static Mechanism> = keys
        .iter()
        .map(|key| stack.choice(key).map_or(ENDPOINT, |choice| choice.mechanism()))
        .collect();
    let all: usize = parts.iter().map(|part| part.knobs.len()).sum();
    let mut place = usize::from(which) % all;
    for (key, mechanism) in keys.iter().zip(parts) {
        if let Some(knob) = mechanism.knobs.get(place) {
            if let Some(value) = value_of(knob, value) {
                let known = match stack.choice_mut(key) {
                    Some(choice) => choice.set(knob.name, value),
                    None => stack.endpoint.set(knob.name, value),
                };
                assert!(known, "{}", knob.name);
            }
            return if bounds_patience(knob) { Patience::Short } else { Patience::Endless };
        }
        place -= mechanism.knobs.len();
    }
    unreachable!("the place lies among all knobs")
}

/// One of nine values from the smallest to the largest; nothing for kinds that endpoints lack.
#[expect(clippy::disallowed_methods, reason = "any value in the range will do")]
fn value_of(knob: &Knob, value: u8) -> Option<KnobValue> {
    let step = f64::from(value % 9) / 8.0;
    let even = |min: f64, max: f64| min + (max - min) * step;
    let by_ratio = |min: u64, max: u64| {
        if value.is_multiple_of(9) {
            return min;
        }
        let (low, high) = (min.max(1) as f64, max.max(1) as f64);
        ((low * (high / low).powf(step)).round() as u64).clamp(min, max)
    };
    match knob.kind {
        KnobKind::Count { min, max, .. } => Some(KnobValue::Count(by_ratio(min, max))),
        KnobKind::Number { min, max } => Some(KnobValue::Number(even(min, max))),
        KnobKind::Span { min, max } => {
            let nanos = by_ratio(min.as_nanos(), max.as_nanos());
            Some(KnobValue::Span(Span::from_nanos(nanos)))
        }
        KnobKind::Bytes { min, max } => {
            Some(KnobValue::Bytes(Bytes(by_ratio(min.get(), max.get()))))
        }
        KnobKind::Ratio => knob.kind.parse(&format!("{} %", 100.0 * step)).ok(),
        KnobKind::Choice(words) => {
            let word = words[usize::from(value) % words.len()];
            Some(KnobValue::Choice(word))
        }
        _ => None,
    }
}

impl Case {
    /// The case that any bytes stand for.
    pub fn of(bytes: &[u8]) -> Case {
        let (head, ops) = bytes.split_at(bytes.len().min(HEAD));
        let at = |place: usize| head.get(place).copied().unwrap_or(0);
        let iss = |place| Seq(u32::from_be_bytes([at(place), at(place + 1), 0xff, 0xf0]));
        let delay = |place| Span::from_micros(u64::from(at(place)) * 1_000 + 10);
        let (ops, _) = ops.as_chunks::<4>();
        Case {
            ip: if at(0) & 1 == 0 { IpVersion::V4 } else { IpVersion::V6 },
            open: if at(0) & 2 == 0 { Open::ByClient } else { Open::ByBoth },
            delays: [delay(1), delay(2)],
            iss: [iss(3), iss(5)],
            ends: [
                Make::of(head.get(8..20).unwrap_or(&[])),
                Make::of(head.get(20..32).unwrap_or(&[])),
            ],
            ops: ops.iter().take(MOST_OPS).map(|op| Op::of(*op)).collect(),
            bytes: bytes.to_vec(),
        }
    }

    /// The bytes of a case with these parts; the five bytes are flags, delays and initial
    /// sequence numbers as [`Case::of`] reads them.
    pub fn bytes_of(flags: u8, path: [u8; 6], ends: &[Make; 2], ops: &[[u8; 4]]) -> Vec<u8> {
        let mut bytes = vec![flags];
        bytes.extend(path);
        bytes.push(0);
        ends.iter().for_each(|end| end.push_to(&mut bytes));
        bytes.extend(ops.iter().flatten());
        bytes
    }

    /// Its bytes as text, for a regression test.
    pub fn hex(&self) -> String {
        self.bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a String takes everything");
            text
        })
    }

    /// The case whose bytes are written so.
    ///
    /// # Panics
    /// If the text is not hexadecimal.
    pub fn of_hex(text: &str) -> Case {
        let digits: Vec<u8> = text
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .map(|letter| letter.to_digit(16).expect("hexadecimal") as u8)
            .collect();
        let (pairs, _) = digits.as_chunks::<2>();
        Case::of(&pairs.iter().map(|[high, low]| high << 4 | low).collect::<Vec<u8>>())
    }

    /// What its endpoints are, for people.
    pub fn describe(&self) -> String {
        self.ends
            .iter()
            .map(|end| {
                let (stack, _) = end.stack();
                let words = stack.by_name().map(|(_, choice)| {
                    let mechanism = choice.mechanism();
                    let set = mechanism.knobs.iter().filter_map(|knob| {
                        let value = choice.value(knob.name)?;
                        (Some(&value) != knob.default_value().as_ref())
                            .then(|| format!("{}={value:?}", knob.name))
                    });
                    format!("{}[{}]", mechanism.name, set.collect::<Vec<_>>().join(" "))
                });
                words.join(" ") + "\n"
            })
            .collect()
    }
}
