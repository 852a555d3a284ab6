//! Files and functions stay small enough to hold in one's head.
//!
//! A function's length counts every line from its signature to its closing brace, comments too:
//! they have to be scrolled past as well.

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Lines above which review asks, and above which the check fails.
struct Limit {
    ask: usize,
    fail: usize,
}

const FILE: Limit = Limit { ask: 600, fail: 1000 };
const FUNCTION: Limit = Limit { ask: 80, fail: 150 };

/// What may be longer (`path` or `path::function`), and the reason.
const MAY_BE_LONGER: &[(&str, &str)] = &[];

/// Checks every tracked Rust and Python file.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let mut findings = Findings::default();
    for name in workspace.files()? {
        let is_rust = name.ends_with(".rs");
        if !is_rust && !name.ends_with(".py") {
            continue;
        }
        let text = workspace.read(&name)?;
        judge(&name, text.lines().count(), &FILE, &mut findings);
        if is_rust {
            let functions = functions(&text).map_err(|error| format!("{name}: {error}"))?;
            for (function, lines) in functions {
                judge(&format!("{name}::{function}"), lines, &FUNCTION, &mut findings);
            }
        }
    }
    Ok(findings)
}

fn judge(what: &str, lines: usize, limit: &Limit, findings: &mut Findings) {
    let excused = MAY_BE_LONGER.iter().any(|(name, _)| *name == what);
    if lines > limit.fail && !excused {
        findings.errors.push(format!("{what} has {lines} lines; at most {}", limit.fail));
    } else if lines > limit.ask {
        findings.warnings.push(format!("{what} has {lines} lines; above {}", limit.ask));
    }
}

/// Every function with a body, and its length in lines.
fn functions(text: &str) -> Result<Vec<(String, usize)>, syn::Error> {
    let mut found = Lengths(Vec::new());
    found.visit_file(&syn::parse_file(text)?);
    Ok(found.0)
}

struct Lengths(Vec<(String, usize)>);

impl Lengths {
    fn note(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let lines = body.span().end().line + 1 - signature.span().start().line;
        self.0.push((signature.ident.to_string(), lines));
    }
}

impl<'a> Visit<'a> for Lengths {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.note(&item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.note(&item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.note(&item.sig, body);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(lines: usize) -> (usize, usize) {
        let mut findings = Findings::default();
        judge("f", lines, &FUNCTION, &mut findings);
        (findings.warnings.len(), findings.errors.len())
    }

    #[test]
    fn the_limits_bite_one_line_above_them() {
        assert_eq!(judged(80), (0, 0));
        assert_eq!(judged(81), (1, 0));
        assert_eq!(judged(150), (1, 0));
        assert_eq!(judged(151), (0, 1));
    }

    #[test]
    fn methods_and_nested_functions_are_measured() {
        let text = "struct A;\nimpl A {\n    fn f(\n        &self,\n    ) {\n        fn g() {}\n    \
                    }\n}\ntrait T {\n    fn h() {\n    }\n    fn without_body();\n}\n";
        let expected = [("f", 5), ("g", 1), ("h", 2)];
        assert_eq!(functions(text).unwrap(), expected.map(|(name, n)| (name.to_owned(), n)));
    }
}
