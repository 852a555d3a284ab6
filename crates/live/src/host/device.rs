//! Our host at its end of an emulated path. It lives in the emulation's own time: what it does happens
//! at its theoretical instant, as everything on the path does.

use super::{Arrival, Host, Service, Uplink};
use crate::emulate::Device;
use crate::watch::Watch;
use ackord_units::Time;
use ackord_wire::{DecodeError, Endpoints, FlowId, decode};
use nix::sys::eventfd::EventFd;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// Our host with what it sends, shared with whoever opens its connections.
pub(crate) struct HostEnd {
    pub(crate) host: Host,
    uplink: Uplink,
    watch: Watch,
    /// When it last did something.
    at: Time,
    /// Packets it has sent.
    pub(crate) sent: u64,
    /// Packets it has got.
    pub(crate) received: u64,
}

impl HostEnd {
    /// A host whose events go to `watch`.
    pub(crate) fn new(host: Host, watch: Watch) -> HostEnd {
        let (uplink, at) = (Uplink::default(), Time::ZERO);
        HostEnd { host, uplink, watch, at, sent: 0, received: 0 }
    }

    /// Opens a connection; fails if one with these endpoints is still there.
    pub(crate) fn connect(
        &mut self,
        now: Time,
        (flow, endpoints): (FlowId, Endpoints),
        service: Box<dyn Service>,
    ) -> io::Result<()> {
        self.at = self.at.max(now);
        let towards = (&mut self.uplink, &mut self.watch);
        self.host.connect(self.at, (flow, endpoints), service, towards)
    }
}

/// The device of such a host.
pub(crate) struct HostDevice {
    end: Rc<RefCell<HostEnd>>,
    /// Never readable: when there is a packet is known without being told.
    nothing: EventFd,
    mtu: usize,
}

impl HostDevice {
    /// The device of `end`, for packets of at most `mtu` bytes.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub(crate) fn new(end: Rc<RefCell<HostEnd>>, mtu: u16) -> io::Result<HostDevice> {
        Ok(HostDevice { end, nothing: EventFd::new()?, mtu: mtu.into() })
    }
}

impl Device for HostDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.nothing.as_fd()
    }

    fn longest(&self) -> usize {
        self.mtu
    }

    fn is_local(&self) -> bool {
        true
    }

    fn read_packet(&mut self, now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let HostEnd { host, uplink, watch, at, sent, .. } = &mut *self.end.borrow_mut();
        loop {
            if let Some(len) = uplink.read(buffer) {
                *sent += 1;
                return Ok(Some(len));
            }
            if host.deadline().is_none_or(|due| due > now) {
                return Ok(None);
            }
            *at = now;
            host.handle_deadline(now, uplink, watch);
        }
    }

    fn write_packet(&mut self, now: Time, flow: FlowId, bytes: &[u8]) -> io::Result<()> {
        let HostEnd { host, uplink, watch, at, received, .. } = &mut *self.end.borrow_mut();
        *received += 1;
        *at = now;
        match decode(bytes) {
            Ok(decoded) => {
                let (endpoints, ecn) = (decoded.endpoints, decoded.ip.ecn);
                let (segment, payload) = (&decoded.segment, &bytes[decoded.payload.clone()]);
                let arrival = Arrival { flow, endpoints, segment, ecn, payload };
                host.handle_segment(now, arrival, uplink, watch);
            }
            Err(DecodeError::NotTcp { .. }) => host.handle_other(bytes, uplink),
            // Fragments, which nobody here puts together.
            Err(_) => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Time> {
        let end = self.end.borrow();
        if end.uplink.is_empty() { end.host.deadline() } else { Some(end.at) }
    }
}
