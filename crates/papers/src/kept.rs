//! What came of every claim in the full reproductions, as it lies beside the papers' files: `make papers`.

use crate::reproduction::Paper;
use ackord_measure::Claim;

/// The claims of a paper with the verdicts of its last full reproduction that was kept.
///
/// # Panics
/// If the paper's file is not what a reproduction writes, which a test asserts.
pub fn kept_claims(paper: &Paper) -> Vec<Claim> {
    serde_json::from_str(paper.kept).expect("claims.json is what a reproduction writes")
}

#[cfg(test)]
mod tests {
    use super::super::papers;
    use super::*;

    #[test]
    fn every_kept_verdict_follows_from_its_own_numbers_and_no_reason_is_contradicted() {
        for paper in papers() {
            let claims = kept_claims(paper);
            assert!(!claims.is_empty(), "{}", paper.name);
            for claim in claims {
                assert_eq!((claim.verdict, claim.runs_to_decide), claim.judge(), "{claim:#?}");
                assert_eq!(claim.contradicted, Vec::<String>::new(), "{}", claim.id);
                assert!(!claim.why.is_empty(), "{}", claim.id);
            }
        }
    }
}
