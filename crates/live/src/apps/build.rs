//! The ends of a scenario's flows, as the simulator would make them.

use super::{Application, KernelEnd, SocketOption};
use ackord_events::EndpointId;
use ackord_scenario::{Flow, Scenario, Transport};
use ackord_sim::{start_time, workloads_for};
use ackord_units::RandomStream;
use ackord_wire::{FlowAddresses, FlowNodes, IpVersion, Side};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// The addresses of both ends of a flow, as captures of the simulator show them.
pub(crate) fn addresses_of(flow: &Flow, endpoint: EndpointId) -> FlowAddresses {
    let ip = match flow.transport() {
        Transport::Tcp => flow.tcp(endpoint.side).config().ip,
        Transport::Udp => IpVersion::V4,
    };
    let nodes = FlowNodes { client: flow.client, server: flow.server };
    FlowAddresses::of(endpoint.flow, nodes, ip)
}

/// What runs at one end of a flow, with the random streams of `seed`.
pub(super) fn application_of(seed: u64, flow: &Flow, side: Side) -> Application {
    let sends = side == flow.sends;
    match flow.transport() {
        Transport::Tcp => {
            let workloads = workloads_for(seed, flow);
            Application::Tcp(if sends { workloads.sends } else { workloads.receives })
        }
        Transport::Udp if sends => {
            let path = |what: &str| format!("flows/{}/traffic/{what}", flow.name);
            let stream = |what: &str| RandomStream::for_element(seed, &path(what));
            let source = flow.traffic.config().datagrams(&stream);
            let mut source = source.expect("what UDP carries sends datagrams");
            source.start(start_time(seed, flow));
            Application::DatagramSource(source)
        }
        Transport::Udp => Application::DatagramSink,
    }
}

impl KernelEnd {
    /// One end of a flow of `scenario` on `socket`, with the random streams of `seed`.
    ///
    /// # Panics
    /// If the scenario has no such flow.
    pub(crate) fn of(
        scenario: &Scenario,
        seed: u64,
        endpoint: EndpointId,
        options: Vec<SocketOption>,
        socket: OwnedFd,
    ) -> KernelEnd {
        let flow = &scenario.flows[endpoint.flow.0 as usize];
        let (local, remote): (SocketAddr, SocketAddr) = {
            let towards = addresses_of(flow, endpoint).endpoints(endpoint.side);
            (towards.src, towards.dst)
        };
        KernelEnd {
            endpoint,
            local,
            remote,
            application: application_of(seed, flow, endpoint.side),
            start: start_time(seed, flow),
            options,
            socket,
        }
    }
}
