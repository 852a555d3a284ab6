//! The program, as a user starts it.

pub(crate) mod machine;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program with these arguments, without colours from the tester's environment.
pub(crate) fn ackord(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackord"));
    command.args(arguments).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// What the program answers, whatever its exit code.
pub(crate) fn output(arguments: &[&str]) -> Output {
    ackord(arguments).output().expect("the program starts")
}

/// What the program prints, having succeeded.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = output(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// JSON that the program prints, having succeeded.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).expect("JSON and nothing else")
}

/// The path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Every file below a folder, as (path below it, content), in order of path.
pub(crate) fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it").display().to_string();
                files.push((name, std::fs::read(&path).expect("readable")));
            }
        }
    }
    files.sort();
    files
}
