//! What a configuration changes on its machine, as commands that one can paste, each with its undoing.

use crate::config::{AgentConfig, OnExit};
use crate::lever::Lever;
use crate::routes::Table;

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is for.
    pub what: String,
    /// Commands that do the same, or nearly.
    pub commands: Vec<String>,
    /// Commands that undo it; none where it vanishes with the process.
    pub undo: Vec<String>,
}

/// What a configuration changes, in the order in which it is made.
pub fn plan(config: &AgentConfig) -> Vec<Step> {
    let mut steps = Vec::new();
    let place = config
        .cgroup
        .as_ref()
        .map_or_else(|| "the root".to_owned(), |path| path.display().to_string());
    steps.push(Step {
        what: format!("programs at control group {place}: they go with the process"),
        commands: Vec::new(),
        undo: Vec::new(),
    });
    if let Some(table) = config.quick {
        steps.push(Step {
            what: "a copy of the main table with `quickack`, for connections with the mark".to_owned(),
            commands: rules(table, "add")
                .chain([format!("ip route show table main   # each once more: ip route add ... table {} quickack 1", table.table)])
                .collect(),
            undo: undo(table),
        });
    }
    if let Some(routes) = config.routes {
        let initcwnd =
            routes.initcwnd.map_or_else(String::new, |segments| format!(" initcwnd {segments}"));
        steps.push(Step {
            what: "routes of single hosts to which packets overtake each other".to_owned(),
            commands: rules(routes.table, "add")
                .chain([format!(
                    "ip route add HOST via GATEWAY dev DEVICE table {} reordering N{initcwnd}",
                    routes.table.table
                )])
                .collect(),
            undo: undo(routes.table),
        });
    }
    if let Some(thresh) = config.pingpong_thresh {
        steps.push(Step {
            what: "after how many answers the kernel delays acknowledgments".to_owned(),
            commands: vec![format!("sysctl -w net.ipv4.tcp_pingpong_thresh={thresh}")],
            undo: vec!["sysctl -w net.ipv4.tcp_pingpong_thresh=   # as it is now".to_owned()],
        });
    }
    steps.extend(sockets(config));
    steps
}

fn sockets(config: &AgentConfig) -> Vec<Step> {
    let rules = config.applications.iter().flat_map(|rule| &rule.levers);
    let wanted: Vec<Lever> = config.levers.iter().chain(rules).copied().collect();
    let back = match config.on_exit {
        OnExit::Restore => vec!["ackord agent stop   # or rollback, after a crash".to_owned()],
        OnExit::Keep => vec!["ackord agent rollback".to_owned()],
    };
    let of = |lever: Lever| match lever {
        Lever::Nodelay => {
            "TCP_NODELAY at new connections of applications that lose time to Nagle's algorithm"
        }
        Lever::DelayedAck => {
            "a bound for delayed acknowledgments of connections whose peers wait for them (TCP_BPF_DELACK_MAX)"
        }
        Lever::QuickAck => {
            "the mark at new connections of applications with short transfers, for as many segments"
        }
    };
    let share = config.control;
    Lever::ALL
        .into_iter()
        .filter(|lever| wanted.contains(lever))
        .map(|lever| Step {
            what: format!("{}: {}; of them {share} are left alone", lever.name(), of(lever)),
            commands: Vec::new(),
            undo: back.clone(),
        })
        .collect()
}

fn rules(table: Table, how: &str) -> impl Iterator<Item = String> {
    let mark = match table.mark {
        0 => String::new(),
        mark => format!(" fwmark {mark:#x}/{mark:#x}"),
    };
    ["-4", "-6"]
        .into_iter()
        .map(move |family| {
            format!(
                "ip {family} rule {how}{mark} table {} priority {}",
                table.table, table.priority
            )
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn undo(table: Table) -> Vec<String> {
    let flush = ["-4", "-6"].map(|family| format!("ip {family} route flush table {}", table.table));
    rules(table, "del").chain(flush).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigFile;

    #[test]
    fn a_plan_has_a_step_for_each_change_and_how_it_is_undone() {
        let text = "pingpong_thresh = 3\n[quick]\n[routes]\ninitcwnd = 20\n";
        let config = ConfigFile::new("agent.toml", text).check().expect("sound");
        let steps = plan(&config);
        let commands: Vec<&String> = steps.iter().flat_map(|step| &step.commands).collect();
        for command in [
            "ip -4 rule add fwmark 0x10000000/0x10000000 table 7411 priority 7411",
            "ip -6 rule add table 7412 priority 7412",
            "sysctl -w net.ipv4.tcp_pingpong_thresh=3",
        ] {
            assert!(commands.iter().any(|one| *one == command), "{command}: {commands:?}");
        }
        let undo: Vec<&String> = steps.iter().flat_map(|step| &step.undo).collect();
        assert!(undo.iter().any(|one| *one == "ip -6 route flush table 7411"), "{undo:?}");
        let few =
            plan(&ConfigFile::new("agent.toml", "levers = \"nodelay\"\n").check().expect("sound"));
        assert_eq!(few.len(), 2, "{few:?}");
    }
}
