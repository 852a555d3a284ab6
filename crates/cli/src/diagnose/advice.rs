//! What would help, predicted by simulation, and whether it did help: captures of before and after.

use super::sources::{Passes, Sources};
use super::{DiagnoseArguments, Work};
use crate::console::Console;
use crate::errors::Failure;
use crate::input::Results;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_advice::remedies::{
    Advice, Allowance, LEAST_GAIN_PERCENT, RemedyKind, advise, connections_to_verify, verify,
};
use ackord_advice::{Remark, connections_to_trace, ends_of, lost_seconds, verification_document};
use ackord_diagnose::{Connection, Diagnosis, Options, Remedy, Trace};
use ackord_report::data;
use ackord_units::{Quantity, Span};
use clap::Args;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Connections that have a prediction if `--connection` names none.
pub(super) const MOST_ADVISED: usize = 3;

/// Connections that have a prediction with `--verify`.
const MOST_VERIFIED: usize = 8;

/// Connections that lost less of their time have no line on remedies.
const LEAST_LOST: f64 = 0.01;

/// Packets kept for predictions, of all connections together: 40 to 80 bytes each.
const MOST_KEPT: u64 = 500_000;

/// Remedies, before and after.
#[derive(Args)]
pub(super) struct AdviceArguments {
    /// Do not predict what would help
    ///
    /// Otherwise remedies are tried in simulation, for the connection of --connection or the three that
    /// lost the most time.
    #[arg(long, conflicts_with = "predict_for")]
    no_predict: bool,
    /// Time for all predictions together, as in '1 min'; '0 s' makes none
    ///
    /// When it is over, or at Ctrl-C, the results so far are kept. Predictions use at most 300 MB of
    /// memory: longer connections are simulated in part.
    #[arg(long, value_name = "TIME", value_parser = Span::parse, default_value = "10 s")]
    predict_for: Span,
    /// Did it help? Captures from before and after a change, with as many transfers of the same kind
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["captures", "live", "connection"])]
    verify: Vec<PathBuf>,
    /// The remedy that was installed, as the diagnosis names it; the best one, unless said otherwise
    #[arg(long, value_name = "NAME", requires = "verify")]
    remedy: Option<String>,
}

impl AdviceArguments {
    pub(super) fn predicts(&self) -> bool {
        !self.no_predict && self.predict_for > Span::ZERO
    }

    pub(super) fn verifies(&self) -> bool {
        !self.verify.is_empty()
    }

    /// Returns the limit of predictions that begin now.
    pub(super) fn limit<'a>(&self, interrupt: &'a Interrupt) -> Limit<'a> {
        let time = self.predict_for;
        let until = Instant::now().checked_add(Duration::from_nanos(time.as_nanos()));
        Limit { interrupt, was_interrupted: interrupt.check().is_break(), time, until }
    }
}

/// What ends predictions: their time, or a signal.
pub(super) struct Limit<'a> {
    interrupt: &'a Interrupt,
    /// Whether the signal came before they began, as at the end of a pipe.
    was_interrupted: bool,
    time: Span,
    /// Their end; nothing if that is later than any clock will be.
    until: Option<Instant>,
}

impl Limit<'_> {
    /// Returns `Break` when predictions have to end.
    pub(super) fn check(&self) -> ControlFlow<()> {
        match self.until.is_some_and(|until| Instant::now() >= until) {
            true => ControlFlow::Break(()),
            false => self.interrupt.check(),
        }
    }

    /// Whether a signal ended predictions.
    pub(super) fn interrupted(&self) -> bool {
        !self.was_interrupted && self.interrupt.check().is_break()
    }

    /// Returns the sentence on predictions that were stopped.
    fn words(&self) -> String {
        match self.interrupt.check().is_break() {
            true => "prediction interrupted; results so far are kept".to_owned(),
            false => {
                let time = self.time;
                format!("prediction stopped after {time} (--predict-for); results so far are kept")
            }
        }
    }
}

/// Of these connections, in this order, those whose packets may be kept for predictions.
pub(super) fn keepable(diagnosis: &Diagnosis, ids: Vec<u32>) -> Vec<u32> {
    let mut all = 0;
    let packets = |id: &u32| {
        let found = diagnosis.connections.iter().find(|one| one.id == *id);
        found.map_or(0, |one| one.packets.iter().sum::<u64>())
    };
    ids.into_iter()
        .filter(|id| {
            let fits = all + packets(id) <= MOST_KEPT;
            all += if fits { packets(id) } else { 0 };
            fits
        })
        .collect()
}

/// Fills in what would help the connections that lost the most time, or the one that is `asked` for.
pub(super) fn fill(
    diagnosis: &mut Diagnosis,
    traces: &[Trace],
    asked: Option<u32>,
    limit: &Limit<'_>,
) -> Vec<Remark> {
    let most = if asked.is_some() { 0 } else { MOST_ADVISED };
    let chosen = connections_to_trace(diagnosis, asked, most);
    let meter = Meter::begin("predicting");
    let mut remarks = Vec::new();
    for (number, id) in chosen.iter().enumerate() {
        let Some(connection) = diagnosis.connections.iter_mut().find(|one| one.id == *id) else {
            continue;
        };
        if asked.is_none() && lost_seconds(connection) < LEAST_LOST * connection.duration_s {
            continue;
        }
        let advice = advised(connection, traces, (number, chosen.len(), &meter), limit);
        let words = match advice {
            Advice::Helps(_, prediction) => {
                connection.remedies = prediction.remedies;
                let mut words = prediction.remarks;
                words.extend(prediction.stopped.then(|| limit.words()));
                words.join("; ")
            }
            Advice::NothingToGain(why) => format!("nothing to gain: {why}"),
            Advice::Unknown(why) if why.is_stopped() => limit.words(),
            Advice::Unknown(why) => format!("no prediction: {why}"),
        };
        if !words.is_empty() {
            remarks.push(Remark { connection: *id, words });
        }
    }
    meter.end();
    remarks
}

/// Returns what would help a connection, which is the one of this `number` of so many.
fn advised(
    connection: &Connection,
    traces: &[Trace],
    (number, all, meter): (usize, usize, &Meter),
    limit: &Limit<'_>,
) -> Advice {
    let trace = traces.iter().find(|trace| trace.connection == connection.id);
    let go_on = || limit.check();
    advise(connection, trace, &Allowance::new(&go_on), &mut |tried, of| {
        let share = tried as f64 / of.max(1) as f64;
        meter.at((number as f64 + share) / all as f64);
    })
}

/// Compares what is predicted from the captures of before with those of after.
pub(super) fn check(
    arguments: &DiagnoseArguments,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<(), Failure> {
    let [before, after] = arguments.advice.verify.as_slice() else { return Ok(()) };
    let remedy = arguments.advice.remedy.as_deref();
    known_remedy(remedy)?;
    let open = |path: &Path| Sources::open(&[path.to_owned()], Passes::Again);
    let (before, after) = (open(before)?, open(after)?);
    let work = |sources| Work { arguments, sources, interrupt };
    let (mut old, _) = work(&before).read("reading", Options::default())?;
    super::refuse_empty(&old)?;
    let (new, _) = work(&after).read("reading", Options::default())?;
    super::refuse_empty(&new)?;
    let limit = arguments.advice.limit(interrupt);
    if arguments.advice.predicts() {
        let chosen = connections_to_verify(&old, &new, MOST_VERIFIED);
        let kept = keepable(&old, chosen.clone());
        let options = Options { points_of: ends_of(&old, &kept), ..Options::default() };
        let traces = work(&before).read_within(options, &limit)?;
        if expect(&mut old, &traces, &chosen, remedy, &limit).is_break() {
            console.remark(&limit.words());
        }
    }
    let verification = verify(&old, &new, remedy);
    let document = verification_document(&old, &new, &verification);
    let results = Results { document: &document, json: &data::to_json(&verification) };
    arguments.output.write(console, &results, || ackord_report::document_files(&document))?;
    if limit.interrupted() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Fills in all that was tried for connections, also what is not worth an offer. Returns `Break` if there was
/// no time for all of them.
fn expect(
    diagnosis: &mut Diagnosis,
    traces: &[Trace],
    chosen: &[u32],
    remedy: Option<&str>,
    limit: &Limit<'_>,
) -> ControlFlow<()> {
    let meter = Meter::begin("predicting");
    let mut ended = ControlFlow::Continue(());
    for (number, id) in chosen.iter().enumerate() {
        let Some(connection) = diagnosis.connections.iter_mut().find(|one| one.id == *id) else {
            continue;
        };
        let advice = advised(connection, traces, (number, chosen.len(), &meter), limit);
        connection.remedies = match (advice, remedy) {
            (Advice::Helps(_, prediction), _) => prediction.tried,
            (Advice::NothingToGain(_), Some(name)) => vec![nothing_of(name)],
            _ => Vec::new(),
        };
        ended = limit.check();
        if ended.is_break() {
            break;
        }
    }
    meter.end();
    ended
}

/// Refuses a remedy that no diagnosis names.
fn known_remedy(given: Option<&str>) -> Result<(), Failure> {
    let known = || RemedyKind::ALL.iter().map(|kind| kind.name());
    match given {
        Some(given) if !known().any(|name| name == given) => {
            Err(Failure::unknown_name("remedy", given, known().map(str::to_owned).collect()))
        }
        _ => Ok(()),
    }
}

/// Returns a remedy that gains less than what would be offered.
fn nothing_of(name: &str) -> Remedy {
    Remedy {
        remedy: name.to_owned(),
        gain_percent: 0.0,
        ci95: [-LEAST_GAIN_PERCENT, LEAST_GAIN_PERCENT],
        r#where: String::new(),
        command: String::new(),
    }
}
