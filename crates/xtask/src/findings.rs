//! What a check found.

/// What a check found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Reasons to fail.
    pub(crate) errors: Vec<String>,
    /// Reasons to look again in review.
    pub(crate) warnings: Vec<String>,
}

/// Why a check could not be made at all.
pub(crate) type CannotCheck = Box<dyn std::error::Error>;
