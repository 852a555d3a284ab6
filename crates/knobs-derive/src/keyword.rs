//! `#[derive(Keyword)]`.

use crate::literal;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Meta, Result, Variant};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a keyword is a variant of an enum"));
    };
    let name = &input.ident;
    let mut words = Vec::new();
    let mut variants = Vec::new();
    for variant in &data.variants {
        let Fields::Unit = variant.fields else {
            return Err(Error::new_spanned(
                variant,
                "a keyword stands for a variant without fields",
            ));
        };
        words.push(word(variant)?);
        variants.push(&variant.ident);
    }
    Ok(quote! {
        impl ::ackord_units::Keyword for #name {
            const WORDS: &'static [&'static str] = &[#(#words),*];

            fn word(&self) -> &'static str {
                match self {
                    #(Self::#variants => #words,)*
                }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    #(#words => Some(Self::#variants),)*
                    _ => None,
                }
            }
        }

        impl ::ackord_units::KnobType for #name {
            fn to_value(&self) -> Option<::ackord_units::KnobValue> {
                Some(::ackord_units::KnobValue::Choice(::ackord_units::Keyword::word(self)))
            }

            fn from_value(value: Option<::ackord_units::KnobValue>) -> Option<Self> {
                match value? {
                    ::ackord_units::KnobValue::Choice(word) => ::ackord_units::Keyword::from_word(word),
                    _ => None,
                }
            }
        }
    })
}

fn word(variant: &Variant) -> Result<String> {
    for attribute in &variant.attrs {
        if !attribute.path().is_ident("keyword") {
            continue;
        }
        let Meta::NameValue(pair) = &attribute.meta else {
            return Err(Error::new_spanned(attribute, "expected `keyword = \"..\"`"));
        };
        return literal(&pair.value)
            .ok_or_else(|| Error::new_spanned(&pair.value, "expected a string"));
    }
    Ok(kebab(&variant.ident.to_string()))
}

/// `PerAck` as `per-ack`.
fn kebab(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}
