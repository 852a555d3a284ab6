//! Papers, reproduced: what each says, number by number, beside what comes out here.
//!
//! | file | what |
//! | --- | --- |
//! | `plan.rs` | what is run: scenario files with changes and seeds, under a key each |
//! | `cells.rs` | what was taken from the runs, by key, and figures over them |
//! | `claims.rs` | claims as rows of data, before they are judged |
//! | `tables.rs` | tables with their columns beside what stands in them; rows of JSON |
//! | `reproduction.rs` | a paper, how it is reproduced, and what comes out |
//! | `report.rs` | a paper's report put together |
//! | `kept.rs` | what came of every claim in the last full reproduction that was kept |
//! | `live_papers/` | [`live_papers`]: the phone papers on a real kernel |
//! | `adaptive_delack/` | Lee, Lee and Kim 2015, the adaptive delayed ACK |
//! | `ari/` | Lee et al. 2016, ARI |
//! | `dad_sd/` | Park et al. 2008, a smoothed duplicate-ACK threshold |
//! | `proxy_tcp/` | Kang and Jang, Proxy TCP |
//! | `selective_drop/` | Chae and Choi 2004, selective drop |
//! | `together/` | all five remedies at one phone |
//!
//! A paper is a folder below `papers/` with its scenario files, which are embedded here, and an
//! entry in [`papers`]. It says what is run under which key, what is taken from each run, what its
//! tables, figures and data are, and what it claims:
//!
//! ```text
//! keys ─► setups ─► Plan ─► runs ─► samples ─► Cells by key ─► claims, tables, plots, data ─► Report
//! ```

mod adaptive_delack;
mod ari;
mod cells;
mod claims;
mod dad_sd;
mod kept;
pub mod live_papers;
mod plan;
mod proxy_tcp;
mod report;
mod reproduction;
mod selective_drop;
mod tables;
#[cfg(test)]
mod testkit;
mod together;

pub use kept::kept_claims;
pub use reproduction::{Options, Paper, PaperError, PaperReport, Watch, unwatched};

static PAPERS: &[Paper] = &[
    Paper {
        name: "adaptive-delack",
        title: "Regulating Delayed ACK Timeout to Construct High Speed Transmission",
        authors: "Lee, Lee, Kim",
        year: Some(2015),
        venue: "J. KICS",
        summary: "Fig. 5 and 6, Tables 1 and 2, the gain a: small delayed-ACK timeouts, and what \
                  they gain over a stock Linux receiver",
        reproduce: adaptive_delack::reproduce,
        kept: include_str!("../../../papers/adaptive-delack/claims.json"),
    },
    Paper {
        name: "ari",
        title: "TCP Algorithm Improvement for Smartphone Data Transmissions",
        authors: "Lee, Kim, Lee, Kim",
        year: Some(2016),
        venue: "J. KICS",
        summary: "Tables 1 to 4, Fig. 3 and 4: a phone's short transfers with quick ACKs, no Nagle",
        reproduce: ari::reproduce,
        kept: include_str!("../../../papers/ari/claims.json"),
    },
    Paper {
        name: "dad-sd",
        title: "Smooth Dupthresh Mechanism for Advanced TCP-DAD",
        authors: "Park, Kim, Han, Kwon, Lee, Chung",
        year: Some(2008),
        venue: "KIPS",
        summary: "Fig. 2 and 3: goodput under reordering, every duplicate-ACK threshold policy",
        reproduce: dad_sd::reproduce,
        kept: include_str!("../../../papers/dad-sd/claims.json"),
    },
    Paper {
        name: "proxy-tcp",
        title: "Improvement of TCP Throughput using Proxy TCP ACK over Wireless Connection",
        authors: "Kang, Jang",
        year: None,
        venue: "Sogang University",
        summary: "Tables 1 to 3, Fig. 6 to 8: bit errors and fading, six middleboxes, stock senders",
        reproduce: proxy_tcp::reproduce,
        kept: include_str!("../../../papers/proxy-tcp/claims.json"),
    },
    Paper {
        name: "selective-drop",
        title: "A New Queueing Algorithm for Improving Fairness between TCP Flows",
        authors: "Chae, Choi",
        year: Some(2004),
        venue: "KIPS Transactions",
        summary: "Tables 1 and 2, Fig. 2, 3, 6 and 9: Reno against Vegas, drop-tail and selective drop",
        reproduce: selective_drop::reproduce,
        kept: include_str!("../../../papers/selective-drop/claims.json"),
    },
    Paper {
        name: "together",
        title: "All five remedies at one phone",
        authors: "this project",
        year: None,
        venue: "this project",
        summary: "A phone behind a fading access point: each remedy alone, all 32 combinations",
        reproduce: together::reproduce,
        kept: include_str!("../../../papers/together/claims.json"),
    },
];

/// Every paper, in order of name.
pub fn papers() -> &'static [Paper] {
    PAPERS
}

/// The paper of this name.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}

/// Reproduces a paper. The result depends on the options alone, not on the number of threads.
///
/// # Errors
/// [`PaperError::Interrupted`] when `watch` says so; the others are defects of this project.
pub fn run(
    paper: &Paper,
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<PaperReport, PaperError> {
    (paper.reproduce)(options, watch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_are_found_by_name_and_listed_in_order() {
        assert!(papers().is_sorted_by_key(|paper| paper.name));
        for paper in papers() {
            assert_eq!(find(paper.name).map(|found| found.title), Some(paper.title));
        }
        assert!(find("no-such-paper").is_none());
    }
}
