//! What outlives the agent: the journal and what stands there, the list of sockets, histories.

use super::DaemonError;
use crate::config::AgentConfig;
use crate::engine::{Do, Engine};
use crate::journal::{Journal, Made, What};
use crate::routes::{HostRoutes, QuickRoutes};
use crate::sockets::Sockets;
use crate::watch::HostStatus;
use ackord_daemon::Undone;
use ackord_history::{Segments, Store, Transfer};
use ackord_units::{Bytes, Time};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Transfers are written so often, seconds: each time is a write to disk.
const WRITE_EVERY: u64 = 10;
/// The limit that ARI's count has (`quick_ack_limit` of the ACK policy), and segments of Ethernet without options.
const SEGMENTS: Segments = Segments { size: Bytes(1_448), quick_ack_limit: 512 };

pub(super) struct Kept {
    journal: Journal,
    sockets: Sockets,
    quick: Option<QuickRoutes>,
    hosts: Option<HostRoutes>,
    history: Option<Store>,
    transfers: BTreeMap<String, Vec<Transfer>>,
    seconds: u64,
    /// Why the list of sockets could not be written.
    unlisted: Option<String>,
}

impl Kept {
    /// Undoes what an earlier process left, and makes what a configuration asks for.
    pub(super) fn open(config: &AgentConfig) -> Result<(Kept, Undone), DaemonError> {
        let state = |source| DaemonError::State { path: config.state.clone(), source };
        let (journal, undone) = Journal::open(&config.state).map_err(state)?;
        let list = config.state.join(Sockets::FILE);
        let history = config.history.as_deref().map(Store::open).transpose()?;
        let mark = config.quick.map_or(0, |quick| quick.mark);
        let sockets =
            Made::now(What::Sockets { mark, list: list.clone() }, "levers of connections");
        journal.will(&sockets).map_err(state)?;
        let mut kept = Kept {
            journal,
            sockets: Sockets::create(&list).map_err(state)?,
            quick: None,
            hosts: None,
            history,
            transfers: BTreeMap::new(),
            seconds: 0,
            unlisted: None,
        };
        match kept.make_routes(config).and_then(|()| kept.follow(config)) {
            Ok(()) => Ok((kept, undone)),
            Err(error) => {
                // What cannot be undone now stays in the journal.
                let _ = kept.undo(true);
                Err(error)
            }
        }
    }

    fn make_routes(&mut self, config: &AgentConfig) -> Result<(), DaemonError> {
        let failed = |source| DaemonError::System { what: "routes".to_owned(), source };
        let tables = [config.quick, config.routes.map(|routes| routes.table)];
        for table in tables.into_iter().flatten() {
            if let Some(why) = table.is_taken().map_err(failed)? {
                return Err(DaemonError::RoutesTaken(why));
            }
        }
        if let Some(table) = config.quick {
            let why = "acknowledgments at once, for connections with the mark";
            let quick = self.make(What::Routes(table), why, || QuickRoutes::make(table));
            self.quick = Some(quick.map_err(failed)?);
        }
        if let Some(routes) = config.routes {
            let why = "hosts to which packets overtake each other";
            let hosts = self.make(What::Routes(routes.table), why, || {
                HostRoutes::make(routes.table, routes.initcwnd)
            });
            self.hosts = Some(hosts.map_err(failed)?);
        }
        Ok(())
    }

    /// Makes a change of which the journal knows before.
    fn make<T>(
        &mut self,
        what: What,
        reason: &str,
        how: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let made = Made::now(what, reason);
        let mut result = None;
        self.journal.make(&made, || how().map(|one| result = Some(one)))?;
        result.ok_or_else(|| io::Error::other("made nothing"))
    }

    /// Settings of the network namespace.
    pub(super) fn follow(&mut self, config: &AgentConfig) -> Result<(), DaemonError> {
        let path = PathBuf::from("/proc/sys/net/ipv4/tcp_pingpong_thresh");
        let Some(wanted) = config.pingpong_thresh else { return Ok(()) };
        let failed = |source| DaemonError::System {
            what: "net.ipv4.tcp_pingpong_thresh".to_owned(),
            source,
        };
        let old = fs::read_to_string(&path).map_err(failed)?.trim_end().to_owned();
        let new = wanted.to_string();
        if old == new {
            return Ok(());
        }
        let what = What::Sysctl { path: path.clone(), old, new: new.clone() };
        self.make(what, "the configuration asks for it", || fs::write(&path, &new)).map_err(failed)
    }

    /// Takes note of what was done.
    pub(super) fn note(&mut self, what: &Do, engine: &Engine) -> Result<(), DaemonError> {
        match what {
            Do::Nodelay(cookie) => self.sockets.add(*cookie),
            Do::Gone(cookie) => self.sockets.remove(*cookie),
            Do::Transfer(index, transfer) if self.history.is_some() => {
                if let Some(one) = engine.applications().get(usize::from(*index)) {
                    let ended_at = Time::from_nanos(ackord_daemon::wall_nanos());
                    let transfer =
                        Transfer { size: transfer.size, ended_at, took: Some(transfer.took) };
                    self.transfers.entry(one.name().to_owned()).or_default().push(transfer);
                }
            }
            Do::Reordered(host, segments) => {
                if let Some(hosts) = &mut self.hosts {
                    let what = || format!("the route to {host}");
                    hosts
                        .reordered(*host, *segments)
                        .map_err(|source| DaemonError::System { what: what(), source })?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Once a second: the list of sockets, routes that follow, histories. Answers what of it failed.
    pub(super) fn each_second(&mut self, engine: &mut Engine) -> Vec<DaemonError> {
        self.seconds += 1;
        let of = |what: &str| {
            let what = what.to_owned();
            |source| DaemonError::System { what, source }
        };
        let list = self.sockets.write();
        self.unlisted = list.as_ref().err().map(ToString::to_string);
        let list = list.map_err(of("the list of sockets"));
        let quick = self.quick.as_ref().map_or(Ok(false), QuickRoutes::follow).map(drop);
        let histories = match self.seconds.is_multiple_of(WRITE_EVERY) {
            true => self.write_histories(engine),
            false => Ok(()),
        };
        let all = [list, quick.map_err(of("the quick routes")), histories];
        all.into_iter().filter_map(Result::err).collect()
    }

    /// Why the list of sockets cannot be written at present.
    pub(super) fn unlisted(&self) -> Option<&str> {
        self.unlisted.as_deref()
    }

    /// The sockets for which Nagle's algorithm was switched off and that no file has. They are regarded as put back.
    pub(super) fn take_unwritten(&mut self) -> Vec<u64> {
        let unwritten = self.sockets.unwritten();
        unwritten.iter().for_each(|cookie| self.sockets.remove(*cookie));
        unwritten
    }

    fn write_histories(&mut self, engine: &mut Engine) -> Result<(), DaemonError> {
        let Some(store) = &self.history else { return Ok(()) };
        let now = Time::from_nanos(ackord_daemon::wall_nanos());
        let new: Vec<_> = std::mem::take(&mut self.transfers).into_iter().collect();
        if !new.is_empty() {
            store.import(&new, now)?;
        }
        let names: Vec<String> =
            engine.applications().iter().map(|one| one.name().to_owned()).collect();
        for (index, name) in (0_u16..).zip(&names) {
            let history = store.get(name)?;
            if history.transfers() > 0 {
                engine.advise(index, history.advice(now, SEGMENTS));
            }
        }
        Ok(())
    }

    /// What stands, each in words.
    pub(super) fn standing(&self) -> Vec<String> {
        self.journal.standing()
    }

    /// Hosts with a route of their own.
    pub(super) fn hosts(&self) -> Vec<HostStatus> {
        let hosts = self.hosts.iter().flat_map(HostRoutes::hosts);
        hosts
            .map(|(address, reordering_segments)| HostStatus { address, reordering_segments })
            .collect()
    }

    /// Everything as it was, as far as it can be: the rest stays in the journal. Where sockets are as they were
    /// already nobody needs the list of them, for which a full disk has no room.
    pub(super) fn undo(mut self, are_clean: bool) -> Result<(), DaemonError> {
        let failed = |source| DaemonError::System { what: "what was changed".to_owned(), source };
        self.sockets.write().or_else(|why| if are_clean { Ok(()) } else { Err(failed(why)) })?;
        let left = self.journal.undo_all().map_err(failed)?.left;
        match left.is_empty() {
            true => Ok(()),
            false => Err(failed(io::Error::other(left.join("; ")))),
        }
    }

    /// Everything stays, and the journal says so, for `ackord agent rollback` or the next start.
    pub(super) fn keep(mut self) -> Result<(), DaemonError> {
        let list = |source| DaemonError::System { what: "the list of sockets".to_owned(), source };
        self.sockets.write().map_err(list)
    }
}
