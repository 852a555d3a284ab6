//! Every source file is part of what is built: the compiler does not look for files that no module names,
//! so that tests in one would never run and nobody would be told.

use crate::findings::{CannotCheck, Findings};
use crate::workspace::Workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Checks every tracked Rust file of a crate.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings, CannotCheck> {
    let packages = workspace.metadata.workspace_packages();
    let targets = packages.iter().flat_map(|package| &package.targets);
    let roots: BTreeSet<PathBuf> = targets
        .filter_map(|target| target.src_path.as_std_path().strip_prefix(&workspace.root).ok())
        .map(Path::to_path_buf)
        .collect();
    let mut texts = BTreeMap::new();
    for name in workspace.files_ending(".rs")? {
        if name.starts_with("crates/") {
            let text = workspace.read(&name)?;
            texts.insert(PathBuf::from(name), text);
        }
    }
    Ok(Findings { errors: orphans(&texts, &roots), warnings: Vec::new() })
}

/// Files that are no target's root and that no module names.
fn orphans(texts: &BTreeMap<PathBuf, String>, roots: &BTreeSet<PathBuf>) -> Vec<String> {
    let named = |file: &Path| {
        let stem = file.file_stem().unwrap_or_default();
        let folder = file.parent().unwrap_or(file);
        let (module, folder) = match stem == "mod" {
            true => (folder.file_name().unwrap_or_default(), folder.parent().unwrap_or(folder)),
            false => (stem, folder),
        };
        // In a family of mechanisms the line that lists one declares its module.
        let module = module.to_string_lossy();
        let wanted = [format!("mod {module};"), format!("mod {module} =>")];
        let mut parents = vec![folder.with_extension("rs"), folder.join("mod.rs")];
        parents.extend(roots.iter().filter(|root| root.parent() == Some(folder)).cloned());
        parents
            .iter()
            .filter_map(|parent| texts.get(parent))
            .any(|text| wanted.iter().any(|line| text.contains(line)))
    };
    let files = texts.keys().filter(|file| !roots.contains(*file) && !named(file));
    files
        .map(|file| format!("{}: no module names it, so it is not built", file.display()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_module_names_is_found_and_one_that_is_named_is_not() {
        let files = [
            ("a/tests/main.rs", "mod kit;\nmod named;"),
            ("a/tests/named.rs", "mod below;"),
            ("a/tests/named/below.rs", ""),
            (
                "a/tests/kit/mod.rs",
                "pub mod inner;\nmechanisms! { mod listed => Listed(ListedKnobs); }",
            ),
            ("a/tests/kit/inner.rs", ""),
            ("a/tests/kit/listed.rs", ""),
            ("a/tests/split/main.rs", "mod part;"),
            ("a/tests/forgotten.rs", ""),
        ];
        let texts = files.map(|(name, text)| (PathBuf::from(name), text.to_owned())).into();
        let roots = BTreeSet::from([PathBuf::from("a/tests/main.rs")]);
        let found = orphans(&texts, &roots);
        let names: Vec<_> = found.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(names, ["a/tests/forgotten.rs", "a/tests/split/main.rs"]);
    }
}
