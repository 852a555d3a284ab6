//! The agent as a process: a configuration at work on the sockets of this machine, until it is asked to end.
//!
//! | file | what |
//! | --- | --- |
//! | `daemon.rs` | [`Daemon`]: from a configuration to its work, reloads, its end |
//! | `daemon/arrivals.rs` | whether arriving packets are observed |
//! | `daemon/places.rs` | control groups: where the programs are attached |
//! | `daemon/kept.rs` | what outlives it: journal, list of sockets, histories |
//! | `daemon/upkeep.rs` | sockets older than it, and a state directory that is full |
//! | `daemon/source.rs` | its file, read anew |
//! | `daemon/error.rs` | why it cannot be |
//!
//! One loop takes reports and gives orders. It waits for nobody: questions are answered by a thread from what it
//! publishes once a second.

mod arrivals;
mod error;
mod kept;
mod places;
mod source;
mod upkeep;

use crate::application::Allowed;
use crate::config::{AgentConfig, OnExit};
use crate::engine::{Do, Engine, Turn};
use crate::kernel::layout::RawSettings;
use crate::kernel::{KernelError, Pass, Programs, foreign};
use crate::lever::{Lever, Standing};
use crate::names::owners::Which;
use crate::names::{Named, Names, UNKNOWN};
use crate::report::Report;
use crate::watch::{self, Asked, Circumstances, Question, Wanted};
use ackord_daemon::control::ControlSocket;
use ackord_daemon::metrics::{serve_metrics, unserved};
use ackord_daemon::{Finding, Supervisor, Undone, Wishes, monotonic};
use ackord_units::{Span, Time};
use arrivals::Arrivals;
use kept::Kept;
use places::Places;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use error::DaemonError;
pub use source::Source;

/// How long reports are left where they are at most.
const TURN: Duration = Duration::from_millis(100);
/// How often levers are looked at, and the status is published.
const LOOK_EVERY: Span = Span::from_secs(1);

/// What a daemon tells while it runs.
#[derive(Debug)]
pub enum News<'a> {
    /// It follows connections. An earlier one may have left something to be undone.
    Began(&'a AgentConfig, &'a Undone),
    /// It only observes, for this reason.
    StandsAside(&'a str),
    /// A configuration was taken.
    Reloaded(&'a AgentConfig),
    /// It was not; the one before goes on.
    NotReloaded(&'a DaemonError),
    /// A lever of an application begins, or is withdrawn.
    Standing(&'a str, Lever, Standing),
    /// Something did not work.
    Trouble(&'a str),
    /// A second has passed.
    Second,
}

/// A configuration at work.
pub struct Daemon {
    config: AgentConfig,
    file: Option<Source>,
    engine: Engine,
    names: Names,
    places: Places,
    arrivals: Arrivals,
    programs: Programs,
    settings: RawSettings,
    kept: Option<Kept>,
    undone: Undone,
    stands_aside: Option<String>,
    asked: Arc<Asked>,
    supervisor: Supervisor,
    unmeasured: Option<Finding>,
    reloads: u64,
    began_unix_s: f64,
    look_at: Time,
    /// Last, so that it is gone when everything else is.
    _socket: Option<ControlSocket>,
}

impl std::fmt::Debug for Daemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Daemon {
    /// Loads the programs and attaches them where a configuration says. One that does not act only sees what levers
    /// would gain: nothing is changed, nobody is asked.
    ///
    /// # Errors
    /// Where the process may not, the kernel is too old, the control group is none, or another agent runs.
    pub fn open(
        config: AgentConfig,
        file: Option<Source>,
        acts: bool,
    ) -> Result<Daemon, DaemonError> {
        if !crate::cgroups::is_whole() {
            return Err(DaemonError::Container);
        }
        let root = places::root(&config)?;
        let asked = Arc::new(Asked::default());
        let socket = match acts {
            true => Some(open_socket(&config, &asked)?),
            false => None,
        };
        let mut programs = Programs::load()?;
        // One that is not there yet is looked at when it is.
        let others = if acts { foreign(&root).unwrap_or_default() } else { Vec::new() };
        let stands_aside = (!others.is_empty()).then(|| {
            format!("programs of somebody else are at the same hooks: {}", others.join(", "))
        });
        let is_at_work = acts && stands_aside.is_none();
        let (kept, undone) = match is_at_work {
            true => Kept::open(&config).map(|(kept, undone)| (Some(kept), undone))?,
            false => (None, Undone::default()),
        };
        let least = crate::probe::least_delack();
        let settings = settings(&config, is_at_work);
        programs.set(settings);
        let unmeasured = config.metrics.filter(|_| acts).and_then(|at| metrics_at(at, &asked));
        let engine = Engine::new(config.engine(is_at_work, least));
        let mut names = Names::new(config.by, &root);
        let mut places = Places::new(root, is_at_work);
        if let Err(error) = places.follow(&config, &programs, &mut names) {
            // What cannot be undone now stays in the journal.
            let _ = kept.map(|kept| kept.undo(true));
            return Err(error);
        }
        let mut daemon = Daemon {
            engine,
            names,
            places,
            arrivals: Arrivals::new(),
            programs,
            settings,
            kept,
            undone,
            stands_aside,
            asked,
            supervisor: Supervisor::of_process(),
            unmeasured,
            reloads: 0,
            began_unix_s: ackord_daemon::unix_s(),
            look_at: Time::ZERO,
            config,
            file,
            _socket: socket,
        };
        daemon.own(Which::Listening);
        Ok(daemon)
    }

    /// Works until somebody wishes it to end, or `until` has come (CLOCK_MONOTONIC).
    ///
    /// # Errors
    /// Where the kernel refuses to attach or to wait.
    pub fn run(
        &mut self,
        wishes: &Wishes,
        until: Option<Time>,
        mut tell: impl FnMut(&News<'_>),
    ) -> Result<(), DaemonError> {
        tell(&News::Began(&self.config, &self.undone));
        if let Some(why) = &self.stands_aside {
            tell(&News::StandsAside(why));
        }
        self.supervisor.ready("following connections");
        loop {
            let now = monotonic();
            let is_over = until.is_some_and(|until| now >= until);
            if self.asked.shared.is_to_stop() || wishes.stop.load(Ordering::Relaxed) || is_over {
                self.supervisor.stopping();
                self.look(now, &mut tell);
                return Ok(());
            }
            if wishes.reload.swap(false, Ordering::Relaxed) {
                self.supervisor.reloading();
                match self.reload() {
                    Ok(()) => tell(&News::Reloaded(&self.config)),
                    Err(error) => tell(&News::NotReloaded(&error)),
                }
                self.supervisor.ready("following connections");
            }
            for raw in self.programs.reports(TURN)? {
                if let Some(report) = Report::of(&raw) {
                    self.take(&report);
                }
            }
            let is_wanted = self.arrivals.turn(now, || self.programs.take_old_seen());
            if let Err(error) = self.places.observe_arrivals(&self.programs, is_wanted) {
                tell(&News::Trouble(&error.to_string()));
            }
            for question in self.asked.questions() {
                self.answer(question);
            }
            if now >= self.look_at {
                self.look(now, &mut tell);
                tell(&News::Second);
            }
            self.carry_out(&mut tell);
            self.asked.shared.beat();
            self.supervisor.turn(now);
        }
    }

    fn take(&mut self, report: &Report) {
        if report.pid == std::process::id() {
            return;
        }
        let named = self.engine.wants_name(report).then(|| {
            let Named { name, also } = self.names.of(report);
            let Some(name) = name else {
                // The next connection of the same kind may be known.
                return self.engine.name(0, UNKNOWN, Allowed::default());
            };
            let allowed = |names: &[String]| allowed(&self.config, names);
            let one = std::slice::from_ref(&name);
            let index = self.engine.name(report.application, &name, allowed(one));
            self.engine.call(index, also, allowed);
            index
        });
        self.engine.handle(report, named);
    }

    /// Once a second.
    fn look(&mut self, now: Time, tell: &mut impl FnMut(&News<'_>)) {
        self.look_at = now + LOOK_EVERY;
        self.engine.look(now);
        let followed = self.places.follow(&self.config, &self.programs, &mut self.names);
        if matches!(followed, Ok(true)) {
            self.own(Which::Listening);
        }
        let kept = self.kept.as_mut().map(|kept| kept.each_second(&mut self.engine));
        let held = self.hold();
        let troubles =
            followed.err().into_iter().chain(kept.into_iter().flatten()).chain(held.err());
        for trouble in troubles {
            tell(&News::Trouble(&trouble.to_string()));
        }
        self.carry_out(tell);
        let status = self.status();
        self.arrivals.passed_over(status.connections_unobserved);
        self.supervisor.status(&format!(
            "{} connections, {} treated, of {} applications",
            status.connections,
            status.treated,
            status.applications.len(),
        ));
        self.asked.shared.publish(status);
    }

    /// How it stands.
    pub fn status(&mut self) -> watch::Status {
        self.engine.passed_over(|class| self.programs.passed_over(class));
        let counts = self.programs.counts();
        let circumstances = Circumstances {
            config: self.file.as_ref().map(Source::told).unwrap_or_default(),
            reloads: self.reloads,
            began_unix_s: self.began_unix_s,
            cgroups: self.places.told(),
            by: self.config.by.name().to_owned(),
            stands_aside: self.stands_aside.clone(),
            reports_lost: counts.reports_lost,
            refused: counts.refused,
            findings: self.findings(),
            hosts: self.kept.as_ref().map(Kept::hosts).unwrap_or_default(),
            journal: self.kept.as_ref().map(Kept::standing).unwrap_or_default(),
        };
        watch::describe(&self.engine, circumstances)
    }

    fn carry_out(&mut self, tell: &mut impl FnMut(&News<'_>)) {
        for one in self.engine.take() {
            let done = match &one {
                Do::Application(key, class) => self.programs.set_application(*key, *class),
                Do::Class(class, what) => self.programs.set_class(*class, *what),
                Do::Order(cookie, order) => self.programs.order(*cookie, *order),
                Do::Standing(index, lever, standing) => {
                    if let Some(one) = self.engine.applications().get(usize::from(*index)) {
                        tell(&News::Standing(one.name(), *lever, *standing));
                    }
                    Ok(())
                }
                Do::Turn(turn) => self.turn(*turn),
                Do::Transfer(..) | Do::Nodelay(_) | Do::Gone(_) | Do::Reordered(..) => Ok(()),
            };
            if let Err(error) = done {
                tell(&News::Trouble(&error.to_string()));
            }
            if let Some(kept) = &mut self.kept
                && let Err(error) = kept.note(&one, &self.engine)
            {
                tell(&News::Trouble(&error.to_string()));
            }
        }
    }

    /// Begins a turn of the whole host: first for connections that open from now on, then for those that are open.
    fn turn(&mut self, turn: Turn) -> Result<(), KernelError> {
        self.settings.untreated = u32::from(turn == Turn::Untreated);
        self.programs.set(self.settings);
        let pass = match turn {
            Turn::Untreated => Pass::Hold,
            Turn::Treated => Pass::Give,
            Turn::Over => return Ok(()),
        };
        let passed = self.programs.pass(pass, self.settings)?;
        passed.adopted.iter().filter_map(Report::of).for_each(|report| self.take(&report));
        Ok(())
    }

    fn answer(&mut self, question: Question) {
        match &question.wanted {
            Wanted::Adopt => question.adopted(self.adopt().map_err(|error| error.to_string())),
            Wanted::Explain(of) => {
                let answer = watch::explained(&self.engine, of);
                question.explained(answer);
            }
        }
    }

    /// Follows connections that were there before. Answers how many.
    ///
    /// # Errors
    /// Without CAP_PERFMON.
    pub fn adopt(&mut self) -> Result<u64, DaemonError> {
        self.names.cgroups().look();
        let numbers = self.places.numbers(self.names.cgroups());
        self.programs.adopt_of(&numbers)?;
        self.own(Which::All);
        let passed = self.programs.pass(Pass::Adopt, self.settings)?;
        passed.adopted.iter().filter_map(Report::of).for_each(|report| self.take(&report));
        Ok(passed.count)
    }

    /// Reads the configuration anew and goes on by it. Every connection stays.
    fn reload(&mut self) -> Result<(), DaemonError> {
        let config = self.file.as_ref().ok_or(DaemonError::NoFile)?.read()?;
        if let Some(key) = fixed(&self.config, &config) {
            return Err(DaemonError::CannotReload(key));
        }
        // What may fail comes first: then the one before goes on.
        self.places.follow(&config, &self.programs, &mut self.names)?;
        if let Some(kept) = &mut self.kept {
            kept.follow(&config)?;
        }
        self.config = config;
        let is_at_work = self.kept.is_some();
        let RawSettings { nodelay_held, untreated, .. } = self.settings;
        let settings = settings(&self.config, is_at_work);
        self.settings = RawSettings { nodelay_held, untreated, ..settings };
        self.programs.set(self.settings);
        let engine = self.config.engine(is_at_work, self.engine.config().delack_least);
        let config = &self.config;
        self.engine.allow(engine, |names| allowed(config, names));
        self.reloads += 1;
        Ok(())
    }

    /// Ends: what was changed is as it was, or stays with the connections that have it.
    ///
    /// # Errors
    /// What could not be undone: it stays in the journal for the next start, or `ackord agent rollback`.
    pub fn close(mut self) -> Result<(), DaemonError> {
        self.places.leave();
        let Some(kept) = self.kept.take() else { return Ok(()) };
        if self.config.on_exit == OnExit::Keep {
            return kept.keep();
        }
        let are_clean = self.programs.pass(Pass::Clean, self.settings).is_ok();
        kept.undo(are_clean)
    }

    /// What it follows.
    pub fn config(&self) -> &AgentConfig {
        &self.config
    }
}

/// The levers of an application; none if it is not known which that is.
fn allowed(config: &AgentConfig, names: &[String]) -> Allowed {
    match names {
        [only] if only == UNKNOWN => Allowed::default(),
        names => config.allowed(names),
    }
}

/// What cannot be changed while it runs, if that is different: its key.
fn fixed(old: &AgentConfig, new: &AgentConfig) -> Option<&'static str> {
    let differs = [
        ("cgroup", old.cgroup != new.cgroup),
        ("by", old.by != new.by),
        ("quick", old.quick != new.quick),
        ("state", old.state != new.state),
        ("metrics", old.metrics != new.metrics),
    ];
    differs.into_iter().find_map(|(key, differs)| differs.then_some(key))
}

fn open_socket(config: &AgentConfig, asked: &Arc<Asked>) -> Result<ControlSocket, DaemonError> {
    std::fs::create_dir_all(&config.state)
        .map_err(|source| DaemonError::State { path: config.state.clone(), source })?;
    Ok(watch::listen(&config.state, Arc::clone(asked))?)
}

fn settings(config: &AgentConfig, acts: bool) -> RawSettings {
    RawSettings {
        mark: config.quick.filter(|_| acts).map_or(0, |quick| quick.mark),
        report_every_us: (config.limits.report_every.as_nanos() / 1_000) as u32,
        delack_stock_us: crate::DELACK_STOCK_US,
        by: config.by.raw(),
        pass: 0,
        own_pid: std::process::id(),
        control_per_mille: u32::from(config.control_per_mille()),
        nodelay_held: 0,
        untreated: 0,
    }
}

/// Answers for metrics. An agent that cannot does its work all the same, and says so.
fn metrics_at(listen: SocketAddr, asked: &Arc<Asked>) -> Option<Finding> {
    let asked = Arc::clone(asked);
    let served = serve_metrics(listen, move || watch::metrics(asked.shared.status()));
    served.err().map(|error| unserved(listen, &error))
}
