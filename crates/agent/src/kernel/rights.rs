//! What a process needs so that the kernel takes the programs, and what of it is missing.

use std::fs;
use std::path::Path;

/// Capabilities without which nothing works, with their numbers (linux/capability.h).
const CAPABILITIES: [(&str, u32); 3] =
    [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];
/// Has the last two in it.
const SYS_ADMIN: u32 = 21;

/// Names of the capabilities that are needed.
pub(crate) const NEEDED: [&str; 3] = [CAPABILITIES[0].0, CAPABILITIES[1].0, CAPABILITIES[2].0];

/// Returns the names of needed capabilities that this process does not have.
pub(crate) fn lacking() -> Vec<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    effective(&status).map_or_else(Vec::new, lacking_in)
}

fn effective(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

fn lacking_in(effective: u64) -> Vec<&'static str> {
    let has = |number: u32| effective & 1 << number != 0;
    let is_lacking =
        |&&(_, number): &&(&str, u32)| !has(number) && (number < SYS_ADMIN || !has(SYS_ADMIN));
    CAPABILITIES.iter().filter(is_lacking).map(|(name, _)| *name).collect()
}

/// Returns what is missing as the end of a message of the kernel's, which does not name it.
pub(super) fn advice() -> String {
    advice_for(&lacking(), Path::new("/sys/kernel/btf/vmlinux").exists())
}

fn advice_for(lacking: &[&str], has_btf: bool) -> String {
    let mut advice = String::new();
    if !lacking.is_empty() {
        let names = lacking.join(" and ");
        advice.push_str(&format!("; this process lacks {names}: run it as root, or give it these"));
    }
    if !has_btf {
        advice.push_str("; this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF=y)");
    }
    advice + "; `ackord agent probe` lists what there is and what is missing"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named() {
        let all = 1 << 12 | 1 << 38 | 1_u64 << 39;
        for (effective, expected) in [
            (all, &[][..]),
            (1 << 12 | 1 << 21, &[]),
            (1 << 12 | 1 << 38, &["CAP_BPF"]),
            (1 << 21, &["CAP_NET_ADMIN"]),
            (1 << 12 | 1_u64 << 39, &["CAP_PERFMON"]),
            (0, &["CAP_NET_ADMIN", "CAP_PERFMON", "CAP_BPF"]),
        ] {
            assert_eq!(lacking_in(effective), expected, "{effective:x}");
        }
        assert_eq!(effective("Name:\tx\nCapEff:\t000000000000100f\n"), Some(0x100f));
    }

    #[test]
    fn a_message_names_what_is_missing_and_the_probe() {
        let message = advice_for(&["CAP_BPF"], false);
        for part in ["lacks CAP_BPF", "CONFIG_DEBUG_INFO_BTF", "ackord agent probe"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(!advice_for(&[], true).contains("lacks"));
    }
}
