//! Text made safe for HTML and XML.

/// `text` with every character that means something to HTML or XML replaced, also inside quoted
/// attributes. Control characters, which XML forbids, become the replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            _ if letter.is_control() || matches!(letter, '\u{FFFE}' | '\u{FFFF}') => {
                safe.push('\u{FFFD}');
            }
            _ => safe.push(letter),
        }
    }
    safe
}
