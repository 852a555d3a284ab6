//! What a build needs of the machine.

use super::KernelError;
use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Programs, and the packages of Debian that have them. `scripts/install.sh kernel` has the same list.
const TOOLS: [(&str, &str); 10] = [
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
    ("find", "findutils"),
    ("awk", "mawk"),
];

/// Makes sure that everything is there.
pub(super) fn check() -> Result<(), KernelError> {
    let mut missing: Vec<(&str, &str)> = Vec::new();
    missing.extend(TOOLS.iter().filter(|(tool, _)| !is_installed(tool)));
    if is_installed("gcc") && !has_static_library() {
        missing.push(("libc.a", "libc6-dev"));
    }
    refuse(&missing)
}

fn refuse(missing: &[(&str, &str)]) -> Result<(), KernelError> {
    if missing.is_empty() {
        return Ok(());
    }
    let list = |words: Vec<&str>, with| words.join(with);
    let (tools, packages) = missing.iter().copied().unzip();
    let tools = list(tools, ", ");
    let missing = if missing.len() == 1 { format!("{tools} is") } else { format!("{tools} are") };
    Err(KernelError::Tools { missing, packages: list(packages, " ") })
}

/// Whether a program is in the user's path.
pub(super) fn is_installed(tool: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| is_program(&folder.join(tool)))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether gcc could link without shared libraries: it answers with a path where it knows one, and else with
/// the name that it was asked for.
fn has_static_library() -> bool {
    let answer = Command::new("gcc").arg("-print-file-name=libc.a").output();
    answer.is_ok_and(|answer| answer.stdout.contains(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_told_at_once_with_the_packages_that_have_it() {
        refuse(&[]).expect("nothing is missing");
        let one = refuse(&[("flex", "flex")]).expect_err("flex is missing").to_string();
        assert!(one.contains("flex is missing") && one.ends_with("names): flex"), "{one}");
        let missing = [("bc", "bc"), ("libc.a", "libc6-dev")];
        let two = refuse(&missing).expect_err("two are missing").to_string();
        assert!(two.contains("bc, libc.a are missing") && two.ends_with("bc libc6-dev"), "{two}");
    }

    #[test]
    fn what_is_in_the_path_is_installed() {
        assert!(is_installed("sh"));
        assert!(!is_installed("a-tool-that-nobody-has"));
    }
}
