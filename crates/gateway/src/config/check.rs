//! A document into a [`GatewayConfig`], with every error there is.

use super::keys::{self, MAX_LAN};
use super::read;
use super::{
    Conditions, GatewayConfig, HarmConfig, LimitsConfig, QueueConfig, Queues, Rule, RuleIndex,
    Rules, TurnsConfig,
};
use ackord_daemon::config::{
    FromFile, each, log, metrics, positive, quantity_or, span_or_never, state, table,
    table_or_empty, turns,
};
use ackord_path::registry::ProxyChoice;
use ackord_scenario::format::{Field, Key, NameSet, Reader, Report, agrees, choice, join};
use ackord_scenario::{NameOf, Place, Wrong};
use ackord_units::{Bytes, Choice, Knobs, Rate, Ratio, Span};
use std::collections::BTreeMap;

impl FromFile for GatewayConfig {
    fn format() -> (&'static [Key], &'static str) {
        (keys::FILE, "a gateway")
    }

    fn read(report: &mut Report, root: &Reader<'_>) -> Option<GatewayConfig> {
        file(report, root)
    }
}

fn file(report: &mut Report, root: &Reader<'_>) -> Option<GatewayConfig> {
    let (wan, lan) = interfaces(report, root);
    let default = root.get("remedy").and_then(|field| remedy(report, &field)).flatten();
    let rules = rules(report, root, &lan, default);
    let queues = queues(report, root);
    let control = quantity_or(report, root, "control", GatewayConfig::CONTROL);
    let limits = limits(report, root);
    let metrics = metrics(report, root, keys::METRICS, GatewayConfig::METRICS);
    let log = log(report, root, keys::LOG);
    let state = state(report, root, keys::STATE, ("gateway", GatewayConfig::STATE));
    let turns = turns(report, root, keys::TURNS, TurnsConfig::UNTREATED);
    let harm = harm(report, root);
    let config = GatewayConfig {
        wan: wan?,
        lan,
        rules,
        queues,
        control: control?,
        limits: limits?,
        metrics,
        log: log?,
        state: state?,
        turns: turns?,
        harm: harm?,
    };
    if report.is_empty() && !config.has_remedies() && config.queues().next().is_none() {
        let what = "this gateway has nothing to do: no remedy and no queue".to_owned();
        let help = "add `remedy = \"proxy-tcp\"`, a [[rule]] with a remedy, or [queue.lan] with \
                    `discipline` and `rate`"
            .to_owned();
        report.add(&Place::File, "", Wrong::Other { what, help, first: None });
    }
    Some(config)
}

/// The interfaces, each of which is one only.
fn interfaces(report: &mut Report, root: &Reader<'_>) -> (Option<String>, Vec<String>) {
    let wan = root.get("wan").and_then(|field| read::interface(report, &field));
    let Some(field) = root.get("lan") else { return (wan, Vec::new()) };
    let mut seen: BTreeMap<String, Place> = BTreeMap::new();
    let mut lan = each(report, &field, |report, field| {
        let name = read::interface(report, field)?;
        Some((name, field.item.place.clone(), field.path.clone()))
    });
    for (name, place, path) in &lan {
        if wan.as_ref() == Some(name) {
            let wrong = Wrong::SameEnds { what: "a gateway", node: name.clone() };
            report.add(place, path, wrong);
        }
        if let Some(first) = seen.insert(name.clone(), place.clone()) {
            let what = NameOf::Other("LAN interface");
            report.add(place, path, Wrong::Duplicate { what, name: name.clone(), first });
        }
    }
    if let Some((_, place, path)) = lan.get(MAX_LAN) {
        let why = format!("{} LAN interfaces are too many", lan.len());
        let allowed = format!("up to {MAX_LAN}; or a bridge of them");
        report.add(place, path, Wrong::BadValue { why, allowed });
    }
    (wan, lan.drain(..).map(|(name, _, _)| name).collect())
}

/// A remedy, or `none`; nothing where it cannot be, which has then been reported.
fn remedy(report: &mut Report, field: &Field<'_>) -> Option<Option<ProxyChoice>> {
    if field.item.as_text() == Some("none") {
        return Some(None);
    }
    let chosen: ProxyChoice = mechanism(report, field, "remedy")?;
    if super::build_remedy(&chosen).is_none() {
        let why = format!(
            "`{}` splits connections: bytes that it has acknowledged would be lost with it",
            chosen.mechanism().name
        );
        let allowed = "boxes that leave connections whole: snoop, m-tcp, proxy-tcp".to_owned();
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some(Some(chosen))
}

/// A choice all of whose knobs are sound, each and together.
fn mechanism<C: Choice>(report: &mut Report, field: &Field<'_>, key: &'static str) -> Option<C> {
    let before = report.len();
    let chosen: C = choice(report, field, (key, &NameSet::default()), None)?;
    (report.len() == before && agrees(report, field, &chosen)).then_some(chosen)
}

fn unbuildable(why: &str) -> Wrong {
    let allowed = "knobs that go together (`ackord list`)".to_owned();
    Wrong::BadValue { why: why.to_owned(), allowed }
}

fn rules(
    report: &mut Report,
    root: &Reader<'_>,
    lan: &[String],
    default: Option<ProxyChoice>,
) -> Rules {
    let mut rules = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    let mut names: BTreeMap<String, Place> = BTreeMap::new();
    let before = report.len();
    for field in root.list(report, "rule", "a list of tables, `[[rule]]`") {
        let of = "a rule";
        let Some(reader) = Reader::new(report, field.item, field.path, keys::RULE, of) else {
            continue;
        };
        let name = reader.name(report, "name");
        let conditions = conditions(report, &reader, lan);
        let remedy = reader.get("remedy").and_then(|field| remedy(report, &field));
        let (Some(name), Some(remedy)) = (name, remedy) else { continue };
        let place = reader.place_of("name").clone();
        let path = join(&reader.path, "name");
        if name == Rules::DEFAULT {
            let why = format!("`{name}` is what connections without a rule are called");
            let allowed = "another name".to_owned();
            report.add(&place, &path, Wrong::BadValue { why, allowed });
        }
        if let Some(first) = names.insert(name.clone(), place.clone()) {
            let what = NameOf::Other("rule");
            report.add(&place, &path, Wrong::Duplicate { what, name: name.clone(), first });
        }
        rules.push(Rule { name, conditions, remedy });
        places.push(place);
    }
    let rules = Rules::new(rules, default);
    // A rule of which a part is wrong would seem to ask for less than it does.
    if report.len() == before {
        never_used(report, &rules, &places);
    }
    rules
}

/// Reports rules for which earlier ones leave nothing.
fn never_used(report: &mut Report, rules: &Rules, places: &[Place]) {
    for (index, place) in places.iter().enumerate() {
        let Some(earlier) = rules.covered_by(RuleIndex(index)) else { continue };
        let (name, first) = (rules.name(RuleIndex(index)), rules.name(earlier));
        let what = format!("rule `{name}` never matches: `{first}` takes every such connection");
        let help = "rules are asked in their order: put the exception first".to_owned();
        let first = Some(places[earlier.0].clone());
        report.add(place, &format!("rule.{index}"), Wrong::Other { what, help, first });
    }
}

fn conditions(report: &mut Report, reader: &Reader<'_>, lan: &[String]) -> Conditions {
    let mut conditions = Conditions::default();
    if let Some(field) = reader.get("interface") {
        let index =
            |report: &mut Report, field: &Field<'_>| read::lan_interface(report, field, lan);
        conditions.interfaces = each(report, &field, index);
        conditions.interfaces.sort_unstable();
        conditions.interfaces.dedup();
    }
    if conditions.interfaces.len() == lan.len() {
        // All of them is any.
        conditions.interfaces.clear();
    }
    let networks = |report: &mut Report, key| {
        reader.get(key).map(|field| each(report, &field, read::network)).unwrap_or_default()
    };
    conditions.mobile = networks(report, "mobile");
    conditions.fixed = networks(report, "fixed");
    let ports = |report: &mut Report, key| {
        reader.get(key).map(|field| each(report, &field, read::ports)).unwrap_or_default()
    };
    conditions.ports = ports(report, "port");
    conditions.mobile_ports = ports(report, "mobile_port");
    conditions.dscps =
        reader.get("dscp").map(|field| each(report, &field, read::dscp)).unwrap_or_default();
    conditions.mark = reader.get("mark").and_then(|field| read::mark(report, &field));
    conditions
}

fn queues(report: &mut Report, root: &Reader<'_>) -> Queues {
    let Some(reader) = table(report, root, "queue", keys::QUEUES) else { return Queues::default() };
    let mut of = |key| {
        let reader = table(report, &reader, key, keys::QUEUE_KEYS)?;
        queue(report, &reader, key)
    };
    Queues { lan: of("lan"), wan: of("wan") }
}

fn queue(report: &mut Report, reader: &Reader<'_>, side: &str) -> Option<QueueConfig> {
    let rate = super::rate::queue_rate(report, reader, side);
    let field = reader.get("discipline")?;
    let discipline = mechanism(report, &field, "queue");
    let queue = QueueConfig { discipline: discipline?, rate: rate? };
    if let Err(error) = queue.build(0) {
        field.report(report, unbuildable(&error.to_string()));
        return None;
    }
    Some(queue)
}

fn limits(report: &mut Report, root: &Reader<'_>) -> Option<LimitsConfig> {
    let reader = table_or_empty(report, root, "limits", keys::LIMITS)?;
    let bytes = |report: &mut Report, key, default| {
        let value = quantity_or::<Bytes>(report, &reader, key, default)?;
        positive(report, &reader, key, value)
    };
    let connections = reader.integer(report, "connections").unwrap_or(20_000);
    let cache_per_flow = bytes(report, "cache_per_flow", "1 MB");
    let cache = bytes(report, "cache", "128 MB");
    let injected = quantity_or(report, &reader, "injected", "100 %");
    let injected_rate = quantity_or::<Rate>(report, &reader, "injected_rate", "100 Mbit/s");
    let fast = quantity_or::<Rate>(report, &reader, "fast", "500 Mbit/s");
    let subscribers = reader.integer(report, "subscribers").unwrap_or(100);
    let copied = quantity_or::<Rate>(report, &reader, "copied", "1 Gbit/s");
    let (cache_per_flow, cache) = (cache_per_flow?, cache?);
    if cache_per_flow > cache {
        let why = format!("`cache_per_flow`, {cache_per_flow}, is more than `cache`, {cache}");
        let allowed = "no more for one connection than for all of them".to_owned();
        let key = if reader.get("cache_per_flow").is_some() { "cache_per_flow" } else { "cache" };
        let path = join(&reader.path, key);
        report.add(reader.place_of(key), &path, Wrong::BadValue { why, allowed });
    }
    Some(LimitsConfig {
        connections: usize::try_from(connections).unwrap_or(usize::MAX),
        cache_per_flow,
        cache,
        injected: injected?,
        injected_rate: injected_rate?,
        fast: fast?,
        copied: copied?,
        subscribers: usize::try_from(subscribers).unwrap_or(usize::MAX),
    })
}

fn harm(report: &mut Report, root: &Reader<'_>) -> Option<HarmConfig> {
    let reader = table_or_empty(report, root, "harm", keys::HARM)?;
    let significance = quantity_or::<Ratio>(report, &reader, "significance", "1 %");
    let sustained = quantity_or::<Span>(report, &reader, "sustained", "1 min");
    let flows = reader.integer(report, "flows").unwrap_or(20);
    let retry = span_or_never(report, &reader, "retry", "1 h");
    let significance = significance?;
    let significance = positive(report, &reader, "significance", significance)?;
    Some(HarmConfig { significance, sustained: sustained?, flows, retry: retry? })
}
