//! An advisor at interfaces, in real time. Nothing but packet sockets is opened, and nothing is sent.

use super::{Advice, AdviseConfig, Advisor, Recording};
use crate::config::Rules;
use crate::{Interface, Limits, Port, kinds};
use ackord_daemon::{monotonic_nanos, wall_nanos};
use ackord_units::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::ops::ControlFlow;

/// Somebody is asked this often whether to go on.
const TURN: Span = Span::from_millis(50);

/// Looks on at these LAN interfaces until `go_on`, which is told for how long that has been, says no. All
/// that mobile hosts get and answer passes there; the other side is not looked at. The headers of packets go to
/// `recording` if there is one.
///
/// # Errors
/// Where an interface is not there or may not be looked at (CAP_NET_RAW), and where the kernel refuses to wait.
pub fn look_on(
    lan: &[String],
    rules: Rules,
    limits: Limits,
    mut recording: Option<&mut Recording>,
    mut go_on: impl FnMut(Span) -> ControlFlow<()>,
) -> io::Result<Advice> {
    let open = |(which, name): (usize, &String)| {
        Port::open(name, Interface::Lan(which as u8), &[])
            .map_err(|error| io::Error::new(error.kind(), format!("`{name}`: {error}")))
    };
    let mut ports: Vec<Port> = lan.iter().enumerate().map(open).collect::<io::Result<_>>()?;
    let (wan, lan) = kinds(&ports);
    let mut advisor = Advisor::new(AdviseConfig { limits, wan, lan: lan.clone(), rules });
    let began = monotonic_nanos();
    let since = |now: u64| Time::from_nanos(now.saturating_sub(began));
    let observed = loop {
        let elapsed = since(monotonic_nanos()).saturating_since(Time::ZERO);
        if go_on(elapsed).is_break() {
            break elapsed;
        }
        wait(&ports)?;
        // Packets are stamped with the clock on the wall, which may be set.
        let latest = monotonic_nanos();
        let wall_ahead = wall_nanos().saturating_sub(latest.saturating_sub(began));
        let latest = since(latest);
        for port in &mut ports {
            port.look(latest, false);
            port.read(|nanos, sighting| {
                let seen_at = Time::from_nanos(nanos.saturating_sub(wall_ahead));
                let now = seen_at.min(latest);
                advisor.see(now, sighting);
                if let (Some(recording), Interface::Lan(which)) =
                    (recording.as_deref_mut(), sighting.interface)
                    && let Some(kind) = lan.get(usize::from(which))
                {
                    recording.see(now, sighting, *kind);
                }
            });
        }
    };
    let lost = ports.iter_mut().map(|port| port.stats().lost).sum();
    Ok(Advice { observed, lost, ..advisor.advice() })
}

fn wait(ports: &[Port]) -> io::Result<()> {
    let descriptors = ports.iter().filter_map(Port::descriptor);
    let mut polled: Vec<PollFd<'_>> =
        descriptors.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)).collect();
    let turn = TimeSpec::from_duration(std::time::Duration::from_nanos(TURN.as_nanos()));
    match ppoll(&mut polled, Some(turn), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
