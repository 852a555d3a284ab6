//! Errors as people read them: what is wrong, the line with the place marked, what is allowed,
//! what was probably meant.

use crate::document::Place;
use crate::error::{Errors, Problem, Unreadable, Wrong};
use crate::library::library;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// Whether colours go with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For files, pipes and logs.
    Plain,
    /// For terminals (ANSI escape sequences).
    Coloured,
}

/// What goes before an override in its error.
const SET: &str = "--set ";
/// More errors than these are counted, not shown: a file of another kind has one on every line.
const MOST_SHOWN: usize = 100;
/// More names than this help nobody.
const MOST_NAMES: usize = 16;

impl fmt::Display for Errors {
    /// The errors without colour, as for a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

impl Errors {
    /// The first hundred errors, each with its place, and how many there are.
    pub fn render(&self, style: Style) -> String {
        self.render_as(style, &Level::ERROR, "error")
    }

    /// The same of what is not refused: warnings.
    pub fn render_warnings(&self, style: Style) -> String {
        self.render_as(style, &Level::WARNING, "warning")
    }

    /// Returns one line per problem, without the lines of the file: for logs whose lines stand alone.
    pub fn lines(&self) -> Vec<String> {
        let file = visible(&self.file);
        let line = |problem: &Problem| {
            let place = match &problem.place {
                Place::Text(range) => {
                    let at = within(&self.text, range.clone()).start;
                    format!("{file}:{}", self.text[..at].matches('\n').count() + 1)
                }
                Place::File | Place::Override { .. } => file.clone(),
            };
            let mut line = format!("{place}: {}", visible(&title(&problem.wrong)));
            for (_, note) in notes(&problem.wrong) {
                line.push_str(&format!("; {}", visible(&note)));
            }
            line
        };
        self.problems.iter().take(MOST_SHOWN).map(line).collect()
    }

    fn render_as(&self, style: Style, level: &Level<'static>, noun: &str) -> String {
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        let mut text = String::new();
        for problem in self.problems.iter().take(MOST_SHOWN) {
            text.push_str(&renderer.render(&[self.group(problem, level)]));
            text.push_str("\n\n");
        }
        let count = self.problems.len();
        let noun = if count == 1 { noun.to_owned() } else { format!("{noun}s") };
        let hidden = count.saturating_sub(MOST_SHOWN);
        let more = if hidden > 0 { format!(", {hidden} of them not shown") } else { String::new() };
        text.push_str(&format!("{}: {count} {noun}{more}\n", visible(&self.file)));
        text
    }

    fn group(&self, problem: &Problem, level: &Level<'static>) -> Group<'_> {
        let mut group = level
            .clone()
            .primary_title(visible(&title(&problem.wrong)))
            .element(self.shown(problem));
        for (name, text) in notes(&problem.wrong) {
            group = group.element(Level::NOTE.with_name(name).message(visible(&text)));
        }
        group
    }

    /// The line the problem is on, or only the file.
    fn shown(&self, problem: &Problem) -> Element<'_> {
        let file = visible(&self.file);
        match &problem.place {
            Place::File => Origin::path(file).into(),
            Place::Text(range) => {
                let first = match &problem.wrong {
                    Wrong::Duplicate { first: Place::Text(first), .. }
                    | Wrong::Other { first: Some(Place::Text(first)), .. } => Some(first.clone()),
                    _ => None,
                };
                let shown = Shown::new(&self.text, range.clone(), first);
                shown.snippet(&problem.path).path(file).into()
            }
            Place::Override { index, range } => {
                let given = self.overrides.get(*index).map_or("", String::as_str);
                let text = format!("{SET}{given}");
                let range = range.start + SET.len()..range.end + SET.len();
                let shown = Shown::new(&text, range, None);
                shown.snippet(&problem.path).line_numbering(false).into()
            }
        }
    }
}

/// The lines of a text that an error is about.
struct Shown {
    lines: String,
    first_line: usize,
    marked: Range<usize>,
    earlier: Option<Range<usize>>,
}

impl Shown {
    /// Cuts the lines out of `text`; `earlier` is another place to be marked.
    fn new(text: &str, marked: Range<usize>, earlier: Option<Range<usize>>) -> Shown {
        let marked = within(text, marked);
        let earlier = earlier.map(|earlier| within(text, earlier));
        let from = earlier.as_ref().map_or(marked.start, |earlier| earlier.start.min(marked.start));
        let to = earlier.as_ref().map_or(marked.end, |earlier| earlier.end.max(marked.end));
        let start = text[..from].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[to..].find('\n').map_or(text.len(), |newline| to + newline);
        let shift = |range: Range<usize>| range.start - start..range.end - start;
        Shown {
            lines: text[start..end].to_owned(),
            first_line: text[..start].matches('\n').count() + 1,
            marked: shift(marked),
            earlier: earlier.map(shift),
        }
    }

    fn snippet<'a>(self, path: &str) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let label = (!path.is_empty()).then(|| visible(path));
        let snippet = Snippet::source(self.lines)
            .line_start(self.first_line)
            .annotation(AnnotationKind::Primary.span(self.marked).label(label));
        match self.earlier {
            Some(earlier) => {
                snippet.annotation(AnnotationKind::Context.span(earlier).label("first here"))
            }
            None => snippet,
        }
    }
}

/// The range cut to whole characters of the text and to one line: a table may span many, and where
/// it begins says enough.
fn within(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    let end = text.ceil_char_boundary(range.end.max(start));
    let line = text[start..end].find(['\n', '\r']).map_or(end, |newline| start + newline);
    start..line
}

/// Text that cannot move the cursor or change colours.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

pub(crate) fn title(wrong: &Wrong) -> String {
    match wrong {
        Wrong::Unreadable(Unreadable::NotFound { .. }) => {
            "there is no such file, and no built-in scenario of this name".to_owned()
        }
        Wrong::Unreadable(Unreadable::NoFile) => "there is no such file".to_owned(),
        Wrong::Unreadable(Unreadable::Directory) => "this is a directory, not a file".to_owned(),
        Wrong::Unreadable(Unreadable::NotUtf8 { line }) => {
            format!("line {line} is not UTF-8 text")
        }
        Wrong::Unreadable(Unreadable::TooLarge { .. }) => "the file is too large".to_owned(),
        Wrong::Unreadable(Unreadable::Io(why)) => format!("the file cannot be read: {why}"),
        Wrong::Syntax { message } => format!("not valid TOML: {}", message.replace('\n', "; ")),
        Wrong::UnknownKey { key, of, .. } => format!("{of} has no key `{key}`"),
        Wrong::MissingKey { key, .. } => format!("the key `{key}` is missing"),
        Wrong::WrongType { given, expected } => format!("expected {expected}, found {given}"),
        Wrong::BadValue { why, .. } => why.clone(),
        Wrong::UnknownName { what, given, .. } => format!("there is no {what} `{given}`"),
        Wrong::Duplicate { what, name, .. } => format!("another {what} is called `{name}`"),
        Wrong::Other { what, .. } => what.clone(),
        Wrong::BadName { given } => format!("`{given}` cannot be a name"),
        Wrong::NotThat { given, because, .. } => format!("`{given}` does not fit: {because}"),
        Wrong::GroupSizes { sizes: [(from, from_size), (to, to_size)] } => {
            format!("`{from}` stands for {from_size} and `{to}` for {to_size}")
        }
        Wrong::SameEnds { what, node } => format!("{what} from `{node}` to itself"),
        Wrong::Unreachable { flow, from, to, .. } => {
            format!("flow `{flow}`: no links lead from `{from}` to `{to}`")
        }
        Wrong::TooManyNodes { given, .. } => format!("{given} hosts and routers are too many"),
        Wrong::NoKeysThere { at, given } => format!("`{at}` is {given}, it has no keys to set"),
    }
}

/// Lines below the snippet: a word and what it says.
pub(crate) fn notes(wrong: &Wrong) -> Vec<(&'static str, String)> {
    const ALLOWED: &str = "allowed";
    const HELP: &str = "help";
    let meant = |nearest: &Option<String>| {
        nearest.as_ref().map(|name| (HELP, format!("did you mean `{name}`?")))
    };
    match wrong {
        Wrong::Unreadable(Unreadable::NotFound { nearest }) => {
            let list = (HELP, "`ackord list scenarios` lists the built-in ones".to_owned());
            let all = || library().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
            let some = meant(nearest).unwrap_or_else(|| ("known", all()));
            vec![some, list]
        }
        Wrong::Unreadable(Unreadable::TooLarge { limit }) => {
            vec![(ALLOWED, format!("up to {limit} bytes"))]
        }
        Wrong::Unreadable(_) | Wrong::Syntax { .. } | Wrong::WrongType { .. } => Vec::new(),
        Wrong::UnknownKey { allowed, nearest, .. } => {
            [Some((ALLOWED, names(allowed))), meant(nearest)].into_iter().flatten().collect()
        }
        Wrong::MissingKey { doc, example, .. } => {
            vec![("meaning", (*doc).to_owned()), (HELP, format!("add `{example}`"))]
        }
        // Some parsers name the range themselves.
        Wrong::BadValue { why, allowed } if why.contains(allowed.as_str()) => Vec::new(),
        Wrong::BadValue { allowed, .. } => vec![(ALLOWED, allowed.clone())],
        Wrong::UnknownName { known, nearest, .. } => {
            [Some(("known", names(known))), meant(nearest)].into_iter().flatten().collect()
        }
        Wrong::Duplicate { what, .. } => vec![(ALLOWED, format!("each {what} has its own name"))],
        Wrong::Other { help, .. } => vec![(HELP, help.clone())],
        Wrong::BadName { .. } => vec![(
            ALLOWED,
            "up to 64 letters, digits, `-` and `_`, beginning with a letter or digit".to_owned(),
        )],
        Wrong::NotThat { instead, .. } => vec![(HELP, format!("write {instead}"))],
        Wrong::GroupSizes { .. } => {
            vec![(ALLOWED, "groups of one size: their members go in pairs".to_owned())]
        }
        Wrong::SameEnds { .. } => vec![(ALLOWED, "two different ends".to_owned())],
        Wrong::Unreachable { from, reached, .. } => vec![
            (
                "note",
                match reached.is_empty() {
                    true => format!("`{from}` has no link"),
                    false => format!("`{from}` reaches {}", names(reached)),
                },
            ),
            (HELP, "add the link that is missing; only routers forward packets".to_owned()),
        ],
        Wrong::TooManyNodes { allowed, .. } => vec![(ALLOWED, format!("up to {allowed}"))],
        Wrong::NoKeysThere { .. } => {
            vec![(HELP, "end the path here to set all of it".to_owned())]
        }
    }
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
