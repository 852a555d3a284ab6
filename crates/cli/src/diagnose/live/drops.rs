//! Why this host's kernel drops packets: the tracepoint `skb:kfree_skb`, counted by reason in the kernel.
//!
//! An instance of tracefs of its own has a histogram trigger keyed by `reason`. No event is recorded: the kernel
//! adds to a counter for each dropped packet, and the counters are read every few seconds. The instance is
//! removed at the end. It stays after a crash; the next start removes it. An instance that another process uses
//! cannot be removed, because that process keeps a file of it open.
//!
//! Not modelled: network namespaces; the tracepoint is that of the whole kernel.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where tracefs is mounted.
const ROOTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Names of instances begin with this, and end with a process.
const PREFIX: &str = "ackord-diagnose-";
/// The tracepoint, below a folder of tracefs.
const EVENT: &str = "events/skb/kfree_skb";
/// Reasons that the tracepoint's format has no name for, such as those of kernel modules.
const OTHER: &str = "other";

/// Drop reasons counted since the beginning.
pub(super) struct Drops {
    instance: PathBuf,
    /// By value.
    names: BTreeMap<u64, String>,
    /// A file of the instance, so that no other process removes it.
    held: Option<File>,
}

impl Drops {
    /// Begins to count.
    ///
    /// # Errors
    /// Why that is not possible here, and what would help.
    pub(super) fn begin() -> Result<Drops, String> {
        // What this user may not look at is there.
        let mounted = |root: &&Path| root.join("instances").try_exists().unwrap_or(true);
        match ROOTS.map(Path::new).into_iter().find(mounted) {
            Some(root) => Drops::begin_in(root, std::process::id()),
            None => Err(
                "tracefs is not mounted; `mount -t tracefs tracefs /sys/kernel/tracing` does that"
                    .to_owned(),
            ),
        }
    }

    fn begin_in(root: &Path, process: u32) -> Result<Drops, String> {
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied => {
                format!("no permission to use {} (root has it)", root.display())
            }
            _ => format!("{}: {error}", root.display()),
        };
        let format = match fs::read_to_string(root.join(EVENT).join("format")) {
            Ok(format) => format,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err("this kernel has no tracepoint skb:kfree_skb".to_owned());
            }
            Err(error) => return Err(failed(error)),
        };
        let names = names(&format).ok_or(
            "the tracepoint skb:kfree_skb of this kernel has no reasons (Linux 5.17 and later have them)",
        )?;
        let instances = root.join("instances");
        remove_stale(&instances);
        let instance = instances.join(format!("{PREFIX}{process}"));
        fs::create_dir(&instance).map_err(failed)?;
        // From here on the instance is removed when `drops` is.
        let mut drops = Drops { instance, names, held: None };
        drops.held = Some(File::open(drops.instance.join("tracing_on")).map_err(failed)?);
        if !drops.event("hist").exists() {
            let why = "this kernel has no histogram triggers (CONFIG_HIST_TRIGGERS)";
            return Err(why.to_owned());
        }
        drops.trigger("hist:keys=reason").map_err(failed)?;
        Ok(drops)
    }

    fn event(&self, file: &str) -> PathBuf {
        self.instance.join(EVENT).join(file)
    }

    fn trigger(&self, command: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.event("trigger"))?.write_all(command.as_bytes())
    }

    /// Reads the packets dropped so far, by reason. Each reason that has a name is in the result.
    pub(super) fn read(&self) -> io::Result<BTreeMap<String, u64>> {
        let text = fs::read_to_string(self.event("hist"))?;
        let none = self.names.values().map(|name| (name.clone(), 0));
        let mut counts: BTreeMap<String, u64> = none.collect();
        counts.insert(OTHER.to_owned(), 0);
        for (reason, count) in text.lines().filter_map(entry) {
            let name = self.names.get(&reason).map_or(OTHER, String::as_str);
            *counts.entry(name.to_owned()).or_default() += count;
        }
        Ok(counts)
    }
}

impl Drop for Drops {
    fn drop(&mut self) {
        // The kernel removes a trigger with its instance; without one there is nothing to remove.
        let _ = self.trigger("!hist:keys=reason");
        self.held = None;
        let _ = fs::remove_dir(&self.instance);
    }
}

/// Removes instances of processes that have ended. One in use is busy and stays.
fn remove_stale(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Parses the names of reasons in the tracepoint's format: `__print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, ...)`.
fn names(format: &str) -> Option<BTreeMap<u64, String>> {
    let (_, symbols) = format.split_once("__print_symbolic(REC->reason,")?;
    let mut names = BTreeMap::new();
    for symbol in symbols.split('{').skip(1) {
        let Some((value, rest)) = symbol.split_once(',') else { continue };
        let name = rest.split('"').nth(1);
        if let (Ok(value), Some(name)) = (value.trim().parse(), name) {
            names.insert(value, name.to_owned());
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Parses the reason and the count of a line such as `{ reason:          2 } hitcount:         17`.
fn entry(line: &str) -> Option<(u64, u64)> {
    let (key, value) = line.trim().strip_prefix('{')?.split_once('}')?;
    let reason = key.split_once("reason:")?.1.trim().parse().ok()?;
    let count = value.split_once("hitcount:")?.1.split_whitespace().next()?.parse().ok()?;
    Some((reason, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: kfree_skb\nformat:\n\tfield:enum skb_drop_reason reason;\toffset:36;\n\n\
        print fmt: \"protocol=%u reason: %s\", REC->protocol, __print_symbolic(REC->reason, \
        { 2, \"NOT_SPECIFIED\" }, { 3, \"NO_SOCKET\" }, { 54, \"IP_OUTNOROUTES\" })\n";
    const HIST: &str = "# event histogram\n#\n\
        # trigger info: hist:keys=reason:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n\
        { reason:          3 } hitcount:          2\n\
        { reason:      65537 } hitcount:          1\n\
        { reason:     131073 } hitcount:          4\n\
        { reason:          2 } hitcount:         17\n\n\
        Totals:\n    Hits: 24\n    Entries: 4\n    Dropped: 0\n";

    /// A folder with the files of tracefs, of which none does anything.
    fn tracefs(format: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let event = root.path().join(EVENT);
        fs::create_dir_all(&event).expect("ours");
        fs::create_dir(root.path().join("instances")).expect("ours");
        fs::write(event.join("format"), format).expect("ours");
        root
    }

    #[test]
    fn reasons_are_counted_by_the_names_of_the_format_and_unknown_ones_together() {
        let root = tracefs(FORMAT);
        let instance = root.path().join("instances/ackord-diagnose-7");
        fs::create_dir_all(instance.join(EVENT)).expect("ours");
        fs::write(instance.join(EVENT).join("hist"), HIST).expect("ours");
        let names = names(FORMAT).expect("reasons");
        let drops = Drops { instance, names, held: None };
        let counts = drops.read().expect("readable");
        let expected =
            [("IP_OUTNOROUTES", 0), ("NOT_SPECIFIED", 17), ("NO_SOCKET", 2), ("other", 5)];
        assert!(
            counts.iter().map(|(name, count)| (name.as_str(), *count)).eq(expected),
            "{counts:?}"
        );
    }

    #[test]
    fn what_a_kernel_lacks_is_named_and_nothing_is_left() {
        let refused = |root: &Path| Drops::begin_in(root, 7).err().unwrap_or_default();
        let none = tempfile::tempdir().expect("a folder");
        assert!(refused(none.path()).contains("no tracepoint"));
        let old = tracefs("print fmt: \"skbaddr=%p\", REC->skbaddr\n");
        assert!(refused(old.path()).contains("no reasons"));
        // An instance of a folder is empty: it has no file to be held.
        let root = tracefs(FORMAT);
        assert!(!refused(root.path()).is_empty());
        let left = fs::read_dir(root.path().join("instances")).expect("ours").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn instances_of_earlier_processes_are_removed_and_no_others() {
        let root = tracefs(FORMAT);
        let instances = root.path().join("instances");
        for name in ["ackord-diagnose-1", "ackord-diagnose-99999", "perf"] {
            fs::create_dir(instances.join(name)).expect("ours");
        }
        remove_stale(&instances);
        let left: Vec<_> = fs::read_dir(&instances).expect("ours").flatten().collect();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].file_name(), "perf");
    }
}
