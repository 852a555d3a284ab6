//! What types a knob's value may have in the struct that holds it.

use crate::{Bytes, Knob, KnobValue, Rate, Ratio, Span};
use std::collections::BTreeMap;

/// A type that a knob's value has.
pub trait KnobType: Sized {
    /// The value as it is listed, printed and compared; nothing where there is none.
    fn to_value(&self) -> Option<KnobValue>;

    /// The value of this type; nothing where it is of another kind.
    fn from_value(value: Option<KnobValue>) -> Option<Self>;
}

/// An enum that a knob takes one of: derived with [`derive@crate::Keyword`].
pub trait Keyword: Sized + 'static {
    /// What a user may write.
    const WORDS: &'static [&'static str];

    /// What a user writes for it.
    fn word(&self) -> &'static str;

    /// What a word stands for.
    fn from_word(word: &str) -> Option<Self>;
}

/// The default of a knob, in the type that holds it.
///
/// # Panics
/// If it has none and the type needs one, or one of another kind: a test builds every registered
/// mechanism from its defaults.
pub fn default_of<T: KnobType>(knob: &Knob) -> T {
    T::from_value(knob.default_value())
        .unwrap_or_else(|| panic!("`{}` has a default of its type", knob.name))
}

/// Sets a field; whether the value is of its kind.
pub fn put<T: KnobType>(field: &mut T, value: KnobValue) -> bool {
    let value = T::from_value(Some(value));
    let fits = value.is_some();
    if let Some(value) = value {
        *field = value;
    }
    fits
}

macro_rules! knob_types {
    ($($type:ty: $variant:ident),* $(,)?) => {$(
        impl KnobType for $type {
            fn to_value(&self) -> Option<KnobValue> {
                Some(KnobValue::$variant(self.clone()))
            }

            fn from_value(value: Option<KnobValue>) -> Option<$type> {
                match value? {
                    KnobValue::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }
    )*};
}

knob_types! {
    f64: Number, u64: Count, Span: Span, Bytes: Bytes, Rate: Rate, Ratio: Ratio,
    Vec<Bytes>: BytesList, Vec<Span>: SpanList, Vec<Rate>: RateList, BTreeMap<String, f64>: PerFlow,
}

macro_rules! narrow_counts {
    ($($type:ty),*) => {$(
        impl KnobType for $type {
            fn to_value(&self) -> Option<KnobValue> {
                Some(KnobValue::Count(*self as u64))
            }

            fn from_value(value: Option<KnobValue>) -> Option<$type> {
                <$type>::try_from(u64::from_value(value)?).ok()
            }
        }
    )*};
}

narrow_counts!(u8, u16, u32, usize);

impl KnobType for bool {
    fn to_value(&self) -> Option<KnobValue> {
        Some(KnobValue::Choice(if *self { "on" } else { "off" }))
    }

    fn from_value(value: Option<KnobValue>) -> Option<bool> {
        match value? {
            KnobValue::Choice("on") => Some(true),
            KnobValue::Choice("off") => Some(false),
            _ => None,
        }
    }
}

impl<T: KnobType> KnobType for Option<T> {
    fn to_value(&self) -> Option<KnobValue> {
        self.as_ref().and_then(T::to_value)
    }

    fn from_value(value: Option<KnobValue>) -> Option<Option<T>> {
        match value {
            None => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}
