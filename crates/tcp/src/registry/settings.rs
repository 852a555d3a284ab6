//! A stack changed by text: `congestion` to `reno`, `loss.threshold` to `4`, `rto_min` to `200 ms`,
//! with the keys, values and words of scenario files. For faces that have no scenario.

use super::{CHOICES, ENDPOINT, PROFILES, Stack, chosen_from, profile};
use ackord_units::{Contradiction, Knobs, nearest_name};
use std::fmt::Write;

/// The key that names a profile.
const PROFILE: &str = "profile";

/// A setting that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// It has no `=`.
    #[error("`{given}` is not of the form key=value")]
    NoValue {
        /// What was given.
        given: String,
    },
    /// No such key.
    #[error("`{key}` is not a key of {of}{}", or_these(nearest.as_deref(), allowed))]
    UnknownKey {
        /// The key.
        key: String,
        /// What it was looked for in: "an endpoint", "loss `rack`".
        of: String,
        /// The keys there are.
        allowed: Vec<&'static str>,
        /// The one nearest to it.
        nearest: Option<&'static str>,
    },
    /// A name that nothing has.
    #[error("there is no {what} called `{given}`{}", or_these(nearest.as_deref(), known))]
    UnknownName {
        /// What it would be the name of: "profile", "congestion".
        what: &'static str,
        /// The name.
        given: String,
        /// The names there are.
        known: Vec<&'static str>,
        /// The one nearest to it.
        nearest: Option<&'static str>,
    },
    /// A value that its key does not take.
    #[error("{key}: {why}; allowed: {allowed}")]
    BadValue {
        /// The key.
        key: String,
        /// Why not, with what was given.
        why: String,
        /// What is allowed.
        allowed: String,
    },
}

/// "; did you mean `x`? There are: x, y".
fn or_these(nearest: Option<&str>, names: &[&str]) -> String {
    let mut text = String::new();
    if let Some(nearest) = nearest {
        write!(text, "; did you mean `{nearest}`?").expect("a string takes everything");
    }
    if names.is_empty() {
        text.push_str("; it has none");
    } else {
        write!(text, "; there are: {}", names.join(", ")).expect("a string takes everything");
    }
    text
}

impl Stack {
    /// The stack of the profile with this name.
    ///
    /// # Errors
    /// [`SettingError::UnknownName`].
    pub fn named(name: &str) -> Result<Stack, SettingError> {
        let found = profile(name).ok_or_else(|| {
            unknown_name("profile", name, PROFILES.iter().map(|profile| profile.name))
        })?;
        Ok(Stack::of_profile(found))
    }

    /// Makes the setting `key=value`, as [`Stack::set`] does.
    ///
    /// # Errors
    /// [`SettingError`]; the stack is then as before.
    pub fn set_text(&mut self, setting: &str) -> Result<(), SettingError> {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| SettingError::NoValue { given: setting.trim().to_owned() })?;
        self.set(key, value)
    }

    /// Sets `key` to `value`, both as a user writes them: `profile` replaces the whole stack, the
    /// name of a choice (`congestion`; `cc` for short) takes another mechanism as
    /// [`Stack::choose`] has it,
    /// `loss.threshold` sets a knob of the mechanism chosen so far, anything else a knob of the
    /// endpoint. Quotes around the value may be there or not.
    ///
    /// # Errors
    /// [`SettingError`]; the stack is then as before.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingError> {
        let (key, value) = (key.trim(), value.trim());
        let value =
            value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
        if key == PROFILE {
            *self = Stack::named(value)?;
            return Ok(());
        }
        let (family, of_mechanism) = match key.split_once('.') {
            Some((family, knob)) => (family, Some(knob)),
            None => (key, None),
        };
        let family = if family == "cc" { "congestion" } else { family };
        match (chosen_from(family), of_mechanism) {
            (None, None) if ENDPOINT.knob(key).is_some() => {
                set_knob(&mut self.endpoint, key, key, value)
            }
            (None, _) => {
                let choices = CHOICES.iter().map(|chosen| chosen.key);
                let knobs = ENDPOINT.knobs.iter().map(|knob| knob.name);
                Err(unknown_key(
                    key,
                    "an endpoint",
                    [PROFILE].into_iter().chain(choices).chain(knobs),
                ))
            }
            (Some(chosen), None) if !self.choose(family, value) => {
                let known = chosen.mechanisms.iter().map(|mechanism| mechanism.name);
                Err(unknown_name(chosen.key, value, known))
            }
            (Some(_), None) => Ok(()),
            (Some(_), Some(knob)) => {
                let choice = self.choice_mut(family).expect("one of the five choices");
                set_knob(choice, knob, key, value)
            }
        }
    }

    /// Whether the values make sense together.
    ///
    /// # Errors
    /// [`SettingError::BadValue`] for the first pair that does not.
    pub fn check(&self) -> Result<(), SettingError> {
        let parts = self.by_name();
        let contradiction =
            parts.iter().find_map(|(family, part)| Some((family, part.check().err()?)));
        match contradiction {
            None => Ok(()),
            Some((family, Contradiction { why, allowed })) => {
                Err(SettingError::BadValue { key: (*family).to_owned(), why, allowed })
            }
        }
    }
}

fn set_knob<K: Knobs + ?Sized>(
    of: &mut K,
    name: &str,
    key: &str,
    value: &str,
) -> Result<(), SettingError> {
    let mechanism = of.mechanism();
    let Some(knob) = mechanism.knob(name) else {
        let what = format!("{} `{}`", mechanism.family, mechanism.name);
        return Err(unknown_key(name, &what, mechanism.knobs.iter().map(|knob| knob.name)));
    };
    let parsed = knob.kind.parse(value).map_err(|why| SettingError::BadValue {
        key: key.to_owned(),
        why,
        allowed: knob.kind.range(),
    })?;
    assert!(of.set(knob.name, parsed), "a knob takes values of its kind");
    Ok(())
}

fn unknown_key(key: &str, of: &str, allowed: impl Iterator<Item = &'static str>) -> SettingError {
    let allowed: Vec<_> = allowed.collect();
    let nearest = nearest(key, &allowed);
    SettingError::UnknownKey { key: key.to_owned(), of: of.to_owned(), allowed, nearest }
}

fn unknown_name(
    what: &'static str,
    given: &str,
    known: impl Iterator<Item = &'static str>,
) -> SettingError {
    let known: Vec<_> = known.collect();
    let nearest = nearest(given, &known);
    SettingError::UnknownName { what, given: given.to_owned(), known, nearest }
}

fn nearest(given: &str, names: &[&'static str]) -> Option<&'static str> {
    // A name of this length cannot be a slip of the pen, and comparing it would take long.
    let names = if given.len() > 200 { &[] } else { names };
    nearest_name(given, names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Congestion;
    use ackord_units::{Choice, KnobValue, Span};

    fn rfc() -> Stack {
        Stack::named("rfc").expect("registered")
    }

    #[test]
    fn text_sets_profiles_choices_and_knobs() {
        let mut stack = rfc();
        for setting in ["profile=linux", "cc=reno", "loss = fixed", "loss.threshold = 5"] {
            stack.set_text(setting).expect(setting);
        }
        stack.set("rto_min", "\"300 ms\"").expect("a span");
        assert_eq!(stack.congestion.mechanism().name, "reno");
        assert_eq!(stack.loss.value("threshold"), Some(KnobValue::Count(5)));
        assert_eq!(stack.config().rto.min, Span::from_millis(300));
        assert_eq!(stack.ack.mechanism().name, "linux", "what the profile said stays");
    }

    #[test]
    fn a_profiles_own_mechanism_has_the_profiles_knobs_however_it_is_named() {
        let mut stack = Stack::named("linux").expect("registered");
        let linux = stack.clone();
        for setting in ["cc=cubic", "cc=reno", "congestion=cubic", "loss=fixed", "loss=rack"] {
            stack.set_text(setting).expect(setting);
        }
        assert_eq!(stack, linux);
        let mut stack = rfc();
        stack.set_text("cc=cubic").expect("registered");
        assert_eq!(stack, rfc());
    }

    #[test]
    fn another_mechanism_named_beside_a_profile_has_the_knobs_that_the_profile_sets_for_it() {
        let mut stack = Stack::named("linux").expect("registered");
        for setting in profile("linux").expect("registered").of_others {
            let [family, name, knob] = setting.key.split('.').collect::<Vec<_>>()[..] else {
                panic!("`{}` is not of the form choice.mechanism.knob", setting.key)
            };
            assert!(stack.choose(family, name), "{}", setting.key);
            let choice = stack.choice(family).expect("it was chosen");
            let declared = choice.mechanism().knob(knob).expect(setting.key);
            let value = declared.kind.parse(setting.value).expect(setting.key);
            assert_eq!(choice.value(knob), Some(value), "{}", setting.key);
        }
        let mut stack = rfc();
        assert!(stack.choose("congestion", "reno"));
        assert_eq!(stack.congestion, Congestion::named("reno").expect("registered"));
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed_and_nothing_is_changed() {
        let mut stack = rfc();
        for (setting, said) in [
            ("profile=linus", "did you mean `linux`?"),
            ("congestion=rino", "there is no congestion called `rino`; did you mean `reno`?"),
            ("rto_mim=1 s", "did you mean `rto_min`?"),
            ("rto_min=1", "has no unit"),
            ("loss.treshold=3", "did you mean `threshold`?"),
            ("loss.threshold=0", "allowed: "),
            ("rto_min", "is not of the form key=value"),
            ("disk.size=3", "is not a key of an endpoint"),
        ] {
            let error = stack.set_text(setting).expect_err(setting).to_string();
            assert!(error.contains(said), "{setting}: {error}");
        }
        assert_eq!(stack, rfc());
    }

    #[test]
    fn values_that_contradict_each_other_are_found() {
        let mut stack = rfc();
        stack.check().expect("a profile is sound");
        stack.set_text("rto_max=1 s").expect("in range by itself");
        stack.set_text("rto_min=2 s").expect("in range by itself");
        let error = stack.check().expect_err("above the largest").to_string();
        assert!(error.contains("`rto_min` (2 s) is above `rto_max`"), "{error}");
    }
}
