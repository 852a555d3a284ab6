//! The path of a scenario as a graph.

use ackord_events::LinkId;
use ackord_events::ProxyId;
use ackord_path::registry::{
    self, LinkWay, QueueContext, build_cellular, build_corruption, build_duplication, build_jitter,
    build_loss, build_medium, build_outage, build_policer, build_proxy, build_queue,
    build_rate_changes, build_shaper, medium_is_shared, outage_is_shared, shaped_rate,
};
use ackord_path::{
    Graph, GraphError, Lifetime, LinkConfig, MediumId, Opportunities, Pace, ProxyConfig, Role,
    Stream, Tap,
};
use ackord_scenario::{Link, NodeKind, Proxy, Scenario, Way};
use ackord_units::{Span, Time};
use ackord_wire::FlowId;
use std::sync::Arc;

/// A graph, and which of its links is which in the scenario.
#[derive(Debug)]
pub struct Topology {
    /// The path.
    pub graph: Graph,
    /// By [`LinkId`]: index into [`Scenario::links`], and the direction.
    pub links: Vec<(usize, Way)>,
    /// By index into [`Scenario::proxies`]: the graph's middle box; nothing where the file says
    /// `none`.
    pub proxies: Vec<Option<ProxyId>>,
}

/// Why a scenario cannot be built. One that was checked can only fail by its size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The graph is impossible.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A queue, loss model or jitter is impossible.
    #[error("link `{link}`: {error}")]
    Element {
        /// The link's name.
        link: String,
        /// What is wrong with it.
        error: registry::BuildError,
    },
    /// A host's processing is impossible.
    #[error("host `{host}`: {error}")]
    Host {
        /// The host's name.
        host: String,
        /// What is wrong with it.
        error: registry::BuildError,
    },
    /// A middle box is impossible.
    #[error("middle box `{proxy}`: {error}")]
    Proxy {
        /// Its name.
        proxy: String,
        /// What is wrong with it.
        error: registry::BuildError,
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
    let mut builder = Graph::builder();
    for node in &scenario.nodes {
        builder.add_node(match node.kind {
            NodeKind::Host => Role::Host,
            NodeKind::Router => Role::Router,
        });
    }
    let mut links = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        let element = |error| BuildError::Element { link: link.name.clone(), error };
        let medium = match &link.medium {
            None => None,
            Some(choice) if !medium_is_shared(choice) => None,
            Some(choice) => {
                let stream = Stream::for_element(seed, &format!("links/{}/medium", link.name));
                let config = build_medium(choice, link.forward.rate, stream).map_err(element)?;
                Some(builder.add_medium(config))
            }
        };
        for way in [Way::Forward, Way::Reverse] {
            let config =
                link_config(scenario, seed, (index, link), way, medium).map_err(element)?;
            let id = builder.add_link(config);
            debug_assert_eq!(id, Topology::link_id(index, way));
            links.push((index, way));
        }
    }
    let mut proxies = Vec::new();
    for proxy in &scenario.proxies {
        let config = proxy_config(proxy)
            .map_err(|error| BuildError::Proxy { proxy: proxy.name.clone(), error })?;
        proxies.push(config.map(|config| builder.add_proxy(config)));
    }
    Ok(Topology { graph: builder.build()?, links, proxies })
}

/// A middle box at work; nothing where there is to be none.
fn proxy_config(proxy: &Proxy) -> Result<Option<ProxyConfig>, registry::BuildError> {
    let Some(choice) = &proxy.choice else { return Ok(None) };
    let at = |span: Span| Time::ZERO + span;
    Ok(Some(ProxyConfig {
        at: proxy.at,
        to_mobile: Topology::link_id(proxy.link, proxy.to_mobile),
        from_mobile: Topology::link_id(proxy.link, proxy.to_mobile.other()),
        proxy: build_proxy(choice)?,
        lifetime: Lifetime { dies: proxy.dies.map(at), restarts: proxy.restarts.map(at) },
    }))
}

/// The stream of something that both directions of a link have together. `both` tells it from the
/// forward direction's own.
fn shared_stream(link: &Link, of: &str) -> String {
    format!("links/{}/both/{of}", link.name)
}

fn link_config(
    scenario: &Scenario,
    seed: u64,
    (index, link): (usize, &Link),
    way: Way,
    medium: Option<MediumId>,
) -> Result<LinkConfig, registry::BuildError> {
    let direction = link.direction(way);
    let (from, to) = match way {
        Way::Forward => (link.from, link.to),
        Way::Reverse => (link.to, link.from),
    };
    let name = link.direction_name(way);
    let stream = |of: &str| Stream::for_element(seed, &format!("links/{name}/{of}"));
    let context = QueueContext {
        rate: shaped_rate(direction.shaper.as_ref(), direction.rate),
        delay: direction.delay,
        flow_named: &|name| {
            scenario.flows.iter().position(|flow| flow.name == name).map(|at| FlowId(at as u32))
        },
        stream: stream("queue"),
    };
    // Directions that are out together draw the same times: from streams of the same name.
    let outage = |choice| match outage_is_shared(choice) {
        true => build_outage(choice, Stream::for_element(seed, &shared_stream(link, "outage"))),
        false => build_outage(choice, stream("outage")),
    };
    let jitter = direction.jitter.as_ref();
    let loss = direction.loss.as_ref();
    let (corrupt, duplicate) = (direction.corrupt.as_ref(), direction.duplicate.as_ref());
    let tapped = scenario.record.captures.iter().any(|tap| (tap.link, tap.way) == (index, way));
    Ok(LinkConfig {
        from,
        to,
        rate: direction.rate,
        delay: direction.delay,
        jitter: jitter
            .map(|choice| build_jitter(choice, direction.delay, stream("jitter")))
            .transpose()?,
        policer: direction.policer.as_ref().map(build_policer).transpose()?,
        queue: build_queue(&direction.queue, &context)?,
        pace: pace(link, way, stream("cellular"))?,
        outage: direction.outage.as_ref().map(outage).transpose()?,
        loss: loss.map(|choice| build_loss(choice, stream("loss"))).transpose()?,
        corruption: corrupt
            .map(|choice| build_corruption(choice, stream("corrupt")))
            .transpose()?,
        duplication: duplicate
            .map(|choice| build_duplication(choice, stream("duplicate")))
            .transpose()?,
        medium,
        tap: if tapped { Tap::On } else { Tap::Off },
    })
}

/// When a direction's transmitter sends, where that is not its rate; a scenario that was checked
/// says so at most once.
fn pace(link: &Link, way: Way, stream: Stream) -> Result<Option<Pace>, registry::BuildError> {
    let direction = link.direction(way);
    if let Some(trace) = &direction.trace {
        let replayed = Opportunities::new(Arc::clone(trace.trace()));
        return Ok(Some(Pace::Opportunities(Box::new(replayed))));
    }
    if let Some(changes) = &direction.rate_changes {
        let steps = build_rate_changes(changes, direction.rate)?;
        return Ok(Some(Pace::Steps(Box::new(steps))));
    }
    if let Some(shaper) = &direction.shaper {
        let shaper = build_shaper(shaper, direction.rate)?;
        return Ok(Some(Pace::Shaped(Box::new(shaper))));
    }
    let way = match way {
        Way::Forward => LinkWay::Forward,
        Way::Reverse => LinkWay::Reverse,
    };
    let hop =
        link.medium.as_ref().map(|medium| build_cellular(medium, way, direction.rate, stream));
    Ok(hop.transpose()?.flatten().map(|hop| Pace::Cellular(Box::new(hop))))
}
