//! A mechanism that somebody chose, with its knobs: typed, and seen without its type.
//!
//! A mechanism is a struct whose fields are its knobs, with [`derive@crate::Knobs`]. A family is an enum
//! of such structs, made by [`mechanisms!`](crate::mechanisms): the one line in which a mechanism is
//! listed. Who builds or runs something holds the enum; who checks, lists or prints it sees [`Knobs`].

use crate::{Knob, KnobKind, KnobValue, Mechanism};
use std::fmt::Debug;

/// Knobs that each have a valid value, but not together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Contradiction {
    /// Which, with their values.
    pub why: String,
    /// What would be right.
    pub allowed: String,
}

impl Contradiction {
    /// Of these words.
    pub fn new(why: impl Into<String>, allowed: impl Into<String>) -> Contradiction {
        Contradiction { why: why.into(), allowed: allowed.into() }
    }

    /// `smaller` is above `larger`, each a knob with its value.
    pub fn out_of_order(smaller: (&str, String), larger: (&str, String)) -> Contradiction {
        Contradiction {
            why: format!("`{}` ({}) is above `{}` ({})", smaller.0, smaller.1, larger.0, larger.1),
            allowed: format!("`{}` up to the value of `{}`", smaller.0, larger.0),
        }
    }
}

/// A mechanism with the values of its knobs, whatever its type.
pub trait Knobs: Debug {
    /// Which it is.
    fn mechanism(&self) -> &'static Mechanism;

    /// The value of a knob; nothing where it has none, or is no knob of this mechanism.
    fn value(&self, knob: &str) -> Option<KnobValue>;

    /// Sets a knob that the mechanism lists to a value of its kind; whether it was both.
    fn set(&mut self, knob: &str, value: KnobValue) -> bool;

    /// Whether its values, each valid, make sense together.
    fn check(&self) -> Result<(), Contradiction> {
        Ok(())
    }
}

/// One of a family's mechanisms, which a user chooses by name.
pub trait Choice: Knobs + Clone + PartialEq + 'static {
    /// What there is to choose from, in the order in which it is listed to people.
    const MECHANISMS: &'static [Mechanism];

    /// The mechanism of this name with the defaults of its knobs.
    fn named(name: &str) -> Option<Self>;

    /// Returns the mechanisms that were registered while the program runs.
    fn registered() -> Vec<&'static Mechanism> {
        Vec::new()
    }

    /// The same choice with one knob set.
    ///
    /// # Panics
    /// If the mechanism lists no such knob, or the value is of another kind.
    #[must_use]
    fn with(mut self, knob: &str, value: KnobValue) -> Self {
        assert!(self.set(knob, value), "{} takes no such {knob}", self.mechanism().name);
        self
    }
}

/// A place for one of a family's mechanisms, whatever the family.
pub trait AnyChoice: Knobs {
    /// What there is to choose from.
    fn mechanisms(&self) -> &'static [Mechanism];

    /// Returns those that were registered while the program runs.
    fn registered(&self) -> Vec<&'static Mechanism>;

    /// Returns the names of the listed and of the registered mechanisms.
    fn names(&self) -> Vec<&'static str> {
        self.mechanisms().iter().chain(self.registered()).map(|mechanism| mechanism.name).collect()
    }

    /// Takes the mechanism of this name with the defaults of its knobs; whether there is one.
    fn choose(&mut self, name: &str) -> bool;

    /// Whether it is one that is listed, and was not registered while the program runs.
    fn is_listed(&self) -> bool {
        let name = self.mechanism().name;
        self.mechanisms().iter().any(|listed| listed.name == name)
    }
}

impl<C: Choice> AnyChoice for C {
    fn mechanisms(&self) -> &'static [Mechanism] {
        C::MECHANISMS
    }

    fn registered(&self) -> Vec<&'static Mechanism> {
        C::registered()
    }

    fn choose(&mut self, name: &str) -> bool {
        let found = C::named(name);
        let known = found.is_some();
        if let Some(found) = found {
            *self = found;
        }
        known
    }
}

/// The knobs of several parts together, at compile time.
pub const fn count_knobs(parts: &[&[Knob]]) -> usize {
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// As [`count_knobs`]: all `N` of them.
pub const fn join_knobs<const N: usize>(parts: &[&[Knob]]) -> [Knob; N] {
    let none = Knob { name: "", kind: KnobKind::Ratio, default: "", doc: "", source: "" };
    let (mut all, mut filled, mut part) = ([none; N], 0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[filled] = parts[part][at];
            filled += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

/// The names of mechanisms, at compile time: what a knob chooses from that takes one of a family.
pub const fn names_of<const N: usize>(mechanisms: &[Mechanism]) -> [&'static str; N] {
    let (mut names, mut at) = ([""; N], 0);
    while at < N {
        names[at] = mechanisms[at].name;
        at += 1;
    }
    names
}

/// A family: an enum of mechanisms, one line each, and what all of them can do. A line names the
/// module the mechanism is in, which the macro declares, the variant, and the struct that
/// holds its knobs.
///
/// ```ignore
/// mechanisms! {
///     /// Congestion controls: how much may be outstanding.
///     pub enum Congestion: dyn CongestionConfig {
///         mod reno => Reno(RenoConfig),
///         mod cubic => Cubic(CubicConfig),
///     }
/// }
/// ```
#[macro_export]
macro_rules! mechanisms {
    (
        $(#[$about:meta])*
        pub enum $family:ident: dyn $ability:path {
            $($visible:vis mod $module:ident => $($variant:ident($config:ident)),+ ;)+
        }
    ) => {
        $($visible mod $module;)+
        $(pub use $module::{$($config),+};)+

        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $family {
            $($(
                #[doc = concat!("[`", stringify!($config), "`].")]
                $variant($config),
            )+)+
            /// Registered while the program runs.
            PluggedIn($crate::PluggedIn<dyn $ability + Send + Sync>),
        }

        impl $family {
            /// What all of the family can do.
            pub fn config(&self) -> &dyn $ability {
                match self {
                    $($($family::$variant(config) => config,)+)+
                    $family::PluggedIn(plug_in) => plug_in.config(),
                }
            }

            /// What was registered while the program runs.
            pub fn plug_ins() -> &'static $crate::PlugIns<dyn $ability + Send + Sync> {
                static PLUG_INS: $crate::PlugIns<dyn $ability + Send + Sync> =
                    $crate::PlugIns::new();
                &PLUG_INS
            }
        }

        impl $crate::Knobs for $family {
            fn mechanism(&self) -> &'static $crate::Mechanism {
                match self {
                    $($($family::$variant(config) => $crate::Knobs::mechanism(config),)+)+
                    $family::PluggedIn(plug_in) => $crate::Knobs::mechanism(plug_in),
                }
            }

            fn value(&self, knob: &str) -> Option<$crate::KnobValue> {
                match self {
                    $($($family::$variant(config) => $crate::Knobs::value(config, knob),)+)+
                    $family::PluggedIn(plug_in) => $crate::Knobs::value(plug_in, knob),
                }
            }

            fn set(&mut self, knob: &str, value: $crate::KnobValue) -> bool {
                match self {
                    $($($family::$variant(config) => $crate::Knobs::set(config, knob, value),)+)+
                    $family::PluggedIn(plug_in) => $crate::Knobs::set(plug_in, knob, value),
                }
            }

            fn check(&self) -> Result<(), $crate::Contradiction> {
                match self {
                    $($($family::$variant(config) => $crate::Knobs::check(config),)+)+
                    $family::PluggedIn(_) => Ok(()),
                }
            }
        }

        impl $crate::Choice for $family {
            const MECHANISMS: &'static [$crate::Mechanism] = &[$($(*$config::MECHANISM,)+)+];

            fn named(name: &str) -> Option<$family> {
                $($(
                    if name == $config::MECHANISM.name {
                        return Some($family::$variant($config::default()));
                    }
                )+)+
                $family::plug_ins().named(name).map($family::PluggedIn)
            }

            fn registered() -> Vec<&'static $crate::Mechanism> {
                $family::plug_ins().mechanisms()
            }
        }

        impl $crate::Keyword for $family {
            const WORDS: &'static [&'static str] = {
                const MECHANISMS: &[$crate::Mechanism] = <$family as $crate::Choice>::MECHANISMS;
                const NAMES: [&str; MECHANISMS.len()] = $crate::names_of(MECHANISMS);
                &NAMES
            };

            fn word(&self) -> &'static str {
                $crate::Knobs::mechanism(self).name
            }

            fn from_word(word: &str) -> Option<$family> {
                $crate::Choice::named(word)
            }
        }

        impl $crate::KnobType for $family {
            fn to_value(&self) -> Option<$crate::KnobValue> {
                Some($crate::KnobValue::Choice($crate::Keyword::word(self)))
            }

            fn from_value(value: Option<$crate::KnobValue>) -> Option<$family> {
                match value? {
                    $crate::KnobValue::Choice(word) => $crate::Choice::named(word),
                    _ => None,
                }
            }
        }

        $($(
            impl From<$config> for $family {
                fn from(config: $config) -> $family {
                    $family::$variant(config)
                }
            }
        )+)+
    };
}

/// For tests: the pairs of words of one knob that build the same, whatever the other knobs that
/// take words say. `built` shows what a choice becomes, or nothing where it is refused.
pub fn confused_words<K: Knobs + Clone>(
    choice: &K,
    built: impl Fn(&K) -> Option<String>,
) -> Vec<(&'static str, [&'static str; 2])> {
    let knobs = choice.mechanism().knobs.iter();
    let words: Vec<_> = knobs
        .flat_map(|knob| match knob.kind {
            KnobKind::Choice(words) => words.iter().map(|&word| (knob.name, word)).collect(),
            _ => Vec::new(),
        })
        .collect();
    let with = |choice: &K, (knob, word): (&str, &'static str)| {
        let mut choice = choice.clone();
        assert!(choice.set(knob, KnobValue::Choice(word)), "{knob} takes {word}");
        choice
    };
    let surroundings: Vec<_> =
        [choice.clone()].into_iter().chain(words.iter().map(|&word| with(choice, word))).collect();
    let mut confused = Vec::new();
    for (at, &one) in words.iter().enumerate() {
        for &other in words[at + 1..].iter().filter(|(knob, _)| *knob == one.0) {
            let apart = surroundings.iter().any(|around| {
                let [one, other] = [one, other].map(|word| built(&with(around, word)));
                one.is_some() && other.is_some() && one != other
            });
            if !apart {
                confused.push((one.0, [one.1, other.1]));
            }
        }
    }
    confused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Span, default_of};
    use ackord_knobs_derive::{Keyword, Knobs};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
    enum Colour {
        DarkRed,
        #[keyword = "green"]
        Leaf,
        Blue,
    }

    /// A group
    #[derive(Clone, Debug, PartialEq, Knobs)]
    struct Sizes {
        /// How long
        #[knob(min = Bytes(1), max = Bytes(9), default = "2 B", source = "here")]
        length: Bytes,
    }

    const WAIT: Knob = Knob {
        name: "wait",
        kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
        default: "",
        doc: "How long to wait",
        source: "there",
    };

    /// Paints
    /// things
    #[derive(Clone, Debug, PartialEq, Knobs)]
    #[mechanism(family = "test", name = "paint", source = "nowhere", check = sound)]
    struct Paint {
        /// Which colour
        #[knob(default = "dark-red", source = "taste")]
        colour: Colour,
        /// Whether it shows
        #[knob(default = "off", source = "taste")]
        shows: bool,
        #[knob(flatten)]
        sizes: Sizes,
        #[knob(like = WAIT, default = "5 ms")]
        wait: Option<Span>,
        #[knob(name = "for", like = WAIT)]
        lasts: Option<Span>,
        not_a_knob: u8,
    }

    fn sound(paint: &Paint) -> Result<(), Contradiction> {
        match paint.sizes.length > Bytes(5) {
            true => Err(Contradiction::out_of_order(("length", "6 B".into()), ("5", "5 B".into()))),
            false => Ok(()),
        }
    }

    #[test]
    fn a_struct_lists_its_knobs_and_those_of_its_parts_in_order() {
        let names: Vec<_> = Paint::KNOBS.iter().map(|knob| knob.name).collect();
        assert_eq!(names, ["colour", "shows", "length", "wait", "for"]);
        assert_eq!(Paint::MECHANISM.summary, "Paints things");
        assert_eq!((Paint::KNOBS[3].doc, Paint::KNOBS[3].default), ("How long to wait", "5 ms"));
        assert_eq!(Paint::KNOBS[4].default, "");
        assert_eq!(Paint::KNOBS[0].kind.range(), "dark-red, green, blue");
    }

    #[test]
    fn values_are_read_and_set_by_name_and_only_of_their_kind() {
        let mut paint = Paint::default();
        let sizes = Sizes { length: Bytes(2) };
        let wait = Some(Span::from_millis(5));
        let expected = Paint {
            colour: Colour::DarkRed,
            shows: false,
            sizes,
            wait,
            lasts: None,
            not_a_knob: 0,
        };
        assert_eq!(paint, expected);
        assert!(paint.set("length", KnobValue::Bytes(Bytes(3))));
        assert!(paint.set("colour", KnobValue::Choice("green")));
        assert!(!paint.set("colour", KnobValue::Choice("yellow")));
        assert!(!paint.set("length", KnobValue::Count(3)));
        assert!(!paint.set("width", KnobValue::Count(3)));
        assert_eq!((paint.sizes.length, paint.colour), (Bytes(3), Colour::Leaf));
        assert_eq!(paint.value("length"), Some(KnobValue::Bytes(Bytes(3))));
        assert_eq!(paint.value("for"), None);
        assert_eq!(paint.check(), Ok(()));
        paint.sizes.length = Bytes(6);
        assert!(paint.check().is_err());
        assert_eq!(default_of::<Option<Span>>(&WAIT), None);
    }

    #[test]
    fn words_are_told_apart_where_another_knob_lets_them_show() {
        let shown = |colours: [u8; 3], paint: &Paint| {
            let colour = colours[paint.colour as usize];
            Some(if paint.shows { format!("shown {colour}") } else { "hidden".to_owned() })
        };
        let paint = Paint::default();
        assert_eq!(confused_words(&paint, |paint| shown([1, 2, 3], paint)), []);
        let expected = [("colour", ["dark-red", "blue"])];
        assert_eq!(confused_words(&paint, |paint| shown([1, 2, 1], paint)), expected);
        let refused = |paint: &Paint| {
            (paint.colour != Colour::Blue).then(|| shown([1, 2, 3], paint)).flatten()
        };
        let expected = [("colour", ["dark-red", "blue"]), ("colour", ["green", "blue"])];
        assert_eq!(confused_words(&paint, refused), expected);
    }
}
