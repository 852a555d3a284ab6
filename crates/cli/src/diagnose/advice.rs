//! What would help, predicted by simulation, and whether it did help: captures of before and after.

use super::sources::{Passes, Sources};
use super::{DiagnoseArguments, Work};
use crate::console::Console;
use crate::errors::Failure;
use crate::input::Results;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_advice::remedies::{Advice, advise, connections_to_verify, expected, verify};
use ackord_advice::{Remark, connections_to_trace, ends_of, lost_seconds, verification_document};
use ackord_diagnose::{Connection, Diagnosis, Options, Remedy, Trace};
use ackord_report::data;
use clap::Args;
use std::path::{Path, PathBuf};

/// Connections for which remedies are tried, where none is asked for.
pub(super) const MOST_ADVISED: usize = 3;

/// Connections for which they are tried where what came of them is measured.
const MOST_VERIFIED: usize = 8;

/// Those that lost less of their time have nothing that is worth a line.
const LEAST_LOST: f64 = 0.01;

/// Remedies, before and after.
#[derive(Args)]
pub(super) struct AdviceArguments {
    /// Do not predict what would help
    ///
    /// Otherwise remedies are tried in simulation, for the connection of --connection or the three that
    /// lost most time: seconds of computing.
    #[arg(long)]
    no_predict: bool,
    /// Did it help? Captures from before and after a change, with as many transfers of the same kind
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["captures", "live", "connection"])]
    verify: Vec<PathBuf>,
    /// The remedy that was installed, as the diagnosis names it; the best one, unless said otherwise
    #[arg(long, value_name = "NAME", requires = "verify")]
    remedy: Option<String>,
}

impl AdviceArguments {
    pub(super) fn predicts(&self) -> bool {
        !self.no_predict
    }

    pub(super) fn verifies(&self) -> bool {
        !self.verify.is_empty()
    }
}

/// Fills in what would help those connections that lost most, or the one asked for. Ctrl-C ends only this.
pub(super) fn fill(
    diagnosis: &mut Diagnosis,
    traces: &[Trace],
    asked: Option<u32>,
    interrupt: &Interrupt,
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
        if interrupt.check().is_break() {
            remarks.push(Remark { connection: *id, words: "not predicted: stopped".to_owned() });
            continue;
        }
        let advice = advised(connection, traces, (number, chosen.len(), &meter), interrupt);
        let words = match advice {
            Advice::Helps(_, prediction) => {
                connection.remedies = prediction.remedies;
                prediction.remarks.join("; ")
            }
            Advice::NothingToGain(why) => format!("nothing to gain: {why}"),
            Advice::Unknown(why) => format!("no prediction: {why}"),
        };
        if !words.is_empty() {
            remarks.push(Remark { connection: *id, words });
        }
    }
    meter.end();
    remarks
}

/// What would help a connection, the one of this `number` of so many.
fn advised(
    connection: &Connection,
    traces: &[Trace],
    (number, all, meter): (usize, usize, &Meter),
    interrupt: &Interrupt,
) -> Advice {
    let trace = traces.iter().find(|trace| trace.connection == connection.id);
    advise(connection, trace, &mut |tried, of| {
        let share = tried as f64 / of.max(1) as f64;
        meter.at((number as f64 + share) / all as f64);
        interrupt.check()
    })
}

/// Holds what was predicted from the captures of before against those of after.
pub(super) fn check(
    arguments: &DiagnoseArguments,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<(), Failure> {
    let [before, after] = arguments.advice.verify.as_slice() else { return Ok(()) };
    let open = |path: &Path| Sources::open(&[path.to_owned()], Passes::Again);
    let (before, after) = (open(before)?, open(after)?);
    let read = |sources: &Sources, what: &str, options: Options| {
        Work { arguments, sources, interrupt }.read(what, options)
    };
    let (mut old, _) = read(&before, "reading", Options::default())?;
    super::refuse_empty(&old)?;
    let (new, _) = read(&after, "reading", Options::default())?;
    super::refuse_empty(&new)?;
    let remedy = arguments.advice.remedy.as_deref();
    if arguments.advice.predicts() {
        let chosen = connections_to_verify(&old, &new, MOST_VERIFIED);
        let options = Options { points_of: ends_of(&old, &chosen), ..Options::default() };
        let (_, traces) = read(&before, "reading packets", options)?;
        expect(&mut old, &traces, &chosen, remedy, interrupt);
    }
    let verification = verify(&old, &new, remedy);
    let document = verification_document(&old, &new, &verification);
    let results = Results { document: &document, json: &data::to_json(&verification) };
    arguments.output.write(console, &results, || ackord_report::document_files(&document))
}

/// What was to be expected of connections: all that was tried, also what was not worth an offer.
fn expect(
    diagnosis: &mut Diagnosis,
    traces: &[Trace],
    chosen: &[u32],
    remedy: Option<&str>,
    interrupt: &Interrupt,
) {
    let meter = Meter::begin("predicting");
    for (number, id) in chosen.iter().enumerate() {
        let Some(connection) = diagnosis.connections.iter_mut().find(|one| one.id == *id) else {
            continue;
        };
        if interrupt.check().is_break() {
            break;
        }
        let advice = advised(connection, traces, (number, chosen.len(), &meter), interrupt);
        connection.remedies = match (advice, remedy) {
            (Advice::Helps(fit, prediction), _) => expected(&fit, &prediction),
            (Advice::NothingToGain(_), Some(name)) => vec![nothing_of(name)],
            _ => Vec::new(),
        };
    }
    meter.end();
}

/// A remedy that gains nothing.
fn nothing_of(name: &str) -> Remedy {
    Remedy {
        remedy: name.to_owned(),
        gain_percent: 0.0,
        ci95: [0.0, 0.0],
        r#where: String::new(),
        command: String::new(),
    }
}
