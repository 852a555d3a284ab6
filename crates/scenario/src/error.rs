//! What can be wrong with a scenario, as data. `render.rs` turns it into what people read.

use crate::document::Place;
use std::fmt;

/// Everything found wrong with one scenario, and the text needed to show where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// The file, as the user named it.
    pub file: String,
    /// Its text; empty where it could not be read.
    pub text: String,
    /// Overrides as the user wrote them: `path=VALUE`.
    pub overrides: Vec<String>,
    /// What is wrong, in the order of the file; never empty.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it was written.
    pub place: Place,
    /// The keys that lead there: `flows.reno.tcp.mss`; empty for the file as such.
    pub path: String,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The file cannot be read.
    Unreadable(Unreadable),
    /// Not TOML.
    Syntax {
        /// The parser's words.
        message: String,
    },
    /// A key that means nothing here.
    UnknownKey {
        /// The key.
        key: String,
        /// What it was looked for in: "a link", "`vegas`".
        of: String,
        /// The keys there are.
        allowed: Vec<String>,
        /// The one nearest to it.
        nearest: Option<String>,
    },
    /// A key that has to be there is not.
    MissingKey {
        /// The key.
        key: &'static str,
        /// What it would say.
        doc: &'static str,
        /// A line that would do.
        example: String,
    },
    /// Text where a number belongs, and the like.
    WrongType {
        /// What is there: "a table".
        given: &'static str,
        /// What belongs there.
        expected: String,
    },
    /// The right kind of value, but not one that is allowed.
    BadValue {
        /// Why not, with what was given.
        why: String,
        /// What is allowed.
        allowed: String,
    },
    /// A name that nothing has.
    UnknownName {
        /// What it would be the name of.
        what: NameOf,
        /// The name.
        given: String,
        /// The names there are.
        known: Vec<String>,
        /// The one nearest to it.
        nearest: Option<String>,
    },
    /// A name that something else has already.
    Duplicate {
        /// What it names.
        what: NameOf,
        /// The name.
        name: String,
        /// Where it stands first.
        first: Place,
    },
    /// What only another format refuses, or warns of.
    Other {
        /// What is wrong, in words.
        what: String,
        /// What to do about it.
        help: String,
        /// What stands earlier and has to do with it.
        first: Option<Place>,
    },
    /// A name with characters that names do not have.
    BadName {
        /// The name.
        given: String,
    },
    /// A reference to a group without saying which members, or to a single thing as to a group.
    NotThat {
        /// What was written.
        given: String,
        /// What it is instead, in words.
        because: String,
        /// What to write.
        instead: String,
    },
    /// Two groups that should go in lock-step have different sizes.
    GroupSizes {
        /// The groups and their sizes.
        sizes: [(String, usize); 2],
    },
    /// Both ends are the same.
    SameEnds {
        /// "a link", "a flow".
        what: &'static str,
        /// The one node.
        node: String,
    },
    /// A flow's ends are not connected.
    Unreachable {
        /// The flow.
        flow: String,
        /// Its client.
        from: String,
        /// Its server.
        to: String,
        /// What the client does reach.
        reached: Vec<String>,
    },
    /// More nodes than can be numbered.
    TooManyNodes {
        /// How many there are.
        given: usize,
        /// How many there may be.
        allowed: usize,
    },
    /// An override's path leads into something that has no keys.
    NoKeysThere {
        /// The part of the path that is a single value.
        at: String,
        /// What is there.
        given: &'static str,
    },
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// There is no such file, and nothing but files is read.
    NoFile,
    /// There is no such file, nor a library scenario of that name.
    NotFound {
        /// The library scenario of the nearest name.
        nearest: Option<String>,
    },
    /// It is a directory.
    Directory,
    /// It is not text.
    NotUtf8 {
        /// Line of the first bad byte, from one.
        line: usize,
    },
    /// It is larger than any scenario.
    TooLarge {
        /// Largest that is read, in bytes.
        limit: u64,
    },
    /// The system refuses.
    Io(String),
}

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOf {
    /// A host or a router.
    Node,
    /// A host, where a router will not do.
    Host,
    /// A link.
    Link,
    /// A middlebox.
    Proxy,
    /// A link at which a middlebox stands.
    ProxyLink,
    /// A flow.
    Flow,
    /// A mechanism of this family.
    Mechanism(&'static str),
    /// A profile of TCP.
    Profile,
    /// A scenario of the library.
    LibraryScenario,
    /// Something of another format.
    Other(&'static str),
}

impl fmt::Display for NameOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameOf::Node => f.write_str("host or router"),
            NameOf::Host => f.write_str("host"),
            NameOf::Link => f.write_str("link"),
            NameOf::Proxy => f.write_str("middlebox"),
            NameOf::ProxyLink => f.write_str("link with a middlebox"),
            NameOf::Flow => f.write_str("flow"),
            NameOf::Mechanism(family) => write!(f, "{family} mechanism"),
            NameOf::Profile => f.write_str("profile"),
            NameOf::LibraryScenario => f.write_str("library scenario"),
            NameOf::Other(what) => f.write_str(what),
        }
    }
}

impl Errors {
    /// Everything wrong with a text, put into its order.
    pub fn new(
        file: impl Into<String>,
        text: impl Into<String>,
        mut problems: Vec<Problem>,
    ) -> Errors {
        problems.sort_by_key(|problem| match &problem.place {
            Place::File => (0, 0, 0),
            Place::Text(range) => (1, range.start, range.end),
            Place::Override { index, range } => (2, *index, range.start),
        });
        Errors { file: file.into(), text: text.into(), overrides: Vec::new(), problems }
    }
}

impl Wrong {
    /// A name that nothing among `known` has.
    pub fn unknown_name<'a>(
        what: NameOf,
        given: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Wrong {
        let known: Vec<&str> = known.into_iter().collect();
        Wrong::UnknownName {
            what,
            given: given.to_owned(),
            nearest: nearest(given, &known),
            known: known.into_iter().map(str::to_owned).collect(),
        }
    }

    /// A key that is not among `allowed`.
    pub fn unknown_key<'a>(
        key: &str,
        of: impl Into<String>,
        allowed: impl IntoIterator<Item = &'a str>,
    ) -> Wrong {
        let allowed: Vec<&str> = allowed.into_iter().collect();
        Wrong::UnknownKey {
            key: key.to_owned(),
            of: of.into(),
            nearest: nearest(key, &allowed),
            allowed: allowed.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The name nearest to `given`. Only so many are looked at that a large group costs nothing.
fn nearest(given: &str, names: &[&str]) -> Option<String> {
    // A name of this length cannot be a slip of the pen, and comparing it would take long.
    if given.len() > 200 {
        return None;
    }
    ackord_units::nearest_name(given, names.iter().take(1_000).copied()).map(str::to_owned)
}

impl std::error::Error for Errors {}
