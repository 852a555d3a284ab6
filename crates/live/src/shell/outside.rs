//! The far end of a shell's link: the network of whoever started it.
//!
//! ```text
//! link ─► write ─┬─ for this machine, or all of it within another shell ─► a TUN device here
//!                ├─ for any other address ─► the gateway: sockets of this process
//!                └─ for the shell's own block ─► nowhere: nobody out here has such an address
//! ```
//!
//! The device has the base address and nothing else; it is gone when this process is, however that
//! came about. Neither routes nor forwarding nor filters of the machine are changed, so nothing can
//! be left behind. Where no device may be made, everything goes to the gateway.
//!
//! Not modelled: addresses that the machine gets while the shell runs are found within two seconds.

use super::{Block, Surroundings};
use crate::addresses::Addresses;
use crate::emulate::{Device, TunDevice};
use crate::relay::{Relay, RelayOptions, RelayReport};
use ackord_sys::{TunHere, TunMade, make_here};
use ackord_units::{Span, Time};
use ackord_wire::FlowId;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// Bytes of IP packet that go through a shell's devices.
pub(super) const MTU: u16 = 1500;
/// The name of the device outside; the kernel counts.
const NAME: &str = "ackout%d";
/// Packets taken from the gateway before its sockets are looked at again.
const PACKETS_BEFORE_A_LOOK: u32 = 32;
/// How long the machine's addresses are taken to be what they were.
const FRESH_FOR: Span = Span::from_secs(2);

/// What is at the far end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A device of this name towards this machine, and the gateway for the rest of the world.
    DeviceAndGateway(String),
    /// A device of this name towards the shell that we are in.
    Device(String),
    /// The gateway for everything, because the kernel lets us make no device here.
    Gateway(Errno),
    /// The gateway for everything, as asked.
    GatewayAsked,
}

/// What has passed at the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideCounts {
    /// Packets handed to the machine through the device.
    pub to_device: u64,
    /// Packets handed to the gateway.
    pub to_gateway: u64,
    /// Packets for addresses of the shell's own block that nobody has.
    pub to_nobody: u64,
    /// What the gateway did with its packets.
    pub gateway: RelayReport,
}

/// The counts, shared with whoever reports when the device is gone.
pub(super) type SharedCounts = Rc<Cell<OutsideCounts>>;

/// The device at the far end.
#[derive(Debug)]
pub(super) struct OutsideDevice {
    block: Block,
    device: Option<TunDevice>,
    /// The device takes IPv6 too.
    device_v6: bool,
    /// Absent where the device takes everything.
    relay: Option<Relay>,
    /// Questions to the base address are the gateway's.
    stands_for_names: bool,
    local: Local,
    epoll: Epoll,
    /// The gateway may have packets that were not read yet.
    pending: bool,
    /// Packets of the gateway since its sockets were last looked at.
    unlooked: u32,
    /// Whose turn it is to be read first, so that neither starves the other.
    turn: u32,
    counts: SharedCounts,
}

/// The addresses of this machine.
#[derive(Debug)]
struct Local {
    addresses: Vec<IpAddr>,
    read_at: Time,
}

impl OutsideDevice {
    /// The far end of the shell that has `block`, within the shell that has `parent` if there is
    /// one.
    pub(super) fn open(
        block: Block,
        parent: Option<Block>,
        only_gateway: bool,
        surroundings: &Surroundings,
    ) -> io::Result<(OutsideDevice, Outside)> {
        let device = if only_gateway { Err(None) } else { device(block).map_err(Some) };
        let outside = match (&device, parent) {
            (Ok(device), Some(_)) => Outside::Device(device.name.clone()),
            (Ok(device), None) => Outside::DeviceAndGateway(device.name.clone()),
            (Err(Some(errno)), _) => Outside::Gateway(*errno),
            (Err(None), _) => Outside::GatewayAsked,
        };
        let name_server = super::names::on_loopback();
        let relay = match &outside {
            Outside::Device(_) => None,
            _ => {
                let base = Addresses { v4: block.base(), v6: block.base_v6() };
                let mut options = RelayOptions::new(base, MTU);
                options.name_server = name_server;
                Some(Relay::new(&options)?)
            }
        };
        let device = device.ok();
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let readable = |number| EpollEvent::new(EpollFlags::EPOLLIN, number);
        if let Some(device) = &device {
            epoll.add(device.file.as_fd(), readable(0))?;
        }
        if let Some(relay) = &relay {
            epoll.add(relay.as_fd(), readable(1))?;
        }
        let has_v6 = |device: &TunMade| !device.refused.iter().any(|(what, _)| what.contains(':'));
        let device = OutsideDevice {
            block,
            device_v6: device.as_ref().is_some_and(has_v6),
            device: device.map(|made| TunDevice::new(made.file, MTU)),
            relay,
            stands_for_names: name_server.is_some(),
            local: Local { addresses: surroundings.addresses().collect(), read_at: Time::ZERO },
            epoll,
            pending: false,
            unlooked: 0,
            turn: 0,
            counts: SharedCounts::default(),
        };
        Ok((device, outside))
    }

    /// What passes here, also when the device is gone.
    pub(super) fn counts(&self) -> SharedCounts {
        Rc::clone(&self.counts)
    }

    fn count(&self, change: impl FnOnce(&mut OutsideCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// Where a packet goes.
    fn way_of(&mut self, now: Time, bytes: &[u8]) -> Destination {
        let Some(to) = destination(bytes) else { return Destination::Nowhere };
        let base = to == IpAddr::V4(self.block.base()) || to == IpAddr::V6(self.block.base_v6());
        if self.block.contains(to) && !base {
            return Destination::Nowhere;
        }
        let device = self.device.is_some() && (to.is_ipv4() || self.device_v6);
        let asks = self.stands_for_names && super::names::is_question(bytes);
        match (device, self.relay.is_some()) {
            (true, false) => Destination::Device,
            (true, true) if !(base && asks) && (base || self.local.has(now, to)) => {
                Destination::Device
            }
            (_, true) => Destination::Gateway,
            (false, false) => Destination::Nowhere,
        }
    }

    fn read_relay(&mut self, now: Time, buffer: &mut [u8]) -> Option<usize> {
        let relay = self.relay.as_mut()?;
        // A connection that always has another packet must not keep the others' timers and sockets
        // from being looked after.
        if relay.deadline().is_some_and(|at| at <= now) {
            relay.handle_deadline(now);
        }
        self.unlooked += 1;
        if !self.pending || self.unlooked >= PACKETS_BEFORE_A_LOOK {
            relay.handle_ready(now);
            (self.pending, self.unlooked) = (true, 0);
        }
        let read = relay.read(buffer);
        self.pending = read.is_some();
        read
    }
}

impl Device for OutsideDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }

    fn longest(&self) -> usize {
        usize::from(MTU)
    }

    fn read_packet(&mut self, now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.turn = self.turn.wrapping_add(1);
        if self.turn.is_multiple_of(8)
            && let Some(len) = self.read_relay(now, buffer)
        {
            return Ok(Some(len));
        }
        if let Some(device) = &mut self.device
            && let Some(len) = device.read_packet(now, buffer)?
        {
            return Ok(Some(len));
        }
        Ok(self.read_relay(now, buffer))
    }

    fn write_packet(&mut self, now: Time, flow: FlowId, bytes: &[u8]) -> io::Result<()> {
        match self.way_of(now, bytes) {
            Destination::Device => {
                self.count(|counts| counts.to_device += 1);
                let device = self.device.as_mut();
                device.map_or(Ok(()), |device| device.write_packet(now, flow, bytes))
            }
            Destination::Gateway => {
                if let Some(relay) = &mut self.relay {
                    relay.write(now, bytes);
                    self.pending = true;
                    let gateway = relay.report();
                    self.count(|counts| {
                        (counts.to_gateway, counts.gateway) = (counts.to_gateway + 1, gateway)
                    });
                }
                Ok(())
            }
            Destination::Nowhere => {
                self.count(|counts| counts.to_nobody += 1);
                Ok(())
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        if self.pending { Some(Time::ZERO) } else { self.relay.as_ref()?.deadline() }
    }
}

impl Local {
    fn has(&mut self, now: Time, address: IpAddr) -> bool {
        if now.saturating_since(self.read_at) >= FRESH_FOR {
            self.read_at = now;
            if let Ok(surroundings) = Surroundings::read() {
                self.addresses = surroundings.addresses().collect();
            }
        }
        self.addresses.contains(&address)
    }
}

/// Where a packet goes that has come to the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Device,
    Gateway,
    Nowhere,
}

/// The device towards this machine, with the base address.
fn device(block: Block) -> Result<TunMade, Errno> {
    let addresses = block.outside_addresses();
    let base = addresses[0].0.to_string();
    let wanted = TunHere { name: NAME.to_owned(), addresses, routes: Vec::new(), mtu: MTU };
    let made = make_here(&wanted)?;
    match made.refused.iter().find(|(what, _)| what.contains(&base)) {
        Some((_, errno)) => Err(*errno),
        None => Ok(made),
    }
}

/// Where an IP packet goes; nothing if it is none.
fn destination(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.first()? >> 4 {
        4 => Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(16..20)?).ok()?))),
        6 => Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(24..40)?).ok()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Seq;
    use ackord_wire::{Ecn, Endpoints, Flags, IpFields, Payload, Segment, decode, encode};
    use etherparse::PacketBuilder;
    use std::net::{SocketAddr, TcpListener};

    /// The gateway's own work must not wait until it has no packet left: under load it always has.
    #[test]
    fn a_connection_is_looked_after_while_another_always_has_a_packet() {
        let surroundings = Surroundings::read().expect("a network");
        let block = Block::ALL.children().next().expect("a block");
        let (mut device, _) =
            OutsideDevice::open(block, None, true, &surroundings).expect("descriptors");
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = server.local_addr().expect("its own").port();
        let base = block.base();
        let ends = Endpoints {
            src: SocketAddr::new(block.inside().into(), 5_000),
            dst: SocketAddr::new(base.into(), port),
        };
        let (mut syn, mut echo) = (Vec::new(), Vec::new());
        let segment =
            Segment { seq: Seq(7), flags: Flags::SYN, window: 9_000, ..Segment::default() };
        let fields = IpFields { ecn: Ecn::NotEct, ..IpFields::default() };
        encode(ends, fields, &segment, Payload::Zeros(0), &mut syn).expect("it fits");
        PacketBuilder::ipv4(block.inside().octets(), base.octets(), 64)
            .icmpv4_echo_request(1, 1)
            .write(&mut echo, b"are you there?")
            .expect("it fits");
        let mut buffer = vec![0; device.longest()];
        device.write_packet(Time::ZERO, FlowId(0), &syn).expect("taken");
        device.write_packet(Time::ZERO, FlowId(0), &echo).expect("taken");
        let answer = (0..1_000).find_map(|_| {
            // One comes in for each that goes out: there always is another.
            device.write_packet(Time::ZERO, FlowId(0), &echo).expect("taken");
            let len =
                device.read_packet(Time::ZERO, &mut buffer).expect("sound").expect("a packet");
            decode(&buffer[..len]).ok()
        });
        let flags = answer.expect("the server is there").segment.flags;
        assert_eq!(flags, Flags::SYN | Flags::ACK);
    }
}
