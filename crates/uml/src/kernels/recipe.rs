//! What a kernel has, what a build is told, and whether the kernel really has it.
//!
//! The ticks of User-Mode Linux are a constant without a prompt (`config HZ` in `arch/um/Kconfig`, 100), which
//! no configuration reaches. kconfig takes the first default of a symbol that is defined twice, so the same
//! definition with another number stands in front of all others, in a copy of the topmost `Kconfig`. The
//! source itself is left as it is, but for the room that an unpacked one has for a process's registers; a tree
//! of one's own stays as it is altogether.

use super::KernelError;
use super::hash::hexadecimal;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The options, each with its reason.
const FRAGMENT: &str = include_str!("kernel.config");

/// What the compiler's output depends on besides source and options. Without these a kernel says when, where
/// and by whom it was built, and as that goes into its random numbers, every build would draw other ports and
/// initial sequence numbers.
pub(super) const FIXED: [(&str, &str); 5] = [
    ("KBUILD_BUILD_TIMESTAMP", "2026-01-01"),
    ("KBUILD_BUILD_USER", "ackord"),
    ("KBUILD_BUILD_HOST", "ackord"),
    ("KBUILD_BUILD_VERSION", "1"),
    // Messages of tools in one language.
    ("LC_ALL", "C"),
];

/// What make is told. `LOCALVERSION` is said, and empty: a tree that git knows would add a `+` to its release.
pub(super) const MAKE: [&str; 3] = ["ARCH=um", "SUBARCH=x86_64", "LOCALVERSION="];

/// Beginnings of options without which a kernel is as it should be, only poorer: a version that never had
/// such a thing is not refused for it.
const SPARE: [&str; 5] = [
    "CONFIG_TCP_CONG_",
    "CONFIG_NET_SCH_",
    "CONFIG_IO_URING",
    "CONFIG_MEMBARRIER",
    // Older versions have no menu around their virtio drivers.
    "CONFIG_VIRTIO_MENU",
];

/// The options that every kernel is built with, each with its reason: a file in kconfig's format.
pub fn fragment() -> &'static str {
    FRAGMENT
}

/// SHA-256 of all that a build with so many ticks is told, without the reasons.
pub(super) fn hash(hz: u32) -> String {
    let mut hasher = Sha256::new();
    hasher.update(format!("HZ={hz}\n"));
    for (name, value) in FIXED {
        hasher.update(format!("{name}={value}\n"));
    }
    for (option, value) in options() {
        hasher.update(format!("{option}={}\n", value.unwrap_or("n")));
    }
    hasher.update(MAKE.join(" "));
    hasher.update(ALL_REGISTERS);
    hexadecimal(hasher)
}

/// Where a kernel says how many bytes of a process's registers it has room for.
pub(super) const REGISTERS: &str = "arch/x86/um/user-offsets.c";
/// What up to version 6.12 stands there: AVX-512's are 2,696. AMX's are 11,008, and the host refuses a set
/// that is not whole: no process would start.
const FEW_REGISTERS: &str = "DEFINE_LONGS(HOST_FP_SIZE, 2696)";
const ALL_REGISTERS: &str = "DEFINE_LONGS(HOST_FP_SIZE, 12288)";

/// The same with room for AMX; nothing where it need not be changed.
pub(super) fn with_room_for_registers(offsets: &str) -> Option<String> {
    offsets.contains(FEW_REGISTERS).then(|| offsets.replace(FEW_REGISTERS, ALL_REGISTERS))
}

/// The options, and their values: none for what must be off.
fn options() -> BTreeMap<&'static str, Option<&'static str>> {
    options_of(FRAGMENT)
}

fn options_of(config: &str) -> BTreeMap<&str, Option<&str>> {
    let option = |line| -> Option<(&str, Option<&str>)> {
        let line: &str = line;
        if let Some(off) = line.strip_prefix("# ").and_then(|line| line.strip_suffix(" is not set"))
        {
            return off.starts_with("CONFIG_").then_some((off, None));
        }
        let (option, value) = line.split_once('=')?;
        option.starts_with("CONFIG_").then_some((option, Some(value)))
    };
    config.lines().filter_map(option).collect()
}

/// The topmost `Kconfig` with ticks in front.
pub(super) fn kconfig_with_hz(kconfig: &str, hz: u32) -> Option<String> {
    // kconfig wants its title first.
    let title = kconfig.lines().find(|line| line.starts_with("mainmenu"))?;
    let (before, after) = kconfig.split_once(title)?;
    Some(format!("{before}{title}\n\nconfig HZ\n\tint\n\tdefault {hz}\n{after}"))
}

/// Refuses a complete configuration that is not as it should be; returns what its version does not have.
pub(super) fn check(config: &str, hz: u32) -> Result<Vec<String>, KernelError> {
    let got = options_of(config);
    let mut wrong = Vec::new();
    let mut lacks = Vec::new();
    for (option, wanted) in options() {
        let is = got.get(option).copied().flatten();
        // Of an option that is defined and off there is a line that says so.
        let unknown = !got.contains_key(option);
        match wanted {
            _ if is == wanted => {}
            Some(_) if unknown && SPARE.iter().any(|spare| option.starts_with(spare)) => {
                lacks.push(option.to_owned());
            }
            _ => wrong.push(format!(
                "{option} is {} and not {}",
                is.unwrap_or(if unknown { "unknown" } else { "off" }),
                wanted.unwrap_or("off")
            )),
        }
    }
    let ticks = got.get("CONFIG_HZ").copied().flatten().unwrap_or("unknown");
    if ticks != hz.to_string() {
        wrong.push(format!("CONFIG_HZ is {ticks} and not {hz}"));
    }
    if wrong.is_empty() { Ok(lacks) } else { Err(KernelError::Options(wrong)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What kconfig would write.
    fn complete(hz: u32) -> String {
        format!("{FRAGMENT}CONFIG_HZ={hz}\n")
    }

    #[test]
    fn every_option_stands_once_and_has_a_reason_above_it_or_above_its_group() {
        let lines = FRAGMENT
            .lines()
            .filter(|line| line.starts_with("CONFIG_") || line.starts_with("# CONFIG_"));
        assert_eq!(lines.count(), options().len());
        for paragraph in FRAGMENT.split("\n\n") {
            assert!(paragraph.starts_with("# "), "{paragraph}");
        }
    }

    #[test]
    fn a_configuration_that_lacks_something_is_refused_with_all_that_it_lacks() {
        assert_eq!(check(&complete(250), 250).expect("complete"), [""; 0]);
        let without = complete(100)
            .replace("CONFIG_TCP_CONG_BBR=y\n", "# CONFIG_TCP_CONG_BBR is not set\n")
            .replace("CONFIG_VIRTIO_UML=y\n", "")
            .replace("CONFIG_HOSTFS=y\n", "CONFIG_HOSTFS=m\n")
            .replace("# CONFIG_MCONSOLE is not set\n", "CONFIG_MCONSOLE=y\n");
        let error = check(&without, 250).expect_err("five things are wrong").to_string();
        for wrong in [
            "CONFIG_TCP_CONG_BBR is off and not y",
            "CONFIG_VIRTIO_UML is unknown and not y",
            "CONFIG_HOSTFS is m and not y",
            "CONFIG_MCONSOLE is y and not off",
            "CONFIG_HZ is 100 and not 250",
        ] {
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_congestion_control_that_a_version_never_had_is_told_and_no_fault() {
        let without = complete(250).replace("CONFIG_TCP_CONG_CDG=y\n", "");
        assert_eq!(check(&without, 250).expect("it is spare"), ["CONFIG_TCP_CONG_CDG"]);
    }

    #[test]
    fn ticks_stand_in_front_of_every_other_definition() {
        let kconfig = "# words\nmainmenu \"Linux\"\n\nsource \"init/Kconfig\"\n";
        let with = kconfig_with_hz(kconfig, 1000).expect("it has a title");
        let at = |text| with.find(text).expect("it is there");
        assert!(at("mainmenu") < at("config HZ\n\tint\n\tdefault 1000\n"));
        assert!(at("default 1000") < at("source"));
        assert_eq!(kconfig_with_hz("source \"init/Kconfig\"\n", 100), None);
    }

    #[test]
    fn room_for_registers_is_made_where_there_is_too_little() {
        let few = "#else\n\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n#endif\n";
        let all = with_room_for_registers(few).expect("there is too little");
        assert_eq!(all, "#else\n\tDEFINE_LONGS(HOST_FP_SIZE, 12288);\n#endif\n");
        assert_eq!(with_room_for_registers(&all), None);
    }

    #[test]
    fn a_recipe_is_another_with_other_ticks() {
        assert_eq!(hash(250), hash(250));
        assert_ne!(hash(250), hash(1000));
    }
}
