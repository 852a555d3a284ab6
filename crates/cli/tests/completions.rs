//! Completions in real shells: each loads its script and completes a line.

use crate::common::{printed, text};
use ackord_testing::installed;
use std::path::Path;
use std::process::{Command, Stdio};

/// Shells with a program that loads the script and prints the candidates for `$LINE`, one a line.
const SHELLS: [(&str, &str); 3] = [
    (
        "bash",
        "source <(ackord completions bash)
         COMP_WORDS=($LINE); [[ $LINE == *' ' ]] && COMP_WORDS+=('')
         COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
         function_of=$(complete -p ackord | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
         $function_of ackord \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"
         printf '%s\\n' \"${COMPREPLY[@]}\"",
    ),
    // The completion system itself needs a line editor: what it is called with is printed.
    (
        "zsh",
        "compdef() { asked=$1 }
         _describe() { local array=$3; print -rl -- ${(P)array} }
         source <(ackord completions zsh)
         words=(${=LINE}); [[ $LINE == *' ' ]] && words+=('')
         CURRENT=${#words}
         $asked | sed 's/\\([^\\\\]\\):.*/\\1/'",
    ),
    ("fish", "ackord completions fish | source; complete -C \"$LINE\" | cut -f 1"),
];

/// Returns the candidates of each shell that is installed, for a line that is typed in this folder.
fn candidates(line: &str, folder: &Path) -> Vec<(&'static str, Vec<String>)> {
    let program = Path::new(env!("CARGO_BIN_EXE_ackord")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let of = |(shell, script): &(&'static str, &str)| {
        let options: &[&str] = match *shell {
            "bash" => &["--norc", "--noprofile", "-c", script],
            "zsh" => &["-f", "-c", script],
            _ => &["--no-config", "-c", script],
        };
        let output = Command::new(shell)
            .args(options)
            .env("PATH", format!("{}:{path}", text(program)))
            .env("LINE", line)
            .env("HOME", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .expect("it is installed");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        (*shell, shown.lines().map(|line| line.trim().to_owned()).collect())
    };
    SHELLS.iter().filter(|(shell, _)| installed(&[shell])).map(of).collect()
}

#[test]
fn shells_complete_commands_names_and_keys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let own = printed(&["new", "-"]).replace("\"line", "\"alpine-pass");
    assert!(own.contains("alpine-pass"), "{own}");
    std::fs::write(&file, own).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "").unwrap();
    for (line, wanted, unwanted) in [
        ("ackord comp", "compare", "run"),
        ("ackord gateway ca", "capture", "run"),
        ("ackord run lossy", "lossy-wifi", "dumbbell"),
        ("ackord run ", "mine.toml", "notes.txt"),
        ("ackord list ", "mechanisms", "cubic"),
        ("ackord list mechanisms cub", "cubic", "reno"),
        ("ackord list profiles ", "linux", "cubic"),
        ("ackord list metrics goodput", "goodput_bit_s", "linux"),
        ("ackord paper sel", "selective-drop", "ari"),
        ("ackord guide cod", "codel", "red"),
        ("ackord shell --queue fq", "fq-codel", "codel"),
        ("ackord sweep show out --metric total_good", "total_goodput_bit_s", "jain_index"),
        ("ackord run mine.toml --set links.al", "links.alpine-pass.rate=", "links.uplink.rate="),
        (
            "ackord run mine.toml --set links.alpine-pass.queue.li",
            "links.alpine-pass.queue.limit=",
            "duration=",
        ),
        ("ackord compare bufferbloat --vary links.uplink.del", "links.uplink.delay=", "duration="),
        ("ackord run mine.toml --color al", "always", "never"),
    ] {
        for (shell, found) in candidates(line, folder.path()) {
            assert!(found.iter().any(|one| one == wanted), "{shell}: {line}: {found:?}");
            assert!(!found.iter().any(|one| one == unwanted), "{shell}: {line}: {found:?}");
        }
    }
}

#[test]
fn values_behind_the_equals_sign_are_completed_where_the_shell_keeps_them_in_one_word() {
    let folder = tempfile::tempdir().unwrap();
    let line = "ackord compare bufferbloat --vary links.uplink.queue=codel,fq";
    for (shell, found) in candidates(line, folder.path()) {
        // bash takes `=` for the end of a word.
        if shell != "bash" {
            assert_eq!(found, ["links.uplink.queue=codel,fq-codel"], "{shell}");
        }
    }
}
