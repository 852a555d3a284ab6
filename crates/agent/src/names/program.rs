//! The name of the program that a process runs: its executable, and for interpreters also its script.
//!
//! One interpreter runs many programs that have nothing in common, so `python3.11` is the name of none of them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// An interpreter, and which of its options keep a reader of its command line from the script.
struct Interpreter {
    /// Its executable's name, without a version.
    name: &'static str,
    /// Options whose value is the program itself.
    code: &'static [&'static str],
    /// Options whose value names the program.
    script: &'static [&'static str],
    /// Options with a value of another kind.
    valued: &'static [&'static str],
}

const fn shell(name: &'static str) -> Interpreter {
    Interpreter { name, code: &["-c"], script: &[], valued: &["-o", "--rcfile", "--init-file"] }
}

const fn plain(name: &'static str) -> Interpreter {
    Interpreter { name, code: &["-e"], script: &[], valued: &[] }
}

const fn python(name: &'static str) -> Interpreter {
    Interpreter { name, code: &["-c"], script: &["-m"], valued: &["-W", "-X"] }
}

const fn node(name: &'static str) -> Interpreter {
    let code = &["-e", "--eval", "-p", "--print"];
    let valued = &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C"];
    Interpreter { name, code, script: &[], valued }
}

const INTERPRETERS: &[Interpreter] = &[
    python("python"),
    python("pypy"),
    node("node"),
    node("nodejs"),
    node("deno"),
    node("bun"),
    Interpreter {
        name: "java",
        code: &[],
        script: &["-jar", "-m", "--module"],
        valued: &[
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--upgrade-module-path",
            "--add-modules",
            "--add-exports",
            "--add-opens",
            "--add-reads",
        ],
    },
    Interpreter { name: "ruby", code: &["-e"], script: &[], valued: &["-I", "-r", "-C"] },
    Interpreter { name: "perl", code: &["-e", "-E"], script: &[], valued: &["-I"] },
    Interpreter { name: "php", code: &["-r"], script: &["-f", "-S"], valued: &["-c", "-d", "-t"] },
    plain("dotnet"),
    plain("mono"),
    plain("lua"),
    plain("luajit"),
    plain("Rscript"),
    plain("julia"),
    plain("tclsh"),
    plain("guile"),
    shell("bash"),
    shell("dash"),
    shell("sh"),
    shell("zsh"),
    shell("ksh"),
];

/// The first eight bytes of each interpreter's name, and which of their bits count, for the programs in the kernel.
/// More names than are interpreters match: that tells processes apart which need not be.
#[cfg_attr(not(feature = "bpf"), allow(dead_code, reason = "the programs need it"))]
pub(crate) fn prefixes() -> impl Iterator<Item = (u64, u64)> {
    INTERPRETERS.iter().map(|one| {
        let (mut name, mut mask) = ([0; 8], [0; 8]);
        for (at, byte) in one.name.bytes().take(8).enumerate() {
            (name[at], mask[at]) = (byte, 0xff);
        }
        (u64::from_ne_bytes(name), u64::from_ne_bytes(mask))
    })
}

/// As many as `agent.h` has room for.
const _: () = assert!(INTERPRETERS.len() <= 32);

fn interpreter(executable: &str) -> Option<&'static Interpreter> {
    let is_version = |rest: &str| rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.'));
    let is_it = |one: &&Interpreter| executable.strip_prefix(one.name).is_some_and(is_version);
    INTERPRETERS.iter().find(is_it)
}

/// A program, by the names that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Its executable's, followed by the script's for an interpreter.
    pub(crate) name: String,
    /// Others by which a user may know it: a link through which it was started, its interpreter, its script.
    pub(crate) also: Vec<String>,
}

/// Returns the program of a process, or `None` if it has ended or may not be looked at.
pub(crate) fn of(pid: u32) -> Option<Program> {
    if pid == 0 {
        return None;
    }
    let proc = PathBuf::from(format!("/proc/{pid}"));
    let command = fs::read_to_string(proc.join("comm")).ok()?.trim_end().to_owned();
    let link = fs::read_link(proc.join("exe")).ok();
    let executable = link.and_then(|link| called(&link.to_string_lossy()));
    let executable = executable.unwrap_or_else(|| command.clone());
    let line = fs::read(proc.join("cmdline")).unwrap_or_default();
    let arguments: Vec<&[u8]> =
        line.strip_suffix(&[0]).unwrap_or(&line).split(|byte| *byte == 0).collect();
    let directory = fs::read_link(proc.join("cwd")).unwrap_or_default();
    Some(named(&executable, &command, &arguments, &directory))
}

fn named(executable: &str, command: &str, arguments: &[&[u8]], directory: &Path) -> Program {
    let mut also = vec![command.to_owned()];
    let name_of = |path: &[u8]| {
        Path::new(OsStr::from_bytes(path))
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    also.extend(arguments.first().and_then(|first| name_of(first)));
    let name = match interpreter(executable).and_then(|one| script(one, arguments, directory)) {
        Some(script) => {
            also.push(executable.to_owned());
            also.extend(name_of(script.as_bytes()));
            format!("{executable} {script}")
        }
        None => executable.to_owned(),
    };
    also.retain(|one| *one != name && !one.is_empty());
    also.sort();
    also.dedup();
    Program { name, also }
}

/// Options whose value is a file, and no module or class.
const FILES: [&str; 2] = ["-jar", "-f"];

/// Longer names of scripts are cut off here.
const LONGEST: usize = 120;

/// The script among an interpreter's arguments: a file by its whole path, a module or class by its name, code by a
/// number made from it.
fn script(one: &Interpreter, arguments: &[&[u8]], directory: &Path) -> Option<String> {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let text = String::from_utf8_lossy(argument);
        let mut value = || rest.next().map(|value| String::from_utf8_lossy(value));
        if one.code.contains(&&*text) {
            let code = value()?;
            return Some(format!("{text} {:08x}", hash_of(code.as_bytes()) as u32));
        }
        if one.script.contains(&&*text) {
            let value = value()?;
            let is_file = FILES.contains(&&*text);
            let named = if is_file { whole(&value, directory) } else { value.into_owned() };
            return Some(cut(format!("{text} {named}")));
        }
        if one.valued.contains(&&*text) {
            value()?;
        } else if !text.starts_with('-') && !text.is_empty() {
            let is_class = one.name == "java";
            return Some(cut(if is_class { text.into_owned() } else { whole(&text, directory) }));
        }
    }
    None
}

/// The path from the root.
fn whole(text: &str, directory: &Path) -> String {
    let path = directory.join(text);
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

/// The end says more than the beginning.
fn cut(text: String) -> String {
    let text: String = text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    match text.char_indices().rev().nth(LONGEST) {
        Some((at, _)) => format!("...{}", &text[at..]),
        None => text,
    }
}

/// FNV-1a, 64 bits.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What the link to a program's file calls it. A file that was replaced since is told as such by the kernel, and what is
/// run from memory (memfd_create(2)) has no file but a name, if it was given one.
fn called(link: &str) -> Option<String> {
    let path = link.strip_suffix(" (deleted)").unwrap_or(link);
    let name = path.strip_prefix("/memfd:").or_else(|| path.rsplit('/').next());
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests;
