//! What an agent is asked beside its status and to end: to adopt connections that were there before it, and why it
//! does what it does with one.

use super::{ApplicationStatus, SOCKET, Status, WORDS};
use ackord_daemon::control::{Answers, ControlError, ControlSocket, ask, request, say};
use ackord_daemon::{Shared, control};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Which connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Whose socket this process has made.
    Pid(u32),
    /// With this port at either end.
    Port(u16),
    /// Of this application, as `status` calls it.
    Application(String),
    /// Of processes in this control group, by its directory, or in one below it.
    Cgroup(PathBuf),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// To adopt connections.
    Adopt,
    /// What is done about these, and why.
    Explain(Of),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
    Adopted(u64),
    Explained(ExplainAnswer),
    Failed(String),
}

/// Connections, each with what is done about it and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExplainAnswer {
    /// The first of them.
    pub connections: Vec<Explained>,
    /// How many there are.
    pub in_all: u64,
    /// Applications of the name that was asked for; they may have no connections now.
    pub applications: Vec<ApplicationStatus>,
    /// The nearest name of an application, where none has the one that was asked for.
    pub nearest: Option<String>,
}

/// A connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explained {
    /// This host's end.
    pub local: String,
    /// The other.
    pub remote: String,
    /// The process that made its socket; 0 where that is not known.
    pub pid: u32,
    /// Its application.
    pub application: String,
    /// Whether it was there before the agent.
    pub was_there: bool,
    /// Time in exchanges, s.
    pub active_s: f64,
    /// Lost to Nagle's algorithm, s.
    pub nagle_s: f64,
    /// How often.
    pub nagle_stalls: u64,
    /// Lost by the peer to our delayed acknowledgments, s.
    pub delayed_ack_s: f64,
    /// How often.
    pub delayed_ack_stalls: u64,
    /// Levers at work on it.
    pub levers: Vec<String>,
    /// The bound of its delayed acknowledgments, ms.
    pub delack_max_ms: Option<f64>,
    /// Why it is treated as it is.
    pub why: Vec<String>,
}

/// A question for the loop, and who waits for the answer.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub wanted: Wanted,
    stream: UnixStream,
}

impl Question {
    /// So many were adopted, or why not. Who asked may be gone.
    pub fn adopted(mut self, how: Result<u64, String>) {
        let told = how.map_or_else(Told::Failed, Told::Adopted);
        let _ = say(&mut self.stream, &told);
    }

    /// This is the case.
    pub fn explained(mut self, answer: ExplainAnswer) {
        let _ = say(&mut self.stream, &Told::Explained(answer));
    }
}

/// What an agent shows and is asked, between its loop and the thread that answers.
#[derive(Debug, Default)]
pub struct Asked {
    /// What every daemon shares.
    pub shared: Shared<Status>,
    questions: Mutex<Vec<Question>>,
}

impl Asked {
    /// Questions for the loop since this was last called.
    pub fn questions(&self) -> Vec<Question> {
        std::mem::take(&mut *self.questions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Answers for Asked {
    type Status = Status;

    fn status(&self) -> Status {
        self.shared.status()
    }

    fn stop(&self) {
        self.shared.ask_to_stop();
    }

    fn other(&self, line: &str, mut stream: UnixStream) -> io::Result<()> {
        let Some(wanted) = request::<Wanted>(line, &mut stream)? else { return Ok(()) };
        let question = Question { wanted, stream };
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        Ok(())
    }
}

fn socket(state: &Path) -> PathBuf {
    state.join(SOCKET)
}

/// Listens in a state directory.
///
/// # Errors
/// Where an agent listens there already, or the system does not let us.
pub fn listen(state: &Path, asked: Arc<Asked>) -> Result<ControlSocket, ControlError> {
    ControlSocket::open(&WORDS, &socket(state), asked)
}

/// How the agent of a state directory stands.
///
/// # Errors
/// Where none runs, or it does not answer.
pub fn status(state: &Path) -> Result<Status, ControlError> {
    control::status(&WORDS, &socket(state))
}

/// Ends the agent of a state directory and waits until it has undone what it did.
///
/// # Errors
/// Where none runs, it does not answer, or takes longer than it should.
pub fn stop(state: &Path) -> Result<(), ControlError> {
    control::stop(&WORDS, &socket(state))
}

/// Has it adopt the connections that were there before it. Answers how many that were.
///
/// # Errors
/// Where none runs, it does not answer, or cannot.
pub fn adopt(state: &Path) -> Result<u64, ControlError> {
    match ask::<Told>(&WORDS, &socket(state), &Wanted::Adopt)?.0 {
        Told::Adopted(count) => Ok(count),
        Told::Failed(why) => Err(ControlError::Refused { daemon: &WORDS, why }),
        Told::Explained(_) => Ok(0),
    }
}

/// What it does with some connections, and why.
///
/// # Errors
/// Where none runs, or it does not answer.
pub fn explain(state: &Path, of: Of) -> Result<ExplainAnswer, ControlError> {
    match ask::<Told>(&WORDS, &socket(state), &Wanted::Explain(of))?.0 {
        Told::Explained(answer) => Ok(answer),
        Told::Failed(why) => Err(ControlError::Refused { daemon: &WORDS, why }),
        Told::Adopted(_) => Ok(ExplainAnswer::default()),
    }
}
