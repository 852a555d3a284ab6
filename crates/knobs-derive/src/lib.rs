//! A mechanism's settings declared once, as the struct that the mechanism is built from.
//!
//! | file | what |
//! | --- | --- |
//! | `knobs.rs` | `#[derive(Knobs)]`: a struct whose fields are knobs |
//! | `keyword.rs` | `#[derive(Keyword)]`: an enum that a knob takes one of |
//!
//! Both are re-exported by `ackord-units`, where the traits are and how they are used.

mod keyword;
mod knobs;

use proc_macro::TokenStream;
use syn::{Attribute, DeriveInput, Expr, Lit, Meta, parse_macro_input};

/// A struct whose fields are knobs: `#[knob(min = .., max = .., unit = "..", default = "..", source =
/// "..")]`, the field's documentation being the knob's. `like = CONST` takes all that is not said from
/// another knob, `name = ".."` another name than the field's, `flatten` the knobs of a struct. A field
/// without the attribute is no knob.
///
/// With `#[mechanism(family = "..", name = "..", source = "..")]` the struct is a mechanism that a user
/// can name, its documentation the mechanism's summary; `check = path` names what tells contradictions
/// between its knobs.
#[proc_macro_derive(Knobs, attributes(knob, mechanism))]
pub fn derive_knobs(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    knobs::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// An enum of unit variants that a knob takes one of: each by its name in kebab case, or by
/// `#[keyword = ".."]`.
#[proc_macro_derive(Keyword, attributes(keyword))]
pub fn derive_keyword(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    keyword::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A documentation comment as one line.
fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        if let Some(text) = literal(&pair.value) {
            lines.push(text.trim().to_owned());
        }
    }
    lines.join(" ").trim().to_owned()
}

/// The text of a string literal.
fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
