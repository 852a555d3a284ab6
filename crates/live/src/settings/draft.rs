//! Settings under way: one call for each way of asking the kernel, and each call tells what came.

use super::kernel::KernelFacts;
use super::{SettingOutcome, SettingTold, Settings, Sysctl};
use crate::apps::SocketOption;
use ackord_tcp::registry::{Setting, profile};
use ackord_units::{Knob, KnobValue, Knobs};

/// Settings under way.
pub(super) struct Draft<'a> {
    pub(super) settings: Settings,
    pub(super) kernel: &'a KernelFacts,
}

/// A choice or a knob and what the scenario has for it.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// As in a scenario's `tcp` table.
    pub(super) key: String,
    pub(super) value: Option<KnobValue>,
}

impl Wish {
    /// The choice of a mechanism.
    pub(super) fn mechanism(choice: &dyn Knobs) -> Wish {
        let mechanism = choice.mechanism();
        Wish { key: mechanism.family.to_owned(), value: Some(KnobValue::Choice(mechanism.name)) }
    }

    /// A knob of a choice.
    pub(super) fn knob(choice: &dyn Knobs, knob: &Knob) -> Wish {
        let family = choice.mechanism().family;
        let key = if family == "endpoint" {
            knob.name.to_owned()
        } else {
            format!("{family}.{}", knob.name)
        };
        Wish { key, value: choice.value(knob.name) }
    }

    pub(super) fn asked(&self) -> String {
        self.value.as_ref().map_or_else(|| "none".to_owned(), KnobValue::to_string)
    }

    /// The word that was chosen; empty where it is no word.
    pub(super) fn word(&self) -> &'static str {
        match self.value {
            Some(KnobValue::Choice(word)) => word,
            _ => "",
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.word() == "on"
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(kernel: &'a KernelFacts) -> Draft<'a> {
        let mut draft = Draft { settings: Settings::default(), kernel };
        // Each connection starts afresh, as in the simulator, whatever an earlier one has learnt.
        let metrics = "net/ipv4/tcp_no_metrics_save";
        draft.write(metrics, "1", "metrics of earlier connections");
        draft
    }

    fn tell(&mut self, wish: &Wish, outcome: SettingOutcome) {
        let (knob, asked) = (wish.key.clone(), wish.asked());
        self.settings.told.push(SettingTold { knob, asked, outcome });
    }

    /// The kernel does so anyway.
    pub(super) fn already(&mut self, wish: &Wish, why: impl Into<String>) {
        self.tell(wish, SettingOutcome::Already(why.into()));
    }

    /// The kernel does something else.
    pub(super) fn instead(&mut self, wish: &Wish, what: impl Into<String>) {
        self.tell(wish, SettingOutcome::Instead(what.into()));
    }

    /// It was set.
    pub(super) fn set(&mut self, wish: &Wish, by: impl Into<String>) {
        self.tell(wish, SettingOutcome::Set(by.into()));
    }

    /// Writes a sysctl for the knob of this key, without a word.
    pub(super) fn write(&mut self, path: &str, value: impl Into<String>, knob: &str) {
        let (path, value, knob) = (path.to_owned(), value.into(), knob.to_owned());
        self.settings.sysctls.push(Sysctl { path, value, knob });
    }

    /// Sets `net.ipv4.NAME`, where the kernel has it.
    pub(super) fn sysctl(&mut self, wish: &Wish, name: &str, value: impl Into<String>) {
        self.sysctl_but(wish, name, value, "");
    }

    /// The same where the value is not quite what was asked for: `but` says how.
    pub(super) fn sysctl_but(
        &mut self,
        wish: &Wish,
        name: &str,
        value: impl Into<String>,
        but: &str,
    ) {
        let (path, value) = (format!("net/ipv4/{name}"), value.into());
        if !(self.kernel.has)(&path) {
            return self.instead(wish, format!("what this kernel does: it has no net.ipv4.{name}"));
        }
        let by = format!("net.ipv4.{name} = {value}");
        self.write(&path, value, &wish.key);
        if but.is_empty() {
            self.set(wish, by);
        } else {
            self.instead(wish, format!("{by}: {but}"));
        }
    }

    /// Sets an option of the sockets to a number.
    pub(super) fn option(
        &mut self,
        wish: &Wish,
        told_as: &'static str,
        (level, name): (i32, i32),
        value: i32,
    ) {
        self.socket_option(told_as, (level, name), value.to_ne_bytes().to_vec());
        self.set(wish, format!("{told_as} = {value}"));
    }

    /// Sets an option of the sockets without a word.
    pub(super) fn socket_option(
        &mut self,
        told_as: &'static str,
        (level, name): (i32, i32),
        value: Vec<u8>,
    ) {
        self.settings.options.push(SocketOption { told_as, level, name, value });
    }

    /// Nobody has a choice: the kernel does what the profile `linux` says.
    pub(super) fn as_linux(&mut self, wish: &Wish) {
        let Some(Setting { value, source, .. }) = linux(&wish.key) else {
            return self.instead(wish, "what the kernel does: it has no such choice");
        };
        if same(wish, value) {
            self.already(wish, *source);
        } else {
            self.instead(wish, format!("{value}: {source}"));
        }
    }
}

/// What the profile `linux` has for a key.
fn linux(key: &str) -> Option<&'static Setting> {
    profile("linux").and_then(|linux| linux.settings.iter().find(|setting| setting.key == key))
}

/// Whether a wish is what the profile `linux` has.
pub(super) fn is_linux(wish: &Wish) -> bool {
    linux(&wish.key).is_some_and(|setting| same(wish, setting.value))
}

fn same(wish: &Wish, value: &str) -> bool {
    // Units may differ in the writing: 4 MiB is 4194304 B.
    let kind = ackord_tcp::registry::ENDPOINT.knob(&wish.key).map(|knob| knob.kind);
    let parsed = kind.and_then(|kind| kind.parse(value).ok());
    match (&wish.value, parsed) {
        (Some(asked), Some(parsed)) => *asked == parsed,
        _ => wish.asked() == value,
    }
}
