//! `ackord kernel` with a cache of its own; what needs a kernel says SKIPPED where the user has none.

use crate::common::{ackord, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// A cache that nobody else has.
struct Cache(TempDir);

impl Cache {
    fn new() -> Cache {
        Cache(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("ackord/kernels")
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = ackord(&[&["kernel"][..], arguments].concat());
        command.env("XDG_CACHE_HOME", self.0.path()).output().expect("the program starts")
    }

    /// What is printed and what is remarked, with this exit code.
    fn ends(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.output(arguments);
        let text = |octets| String::from_utf8(octets).expect("UTF-8");
        let (printed, remarked) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}{remarked}");
        (printed, remarked)
    }

    /// Something that is recorded as a kernel and is none: its hash is of `hello`.
    fn fake(&self, name: &str, recipe: &str) -> PathBuf {
        let folder = self.folder().join(format!("{name}-250hz-0123456789ab"));
        fs::create_dir_all(&folder).unwrap();
        let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let record = json!({
            "name": name, "release": "6.12.117", "hz": 250, "hash": hash, "recipe": recipe,
            "source": { "kind": "package", "package": "linux-source-6.12", "version": "6.12.117-1" },
            "lacks": [], "bytes": 8_472_328, "built_at_unix_s": 1_795_305_600_u64,
            "binary": "linux", "config": "kernel.config",
        });
        fs::write(folder.join("linux"), "hello").unwrap();
        fs::write(folder.join("kernel.config"), "CONFIG_UML=y\n").unwrap();
        fs::write(folder.join("kernel.json"), record.to_string()).unwrap();
        folder
    }

    fn listed(&self) -> Value {
        serde_json::from_str(&self.ends(0, &["list", "--json", "-"]).0).expect("only JSON")
    }
}

#[test]
fn an_empty_cache_says_how_to_fill_it() {
    let cache = Cache::new();
    let (list, _) = cache.ends(0, &["list"]);
    assert!(list.contains("None yet: `ackord kernel build`"), "{list}");
    assert!(list.contains(text(&cache.folder())), "{list}");
    assert_eq!(cache.listed()["kernels"], json!([]));
    let (_, why) = cache.ends(2, &["shell"]);
    assert!(why.contains("the kernel 6.12 has not been built"), "{why}");
    assert!(why.contains("build it: `ackord kernel build 6.12`"), "{why}");
    let (_, why) = cache.ends(2, &["remove", "6.12"]);
    assert!(why.contains("no kernel is kept under the name `6.12`"), "{why}");
    assert!(!cache.folder().exists());
}

#[test]
fn kernels_are_listed_with_their_state_and_removed() {
    let cache = Cache::new();
    let outdated = cache.fake("6.12", "0123");
    let damaged = cache.fake("mine", "0123");
    fs::write(damaged.join("linux"), "good bye").unwrap();
    let (list, _) = cache.ends(0, &["list"]);
    for word in ["6.12.117", "2cf24dba5fb0", "outdated", "damaged", "8.5", "2026-11-22"] {
        assert!(list.contains(word), "{word}\n{list}");
    }
    let listed = cache.listed();
    assert_eq!(listed["kernels"][0]["state"], "outdated");
    assert_eq!(listed["kernels"][0]["binary"], text(&outdated.join("linux")));
    assert_eq!(listed["kernels"][1]["state"], "damaged");
    assert!(listed["kernels"][1]["why"].as_str().unwrap().contains("is not what was built"));
    let (_, why) = cache.ends(2, &["shell", "mine"]);
    assert!(why.contains("was built for another version of this program"), "{why}");
    let (_, why) = cache.ends(2, &["remove", "mime"]);
    assert!(why.contains("there is `mine`"), "{why}");
    cache.ends(0, &["remove", "mine"]);
    assert!(!damaged.exists() && outdated.exists());
    cache.ends(0, &["remove", "--all"]);
    assert_eq!(cache.listed()["kernels"], json!([]));
}

#[test]
fn the_options_are_printed_with_their_reasons() {
    let cache = Cache::new();
    let (options, remark) = cache.ends(0, &["config"]);
    assert!(options.contains("# Simulated time") && options.contains("\nCONFIG_TCP_CONG_BBR=y\n"));
    assert!(options.ends_with("# HZ=250\n"), "{options}");
    assert!(remark.contains("`ackord kernel build 6.12`"), "{remark}");
    let (none, why) = cache.ends(2, &["config", "6.13"]);
    assert!(none.is_empty() && why.contains("6.13 has not been built"), "{why}");
}

#[test]
fn what_cannot_be_built_is_refused_with_exit_code_2() {
    let cache = Cache::new();
    let folder = tempfile::tempdir().unwrap();
    let (_, why) = cache.ends(2, &["build", "0.99"]);
    assert!(why.contains("there is no source of a kernel 0.99"), "{why}");
    let (_, why) = cache.ends(2, &["build", "--hz", "123"]);
    assert!(why.contains("100, 250, 300, 1000"), "{why}");
    let (_, why) = cache.ends(2, &["build", "--source", text(folder.path()), "--name", "mine"]);
    assert!(why.contains("is not the source of a Linux kernel"), "{why}");
    let (_, why) = cache.ends(2, &["build", "--source", text(folder.path()), "--name", "6.12"]);
    assert!(why.contains("cannot be called `6.12`"), "{why}");
    let (_, why) = cache.ends(2, &["build", "6.12", "--source", text(folder.path())]);
    assert!(why.contains("cannot be used with"), "{why}");
    assert!(!cache.folder().exists());
}

/// Runs a command on the default kernel of whoever runs the tests; nothing where there is none.
fn on_a_kernel(arguments: &[&str]) -> Option<Output> {
    on_a_kernel_from(Path::new("."), arguments)
}

/// As if whoever asks were in this folder.
fn on_a_kernel_from(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let temporary = tempfile::tempdir().unwrap();
    let all = [&["kernel", "shell"][..], arguments].concat();
    let mut asked = ackord(&all);
    asked.env("TMPDIR", temporary.path()).current_dir(folder);
    let output = asked.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("ackord kernel build") {
        ackord_testing::skipped(&errors);
        return None;
    }
    assert!(is_empty(temporary.path()), "nothing is left behind");
    Some(output)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

#[test]
fn a_command_runs_on_a_kernel_and_its_exit_code_is_ours() {
    let script = "uname -r; cd /tmp; echo x > y; cat y; touch /etc/ackord-test 2>&1; exit 7";
    let Some(output) = on_a_kernel(&["--", "sh", "-c", script]) else { return };
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(7), "{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("6.12"), "{printed}");
    assert_eq!(lines[1], "x");
    assert!(lines[2].contains("Read-only file system"), "{printed}");
}

#[test]
fn the_folder_one_is_in_is_seen_below_tmp_as_well() {
    let folder = tempfile::tempdir_in("/tmp").expect("a folder below /tmp");
    fs::write(folder.path().join("here"), "seen\n").expect("a file");
    let script = "cat here; touch there 2>&1; ls -A ..";
    let Some(output) = on_a_kernel_from(folder.path(), &["--", "sh", "-c", script]) else { return };
    let printed = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "seen", "{printed}");
    assert!(lines[1].contains("Read-only file system"), "{printed}");
    assert_eq!(lines.len(), 3, "nothing else of /tmp is seen: {printed}");
}

#[test]
fn time_leaps_where_that_is_wanted() {
    let Some(output) = on_a_kernel(&["--leap", "--", "sleep", "10000"]) else { return };
    assert_eq!(output.status.code(), Some(0));
    let chance = "date +%s.%N; od -N 8 -x /dev/urandom; cat /proc/sys/kernel/random/boot_id";
    let seen = || on_a_kernel(&["--leap", "--", "sh", "-c", chance]).expect("as before").stdout;
    let first = seen();
    assert!(first.starts_with(b"1700000000."), "{}", String::from_utf8_lossy(&first));
    assert_eq!(first, seen(), "nothing is by chance");
}
