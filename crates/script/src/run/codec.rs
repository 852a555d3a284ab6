//! Every segment of a script is also written as bytes and read back, so that the scripts test the
//! codec too.

use ackord_units::Seq;
use ackord_wire::{
    Ecn, FlowAddresses, FlowId, FlowNodes, IpFields, IpVersion, NodeId, Payload, Segment, Side,
    decode, encode,
};

/// The two ends of a script's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    addresses: FlowAddresses,
}

impl Ends {
    pub(crate) fn new(ip: IpVersion) -> Ends {
        let nodes = FlowNodes { client: NodeId(1), server: NodeId(2) };
        Ends { addresses: FlowAddresses::of(FlowId(0), nodes, ip) }
    }

    /// The IP packet that carries the segment.
    ///
    /// # Errors
    /// Why there is no such packet.
    pub(crate) fn packet(
        &self,
        from: Side,
        segment: &Segment,
        ecn: Ecn,
    ) -> Result<Vec<u8>, String> {
        let payload = payload(segment.seq, segment.payload_len);
        let ip = IpFields { ecn, ..IpFields::default() };
        let mut bytes = Vec::new();
        let endpoints = self.addresses.endpoints(from);
        encode(endpoints, ip, segment, Payload::Bytes(&payload), &mut bytes)
            .map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// The segment, written and read back.
    ///
    /// # Errors
    /// What became of it on the way.
    pub(super) fn carry(
        &self,
        from: Side,
        segment: &Segment,
        ecn: Ecn,
    ) -> Result<(Segment, Ecn), String> {
        let bytes = self.packet(from, segment, ecn)?;
        let read = decode(&bytes).map_err(|error| format!("the packet cannot be read: {error}"))?;
        let arrived = &bytes[read.payload.clone()];
        if arrived != payload(segment.seq, segment.payload_len) {
            return Err("the payload changes when it is written and read back".to_owned());
        }
        if read.endpoints != self.addresses.endpoints(from) {
            return Err(format!("the addresses became {:?}", read.endpoints));
        }
        if (read.segment, read.ip.ecn) != (*segment, ecn) {
            let now = (read.segment, read.ip.ecn);
            return Err(format!("{:?} was written and {now:?} read", (segment, ecn)));
        }
        Ok((read.segment, read.ip.ecn))
    }
}

/// Bytes that tell where they belong.
fn payload(seq: Seq, len: u32) -> Vec<u8> {
    (0..len).map(|at| ((seq + at).0 % 251) as u8).collect()
}
