//! A daemon that does nothing, asked by its control socket.

use super::*;
use crate::status::Process;
use crate::{Published, Shared};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;

static IDLER: Words = Words {
    name: "idler",
    one: "an idler",
    command: "ackord idler",
    meanwhile: "nothing happens meanwhile",
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Status {
    idle: u64,
    #[serde(flatten)]
    process: Process,
}

impl Published for Status {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// A daemon that says more than how it stands.
#[derive(Debug, Default)]
struct Talker(Shared<Status>);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum More {
    Count(u64),
}

impl Answers for Talker {
    type Status = Status;

    fn status(&self) -> Status {
        self.0.status()
    }

    fn stop(&self) {
        self.0.ask_to_stop();
    }

    fn other(&self, line: &str, mut stream: UnixStream) -> io::Result<()> {
        match request(line, &mut stream)? {
            Some(More::Count(to)) if to > 9 => refuse(&mut stream, "no further than 9"),
            Some(More::Count(to)) => (1..=to).try_for_each(|number| say(&mut stream, &number)),
            None => Ok(()),
        }
    }
}

/// A socket in a folder of its own.
struct Asked<A = Shared<Status>> {
    folder: tempfile::TempDir,
    answers: Arc<A>,
    socket: ControlSocket,
}

impl<A: Answers + Default> Asked<A> {
    fn new() -> Asked<A> {
        let folder = tempfile::tempdir().expect("a folder");
        let answers = Arc::new(A::default());
        let path = folder.path().join("idler.sock");
        let socket =
            ControlSocket::open(&IDLER, &path, Arc::clone(&answers)).expect("nobody is there");
        Asked { folder, answers, socket }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("idler.sock")
    }

    /// What is answered to bytes, whatever they are.
    fn say(&self, bytes: &[u8]) -> UnixStream {
        let mut stream = UnixStream::connect(self.path()).expect("it listens");
        let _ = stream.write_all(bytes);
        stream
    }
}

#[test]
fn a_status_arrives_as_it_was_published_with_the_heartbeat_of_the_moment() {
    let asked = Asked::<Shared<Status>>::new();
    let process = Process { heartbeat_ms: -1.0, ..Process::default() };
    asked.answers.publish(Status { idle: 3, process });
    let answered: Status = status(&IDLER, &asked.path()).expect("it runs");
    assert!(answered.idle == 3 && answered.process.heartbeat_ms > 0.0, "{answered:?}");
}

#[test]
fn one_daemon_at_a_time_and_what_a_dead_one_left_is_no_hindrance() {
    let asked = Asked::<Shared<Status>>::new();
    let path = asked.path();
    let mode = std::fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = ControlSocket::open(&IDLER, &path, Arc::<Shared<Status>>::default());
    let expected = format!(
        "an idler runs here already (it listens at `{}`); `ackord idler stop` ends it",
        path.display()
    );
    assert_eq!(second.map(drop).expect_err("the second").to_string(), expected);
    drop(asked.socket);
    assert!(!path.exists());
    // A socket that nobody listens at any more.
    drop(UnixListener::bind(&path).expect("free"));
    let error = status::<Status>(&IDLER, &path).expect_err("nobody listens");
    assert!(matches!(error, ControlError::NotRunning { .. }), "{error}");
    let again = ControlSocket::open(&IDLER, &path, Arc::<Shared<Status>>::default());
    assert!(again.is_ok() && status::<Status>(&IDLER, &path).is_ok());
}

#[test]
fn without_a_daemon_the_refusal_says_which_and_how_to_start_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("idler.sock");
    let expected = format!(
        "no idler runs here: nobody listens at `{}`; `ackord idler run` starts one, and --state says \
         where another one listens",
        path.display()
    );
    assert_eq!(stop(&IDLER, &path).expect_err("nobody").to_string(), expected);
}

#[test]
fn stop_returns_when_the_daemon_is_gone_and_not_before() {
    let asked = Asked::<Shared<Status>>::new();
    let path = asked.path();
    let stopper = thread::Builder::new().spawn(move || stop(&IDLER, &path)).expect("a thread");
    while !asked.answers.is_to_stop() {
        thread::park_timeout(Duration::from_millis(1));
    }
    // It undoes what it did, and only then lets go of the socket.
    thread::park_timeout(Duration::from_millis(100));
    assert!(!stopper.is_finished());
    drop(asked.socket);
    stopper.join().expect("no panic").expect("it ended");
}

#[test]
fn nonsense_and_callers_that_dawdle_harm_nobody() {
    let asked = Asked::<Shared<Status>>::new();
    for nonsense in ["\n", "{}\n", "\"dance\"\n", "{\"count\":3}\n"] {
        let mut answer = String::new();
        BufReader::new(asked.say(nonsense.as_bytes())).read_line(&mut answer).expect("an answer");
        assert!(answer.starts_with("{\"refused\":\"a request unknown here: "), "{answer}");
    }
    // Longer than any request, without an end; it may be hung up on while it is still talking.
    let _ = asked.say(&vec![b'"'; 1 << 20]).read(&mut [0; 1]);
    drop(asked.say(b"\"stat"));
    assert!(status::<Status>(&IDLER, &asked.path()).is_ok());
    assert!(!asked.answers.is_to_stop());
}

#[test]
fn a_daemon_may_answer_more_and_refuses_in_its_words() {
    let asked = Asked::<Talker>::new();
    let count = |to| ask::<u64>(&IDLER, &asked.path(), &More::Count(to));
    let (first, rest) = count(3).expect("it counts");
    assert_eq!(first, 1);
    assert_eq!(rest.lines().map(|line| line.expect("text")).collect::<Vec<_>>(), ["2", "3"]);
    let refused = count(10).map(drop).expect_err("too far");
    assert_eq!(refused.to_string(), "the idler refuses: no further than 9");
    // Every daemon answers these by itself.
    assert!(status::<Status>(&IDLER, &asked.path()).is_ok());
    let unknown = ask::<u64>(&IDLER, &asked.path(), &"dance").map(drop).expect_err("unknown");
    let expected =
        "the idler refuses: a request unknown here: unknown variant `dance`, expected `count`";
    assert!(unknown.to_string().starts_with(expected), "{unknown}");
}

/// Answers one caller with these bytes.
fn answering(bytes: &'static [u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("idler.sock");
    let listener = UnixListener::bind(&path).expect("free");
    let one = move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).expect("a line");
        stream.write_all(bytes).expect("a caller that listens");
    };
    thread::Builder::new().spawn(one).expect("a thread");
    (folder, path)
}

#[test]
fn who_answers_something_else_is_not_taken_for_this_daemon() {
    for (bytes, why) in [
        (&b""[..], "nothing"),
        (b"\"stopping\"\n", "it says that it stops"),
        (b"{\"status\":7}\n", "invalid type"),
        (b"HTTP/1.1 400 Bad Request\r\n", "expected value"),
    ] {
        let (_folder, path) = answering(bytes);
        let told = status::<Status>(&IDLER, &path).expect_err("not it").to_string();
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!(
            "what listens at `{}` does not answer as an idler of version {version} does: {why}",
            path.display()
        );
        assert!(told.starts_with(&expected), "{told}");
    }
    let (_folder, path) = answering(b"{\"status\":{}}\n");
    let told = stop(&IDLER, &path).expect_err("not it").to_string();
    assert!(told.ends_with("does: a status that was not asked for"), "{told}");
}

#[test]
fn a_listener_that_says_nothing_is_told_from_one_that_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("idler.sock");
    let _mute = UnixListener::bind(&path).expect("free");
    let error = status::<Status>(&IDLER, &path).expect_err("it says nothing");
    let expected = format!(
        "the idler at `{}` does not answer within 2 s: it is stopped (SIGSTOP) or hangs; nothing happens \
         meanwhile",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
}
