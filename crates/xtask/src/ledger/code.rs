//! What a row names in the code: `path.rs::item`, or `knob:NAME` of the registry.
//!
//! An item is a function, method, type, trait, variant, field, constant, static, module or macro of
//! that very file; a method may be written with its type (`Sender::on_ack`), a variant with its enum.

use super::entry::meant;
use crate::workspace::Workspace;
use ackord_tcp::registry;
use ackord_units::Mechanism;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// The code, parsed as far as rows have named it.
pub(crate) struct Code<'a> {
    workspace: &'a Workspace,
    files: BTreeMap<String, Result<BTreeSet<String>, String>>,
}

impl<'a> Code<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Code<'a> {
        Code { workspace, files: BTreeMap::new() }
    }

    /// What is wrong with this name, if something is.
    pub(crate) fn complaint(&mut self, name: &str) -> Option<String> {
        if let Some(knob) = name.strip_prefix("knob:") {
            return unknown_knob(knob);
        }
        let Some((path, item)) = name.split_once("::") else {
            return Some(format!("`{name}`: write path.rs::item, or knob:NAME"));
        };
        let items = self.files.entry(path.to_owned()).or_insert_with(|| {
            let text = self.workspace.read(path).map_err(|error| error.to_string())?;
            items(&text).map_err(|error| format!("{path}: {error}"))
        });
        match items {
            Err(error) => Some(error.clone()),
            Ok(items) if items.contains(item) => None,
            Ok(items) => {
                let known = items.iter().map(String::as_str);
                let meant = ackord_units::nearest_name(item, known);
                let hint = meant.map(|name| format!("; did you mean `{name}`?"));
                Some(format!("{path} defines no `{item}`{}", hint.unwrap_or_default()))
            }
        }
    }
}

/// Every knob by the names a row may use: an endpoint's by its own, a mechanism's behind its family
/// or behind family and mechanism.
pub(crate) fn knob_names() -> BTreeSet<String> {
    let mechanisms = registry::CHOICES.iter().flat_map(|chosen| chosen.mechanisms);
    let of_mechanism = |mechanism: &'static Mechanism| {
        let Mechanism { family, name, .. } = *mechanism;
        let knobs = mechanism.knobs.iter();
        knobs.flat_map(move |knob| {
            [format!("{family}.{}", knob.name), format!("{family}.{name}.{}", knob.name)]
        })
    };
    let endpoint = registry::ENDPOINT.knobs.iter().map(|knob| knob.name.to_owned());
    endpoint.chain(mechanisms.flat_map(of_mechanism)).collect()
}

fn unknown_knob(name: &str) -> Option<String> {
    let known = knob_names();
    if known.contains(name) {
        return None;
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Some(format!("no knob `{name}`{}", meant(name, known)))
}

/// Every item a file's text defines, methods and variants also behind their type.
fn items(text: &str) -> Result<BTreeSet<String>, syn::Error> {
    let mut found = Items::default();
    found.visit_file(&syn::parse_file(text)?);
    Ok(found.names)
}

#[derive(Default)]
struct Items {
    names: BTreeSet<String>,
    /// The type, trait or enum whose body is being looked at.
    inside: Option<String>,
}

impl Items {
    fn note(&mut self, ident: &syn::Ident) {
        if let Some(inside) = &self.inside {
            self.names.insert(format!("{inside}::{ident}"));
        }
        self.names.insert(ident.to_string());
    }

    fn within(&mut self, outer: Option<String>, look: impl FnOnce(&mut Items)) {
        let before = std::mem::replace(&mut self.inside, outer);
        look(self);
        self.inside = before;
    }
}

/// The last word of a type's path: `Box<dyn A>` is `Box`, `a::B<C>` is `B`.
fn type_name(name: &syn::Type) -> Option<String> {
    match name {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

macro_rules! plain_items {
    ($($visit:ident: $item:ident;)*) => {$(
        fn $visit(&mut self, item: &'a syn::$item) {
            self.note(&item.ident);
            syn::visit::$visit(self, item);
        }
    )*};
}

impl<'a> Visit<'a> for Items {
    plain_items! {
        visit_item_const: ItemConst;
        visit_item_static: ItemStatic;
        visit_item_type: ItemType;
        visit_item_mod: ItemMod;
        visit_impl_item_const: ImplItemConst;
        visit_trait_item_const: TraitItemConst;
        visit_variant: Variant;
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.note(&item.sig.ident);
        self.within(None, |items| syn::visit::visit_item_fn(items, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.note(&item.sig.ident);
        self.within(None, |items| syn::visit::visit_impl_item_fn(items, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.note(&item.sig.ident);
        self.within(None, |items| syn::visit::visit_trait_item_fn(items, item));
    }

    fn visit_field(&mut self, item: &'a syn::Field) {
        if let Some(ident) = &item.ident {
            self.note(ident);
        }
    }

    fn visit_item_macro(&mut self, item: &'a syn::ItemMacro) {
        if let Some(ident) = &item.ident {
            self.note(ident);
        }
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.note(&item.ident);
        let name = item.ident.to_string();
        self.within(Some(name), |items| syn::visit::visit_item_struct(items, item));
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.note(&item.ident);
        let name = item.ident.to_string();
        self.within(Some(name), |items| syn::visit::visit_item_enum(items, item));
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.note(&item.ident);
        let name = item.ident.to_string();
        self.within(Some(name), |items| syn::visit::visit_item_trait(items, item));
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let name = type_name(&item.self_ty);
        self.within(name, |items| syn::visit::visit_item_impl(items, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_item_is_known_and_what_is_only_used_is_not() {
        let text = "use x::Used;\nconst C: u8 = 1;\nstatic S: u8 = 2;\ntype T = u8;\n\
                    struct A { field: u8 }\nenum E { One, Two { at: u8 } }\n\
                    impl A { const K: u8 = 3; fn m(&self) { called(); fn inner() {} } }\n\
                    impl<T> Tr for Wrapper<T> { fn t() {} }\ntrait Tr { fn t(); }\n\
                    mod deeper { pub fn below() {} }\nmacro_rules! mac { () => {} }";
        let found = items(text).unwrap();
        for name in [
            "C",
            "S",
            "T",
            "A",
            "A::field",
            "E",
            "E::One",
            "Two",
            "A::K",
            "A::m",
            "m",
            "inner",
            "Wrapper::t",
            "Tr::t",
            "deeper",
            "below",
            "mac",
        ] {
            assert!(found.contains(name), "{name} is not in {found:?}");
        }
        for name in ["Used", "called", "E::m", "x"] {
            assert!(!found.contains(name), "{name}");
        }
    }

    #[test]
    fn knobs_are_known_by_their_names() {
        assert_eq!(unknown_knob("rto_min"), None);
        assert_eq!(unknown_knob("congestion.growth"), None);
        assert_eq!(unknown_knob("loss.rack.tlp"), None);
        let told = unknown_knob("rto_mim").unwrap();
        assert_eq!(told, "no knob `rto_mim`; did you mean `rto_min`?");
    }
}
