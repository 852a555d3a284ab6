//! The rings of an interface, and how others take over from them.

use crate::config::MarkMatch;
use crate::ring::{Few, Holding};
use crate::{GoingOut, Interface, LinkKind, Ring, RingStats, Sighting, Wanted};
use ackord_units::{Span, Time};
use std::io;
use std::thread::{self, JoinHandle};

/// What was heard before is read for so long after: a block is handed over after a millisecond.
const READ_ON: Span = Span::from_millis(5);
/// So long after rings could not be made it is tried anew.
const ANEW_AFTER: Span = Span::from_secs(1);

/// What rings were last asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) wanted: Wanted,
    /// Connections that are let pass.
    pub(super) few: Few,
    pub(super) going_out: GoingOut,
}

/// The rings of an interface.
#[derive(Debug)]
pub(super) struct Rings {
    /// Of every packet.
    all: Ring,
    /// Of those that have a mark.
    marked: Vec<Ring>,
    holding: Holding,
    asked: Asked,
}

/// Rings as they are wanted.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) interface: Interface,
    pub(super) kind: LinkKind,
    pub(super) marks: Vec<MarkMatch>,
    pub(super) holding: Holding,
}

impl Rings {
    /// At the interface of this name, in blocks.
    pub(super) fn open(name: &str, interface: Interface, marks: &[MarkMatch]) -> io::Result<Rings> {
        let all = Ring::open(name, interface, wanted(interface))?;
        let each = marks.iter().map(|mark| Ring::open(name, interface, Wanted::MarkedOut(*mark)));
        let marked = each.collect::<io::Result<_>>()?;
        Ok(Rings { all, marked, holding: Holding::Blocks, asked: Asked::at_first(interface) })
    }

    /// Rings that hear nothing until they are bound.
    fn prepare(plan: &Plan) -> io::Result<Rings> {
        let Plan { interface, kind, holding, .. } = *plan;
        let ring = |wanted| Ring::prepare(interface, kind, wanted, holding);
        let all = ring(wanted(interface))?;
        let each = plan.marks.iter().map(|mark| ring(Wanted::MarkedOut(*mark)));
        let marked = each.collect::<io::Result<_>>()?;
        Ok(Rings { all, marked, holding, asked: Asked::at_first(interface) })
    }

    /// These hear the interface of this number from now on, and the others nothing more.
    fn take_over(&mut self, from: &Rings, index: u32) -> io::Result<()> {
        self.ask(from.asked.clone());
        from.each().try_for_each(Ring::silence)?;
        self.each().try_for_each(|ring| ring.bind(index).map(drop))
    }

    /// Asks for what differs from what was asked for last.
    pub(super) fn ask(&mut self, ask: Asked) {
        // Nobody to show or not is the same.
        let same_few =
            ask.few == self.asked.few || ask.few.ends.is_empty() && self.asked.few.ends.is_empty();
        if (ask.wanted != self.asked.wanted || !same_few)
            && self.all.copy(ask.wanted, &ask.few).is_ok()
        {
            (self.asked.wanted, self.asked.few) = (ask.wanted, ask.few);
        }
        if ask.going_out != self.asked.going_out {
            for ring in self.each() {
                // Where a kernel cannot it goes on showing what the filter says.
                let _ = ring.hear(ask.going_out);
            }
            self.asked.going_out = ask.going_out;
        }
    }

    /// Shows what passed, and then what of that was marked; see [`Ring::read`].
    pub(super) fn read(&mut self, mut show: impl FnMut(u64, &Sighting<'_>)) -> u32 {
        let shown = self.all.read(&mut show);
        for ring in &mut self.marked {
            ring.read(&mut show);
        }
        shown
    }

    pub(super) fn asked(&self) -> &Asked {
        &self.asked
    }

    pub(super) fn holding(&self) -> Holding {
        self.holding
    }

    /// The ring of every packet.
    pub(super) fn all(&self) -> &Ring {
        &self.all
    }

    pub(super) fn stats(&mut self) -> RingStats {
        self.all.stats().unwrap_or_default()
    }

    fn each(&self) -> impl Iterator<Item = &Ring> {
        std::iter::once(&self.all).chain(&self.marked)
    }
}

impl Asked {
    /// Of rings that were made just now.
    fn at_first(interface: Interface) -> Asked {
        Asked { wanted: wanted(interface), few: Few::default(), going_out: GoingOut::Heard }
    }
}

/// Rings that take over from others. Making and closing them takes a kernel so long that it is done beside.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    coming: Option<JoinHandle<io::Result<Rings>>>,
    /// They hear nothing more, and are read on until then.
    going: Option<(Rings, Time)>,
    try_at: Time,
}

impl Exchange {
    /// Exchanges rings by and by for such as are planned. Answers what the old ones counted once they were.
    ///
    /// # Errors
    /// Where neither hear anything any more.
    pub(super) fn go_on(
        &mut self,
        now: Time,
        rings: &mut Rings,
        index: u32,
        plan: impl FnOnce() -> Plan,
        holding: Holding,
    ) -> io::Result<Option<RingStats>> {
        if let Some((old, _)) = self.going.take_if(|(_, until)| now > *until) {
            let closed = thread::Builder::new().spawn(move || drop(old));
            // Without a thread it was closed here.
            drop(closed);
        }
        if rings.holding == holding {
            return Ok(None);
        }
        if self.coming.is_none() && self.going.is_none() && now >= self.try_at {
            self.try_at = now + ANEW_AFTER;
            let plan = plan();
            self.coming = thread::Builder::new().spawn(move || Rings::prepare(&plan)).ok();
        }
        let Some(ready) = self.coming.take_if(|coming| coming.is_finished()) else {
            return Ok(None);
        };
        let Ok(Ok(mut new)) = ready.join() else { return Ok(None) };
        if new.holding != holding {
            return Ok(None);
        }
        let counted = rings.stats();
        new.take_over(rings, index)?;
        self.going = Some((std::mem::replace(rings, new), now + READ_ON));
        Ok(Some(counted))
    }

    /// Shows what was heard before others took over.
    pub(super) fn read(&mut self, show: impl FnMut(u64, &Sighting<'_>)) -> u32 {
        self.going.as_mut().map_or(0, |(old, _)| old.read(show))
    }
}

/// What an engine wants to see of an interface.
pub(super) fn wanted(interface: Interface) -> Wanted {
    match interface {
        Interface::Wan => Wanted::ShareOut,
        Interface::Lan(_) => Wanted::DataOutHeadersIn,
    }
}
