//! The link of a shell: what somebody typed, as the text of a scenario.
//!
//! The text is then checked by the reader of scenario files, so whatever is wrong with an option is
//! said as it would be said of a file: the key, the value, what is allowed, what was probably meant.
//! It is also a file that `ackord run` takes: the same link with a download in simulated time.
//!
//! Forward is towards the shell, reverse is what the shell sends.

mod keys;
#[cfg(test)]
mod tests;

use super::summary::FAST;
use crate::emulate::LONGEST_RUN;
use ackord_path::registry::{
    CorruptionChoice, DuplicationChoice, JitterChoice, LossChoice, OutageChoice, ProxyChoice,
    QueueChoice,
};
use ackord_scenario::spelling::{capacity, mechanism, quoted, rate, share, span};
use ackord_scenario::{Direction, Errors, Link, Override, Scenario, ScenarioFile};
use ackord_units::Choice;
use keys::{DEFAULT_LIMIT, Keys, differences, lines, plain, set};
use std::path::PathBuf;

/// The options of a link as they were typed; nothing where they were not.
///
/// What holds for both directions may be given again for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkOptions {
    /// Rate of both directions.
    pub rate: Option<String>,
    /// Rate of what the shell sends.
    pub up: Option<String>,
    /// Rate of what the shell gets.
    pub down: Option<String>,
    /// Propagation delay of each direction.
    pub delay: Option<String>,
    /// Standard deviation of each packet's delay, or a `jitter` with knobs.
    pub jitter: Option<String>,
    /// `SHARE` or `SHARE:BY`: packets that are held back, so that those behind overtake them.
    pub reorder: Option<String>,
    /// Share of packets lost, or a `loss` with knobs.
    pub loss: Option<String>,
    /// The same of what the shell sends.
    pub loss_up: Option<String>,
    /// The same of what the shell gets.
    pub loss_down: Option<String>,
    /// `SHARE` or `SHARE:PACKETS`: losses in bursts of so many packets on average.
    pub burst_loss: Option<String>,
    /// Share of packets damaged, or a `corrupt` with knobs.
    pub corrupt: Option<String>,
    /// Share of packets that arrive twice.
    pub duplicate: Option<String>,
    /// `FROM+FOR[,FROM+FOR..][/EVERY]`, or an `outage` with knobs.
    pub fade: Option<String>,
    /// Traces of delivery opportunities: of what the shell sends, and of what it gets.
    pub trace: Option<[String; 2]>,
    /// The queue of both directions, with knobs.
    pub queue: Option<String>,
    /// The queue of what the shell sends.
    pub queue_up: Option<String>,
    /// The queue of what the shell gets.
    pub queue_down: Option<String>,
    /// The capacity of the queues.
    pub limit: Option<String>,
    /// A middlebox, with knobs; at a router between the outside and the link.
    pub proxy: Option<String>,
    /// Propagation delay between the outside and the middlebox.
    pub wired_delay: Option<String>,
    /// A scenario from which to take a link to start from.
    pub scenario: Option<PathBuf>,
    /// Which of its links, where it has several.
    pub link: Option<String>,
    /// The seed of the random streams.
    pub seed: Option<u64>,
    /// Changes to the finished scenario, as for `ackord run --set`.
    pub changes: Vec<Override>,
}

/// A link that has been checked.
#[derive(Clone, Debug)]
pub struct ShellLink {
    /// The scenario's text, as a file for `ackord run`.
    pub text: String,
    /// What it says.
    pub scenario: Scenario,
    /// What it says in a few words, for prompts: `2 Mbit/s, delay 20 ms, loss 1 %`.
    pub summary: String,
}

/// Why options do not make a link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// They, or the scenario to start from, are not sound.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// The scenario has no link of this name, or several and none was named.
    #[error("`{scenario}` has {}", several(.known, .given.as_deref()))]
    WhichLink {
        /// The scenario.
        scenario: String,
        /// The name given, if one was.
        given: Option<String>,
        /// The names it has.
        known: Vec<String>,
    },
    /// An option says nothing that could be put into a scenario.
    #[error(
        "`--fade {given}`: {why}; allowed: FROM+FOR, such as 3s+1.5s, several with commas \
             between them, and /EVERY behind if they come again and again; or a kind of outage with \
             its knobs, such as random:up=10s,down=1s"
    )]
    Fade {
        /// What was given.
        given: String,
        /// What is wrong with it.
        why: String,
    },
}
/// How long the scenario lasts as a file; a shell lasts as long as its command.
const DURATION: &str = "60 s";

impl LinkOptions {
    /// The checked link; `said` is the command line, for the scenario's source.
    ///
    /// # Errors
    /// What the reader of scenarios finds wrong with it.
    pub fn check(&self, said: &str) -> Result<ShellLink, LinkError> {
        let text = self.text(said)?;
        let file = ScenarioFile::new("the link of this shell", text.clone());
        let changes = self.limit_changes().into_iter().chain(self.changes.iter().cloned());
        let changes: Vec<_> = changes.collect();
        let changed = !changes.is_empty();
        let mut scenario = file.with_overrides(changes).check()?;
        let text = if changed { scenario.canonical() } else { text };
        scenario.duration = LONGEST_RUN;
        let summary = super::summary::summary(&scenario);
        Ok(ShellLink { text, scenario, summary })
    }

    /// The capacity of queues that were taken over with their link.
    fn limit_changes(&self) -> Vec<Override> {
        let (Some(limit), Some(_)) = (&self.limit, &self.scenario) else { return Vec::new() };
        let limit = quoted(&capacity(limit));
        let own = [
            (&self.queue_down, "links.link.queue.limit"),
            (&self.queue_up, "links.link.reverse.queue.limit"),
        ];
        let taken = own.iter().filter(|(own, _)| own.is_none() && self.queue.is_none());
        taken.filter_map(|(_, key)| format!("{key}={limit}").parse().ok()).collect()
    }

    /// The scenario's text, which may have mistakes in it.
    fn text(&self, said: &str) -> Result<String, LinkError> {
        let (mut down, mut up, medium) = match &self.scenario {
            None => plain(),
            Some(_) => self.taken()?,
        };
        self.apply_pace(&mut down, &mut up);
        self.apply_troubles(&mut down, &mut up)?;
        self.apply_queues(&mut down, &mut up);
        let near = if self.proxy.is_some() { "base" } else { "outside" };
        let mut text = format!(
            "version = 1\nname = \"shell\"\n\
             purpose = \"A command behind an emulated link, here with a download\"\n\
             source = {}\nseed = {}\nduration = \"{DURATION}\"\n\n[hosts.inside]\n[hosts.outside]\n",
            quoted(said),
            self.seed.unwrap_or(1),
        );
        if self.proxy.is_some() {
            text += "[routers.base]\n";
        }
        text += &format!(
            "\n# Towards the shell; back the same, but for what `reverse` says.\n\
             [[links]]\nname = \"link\"\nfrom = \"{near}\"\nto = \"inside\"\n"
        );
        text += &lines(&down);
        if let Some(medium) = medium {
            text += &format!("medium = {medium}\n");
        }
        text += &differences(&down, &up);
        text += &self.box_text();
        text += "\n[[flows]]\nname = \"download\"\nfrom = \"inside\"\nto = \"outside\"\n\
                 sends = \"server\"\ntraffic = \"bulk\"\n";
        Ok(text)
    }

    /// The wired link and the middlebox at its end.
    fn box_text(&self) -> String {
        let Some(proxy) = &self.proxy else { return String::new() };
        let delay = span(self.wired_delay.as_deref().unwrap_or("0 ms"));
        format!(
            "\n[[links]]\nname = \"wired\"\nfrom = \"outside\"\nto = \"base\"\nrate = \"{FAST}\"\n\
             delay = {}\nqueue = {{ kind = \"drop-tail\", limit = \"{DEFAULT_LIMIT}\" }}\n\n\
             [[proxies]]\nat = \"base\"\nlink = \"link\"\nproxy = {}\n",
            quoted(&delay),
            mechanism(ProxyChoice::MECHANISMS, proxy),
        )
    }

    /// The two directions of the link that the scenario given has, and its medium.
    fn taken(&self) -> Result<(Keys, Keys, Option<String>), LinkError> {
        let Some(path) = &self.scenario else { return Ok(plain()) };
        let scenario = ScenarioFile::open(path)?.check()?;
        let named = |link: &&Link| self.link.as_ref().is_none_or(|name| link.name == *name);
        let found: Vec<&Link> = scenario.links.iter().filter(named).collect();
        let [link] = found[..] else {
            let known = scenario.links.iter().map(|link| link.name.clone()).collect();
            let scenario = path.display().to_string();
            return Err(LinkError::WhichLink { scenario, given: self.link.clone(), known });
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let keys = |direction: &Direction| {
            let mut keys: Keys = direction.keys().into_iter().collect();
            if let (Some(trace), Some(folder)) = (&direction.trace, folder) {
                // The scenario says where the file is as seen from itself; the shell's text is seen
                // from where it was started.
                let there = folder.join(trace.file());
                if there.exists() {
                    keys.insert("trace", quoted(&there.display().to_string()));
                }
            }
            keys
        };
        let medium = link.medium.as_ref().map(|medium| ackord_scenario::choice_text(medium));
        Ok((keys(&link.forward), keys(&link.reverse), medium))
    }

    /// What says when packets are sent and how long they take.
    fn apply_pace(&self, down: &mut Keys, up: &mut Keys) {
        set(down, "rate", self.down.as_ref().or(self.rate.as_ref()), |text| quoted(&rate(text)));
        set(up, "rate", self.up.as_ref().or(self.rate.as_ref()), |text| quoted(&rate(text)));
        if let Some([trace_up, trace_down]) = &self.trace {
            for (keys, file) in [(&mut *up, trace_up), (&mut *down, trace_down)] {
                keys.insert("trace", quoted(file));
                keys.insert("rate", quoted(&mean_rate(file)));
            }
        }
        for keys in [down, up] {
            set(keys, "delay", self.delay.as_ref(), |text| quoted(&span(text)));
            set(keys, "jitter", self.jitter.as_ref(), |text| match is_span(text) {
                true => format!("{{ kind = \"per-packet\", deviation = {} }}", quoted(&span(text))),
                false => mechanism(JitterChoice::MECHANISMS, text),
            });
            set(keys, "jitter", self.reorder.as_ref(), |text| {
                let (part, by) = text.split_once(':').unwrap_or((text, ""));
                let by = if by.is_empty() { String::new() } else { by_text(by) };
                format!("{{ kind = \"held-back\", share = {}{by} }}", quoted(&share(part)))
            });
        }
    }

    /// What is lost, damaged or doubled, and when the link is out.
    fn apply_troubles(&self, down: &mut Keys, up: &mut Keys) -> Result<(), LinkError> {
        let loss = |text: &str| of_packets(LossChoice::MECHANISMS, text);
        set(down, "loss", self.loss_down.as_ref().or(self.loss.as_ref()), loss);
        set(up, "loss", self.loss_up.as_ref().or(self.loss.as_ref()), loss);
        let fade = self.fade.as_deref().map(outage).transpose()?;
        for keys in [down, up] {
            set(keys, "loss", self.burst_loss.as_ref(), |text| {
                let (lost, burst) = text.split_once(':').unwrap_or((text, "4"));
                let burst = match burst.parse::<f64>() {
                    Ok(_) => burst.to_owned(),
                    Err(_) => quoted(burst),
                };
                let lost = quoted(&share(lost));
                format!("{{ kind = \"gilbert\", mean_loss = {lost}, mean_burst = {burst} }}")
            });
            let damage = |text: &str| of_packets(CorruptionChoice::MECHANISMS, text);
            set(keys, "corrupt", self.corrupt.as_ref(), damage);
            let twice = |text: &str| of_packets(DuplicationChoice::MECHANISMS, text);
            set(keys, "duplicate", self.duplicate.as_ref(), twice);
            if let Some(fade) = &fade {
                keys.insert("outage", fade.clone());
            }
        }
        Ok(())
    }

    fn apply_queues(&self, down: &mut Keys, up: &mut Keys) {
        for (keys, own) in [(down, &self.queue_down), (up, &self.queue_up)] {
            let chosen = own.as_ref().or(self.queue.as_ref());
            let limit = self.limit.as_deref().map(|text| quoted(&capacity(text)));
            let text = match (chosen, limit) {
                (Some(queue), limit) => limited(&mechanism(QueueChoice::MECHANISMS, queue), limit),
                (None, Some(limit)) if self.scenario.is_none() => {
                    limited("\"drop-tail\"", Some(limit))
                }
                // Of a link that was taken over it is changed like any other knob.
                (None, Some(_)) => continue,
                (None, None) => continue,
            };
            keys.insert("queue", text);
        }
    }
}

/// The knob of a packet held back.
fn by_text(by: &str) -> String {
    format!(", by = {}", quoted(&span(by)))
}

/// Whether a text begins as a time span does, and not with a name.
fn is_span(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// A share of packets, or a mechanism by name.
fn of_packets(family: &[ackord_units::Mechanism], text: &str) -> String {
    match is_span(text) {
        true => format!("{{ kind = \"random\", per_packet = {} }}", quoted(&share(text))),
        false => mechanism(family, text),
    }
}

/// A queue in the form of a file, with a capacity of its own.
fn limited(queue: &str, limit: Option<String>) -> String {
    let is_drop_tail = queue == "\"drop-tail\"";
    let limit = match limit {
        Some(limit) => limit,
        None if is_drop_tail => quoted(DEFAULT_LIMIT),
        None => return queue.to_owned(),
    };
    match queue.strip_suffix(" }") {
        Some(table) => format!("{table}, limit = {limit} }}"),
        None => format!("{{ kind = {queue}, limit = {limit} }}"),
    }
}

/// A fade as it is typed: given times, or an outage by name.
fn outage(text: &str) -> Result<String, LinkError> {
    if !is_span(text) {
        return Ok(mechanism(OutageChoice::MECHANISMS, text));
    }
    let wrong = |why: String| LinkError::Fade { given: text.to_owned(), why };
    let (windows, every) = match text.split_once('/') {
        Some((windows, every)) => (windows, Some(every)),
        None => (text, None),
    };
    let (mut from, mut lengths) = (Vec::new(), Vec::new());
    for window in windows.split(',') {
        let (begins, lasts) =
            window.split_once('+').ok_or_else(|| wrong(format!("`{window}` has no `+`")))?;
        from.push(quoted(&span(begins)));
        lengths.push(quoted(&span(lasts)));
    }
    let (from, lengths) = (from.join(", "), lengths.join(", "));
    let every = every.map_or(String::new(), |every| format!(", every = {}", quoted(&span(every))));
    Ok(format!("{{ kind = \"schedule\", from = [{from}], for = [{lengths}]{every} }}"))
}

/// What queues may take the rate of a trace to be: its mean. The reader says what is wrong with a
/// file that cannot be read.
fn mean_rate(file: &str) -> String {
    let trace = std::fs::read_to_string(file).ok();
    let trace = trace.and_then(|text| ackord_path::Trace::parse(&text).ok());
    trace.map_or(FAST.to_owned(), |trace| trace.mean_rate().to_string())
}

/// What a scenario has instead of the one link that is wanted.
fn several(known: &[String], given: Option<&str>) -> String {
    let names = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let nearest =
        given.and_then(|given| ackord_units::nearest_name(given, known.iter().map(String::as_str)));
    match (given, nearest) {
        (Some(given), Some(nearest)) => format!("no link `{given}`; did you mean `{nearest}`?"),
        (Some(given), None) => format!("no link `{given}`, only {names}"),
        (None, _) => format!("the links {names}; name one with --link"),
    }
}
