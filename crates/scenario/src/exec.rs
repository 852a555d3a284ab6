//! The commands that stand in for a workload in a live run.

use std::net::IpAddr;

/// The commands at the ends of a flow, in a live run. At least one of them is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exec {
    /// Started before the flow, on the host that the client opens its connections to; nothing
    /// where another flow's server, or the client's own doing, has to do.
    pub server: Option<ExecCommand>,
    /// Started when the flow starts, on the host that opens the connections.
    pub client: Option<ExecCommand>,
}

/// A command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecCommand {
    text: String,
    words: Vec<String>,
}

/// Why a text is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// There is no word in it.
    #[error("it has no word")]
    Empty,
    /// A quotation that was begun does not end.
    #[error("a {0} is not closed")]
    Unclosed(char),
    /// The last character is a backslash, which stands for the next one.
    #[error("nothing follows the last backslash")]
    Dangling,
    /// No argument of a program can hold one.
    #[error("there is a control character in it")]
    Control,
}

impl ExecCommand {
    /// Takes a text apart into words as a shell does, with `'...'`, `"..."` and `\\` to keep spaces;
    /// nothing else that shells know means anything.
    ///
    /// # Errors
    /// If it is empty, ends within a quotation or holds control characters.
    pub fn new(text: &str) -> Result<ExecCommand, ExecError> {
        if text.contains(char::is_control) {
            return Err(ExecError::Control);
        }
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut rest = text.chars();
        while let Some(next) = rest.next() {
            match (quote, next) {
                (Some(open), _) if next == open => quote = None,
                (Some('\''), _) => word.get_or_insert_default().push(next),
                (_, '\\') => {
                    let kept = rest.next().ok_or(ExecError::Dangling)?;
                    word.get_or_insert_default().push(kept);
                }
                (Some(_), _) => word.get_or_insert_default().push(next),
                (None, '\'' | '"') => {
                    quote = Some(next);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                (None, _) => word.get_or_insert_default().push(next),
            }
        }
        words.extend(word);
        match (quote, words.is_empty()) {
            (Some(open), _) => Err(ExecError::Unclosed(open)),
            (None, true) => Err(ExecError::Empty),
            (None, false) => Ok(ExecCommand { text: text.to_owned(), words }),
        }
    }

    /// As the file has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its words, with `{server}` and `{client}` replaced by these addresses.
    pub fn words(&self, server: IpAddr, client: IpAddr) -> Vec<String> {
        let fill = |word: &String| {
            let word = word.replace("{server}", &server.to_string());
            word.replace("{client}", &client.to_string())
        };
        self.words.iter().map(fill).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn words(text: &str) -> Result<Vec<String>, ExecError> {
        let address = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        Ok(ExecCommand::new(text)?.words(address(1), address(2)))
    }

    #[test]
    fn a_command_is_taken_apart_as_a_shell_would() {
        let expected = [
            ("curl  http://{server}/a", vec!["curl", "http://10.0.0.1/a"]),
            (" -B{client}:7 {server} ", vec!["-B10.0.0.2:7", "10.0.0.1"]),
            (r#"sh -c 'echo "$HOME" \ x'"#, vec!["sh", "-c", r#"echo "$HOME" \ x"#]),
            (r#"a "b 'c' \" d" '' e\ f"#, vec!["a", r#"b 'c' " d"#, "", "e f"]),
            // Braces that are none of ours are curl's.
            ("curl -w '%{http_code}'", vec!["curl", "-w", "%{http_code}"]),
        ];
        for (text, expected) in expected {
            assert_eq!(words(text).expect(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_command_is_told() {
        assert_eq!(words("  "), Err(ExecError::Empty));
        assert_eq!(words("a 'b"), Err(ExecError::Unclosed('\'')));
        assert_eq!(words("a \"b'"), Err(ExecError::Unclosed('"')));
        assert_eq!(words("a \\"), Err(ExecError::Dangling));
        assert_eq!(words("a\nb"), Err(ExecError::Control));
    }
}
