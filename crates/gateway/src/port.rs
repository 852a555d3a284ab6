//! An interface of the gateway, which may go and come back.

use crate::config::MarkMatch;
use crate::engine::{Attention, Leaving};
use crate::ring::Few;
use crate::{GoingOut, Injection, Interface, LinkKind, Pace, Ring, RingStats, Sighting, Wanted};
use ackord_units::{Rate, Span, Time};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{getsockopt, sockopt};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// How often it is looked whether an interface is there (again).
const LOOK_EVERY: Span = Span::from_millis(100);

/// An interface.
#[derive(Debug)]
pub struct Port {
    name: String,
    interface: Interface,
    kind: LinkKind,
    ring: Option<Ring>,
    /// What is asked of marks, and rings of the packets that have them.
    marks: Vec<MarkMatch>,
    marked: Vec<Ring>,
    index: u32,
    look_at: Time,
    /// What rings that are gone had counted.
    before: RingStats,
    /// How often it was lost.
    losses: u64,
    /// How much data that goes out is copied, and how much goes out.
    copied: Rate,
    pace: Pace,
    octets_out: u64,
    asked: Asked,
}

/// What its ring was last asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    wanted: Wanted,
    /// Connections that are let pass.
    few: Few,
    going_out: GoingOut,
}

impl Asked {
    /// Of a ring that was opened just now.
    fn at_first(interface: Interface) -> Asked {
        Asked { wanted: wanted(interface), few: Few::default(), going_out: GoingOut::Heard }
    }
}

impl Port {
    /// The interface of this name. It is told which packets leave with one of these marks.
    ///
    /// # Errors
    /// As of [`Ring::open`].
    pub fn open(name: &str, interface: Interface, marks: &[MarkMatch]) -> io::Result<Port> {
        let ring = Ring::open(name, interface, wanted(interface))?;
        let marked = rings_of_marked(name, interface, marks)?;
        let index = if_nametoindex(name)?;
        Ok(Port {
            name: name.to_owned(),
            interface,
            kind: ring.kind(),
            ring: Some(ring),
            marks: marks.to_vec(),
            marked,
            index,
            look_at: Time::ZERO,
            before: RingStats::default(),
            losses: 0,
            copied: Rate::from_bits_per_sec(u64::MAX),
            pace: Pace::new(Time::ZERO),
            octets_out: 0,
            asked: Asked::at_first(interface),
        })
    }

    /// Where more data than this goes out only its headers are copied.
    pub fn copy_at_most(&mut self, rate: Rate) {
        self.copied = rate;
    }

    /// Looks how much goes out, and asks its rings for what an engine wants to be shown: data or headers, nothing of
    /// connections that are let pass, nothing that nobody learns from.
    pub(crate) fn attend(&mut self, now: Time, attention: &Attention<'_>) {
        let Some(ring) = &self.ring else { return };
        let is_wan = self.interface == Interface::Wan;
        if !is_wan {
            let octets = ring.octets_out().saturating_sub(self.octets_out);
            self.octets_out = ring.octets_out();
            self.pace.look(now, self.copied);
            self.pace.add(octets);
        }
        let ask = self.ask(attention);
        // Nobody to show or not is the same.
        let same_few =
            ask.few == self.asked.few || ask.few.ends.is_empty() && self.asked.few.ends.is_empty();
        if (ask.wanted != self.asked.wanted || !same_few) && ring.copy(ask.wanted, &ask.few).is_ok()
        {
            (self.asked.wanted, self.asked.few) = (ask.wanted, ask.few);
        }
        if ask.going_out != self.asked.going_out {
            for ring in std::iter::once(ring).chain(&self.marked) {
                // Where a kernel cannot it goes on showing what the filter says.
                let _ = ring.hear(ask.going_out);
            }
            self.asked.going_out = ask.going_out;
        }
    }

    /// What to ask its ring for.
    fn ask(&self, attention: &Attention<'_>) -> Asked {
        let (fast, is_wan) = (attention.fast, self.interface == Interface::Wan);
        let here = fast.connections.iter().filter(|(lan, _)| is_wan || *lan == self.interface);
        let few = Few {
            ends: here.map(|(_, key)| key.endpoints(self.interface)).take(Few::MOST).collect(),
            // At the WAN interface they are not looked at.
            are_shown: fast.are_shown && !is_wan,
        };
        let leaving = if is_wan { attention.by_wan } else { attention.by_lan };
        let wanted = match leaving {
            Leaving::Unheard => self.asked.wanted,
            Leaving::Share if is_wan => Wanted::ShareOut,
            Leaving::All if is_wan => Wanted::HeadersOut,
            _ if self.pace.is_fast() => Wanted::Headers,
            _ => wanted(self.interface),
        };
        let going_out = match leaving {
            Leaving::Unheard => GoingOut::Unheard,
            Leaving::Share | Leaving::All => GoingOut::Heard,
        };
        Asked { wanted, few, going_out }
    }

    /// Whether only headers are copied, since there is too much else.
    pub fn copies_headers(&self) -> bool {
        self.asked.wanted == Wanted::Headers
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of the gateway's interfaces it is.
    pub fn interface(&self) -> Interface {
        self.interface
    }

    /// What kind of link it has.
    pub fn kind(&self) -> LinkKind {
        self.kind
    }

    /// Its number, while it is there.
    pub fn index(&self) -> Option<u32> {
        self.ring.as_ref().map(|_| self.index)
    }

    /// How often it was lost.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// What to wait for, while it is there.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.ring.as_ref().map(AsFd::as_fd)
    }

    /// Looks whether the interface is still the one that it was. Answers whether that has changed.
    pub fn look(&mut self, now: Time, is_troubled: bool) -> bool {
        if now < self.look_at && !is_troubled {
            return false;
        }
        self.look_at = now + LOOK_EVERY;
        if let Some(ring) = self.ring.as_ref().filter(|_| is_troubled) {
            // Reading the error clears it: an interface that is down and stays what it is comes up again.
            let _ = getsockopt(&ring.as_fd(), sockopt::SocketError);
        }
        let index = if_nametoindex(self.name.as_str()).ok();
        match (&self.ring, index) {
            (Some(_), Some(index)) if index == self.index => false,
            (Some(_), _) => {
                self.before = self.stats();
                self.ring = None;
                self.marked.clear();
                self.losses += 1;
                true
            }
            (None, Some(index)) => {
                self.ring = Ring::open(&self.name, self.interface, wanted(self.interface)).ok();
                (self.octets_out, self.asked) = (0, Asked::at_first(self.interface));
                self.marked =
                    rings_of_marked(&self.name, self.interface, &self.marks).unwrap_or_default();
                self.index = index;
                self.kind = self.ring.as_ref().map_or(self.kind, Ring::kind);
                self.ring.is_some()
            }
            (None, None) => false,
        }
    }

    /// Shows what passed, and then what of that was marked; see [`Ring::read`].
    pub fn read(&mut self, mut show: impl FnMut(u64, &Sighting<'_>)) -> u32 {
        let shown = self.ring.as_mut().map_or(0, |ring| ring.read(&mut show));
        for ring in &mut self.marked {
            ring.read(&mut show);
        }
        shown
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// As of [`Ring::send`]; ENODEV where the interface is gone.
    pub fn send(&self, injection: &Injection) -> Result<(), Errno> {
        self.ring.as_ref().ok_or(Errno::ENODEV)?.send(&injection.frame)
    }

    /// How many packets passed, and how many its ring had no room for.
    pub fn stats(&mut self) -> RingStats {
        let of_ring = self.ring.as_mut().and_then(|ring| ring.stats().ok()).unwrap_or_default();
        RingStats {
            packets: self.before.packets + of_ring.packets,
            lost: self.before.lost + of_ring.lost,
        }
    }
}

fn rings_of_marked(name: &str, interface: Interface, marks: &[MarkMatch]) -> io::Result<Vec<Ring>> {
    let each = marks.iter().map(|mark| Ring::open(name, interface, Wanted::MarkedOut(*mark)));
    each.collect()
}

/// What an engine wants to see of an interface.
fn wanted(interface: Interface) -> Wanted {
    match interface {
        Interface::Wan => Wanted::ShareOut,
        Interface::Lan(_) => Wanted::DataOutHeadersIn,
    }
}
