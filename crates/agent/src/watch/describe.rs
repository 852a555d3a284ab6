//! An engine into a status.

use super::control::{ExplainAnswer, Explained, Of};
use super::status::{
    ApplicationStatus, HistoryStatus, HostStatus, LeverStatus, ReachedStatus, Standing, Status,
    TurnsStatus,
};
use crate::application::Application;
use crate::cgroups::Cgroups;
use crate::connection::Connection;
use crate::engine::Engine;
use crate::lever::{self, Lever, Why};
use crate::report::Arm;
use ackord_daemon::status::{Compared, Process};
use ackord_daemon::{Finding, Severity};
use std::collections::BTreeSet;

/// What a description needs beside the engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circumstances {
    pub(crate) config: String,
    pub(crate) reloads: u64,
    pub(crate) began_unix_s: f64,
    pub(crate) cgroups: Vec<String>,
    pub(crate) by: String,
    pub(crate) stands_aside: Option<String>,
    pub(crate) reports_lost: u64,
    pub(crate) refused: u64,
    pub(crate) findings: Vec<Finding>,
    pub(crate) hosts: Vec<HostStatus>,
    pub(crate) journal: Vec<String>,
}

/// So many connections, or so much time in exchanges, are enough to say that there is nothing to gain.
const ENOUGH_CONNECTIONS: u64 = 20;
const ENOUGH_ACTIVE_S: f64 = 10.0;

/// An engine as it stands.
pub(crate) fn describe(engine: &Engine, circumstances: Circumstances) -> Status {
    let mut applications: Vec<ApplicationStatus> =
        engine.applications().iter().map(application).collect();
    applications.sort_by(|one, other| {
        let by = |one: &ApplicationStatus| (one.lost_s(), one.connections_in_all as f64);
        by(other).partial_cmp(&by(one)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let sum = |of: fn(&ApplicationStatus) -> u64| applications.iter().map(of).sum::<u64>();
    let active: f64 = applications.iter().map(|one| one.active_s).sum();
    let enough =
        sum(|one| one.connections_in_all) >= ENOUGH_CONNECTIONS || active >= ENOUGH_ACTIVE_S;
    let useful = |one: &Application| Lever::ALL.iter().any(|lever| one.trial(*lever).is_at_work());
    let nothing_to_gain =
        enough && circumstances.hosts.is_empty() && !engine.applications().iter().any(useful);
    let unobserved = engine.stats().unnamed + sum(|one| one.connections_unobserved);
    let mut status = Status {
        process: Process::now(
            ackord_daemon::unix_s() - circumstances.began_unix_s,
            circumstances.config,
            circumstances.reloads,
        ),
        cgroups: circumstances.cgroups,
        by: circumstances.by,
        acts: engine.config().acts,
        connections: engine.connections().len() as u64,
        connections_in_all: engine.stats().connections + unobserved,
        connections_unobserved: unobserved,
        unfollowed: engine.stats().unfollowed,
        treated: sum(|one| one.treated),
        control: sum(|one| one.control),
        reports_lost: circumstances.reports_lost,
        refused: circumstances.refused,
        orders: engine.stats().orders,
        stands_aside: circumstances.stands_aside,
        turns: turns(engine),
        applications,
        nothing_to_gain,
        hosts: circumstances.hosts,
        journal: circumstances.journal,
        health: circumstances.findings,
    };
    status.health.extend(findings(&status));
    status.health.extend(unreached(engine));
    status.health.sort_by_key(|one| one.severity);
    status
}

/// What turns have shown, as long as they are taken and thereafter.
fn turns(engine: &Engine) -> Option<TurnsStatus> {
    let compared = engine.turns_compared();
    let is_shown = engine.switches() || compared.blocks > 0;
    is_shown.then(|| TurnsStatus::of(compared, engine.is_turn_treated()))
}

fn findings(status: &Status) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |severity, what: String, advice: &str| {
        found.push(Finding { severity, what, advice: advice.to_owned() });
    };
    if let Some(why) = &status.stands_aside {
        say(
            Severity::Warning,
            format!("it stands aside and only observes: {why}"),
            "End the other program, or leave it to that.",
        );
    }
    if status.reports_lost > 0 {
        let what = format!(
            "{} reports of connections were lost: there were too many at once",
            status.reports_lost
        );
        say(Severity::Warning, what, "Raise `report_every` under [limits].");
    }
    if status.refused > 0 {
        let what = format!("the kernel did not take {} changes of options", status.refused);
        say(Severity::Remark, what, "`ackord agent probe` says which levers this kernel has.");
    }
    if status.unfollowed > 0 {
        let what = format!("there was no room for {} connections", status.unfollowed);
        say(Severity::Remark, what, "Raise `connections` under [limits].");
    }
    if status.nothing_to_gain {
        say(
            Severity::Remark,
            "nothing to gain here".to_owned(),
            "No application loses time that a lever would save: the agent can be taken away.",
        );
    }
    found
}

/// Levers that are at work for nobody.
fn unreached(engine: &Engine) -> Vec<Finding> {
    let mut found = Vec::new();
    for one in engine.applications() {
        for lever in Lever::ALL {
            let (trial, lever) = (one.trial(lever), lever.name());
            let reached = trial.reached();
            if engine.config().acts && trial.is_at_work() && reached.is_none() {
                let (name, all) = (one.name(), reached.connections);
                found.push(Finding {
                    severity: Severity::Warning,
                    what: format!(
                        "`{lever}` is at work for `{name}`, but 0 of {all} connections are treated"
                    ),
                    advice: "Its sockets may be older than the agent, or each of its processes may count as another \
                             program: restart it, or tell applications apart by `cgroup`."
                        .to_owned(),
                });
            }
        }
    }
    found
}

fn application(one: &Application) -> ApplicationStatus {
    let total = one.total();
    let [connections_in_all, connections, treated, control] = one.counted();
    ApplicationStatus {
        name: one.name().to_owned(),
        connections,
        connections_in_all,
        connections_unobserved: one.unobserved(),
        treated,
        control,
        bytes: total.bytes,
        active_s: total.active.as_secs_f64(),
        nagle_s: total.nagle.as_secs_f64(),
        nagle_stalls: u64::from(total.nagle_stalls),
        delayed_ack_s: total.delack.as_secs_f64(),
        delayed_ack_stalls: u64::from(total.delack_stalls),
        history: one.advice().map(|advice| HistoryStatus {
            verdict: advice.verdict.name().to_owned(),
            most_sent_bytes: advice.most_sent.map(|size| size.get()),
            quick_ack_segments: advice.quick_ack_segments,
            reason: advice.reason.clone(),
        }),
        levers: Lever::ALL.into_iter().map(|lever| lever_status(one, lever)).collect(),
    }
}

fn lever_status(one: &Application, lever: Lever) -> LeverStatus {
    let trial = one.trial(lever);
    let compared = trial.compared();
    let (treated, control) = (&compared.treated, &compared.control);
    LeverStatus {
        lever: lever.name().to_owned(),
        standing: match trial.standing() {
            lever::Standing::Off => Standing::Off,
            lever::Standing::Watching => Standing::Watching,
            lever::Standing::AtWork { .. } => Standing::AtWork,
            lever::Standing::Withdrawn { why, .. } => {
                Standing::Withdrawn { why: Why::told(why).to_owned() }
            }
        },
        reached: ReachedStatus {
            connections: trial.reached().connections,
            treated: trial.reached().treated,
        },
        goodput_bit_s: Compared::of(treated.rate, control.rate, 1.0),
        lost_percent: Compared::of(treated.stalled_share, control.stalled_share, 100.0),
    }
}

/// More connections are not explained at once.
const EXPLAINED: usize = 50;

/// The connections that are asked for, each with what is done about it and why.
pub(crate) fn explained(engine: &Engine, of: &Of) -> ExplainAnswer {
    let cgroups: BTreeSet<u64> = match of {
        Of::Cgroup(path) => Cgroups::below(path).all().map(|(number, _)| number).collect(),
        _ => BTreeSet::new(),
    };
    let is_asked = |one: &&Connection| match of {
        Of::Cgroup(_) => cgroups.contains(&one.cgroup),
        Of::Pid(pid) => one.pid == *pid,
        Of::Port(port) => {
            one.ends.is_some_and(|(local, remote)| local.port() == *port || remote.port() == *port)
        }
        Of::Application(name) => engine
            .applications()
            .get(usize::from(one.application))
            .is_some_and(|app| app.names().contains(name)),
    };
    let all: Vec<&Connection> = engine.connections().values().filter(is_asked).collect();
    let connections = all.iter().take(EXPLAINED).map(|one| explain_one(engine, one)).collect();
    let in_all = all.len() as u64;
    let Of::Application(name) = of else {
        return ExplainAnswer { connections, in_all, ..ExplainAnswer::default() };
    };
    let called = engine.applications().iter().filter(|one| one.names().contains(name));
    let applications: Vec<ApplicationStatus> = called.map(application).collect();
    let known = engine.applications().iter().flat_map(Application::names);
    let nearest = ackord_units::nearest_name(name, known.map(String::as_str)).map(str::to_owned);
    let nearest = nearest.filter(|_| applications.is_empty());
    ExplainAnswer { connections, in_all, applications, nearest }
}

fn explain_one(engine: &Engine, one: &Connection) -> Explained {
    let application = engine.applications().get(usize::from(one.application));
    let (local, remote) = one
        .ends
        .map_or_else(Default::default, |(local, remote)| (local.to_string(), remote.to_string()));
    let mut why = Vec::new();
    match one.arm {
        Arm::Control => why.push("left alone, to be compared with".to_owned()),
        Arm::Observed => {
            why.push("nothing was at work for its application when it began".to_owned())
        }
        Arm::Treated => why.push("treated".to_owned()),
    }
    let own = one.own.names();
    if !own.is_empty() {
        why.push(format!("the application has set {} itself: not touched", own.join(", ")));
    }
    for lever in Lever::ALL {
        if let Some(app) = application {
            why.push(format!("{}: {}", lever.name(), lever_status(app, lever).standing.told()));
        }
    }
    Explained {
        local,
        remote,
        pid: one.pid,
        application: application.map_or_else(String::new, |app| app.name().to_owned()),
        was_there: one.was_there,
        active_s: one.figures.active.as_secs_f64(),
        nagle_s: one.figures.nagle.as_secs_f64(),
        nagle_stalls: u64::from(one.figures.nagle_stalls),
        delayed_ack_s: one.figures.delack.as_secs_f64(),
        delayed_ack_stalls: u64::from(one.figures.delack_stalls),
        levers: one.levers_at_work(),
        delack_max_ms: one.delack_max().map(|span| span.as_secs_f64() * 1e3),
        why,
    }
}
