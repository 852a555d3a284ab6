//! One run, and what it comes to.

use crate::algorithms::{Session, python_traffic, uses_python};
use crate::errors::{bad_input, failed, unknown_name, with_cause};
use crate::scenario::Checked;
use crate::series::series_table;
use crate::table::Table;
use crate::watch::Watch;
use ackord_live::SimulatedKernels;
use ackord_measure::{
    FLOW_METRICS, LINK_METRICS, PROXY_METRICS, QUEUE_METRICS, RUN_METRICS, TRANSFER_METRICS,
};
use ackord_report::EventLog;
use ackord_report::data_set::Column;
use ackord_scenario::{NodeKind, Scenario};
use ackord_study::{
    CaptureFiles, CaptureFolder, LiveRunOptions, LiveRunOutcome, Progress, Report, RunOptions,
    RunOutcome, execute, kernels_of, live_run, live_run_report, live_run_report_files, run_report,
    run_report_files,
};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What a run came to.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct Run {
    outcome: Outcome,
    report: Report,
}

/// Of a run in simulated time, or with kernels.
enum Outcome {
    Simulated(Box<RunOutcome>),
    WithKernels(Box<LiveRunOutcome>),
}

impl Outcome {
    fn run(&self) -> &RunOutcome {
        match self {
            Outcome::Simulated(run) => run,
            Outcome::WithKernels(outcome) => &outcome.run,
        }
    }
}

/// What any run is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wishes {
    seed: Option<u64>,
    /// Whether to keep values against time.
    series: bool,
    /// Where captures go.
    pcap: Option<PathBuf>,
    /// Where events go.
    events: Option<PathBuf>,
    /// Told the share that is done.
    progress: Option<Py<PyAny>>,
}

/// Runs a scenario in simulated time; `program` is what runs on hosts that are kernels.
#[pyfunction]
#[pyo3(signature = (checked, wishes, program=None))]
pub(crate) fn run(
    py: Python<'_>,
    checked: &Checked,
    wishes: Wishes,
    program: Option<PathBuf>,
) -> PyResult<Run> {
    let scenario = &checked.scenario;
    let kernels = kernels_of(scenario).map_err(failed)?;
    if kernels.is_some() {
        refuse_traffic(scenario)?;
    }
    ran(py, checked, wishes, |options, watch| match kernels {
        None => {
            let outcome = execute(scenario, options, watch).map_err(|error| error.to_string());
            outcome.map(|outcome| Outcome::Simulated(outcome.into()))
        }
        Some(kernels) => {
            let kernels = SimulatedKernels { program, ..kernels };
            let options = LiveRunOptions::in_simulated_time(kernels, options);
            let outcome = live_run(scenario, options, watch);
            outcome
                .map(|outcome| Outcome::WithKernels(outcome.into()))
                .map_err(|error| error.to_string())
        }
    })
}

/// Refuses applications in Python where an end may be a kernel: its application is another process.
fn refuse_traffic(scenario: &Scenario) -> PyResult<()> {
    python_traffic(scenario).map_or(Ok(()), |flow| {
        Err(bad_input(format!(
            "the traffic of flow `{flow}` is a class in Python: with kernels, only traffic in Rust is allowed"
        )))
    })
}

/// Runs a scenario in real time, with this machine's kernel at every host that is not among `ours`.
#[pyfunction]
pub(crate) fn run_live(
    py: Python<'_>,
    checked: &Checked,
    wishes: Wishes,
    ours: Vec<String>,
) -> PyResult<Run> {
    let scenario = &checked.scenario;
    refuse_traffic(scenario)?;
    let hosts = scenario.nodes_with_ids().filter(|(_, node)| node.kind == NodeKind::Host);
    let hosts: BTreeMap<_, _> = hosts.map(|(id, node)| (node.name.as_str(), id)).collect();
    let host = |name: &String| {
        let known = || hosts.keys().copied();
        hosts.get(name.as_str()).copied().ok_or_else(|| unknown_name("host", name, known()))
    };
    let ours = ours.iter().map(host).collect::<PyResult<_>>()?;
    let live = LiveRunOptions::new(0).map_err(failed)?;
    ran(py, checked, wishes, |RunOptions { seed, series, captures, events }, watch| {
        let options = LiveRunOptions { seed, series, captures, events, ours, ..live };
        let outcome = live_run(scenario, options, watch);
        outcome
            .map(|outcome| Outcome::WithKernels(outcome.into()))
            .map_err(|error| error.to_string())
    })
}

/// Does a run, with the interpreter released unless an algorithm needs it, and reports on it.
fn ran(
    py: Python<'_>,
    checked: &Checked,
    wishes: Wishes,
    run: impl FnOnce(
        RunOptions<'_>,
        &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, String>
    + Send,
) -> PyResult<Run> {
    let scenario = &checked.scenario;
    let seed = wishes.seed.unwrap_or(scenario.seed);
    let folder = wishes.pcap.as_deref().map(CaptureFolder::open).transpose();
    let mut captures = folder.map_err(with_cause)?;
    let events = wishes.events.as_deref().map(EventLog::create).transpose();
    let mut events = events.map_err(with_cause)?;
    let watch = Watch::new(wishes.progress);
    let go = || {
        let options = match wishes.series {
            true => RunOptions::with_series(seed),
            false => RunOptions::summary_only(seed),
        };
        let captures = captures.as_mut().map(|folder| folder as &mut dyn CaptureFiles);
        run(RunOptions { captures, events: events.as_mut(), ..options }, &mut |at| {
            watch.at(at.share())
        })
    };
    let outcome = if uses_python(scenario) {
        let session = Session::begin(scenario);
        let outcome = go();
        session.end(py)?;
        outcome
    } else {
        py.detach(go)
    };
    watch.done()?;
    let outcome = outcome.map_err(failed)?;
    events.as_mut().map_or(Ok(()), EventLog::finish).map_err(with_cause)?;
    if let Some(captures) = captures {
        captures.commit().map_err(with_cause)?;
    }
    let report = match &outcome {
        Outcome::Simulated(outcome) => run_report(outcome, checked.origin()),
        Outcome::WithKernels(outcome) => live_run_report(outcome, checked.origin()),
    };
    Ok(Run { outcome, report })
}

impl Run {
    /// Builds the report of a run in simulated time.
    pub(crate) fn simulated(outcome: RunOutcome, checked: &Checked) -> Run {
        let report = run_report(&outcome, checked.origin());
        Run { outcome: Outcome::Simulated(outcome.into()), report }
    }
}

#[pymethods]
impl Run {
    /// A row per connection.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        let flows: Vec<_> = self.outcome.run().summary.flows.iter().collect();
        let names = Column::words("flow", flows.iter().map(|flow| flow.name.as_str()));
        Table::of_metrics(vec![names], FLOW_METRICS, &flows)
    }

    /// A row per direction of a link.
    #[getter]
    fn links(&self) -> PyResult<Table> {
        let links: Vec<_> = self.outcome.run().summary.links.iter().collect();
        let names = Column::words("link", links.iter().map(|link| link.name.as_str()));
        Table::of_metrics(vec![names], LINK_METRICS, &links)
    }

    /// A row per queue.
    #[getter]
    fn queues(&self) -> PyResult<Table> {
        let queues: Vec<_> = self.outcome.run().summary.queues.iter().collect();
        let links = Column::words("link", queues.iter().map(|queue| queue.link.as_str()));
        let names = Column::words("queue", queues.iter().map(|queue| queue.queue.as_str()));
        Table::of_metrics(vec![links, names], QUEUE_METRICS, &queues)
    }

    /// A row per middlebox.
    #[getter]
    fn proxies(&self) -> PyResult<Table> {
        let proxies: Vec<_> = self.outcome.run().summary.proxies.iter().collect();
        let names = Column::words("proxy", proxies.iter().map(|proxy| proxy.name.as_str()));
        Table::of_metrics(vec![names], PROXY_METRICS, &proxies)
    }

    /// A row per finished transfer or exchange.
    #[getter]
    fn transfers(&self) -> PyResult<Table> {
        let flows = self.outcome.run().summary.flows.iter();
        let each = flows.flat_map(|flow| {
            let transfers = flow.transfers.iter().flat_map(|transfers| &transfers.each);
            transfers.map(move |transfer| (flow.name.as_str(), transfer))
        });
        let (names, transfers): (Vec<_>, Vec<_>) = each.unzip();
        let names = Column::words("flow", names);
        Table::of_metrics(vec![names], TRANSFER_METRICS, &transfers)
    }

    /// One row: what is said of the run as a whole.
    #[getter]
    fn whole(&self) -> PyResult<Table> {
        Table::of_metrics(Vec::new(), RUN_METRICS, &[&self.outcome.run().summary])
    }

    /// How long it was, in simulated seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.outcome.run().summary.duration_s
    }

    /// Values of a quantity against time: a row per point.
    fn series(&self, quantity: &str) -> PyResult<Table> {
        series_table(self.outcome.run().series.as_ref(), quantity)
    }

    /// The results as the command line's JSON.
    #[getter]
    fn json(&self) -> &str {
        &self.report.json
    }

    /// Writes report.html, JSON, CSV and plots into a folder; the paths of the files.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        let written = py.detach(|| {
            let files = match &self.outcome {
                Outcome::Simulated(outcome) => run_report_files(outcome, &self.report),
                Outcome::WithKernels(outcome) => live_run_report_files(outcome, &self.report),
            };
            ackord_report::write_all(&folder, &files)
        });
        written.map_err(failed)
    }
}
