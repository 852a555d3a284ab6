//! Packets as values, and the bytes they become.
//!
//! | file | what |
//! | --- | --- |
//! | `segment.rs` | [`Segment`], a TCP header as a value with the length of its payload |
//! | `packet.rs` | [`Packet`], what travels along a path: a segment and where it goes |
//! | `addresses.rs` | [`FlowAddresses`], the addresses and ports of simulated flows |
//! | `codec.rs` | [`encode`] and [`decode`]: IPv4, IPv6 and TCP with checksums |
//! | `pcapng.rs` | [`PcapngWriter`] and [`PcapngReader`]: capture files |
//! | `pcap.rs`, `capture.rs` | [`PcapReader`], the older format; [`CaptureReader`], either |
//! | `byte_order.rs` | what the readers of both share |
//! | `stream.rs` | [`SendBuffer`] and [`ReceiveBuffer`]: real bytes by stream offset |
//! | `frame.rs` | [`glimpse`]: what a captured frame says of a connection |
//!
//! In the simulator nobody ever makes the bytes; captures and the live driver do.
//! Not modelled: IP options and extension headers, fragmentation.

mod addresses;
mod byte_order;
mod capture;
mod codec;
mod frame;
mod packet;
mod pcap;
mod pcapng;
mod segment;
mod stream;

pub use addresses::{Endpoints, FlowAddresses, FlowNodes, host_address};
pub use capture::CaptureReader;
pub use codec::{
    DecodeError, Decoded, EncodeError, IpDecoded, IpFields, OptionsError, Payload, Piece,
    TcpChecksum, UdpDecoded, decode, decode_ip, decode_offloaded, decode_udp, encode,
    encode_packet, encode_udp, set_ecn, write_piece,
};
pub use frame::{FrameError, Glimpse, glimpse};
pub use packet::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};
pub use pcap::PcapReader;
pub use pcapng::{
    CapturedInterface, CapturedPacket, Damage, InterfaceIndex, LinkType, PacketRecord,
    PcapngReader, PcapngWriter, ReadError,
};
pub use segment::{Flags, MAX_SACK_BLOCKS, Options, SackBlock, SackBlocks, Segment, Timestamps};
pub use stream::{ReceiveBuffer, SendBuffer};
