//! What a row names as tests: `path.rs::function`, or a script or a folder of scripts.
//!
//! A function counts if `#[test]` stands above it (in `proptest!` too) and `#[ignore]` does not, or
//! if it is named in the call of a macro of the same file that makes tests.

use crate::findings::CannotCheck;
use crate::workspace::Workspace;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// Where the scripts of an endpoint against an injected peer are.
const SCRIPTS: &str = "scripts/tcp/";

/// The tests, as far as rows have named them.
pub(crate) struct Evidence<'a> {
    workspace: &'a Workspace,
    scripts: BTreeSet<String>,
    files: BTreeMap<String, Result<Tests, String>>,
}

impl<'a> Evidence<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Result<Evidence<'a>, CannotCheck> {
        let scripts = workspace.files_ending(".tcp")?.into_iter().collect();
        Ok(Evidence { workspace, scripts, files: BTreeMap::new() })
    }

    /// What is wrong with this name, if something is.
    pub(crate) fn complaint(&mut self, name: &str) -> Option<String> {
        if name.starts_with(SCRIPTS) {
            let folder = name.ends_with('/');
            let there = self.scripts.iter().any(|script| match folder {
                true => script.starts_with(name),
                false => script == name,
            });
            return (!there).then(|| format!("there is no script {name}"));
        }
        let Some((path, function)) = name.split_once("::") else {
            return Some(format!("`{name}`: write path.rs::test, or {SCRIPTS}FOLDER/NAME.tcp"));
        };
        let tests = self.files.entry(path.to_owned()).or_insert_with(|| {
            let text = self.workspace.read(path).map_err(|error| error.to_string())?;
            Tests::of(&text).map_err(|error| format!("{path}: {error}"))
        });
        // A module may be written before the function.
        let function = function.rsplit("::").next().unwrap_or(function);
        match tests {
            Err(error) => Some(error.clone()),
            Ok(tests) if tests.run.contains(function) => None,
            Ok(tests) if tests.ignored.contains(function) => {
                Some(format!("{path}::{function} is ignored and shows nothing"))
            }
            Ok(tests) => {
                let known = tests.run.iter().map(String::as_str);
                let hint = ackord_units::nearest_name(function, known)
                    .map(|name| format!("; did you mean `{name}`?"));
                Some(format!("{path} has no test `{function}`{}", hint.unwrap_or_default()))
            }
        }
    }
}

/// The tests of a file.
#[derive(Debug, Default)]
struct Tests {
    run: BTreeSet<String>,
    ignored: BTreeSet<String>,
    /// Macros of this file whose expansion has `#[test]`, and what calls of macros name.
    makers: BTreeSet<String>,
    calls: Vec<(String, BTreeSet<String>)>,
}

impl Tests {
    fn of(text: &str) -> Result<Tests, syn::Error> {
        let mut tests = Tests::default();
        tests.visit_file(&syn::parse_file(text)?);
        for (name, named) in std::mem::take(&mut tests.calls) {
            if tests.makers.contains(&name) {
                tests.run.extend(named);
            }
        }
        Ok(tests)
    }
}

impl<'a> Visit<'a> for Tests {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        let has = |name: &str| item.attrs.iter().any(|attribute| attribute.path().is_ident(name));
        if has("test") {
            let name = item.sig.ident.to_string();
            if has("ignore") {
                self.ignored.insert(name)
            } else {
                self.run.insert(name)
            };
        }
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_item_macro(&mut self, item: &'a syn::ItemMacro) {
        let tokens = item.mac.tokens.clone();
        let called = item.mac.path.segments.last().map(|last| last.ident.to_string());
        match (&item.ident, called.as_deref()) {
            (Some(made), Some("macro_rules")) => {
                if has_test(tokens) {
                    self.makers.insert(made.to_string());
                }
            }
            (_, Some("proptest")) => self.run.extend(tested(tokens)),
            (_, Some(name)) => {
                let mut named = BTreeSet::new();
                identifiers(tokens, &mut named);
                self.calls.push((name.to_owned(), named));
            }
            (_, None) => {}
        }
    }
}

/// Whether `[test]` is anywhere in these.
fn has_test(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => group.stream().to_string() == "test" || has_test(group.stream()),
        _ => false,
    })
}

/// The functions behind `#[test]`, up to the next attribute-free function.
fn tested(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let (mut test, mut after_fn) = (false, false);
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.stream().to_string() == "test" => test = true,
            TokenTree::Ident(ident) if ident == "fn" => after_fn = true,
            TokenTree::Ident(ident) if after_fn => {
                if std::mem::take(&mut test) {
                    names.push(ident.to_string());
                }
                after_fn = false;
            }
            _ => {}
        }
    }
    names
}

fn identifiers(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                found.insert(ident.to_string());
            }
            TokenTree::Group(group) => identifiers(group.stream(), found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cargo_runs_counts() {
        let text = "#[test]\nfn plain() { helper() }\nfn helper() {}\n\
                    #[test]\n#[ignore]\nfn left_out() {}\n\
                    mod deeper { #[test] fn below() {} }\n\
                    proptest! { #![proptest_config(x)] #[test] fn any(a in 0..9) { plain() }\n\
                    fn not_a_test(b in 0..2) {} }\n\
                    macro_rules! each { ($name:ident) => { #[test] fn $name() {} } }\n\
                    each!(made);\nother! { named }";
        let tests = Tests::of(text).unwrap();
        let run: Vec<&str> = tests.run.iter().map(String::as_str).collect();
        assert_eq!(run, ["any", "below", "made", "plain"]);
        assert!(tests.ignored.contains("left_out"));
    }
}
