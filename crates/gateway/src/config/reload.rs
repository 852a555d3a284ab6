//! From one configuration to another while running: what is changed in place, what begins anew, and what
//! cannot be.

use super::{GatewayConfig, QueueConfig};

/// What a change does to what is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Connections do not notice: they are classified anew, and a limit is another from now on.
    InPlace,
    /// The boxes of these remedies begin anew, knowing nothing; connections and what is kept of them stay.
    NewBox,
    /// A queue is made, remade or taken out of the path; what waits in it goes on first.
    NewQueue,
    /// Another interface or mark is observed: connections are known by their ends and stay.
    NewRing,
    /// It cannot be done while running.
    Restart,
}

/// Something that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key of the file.
    pub path: String,
    /// What it said.
    pub from: String,
    /// What it says now.
    pub to: String,
    /// What that does.
    pub effect: Effect,
}

/// What has to be done to get from one configuration to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reload {
    /// Each difference, in the order of the file; none where both say the same.
    pub changes: Vec<Change>,
}

/// A change that needs a new process; the old configuration stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` cannot become {} while the gateway runs (it is {}): restart it, or take the change back",
    .0.path, .0.to, .0.from
)]
pub struct CannotReload(pub Change);

/// What a configuration says under a key.
type Says = fn(&GatewayConfig) -> String;

impl Reload {
    /// What leads from `old` to `new`.
    ///
    /// # Errors
    /// The first change that cannot be made while running.
    pub fn between(old: &GatewayConfig, new: &GatewayConfig) -> Result<Reload, CannotReload> {
        let mut reload = Reload::default();
        reload.note("wan", Effect::NewRing, [&old.wan, &new.wan].map(String::clone));
        reload.note("lan", Effect::NewRing, [&old.lan, &new.lan].map(|names| names.join(", ")));
        reload.rules(old, new);
        reload.queue("queue.lan", [&old.queues.lan, &new.queues.lan]);
        reload.queue("queue.wan", [&old.queues.wan, &new.queues.wan]);
        reload.numbers([old, new]);
        let listens = [old, new].map(|config| match config.metrics {
            Some(address) => address.to_string(),
            None => "none".to_owned(),
        });
        reload.note("metrics.listen", Effect::Restart, listens);
        // What is to be undone must not be told in two places.
        let states = [&old.state, &new.state].map(|state| state.display().to_string());
        reload.note("state.directory", Effect::Restart, states);
        match reload.changes.iter().find(|change| change.effect == Effect::Restart) {
            Some(change) => Err(CannotReload(change.clone())),
            None => Ok(reload),
        }
    }

    /// A remedy that both have is the same box; one that only the new one has is a new box.
    fn rules(&mut self, old: &GatewayConfig, new: &GatewayConfig) {
        let known = |remedy| old.rules.iter().any(|(_, _, known)| known == Some(remedy));
        let all_known = new.rules.iter().filter_map(|(_, _, remedy)| remedy).all(known);
        let effect = if all_known { Effect::InPlace } else { Effect::NewBox };
        if old.rules != new.rules {
            let said = [old, new].map(|config| config.rules.to_string());
            self.changes.push(Change::new("rule", effect, said));
        }
        let marks = [old, new].map(|config| {
            let each = config.rules.marks();
            each.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        });
        self.note("rule.mark", Effect::NewRing, marks);
    }

    fn queue(&mut self, path: &str, queues: [&Option<QueueConfig>; 2]) {
        if let [Some(from), Some(to)] = queues
            && from.discipline == to.discipline
        {
            let rates = [from.rate, to.rate].map(|rate| rate.to_string());
            return self.note(&format!("{path}.rate"), Effect::InPlace, rates);
        }
        let said = queues.map(|queue| match queue {
            Some(queue) => queue.to_string(),
            None => "none".to_owned(),
        });
        self.note(path, Effect::NewQueue, said);
    }

    /// What is read anew each time it is used.
    fn numbers(&mut self, both: [&GatewayConfig; 2]) {
        let each: [(&str, Says); 18] = [
            ("control", |config| config.control.to_string()),
            ("limits.connections", |config| config.limits.connections.to_string()),
            ("limits.cache_per_flow", |config| config.limits.cache_per_flow.to_string()),
            ("limits.cache", |config| config.limits.cache.to_string()),
            ("limits.injected", |config| config.limits.injected.to_string()),
            ("limits.injected_rate", |config| config.limits.injected_rate.to_string()),
            ("limits.fast", |config| config.limits.fast.to_string()),
            ("limits.copied", |config| config.limits.copied.to_string()),
            ("limits.subscribers", |config| config.limits.subscribers.to_string()),
            ("log.level", |config| format!("{:?}", config.log.level)),
            ("log.to", |config| format!("{:?}", config.log.to)),
            ("turns.untreated", |config| config.turns.untreated.to_string()),
            ("turns.length", |config| config.turns.length.to_string()),
            ("turns.settle", |config| config.turns.settle.to_string()),
            ("harm.significance", |config| config.harm.significance.to_string()),
            ("harm.sustained", |config| config.harm.sustained.to_string()),
            ("harm.flows", |config| config.harm.flows.to_string()),
            ("harm.retry", |config| match config.harm.retry {
                Some(span) => span.to_string(),
                None => "never".to_owned(),
            }),
        ];
        // Boxes have as much room as these say.
        let rooms = ["limits.connections", "limits.cache_per_flow", "limits.cache"];
        for (path, said) in each {
            let is_room = rooms.contains(&path) && both[1].has_remedies();
            let effect = if is_room { Effect::NewBox } else { Effect::InPlace };
            self.note(path, effect, both.map(said));
        }
    }

    fn note(&mut self, path: &str, effect: Effect, said: [String; 2]) {
        if said[0] != said[1] {
            self.changes.push(Change::new(path, effect, said));
        }
    }

    /// The most that any change does; nothing where there is none.
    pub fn effect(&self) -> Option<Effect> {
        self.changes.iter().map(|change| change.effect).max()
    }

    /// Whether something with this effect has to be done.
    pub fn needs(&self, effect: Effect) -> bool {
        self.changes.iter().any(|change| change.effect == effect)
    }
}

impl Change {
    fn new(path: &str, effect: Effect, [from, to]: [String; 2]) -> Change {
        Change { path: path.to_owned(), from, to, effect }
    }
}
