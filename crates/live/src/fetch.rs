//! `fetch`: our TCP as an HTTP client behind an emulated path, a stock server beyond it.

use crate::addresses::{KERNEL, OURS};
use crate::error::LiveError;
use crate::host::version_of;
use crate::http::{ClientConnection, Fetched};
use crate::options::{LiveOptions, LiveReport};
use crate::session::Session;
use ackord_units::{Span, Time};
use ackord_wire::{Endpoints, Side};
use std::cell::RefCell;
use std::io::{BufWriter, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::NamedTempFile;

/// What to fetch, from whom, and where to put it.
#[derive(Debug)]
pub struct FetchOptions {
    /// The path and everything else that every live run needs.
    pub live: LiveOptions,
    /// `http://10.77.0.1[:PORT]/PATH` or `http://[fd77::1][:PORT]/PATH`; `localhost` stands for the
    /// first.
    pub url: String,
    /// Where the body goes; nothing to throw it away.
    pub output: Option<PathBuf>,
    /// The server to run before the stock kernel, inside the namespace.
    pub command: Vec<String>,
    /// How long the server may take until it accepts a connection.
    pub connect_within: Span,
    /// How long the run may last; nothing for no limit.
    pub run_for: Option<Span>,
}

impl FetchOptions {
    /// Fetches `url` from a server that `command` starts, and throws the body away.
    pub fn new(live: LiveOptions, url: String, command: Vec<String>) -> FetchOptions {
        let connect_within = Span::from_secs(10);
        FetchOptions { live, url, output: None, command, connect_within, run_for: None }
    }
}

/// From one attempt to connect to the next while the server is starting.
const RETRY: Span = Span::from_millis(100);
/// How long our side may take to say goodbye after the body is complete.
const LINGER: Span = Span::from_secs(5);
/// First of the ports we connect from.
const FIRST_PORT: u16 = 49_152;

/// Fetches one file; the report's first transfer with bytes in it is that file's.
///
/// The calling thread drives everything; the namespace and all that runs in it end with the run,
/// however that ends.
///
/// # Errors
/// [`LiveError`]; the output file is then not there.
pub fn fetch(options: FetchOptions) -> Result<LiveReport, LiveError> {
    let Target { server, path } = parse_url(&options.url)?;
    let output = options.output.as_deref().map(OutputFile::create).transpose()?;
    let mut session = Session::open(options.live, Side::Client, None, options.command)?;
    session.start_command()?;
    let started_at = session.now();
    let end = options.run_for.map_or(Time::NEVER, |span| started_at + span);
    let outcome = Rc::new(RefCell::new(Fetched::Waiting));
    let mut attempts = 0;
    let fetched = loop {
        let writer: Box<dyn Write> = match &output {
            Some(output) => output.writer()?,
            None => Box::new(std::io::sink()),
        };
        let host = server.to_string();
        let service = ClientConnection::new(&host, &path, writer, Rc::clone(&outcome));
        let from = OURS.of(version_of(server.ip()));
        let src = SocketAddr::new(from, FIRST_PORT + attempts % 16_384);
        attempts += 1;
        session.connect(Endpoints { src, dst: server }, Box::new(service))?;
        match exchange(&mut session, &outcome, end)? {
            Exchanged::Closed => {}
            Exchanged::Stopped => break Err(STOPPED.to_owned()),
            Exchanged::Fetched(fetched) => break verdict(fetched),
        }
        // Refused: the server may not listen yet.
        let now = session.now();
        if session.has_command() && !session.command_runs() {
            break Err("the server has ended before it accepted a connection".to_owned());
        }
        if now >= (started_at + options.connect_within).min(end) {
            break Err("nothing accepts a connection there".to_owned());
        }
        if pause(&mut session, now + RETRY)? {
            break Err(STOPPED.to_owned());
        }
    };
    let report = session.finish()?;
    fetched.map_err(|why| LiveError::Fetch { url: options.url, why })?;
    if let Some(output) = output {
        output.commit()?;
    }
    Ok(report)
}

const STOPPED: &str = "stopped before it was complete";

/// Waits; says whether somebody has stopped the run meanwhile.
fn pause(session: &mut Session, until: Time) -> Result<bool, LiveError> {
    while session.now() < until {
        if session.turn(until)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How one connection went.
enum Exchanged {
    /// It was closed before there was an answer.
    Closed,
    /// Somebody stopped the run, or its time was over.
    Stopped,
    /// There was an answer.
    Fetched(Fetched),
}

fn exchange(
    session: &mut Session,
    outcome: &RefCell<Fetched>,
    end: Time,
) -> Result<Exchanged, LiveError> {
    let closed_before = session.connections().len();
    let mut until = end;
    loop {
        let now = session.now();
        let answered = *outcome.borrow() != Fetched::Waiting;
        let closed = session.connections().len() > closed_before;
        if answered && until == end {
            until = end.min(now + LINGER);
        }
        if answered && (closed || session.host().is_quiet() || now >= until) {
            return Ok(Exchanged::Fetched(outcome.borrow().clone()));
        }
        if closed {
            return Ok(Exchanged::Closed);
        }
        if now >= until || session.turn(until)? {
            return Ok(Exchanged::Stopped);
        }
    }
}

fn verdict(fetched: Fetched) -> Result<(), String> {
    match fetched {
        Fetched::Complete => Ok(()),
        Fetched::Waiting => Err("no answer".to_owned()),
        Fetched::Status(status) => Err(format!("the server answers with status {status}")),
        Fetched::Malformed => Err("the answer is not HTTP".to_owned()),
        Fetched::BrokenOff => Err("the connection ended before the body did".to_owned()),
        Fetched::Output(error) => Err(format!("the body cannot be written: {error}")),
    }
}

/// A file that gets its name when it is complete.
struct OutputFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl OutputFile {
    fn create(path: &Path) -> Result<OutputFile, LiveError> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        let file = tempfile::Builder::new()
            .prefix(".ackord-fetch-")
            .permissions(readable)
            .tempfile_in(folder)
            .map_err(|source| LiveError::Output { path: path.to_owned(), source })?;
        Ok(OutputFile { file, path: path.to_owned() })
    }

    fn writer(&self) -> Result<Box<dyn Write>, LiveError> {
        let file = self.file.as_file().try_clone()?;
        Ok(Box::new(BufWriter::new(file)))
    }

    fn commit(self) -> Result<(), LiveError> {
        let path = self.path;
        match self.file.persist(&path) {
            Ok(_) => Ok(()),
            Err(error) => Err(LiveError::Output { path, source: error.error }),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Target {
    server: SocketAddr,
    path: String,
}

fn parse_url(given: &str) -> Result<Target, LiveError> {
    let wrong = |why| LiveError::Url { given: given.to_owned(), why, server: KERNEL };
    let rest = given.strip_prefix("http://").ok_or_else(|| wrong("it is not an http URL"))?;
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    // RFC 3986 §3.2.2: an IPv6 address stands in brackets, for it holds colons itself.
    let end_of_host = authority.find(']').map_or(0, |bracket| bracket + 1);
    let colon = authority[end_of_host..].find(':').map(|at| at + end_of_host);
    let (host, port) = match colon {
        Some(at) => {
            let port = authority[at + 1..].parse().map_err(|_| wrong("its port is no number"))?;
            (&authority[..at], port)
        }
        None => (authority, 80),
    };
    let address = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => host.parse().ok().map(IpAddr::V6),
        None if host == "localhost" => Some(IpAddr::V4(KERNEL.v4)),
        None => host.parse().ok().map(IpAddr::V4),
    };
    let server = address.filter(|address| KERNEL.has(*address));
    let server = server.ok_or_else(|| wrong("the server inside has one address of each family"))?;
    if path.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
        return Err(wrong("a space has to be written %20"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(Target { server: SocketAddr::new(server, port), path: format!("{slash}{path}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_the_one_server_are_understood() {
        for (url, server, path) in [
            ("http://10.77.0.1/a/b?c#d", "10.77.0.1:80", "/a/b?c"),
            ("http://localhost:8000", "10.77.0.1:8000", "/"),
            ("http://localhost:8000?q", "10.77.0.1:8000", "/?q"),
            ("http://[fd77::1]/a", "[fd77::1]:80", "/a"),
            ("http://[fd77:0::1]:8000/a:b", "[fd77::1]:8000", "/a:b"),
        ] {
            let server = server.parse().expect("an address");
            let expected = Target { server, path: path.to_owned() };
            assert_eq!(parse_url(url).expect("understood"), expected);
        }
    }

    #[test]
    fn other_urls_are_refused_with_the_form_that_works() {
        for url in [
            "https://10.77.0.1/",
            "http://example.org/",
            "http://10.77.0.2/",
            "http://fd77::1/",
            "http://[fd77::1/",
            "http://[fd77::2]/",
            "http://[10.77.0.1]/",
            "http://[fd77::1]8000/",
            "http://]:[/",
            "10.77.0.1/",
            "http://localhost:http/",
            "http://localhost:99999/",
            "http://localhost/a b",
            "http://localhost/a\r\nHost: x",
        ] {
            let error = parse_url(url).expect_err(url).to_string();
            assert!(error.contains("http://10.77.0.1[:PORT]/PATH"), "{error}");
            assert!(error.contains("http://[fd77::1][:PORT]/PATH"), "{error}");
        }
    }
}
