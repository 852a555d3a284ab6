//! What became of a script, for other programs.

use crate::notation::Direction;
use crate::problem::Problem;
use crate::run::{Failure, Outcome, Row, Went, seconds};
use serde::Serialize;

/// A script and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The file.
    pub file: String,
    /// How it ended.
    pub result: Verdict,
    /// What went wrong in it; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureRecord>,
    /// What is wrong with its text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemRecord>,
    /// Everything exchanged.
    pub segments: Vec<SegmentRecord>,
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything came as it says.
    Passed,
    /// Something did not.
    Failed,
    /// The script has to be changed.
    Bad,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize)]
pub struct FailureRecord {
    /// The line, counted from one.
    pub line: usize,
    /// When, in seconds.
    pub at_s: f64,
    /// How, in a word.
    pub kind: &'static str,
    /// Expected and happened, where fields were compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Row>,
    /// Anything else there is to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What is wrong with a line.
#[derive(Clone, Debug, Serialize)]
pub struct ProblemRecord {
    /// The line, counted from one; zero for the whole script.
    pub line: usize,
    /// The column, counted from one; zero for the whole line.
    pub column: usize,
    /// What is wrong.
    pub wrong: String,
}

/// A segment that was exchanged.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentRecord {
    /// When, in seconds.
    pub at_s: f64,
    /// The same to the nanosecond, as a script would write it.
    pub at: String,
    /// Which way.
    pub direction: Direction,
    /// As a script would write it.
    pub segment: String,
    /// The line that injected it, or that was being played.
    pub line: usize,
    /// The endpoint's congestion window after it, in bytes.
    pub cwnd_bytes: u64,
    /// Its state after it.
    pub state: &'static str,
}

impl Record {
    /// Of a script that was played.
    pub fn of_outcome(file: &str, outcome: &Outcome) -> Record {
        let result = match &outcome.failure {
            None => Verdict::Passed,
            Some(Failure { what: Went::Unplayable(_), .. }) => Verdict::Bad,
            Some(_) => Verdict::Failed,
        };
        let segments = outcome.exchanged.iter().map(|each| SegmentRecord {
            at_s: each.at.as_secs_f64(),
            at: seconds(each.at),
            direction: each.direction,
            segment: each.text.clone(),
            line: each.line,
            cwnd_bytes: each.cwnd.get(),
            state: each.state,
        });
        Record {
            file: file.to_owned(),
            result,
            failure: outcome.failure.as_ref().map(failure_record),
            problems: Vec::new(),
            segments: segments.collect(),
        }
    }

    /// Of a script that cannot be read.
    pub fn of_problems(file: &str, problems: &[Problem]) -> Record {
        let record = |problem: &Problem| ProblemRecord {
            line: problem.line,
            column: problem.column,
            wrong: problem.wrong.clone(),
        };
        Record {
            file: file.to_owned(),
            result: Verdict::Bad,
            failure: None,
            problems: problems.iter().map(record).collect(),
            segments: Vec::new(),
        }
    }
}

impl From<&Failure> for FailureRecord {
    fn from(failure: &Failure) -> FailureRecord {
        failure_record(failure)
    }
}

fn failure_record(failure: &Failure) -> FailureRecord {
    let (kind, fields, detail) = match &failure.what {
        Went::Otherwise(rows) => ("otherwise", rows.clone(), String::new()),
        Went::Missing(rows) => ("missing", rows.clone(), String::new()),
        Went::Unexpected { at, segment } => {
            ("unexpected", Vec::new(), format!("{} {segment}", seconds(*at)))
        }
        Went::Refuted(refuted) => {
            let each = |(wanted, is): &(String, String)| format!("{wanted}: it is {is}");
            ("refuted", Vec::new(), refuted.iter().map(each).collect::<Vec<_>>().join("; "))
        }
        Went::Call(why) => ("call", Vec::new(), why.clone()),
        Went::Codec(why) => ("codec", Vec::new(), why.clone()),
        Went::Unplayable(why) => ("unplayable", Vec::new(), why.clone()),
        Went::Restless(why) => ("restless", Vec::new(), why.clone()),
        Went::Broken(why) => ("broken", Vec::new(), why.clone()),
    };
    FailureRecord { line: failure.line, at_s: failure.at.as_secs_f64(), kind, fields, detail }
}
