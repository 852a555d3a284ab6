//! An agent's status in Prometheus' words.
//!
//! Not there: a metric per connection (labels of unbounded number).

use super::{ApplicationStatus, Standing, Status, TurnsStatus};
use ackord_daemon::metrics::{Compare, Metric, Page, Unit, page};
use std::fmt;

/// Before every name.
const PREFIX: &str = "ackord_agent";

/// A status as OpenMetrics text.
pub fn metrics(status: Status) -> String {
    page(PREFIX, move |page| {
        process(page, &status)?;
        connections(page, &status)?;
        turns(page, status.turns.as_ref())?;
        applications(page, &status.applications)?;
        levers(page, &status.applications)
    })
}

fn process(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    page.process(&status.process)?;
    let acts = "Whether it pulls levers (1) or only observes (0)";
    page.gauge(Metric("acts", acts, None), f64::from(u8::from(status.acts)))?;
    let lost = "Reports of its programs that were lost";
    page.counter(Metric("lost_reports", lost, None), status.reports_lost)?;
    let refused = "Changes of options that the kernel did not take";
    page.counter(Metric("refused_changes", refused, None), status.refused)?;
    let orders = "Orders given to single connections";
    page.counter(Metric("orders", orders, None), status.orders)?;
    page.findings(&status.health)
}

fn connections(page: &mut Page<'_, '_>, status: &Status) -> fmt::Result {
    let rest = status.connections.saturating_sub(status.treated + status.control);
    let groups = [("treated", status.treated), ("control", status.control), ("untreated", rest)]
        .map(|(group, count)| (vec![("group", group)], count as f64));
    page.gauges(
        Metric("connections", "Connections it follows, by what is done", None),
        groups.into(),
    )?;
    let seen = Metric("connections_seen", "Connections since its start", None);
    page.counter(seen, status.connections_in_all)?;
    let unobserved = "Of these, connections that were too short and too many to be followed";
    page.counter(
        Metric("connections_unobserved", unobserved, None),
        status.connections_unobserved,
    )?;
    let unfollowed = "Connections for which there was no room";
    page.counter(Metric("connections_unfollowed", unfollowed, None), status.unfollowed)
}

/// What turns of the whole host show.
fn turns(page: &mut Page<'_, '_>, turns: Option<&TurnsStatus>) -> fmt::Result {
    let Some(turns) = turns else { return Ok(()) };
    let now = "Whether settings are at work in the present turn (1) or not (0)";
    page.gauge(Metric("turns_treated", now, None), f64::from(u8::from(turns.treated_now)))?;
    let blocks = "Complete blocks of turns with settings and without";
    page.gauge(Metric("turns_blocks", blocks, None), turns.blocks as f64)?;
    let known = turns.changes().into_iter().filter_map(|(of, change)| Some((of, change?)));
    let bounds = known.flat_map(|(of, change)| {
        let each = [("mean", change.mean), ("low", change.low), ("high", change.high)];
        each.map(|(bound, percent)| (vec![("of", of), ("bound", bound)], 0.01 * percent))
    });
    let ratio = Unit::Other("ratio".to_owned());
    let change = "Change of the whole host by settings: mean, and the ends of its 95 % interval";
    page.gauges(Metric("turns_change", change, Some(ratio)), bounds.collect::<Vec<_>>())
}

fn applications(page: &mut Page<'_, '_>, all: &[ApplicationStatus]) -> fmt::Result {
    let gauges = |value: fn(&ApplicationStatus) -> f64| {
        all.iter().map(|one| (vec![("application", one.name.as_str())], value(one))).collect()
    };
    let seconds = || Some(Unit::Seconds);
    let active = "Time in exchanges so far";
    page.gauges(Metric("application_active", active, seconds()), gauges(|one| one.active_s))?;
    let lost = |cause| {
        move |one: &ApplicationStatus| match cause {
            "nagle" => (one.nagle_s, one.nagle_stalls),
            _ => (one.delayed_ack_s, one.delayed_ack_stalls),
        }
    };
    let mut times = Vec::new();
    let mut stalls = Vec::new();
    for one in all {
        for cause in ["nagle", "delayed_ack"] {
            let labels = || vec![("application", one.name.as_str()), ("cause", cause)];
            let (time, count) = lost(cause)(one);
            times.push((labels(), time));
            stalls.push((labels(), count));
        }
    }
    page.gauges(Metric("application_lost", "Time lost so far", seconds()), times)?;
    page.counters(Metric("application_stalls", "Waits of 10 ms and longer", None), stalls)
}

fn levers(page: &mut Page<'_, '_>, all: &[ApplicationStatus]) -> fmt::Result {
    let mut at_work = Vec::new();
    let (mut goodput, mut lost) = (Compare::default(), Compare::default());
    for one in all {
        for lever in one.levers.iter().filter(|lever| lever.standing != Standing::Off) {
            let labels =
                || vec![("application", one.name.as_str()), ("lever", lever.lever.as_str())];
            let grouped = |group| [labels(), vec![("group", group)]].concat();
            at_work.push((labels(), f64::from(u8::from(lever.standing == Standing::AtWork))));
            goodput.add(&grouped, &lever.goodput_bit_s, 1.0);
            lost.add(&grouped, &lever.lost_percent, 0.01);
        }
    }
    let standing = "Whether a lever is at work (1) for an application or not (0)";
    page.gauges(Metric("lever_at_work", standing, None), at_work)?;
    let rate = || Some(Unit::Other("bits_per_second".to_owned()));
    let mean = "Goodput of a connection in exchanges, mean";
    page.gauges(Metric("lever_goodput", mean, rate()), goodput.means)?;
    let half = "Half the width of its 95 % interval";
    page.gauges(Metric("lever_goodput_ci95", half, rate()), goodput.halves)?;
    let ratio = || Some(Unit::Other("ratio".to_owned()));
    let share = "Share of the time in exchanges that is lost, mean";
    page.gauges(Metric("lever_lost", share, ratio()), lost.means)?;
    page.gauges(Metric("lever_lost_ci95", half, ratio()), lost.halves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::LeverStatus;
    use ackord_daemon::status::Change;

    #[test]
    fn a_status_is_told_in_metrics() {
        let lever = LeverStatus {
            lever: "nodelay".to_owned(),
            standing: Standing::AtWork,
            ..LeverStatus::default()
        };
        let application = ApplicationStatus {
            name: "web".to_owned(),
            nagle_s: 1.5,
            nagle_stalls: 30,
            levers: vec![lever],
            ..ApplicationStatus::default()
        };
        let change = Change { mean: -2.5, low: -3.0, high: -2.0 };
        let turns = TurnsStatus {
            treated_now: true,
            blocks: 9,
            time_per_byte_percent: Some(change),
            ..TurnsStatus::default()
        };
        let status = Status {
            turns: Some(turns),
            connections: 9,
            treated: 7,
            control: 1,
            applications: vec![application],
            ..Status::default()
        };
        let text = metrics(status);
        for line in [
            "ackord_agent_connections{group=\"untreated\"} 1.0",
            "ackord_agent_application_lost_seconds{application=\"web\",cause=\"nagle\"} 1.5",
            "ackord_agent_application_stalls_total{application=\"web\",cause=\"nagle\"} 30",
            "ackord_agent_turns_treated 1.0",
            "ackord_agent_turns_blocks 9.0",
            "ackord_agent_turns_change_ratio{of=\"time per byte\",bound=\"low\"} -0.03",
            "ackord_agent_lever_at_work{application=\"web\",lever=\"nodelay\"} 1.0",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
