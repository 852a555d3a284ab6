//! How a graph is put together, and what it refuses.

use super::Graph;
use crate::Schedule;
use crate::link::{Link, LinkConfig, MediumId, Place};
use crate::medium::{Medium, MediumConfig};
use crate::packets::Packets;
use crate::proxy::{Outbox, Place as ProxyPlace, ProxyConfig};
use crate::queue::QueueDiscipline;
use crate::routes::{Edge, Role, Routes};
use ackord_events::{LinkId, ProxyId};
use ackord_units::{Rate, Time};
use ackord_wire::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Collects nodes and links. Numbers are given in the order of the calls.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    roles: Vec<Role>,
    links: Vec<LinkConfig>,
    media: Vec<MediumConfig>,
    proxies: Vec<ProxyConfig>,
    changeable: bool,
}

/// Why a graph cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// A link begins or ends at a node that was not added.
    #[error("link {} refers to node {}, which does not exist", .link.0, .node.0)]
    UnknownNode {
        /// The link.
        link: LinkId,
        /// The node.
        node: NodeId,
    },
    /// A link leads from a node to itself.
    #[error("link {} leads from node {} to itself", .link.0, .node.0)]
    SelfLoop {
        /// The link.
        link: LinkId,
        /// The node.
        node: NodeId,
    },
    /// A link would never transmit anything.
    #[error("link {} has a rate of zero", .link.0)]
    ZeroRate {
        /// The link.
        link: LinkId,
    },
    /// A link is on a medium that was not added.
    #[error("link {} refers to medium {}, which does not exist", .link.0, .medium.0)]
    UnknownMedium {
        /// The link.
        link: LinkId,
        /// The medium.
        medium: MediumId,
    },
    /// A middlebox is not where its links begin and end, or shares one with another.
    #[error("middlebox {} cannot stand at node {}: its link begins and ends elsewhere, or is taken", .proxy.0, .node.0)]
    MisplacedProxy {
        /// The box.
        proxy: ProxyId,
        /// Where it is to stand.
        node: NodeId,
    },
    /// A link on a medium is to wait for something beside the medium.
    #[error("link {} shares a medium, whose turns nothing can hold back", .link.0)]
    WaitsOnMedium {
        /// The link.
        link: LinkId,
    },
    /// More nodes than node numbers.
    #[error("{nodes} nodes are more than the 65536 that can be numbered")]
    TooManyNodes {
        /// How many were added.
        nodes: usize,
    },
}

impl Graph {
    /// An empty graph, to be filled.
    pub fn builder() -> GraphBuilder {
        GraphBuilder::default()
    }
}

impl GraphBuilder {
    /// Adds a host or router.
    pub fn add_node(&mut self, role: Role) -> NodeId {
        let node = NodeId(self.roles.len() as u16);
        self.roles.push(role);
        node
    }

    /// Adds one direction of a link.
    pub fn add_link(&mut self, config: LinkConfig) -> LinkId {
        let link = LinkId(self.links.len() as u32);
        self.links.push(config);
        link
    }

    /// Adds a medium, for links to share.
    pub fn add_medium(&mut self, config: MediumConfig) -> MediumId {
        let medium = MediumId(self.media.len() as u32);
        self.media.push(config);
        medium
    }

    /// Adds a middlebox.
    pub fn add_proxy(&mut self, config: ProxyConfig) -> ProxyId {
        let proxy = ProxyId(self.proxies.len() as u32);
        self.proxies.push(config);
        proxy
    }

    /// Lets links be changed in the course of the run ([`Graph::change_link`]): none of them precomputes
    /// transmissions. What happens is the same, and costs more.
    pub fn changeable(&mut self) {
        self.changeable = true;
    }

    /// Works out the routes and makes the graph.
    pub fn build(self) -> Result<Graph, GraphError> {
        self.check()?;
        let edges: Vec<_> =
            self.links.iter().map(|link| Edge { from: link.from, to: link.to }).collect();
        let watchers = self.watchers();
        let media = self.media();
        let routes = Routes::shortest(&self.roles, &edges);
        let numbered = self.links.into_iter().zip(watchers).enumerate();
        let links: Vec<_> = numbered
            .map(|(number, (config, watcher))| {
                let may_plan = self.proxies.is_empty() && !self.changeable;
                let place = Place { onward: routes.row(config.to), watcher, may_plan };
                Link::new(LinkId(number as u32), config, place)
            })
            .collect();
        let proxies: Vec<_> = self.proxies.into_iter().map(ProxyPlace::new).collect();
        let mut schedule = Schedule::new(links.len() + media.len() + proxies.len());
        let due = media.iter().map(Medium::due_at).chain(proxies.iter().map(ProxyPlace::due_at));
        for (id, due_at) in (links.len() as u32..).zip(due) {
            schedule.set(id, due_at);
        }
        Ok(Graph {
            routes,
            nodes: self.roles.len(),
            schedule,
            links,
            hops: Vec::new(),
            keepers: Vec::new(),
            junctions: Vec::new(),
            media,
            proxies,
            outbox: Outbox::default(),
            packets: Packets::default(),
            ready: VecDeque::new(),
            injected: 0,
            made: 0,
            absorbed: 0,
            delivered: 0,
            unroutable: 0,
            entered_at: Time::ZERO,
            landed_by: 0,
        })
    }

    fn check(&self) -> Result<(), GraphError> {
        if self.roles.len() > 1 << 16 {
            return Err(GraphError::TooManyNodes { nodes: self.roles.len() });
        }
        for (number, config) in self.links.iter().enumerate() {
            let link = LinkId(number as u32);
            let unknown =
                [config.from, config.to].into_iter().find(|n| n.0 as usize >= self.roles.len());
            if let Some(node) = unknown {
                return Err(GraphError::UnknownNode { link, node });
            }
            if config.from == config.to {
                return Err(GraphError::SelfLoop { link, node: config.from });
            }
            if let Some(medium) = config.medium.filter(|m| m.0 as usize >= self.media.len()) {
                return Err(GraphError::UnknownMedium { link, medium });
            }
            if config.medium.is_some() && Link::may_wait(config) {
                return Err(GraphError::WaitsOnMedium { link });
            }
            if config.rate == Rate::from_bits_per_sec(0) {
                return Err(GraphError::ZeroRate { link });
            }
        }
        self.check_proxies()
    }

    fn check_proxies(&self) -> Result<(), GraphError> {
        let mut taken = BTreeSet::new();
        for (number, config) in self.proxies.iter().enumerate() {
            let joins = |link: LinkId, from: Option<NodeId>, to: Option<NodeId>| {
                self.links.get(link.0 as usize).is_some_and(|link| {
                    from.is_none_or(|from| from == link.from) && to.is_none_or(|to| to == link.to)
                })
            };
            let taken = !taken.insert(config.to_mobile);
            let here = joins(config.to_mobile, Some(config.at), None)
                && joins(config.from_mobile, None, Some(config.at));
            if taken || !here {
                let (proxy, node) = (ProxyId(number as u32), config.at);
                return Err(GraphError::MisplacedProxy { proxy, node });
            }
        }
        Ok(())
    }

    /// Every medium with its links in order.
    fn media(&self) -> Vec<Medium> {
        let mut links_on = vec![Vec::new(); self.media.len()];
        for (number, link) in (0..).zip(&self.links) {
            if let Some(medium) = link.medium {
                links_on[medium.0 as usize].push((number, link.rate));
            }
        }
        let numbered = (0..).map(MediumId).zip(&self.media).zip(links_on);
        numbered.map(|((_, config), links)| Medium::new(config.clone(), &links)).collect()
    }

    /// For each link, the opposite one whose queue wants to see what comes out of it: the first
    /// that joins the same two nodes the other way.
    fn watchers(&self) -> Vec<Option<LinkId>> {
        let mut watching = BTreeMap::new();
        for (number, link) in (0..).zip(&self.links).filter(|(_, link)| link.queue.wants_reverse())
        {
            watching.entry((link.from, link.to)).or_insert(LinkId(number));
        }
        self.links.iter().map(|link| watching.get(&(link.to, link.from)).copied()).collect()
    }
}
