//! The gateway as a process: a configuration at work between real interfaces, until it is asked to end.
//!
//! | file | what |
//! | --- | --- |
//! | `daemon.rs` | [`Daemon`]: from a configuration to its work; reloads |
//! | `daemon/describe.rs` | how it stands, as a [`Status`](crate::watch::Status) |
//! | `daemon/health.rs` | what an operator should know or change |
//! | `daemon/carried.rs` | bytes that pass an interface unobserved |
//! | `daemon/queues.rs` | the queues in the path |
//! | `daemon/error.rs` | why it cannot be |
//!
//! One loop observes and injects. It waits for nobody: questions are answered by threads of their own from
//! what it publishes once a second.

mod carried;
mod describe;
mod error;
mod health;
mod queues;
mod subscribers;

use crate::config::{CannotReload, Effect, GatewayConfig, LimitsConfig, Reload};
use crate::watch::{ControlSocket, Finding, Reloaded, Shared, listen, serve_metrics};
use crate::{
    AttachBy, Claims, Class, ClassConfig, Classify, Drive, Engine, EngineConfig, Interface,
    Journal, Port, Removal, Standing, Supervisor, Undone, Wishes, kinds,
};
use ackord_daemon::metrics::unserved;
use ackord_path::registry::ProxyChoice;
use ackord_units::{Knob, KnobKind, KnobValue, Knobs, Span, Time};
use describe::Described;
use queues::Queues;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub use error::DaemonError;

/// How often it is described anew.
const DESCRIBE_EVERY: Span = Span::from_secs(1);
/// The name of the control socket in the state directory.
pub const SOCKET: &str = "gateway.sock";

/// What a daemon tells while it runs.
#[derive(Debug)]
pub enum News<'a> {
    /// It observes and, where it may, injects. An earlier one may have left something to be undone.
    Began(&'a GatewayConfig, &'a Undone),
    /// A configuration was taken.
    Reloaded(&'a GatewayConfig, &'a Reload),
    /// It was not; the one before goes on.
    NotReloaded(&'a DaemonError),
    /// The remedy of a class stood down, or is tried anew.
    Standing(&'a str, Standing),
    /// An interface is not there (`false`), or is there again.
    Interface(&'a str, bool),
    /// A second has passed.
    Second,
}

/// A configuration at work.
#[derive(Debug)]
pub struct Daemon {
    config: GatewayConfig,
    /// Where it was read from.
    file: Option<PathBuf>,
    drive: Drive,
    claims: Arc<Claims>,
    queues: Queues,
    undone: Undone,
    shared: Arc<Shared>,
    supervisor: Supervisor,
    /// Why nobody can ask for metrics.
    unmeasured: Option<Finding>,
    described: Described,
    describe_at: Time,
    /// Last, so that it is gone when everything else is.
    _socket: ControlSocket,
}

impl Daemon {
    /// Opens what a configuration asks for; `file` is where it is read from again. Interfaces that are not there yet
    /// are waited for.
    ///
    /// # Errors
    /// If the process lacks a privilege, or another gateway has the state directory or a LAN interface.
    pub fn open(config: GatewayConfig, file: Option<PathBuf>) -> Result<Daemon, DaemonError> {
        std::fs::create_dir_all(&config.state)
            .map_err(|source| DaemonError::State { path: config.state.clone(), source })?;
        let shared = Arc::new(Shared::default());
        let socket = listen(&config.state.join(SOCKET), Arc::clone(&shared))?;
        let claims = Arc::default();
        let ports = ports(&config, &claims)?;
        let engine =
            Engine::new(engine_config(&config, &ports), classes(&config), classify(&config));
        let (journal, undone) = Journal::open(&config.state)
            .map_err(|source| DaemonError::State { path: config.state.clone(), source })?;
        let journal = Arc::new(journal);
        let removal = Removal::new(Arc::clone(&journal), AttachBy::Best);
        let drive = Drive::new(ports, engine, removal);
        let mut queues = Queues::new(journal);
        queues.follow(&config)?;
        let unmeasured = config.metrics.and_then(|listen| metrics_at(listen, &shared));
        let described = Described::new(file.as_deref());
        let describe_at = Time::ZERO;
        Ok(Daemon {
            config,
            file,
            drive,
            claims,
            queues,
            undone,
            shared,
            supervisor: Supervisor::of_process(),
            unmeasured,
            described,
            describe_at,
            _socket: socket,
        })
    }

    /// Works until somebody wishes it to end.
    ///
    /// # Errors
    /// Where the kernel refuses to wait.
    pub fn run(
        &mut self,
        wishes: &Wishes,
        mut tell: impl FnMut(&News<'_>),
    ) -> Result<(), DaemonError> {
        tell(&News::Began(&self.config, &self.undone));
        self.supervisor.ready("observing");
        let mut there = vec![true; self.drive.ports().len()];
        let mut stood = self.standings();
        loop {
            if self.shared.is_to_stop() || wishes.stop.load(Ordering::Relaxed) {
                self.supervisor.stopping();
                return Ok(());
            }
            let requests = self.shared.reload_requests();
            if wishes.reload.swap(false, Ordering::Relaxed) || !requests.is_empty() {
                self.supervisor.reloading();
                let answer = match self.reload() {
                    Ok(reload) => {
                        tell(&News::Reloaded(&self.config, &reload));
                        Reloaded::taken(&reload)
                    }
                    Err(error) => {
                        self.described.refuse_reload(&error);
                        self.describe_at = Time::ZERO;
                        tell(&News::NotReloaded(&error));
                        Reloaded::Refused(error.to_string())
                    }
                };
                // Who no longer waits for it needs no answer.
                requests.iter().for_each(|request| drop(request.send(answer.clone())));
                there = vec![true; self.drive.ports().len()];
                stood = self.standings();
                self.supervisor.ready("observing");
            }
            self.drive.turn().map_err(DaemonError::Wait)?;
            for (port, was) in self.drive.ports().iter().zip(&mut there) {
                let is = port.index().is_some();
                if is != *was {
                    *was = is;
                    tell(&News::Interface(port.name(), is));
                }
            }
            for (class, was) in self.drive.engine().classes().iter().zip(&mut stood) {
                if class.standing() != *was {
                    *was = class.standing();
                    tell(&News::Standing(class.name(), *was));
                }
            }
            if self.after_turn().is_break() {
                tell(&News::Second);
            }
        }
    }

    fn standings(&self) -> Vec<Standing> {
        self.drive.engine().classes().iter().map(Class::standing).collect()
    }

    /// What each turn asks for; breaks where a second has passed.
    fn after_turn(&mut self) -> ControlFlow<()> {
        self.shared.beat();
        let now = self.drive.now();
        self.supervisor.turn(now);
        self.drive.engine_mut().taps().renew(&self.shared);
        if now < self.describe_at {
            return ControlFlow::Continue(());
        }
        self.describe_at = now + DESCRIBE_EVERY;
        let queues = self.queues.status();
        let mut status = self.described.status(&self.config, &mut self.drive, (queues, now));
        status.health.extend(self.unmeasured.clone());
        status.health.sort_by_key(|finding| finding.severity);
        let flows = &status.flows;
        let mut line = format!(
            "{} connections, {} treated, {} held; {} segments injected",
            flows.known, flows.treated, flows.held, status.injected_segments,
        );
        let absent = self.drive.ports().iter().filter(|port| port.index().is_none());
        for port in absent {
            line.push_str(&format!("; waiting for the interface {}", port.name()));
        }
        self.supervisor.status(&line);
        self.shared.publish(status);
        ControlFlow::Break(())
    }

    /// Reads the configuration anew and goes on by it. Every connection stays.
    fn reload(&mut self) -> Result<Reload, DaemonError> {
        let path = self.file.as_deref().ok_or(DaemonError::NoFile)?;
        let config = read(path)?;
        let reload = Reload::between(&self.config, &config)
            .map_err(|why: CannotReload| DaemonError::CannotReload(why.to_string()))?;
        let new_ports = match reload.needs(Effect::NewRing) {
            true => Some(ports(&config, &self.claims)?),
            false => None,
        };
        let ports = new_ports.as_deref().unwrap_or(self.drive.ports());
        let engine = engine_config(&config, ports);
        self.queues.follow(&config)?;
        self.drive.engine_mut().change(engine, classes(&config), classify(&config));
        if let Some(ports) = new_ports {
            self.drive.exchange(ports);
        }
        for port in self.drive.ports_mut() {
            port.copy_at_most(config.limits.copied);
        }
        self.config = config;
        self.described.take_reload();
        self.describe_at = Time::ZERO;
        Ok(reload)
    }

    /// What it shows, for whoever answers questions.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What it follows.
    pub fn config(&self) -> &GatewayConfig {
        &self.config
    }
}

/// Answers for metrics. A gateway that cannot does its work all the same, and says so.
fn metrics_at(listen: SocketAddr, shared: &Arc<Shared>) -> Option<Finding> {
    let error = serve_metrics(listen, Arc::clone(shared)).err()?;
    tracing::warn!(%listen, %error, "no metrics at {listen}: {error}");
    Some(unserved(listen, &error))
}

fn read(path: &Path) -> Result<GatewayConfig, DaemonError> {
    let file = crate::config::ConfigFile::open(path)?;
    Ok(file.check()?)
}

fn ports(config: &GatewayConfig, claims: &Arc<Claims>) -> Result<Vec<Port>, DaemonError> {
    let lan = (0_u8..).zip(&config.lan).map(|(which, name)| (name, Interface::Lan(which)));
    let marks = config.rules.marks();
    std::iter::once((&config.wan, Interface::Wan))
        .chain(lan)
        .map(|(name, interface)| {
            let marks = if interface == Interface::Wan { &[] } else { &marks[..] };
            let mut port = Port::await_interface(name, interface, marks, claims)
                .map_err(|source| DaemonError::Interface { name: name.clone(), source })?;
            port.copy_at_most(config.limits.copied);
            Ok(port)
        })
        .collect()
}

fn engine_config(config: &GatewayConfig, ports: &[Port]) -> EngineConfig {
    let (wan, lan) = kinds(ports);
    EngineConfig {
        limits: config.limits.limits(),
        wan,
        lan,
        control_per_mille: config.control_per_mille(),
        stand_down: config.harm.stand_down(),
        turns: config.turns.turns(),
    }
}

/// A class for each rule and one for the default, as they are counted by [`classify`].
fn classes(config: &GatewayConfig) -> Vec<ClassConfig> {
    let with_room = |remedy: &ProxyChoice| {
        let mut remedy = remedy.clone();
        for (knob, room) in room(&config.limits, &remedy) {
            assert!(remedy.set(knob, room), "a knob that it lists");
        }
        remedy
    };
    let each = config.rules.iter();
    each.map(|(_, name, remedy)| ClassConfig {
        name: name.to_owned(),
        remedy: remedy.map(with_room),
    })
    .collect()
}

/// A box has room for whoever the gateway knows and for what it keeps, unless somebody has said something
/// else: as far as its knobs go.
fn room(limits: &LimitsConfig, remedy: &ProxyChoice) -> Vec<(&'static str, KnobValue)> {
    let knobs = remedy.mechanism().knobs;
    let tells_apart = knobs.iter().any(|knob| knob.name == "cache_per_flow");
    let value = |knob: &Knob| match (knob.name, &knob.kind) {
        ("flows", KnobKind::Count { min, max, .. }) => {
            Some(KnobValue::Count((limits.connections as u64).clamp(*min, *max)))
        }
        // Of a box without `cache_per_flow` the cache is each connection's own.
        (name @ ("cache" | "cache_per_flow"), KnobKind::Bytes { min, max }) => {
            let of_all = name == "cache" && tells_apart;
            let room = if of_all { limits.cache } else { limits.cache_per_flow };
            Some(KnobValue::Bytes(room.clamp(*min, *max)))
        }
        _ => None,
    };
    // A choice that was checked has every knob, most of them at their defaults.
    let is_unsaid = |knob: &&Knob| {
        let said = remedy.value(knob.name);
        said.is_none() || said == knob.default_value()
    };
    let unsaid = knobs.iter().filter(is_unsaid);
    unsaid.filter_map(|knob| Some((knob.name, value(knob)?))).collect()
}

fn classify(config: &GatewayConfig) -> Classify {
    let rules = config.rules.clone();
    Box::new(move |facts| rules.classify(facts).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigFile;

    #[test]
    fn a_box_has_the_room_that_the_limits_say_unless_it_was_told_another() {
        let text = "wan = \"a\"\nlan = \"b\"\nremedy = { kind = \"proxy-tcp\", cache = \"9 MB\" }\n\
                    [limits]\nconnections = 7\ncache_per_flow = \"20 kB\"\ncache = \"30 MB\"\n\
                    [[rule]]\nname = \"snooped\"\nmark = 1\nremedy = \"snoop\"\n\
                    [[rule]]\nname = \"alone\"\nmark = 2\nremedy = \"none\"\n";
        let config = ConfigFile::new("gateway.toml", text).check().expect("it is sound");
        let rooms = |class: ClassConfig| {
            let said = |knob: &str| Some(class.remedy.as_ref()?.value(knob)?.to_string());
            (class.name.clone(), ["flows", "cache", "cache_per_flow"].map(said))
        };
        let found: Vec<_> = classes(&config).into_iter().map(rooms).collect();
        let some = |text: &str| Some(text.to_owned());
        let expected = [
            ("snooped".to_owned(), [some("7"), some("20 kB"), None]),
            ("alone".to_owned(), [None, None, None]),
            ("default".to_owned(), [some("7"), some("9 MB"), some("20 kB")]),
        ];
        assert_eq!(found, expected);
    }
}
