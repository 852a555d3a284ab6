//! Connections that get the same remedy: its box, what is known of its worth, and whether it is at work.

use crate::Connections;
use ackord_daemon::evidence::{Compared, Evidence};
use ackord_daemon::{Harm, Trial};
use ackord_path::proxy::{Proxy, ProxyStats};
use ackord_path::registry::ProxyChoice;
use ackord_units::{Knobs, Time};

pub use ackord_daemon::{StandDown, Standing};

/// What is done for the connections of a class.
#[derive(Clone, Debug)]
pub struct ClassConfig {
    /// Its name, by which it is told apart.
    pub name: String,
    /// The box; none leaves the class alone.
    pub remedy: Option<ProxyChoice>,
}

/// A class at work.
#[derive(Debug)]
pub struct Class {
    config: ClassConfig,
    /// As it was built, knowing nothing.
    fresh: Option<Proxy>,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) evidence: Evidence,
    trial: Trial,
}

impl Class {
    /// With a box that knows nothing.
    pub fn new(config: ClassConfig) -> Class {
        let fresh = config.remedy.as_ref().map(|remedy| remedy.config().build());
        let trial = if fresh.is_some() { Trial::at_work() } else { Trial::left_alone() };
        Class { proxy: fresh.clone(), fresh, config, evidence: Evidence::default(), trial }
    }

    /// How well this class may go on as the other: with another name, with its own, or not at all.
    pub(crate) fn likeness(&self, config: &ClassConfig) -> u8 {
        let same = self.config.remedy == config.remedy;
        u8::from(same) + u8::from(same && self.config.name == config.name)
    }

    pub(crate) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.config.name);
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The name of its remedy.
    pub fn remedy(&self) -> Option<&'static str> {
        self.config.remedy.as_ref().map(|choice| choice.mechanism().name)
    }

    /// Whether its box may ask for something to be removed: only who stands in the path does.
    pub fn may_remove(&self) -> bool {
        matches!(self.fresh, Some(Proxy::InPath(_)))
    }

    /// Whether its remedy is at work.
    pub fn standing(&self) -> Standing {
        self.trial.standing()
    }

    /// Treated against control, as of the last look.
    pub fn compared(&self) -> &Compared {
        self.trial.compared()
    }

    /// What its box counted.
    pub fn stats(&self) -> Option<&ProxyStats> {
        self.proxy.as_ref().map(Proxy::stats)
    }

    /// Forgets what its box knows, if it is at work.
    pub(crate) fn begin_turn(&mut self) {
        if self.standing() == Standing::AtWork {
            self.proxy = self.fresh.clone();
        }
    }

    /// Ends its remedy, if it is at work, for the harm that it did to the link.
    pub(crate) fn stand_down(&mut self, now: Time, harm: Harm) {
        if self.standing() == Standing::AtWork {
            self.trial.stand_down(now, harm);
            self.proxy = None;
        }
    }

    /// Looks at the evidence; a remedy that harms stands down, and one that stood down long enough is tried
    /// anew. Answers whether the standing changed.
    pub(crate) fn look(
        &mut self,
        now: Time,
        own: usize,
        connections: &Connections,
        rule: StandDown,
    ) -> bool {
        if self.standing() == Standing::AtWork {
            self.evidence.begin_living();
            for one in connections.iter().filter(|one| one.class == own) {
                self.evidence.living(one.is_control, &one.to_mobile.until(now));
            }
        }
        let has_changed = self.trial.look(now, &mut self.evidence, rule);
        if has_changed {
            self.proxy = match self.standing() {
                // Tried anew it knows nothing.
                Standing::AtWork => self.fresh.clone(),
                Standing::LeftAlone | Standing::StoodDown { .. } => None,
            };
        }
        has_changed
    }
}
