//! What a count depends on besides the source.
//!
//! The processor counts only as valgrind shows it to the program: by that the C library picks its
//! copying and comparing, and so does whatever else looks for instructions before it uses them.

use crate::findings::CannotCheck;
use serde::Deserialize;
use std::process::{Command, Stdio};

/// Where the dynamic linker is, which says what it sees of the processor.
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";

/// Compiler, tool, C library and processor.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    /// Its version.
    pub(crate) rustc: String,
    /// Its version.
    pub(crate) valgrind: String,
    /// The C library's version.
    pub(crate) glibc: String,
    /// What the C library uses of the processor, in its words for it.
    pub(crate) processor: Vec<String>,
}

/// Why this machine can count nothing at all.
pub(crate) fn cannot_count() -> Option<String> {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    match found {
        Ok(status) if status.success() => None,
        _ => Some("valgrind is missing (scripts/install.sh cost)".into()),
    }
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Result<Machine, CannotCheck> {
        let linker = output("valgrind", &["--quiet", LINKER, "--list-diagnostics"])
            .map_err(|error| format!("of processors only x86-64 with glibc is known: {error}"))?;
        let line = |key: &str| linker.lines().find_map(|line| line.strip_prefix(key));
        let glibc = line("version.version=").ok_or("the C library does not say its version")?;
        Ok(Machine {
            rustc: output("rustc", &["--version"])?.trim().into(),
            valgrind: output("valgrind", &["--version"])?.trim().into(),
            glibc: glibc.trim_matches('"').into(),
            processor: linker.lines().filter_map(used).map(str::to_owned).collect(),
        })
    }

    /// The first difference, in words.
    pub(crate) fn differs_from(&self, here: &Machine) -> Option<String> {
        let pairs = [
            ("", &self.rustc, &here.rustc),
            ("", &self.valgrind, &here.valgrind),
            ("glibc ", &self.glibc, &here.glibc),
        ];
        let said = pairs.into_iter().find(|(_, then, now)| then != now);
        let said = said.map(|(what, then, now)| format!("{what}{then}, and here is {what}{now}"));
        said.or_else(|| {
            let (then, now) = (&self.processor, &here.processor);
            let missing = then.iter().find(|line| !now.contains(line));
            let added = || now.iter().find(|line| !then.contains(line));
            let line = missing.or_else(added)?;
            Some(format!("another processor as valgrind shows it (`{line}` is only in one)"))
        })
    }
}

/// A line of the linker's that bears on which functions the C library picks and where they change
/// their ways, without its prefix; features that the processor has not are left out.
fn used(line: &str) -> Option<&str> {
    let line = line.strip_prefix("x86.cpu_features.")?;
    let picks =
        line.contains("].active[") || line.starts_with("preferred") || line.contains("_threshold");
    (picks && !line.ends_with("=0x0")).then_some(line)
}

fn output(program: &str, arguments: &[&str]) -> Result<String, CannotCheck> {
    let done = Command::new(program).args(arguments).env_remove("GLIBC_TUNABLES").output()?;
    if !done.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&done.stderr)).into());
    }
    Ok(String::from_utf8(done.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            rustc: "rustc 1.95.0".into(),
            valgrind: "valgrind-3.19.0".into(),
            glibc: "2.36".into(),
            processor: vec!["features[0x0].active[0x2]=0x7ed83203".into()],
        }
    }

    #[test]
    fn another_compiler_tool_library_or_processor_is_named() {
        assert_eq!(machine().differs_from(&machine()), None);
        let newer = Machine { rustc: "rustc 1.96.0".into(), ..machine() };
        let said = machine().differs_from(&newer).expect("differs");
        assert_eq!(said, "rustc 1.95.0, and here is rustc 1.96.0");
        let newer = Machine { glibc: "2.41".into(), ..machine() };
        let said = machine().differs_from(&newer).expect("differs");
        assert_eq!(said, "glibc 2.36, and here is glibc 2.41");
        for processor in [vec![], vec!["features[0x0].active[0x2]=0x1".into()]] {
            let other = Machine { processor, ..machine() };
            assert!(machine().differs_from(&other).expect("differs").contains("0x7ed83203"));
        }
    }

    #[test]
    fn only_what_the_c_library_picks_by_describes_the_processor() {
        let active = "features[0x0].active[0x2]=0x7ed83203";
        assert_eq!(used(&format!("x86.cpu_features.{active}")), Some(active));
        assert_eq!(used("x86.cpu_features.features[0x0].cpuid[0x2]=0x7ffafbff"), None);
        assert_eq!(used("x86.cpu_features.features[0x4].active[0x2]=0x0"), None);
        assert_eq!(
            used("x86.cpu_features.rep_movsb_threshold=0x800"),
            Some("rep_movsb_threshold=0x800")
        );
        assert_eq!(used("uname.nodename=\"here\""), None);
    }
}
