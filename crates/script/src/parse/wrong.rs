//! What is wrong with a line.

/// Something wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) column: usize,
    pub(crate) what: String,
}
