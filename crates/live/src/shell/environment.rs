//! What a command inside finds in its environment.
//!
//! | variable | what |
//! | --- | --- |
//! | `ACKORD_BASE`, `ACKORD_BASE_V6` | the caller's machine as seen from inside |
//! | `MAHIMAHI_BASE` | the same, for scripts written for mahimahi |
//! | `ACKORD_SHELL` | how many shells one is in, a space, and what the link does |
//! | `ACKORD_PROMPT`, `MAHIMAHI_SHELL_PREFIX` | what stands before a prompt, of all shells one is in |
//! | `PS1`, `PROMPT_COMMAND` | so that it does stand there |
//!
//! A shell's own files set its prompt after it has read the environment. bash runs what
//! `PROMPT_COMMAND` says before each prompt; it puts the prefix there if it is not, so that nothing
//! of the user's has to be changed. dash and other plain shells take `PS1` as it is.
//!
//! Not modelled: zsh, whose files set `PROMPT` and which has no such hook; `$ACKORD_PROMPT` in them
//! does it.

use super::Block;

/// Puts the prefix where it is missing, as text for a shell.
const HOOK: &str = "case $PS1 in \"$ACKORD_PROMPT\"*) ;; *) PS1=$ACKORD_PROMPT$PS1 ;; esac";

/// The variables for the inside of `block`, behind a link that does what `summary` says;
/// `inherited` is what the caller has.
pub(super) fn environment(
    block: Block,
    summary: &str,
    inherited: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let before = inherited("ACKORD_PROMPT").unwrap_or_default();
    let prompt = format!("{before}[{summary}] ");
    let own = inherited("PS1").unwrap_or_else(|| "\\$ ".to_owned());
    let own = own.strip_prefix(&before).unwrap_or(&own).to_owned();
    let hook = match inherited("PROMPT_COMMAND") {
        Some(theirs) if theirs.contains(HOOK) => theirs,
        Some(theirs) if !theirs.trim().is_empty() => {
            format!("{}; {HOOK}", theirs.trim_end_matches([';', ' ', '\n']))
        }
        _ => HOOK.to_owned(),
    };
    let set = [
        ("ACKORD_BASE", block.base().to_string()),
        ("ACKORD_BASE_V6", block.base_v6().to_string()),
        ("MAHIMAHI_BASE", block.base().to_string()),
        ("ACKORD_SHELL", format!("{} {summary}", block.depth())),
        ("MAHIMAHI_SHELL_PREFIX", prompt.clone()),
        ("PS1", format!("{prompt}{own}")),
        ("ACKORD_PROMPT", prompt),
        ("PROMPT_COMMAND", hook),
    ];
    set.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn of(pairs: &[(&str, &str)], summary: &str) -> BTreeMap<String, String> {
        let block = Block::ALL.children().next().expect("a block");
        let inherited = |name: &str| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        environment(block, summary, inherited).into_iter().collect()
    }

    #[test]
    fn scripts_for_mahimahi_find_the_base_under_the_name_they_know() {
        let set = of(&[], "delay 20 ms");
        assert_eq!(set["ACKORD_BASE"], "100.64.0.1");
        assert_eq!(
            (&set["MAHIMAHI_BASE"], &set["ACKORD_BASE"]),
            (&set["ACKORD_BASE"], &set["MAHIMAHI_BASE"])
        );
        assert_eq!(set["ACKORD_SHELL"], "1 delay 20 ms");
        assert_eq!(
            (set["ACKORD_PROMPT"].as_str(), set["PS1"].as_str()),
            ("[delay 20 ms] ", "[delay 20 ms] \\$ ")
        );
    }

    #[test]
    fn shells_in_shells_have_all_their_links_before_the_prompt_once() {
        let outer = of(&[("PS1", "here> "), ("PROMPT_COMMAND", "history -a;")], "delay 20 ms");
        let pairs: Vec<(&str, &str)> =
            outer.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let inner = of(&pairs, "loss 1 %");
        assert_eq!(inner["PS1"], "[delay 20 ms] [loss 1 %] here> ");
        assert_eq!(inner["MAHIMAHI_SHELL_PREFIX"], "[delay 20 ms] [loss 1 %] ");
        assert_eq!(inner["PROMPT_COMMAND"], format!("history -a; {HOOK}"), "once");
    }
}
