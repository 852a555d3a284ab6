//! The self-test's report: the matrix of confusions in seconds, and what follows from it.

use super::plan::{KERNEL, Suite};
use super::run::Place;
use super::score::{Matrix, Named, Score};
use super::trial::CaseScore;
use ackord_diagnose::Cause;
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use ackord_study::VERSION;
use serde::Serialize;
use std::collections::BTreeMap;

/// What came of a self-test.
#[derive(Clone, Debug, Serialize)]
pub struct SelfTestReport {
    /// Version of the program.
    pub version: String,
    /// The kernel at both ends.
    pub kernel: String,
    /// How many captures.
    pub captures: usize,
    /// Captures in which the connection was not found.
    pub not_found: usize,
    /// Names of the rows and columns of the matrix.
    pub causes: Vec<&'static str>,
    /// Seconds by true cause (row) and diagnosed cause (column).
    pub matrix: Matrix,
    /// Cases without trouble, with one cause, with two.
    pub groups: Vec<GroupShare>,
    /// The same of all, by where captures were taken.
    pub places: Vec<GroupShare>,
    /// The same by what was tried.
    pub families: Vec<GroupShare>,
    /// The same of cases with other peers and other captures, which count nowhere above.
    pub peers: Vec<GroupShare>,
    /// Time lost by causes that the connection cannot have: no byte of it was lost or sent twice.
    pub invented: Vec<Invented>,
    /// Captures of connections of which no byte was lost or sent twice.
    pub whole: usize,
    /// Every case.
    pub cases: Vec<CaseScore>,
}

/// Invented loss in one capture.
#[derive(Clone, Debug, Serialize)]
pub struct Invented {
    /// The case.
    pub case: String,
    /// Where the capture was taken.
    pub place: Place,
    /// Seconds by cause.
    pub causes: Vec<(Cause, f64)>,
}

impl Invented {
    /// Returns the seconds of all causes.
    pub fn seconds(&self) -> f64 {
        self.causes.iter().map(|one| one.1).sum()
    }
}

/// What share of some captures was named rightly.
#[derive(Clone, Debug, Serialize)]
pub struct GroupShare {
    /// Which captures.
    pub group: String,
    /// How many.
    pub captures: usize,
    /// Every second.
    pub all: Named,
    /// Those of injected causes.
    pub injected: Named,
    /// Those truly lost.
    pub lost: Named,
    /// Seconds said to be lost that were not.
    pub false_seconds: f64,
    /// Those of them that were not within a base round trip either.
    pub false_apart: f64,
}

impl GroupShare {
    fn of<'a>(group: &str, scores: impl Iterator<Item = &'a Score>) -> GroupShare {
        let mut share = GroupShare {
            group: group.to_owned(),
            captures: 0,
            all: Named::default(),
            injected: Named::default(),
            lost: Named::default(),
            false_seconds: 0.0,
            false_apart: 0.0,
        };
        for score in scores {
            share.captures += 1;
            share.all += score.all;
            share.injected += score.injected;
            share.lost += score.lost;
            share.false_seconds += score.false_seconds;
            share.false_apart += score.false_apart;
        }
        share
    }

    /// The share of all seconds that were said to be lost and were not.
    pub fn false_share(&self) -> Option<f64> {
        (self.all.seconds > 0.0).then(|| self.false_seconds / self.all.seconds)
    }
}

/// Adds up what came of every case.
pub fn report(cases: Vec<CaseScore>) -> SelfTestReport {
    let of = |suite: Suite| cases.iter().filter(move |case| case.suite == suite);
    let kernels = || of(Suite::Kernels).flat_map(|case| &case.scores);
    let mut matrix = Matrix::default();
    kernels().for_each(|score| matrix += &score.matrix);
    let with = |name: &str, causes: fn(usize) -> bool| {
        let cases = of(Suite::Kernels).filter(|case| causes(case.injected.len()));
        GroupShare::of(name, cases.flat_map(|case| &case.scores))
    };
    let groups = vec![
        with("clean", |causes| causes == 0),
        with("one cause", |causes| causes == 1),
        with("two causes", |causes| causes > 1),
        with("all", |_| true),
    ];
    let at =
        |place: Place| GroupShare::of(place.name(), kernels().filter(|score| score.place == place));
    let mut peers = by_family(of(Suite::Peers));
    if !peers.is_empty() {
        peers.push(GroupShare::of("all", of(Suite::Peers).flat_map(|case| &case.scores)));
    }
    let scores = || cases.iter().flat_map(|case| &case.scores);
    SelfTestReport {
        version: VERSION.to_owned(),
        kernel: KERNEL.to_owned(),
        captures: scores().count(),
        not_found: scores().filter(|score| !score.found).count(),
        causes: Cause::ALL.map(Cause::name).to_vec(),
        matrix,
        groups,
        places: Place::ALL.map(at).to_vec(),
        families: by_family(of(Suite::Kernels)),
        peers,
        invented: invented(&cases),
        whole: scores().filter(|score| score.whole).count(),
        cases,
    }
}

fn by_family<'a>(cases: impl Iterator<Item = &'a CaseScore>) -> Vec<GroupShare> {
    let mut by_family: BTreeMap<&str, Vec<&Score>> = BTreeMap::new();
    for case in cases {
        by_family.entry(&case.family).or_default().extend(&case.scores);
    }
    by_family.into_iter().map(|(name, of)| GroupShare::of(name, of.into_iter())).collect()
}

/// Returns the captures with invented loss, most seconds first.
fn invented(cases: &[CaseScore]) -> Vec<Invented> {
    let of_case = |case: &CaseScore| {
        let scores = case.scores.iter().filter(|score| !score.invented.is_empty());
        let one = |score: &Score| Invented {
            case: case.case.clone(),
            place: score.place,
            causes: score.invented.clone(),
        };
        scores.map(one).collect::<Vec<_>>()
    };
    let mut found: Vec<Invented> = cases.iter().flat_map(of_case).collect();
    found.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    found
}

/// The report as a document. `command` made it.
pub fn self_test_document(report: &SelfTestReport, command: &str) -> Document {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let overview = Section::new("Named rightly")
        .with(Block::Text(
            "Seconds of a connection under the cause that was truly at work at that instant, by what \
             the path, the kernels and the applications did, which no capture shows. Where two causes \
             may be said, either counts. In brackets: where it was right within one base round trip."
                .to_owned(),
        ))
        .with(Block::Table(shares("", "injected", &report.groups)))
        .with(Block::Table(shares("By where the capture was taken", "place", &report.places)))
        .with(Block::Command { caption: "Makes this".to_owned(), line: command.to_owned() });
    let confusions = Section::new("Confusions")
        .with(Block::Text(
            "Of each true cause: its seconds, how many of them were named so, and what else they \
             were taken for most. The whole matrix is in the JSON."
                .to_owned(),
        ))
        .with(Block::Table(confusions(report)));
    let families = Section::new("By what was tried").with(Block::Table(shares(
        "",
        "family",
        &report.families,
    )));
    let mut sections = match report.families.is_empty() {
        true => Vec::new(),
        false => vec![overview, confusions, families],
    };
    sections.extend((!report.peers.is_empty()).then(|| peers_section(report)));
    sections.push(invented_section(report));
    Document {
        title: "Diagnosis, measured".to_owned(),
        purpose: "Does `ackord diagnose` name what truly held a connection up? Stock kernels, causes \
                  injected one and two at a time, captures at the server, the router and the client."
            .to_owned(),
        facts: vec![
            fact("version", report.version.clone()),
            fact("kernel", format!("{} at both ends, in simulated time", report.kernel)),
            fact("cases", report.cases.len().to_string()),
            fact("captures", report.captures.to_string()),
            fact("connection not found in", report.not_found.to_string()),
        ],
        sections,
    }
}

fn peers_section(report: &SelfTestReport) -> Section {
    Section::new("Other peers, other captures")
        .with(Block::Text(
            "Captures of stock kernels rewritten as other stacks and other capture points would leave \
             them: identification fields of IPv4, probes, timestamps, the order of ACKs, both \
             interfaces of a router, one direction, a part; and slow readers and policers. They \
             count in no other table."
                .to_owned(),
        ))
        .with(Block::Table(shares("", "family", &report.peers)))
}

fn invented_section(report: &SelfTestReport) -> Section {
    let seconds = report.invented.iter().map(Invented::seconds).fold(0.0, |sum, it| sum + it);
    let section = Section::new("Invented loss").with(Block::Text(format!(
        "Where no byte was lost or sent twice, no time can be lost to an outage, a timeout or random \
         loss. Of {} such captures {} have invented loss, {seconds:.1} s.",
        report.whole,
        report.invented.len(),
    )));
    if report.invented.is_empty() {
        return section;
    }
    let named = |one: &(Cause, f64)| format!("{} {:.2} s", one.0.name(), one.1);
    section.with(Block::Table(table!(&report.invented, |one| [
        words("case") => &one.case,
        words("place") => one.place.name(),
        numbers("seconds", "s") => Cell::number(one.seconds(), 2),
        words("as") => one.causes.iter().map(named).collect::<Vec<_>>().join(", "),
    ])))
}

fn percent(of: Named) -> Cell {
    let text = of.share().zip(of.share_near());
    text.map_or(Cell::Missing, |(share, near)| {
        Cell::text(format!("{:.1} ({:.1})", share * 100.0, near * 100.0))
    })
}

fn shares(caption: &str, first: &str, groups: &[GroupShare]) -> Table {
    table!(groups, |one| [
        words(first) => &one.group,
        numbers("captures", "") => one.captures as u64,
        numbers("seconds", "s") => Cell::number(one.all.seconds, 0),
        numbers("right", "%") => percent(one.all),
        numbers("right of injected", "%") => percent(one.injected),
        numbers("right of lost", "%") => percent(one.lost),
        numbers("falsely lost", "%") => false_percent(one),
    ])
    .captioned(caption)
}

/// The share falsely lost, and in brackets that which was not right within a round trip either.
fn false_percent(one: &GroupShare) -> Cell {
    let Some(share) = one.false_share() else { return Cell::Missing };
    let apart = one.false_apart / one.all.seconds;
    Cell::text(format!("{:.2} ({:.2})", share * 100.0, apart * 100.0))
}

fn confusions(report: &SelfTestReport) -> Table {
    let of_each = Cause::ALL.into_iter().filter_map(|cause| {
        let row = &report.matrix.0[cause.index()];
        let seconds: f64 = row.iter().sum();
        let said: f64 = report.matrix.0.iter().map(|row| row[cause.index()]).sum();
        (seconds + said > 0.0).then_some((cause, row, seconds, said))
    });
    table!(of_each, |(cause, row, seconds, said)| {
        let others = {
            let others = Cause::ALL.into_iter().filter(|it| *it != cause && row[it.index()] > 0.0);
            let mut others: Vec<_> = others.collect();
            others.sort_by(|a, b| row[b.index()].total_cmp(&row[a.index()]));
            others
        };
        let told = |it: &Cause| format!("{} {:.1} s", it.name(), row[it.index()]);
        let share = |of: f64| (of > 0.0).then(|| row[cause.index()] / of * 100.0);
        [
            words("true cause") => cause.name(),
            numbers("seconds", "s") => Cell::number(seconds, 1),
            numbers("named so", "%") => Cell::number(share(seconds), 1),
            numbers("rightly, where named", "%") => Cell::number(share(said), 1),
            words("else taken for") => others.iter().take(4).map(told).collect::<Vec<_>>().join(", "),
        ]
    })
}
