//! How thoroughly something of many runs is done.

/// How thoroughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// As few runs as an answer needs.
    Quick,
    /// Enough runs for narrow intervals.
    #[default]
    Full,
}

impl Effort {
    /// In JSON.
    pub fn id(self) -> &'static str {
        self.of("quick", "full")
    }

    /// One for a quick look, the other for the whole.
    pub fn of<T>(self, quick: T, full: T) -> T {
        match self {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}
