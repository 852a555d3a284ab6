//! A document into an [`AgentConfig`], with every error there is.

use super::keys;
use super::{
    AgentConfig, ApplicationRule, LimitsConfig, OnExit, PodsConfig, RoutesConfig, RuleConfig,
};
use crate::lever::Lever;
use crate::names::By;
use crate::routes::Table as RouteTable;
use ackord_daemon::config::{
    FromFile, absolute, each, log, metrics, positive, quantity_or, span_or_never, state, table,
    table_or_empty, turns,
};
use ackord_scenario::format::{Field, Key, Reader, Report, Value, join};
use ackord_scenario::{NameOf, Wrong};
use ackord_units::{Ratio, Span};

/// What it is called in errors.
const AGENT: &str = "agent";

impl FromFile for AgentConfig {
    fn format() -> (&'static [Key], &'static str) {
        (keys::FILE, "an agent")
    }

    fn read(report: &mut Report, root: &Reader<'_>) -> Option<AgentConfig> {
        file(report, root)
    }
}

fn file(report: &mut Report, root: &Reader<'_>) -> Option<AgentConfig> {
    let cgroup = root
        .get("cgroup")
        .and_then(|field| absolute(report, &field, "a path", (AGENT, "/sys/fs/cgroup")));
    let by = root.get("by").and_then(|field| field.word(report, &keys::BY));
    let levers = match root.get("levers") {
        Some(field) => levers(report, &field),
        None => vec![Lever::Nodelay, Lever::DelayedAck],
    };
    let applications = applications(report, root);
    let control = quantity_or(report, root, "control", AgentConfig::CONTROL);
    let exits = [("restore", OnExit::Restore), ("keep", OnExit::Keep)];
    let on_exit = root.get("on_exit").and_then(|field| field.word(report, &exits));
    let rule = rule(report, root);
    let turns = turns(report, root, keys::TURNS, AgentConfig::UNTREATED);
    let quick = table(report, root, "quick", keys::QUICK).and_then(|reader| quick(report, &reader));
    let routes = table(report, root, "routes", keys::ROUTES)
        .map(|reader| routes(report, &reader, quick.map(|quick: RouteTable| quick.table)));
    let pingpong_thresh = root.integer(report, "pingpong_thresh").map(|value| value as u8);
    let limits = limits(report, root);
    let history = table(report, root, "history", keys::HISTORY).and_then(|reader| {
        absolute(report, &reader.get("store")?, "a path", (AGENT, "/var/lib/ackord/history.redb"))
    });
    let pods = table(report, root, "pods", keys::PODS).and_then(|reader| pods(report, &reader));
    let metrics = metrics(report, root, keys::METRICS, AgentConfig::METRICS);
    let log = log(report, root, keys::LOG);
    let state = state(report, root, keys::STATE, (AGENT, AgentConfig::STATE));
    let config = AgentConfig {
        cgroup,
        by: by.unwrap_or(By::Service),
        levers,
        applications,
        control: control?,
        on_exit: on_exit.unwrap_or(OnExit::Restore),
        rule: rule?,
        turns: turns?,
        quick,
        routes,
        pingpong_thresh,
        limits: limits?,
        history,
        pods,
        metrics,
        log: log?,
        state: state?,
    };
    quick_needs(report, root, &config);
    Some(config)
}

/// Quick acknowledgments of whole transfers take a table of routes, and a history that says how long these are.
fn quick_needs(report: &mut Report, root: &Reader<'_>, config: &AgentConfig) {
    let rules = config.applications.iter().flat_map(|rule| &rule.levers);
    let is_wanted = config.levers.iter().chain(rules).any(|lever| *lever == Lever::QuickAck);
    let lacks = [("quick", config.quick.is_none()), ("history", config.history.is_none())];
    for (key, is_lacking) in lacks {
        if is_wanted && is_lacking && root.get(key).is_none() {
            let what = format!("`quick-ack` takes a table `[{key}]`");
            let help = match key {
                "quick" => "add `[quick]`: a table of routes with `quickack`",
                _ => "add `[history]` with `store`: how much an application usually transfers",
            };
            let (place, help) = (root.place_of("levers"), help.to_owned());
            report.add(place, "levers", Wrong::Other { what, help, first: None });
        }
    }
}

fn levers(report: &mut Report, field: &Field<'_>) -> Vec<Lever> {
    if field.item.as_text() == Some("none") {
        return Vec::new();
    }
    each(report, field, |report, field| {
        let text = field.text(report, "a lever: \"nodelay\", \"delayed-ack\" or \"quick-ack\"")?;
        let found = Lever::ALL.into_iter().find(|lever| lever.name() == text);
        if found.is_none() {
            let known = Lever::ALL.into_iter().map(Lever::name);
            field.report(report, Wrong::unknown_name(NameOf::Other("lever"), text, known));
        }
        found
    })
}

fn applications(report: &mut Report, root: &Reader<'_>) -> Vec<ApplicationRule> {
    let mut rules = Vec::new();
    for field in root.list(report, "application", "a list of tables, `[[application]]`") {
        let of = "an application";
        let Some(reader) = Reader::new(report, field.item, field.path, keys::APPLICATION, of)
        else {
            continue;
        };
        let names = reader.get("name").map(|field| {
            each(report, &field, |report, field| {
                let text = field.text(report, "the name of an application")?;
                if text.is_empty() {
                    let why = "no application is called nothing".to_owned();
                    let allowed = "a name as `status` shows it, like `redis-*`".to_owned();
                    field.report(report, Wrong::BadValue { why, allowed });
                }
                Some(text.to_owned())
            })
        });
        let levers = reader.get("levers").map(|field| levers(report, &field));
        if let (Some(names), Some(levers)) = (names, levers) {
            rules.push(ApplicationRule { names, levers });
        }
    }
    rules
}

fn rule(report: &mut Report, root: &Reader<'_>) -> Option<RuleConfig> {
    let begin = table_or_empty(report, root, "begin", keys::BEGIN)?;
    let end = table_or_empty(report, root, "end", keys::END)?;
    let least_share = quantity_or::<Ratio>(report, &begin, "share", "1 %");
    let least_lost = quantity_or::<Span>(report, &begin, "lost", "100 ms");
    let least_stalls = begin.integer(report, "stalls").unwrap_or(5);
    let enough = end.integer(report, "enough").unwrap_or(200);
    let each = end.integer(report, "each").unwrap_or(8);
    let significance = quantity_or::<Ratio>(report, &end, "significance", "0.1 %");
    let significance = significance.and_then(|one| positive(report, &end, "significance", one));
    let retry = span_or_never(report, &end, "retry", "1 h");
    Some(RuleConfig {
        least_share: least_share?,
        least_lost: least_lost?,
        least_stalls,
        enough,
        each,
        significance: significance?,
        retry: retry?,
    })
}

fn quick(report: &mut Report, reader: &Reader<'_>) -> Option<RouteTable> {
    let mark = match reader.get("mark") {
        Some(field) => mark(report, &field)?,
        None => 0x1000_0000,
    };
    Some(route_table(report, reader, mark, 7_411))
}

fn route_table(report: &mut Report, reader: &Reader<'_>, mark: u32, default: u64) -> RouteTable {
    let mut number = |key| reader.integer(report, key).unwrap_or(default) as u32;
    RouteTable { table: number("table"), priority: number("priority"), mark }
}

fn mark(report: &mut Report, field: &Field<'_>) -> Option<u32> {
    let value = match &field.item.value {
        Value::Integer(value) => u32::try_from(*value).ok(),
        Value::Text(text) => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
        _ => {
            field.wrong_type(report, "one bit, like \"0x10000000\"");
            return None;
        }
    };
    let one_bit = value.filter(|value| value.count_ones() == 1);
    if one_bit.is_none() {
        let why = "a mark of quick routes is one bit, of 32".to_owned();
        let allowed = "like `0x10000000`: one that nobody else uses (`ip rule`)".to_owned();
        field.report(report, Wrong::BadValue { why, allowed });
    }
    one_bit
}

fn routes(report: &mut Report, reader: &Reader<'_>, quick: Option<u32>) -> RoutesConfig {
    let table = route_table(report, reader, 0, 7_412);
    if quick == Some(table.table) {
        let why = format!("table {} is that of `[quick]`", table.table);
        let allowed = "another one from 256 to 4294967294".to_owned();
        let path = join(&reader.path, "table");
        report.add(reader.place_of("table"), &path, Wrong::BadValue { why, allowed });
    }
    let initcwnd = reader.integer(report, "initcwnd").map(|segments| segments as u32);
    RoutesConfig { table, initcwnd }
}

fn limits(report: &mut Report, root: &Reader<'_>) -> Option<LimitsConfig> {
    let reader = table_or_empty(report, root, "limits", keys::LIMITS)?;
    let connections = reader.integer(report, "connections").unwrap_or(200_000);
    let applications = reader.integer(report, "applications").unwrap_or(500);
    let report_every = quantity_or::<Span>(report, &reader, "report_every", "250 ms");
    let report_every = report_every?;
    if report_every < Span::from_millis(50) || report_every > Span::from_secs(60) {
        let path = join(&reader.path, "report_every");
        let why = format!("{report_every} is no time in which a connection is looked at again");
        let allowed = "50 ms to 60 s".to_owned();
        report.add(reader.place_of("report_every"), &path, Wrong::BadValue { why, allowed });
    }
    Some(LimitsConfig { connections, applications, report_every })
}

fn pods(report: &mut Report, reader: &Reader<'_>) -> Option<PodsConfig> {
    let file = absolute(report, &reader.get("file")?, "a path", (AGENT, "/run/ackord/pods.json"));
    let annotation = match reader.get("annotation") {
        Some(field) => field.text(report, "an annotation, like \"ackord.io/agent\"")?.to_owned(),
        None => "ackord.io/agent".to_owned(),
    };
    Some(PodsConfig { file: file?, annotation })
}
