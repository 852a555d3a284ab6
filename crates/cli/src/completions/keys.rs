//! Keys of `--set` and `--vary`: paths through the schema of scenario files, with the names of a scenario.

use ackord_scenario::format::{self, Item, Table, parse};
use ackord_scenario::{NodeKind, Scenario, ScenarioFile};
use serde_json::Value;
use std::collections::BTreeSet;

/// Groups may have thousands of members.
const MOST_NAMES: usize = 40;

/// Names of what a scenario has, for the paths through it.
#[derive(Debug, Default)]
pub(super) struct Names {
    hosts: Vec<String>,
    routers: Vec<String>,
    links: Vec<String>,
    flows: Vec<String>,
    proxies: Vec<String>,
}

impl Names {
    /// Returns the names of a scenario: of one that is not sound, those that stand in its text.
    pub(super) fn of(file: &ScenarioFile) -> Names {
        match file.check() {
            Ok(scenario) => Names::of_scenario(&scenario),
            Err(_) => parse(file.text()).map(|table| Names::of_text(&table)).unwrap_or_default(),
        }
    }

    fn of_scenario(scenario: &Scenario) -> Names {
        let nodes = |kind| {
            let of_kind = scenario.nodes.iter().filter(move |node| node.kind == kind);
            of_kind.map(|node| node.name.clone()).take(MOST_NAMES).collect()
        };
        Names {
            hosts: nodes(NodeKind::Host),
            routers: nodes(NodeKind::Router),
            links: scenario.links.iter().map(|link| link.name.clone()).take(MOST_NAMES).collect(),
            flows: scenario.flows.iter().map(|flow| flow.name.clone()).take(MOST_NAMES).collect(),
            proxies: scenario.proxies.iter().map(|it| it.name.clone()).take(MOST_NAMES).collect(),
        }
    }

    fn of_text(table: &Table) -> Names {
        let keys = |key: &str| -> Vec<String> {
            let table = table.get(key).and_then(|entry| entry.item.as_table());
            table.into_iter().flatten().map(|(name, _)| name.clone()).take(MOST_NAMES).collect()
        };
        let names = |key: &str| -> Vec<String> {
            let items = match table.get(key).map(|entry| &entry.item.value) {
                Some(format::Value::Array(items)) => &items[..],
                _ => &[],
            };
            let name = |item: &Item| Some(item.as_table()?.get("name")?.item.as_text()?.to_owned());
            items.iter().filter_map(name).take(MOST_NAMES).collect()
        };
        Names {
            hosts: keys("hosts"),
            routers: keys("routers"),
            links: names("links"),
            flows: names("flows"),
            proxies: names("proxies"),
        }
    }

    /// Returns the members of a list or table of named things, and `*` for all of them.
    fn members(&self, key: &str) -> Vec<&str> {
        let names = match key {
            "hosts" => &self.hosts,
            "routers" => &self.routers,
            "links" => &self.links,
            "flows" => &self.flows,
            "proxies" => &self.proxies,
            _ => return Vec::new(),
        };
        names.iter().map(String::as_str).chain(["*"]).collect()
    }
}

/// Returns what can follow what was typed: keys with `=`, the beginnings of longer ones with a dot; behind `=` the
/// values, where there are a few.
pub(super) fn candidates(names: &Names, typed: &str) -> Vec<String> {
    let schema = ackord_scenario::json_schema();
    let walk = Walk { schema: &schema, names };
    match typed.split_once('=') {
        Some((path, value)) => {
            // `--vary` takes several values.
            let (before, last) =
                value.rsplit_once(',').map_or(("", value), |(before, last)| (before, last));
            let comma = if before.is_empty() { "" } else { "," };
            let values = walk.values(path).into_iter().filter(|one| one.starts_with(last));
            values.map(|one| format!("{path}={before}{comma}{one}")).collect()
        }
        None => walk.keys(typed),
    }
}

struct Walk<'a> {
    schema: &'a Value,
    names: &'a Names,
}

/// A table of the schema on the way along a path.
#[derive(Clone)]
enum At<'a> {
    /// What has keys: one or several forms of a table, or a value.
    Forms(Vec<&'a Value>),
    /// A list or table of named things, under this key.
    Named(String, &'a Value),
}

impl<'a> Walk<'a> {
    /// Returns the keys that begin as typed. Where only one table remains, its own keys are listed, so that a shell
    /// does not take the dot for the end of a word.
    fn keys(&self, typed: &str) -> Vec<String> {
        let (path, begun) =
            typed.rsplit_once('.').map_or(("", typed), |(path, begun)| (path, begun));
        let mut found = self.below(path);
        found.retain(|key| key[path.len()..].trim_start_matches('.').starts_with(begun));
        while let [one] = &found[..] {
            let Some(path) = one.strip_suffix('.') else { break };
            found = self.below(path);
        }
        found
    }

    /// Returns the keys one step below a path: with `=` what takes a value, with a dot what has keys.
    fn below(&self, path: &str) -> Vec<String> {
        let Some(at) = self.at(path) else { return Vec::new() };
        let join =
            |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let steps = self.steps(&at);
        let each = steps.iter().flat_map(|step| {
            let next = self.step(&at, step);
            let has_keys = next.as_ref().is_some_and(|next| !self.steps(next).is_empty());
            let is_value = next.as_ref().is_some_and(|next| self.takes_a_value(next));
            let joined = join(step);
            let value = is_value.then(|| format!("{joined}="));
            [value, has_keys.then(|| format!("{joined}."))]
        });
        each.flatten().collect()
    }

    /// Returns where a path leads.
    fn at(&self, path: &str) -> Option<At<'a>> {
        let root = At::Forms(self.forms(self.schema));
        let mut steps = path.split('.').filter(|step| !step.is_empty());
        steps.try_fold(root, |at, step| self.step(&at, step))
    }

    fn steps(&self, at: &At<'a>) -> BTreeSet<String> {
        match at {
            At::Named(key, _) => self.names.members(key).into_iter().map(str::to_owned).collect(),
            At::Forms(forms) => {
                let tables = forms.iter().filter_map(|form| form["properties"].as_object());
                // A mechanism is named by the key above; `version` has one value.
                let keys = tables.flat_map(|table| table.keys());
                keys.filter(|key| !matches!(key.as_str(), "kind" | "version")).cloned().collect()
            }
        }
    }

    fn step(&self, at: &At<'a>, step: &str) -> Option<At<'a>> {
        match at {
            At::Named(_, member) => Some(At::Forms(self.forms(member))),
            At::Forms(forms) => {
                let values: Vec<&'a Value> = forms
                    .iter()
                    .filter_map(|form| form["properties"].get(step))
                    .flat_map(|value| self.forms(value))
                    .collect();
                let is_top = !self.names.members(step).is_empty();
                let member = values.iter().find_map(|value| {
                    let member = value.get("items").or_else(|| value.get("additionalProperties"));
                    member.filter(|member| is_top && member.is_object())
                });
                match member {
                    Some(member) => Some(At::Named(step.to_owned(), member)),
                    None if values.is_empty() => None,
                    None => Some(At::Forms(values)),
                }
            }
        }
    }

    /// Returns whether anything but a table may stand there.
    fn takes_a_value(&self, at: &At<'a>) -> bool {
        match at {
            At::Named(..) => false,
            At::Forms(forms) => forms.iter().any(|form| form["properties"].is_null()),
        }
    }

    /// Returns the words that a key takes.
    fn values(&self, path: &str) -> BTreeSet<String> {
        let Some(At::Forms(forms)) = self.at(path) else { return BTreeSet::new() };
        let words = |form: &&'a Value| -> Vec<&'a Value> {
            let some = form["enum"].as_array().map(|all| all.iter().collect());
            some.or_else(|| form.get("const").map(|one| vec![one])).unwrap_or_default()
        };
        forms.iter().flat_map(words).filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the alternatives of a schema, references followed.
    fn forms(&self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(name) = schema["$ref"].as_str() {
            let pointer = name.trim_start_matches('#');
            return self.schema.pointer(pointer).map(|it| self.forms(it)).unwrap_or_default();
        }
        match schema["anyOf"].as_array() {
            Some(forms) => forms.iter().flat_map(|form| self.forms(form)).collect(),
            None => vec![schema],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scenario: &str) -> Names {
        let file = ScenarioFile::from_library(scenario).expect("it comes along");
        Names::of(&file)
    }

    #[test]
    fn paths_go_on_step_by_step_with_the_names_of_the_scenario() {
        let names = names("bufferbloat");
        let of = |typed: &str| candidates(&names, typed);
        let has = |typed: &str, wanted: &str| {
            assert!(of(typed).iter().any(|one| one == wanted), "{typed}: {:?}", of(typed));
        };
        has("", "duration=");
        has("", "links.");
        has("li", "links.uplink.");
        has("links.", "links.*.");
        has("links.uplink.", "links.uplink.rate=");
        has("links.uplink.", "links.uplink.queue=");
        has("links.uplink.qu", "links.uplink.queue.");
        has("links.uplink.queue.", "links.uplink.queue.limit=");
        has("links.uplink.queue=c", "links.uplink.queue=codel");
        has("links.uplink.queue=codel,fq", "links.uplink.queue=codel,fq-codel");
        has("flows.*.tcp.cong", "flows.*.tcp.congestion=");
        has("tcp.prof", "tcp.profile=");
        has("tcp.profile=l", "tcp.profile=linux");
        assert_eq!(
            of("links.uplink.rat"),
            ["links.uplink.rate=", "links.uplink.rate_changes=", "links.uplink.rate_changes."]
        );
        for nowhere in
            ["nowhere", "links.uplink.rate.", "links.uplink.nothing=", "links.uplink.rate=1"]
        {
            assert_eq!(of(nowhere), Vec::<String>::new(), "{nowhere}");
        }
    }

    #[test]
    fn names_of_a_file_that_is_not_sound_are_those_in_its_text() {
        let text = "[hosts.phone]\n[[links]]\nname = \"wire\"\n[[flows]]\nname = \"call\"\n";
        let names = Names::of(&ScenarioFile::new("x.toml", text));
        let of = |typed: &str| candidates(&names, typed);
        let hosts = of("hosts.ph");
        assert!(!hosts.is_empty() && hosts.iter().all(|one| one.starts_with("hosts.phone.")));
        assert!(of("links.").contains(&"links.wire.".to_owned()), "{:?}", of("links."));
        assert!(of("flows.call.tcp.con").contains(&"flows.call.tcp.congestion=".to_owned()));
    }

    #[test]
    fn every_key_that_is_offered_is_one_the_checker_knows() {
        let schema = ackord_scenario::json_schema();
        let walk = Walk { schema: &schema, names: &Names::default() };
        let mut open = vec![String::new()];
        let mut keys = 0;
        while let Some(path) = open.pop() {
            for key in walk.keys(&path) {
                let Some(path) = key.strip_suffix('=') else {
                    if key.matches('.').count() < 4 {
                        open.push(key);
                    }
                    continue;
                };
                let file = ScenarioFile::from_library("bufferbloat").expect("it comes along");
                // A value that nothing takes is refused for what it is, not for its key.
                let change = ackord_scenario::Override::new(path, "no-such-value");
                let refused = file.with_overrides([change]).check();
                let errors = refused.err().map(|errors| errors.to_string()).unwrap_or_default();
                // Keys of mechanisms that this scenario does not choose are offered, too.
                let of_another = errors.contains("allowed: kind");
                assert!(of_another || !errors.contains("has no key `"), "{path}: {errors}");
                keys += 1;
            }
        }
        assert!(keys > 150, "{keys}");
    }
}
