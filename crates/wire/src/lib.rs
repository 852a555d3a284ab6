//! Packets as values, and the bytes they become.
//!
//! | file | what |
//! | --- | --- |
//! | `segment.rs` | [`Segment`], a TCP header as a value with the length of its payload |
//! | `packet.rs` | [`Packet`], what travels along a path: a segment and where it goes |
//! | `addresses.rs` | [`FlowAddresses`], the addresses and ports of simulated flows |
//! | `codec.rs` | [`encode`] and [`decode`]: IPv4, IPv6 and TCP with checksums |
//! | `pcapng.rs` | [`PcapngWriter`] and [`PcapngReader`]: capture files |
//!
//! In the simulator nobody ever makes the bytes; captures and the live driver do.
//! Not modelled: IP options and extension headers, fragmentation.

mod addresses;
mod codec;
mod packet;
mod pcapng;
mod segment;

pub use addresses::{Endpoints, FlowAddresses, FlowNodes, host_address};
pub use codec::{
    DecodeError, Decoded, EncodeError, IpDecoded, IpFields, OptionsError, Payload, decode,
    decode_ip, encode, encode_packet, set_ecn,
};
pub use packet::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};
pub use pcapng::{
    CapturedInterface, CapturedPacket, Damage, InterfaceIndex, LinkType, PacketRecord,
    PcapngReader, PcapngWriter, ReadError,
};
pub use segment::{Flags, MAX_SACK_BLOCKS, Options, SackBlock, SackBlocks, Segment, Timestamps};
