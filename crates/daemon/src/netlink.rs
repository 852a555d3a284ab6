//! What is asked of the kernel's rtnetlink(7), and what it is told.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;

/// A socket to the kernel's routing of this network namespace.
#[derive(Debug)]
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// One of which nothing was asked.
    ///
    /// # Errors
    /// Where there are no more descriptors.
    pub fn open() -> io::Result<Netlink> {
        let socket = Socket::new(NETLINK_ROUTE)?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Asks, and shows what is answered.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn ask(
        &mut self,
        question: RouteNetlinkMessage,
        flags: u16,
        mut show: impl FnMut(RouteNetlinkMessage),
    ) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(question));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        loop {
            let (answers, _) = self.socket.recv_from_full()?;
            let mut rest = &answers[..];
            while rest.len() >= 16 {
                let len = u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
                let Some(one) = rest.get(..len.max(16)) else { break };
                let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(one)
                    .map_err(|error| io::Error::other(format!("rtnetlink: {error}")))?;
                rest = rest.get(len.max(16).next_multiple_of(4)..).unwrap_or_default();
                if answer.header.sequence_number != self.sequence {
                    continue;
                }
                match answer.payload {
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::Error(error) if error.code.is_none() => return Ok(()),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(message) => {
                        show(message);
                        if flags & NLM_F_DUMP == 0 && flags & NLM_F_ACK == 0 {
                            return Ok(());
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Tells, and waits until it is done.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn change(&mut self, what: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.ask(what, flags | NLM_F_ACK, |_| {})
    }
}
