//! `ackord list mechanisms`: a line per mechanism, kind by kind; of one by name everything about its knobs.

use crate::errors::Failure;
use crate::wrap::wrapped;
use ackord_report::{Screen, data};
use ackord_study::mechanisms::{MechanismEntry, choosing, mechanisms, settings};
use ackord_tcp::registry::CHOICES;
use ackord_units::{Knob, KnobKind, Mechanism};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns what is listed for a name, or for all without one.
///
/// # Errors
/// No mechanism and no kind has this name.
pub(super) fn list(name: Option<&str>, json: bool, screen: Screen) -> Result<String, Failure> {
    let found = named(name)?;
    if json {
        return Ok(data::to_json(
            &found.iter().map(|each| MechanismEntry::of(each)).collect::<Vec<_>>(),
        ));
    }
    let page = Page { screen };
    // A kind of a single mechanism has nothing to choose from: it stands for the mechanism.
    let alone = |mechanism: &&&Mechanism| found.len() == 1 || Some(mechanism.name) == name;
    let (whole, rest): (Vec<&Mechanism>, Vec<&Mechanism>) =
        found.iter().copied().partition(|each| alone(&each));
    let mut text = page.overview(&rest);
    for mechanism in whole {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&page.whole(mechanism));
    }
    Ok(text)
}

/// Returns the mechanisms that have this name or are of this kind.
fn named(name: Option<&str>) -> Result<Vec<&'static Mechanism>, Failure> {
    let Some(name) = name else { return Ok(mechanisms()) };
    let found: Vec<_> =
        mechanisms().into_iter().filter(|each| each.name == name || each.family == name).collect();
    if found.is_empty() {
        let known: BTreeSet<_> =
            mechanisms().iter().flat_map(|each| [each.family, each.name]).collect();
        let known = known.into_iter().map(str::to_owned).collect();
        return Err(Failure::unknown_name("mechanism or kind of mechanism", name, known));
    }
    Ok(found)
}

/// Text for a screen.
struct Page {
    screen: Screen,
}

impl Page {
    fn bold(&self, text: &str) -> String {
        if self.screen.colours { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn wrapped(&self, text: &str, indent: usize) -> String {
        wrapped(text, indent, self.screen.columns.into())
    }

    /// Returns a line per mechanism with its purpose, kind by kind.
    fn overview(&self, mechanisms: &[&Mechanism]) -> String {
        let widest = mechanisms.iter().map(|each| each.name.len()).max().unwrap_or(0);
        let mut text = String::new();
        let mut family = "";
        for mechanism in mechanisms {
            if mechanism.family != family {
                let gap = if family.is_empty() { "" } else { "\n" };
                family = mechanism.family;
                let doc = CHOICES.iter().find(|chosen| chosen.key == family);
                let doc = doc.map(|chosen| format!(": {}", lower(chosen.doc))).unwrap_or_default();
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{gap}{}{doc}", self.bold(family));
            }
            let summary = self.wrapped(mechanism.summary, widest + 4);
            let _ = writeln!(text, "  {:<widest$}  {summary}", mechanism.name);
        }
        if !mechanisms.is_empty() {
            text.push_str("\nKnobs of one: ackord list mechanisms NAME\n");
        }
        text
    }

    /// Returns everything about a mechanism.
    fn whole(&self, mechanism: &Mechanism) -> String {
        let Mechanism { name, family, summary, source, knobs } = *mechanism;
        let mut text = format!("{} ({family})\n", self.bold(name));
        let mut line = |words: &str| {
            let _ = writeln!(text, "  {}", self.wrapped(words, 2));
        };
        line(&format!("{summary}."));
        line(&format!("Source: {source}."));
        let chosen: Vec<_> = choosing(mechanism).map(|(profile, _)| profile).collect();
        if !chosen.is_empty() {
            line(&format!("Chosen by profiles: {}.", chosen.join(", ")));
        }
        if knobs.is_empty() {
            line("It has no knobs.");
        }
        for knob in knobs {
            text.push('\n');
            text.push_str(&self.knob(mechanism, knob));
        }
        text
    }

    fn knob(&self, mechanism: &Mechanism, knob: &Knob) -> String {
        let default = default_with_unit(knob);
        let default = default.as_deref().unwrap_or("none");
        let facts = format!("default {default}; allowed {}", knob.kind.range());
        let mut lines = vec![facts, format!("{}. Source: {}.", knob.doc, knob.source)];
        lines.extend(settings(mechanism, knob).map(|(profile, setting)| {
            format!("profile {profile}: {} ({})", setting.value, setting.source)
        }));
        let mut text = format!("  {}\n", self.bold(knob.name));
        for line in lines {
            let _ = writeln!(text, "      {}", self.wrapped(&line, 6));
        }
        text
    }
}

/// Returns a knob's default with the unit in which it is counted; nothing where there is none.
fn default_with_unit(knob: &Knob) -> Option<String> {
    let default = Some(knob.default).filter(|default| !default.is_empty())?;
    Some(match knob.kind {
        KnobKind::Count { unit, .. } if default.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{default} {unit}")
        }
        _ => default.to_owned(),
    })
}

/// Returns a sentence that goes on after a colon.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: Option<&str>) -> String {
        list(name, false, Screen::NONE).expect("it is there")
    }

    #[test]
    fn the_list_has_a_line_per_mechanism_and_no_knobs() {
        let text = text(None);
        for mechanism in mechanisms() {
            let line = format!("\n  {} ", mechanism.name);
            assert!(text.contains(&line), "{}", mechanism.name);
        }
        assert!(!text.contains("fast_convergence"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        // Some purposes take a second line.
        assert!(text.lines().count() < 2 * mechanisms().len(), "{text}");
    }

    #[test]
    fn a_mechanism_by_name_has_each_knob_once_with_the_values_of_profiles() {
        let text = text(Some("cubic"));
        let cubic =
            mechanisms().into_iter().find(|each| each.name == "cubic").expect("it is there");
        for knob in cubic.knobs {
            assert_eq!(text.matches(&format!("\n  {}\n", knob.name)).count(), 1, "{}", knob.name);
        }
        for part in ["Source: RFC 9438.", "default 0.7; allowed 0.1 to 0.95", "1 to 1000 segments"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("profile linux: delay-and-train ("), "{text}");
        assert!(text.contains("Chosen by profiles: rfc, linux"), "{text}");
    }

    #[test]
    fn mechanisms_of_one_name_and_a_kind_of_the_same_name_are_all_there() {
        let vegas = text(Some("vegas"));
        assert!(vegas.contains("vegas (congestion)") && vegas.contains("vegas (loss)"), "{vegas}");
        let jitter = text(Some("jitter"));
        assert!(
            jitter.contains("\n  redraw ") && jitter.contains("jitter (processing)"),
            "{jitter}"
        );
        assert!(text(Some("endpoint")).contains("\n  rto_min\n"));
        assert!(!text(Some("queue")).contains("default"), "{}", text(Some("queue")));
    }
}
