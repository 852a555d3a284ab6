//! Which word of a knob means which variant: said beside each enum with [`worded!`], read with
//! [`Worded::of_word`].
//!
//! The registry lists the same words for the checker and the documentation; a test builds a
//! configuration from each of them.

/// An enum that a knob chooses from.
pub(crate) trait Worded {
    /// The variant that a word of the registry means.
    ///
    /// # Panics
    /// If the registry lists a word that the enum does not know.
    fn of_word(word: &str) -> Self;
}

macro_rules! worded {
    ($name:ident { $($word:literal => $variant:ident),+ $(,)? }) => {
        impl crate::words::Worded for $name {
            fn of_word(word: &str) -> $name {
                match word {
                    $($word => $name::$variant,)+
                    other => panic!("`{other}` is no {}", stringify!($name)),
                }
            }
        }
    };
}
pub(crate) use worded;
