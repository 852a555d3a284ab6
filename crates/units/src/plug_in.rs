//! Mechanisms that are registered while the program runs, in addition to those that a family lists: a
//! user's own, chosen by name in any scenario and set by their knobs like the others.

use crate::{Knob, KnobValue, Knobs, Mechanism};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A mechanism that was registered.
pub struct PlugIn<A: ?Sized> {
    mechanism: Mechanism,
    build: Box<Build<A>>,
}

/// Builds what a mechanism can do from the values of its knobs, in the order in which it lists them.
type Build<A> = dyn Fn(&[Option<KnobValue>]) -> Arc<A> + Send + Sync;

/// The mechanisms of one family that were registered.
pub struct PlugIns<A: ?Sized + 'static>(RwLock<Vec<&'static PlugIn<A>>>);

/// A registered mechanism with the values of its knobs.
pub struct PluggedIn<A: ?Sized + 'static> {
    plug_in: &'static PlugIn<A>,
    /// One per knob of the mechanism.
    values: Vec<Option<KnobValue>>,
    config: Arc<A>,
}

/// What a registration declares.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The name that a user writes.
    pub name: String,
    /// One line for lists.
    pub summary: String,
    /// The settings.
    pub knobs: Vec<Knob>,
}

/// Why a mechanism cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotPlugIn {
    /// The name has other characters than names have.
    #[error("`{0}` is no name of a mechanism: lower-case letters, digits and `-` are allowed")]
    Name(String),
    /// The family lists one of this name.
    #[error("there is a {family} mechanism `{name}` already: choose another name")]
    Taken {
        /// The family.
        family: &'static str,
        /// The name.
        name: String,
    },
    /// The name of a knob has other characters than keys have, or is that of another knob.
    #[error(
        "`{0}` is no name of a knob: lower-case letters, digits and `_` are allowed, but not `kind`, and each name once"
    )]
    KnobName(String),
    /// The default of a knob is not one of its values.
    #[error("the default of `{knob}` is not valid: {why} (allowed: {allowed})")]
    Default {
        /// The knob.
        knob: String,
        /// What is wrong.
        why: String,
        /// The values that are allowed.
        allowed: String,
    },
}

impl<A: ?Sized + 'static> PluggedIn<A> {
    fn new(plug_in: &'static PlugIn<A>, values: Vec<Option<KnobValue>>) -> PluggedIn<A> {
        let config = (plug_in.build)(&values);
        PluggedIn { plug_in, values, config }
    }

    /// What it can do.
    pub fn config(&self) -> &A {
        &self.config
    }
}

impl<A: ?Sized> Knobs for PluggedIn<A> {
    fn mechanism(&self) -> &'static Mechanism {
        &self.plug_in.mechanism
    }

    fn value(&self, knob: &str) -> Option<KnobValue> {
        let at = self.mechanism().knobs.iter().position(|one| one.name == knob)?;
        self.values[at].clone()
    }

    fn set(&mut self, knob: &str, value: KnobValue) -> bool {
        let knobs = self.mechanism().knobs;
        let found = knobs.iter().position(|one| one.name == knob && one.kind.takes(&value));
        let Some(at) = found else { return false };
        let mut values = self.values.clone();
        values[at] = Some(value);
        *self = PluggedIn::new(self.plug_in, values);
        true
    }
}

impl<A: ?Sized> Clone for PluggedIn<A> {
    fn clone(&self) -> PluggedIn<A> {
        let PluggedIn { plug_in, values, config } = self;
        PluggedIn { plug_in, values: values.clone(), config: Arc::clone(config) }
    }
}

impl<A: ?Sized> fmt::Debug for PluggedIn<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PluggedIn").field(&self.plug_in.mechanism.name).field(&self.values).finish()
    }
}

/// The same registration with the same values.
impl<A: ?Sized> PartialEq for PluggedIn<A> {
    fn eq(&self, other: &PluggedIn<A>) -> bool {
        std::ptr::addr_eq(self.plug_in, other.plug_in) && self.values == other.values
    }
}

impl<A: ?Sized + 'static> PlugIns<A> {
    /// Returns a family without registered mechanisms.
    pub const fn new() -> PlugIns<A> {
        PlugIns(RwLock::new(Vec::new()))
    }

    /// Registers a mechanism of the family that lists `listed`, in place of an earlier registration
    /// of the same name: scenarios that were checked before keep that one.
    ///
    /// # Errors
    /// If a name is not valid or is taken by a listed mechanism, or a default is out of range.
    pub fn register(
        &self,
        listed: &'static [Mechanism],
        declared: Declared,
        build: impl Fn(&[Option<KnobValue>]) -> Arc<A> + Send + Sync + 'static,
    ) -> Result<(), CannotPlugIn> {
        let Declared { name, summary, knobs } = declared;
        let family = listed.first().map_or("", |mechanism| mechanism.family);
        if !is_name(&name, '-') {
            return Err(CannotPlugIn::Name(name));
        }
        if listed.iter().any(|mechanism| mechanism.name == name) {
            return Err(CannotPlugIn::Taken { family, name });
        }
        for (at, knob) in knobs.iter().enumerate() {
            check(knob, &knobs[..at])?;
        }
        // Once per registration, and as long-lived as what is listed.
        let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let (name, summary, knobs) = (leaked(name), leaked(summary), Box::leak(knobs.into()));
        let mechanism = Mechanism { name, family, summary, source: "", knobs };
        let plug_in = Box::leak(Box::new(PlugIn { mechanism, build: Box::new(build) }));
        let mut registered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        registered.retain(|one| one.mechanism.name != plug_in.mechanism.name);
        registered.push(plug_in);
        Ok(())
    }

    /// Returns the mechanism of this name with the defaults of its knobs.
    pub fn named(&self, name: &str) -> Option<PluggedIn<A>> {
        let registered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let plug_in = registered.iter().find(|one| one.mechanism.name == name).copied()?;
        drop(registered);
        let defaults = plug_in.mechanism.knobs.iter().map(Knob::default_value).collect();
        Some(PluggedIn::new(plug_in, defaults))
    }

    /// Returns the registered mechanisms in the order of their registration.
    pub fn mechanisms(&self) -> Vec<&'static Mechanism> {
        let registered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().map(|one| &one.mechanism).collect()
    }
}

fn is_name(name: &str, joint: char) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == joint;
    !name.is_empty() && name.chars().all(is_allowed)
}

/// Checks a knob's name, which differs from those `before`, and its default.
fn check(knob: &Knob, before: &[Knob]) -> Result<(), CannotPlugIn> {
    let is_taken = knob.name == "kind" || before.iter().any(|one| one.name == knob.name);
    if is_taken || !is_name(knob.name, '_') {
        return Err(CannotPlugIn::KnobName(knob.name.to_owned()));
    }
    match knob.default {
        "" => Ok(()),
        default => match knob.kind.parse(default) {
            Ok(_) => Ok(()),
            Err(why) => {
                let (knob, allowed) = (knob.name.to_owned(), knob.kind.range());
                Err(CannotPlugIn::Default { knob, why, allowed })
            }
        },
    }
}

impl<A: ?Sized + 'static> Default for PlugIns<A> {
    fn default() -> PlugIns<A> {
        PlugIns::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KnobKind;

    static LISTED: &[Mechanism] =
        &[Mechanism { name: "reno", family: "test", summary: "", source: "", knobs: &[] }];

    const BETA: Knob = Knob {
        name: "beta",
        kind: KnobKind::Number { min: 0.1, max: 0.9 },
        default: "0.7",
        doc: "",
        source: "",
    };

    fn declared(name: &str, knobs: &[Knob]) -> Declared {
        Declared { name: name.to_owned(), summary: String::new(), knobs: knobs.to_vec() }
    }

    #[test]
    fn the_latest_registration_of_a_name_holds_and_listed_names_are_taken() {
        let plug_ins: PlugIns<u8> = PlugIns::new();
        assert_eq!(plug_ins.register(LISTED, declared("mine", &[]), |_| Arc::new(1)), Ok(()));
        let first = plug_ins.named("mine").expect("registered");
        assert_eq!(plug_ins.register(LISTED, declared("mine", &[]), |_| Arc::new(2)), Ok(()));
        let second = plug_ins.named("mine").expect("registered");
        assert_eq!((*first.config(), *second.config()), (1, 2));
        assert_ne!(first, second);
        assert_eq!(plug_ins.mechanisms().len(), 1);
        let taken = CannotPlugIn::Taken { family: "test", name: "reno".to_owned() };
        let register = |name| plug_ins.register(LISTED, declared(name, &[]), |_| Arc::new(3));
        assert_eq!(register("reno"), Err(taken));
        assert_eq!(register("My Own"), Err(CannotPlugIn::Name("My Own".to_owned())));
        assert!(plug_ins.named("reno").is_none());
    }

    #[test]
    fn knobs_have_their_defaults_until_they_are_set_to_values_of_their_kind() {
        let plug_ins: PlugIns<f64> = PlugIns::new();
        let beta = |values: &[Option<KnobValue>]| match values {
            [Some(KnobValue::Number(beta))] => Arc::new(*beta),
            other => panic!("{other:?}"),
        };
        assert_eq!(plug_ins.register(LISTED, declared("mine", &[BETA]), beta), Ok(()));
        let mut mine = plug_ins.named("mine").expect("registered");
        assert_eq!(mine.value("beta"), Some(KnobValue::Number(0.7)));
        assert!(!mine.set("beta", KnobValue::Count(1)), "of another kind");
        assert!(!mine.set("gamma", KnobValue::Number(0.5)), "of no knob");
        let before = mine.clone();
        assert!(mine.set("beta", KnobValue::Number(0.5)));
        assert_eq!((*before.config(), *mine.config()), (0.7, 0.5));
        assert_ne!(before, mine);
    }

    #[test]
    fn names_and_defaults_of_knobs_are_checked() {
        let plug_ins: PlugIns<u8> = PlugIns::new();
        let register =
            |knobs: &[Knob]| plug_ins.register(LISTED, declared("mine", knobs), |_| Arc::new(1));
        let no_name = |name: &str| Err(CannotPlugIn::KnobName(name.to_owned()));
        assert_eq!(register(&[Knob { name: "kind", ..BETA }]), no_name("kind"));
        assert_eq!(register(&[Knob { name: "Beta", ..BETA }]), no_name("Beta"));
        assert_eq!(register(&[BETA, BETA]), no_name("beta"));
        let outside = register(&[Knob { default: "2", ..BETA }]).expect_err("out of range");
        let said = "the default of `beta` is not valid: `2` is out of range: 0.1 to 0.9 (allowed: 0.1 to 0.9)";
        assert_eq!(outside.to_string(), said);
    }
}
