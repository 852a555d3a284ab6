//! Text broken into lines between words.

/// Breaks a text for a column that begins at `indent`, into lines that end at `columns`. The first line is not
/// indented: its column has been reached.
pub(crate) fn wrapped(text: &str, indent: usize, columns: usize) -> String {
    let mut out = String::new();
    let mut used = indent;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if used > indent && used + 1 + width > columns {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if used > indent {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_a_word_that_is_too_long_stays_whole() {
        assert_eq!(wrapped("one two three", 2, 10), "one two\n  three");
        assert_eq!(wrapped("one  two\nthree", 2, 100), "one two three");
        assert_eq!(wrapped("unbreakable word", 2, 5), "unbreakable\n  word");
    }
}
