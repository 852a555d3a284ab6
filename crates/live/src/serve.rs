//! `serve`: our TCP as an HTTP server behind an emulated path, a stock kernel before it.

use crate::error::LiveError;
use crate::host::{Listener, Service};
use crate::http::{FileStore, ServerConnection};
use crate::options::{LiveOptions, LiveReport};
use crate::session::Session;
use ackord_units::{Span, Time};
use ackord_wire::Side;
use std::path::PathBuf;
use std::rc::Rc;

/// What to serve, to whom, and for how long.
#[derive(Debug)]
pub struct ServeOptions {
    /// The path and everything else that every live run needs.
    pub live: LiveOptions,
    /// The folder whose files are served, and into which uploads go.
    pub folder: PathBuf,
    /// The port our host listens to.
    pub port: u16,
    /// A command to run before the stock kernel, inside the namespace; the run ends with it.
    /// Empty: the run goes on until it is stopped.
    pub command: Vec<String>,
    /// How long the run may last; nothing for no limit.
    pub run_for: Option<Span>,
}

/// How long connections may take to close once the command has ended.
const LINGER: Span = Span::from_secs(5);

impl ServeOptions {
    /// Serves `folder` on port 80 until stopped.
    pub fn new(live: LiveOptions, folder: PathBuf) -> ServeOptions {
        ServeOptions { live, folder, port: 80, command: Vec::new(), run_for: None }
    }
}

/// Serves until the command has ended, the time is over, or somebody stops it.
///
/// The calling thread drives everything; the namespace and all that runs in it end with the run,
/// however that ends.
///
/// # Errors
/// [`LiveError`]; a peer's misbehaviour is not one.
pub fn serve(options: ServeOptions) -> Result<LiveReport, LiveError> {
    let folder = options.folder;
    let files =
        FileStore::open(&folder).map_err(|source| LiveError::Folder { path: folder, source })?;
    let files = Rc::new(files);
    let accept = move || Box::new(ServerConnection::new(Rc::clone(&files))) as Box<dyn Service>;
    let listener = Listener { port: options.port, accept: Box::new(accept) };
    let mut session = Session::open(options.live, Side::Server, Some(listener), options.command)?;
    let mut until = options.run_for.map_or(Time::NEVER, |span| session.now() + span);
    session.start_command()?;
    let mut lingering = false;
    while session.now() < until {
        if session.turn(until)? {
            break;
        }
        if session.has_command() && !session.command_runs() {
            if session.host().is_quiet() {
                break;
            }
            if !lingering {
                lingering = true;
                until = until.min(session.now() + LINGER);
            }
        }
    }
    session.finish()
}
