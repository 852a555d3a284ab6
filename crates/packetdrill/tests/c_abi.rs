//! The library as packetdrill uses it: loaded by a program in C, called through the structure it
//! fills, with packets made and taken apart in C. What is checked, and what is not, is in `c/`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shared library that was built together with this test.
fn library() -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    let deps = test.parent().expect("a test lies in a folder");
    let name = "libackord_packetdrill.so";
    let candidates = [deps.join(name), deps.parent().unwrap_or(deps).join(name)];
    let found = candidates.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} was not built in {}", deps.display()))
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let files = folder.read_dir().expect("the folder of the C sources");
    let mut sources: Vec<PathBuf> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.sort();
    sources
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles the program into `folder`.
fn compile(folder: &Path) -> PathBuf {
    let program = folder.join("driver");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let compiled = Command::new("cc")
        .args([
            "-std=gnu11",
            "-D_GNU_SOURCE",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-pthread",
            "-I",
        ])
        .arg(include)
        .args(sources())
        .arg("-o")
        .arg(&program)
        .arg("-ldl")
        .output()
        .expect("cc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    program
}

/// Runs it; fails if it does.
fn run(driver: &mut Command) {
    let run = driver.output().expect("the program runs");
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{out}");
    assert!(run.status.success(), "{}\n{out}\n{err}", run.status);
}

#[test]
fn a_program_in_c_drives_the_library() {
    if !has("cc") {
        eprintln!("SKIPPED: cc is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path());
    run(Command::new(&program).arg(library()));
    // Loaded before the system's library it answers calls that go past the structure.
    run(Command::new(&program).arg(library()).arg("kernel").env("LD_PRELOAD", library()));
}
