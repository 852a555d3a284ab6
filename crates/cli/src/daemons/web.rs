//! `status --web`: a page of the status that refreshes itself, for this host's browsers only.
//!
//! This command makes the page, not the daemon: it requests the status each second as `status` does, keeps a quarter of an
//! hour of samples, and serves one document at a loopback address under a random path. So a user who may not use the
//! control socket cannot read the page, and a daemon listens at no further address.
//!
//! Not there: changes to a daemon, encryption, other hosts (`ssh -L` forwards the port).

use super::DaemonFailure;
use crate::console::Console;
use crate::errors::Failure;
use crate::interrupt::Interrupt;
use ackord_daemon::control::ControlError;
use ackord_daemon::status::Process;
use ackord_daemon::{Finding, Severity, unix_s};
use ackord_report::document::{Block, Document, Section};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range};
use ackord_report::to_refreshing_html;
use oxhttp::Server;
use oxhttp::model::{Body, HeaderName, Method, Request, Response, StatusCode, header};
use std::collections::VecDeque;
use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Address unless one is given; the kernel chooses the port.
pub(crate) const ADDRESS: &str = "127.0.0.1:0";
/// Time between two samples, and between two requests of the page.
const EVERY: Duration = Duration::from_secs(1);
/// Samples that are kept: a quarter of an hour.
const KEPT: usize = 900;
/// Seconds that a graph shows at least.
const LEAST_S: f64 = 60.0;
/// Connections at once, and how long one may take.
const CALLERS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(5);

/// A value of a status that a graph shows over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The graph, and its unit.
    pub(crate) graph: (&'static str, &'static str),
    /// The line in the graph.
    pub(crate) line: String,
    /// The value.
    pub(crate) value: Value,
}

/// How a value becomes a point of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// As it is.
    Level(f64),
    /// A count since the start, shown as its growth per second.
    Count(f64),
}

/// Samples of the last quarter of an hour, the oldest first, each with its time in seconds.
#[derive(Debug, Default)]
struct History(VecDeque<(f64, Vec<Sample>)>);

impl History {
    /// Adds the samples of a status that the daemon made at `at_s`, unless it has them already. After a clock that was
    /// set back nothing earlier is comparable.
    fn push(&mut self, at_s: f64, samples: Vec<Sample>) {
        match self.0.back() {
            Some((before_s, _)) if at_s == *before_s => return,
            Some((before_s, _)) if at_s < *before_s => self.0.clear(),
            _ => {}
        }
        self.0.push_back((at_s, samples));
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// Returns a plot for each graph, in the order of the latest status.
    fn plots(&self) -> Vec<Plot> {
        let Some((now_s, _)) = self.0.back() else { return Vec::new() };
        let answered = self.0.iter().rev().find(|(_, samples)| !samples.is_empty());
        let Some((_, latest)) = answered else { return Vec::new() };
        let from_s = self.0.front().map_or(0.0, |(at_s, _)| *at_s);
        let to_s = now_s.max(from_s + LEAST_S);
        let mut plots: Vec<Plot> = Vec::new();
        for sample in latest {
            let (graph, unit) = sample.graph;
            if plots.last().is_none_or(|plot| plot.title != graph) {
                let mut plot = Plot::new("status", graph, "time (s)", unit);
                (plot.x.range, plot.y.range) = (Range::Fixed(from_s, to_s), Range::FromZero);
                plots.push(plot);
            }
            let plot = plots.last_mut().expect("pushed if there was none");
            plot.series.push(PlotSeries::new(&sample.line, Mark::Line, self.points(sample)));
        }
        plots
    }

    /// Returns the points of the line of `sample`. A count that fell is that of a daemon that was started anew.
    fn points(&self, sample: &Sample) -> Vec<(f64, f64)> {
        let same = |one: &&Sample| (one.graph, &one.line) == (sample.graph, &sample.line);
        let mut before = None;
        let mut points = Vec::new();
        for (at_s, samples) in &self.0 {
            let value = samples.iter().find(same).map(|one| one.value);
            match value {
                Some(Value::Level(level)) => points.push((*at_s, level)),
                Some(Value::Count(count)) => {
                    if let Some((before_s, less)) = before.replace((*at_s, count))
                        && count >= less
                        && *at_s > before_s
                    {
                        points.push((*at_s, (count - less) / (at_s - before_s)));
                    }
                }
                None => before = None,
            }
        }
        points
    }
}

/// What is shown of a status.
pub(crate) struct Shown<S> {
    /// Time at which the daemon made it, s.
    pub(crate) at_s: fn(&S) -> f64,
    /// Its tables.
    pub(crate) document: fn(&S) -> Document,
    /// Its graphs.
    pub(crate) samples: fn(&S) -> Vec<Sample>,
}

/// Serves the status that `request` returns at `address` until Ctrl-C or SIGTERM.
pub(crate) fn serve<S>(
    address: SocketAddr,
    request: impl Fn() -> Result<S, ControlError>,
    shown: &Shown<S>,
    console: &Console,
) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        return Err(DaemonFailure::NotLoopback(address).into());
    }
    let path = format!("/{}/", random_name().map_err(DaemonFailure::Serve)?);
    let interrupt = Interrupt::listen()?;
    let mut history = History::default();
    // The first answer says at once if no daemon runs here.
    let first = request()?;
    let began_s = (shown.at_s)(&first);
    let html = page(&mut history, Ok(first), shown, began_s);
    let html = Arc::new(Mutex::new(html));
    let bound = listen(address, path.clone(), Arc::clone(&html)).map_err(DaemonFailure::Serve)?;
    console.print(&format!("http://{bound}{path}\n"))?;
    console.remark("the page refreshes itself each second; Ctrl-C ends it");
    while interrupt.check().is_continue() {
        for _ in 0..10 {
            if interrupt.check().is_continue() {
                std::thread::sleep(EVERY / 10);
            }
        }
        let next = page(&mut history, request(), shown, began_s);
        *html.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }
    Ok(())
}

/// Makes the page of the present `answer`, and adds its samples to `history`.
fn page<S>(
    history: &mut History,
    answer: Result<S, ControlError>,
    shown: &Shown<S>,
    began_s: f64,
) -> String {
    let mut document = match answer {
        Ok(status) => {
            history.push((shown.at_s)(&status) - began_s, (shown.samples)(&status));
            (shown.document)(&status)
        }
        Err(error) => {
            history.push(unix_s() - began_s, Vec::new());
            unanswered(&error)
        }
    };
    let plots = history.plots();
    if !plots.is_empty() {
        let mut graphs = Section::new("Since this page was opened");
        graphs.blocks.extend(plots.into_iter().map(Block::Plot));
        let after_health = document.sections.len().min(1);
        document.sections.insert(after_health, graphs);
    }
    to_refreshing_html(&document, EVERY)
}

/// The page of a daemon that does not answer.
fn unanswered(error: &ControlError) -> Document {
    let finding = Finding {
        severity: Severity::Failure,
        what: error.to_string(),
        advice: "This page shows the status again when it answers.".to_owned(),
    };
    Document {
        title: "No answer".to_owned(),
        purpose: String::new(),
        facts: super::standing::facts(&Process::default(), String::new()),
        sections: vec![super::standing::health(&[finding])],
    }
}

/// 128 random bits in hexadecimal digits.
fn random_name() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Serves `html` under `path` as long as the process lives. Returns the address with its port.
fn listen(
    address: SocketAddr,
    path: String,
    html: Arc<Mutex<String>>,
) -> std::io::Result<SocketAddr> {
    // The kernel's choice of a port is known only to the one who binds: bind, look, and let the server bind it.
    let bound = match address.port() {
        0 => std::net::TcpListener::bind(address)?.local_addr()?,
        _ => address,
    };
    let answer = move |request: &mut Request<Body>| {
        let html = || html.lock().unwrap_or_else(PoisonError::into_inner).clone();
        answer(request.method(), request.uri().path() == path, html)
    };
    Server::new(answer)
        .bind(bound)
        .with_global_timeout(PATIENCE)
        .with_max_concurrent_connections(CALLERS)
        .spawn()?;
    Ok(bound)
}

fn answer(method: &Method, is_page: bool, html: impl Fn() -> String) -> Response<Body> {
    let (status, kind, text) = match (is_page, method) {
        (true, &Method::GET | &Method::HEAD) => {
            (StatusCode::OK, "text/html; charset=utf-8", html())
        }
        (true, _) => {
            (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET is answered\n".into())
        }
        (false, _) => {
            (StatusCode::NOT_FOUND, "text/plain", "the address was printed with a path\n".into())
        }
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, value.parse().expect("a header value"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(line: &str, value: Value) -> Sample {
        Sample { graph: ("payload", "Mbit/s"), line: line.to_owned(), value }
    }

    fn points(history: &History, line: usize) -> Vec<(f64, f64)> {
        let plots = history.plots();
        plots[0].series[line].points.iter().map(|point| (point.x, point.y)).collect()
    }

    #[test]
    fn counts_are_shown_as_growth_per_second_and_never_across_a_restart() {
        let mut history = History::default();
        for (at_s, count) in [(0.0, 10.0), (2.0, 14.0), (3.0, 1.0), (4.0, 6.0)] {
            let level = sample("level", Value::Level(at_s));
            history.push(at_s, vec![sample("count", Value::Count(count)), level]);
        }
        assert_eq!(points(&history, 0), [(2.0, 2.0), (4.0, 5.0)]);
        assert_eq!(points(&history, 1), [(0.0, 0.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]);
        history.push(5.0, Vec::new());
        history.push(6.0, vec![sample("count", Value::Count(100.0))]);
        assert_eq!(points(&history, 0), [(2.0, 2.0), (4.0, 5.0)], "unanswered in between");
        history.push(6.0, vec![sample("count", Value::Count(900.0))]);
        assert_eq!(history.0.len(), 6, "the same status");
        history.push(1.0, vec![sample("count", Value::Count(901.0))]);
        assert_eq!(history.0.len(), 1, "the clock was set back");
    }

    #[test]
    fn a_quarter_of_an_hour_is_kept_and_a_graph_is_a_minute_wide_at_least() {
        let mut history = History::default();
        assert!(history.plots().is_empty());
        history.push(0.0, vec![sample("a", Value::Level(1.0))]);
        assert_eq!(history.plots()[0].x.range, Range::Fixed(0.0, 60.0));
        for second in 1..2_000 {
            history.push(f64::from(second), vec![sample("a", Value::Level(1.0))]);
        }
        assert_eq!(history.plots()[0].x.range, Range::Fixed(1_100.0, 1_999.0));
        assert_eq!(points(&history, 0).len(), KEPT);
    }

    #[test]
    fn only_the_random_path_is_answered_and_only_get() {
        let of = |method, is_page| answer(&method, is_page, || "page".to_owned()).status();
        assert_eq!(of(Method::GET, true), StatusCode::OK);
        assert_eq!(of(Method::POST, true), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(of(Method::GET, false), StatusCode::NOT_FOUND);
        let names = [random_name().expect("random"), random_name().expect("random")];
        assert!(names[0] != names[1] && names[0].len() == 32, "{names:?}");
    }
}
