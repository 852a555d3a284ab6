//! What a running daemon finds about itself: its health.

use serde::{Deserialize, Serialize};

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What is the case.
    pub what: String,
    /// What to do about it; may be empty for a remark.
    pub advice: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something does not work.
    Failure,
    /// Something works worse than it could.
    Warning,
    /// Good to know.
    Remark,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Severity; 3] = [Severity::Failure, Severity::Warning, Severity::Remark];

    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Failure => "failure",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_severity_is_in_json_what_it_is_called_and_the_worst_comes_first() {
        for one in Severity::ALL {
            assert_eq!(serde_json::to_value(one).expect("plain"), one.name());
        }
        assert!(Severity::ALL.is_sorted());
    }
}
