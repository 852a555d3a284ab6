//! `#[derive(Knobs)]`.

use crate::{documentation, literal};
use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, Fields, GenericArgument, Ident, Path,
    PathArguments, Result, Type,
};

/// What an attribute says of a field.
#[derive(Default)]
struct Said {
    name: Option<String>,
    min: Option<Expr>,
    max: Option<Expr>,
    unit: Option<String>,
    default: Option<String>,
    source: Option<Expr>,
    doc: Option<Expr>,
    like: Option<Path>,
    flatten: bool,
}

/// A field that is a knob, or the knobs of a struct.
struct Knob<'a> {
    field: &'a Ident,
    ty: &'a Type,
    /// The knob's name; nothing where the field stands for the knobs of its struct.
    name: Option<TokenStream>,
    /// A constant expression: `&[Knob]`.
    listed: TokenStream,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().collect(),
            Fields::Unit => Vec::new(),
            Fields::Unnamed(_) => return Err(Error::new_spanned(&input.ident, "name the fields")),
        },
        _ => return Err(Error::new_spanned(&input.ident, "knobs are the fields of a struct")),
    };
    let mut knobs = Vec::new();
    let mut others = Vec::new();
    for field in fields {
        let ident = field.ident.as_ref().expect("a named field");
        match field.attrs.iter().find(|attribute| attribute.path().is_ident("knob")) {
            Some(attribute) => knobs.push(knob(field, ident, attribute)?),
            None => others.push(ident),
        }
    }
    let group = group(&input.ident, &knobs, &others);
    let mechanism = mechanism(input)?;
    Ok(quote! { #group #mechanism })
}

fn knob<'a>(field: &'a Field, ident: &'a Ident, attribute: &Attribute) -> Result<Knob<'a>> {
    let said = said(attribute)?;
    let ty = &field.ty;
    if said.flatten {
        return Ok(Knob { field: ident, ty, name: None, listed: quote! { <#ty>::KNOBS } });
    }
    let own = said.name.clone().unwrap_or_else(|| ident.to_string().replace("r#", ""));
    let doc = documentation(&field.attrs);
    let doc = match (said.doc.clone(), doc.is_empty()) {
        (Some(given), _) => Some(quote! { #given }),
        (None, false) => Some(quote! { #doc }),
        (None, true) => None,
    };
    let listed = match &said.like {
        Some(other) => {
            let doc = doc.map(|doc| quote! { doc: #doc, });
            let default = said.default.as_ref().map(|default| quote! { default: #default, });
            let source = said.source.as_ref().map(|source| quote! { source: #source, });
            let kind = match said.min.is_some() || said.max.is_some() {
                true => Some(kind(ty, &said)?).map(|kind| quote! { kind: #kind, }),
                false => None,
            };
            quote! { ::ackord_units::Knob { name: #own, #kind #default #doc #source ..#other } }
        }
        None => {
            let kind = kind(ty, &said)?;
            let default = said.default.clone().unwrap_or_default();
            let source = said.source.as_ref().map_or(quote! { "" }, |source| quote! { #source });
            let doc = doc.unwrap_or_default();
            quote! {
                ::ackord_units::Knob {
                    name: #own, kind: #kind, default: #default, doc: #doc, source: #source,
                }
            }
        }
    };
    Ok(Knob { field: ident, ty, name: Some(quote! { #own }), listed: quote! { &[#listed] } })
}

fn said(attribute: &Attribute) -> Result<Said> {
    let mut said = Said::default();
    attribute.parse_nested_meta(|meta| {
        let text = |meta: &ParseNestedMeta<'_>| -> Result<String> {
            let value: Expr = meta.value()?.parse()?;
            literal(&value).ok_or_else(|| meta.error("expected a string"))
        };
        let key = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match key.as_str() {
            "name" => said.name = Some(text(&meta)?),
            "unit" => said.unit = Some(text(&meta)?),
            "default" => said.default = Some(text(&meta)?),
            "min" => said.min = Some(meta.value()?.parse()?),
            "max" => said.max = Some(meta.value()?.parse()?),
            "source" => said.source = Some(meta.value()?.parse()?),
            "doc" => said.doc = Some(meta.value()?.parse()?),
            "like" => said.like = Some(meta.value()?.parse()?),
            "flatten" => said.flatten = true,
            _ => {
                return Err(meta.error(
                    "a knob has name, min, max, unit, default, source, doc, like, flatten",
                ));
            }
        }
        Ok(())
    })?;
    Ok(said)
}

/// The kind of a knob by the type of its field, as a constant expression.
fn kind(ty: &Type, said: &Said) -> Result<TokenStream> {
    let (name, inner) = last(ty)?;
    if name == "Option" {
        return kind(inner.ok_or_else(|| Error::new_spanned(ty, "expected `Option<..>`"))?, said);
    }
    let bounds = || -> Result<TokenStream> {
        match (&said.min, &said.max) {
            (Some(min), Some(max)) => Ok(quote! { min: #min, max: #max }),
            _ => Err(Error::new_spanned(ty, "this knob needs `min` and `max`")),
        }
    };
    let of_list = || inner.map(last).transpose().map(|inner| inner.map(|(name, _)| name));
    let kinds = quote! { ::ackord_units::KnobKind };
    let name = name.as_str();
    Ok(match name {
        "f64" => {
            let bounds = bounds()?;
            quote! { #kinds::Number { #bounds } }
        }
        "u8" | "u16" | "u32" | "u64" | "usize" => {
            let bounds = bounds()?;
            let unit =
                said.unit.as_ref().ok_or_else(|| Error::new_spanned(ty, "a count has a `unit`"))?;
            quote! { #kinds::Count { unit: #unit, #bounds } }
        }
        "Span" => {
            let bounds = bounds()?;
            quote! { #kinds::Span { #bounds } }
        }
        "Bytes" => {
            let bounds = bounds()?;
            quote! { #kinds::Bytes { #bounds } }
        }
        "Rate" => {
            let bounds = bounds()?;
            quote! { #kinds::Rate { #bounds } }
        }
        "BTreeMap" => {
            let bounds = bounds()?;
            quote! { #kinds::PerFlow { #bounds } }
        }
        "Ratio" => quote! { #kinds::Ratio },
        "Limit" => quote! { #kinds::PacketsOrBytes },
        "bool" => quote! { #kinds::ON_OFF },
        "Vec" => {
            let bounds = bounds()?;
            match of_list()?.as_deref() {
                Some("Bytes") => quote! { #kinds::BytesList { #bounds } },
                Some("Span") => quote! { #kinds::SpanList { #bounds } },
                Some("Rate") => quote! { #kinds::RateList { #bounds } },
                _ => return Err(Error::new_spanned(ty, "lists are of `Bytes`, `Span` or `Rate`")),
            }
        }
        _ => quote! { #kinds::Choice(<#ty as ::ackord_units::Keyword>::WORDS) },
    })
}

/// The last name of a type's path, and its first argument.
fn last(ty: &Type) -> Result<(String, Option<&Type>)> {
    let Type::Path(path) = ty else {
        return Err(Error::new_spanned(ty, "a knob cannot have this type"));
    };
    let segment = path.path.segments.last().expect("a path has a name");
    let inner = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    };
    Ok((segment.ident.to_string(), inner))
}

/// What a struct of knobs has whether it is a mechanism by itself or not.
fn group(name: &Ident, knobs: &[Knob<'_>], others: &[&Ident]) -> TokenStream {
    let listed: Vec<_> = knobs.iter().map(|knob| &knob.listed).collect();
    let (mut values, mut sets, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
    let (mut inner_values, mut inner_sets) = (Vec::new(), Vec::new());
    for Knob { field, ty, name, listed } in knobs {
        match name {
            Some(name) => {
                values.push(quote! { #name => ::ackord_units::KnobType::to_value(&self.#field), });
                sets.push(quote! { #name => ::ackord_units::put(&mut self.#field, value), });
                defaults.push(quote! { #field: ::ackord_units::default_of(&#listed[0]), });
            }
            None => {
                inner_values.push(quote! {
                    if <#ty>::KNOBS.iter().any(|own| own.name == knob) {
                        return self.#field.knob_value(knob);
                    }
                });
                inner_sets.push(quote! {
                    if <#ty>::KNOBS.iter().any(|own| own.name == knob) {
                        return self.#field.set_knob(knob, value);
                    }
                });
                defaults.push(quote! { #field: <#ty>::default(), });
            }
        }
    }
    let listing = listing(name, &listed);
    quote! {
        #listing

        #[automatically_derived]
        impl #name {
            /// The value of a knob; nothing where it has none, or is no knob of this.
            pub fn knob_value(&self, knob: &str) -> Option<::ackord_units::KnobValue> {
                #(#inner_values)*
                match knob {
                    #(#values)*
                    _ => None,
                }
            }

            /// Sets a knob; whether it takes such a value.
            #[must_use]
            pub fn set_knob(&mut self, knob: &str, value: ::ackord_units::KnobValue) -> bool {
                #(#inner_sets)*
                match knob {
                    #(#sets)*
                    _ => { let _ = value; false }
                }
            }
        }

        #[automatically_derived]
        impl Default for #name {
            fn default() -> Self {
                Self { #(#defaults)* #(#others: Default::default(),)* }
            }
        }
    }
}

/// The knobs of a struct, those of its parts at their places.
fn listing(name: &Ident, listed: &[&TokenStream]) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #name {
            /// Its knobs, in the order in which they are listed to people.
            pub const KNOBS: &'static [::ackord_units::Knob] = {
                const KNOBS_OF_PARTS: &[&[::ackord_units::Knob]] = &[#(#listed),*];
                const KNOBS_IN_ALL: usize = ::ackord_units::count_knobs(KNOBS_OF_PARTS);
                const ALL_KNOBS: [::ackord_units::Knob; KNOBS_IN_ALL] =
                    ::ackord_units::join_knobs(KNOBS_OF_PARTS);
                &ALL_KNOBS
            };
        }
    }
}

/// What a mechanism has that a user can name.
fn mechanism(input: &DeriveInput) -> Result<TokenStream> {
    let found = input.attrs.iter().find(|attribute| attribute.path().is_ident("mechanism"));
    let Some(attribute) = found else { return Ok(TokenStream::new()) };
    let (mut family, mut name, mut source, mut check) = (None, None, None, None);
    attribute.parse_nested_meta(|meta| {
        let key = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        let value = meta.value()?;
        match key.as_str() {
            "family" => family = Some(value.parse::<Expr>()?),
            "name" => name = Some(value.parse::<Expr>()?),
            "source" => source = Some(value.parse::<Expr>()?),
            "check" => check = Some(value.parse::<Path>()?),
            _ => return Err(meta.error("a mechanism has family, name, source, check")),
        }
        Ok(())
    })?;
    let (Some(family), Some(name), Some(source)) = (family, name, source) else {
        return Err(Error::new_spanned(attribute, "a mechanism has family, name and source"));
    };
    let ident = &input.ident;
    let summary = documentation(&input.attrs);
    let check = check.map_or(quote! { Ok(()) }, |check| quote! { #check(self) });
    Ok(quote! {
        #[automatically_derived]
        impl #ident {
            /// How it is listed.
            pub const MECHANISM: &'static ::ackord_units::Mechanism = &::ackord_units::Mechanism {
                name: #name, family: #family, summary: #summary, source: #source, knobs: Self::KNOBS,
            };
        }

        #[automatically_derived]
        impl ::ackord_units::Knobs for #ident {
            fn mechanism(&self) -> &'static ::ackord_units::Mechanism {
                Self::MECHANISM
            }

            fn value(&self, knob: &str) -> Option<::ackord_units::KnobValue> {
                self.knob_value(knob)
            }

            fn set(&mut self, knob: &str, value: ::ackord_units::KnobValue) -> bool {
                self.set_knob(knob, value)
            }

            fn check(&self) -> Result<(), ::ackord_units::Contradiction> {
                #check
            }
        }
    })
}
