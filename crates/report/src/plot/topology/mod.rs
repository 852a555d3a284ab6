//! A network as a picture: hosts and routers in columns from the senders to the receivers, links with what they do to
//! packets, middleboxes at their routers, flows as coloured paths.
//!
//! | file | what |
//! | --- | --- |
//! | `groups.rs` | hosts alike become one, with their number |
//! | `layout.rs` | columns and rows |
//! | `draw.rs` | the picture |
//!
//! Not modelled: crossings of links that a better order of rows would avoid in meshed networks.

mod draw;
mod groups;
mod layout;
#[cfg(test)]
mod tests;

use super::{png, scene::Scene, svg};

/// A network to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Hosts and routers.
    pub nodes: Vec<TopologyNode>,
    /// Links between them.
    pub links: Vec<TopologyLink>,
    /// Flows, in the order of the palette.
    pub flows: Vec<TopologyFlow>,
}

/// A host or router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyNode {
    /// Its name.
    pub name: String,
    /// True for a router.
    pub is_router: bool,
    /// Small lines below its name: the kernel it runs, middleboxes at it.
    pub notes: Vec<String>,
}

/// A duplex link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyLink {
    /// Its name.
    pub name: String,
    /// Indexes into [`Topology::nodes`].
    pub ends: [usize; 2],
    /// Rate, delay, queue and impairments from the first end to the second, a line each.
    pub forward: Vec<String>,
    /// The same in the other direction.
    pub reverse: Vec<String>,
}

/// A flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyFlow {
    /// Its name.
    pub name: String,
    /// Indexes into [`Topology::nodes`], from the sending end to the receiving end.
    pub route: Vec<usize>,
}

/// A picture of a network.
#[derive(Clone, Debug)]
pub struct Picture {
    /// File name without extension.
    pub id: String,
    /// What it shows, for readers who do not see it.
    pub title: String,
    scene: Scene,
}

impl Topology {
    /// The picture; nothing for a network without nodes.
    pub fn picture(&self) -> Option<Picture> {
        let (grouped, counts) = groups::grouped(self);
        let layout = layout::lay_out(&grouped);
        let scene = draw::draw(&grouped, &counts, &layout)?;
        Some(Picture { id: "topology".to_owned(), title: scene.title.clone(), scene })
    }
}

impl Picture {
    /// Its width in pixels at its natural size.
    pub fn width(&self) -> f64 {
        self.scene.width
    }

    /// The picture as SVG, fit to stand inside HTML.
    pub fn to_svg(&self) -> String {
        svg::write(&self.scene)
    }

    /// The picture as PNG at twice its natural size.
    pub fn to_png(&self) -> Vec<u8> {
        png::write(&self.scene)
    }
}

impl PartialEq for Picture {
    fn eq(&self, other: &Picture) -> bool {
        self.to_svg() == other.to_svg()
    }
}
