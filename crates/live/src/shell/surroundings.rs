//! The network that a shell is started in: which of its addresses are taken, and whether it is
//! itself the inside of a shell.
//!
//! Nothing here changes anything. That a block is in use is said by a socket of an abstract name,
//! which belongs to the network namespace, takes no file, and is gone with whoever has it.

use super::{Block, ShellError};
use ackord_sys::DEVICE;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use std::net::{IpAddr, Ipv4Addr};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Addresses and routes of the network that this process is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    /// Each interface's addresses with the lengths of their prefixes.
    addresses: Vec<(String, IpAddr, u8)>,
    /// Networks of IPv4 that there is a route to, but for those through a shell's own device.
    routes: Vec<(Ipv4Addr, u8)>,
}

/// A block that nobody else has while this is kept.
#[derive(Debug)]
pub(super) struct Claim {
    /// The addresses of the shell.
    pub(super) block: Block,
    /// The block of the shell that we are in, if we are in one.
    pub(super) parent: Option<Block>,
    _held: UnixDatagram,
}

impl Surroundings {
    /// Those of this process.
    pub(super) fn read() -> nix::Result<Surroundings> {
        let addresses = getifaddrs()?.filter_map(|entry| {
            let address = ip(entry.address?)?;
            let bits = entry.netmask.and_then(ip).map_or(max_bits(address), prefix_bits);
            Some((entry.interface_name, address, bits))
        });
        let routes = std::fs::read_to_string("/proc/self/net/route").unwrap_or_default();
        Ok(Surroundings { addresses: addresses.collect(), routes: routes_of(&routes) })
    }

    /// The addresses of this machine, or rather namespace.
    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.iter().map(|(_, address, _)| *address)
    }

    /// The block of the shell whose inside this is: the address of its device says so.
    pub(super) fn parent(&self) -> Option<Block> {
        self.addresses.iter().find_map(|(device, address, bits)| match address {
            IpAddr::V4(address) if device == DEVICE => Block::of_inside(*address, *bits),
            _ => None,
        })
    }

    /// Whether nothing here has an address of the block, or a route into it.
    fn is_free(&self, block: Block) -> bool {
        let addresses = self.addresses.iter().any(|(_, address, _)| block.contains(*address));
        // A route to more than the block stays what it is for everything else.
        let routes = self.routes.iter();
        let mut inside = routes.filter(|(_, bits)| *bits >= block.bits());
        !addresses && !inside.any(|(network, bits)| block.overlaps(*network, *bits))
    }

    /// Takes the first block that nobody has.
    ///
    /// # Errors
    /// If one cannot go any deeper, or everything is taken.
    pub(super) fn claim(&self) -> Result<Claim, ShellError> {
        let parent = self.parent();
        let from = parent.unwrap_or(Block::ALL);
        let mut none = true;
        for block in from.children() {
            none = false;
            if self.is_free(block)
                && let Ok(held) = hold(block)
            {
                return Ok(Claim { block, parent, _held: held });
            }
        }
        match none {
            true => Err(ShellError::TooDeep { depth: from.depth() }),
            false => Err(ShellError::NoBlockFree { within: from }),
        }
    }
}

/// Says that a block is in use, unless somebody else has said so.
fn hold(block: Block) -> std::io::Result<UnixDatagram> {
    let name = format!("ackord-shell {block}");
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

fn ip(address: SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

fn max_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// How many bits a mask has.
fn prefix_bits(mask: IpAddr) -> u8 {
    match mask {
        IpAddr::V4(mask) => u32::from(mask).leading_ones() as u8,
        IpAddr::V6(mask) => u128::from(mask).leading_ones() as u8,
    }
}

/// What proc_pid_net(5) has in `route`, but for default routes and those through [`DEVICE`].
fn routes_of(table: &str) -> Vec<(Ipv4Addr, u8)> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_whitespace().collect();
        // In the machine's order of bytes, as the kernel prints a number it has in the network's.
        let number = |at: usize| u32::from_str_radix(fields.get(at)?, 16).ok().map(u32::from_be);
        let (network, mask) = (number(1)?, number(7)?);
        (fields[0] != DEVICE && mask != 0)
            .then(|| (Ipv4Addr::from(network), mask.leading_ones() as u8))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: usize) -> Block {
        Block::ALL.children().nth(number).expect("there are 64")
    }

    fn with(addresses: &[(&str, IpAddr, u8)], routes: &[(Ipv4Addr, u8)]) -> Surroundings {
        let own =
            |(name, address, bits): &(&str, IpAddr, u8)| ((*name).to_owned(), *address, *bits);
        Surroundings { addresses: addresses.iter().map(own).collect(), routes: routes.to_vec() }
    }

    #[test]
    fn a_shell_is_found_by_its_device_and_its_address_and_nothing_else() {
        let inside: IpAddr = block(3).inside().into();
        assert_eq!(with(&[(DEVICE, inside, 16)], &[]).parent(), Some(block(3)));
        assert_eq!(with(&[("eth0", inside, 16)], &[]).parent(), None);
        let served: IpAddr = Ipv4Addr::new(10, 77, 0, 1).into();
        assert_eq!(with(&[(DEVICE, served, 24)], &[]).parent(), None, "`ackord live serve`");
    }

    #[test]
    fn what_an_interface_or_a_route_uses_is_passed_over() {
        let own: IpAddr = Ipv4Addr::new(100, 64, 7, 7).into();
        let busy = with(&[("wg0", own, 32)], &[(Ipv4Addr::new(100, 65, 3, 0), 24)]);
        assert_eq!([0, 1, 2].map(|n| busy.is_free(block(n))), [false, false, true]);
        let broad = with(&[], &[(Ipv4Addr::new(100, 64, 0, 0), 10)]);
        assert!(broad.is_free(block(0)), "a longer prefix takes precedence");
    }

    #[test]
    fn two_at_once_get_two_blocks_and_a_block_given_back_is_given_again() {
        let parent: IpAddr = block(63).inside().into();
        let here = with(&[(DEVICE, parent, 16)], &[]);
        let (first, second) = (here.claim().expect("room"), here.claim().expect("room"));
        assert!(first.block != second.block && first.parent == Some(block(63)));
        let again = first.block;
        drop(first);
        assert_eq!(here.claim().expect("room").block, again);
    }

    #[test]
    fn the_fifth_shell_in_a_row_is_refused() {
        let mut innermost = Block::ALL;
        while let Some(child) = innermost.children().next() {
            innermost = child;
        }
        let here = with(&[(DEVICE, innermost.inside().into(), 28)], &[]);
        assert!(matches!(here.claim(), Err(ShellError::TooDeep { depth: 4 })));
    }

    #[test]
    fn the_kernel_s_table_is_read_in_its_own_order_of_bytes() {
        let table = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
                     eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
                     eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n\
                     ackord0\t00004064\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
        assert_eq!(routes_of(table), [(Ipv4Addr::new(192, 168, 2, 0), 24)]);
        let read = Surroundings::read().expect("there are interfaces");
        assert!(read.addresses().any(|address| address.is_loopback()), "{read:?}");
    }
}
