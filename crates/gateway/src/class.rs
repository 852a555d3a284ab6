//! Connections that get the same remedy: its box, what is known of its worth, and whether it is at work.

use crate::Connections;
use ackord_daemon::evidence::{Compared, Evidence, Harm};
use ackord_path::proxy::{Proxy, ProxyStats};
use ackord_path::registry::{BuildError, build_proxy};
use ackord_units::{Choice, Span, Time};

/// What is done for the connections of a class.
#[derive(Clone, Debug)]
pub struct ClassConfig {
    /// Its name, by which it is told apart.
    pub name: String,
    /// The box; none leaves the class alone.
    pub remedy: Option<Choice>,
}

/// When a remedy that harms stands down, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandDown {
    /// Harm is what an interval of this confidence says.
    pub confidence: f64,
    /// How long it has to say so without a break.
    pub sustained: Span,
    /// Connections in either group before anything is concluded.
    pub connections: usize,
    /// It is tried anew after this, if ever.
    pub retry: Option<Span>,
}

/// Whether a class's remedy is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is none.
    LeftAlone,
    /// It is.
    AtWork,
    /// It did harm.
    StoodDown {
        /// Since when it is not.
        since: Time,
        /// What it did.
        harm: Harm,
    },
}

/// A class at work.
#[derive(Debug)]
pub struct Class {
    config: ClassConfig,
    /// As it was built, knowing nothing.
    fresh: Option<Proxy>,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) evidence: Evidence,
    compared: Compared,
    standing: Standing,
    harms_since: Option<Time>,
}

impl Class {
    /// Builds the box.
    ///
    /// # Errors
    /// As of [`build_proxy`].
    pub fn new(config: ClassConfig) -> Result<Class, BuildError> {
        let fresh = config.remedy.as_ref().map(build_proxy).transpose()?;
        let standing = if fresh.is_some() { Standing::AtWork } else { Standing::LeftAlone };
        Ok(Class {
            proxy: fresh.clone(),
            fresh,
            config,
            evidence: Evidence::default(),
            compared: Compared::default(),
            standing,
            harms_since: None,
        })
    }

    /// How well this class may go on as the other: with another name, with its own, or not at all.
    pub(crate) fn likeness(&self, config: &ClassConfig) -> u8 {
        let said = |choice: &Choice| (choice.mechanism.name, choice.settings.clone());
        let same = self.config.remedy.as_ref().map(said) == config.remedy.as_ref().map(said);
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
        self.config.remedy.as_ref().map(|choice| choice.mechanism.name)
    }

    /// Whether its box may ask for something to be removed: only who stands in the path does.
    pub fn may_remove(&self) -> bool {
        matches!(self.fresh, Some(Proxy::InPath(_)))
    }

    /// Whether its remedy is at work.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Treated against control, as of the last look.
    pub fn compared(&self) -> &Compared {
        &self.compared
    }

    /// What its box counted.
    pub fn stats(&self) -> Option<&ProxyStats> {
        self.proxy.as_ref().map(Proxy::stats)
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
        match self.standing {
            Standing::LeftAlone => false,
            Standing::StoodDown { since, .. } => {
                let is_over = rule.retry.is_some_and(|retry| now.saturating_since(since) >= retry);
                if is_over {
                    self.begin_anew();
                }
                is_over
            }
            Standing::AtWork => {
                self.evidence.begin_living();
                for one in connections.iter().filter(|one| one.class == own) {
                    self.evidence.living(one.is_control, &one.to_mobile.until(now));
                }
                self.compared = self.evidence.compare();
                let Some(harm) = self.evidence.harm(rule.confidence, rule.connections) else {
                    self.harms_since = None;
                    return false;
                };
                let since = *self.harms_since.get_or_insert(now);
                if now.saturating_since(since) < rule.sustained {
                    return false;
                }
                self.standing = Standing::StoodDown { since: now, harm };
                self.proxy = None;
                true
            }
        }
    }

    fn begin_anew(&mut self) {
        self.evidence = Evidence::default();
        self.harms_since = None;
        self.compared = Compared::default();
        self.proxy.clone_from(&self.fresh);
        self.standing = Standing::AtWork;
    }
}
