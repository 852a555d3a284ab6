//! Mechanisms that are registered while the program runs, beside those that a family lists: somebody's
//! own, tried by name in any scenario.

use crate::Mechanism;
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// A mechanism that was registered. It has no knobs: whoever registers it has set them.
pub struct PlugIn<A: ?Sized> {
    mechanism: Mechanism,
    config: Box<A>,
}

/// The mechanisms of one family that were registered.
pub struct PlugIns<A: ?Sized + 'static>(RwLock<Vec<&'static PlugIn<A>>>);

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
}

impl<A: ?Sized> PlugIn<A> {
    /// How it is listed.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// What it can do.
    pub fn config(&self) -> &A {
        &self.config
    }
}

impl<A: ?Sized> fmt::Debug for PlugIn<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PlugIn").field(&self.mechanism.name).finish()
    }
}

/// The same registration.
impl<A: ?Sized> PartialEq for PlugIn<A> {
    fn eq(&self, other: &PlugIn<A>) -> bool {
        std::ptr::addr_eq(self, other)
    }
}

impl<A: ?Sized + 'static> PlugIns<A> {
    /// None yet.
    pub const fn new() -> PlugIns<A> {
        PlugIns(RwLock::new(Vec::new()))
    }

    /// Registers a mechanism of the family that lists `listed`, in place of an earlier registration
    /// of the same name: scenarios that were checked before keep that one.
    ///
    /// # Errors
    /// When the name is none, or is taken by one that is listed.
    pub fn register(
        &self,
        listed: &'static [Mechanism],
        name: &str,
        config: Box<A>,
    ) -> Result<(), CannotPlugIn> {
        let family = listed.first().map_or("", |mechanism| mechanism.family);
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Err(CannotPlugIn::Name(name.to_owned()));
        }
        if listed.iter().any(|mechanism| mechanism.name == name) {
            return Err(CannotPlugIn::Taken { family, name: name.to_owned() });
        }
        let (summary, source) = ("registered while the program runs", "");
        // Once per registration, and as long-lived as what is listed.
        let name = Box::leak(Box::<str>::from(name));
        let mechanism = Mechanism { name, family, summary, source, knobs: &[] };
        let plug_in = Box::leak(Box::new(PlugIn { mechanism, config }));
        let mut registered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        registered.retain(|one| one.mechanism.name != plug_in.mechanism.name);
        registered.push(plug_in);
        Ok(())
    }

    /// The one of this name.
    pub fn named(&self, name: &str) -> Option<&'static PlugIn<A>> {
        let registered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().find(|one| one.mechanism.name == name).copied()
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

    static LISTED: &[Mechanism] =
        &[Mechanism { name: "reno", family: "test", summary: "", source: "", knobs: &[] }];

    #[test]
    fn the_latest_registration_of_a_name_holds_and_listed_names_are_taken() {
        let plug_ins: PlugIns<u8> = PlugIns::new();
        assert_eq!(plug_ins.register(LISTED, "mine", Box::new(1)), Ok(()));
        let first = plug_ins.named("mine").expect("registered");
        assert_eq!(plug_ins.register(LISTED, "mine", Box::new(2)), Ok(()));
        let second = plug_ins.named("mine").expect("registered");
        assert_eq!((*first.config(), *second.config()), (1, 2));
        assert_ne!(first, second);
        let taken = CannotPlugIn::Taken { family: "test", name: "reno".to_owned() };
        assert_eq!(plug_ins.register(LISTED, "reno", Box::new(3)), Err(taken));
        let no_name = CannotPlugIn::Name("My Own".to_owned());
        assert_eq!(plug_ins.register(LISTED, "My Own", Box::new(3)), Err(no_name));
        assert_eq!(plug_ins.named("reno"), None);
    }
}
