//! What came of every claim in the full reproductions, as it lies beside the papers' files: `make papers`.

use crate::reproduction::Paper;
use ackord_measure::Claim;

static KEPT: [(&str, &str); 6] = [
    ("adaptive-delack", include_str!("../../../papers/adaptive-delack/claims.json")),
    ("ari", include_str!("../../../papers/ari/claims.json")),
    ("dad-sd", include_str!("../../../papers/dad-sd/claims.json")),
    ("proxy-tcp", include_str!("../../../papers/proxy-tcp/claims.json")),
    ("selective-drop", include_str!("../../../papers/selective-drop/claims.json")),
    ("together", include_str!("../../../papers/together/claims.json")),
];

/// The claims of a paper with the verdicts of its last full reproduction that was kept.
///
/// # Panics
/// If the paper's file is not what a reproduction writes, which a test asserts.
pub fn kept_claims(paper: &Paper) -> Vec<Claim> {
    let (_, json) =
        KEPT.iter().find(|(name, _)| *name == paper.name).expect("every paper has a file");
    serde_json::from_str(json).expect("claims.json is what a reproduction writes")
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
