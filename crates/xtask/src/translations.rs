//! A page in another language says what its original says: the same numbers, code, commands and links.
//!
//! `README.ko.md` is `README.md` in Korean. Numbers in words are not compared, so that a language may say them its own
//! way; nor is the order, which sentences decide.

use crate::findings::CannotCheck;
use crate::workspace::Workspace;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::collections::BTreeMap;

/// How the name of a translated page ends.
const TRANSLATED: &str = ".ko.md";

/// What is wrong with the translations among these documents.
pub(crate) fn complaints(
    workspace: &Workspace,
    names: &[String],
) -> Result<Vec<String>, CannotCheck> {
    let mut complaints = Vec::new();
    for name in names {
        let Some(stem) = name.strip_suffix(TRANSLATED) else { continue };
        let original = format!("{stem}.md");
        if !names.contains(&original) {
            complaints.push(format!("{name}: there is no {original}"));
            continue;
        }
        let (text, translated) = (workspace.read(&original)?, workspace.read(name)?);
        let differ = differences(&text, &translated);
        complaints.extend(differ.into_iter().map(|it| format!("{name}: {it} {original}")));
    }
    Ok(complaints)
}

/// What only one of two texts has, each to be followed by the name of the original.
fn differences(original: &str, translated: &str) -> Vec<String> {
    let mut counts: BTreeMap<(&str, String), isize> = BTreeMap::new();
    for part in parts(original) {
        *counts.entry(part).or_default() += 1;
    }
    for part in parts(translated) {
        *counts.entry(part).or_default() -= 1;
    }
    let differ = counts.into_iter().filter(|(_, count)| *count != 0);
    differ
        .map(|((kind, part), count)| {
            let first = part.lines().next().unwrap_or_default();
            let (side, times) = if count > 0 { ("lacks", count) } else { ("has", -count) };
            let than = if count > 0 { "of" } else { "that is not in" };
            format!("{side} the {kind} `{first}` ({times} x) {than}")
        })
        .collect()
}

/// What has to be the same in every language.
fn parts(text: &str) -> Vec<(&'static str, String)> {
    let mut parts = Vec::new();
    let mut block: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => {
                parts.extend(block.take().map(|lines| ("block of code", lines)));
            }
            Event::Text(lines) => match &mut block {
                Some(block) => block.push_str(&lines),
                None => parts.extend(numbers(&lines).map(|number| ("number", number))),
            },
            Event::Code(code) => parts.push(("code", code.to_string())),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                parts.push(("link", dest_url.replace(TRANSLATED, ".md")));
            }
            _ => {}
        }
    }
    parts
}

/// The numbers of a text, with their fractions.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    let pieces = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let pieces = pieces.map(|piece| piece.trim_matches('.').to_owned());
    pieces.filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str =
        "[Korean](A.ko.md) gains 1.5 to 5 % with `make a`.\n\n```sh\nmake b\n```\n";

    #[test]
    fn the_order_and_words_for_numbers_may_differ() {
        let korean = "`make a`로 5, 1.5 %를 두 번 얻는다. [영어](A.md)\n\n```sh\nmake b\n```\n";
        assert_eq!(differences(ENGLISH, korean), [""; 0]);
    }

    #[test]
    fn a_number_a_command_and_a_link_that_differ_are_told() {
        let korean = "[영어](B.md) 1.6~5 % `make a`\n\n```sh\nmake c\n```\n";
        let told = [
            "lacks the block of code `make b` (1 x) of",
            "has the block of code `make c` (1 x) that is not in",
            "lacks the link `A.md` (1 x) of",
            "has the link `B.md` (1 x) that is not in",
            "lacks the number `1.5` (1 x) of",
            "has the number `1.6` (1 x) that is not in",
        ];
        assert_eq!(differences(ENGLISH, korean), told);
    }
}
