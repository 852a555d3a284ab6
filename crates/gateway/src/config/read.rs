//! Networks, ports, code points, marks and interfaces as they are written, each one or a list of several.

use super::{MarkMatch, PortRange};
use ackord_scenario::format::{Field, Report, Value};
use ackord_scenario::{NameOf, Wrong};
use ipnet::IpNet;
use std::net::IpAddr;

/// Code points by name: RFC 2474 §4.2.2, 2597 §6, 3246 §2.7, 5865 §4, 8622 §1.
pub(super) const DSCPS: &[(&str, u8)] = &[
    ("default", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("voice-admit", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

/// A code point as people call it.
pub(super) fn dscp_name(point: u8) -> String {
    let named = DSCPS.iter().find(|(_, known)| *known == point);
    named.map_or_else(|| point.to_string(), |(name, _)| (*name).to_owned())
}

/// The name of an interface, which need not be there yet.
pub(super) fn interface(report: &mut Report, field: &Field<'_>) -> Option<String> {
    let text = field.text(report, "the name of an interface, like \"eth0\"")?;
    // What Linux takes for a name (dev_valid_name), IFNAMSIZ included.
    let sound = (1..16).contains(&text.len())
        && !matches!(text, "." | "..")
        && !text.contains(|c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control());
    if !sound {
        let why = format!("`{text}` cannot be the name of an interface");
        let allowed = "1 to 15 bytes without `/`, `:` and spaces".to_owned();
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(text.to_owned())
}

/// One of the LAN interfaces, as an index.
pub(super) fn lan_interface(
    report: &mut Report,
    field: &Field<'_>,
    lan: &[String],
) -> Option<usize> {
    let name = interface(report, field)?;
    let found = lan.iter().position(|one| *one == name);
    if found.is_none() && !lan.is_empty() {
        let known = lan.iter().map(String::as_str);
        field.report(report, Wrong::unknown_name(NameOf::Other("LAN interface"), &name, known));
    }
    found
}

/// A network, or one address.
pub(super) fn network(report: &mut Report, field: &Field<'_>) -> Option<IpNet> {
    let expected = "a network like \"10.7.0.0/16\" or \"2001:db8::/32\", or an address";
    let text = field.text(report, expected)?;
    let bad = |report: &mut Report, why: String, allowed: &str| {
        field.report(report, Wrong::BadValue { why, allowed: allowed.to_owned() });
        None
    };
    let parsed = match text.parse::<IpAddr>() {
        Ok(address) => Ok(IpNet::from(address)),
        Err(_) => text.parse::<IpNet>(),
    };
    match parsed {
        Ok(net) if net != net.trunc() => {
            let why = format!("`{text}` has bits set behind its prefix");
            bad(report, why, &format!("`{}`, or `{}`", net.trunc(), net.addr()))
        }
        Ok(net) => Some(net),
        Err(_) => bad(report, format!("`{text}` is not a network"), expected),
    }
}

/// A port, or a range of them.
pub(super) fn ports(report: &mut Report, field: &Field<'_>) -> Option<PortRange> {
    const ALLOWED: &str = "a port from 0 to 65535, or a range like \"8000-8100\"";
    let parsed = match &field.item.value {
        Value::Integer(port) => u16::try_from(*port).ok().map(|port| (port, port)),
        Value::Text(text) => {
            let (from, to) = text.split_once('-').unwrap_or((text, text));
            from.trim().parse().ok().zip(to.trim().parse().ok())
        }
        _ => {
            field.wrong_type(report, ALLOWED);
            return None;
        }
    };
    match parsed {
        Some((from, to)) if from <= to => Some(PortRange { from, to }),
        _ => {
            let why = format!("`{}` is no port and no range of ports", shown(field));
            field.report(report, Wrong::BadValue { why, allowed: ALLOWED.to_owned() });
            None
        }
    }
}

/// A code point, by number or by name.
pub(super) fn dscp(report: &mut Report, field: &Field<'_>) -> Option<u8> {
    let number = match &field.item.value {
        Value::Integer(number) => Some(*number),
        Value::Text(text) => {
            let name = text.to_ascii_lowercase();
            let name = if matches!(name.as_str(), "be" | "cs0" | "df") { "default" } else { &name };
            match (DSCPS.iter().find(|(known, _)| *known == name), text.parse()) {
                (Some((_, point)), _) => Some(i128::from(*point)),
                (None, Ok(number)) => Some(number),
                (None, Err(_)) => {
                    let known = DSCPS.iter().map(|(name, _)| *name);
                    let wrong = Wrong::unknown_name(NameOf::Other("code point"), text, known);
                    field.report(report, wrong);
                    return None;
                }
            }
        }
        _ => {
            field.wrong_type(report, "a code point by number or name, like 46 or \"ef\"");
            return None;
        }
    };
    let point = number.and_then(|number| u8::try_from(number).ok()).filter(|point| *point < 64);
    if point.is_none() {
        let why = format!("`{}` is out of range", shown(field));
        field.report(report, Wrong::BadValue { why, allowed: "0 to 63, or a name".to_owned() });
    }
    point
}

/// A mark, or VALUE/MASK.
pub(super) fn mark(report: &mut Report, field: &Field<'_>) -> Option<MarkMatch> {
    const ALLOWED: &str = "a number of 32 bits like \"0x10\", or VALUE/MASK like \"0x10/0xff\"";
    let parsed = match &field.item.value {
        Value::Integer(mark) => u32::try_from(*mark).ok().map(|mark| (mark, u32::MAX)),
        Value::Text(text) => match text.split_once('/') {
            Some((value, mask)) => bits(value).zip(bits(mask)),
            None => bits(text).map(|value| (value, u32::MAX)),
        },
        _ => {
            field.wrong_type(report, ALLOWED);
            return None;
        }
    };
    let why = match parsed {
        Some((value, mask)) if value & !mask == 0 => return Some(MarkMatch { value, mask }),
        Some(_) => format!("`{}` asks for bits that its mask leaves out", shown(field)),
        None => format!("`{}` is not a mark", shown(field)),
    };
    field.report(report, Wrong::BadValue { why, allowed: ALLOWED.to_owned() });
    None
}

fn bits(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// What was given, for errors.
fn shown(field: &Field<'_>) -> String {
    match &field.item.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        _ => field.item.kind().to_owned(),
    }
}
