//! The path of a scenario as a graph.

use ackord_events::LinkId;
use ackord_events::ProxyId;
use ackord_path::registry::{LinkWay, QueuePlace, UnknownFlow};
use ackord_path::{
    Graph, GraphBuilder, GraphError, Lifetime, LinkConfig, MediumId, Opportunities, Pace,
    ProxyConfig, Role,
};
use ackord_scenario::{Link, NodeKind, Proxy, Scenario, Way};
use ackord_units::{Contradiction, RandomStream, Span, Time};
use ackord_wire::FlowId;
use std::sync::Arc;

/// A graph, and which of its links is which in the scenario.
#[derive(Debug)]
pub struct Topology {
    /// The path.
    pub graph: Graph,
    /// By [`LinkId`]: index into [`Scenario::links`], and the direction.
    pub links: Vec<(usize, Way)>,
    /// By index into [`Scenario::proxies`]: the graph's middlebox; nothing where the file says
    /// `none`.
    pub proxies: Vec<Option<ProxyId>>,
}

/// Why a scenario cannot be built. One that was checked can only fail by its size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The graph is impossible.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// An element's values do not make sense together.
    #[error("link `{link}`: {error}")]
    Element {
        /// The link's name.
        link: String,
        /// What is wrong with it.
        error: Contradiction,
    },
    /// A queue has a weight for a flow that does not exist.
    #[error("link `{link}`: {error}")]
    Flow {
        /// The link's name.
        link: String,
        /// Which flow.
        error: UnknownFlow,
    },
}

impl Topology {
    /// The graph's link for one direction of a scenario's link.
    pub fn link_id(link: usize, way: Way) -> LinkId {
        let direction = match way {
            Way::Forward => 0,
            Way::Reverse => 1,
        };
        LinkId(link as u32 * 2 + direction)
    }
}

/// Builds the path of `scenario`, with the random streams of `seed`.
pub fn build_topology(scenario: &Scenario, seed: u64) -> Result<Topology, BuildError> {
    build(scenario, seed, Graph::builder())
}

/// Builds a path whose links can be changed in the course of the run.
pub(crate) fn build_changeable(scenario: &Scenario, seed: u64) -> Result<Topology, BuildError> {
    let mut builder = Graph::builder();
    builder.changeable();
    build(scenario, seed, builder)
}

fn build(
    scenario: &Scenario,
    seed: u64,
    mut builder: GraphBuilder,
) -> Result<Topology, BuildError> {
    for node in &scenario.nodes {
        builder.add_node(match node.kind {
            NodeKind::Host => Role::Host,
            NodeKind::Router => Role::Router,
        });
    }
    let mut links = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        let shared = link.medium.as_ref().and_then(|medium| {
            let stream = RandomStream::for_element(seed, &format!("links/{}/medium", link.name));
            medium.config().shared(link.forward.rate, stream)
        });
        let medium = shared.map(|config| builder.add_medium(config));
        for way in [Way::Forward, Way::Reverse] {
            let config = link_config(scenario, seed, (index, link), way, medium)?;
            let id = builder.add_link(config);
            debug_assert_eq!(id, Topology::link_id(index, way));
            links.push((index, way));
        }
    }
    let mut proxies = Vec::new();
    for proxy in &scenario.proxies {
        proxies.push(proxy_config(proxy).map(|config| builder.add_proxy(config)));
    }
    Ok(Topology { graph: builder.build()?, links, proxies })
}

/// A middlebox at work; nothing where there is to be none.
fn proxy_config(proxy: &Proxy) -> Option<ProxyConfig> {
    let choice = proxy.choice.as_ref()?;
    let at = |span: Span| Time::ZERO + span;
    Some(ProxyConfig {
        at: proxy.at,
        to_mobile: Topology::link_id(proxy.link, proxy.to_mobile),
        from_mobile: Topology::link_id(proxy.link, proxy.to_mobile.other()),
        proxy: choice.config().build(),
        lifetime: Lifetime { dies: proxy.dies.map(at), restarts: proxy.restarts.map(at) },
    })
}

/// The stream of something that both directions of a link have together. `both` tells it from the
/// forward direction's own.
fn shared_stream(link: &Link, of: &str) -> String {
    format!("links/{}/both/{of}", link.name)
}

pub(crate) fn link_config(
    scenario: &Scenario,
    seed: u64,
    (index, link): (usize, &Link),
    way: Way,
    medium: Option<MediumId>,
) -> Result<LinkConfig, BuildError> {
    let direction = link.direction(way);
    let (from, to) = match way {
        Way::Forward => (link.from, link.to),
        Way::Reverse => (link.to, link.from),
    };
    let name = link.direction_name(way);
    let stream = |of: &str| RandomStream::for_element(seed, &format!("links/{name}/{of}"));
    let element = |error| BuildError::Element { link: link.name.clone(), error };
    let shaped = direction.shaper.as_ref().map(|shaper| shaper.config().shaped(direction.rate));
    let context = QueuePlace {
        rate: shaped.unwrap_or(direction.rate),
        delay: direction.delay,
        flow_named: &|name| {
            scenario.flows.iter().position(|flow| flow.name == name).map(|at| FlowId(at as u32))
        },
        stream: stream("queue"),
    };
    let queue = direction.queue.config().build(&context);
    let outage = direction.outage.as_ref().map(|outage| {
        // Directions that are out together draw the same times: from streams of the same name.
        let stream = match outage.config().is_shared() {
            true => RandomStream::for_element(seed, &shared_stream(link, "outage")),
            false => stream("outage"),
        };
        outage.config().build(stream)
    });
    let jitter = direction.jitter.as_ref();
    let policer = direction.policer.as_ref().map(|policer| policer.config().build());
    let loss = direction.loss.as_ref().map(|loss| loss.config().build(stream("loss")));
    let corrupt = direction.corrupt.as_ref();
    let corruption = corrupt.map(|damage| damage.config().build(stream("corrupt")));
    let duplicate = direction.duplicate.as_ref();
    let duplication = duplicate.map(|twice| twice.config().build(stream("duplicate")));
    let tapped = scenario.record.captures.iter().any(|tap| (tap.link, tap.way) == (index, way));
    Ok(LinkConfig {
        from,
        to,
        rate: direction.rate,
        delay: direction.delay,
        jitter: jitter.map(|jitter| jitter.config().build(direction.delay, stream("jitter"))),
        policer: policer.transpose().map_err(element)?,
        queue: queue.map_err(|error| BuildError::Flow { link: link.name.clone(), error })?,
        pace: pace(link, way, stream("cellular")).map_err(element)?,
        outage: outage.transpose().map_err(element)?,
        loss: loss.transpose().map_err(element)?,
        corruption: corruption.transpose().map_err(element)?,
        duplication: duplication.transpose().map_err(element)?,
        medium,
        tap: tapped,
    })
}

/// When a direction's transmitter sends, where that is not its rate; a scenario that was checked
/// says so at most once.
fn pace(link: &Link, way: Way, stream: RandomStream) -> Result<Option<Pace>, Contradiction> {
    let direction = link.direction(way);
    if let Some(trace) = &direction.trace {
        let replayed = Opportunities::new(Arc::clone(trace.trace()));
        return Ok(Some(Pace::Opportunities(Box::new(replayed))));
    }
    if let Some(changes) = &direction.rate_changes {
        let steps = changes.config().build(direction.rate)?;
        return Ok(Some(Pace::Steps(Box::new(steps))));
    }
    if let Some(shaper) = &direction.shaper {
        let shaper = shaper.config().build(direction.rate)?;
        return Ok(Some(Pace::Shaped(Box::new(shaper))));
    }
    let way = match way {
        Way::Forward => LinkWay::Forward,
        Way::Reverse => LinkWay::Reverse,
    };
    let medium = link.medium.as_ref();
    let hop = medium.and_then(|medium| medium.config().hop(way, direction.rate, stream));
    Ok(hop.map(|hop| Pace::Cellular(Box::new(hop))))
}
