//! An interface of the gateway, which may go and come back.

use crate::config::MarkMatch;
use crate::engine::{Attention, Leaving};
use crate::ring::{Few, Holding};
use crate::{
    Claim, Claims, GoingOut, Injection, Interface, LinkKind, Pace, Ring, RingStats, Sighting,
    Wanted,
};
use ackord_units::{Rate, Span, Time};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{getsockopt, sockopt};
use rings::{Asked, Exchange, Plan, Rings};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

mod rings;

/// How often it is looked whether an interface is there (again).
const LOOK_EVERY: Span = Span::from_millis(100);

/// An interface.
#[derive(Debug)]
pub struct Port {
    name: String,
    interface: Interface,
    kind: LinkKind,
    rings: Option<Rings>,
    exchange: Exchange,
    /// What is asked of marks.
    marks: Vec<MarkMatch>,
    index: u32,
    /// Where it is claimed, unless others may observe it too.
    claims: Option<Arc<Claims>>,
    claim: Option<Arc<Claim>>,
    /// Why an interface that is there is not observed.
    trouble: Option<String>,
    look_at: Time,
    /// What rings that are gone had counted.
    before: RingStats,
    /// How often it was lost.
    losses: u64,
    /// How much data that goes out is copied, and how much goes out.
    copied: Rate,
    pace: Pace,
    bytes_out: u64,
}

impl Port {
    /// The interface of this name. It is told which packets leave with one of these marks.
    ///
    /// # Errors
    /// As of [`crate::Ring::open`].
    pub fn open(name: &str, interface: Interface, marks: &[MarkMatch]) -> io::Result<Port> {
        let mut port = Port::new(name, interface, marks);
        port.begin(if_nametoindex(name)?)?;
        Ok(port)
    }

    /// Opens the interface of this name, or waits for it if there is none yet. A LAN interface is claimed, so that no
    /// other gateway observes it.
    ///
    /// # Errors
    /// As of [`Port::open`], except that a missing interface is no error; [`io::ErrorKind::ResourceBusy`] if another
    /// gateway observes it.
    pub fn await_interface(
        name: &str,
        interface: Interface,
        marks: &[MarkMatch],
        claims: &Arc<Claims>,
    ) -> io::Result<Port> {
        let mut port = Port::new(name, interface, marks);
        // Connections are observed at LAN interfaces; several gateways may share a WAN interface.
        port.claims = matches!(interface, Interface::Lan(_)).then(|| Arc::clone(claims));
        let begun = if_nametoindex(name).map_err(io::Error::from).and_then(|at| port.begin(at));
        match begun {
            Err(error) if is_absent(&error) => {
                // A missing privilege is reported now, not when the interface comes.
                Ring::prepare(interface, port.kind, rings::wanted(interface), Holding::Queue)?;
            }
            begun => begun?,
        }
        Ok(port)
    }

    fn new(name: &str, interface: Interface, marks: &[MarkMatch]) -> Port {
        Port {
            name: name.to_owned(),
            interface,
            kind: LinkKind::Ethernet,
            rings: None,
            exchange: Exchange::default(),
            marks: marks.to_vec(),
            index: 0,
            claims: None,
            claim: None,
            trouble: None,
            look_at: Time::ZERO,
            before: RingStats::default(),
            losses: 0,
            copied: Rate::from_bits_per_sec(u64::MAX),
            pace: Pace::new(Time::ZERO),
            bytes_out: 0,
        }
    }

    /// Begins to observe the interface with this index.
    fn begin(&mut self, index: u32) -> io::Result<()> {
        let claims = self.claims.as_ref();
        self.claim = claims.map(|claims| claims.claim(index)).transpose()?;
        let rings = Rings::open(&self.name, self.interface, &self.marks)?;
        self.kind = rings.all().kind();
        (self.rings, self.index, self.bytes_out) = (Some(rings), index, 0);
        Ok(())
    }

    /// Where more data than this goes out only its headers are copied.
    pub fn copy_at_most(&mut self, rate: Rate) {
        self.copied = rate;
    }

    /// Looks how much goes out, and asks its rings for what an engine wants to be shown: data or headers, nothing of
    /// connections that are let pass, nothing that nobody learns from. Rings that hold packets otherwise than it
    /// wants take over by and by.
    pub(crate) fn attend(&mut self, now: Time, attention: &Attention<'_>) {
        self.exchange(now, attention.holding);
        let Some(rings) = &self.rings else { return };
        if self.interface != Interface::Wan {
            let bytes_out = rings.all().bytes_out();
            self.pace.look(now, self.copied);
            self.pace.add(bytes_out.saturating_sub(self.bytes_out));
            self.bytes_out = bytes_out;
        }
        let ask = self.ask(attention, rings.asked().wanted);
        if let Some(rings) = &mut self.rings {
            rings.ask(ask);
        }
    }

    fn exchange(&mut self, now: Time, holding: Holding) {
        let Some(rings) = &mut self.rings else { return };
        let (interface, kind) = (self.interface, self.kind);
        let plan = || Plan { interface, kind, marks: self.marks.clone(), holding };
        match self.exchange.go_on(now, rings, self.index, plan, holding) {
            Ok(None) => {}
            Ok(Some(counted)) => {
                self.count(counted);
                self.bytes_out = 0;
            }
            // It will be looked for as one that went.
            Err(_) => self.lose(),
        }
    }

    /// What to ask its rings for that were asked for this.
    fn ask(&self, attention: &Attention<'_>, before: Wanted) -> Asked {
        let (fast, is_wan) = (attention.fast, self.interface == Interface::Wan);
        let here = fast.connections.iter().filter(|(lan, _)| is_wan || *lan == self.interface);
        let few = Few {
            ends: here.map(|(_, key)| key.endpoints(self.interface)).take(Few::MOST).collect(),
            // At the WAN interface they are not looked at.
            are_shown: fast.are_shown && !is_wan,
        };
        let leaving = if is_wan { attention.by_wan } else { attention.by_lan };
        let wanted = match leaving {
            Leaving::Unheard => before,
            Leaving::Share if is_wan => Wanted::ShareOut,
            Leaving::All if is_wan => Wanted::HeadersOut,
            _ if self.pace.is_fast() => Wanted::Headers,
            _ => rings::wanted(self.interface),
        };
        let going_out = match leaving {
            Leaving::Unheard => GoingOut::Unheard,
            Leaving::Share | Leaving::All => GoingOut::Heard,
        };
        Asked { wanted, few, going_out }
    }

    /// Whether only headers are copied, since there is too much else.
    pub fn copies_headers(&self) -> bool {
        self.rings.as_ref().is_some_and(|rings| rings.asked().wanted == Wanted::Headers)
    }

    /// Whether packets are asked for one by one, since there are few.
    pub fn asks_one_by_one(&self) -> bool {
        self.rings.as_ref().is_some_and(|rings| rings.holding() == Holding::Queue)
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
        self.rings.as_ref().map(|_| self.index)
    }

    /// How often it was lost.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Index of the interface when it was last observed; zero before.
    pub fn last_index(&self) -> u32 {
        self.index
    }

    /// Returns why the interface is not observed although it is there.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// What to wait for, while it is there.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.rings.as_ref().map(|rings| rings.all().as_fd())
    }

    /// Looks whether the interface is still the one that it was. Answers whether that has changed.
    pub fn look(&mut self, now: Time, is_troubled: bool) -> bool {
        if now < self.look_at && !is_troubled {
            return false;
        }
        self.look_at = now + LOOK_EVERY;
        if let Some(rings) = self.rings.as_ref().filter(|_| is_troubled) {
            // Reading the error clears it: an interface that is down and stays what it is comes up again.
            let _ = getsockopt(rings.all(), sockopt::SocketError);
        }
        let index = if_nametoindex(self.name.as_str()).ok();
        match (&self.rings, index) {
            (Some(_), Some(index)) if index == self.index => false,
            (Some(_), _) => {
                self.lose();
                true
            }
            (None, Some(index)) => {
                self.trouble = match self.begin(index) {
                    Err(error) if !is_absent(&error) => Some(error.to_string()),
                    _ => None,
                };
                self.rings.is_some()
            }
            (None, None) => {
                self.trouble = None;
                false
            }
        }
    }

    fn lose(&mut self) {
        if let Some(mut rings) = self.rings.take() {
            self.count(rings.stats());
        }
        self.exchange = Exchange::default();
        self.claim = None;
        self.losses += 1;
    }

    /// What rings have counted that are gone.
    fn count(&mut self, stats: RingStats) {
        self.before.packets += stats.packets;
        self.before.lost += stats.lost;
    }

    /// Shows what passed, and then what of that was marked; see [`crate::Ring::read`].
    pub fn read(&mut self, mut show: impl FnMut(u64, &Sighting<'_>)) -> u32 {
        let before = self.exchange.read(&mut show);
        before + self.rings.as_mut().map_or(0, |rings| rings.read(&mut show))
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// As of [`crate::Ring::send`]; ENODEV where the interface is gone.
    pub fn send(&self, injection: &Injection) -> Result<(), Errno> {
        self.rings.as_ref().ok_or(Errno::ENODEV)?.all().send(&injection.frame)
    }

    /// How many packets passed, and how many its ring had no room for.
    pub fn stats(&mut self) -> RingStats {
        let stats = self.rings.as_mut().map(Rings::stats).unwrap_or_default();
        RingStats {
            packets: self.before.packets + stats.packets,
            lost: self.before.lost + stats.lost,
        }
    }
}

/// True if there is no such interface (any more).
fn is_absent(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO))
}
