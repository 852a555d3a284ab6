//! The picture of a network: boxes, links with their words, flows beside the links, a legend.

use super::super::Shape;
use super::super::font::Font;
use super::super::scene::{Anchor, Area, Drawn, Ink, PALETTE, Scene, Words};
use super::groups::{Counts, stem};
use super::layout::Layout;
use super::{Topology, TopologyLink};

const NAME: f64 = 13.0;
const SMALL: f64 = 11.0;
const LINE: f64 = 14.0;
const EDGE: f64 = 16.0;
const NODE_HEIGHT: f64 = 34.0;
/// Room beside the words of a node.
const INSIDE: f64 = 12.0;
/// Between the paths of two flows along a link.
const BESIDE: f64 = 5.0;
/// A line of a link's words is broken beyond this width.
const WORDS_WIDTH: f64 = 165.0;
const LEGEND_ROW: f64 = 19.0;
/// Flows that have a path of their own; the legend counts the others.
const MOST_FLOWS: usize = PALETTE.len();

/// A place in pixels.
type Place = (f64, f64);

struct Sizes {
    /// By node: the middle of its box.
    middles: Vec<Place>,
    /// By node: the width of its box.
    widths: Vec<f64>,
    /// By link: its words, from the first end to the second and back.
    words: Vec<Vec<String>>,
    width: f64,
    /// Without the legend.
    height: f64,
}

/// Returns the picture; nothing for a network without nodes.
pub(super) fn draw(topology: &Topology, counts: &Counts, layout: &Layout) -> Option<Scene> {
    if topology.nodes.is_empty() {
        return None;
    }
    let font = Font::new();
    let sizes = sizes(topology, layout, &font);
    let legend = legend(topology, counts);
    let rows = legend_rows(&legend, &font, sizes.width);
    let height = sizes.height + rows.len() as f64 * LEGEND_ROW + 4.0;
    let area = Area { x: 0.0, y: 0.0, width: sizes.width, height };
    let mut scene = Scene {
        title: title(topology, counts),
        width: sizes.width,
        height,
        data_area: area,
        below: vec![Drawn::Rectangle { area, ink: Ink::Paper }],
        data: Vec::new(),
        above: Vec::new(),
    };
    for link in &topology.links {
        let [from, to] = link.ends.map(|end| sizes.middles[end]);
        scene.below.push(line(vec![from, to], Ink::Axis, 1.5));
    }
    draw_flows(&mut scene, topology, &sizes);
    for (number, link) in topology.links.iter().enumerate() {
        draw_link_words(&mut scene, link, &sizes, layout, &sizes.words[number], &font);
    }
    for (number, node) in topology.nodes.iter().enumerate() {
        draw_node(&mut scene, node, sizes.middles[number], sizes.widths[number]);
    }
    draw_legend(&mut scene, &rows, sizes.height);
    Some(scene)
}

/// What a reader who does not see the picture is told of it.
fn title(topology: &Topology, counts: &Counts) -> String {
    let routers = topology.nodes.iter().filter(|node| node.is_router).count();
    let hosts: usize = counts.nodes.iter().sum::<usize>() - routers;
    let flows: usize = counts.flows.iter().sum();
    let many = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    format!(
        "Topology: {}, {}, {}",
        many(hosts, "host"),
        many(routers, "router"),
        many(flows, "flow")
    )
}

fn sizes(topology: &Topology, layout: &Layout, font: &Font) -> Sizes {
    let widths: Vec<f64> = topology.nodes.iter().map(|node| node_width(node, font)).collect();
    let columns = layout.columns.iter().max().map_or(1, |last| last + 1);
    let mut column_widths = vec![0.0f64; columns];
    for (node, column) in layout.columns.iter().enumerate() {
        column_widths[*column] = column_widths[*column].max(widths[node]);
    }
    let words: Vec<_> = topology.links.iter().map(|link| link_words(link, layout, font)).collect();
    // Behind each column the words of the links that begin there.
    let mut gaps = vec![90.0f64; columns];
    // Lines of words on level links, and on sloping ones.
    let mut most_lines = [0usize; 2];
    for (link, words) in topology.links.iter().zip(&words) {
        let left = layout.columns[link.ends[0]].min(layout.columns[link.ends[1]]);
        let widest = words.iter().map(|line| font.width(line, SMALL)).fold(0.0, f64::max);
        gaps[left] = gaps[left].max(widest + 28.0);
        let slopes = layout.rows[link.ends[0]] != layout.rows[link.ends[1]];
        let most = &mut most_lines[usize::from(slopes)];
        *most = (*most).max(words.len());
    }
    let notes = topology.nodes.iter().map(|node| node.notes.len()).max().unwrap_or(0);
    let tallest = NODE_HEIGHT + notes as f64 * LINE;
    // Three quarters of a row up, where the words of a sloping link have their middle, those of a level
    // link must have ended.
    let [level, sloping] = most_lines.map(|lines| lines as f64 * LINE);
    let row = ((level + 16.0 + sloping / 2.0) / 0.75).max(sloping + 30.0).max(tallest + 18.0);
    let mut lefts = Vec::new();
    let mut x = EDGE;
    for column in 0..columns {
        lefts.push(x);
        x += column_widths[column] + if column + 1 < columns { gaps[column] } else { 0.0 };
    }
    let lowest = layout.rows.iter().copied().fold(0.0, f64::min);
    let highest = layout.rows.iter().copied().fold(0.0, f64::max);
    // The words of a level link stand above it: in the first row they need room.
    let is_first = |link: &TopologyLink| link.ends.iter().all(|end| layout.rows[*end] <= lowest);
    let first = topology.links.iter().zip(&words).filter(|(link, _)| is_first(link));
    let lines = first.map(|(_, words)| words.len()).max().unwrap_or(0);
    let above = (lines as f64 * LINE + 10.0).max(NODE_HEIGHT / 2.0 + 2.0);
    let middle = |node: usize| {
        let column = layout.columns[node];
        let y = EDGE + above + (layout.rows[node] - lowest) * row;
        (lefts[column] + column_widths[column] / 2.0, y)
    };
    let middles = (0..topology.nodes.len()).map(middle).collect();
    let height = EDGE + above + (highest - lowest) * row + tallest + 8.0;
    Sizes { middles, widths, words, width: (x + EDGE).max(320.0), height }
}

fn node_width(node: &super::TopologyNode, font: &Font) -> f64 {
    (font.width(&node.name, NAME) + 2.0 * INSIDE).max(64.0)
}

/// A link's words: from left to right, and back where that differs.
fn link_words(link: &TopologyLink, layout: &Layout, font: &Font) -> Vec<String> {
    let leftwards = layout.columns[link.ends[0]] > layout.columns[link.ends[1]];
    let (there, back) = match leftwards {
        false => (&link.forward, &link.reverse),
        true => (&link.reverse, &link.forward),
    };
    let mut words = Vec::new();
    if !link.name.is_empty() {
        words.push(link.name.clone());
    }
    words.extend(there.iter().flat_map(|line| wrapped(line, font)));
    if there != back {
        let differs: Vec<_> = back.iter().filter(|line| !there.contains(line)).collect();
        words.extend(differs.iter().flat_map(|line| wrapped(&format!("back: {line}"), font)));
    }
    words
}

/// Returns `text` in lines no wider than a link's words may be. A unit stays with its number.
pub(super) fn wrapped(text: &str, font: &Font) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match words.last_mut() {
            Some(number) if number.parse::<f64>().is_ok() => *number += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(last) if font.width(&format!("{last} {word}"), SMALL) <= WORDS_WIDTH => {
                *last += &format!(" {word}");
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn draw_node(scene: &mut Scene, node: &super::TopologyNode, (x, y): Place, width: f64) {
    let (left, top) = (x - width / 2.0, y - NODE_HEIGHT / 2.0);
    let rim = outline(
        (left, top),
        (width, NODE_HEIGHT),
        if node.is_router { NODE_HEIGHT / 2.0 } else { 3.0 },
    );
    let area = match node.is_router {
        true => Area { x: left + 8.0, y: top, width: width - 16.0, height: NODE_HEIGHT },
        false => Area { x: left, y: top, width, height: NODE_HEIGHT },
    };
    scene.above.push(Drawn::Rectangle { area, ink: Ink::Paper });
    scene.above.push(line(rim, Ink::Words, 1.5));
    scene.above.push(words((x, y + NAME * 0.36), &node.name, NAME, Ink::Words, Anchor::Middle));
    for (number, note) in node.notes.iter().enumerate() {
        let below = y + NODE_HEIGHT / 2.0 + LINE * (number as f64 + 1.0);
        scene.above.push(words((x, below), note, SMALL, Ink::FaintWords, Anchor::Middle));
    }
}

/// A closed rectangle with corners of this radius.
fn outline((x, y): Place, (width, height): Place, radius: f64) -> Vec<Place> {
    // A quarter of a circle in steps of 15 degrees, clockwise from its top.
    const QUARTER: [Place; 7] = [
        (0.0, -1.0),
        (0.259, -0.966),
        (0.5, -0.866),
        (0.707, -0.707),
        (0.866, -0.5),
        (0.966, -0.259),
        (1.0, 0.0),
    ];
    let (right, bottom) = (x + width - radius, y + height - radius);
    let centres =
        [(right, y + radius), (right, bottom), (x + radius, bottom), (x + radius, y + radius)];
    let mut points = Vec::new();
    for (turns, (x, y)) in centres.into_iter().enumerate() {
        for unit in QUARTER {
            let (across, down) = (0..turns).fold(unit, |(across, down), _| (-down, across));
            points.push((x + radius * across, y + radius * down));
        }
    }
    points.push(points[0]);
    points
}

fn draw_link_words(
    scene: &mut Scene,
    link: &TopologyLink,
    sizes: &Sizes,
    layout: &Layout,
    lines: &[String],
    font: &Font,
) {
    let [one, two] = link.ends;
    let (left, right) =
        if layout.columns[one] <= layout.columns[two] { (one, two) } else { (two, one) };
    let ((left_x, left_y), (right_x, right_y)) = (sizes.middles[left], sizes.middles[right]);
    let (from, to) = (left_x + sizes.widths[left] / 2.0, right_x - sizes.widths[right] / 2.0);
    let x = (from + to) / 2.0;
    let share = if right_x > left_x { (x - left_x) / (right_x - left_x) } else { 0.5 };
    let level = (right_y - left_y).abs() < 1.0;
    // On a sloping link the words follow its outer end, where links are far from each other.
    let from_middle = |y: f64| (y - sizes.height / 2.0).abs();
    let outer = if from_middle(left_y) >= from_middle(right_y) { left_y } else { right_y };
    let on_line = left_y + (right_y - left_y) * share;
    let y = if level { on_line } else { (on_line + outer) / 2.0 };
    let height = lines.len() as f64 * LINE;
    let top = if level { y - height - 6.0 } else { y - height / 2.0 };
    for (number, text) in lines.iter().enumerate() {
        let baseline = top + LINE * (number as f64 + 0.8);
        let width = font.width(text, SMALL) + 4.0;
        let area = Area { x: x - width / 2.0, y: baseline - 10.5, width, height: LINE };
        scene.above.push(Drawn::Rectangle { area, ink: Ink::Paper });
        let ink = if number == 0 && *text == link.name { Ink::Words } else { Ink::FaintWords };
        scene.above.push(words((x, baseline), text, SMALL, ink, Anchor::Middle));
    }
}

/// Each flow beside the links of its route, below the first of them, with an arrow where it ends.
fn draw_flows(scene: &mut Scene, topology: &Topology, sizes: &Sizes) {
    let drawn = topology.flows.len().min(MOST_FLOWS) as f64;
    let apart = BESIDE.min((NODE_HEIGHT / 2.0 - 2.0) / drawn.max(1.0));
    for (number, flow) in topology.flows.iter().take(MOST_FLOWS).enumerate() {
        let down = (number as f64 + 1.0) * apart;
        let points: Vec<Place> = flow
            .route
            .iter()
            .map(|node| sizes.middles[*node])
            .map(|(x, y)| (x, y + down))
            .collect();
        let [.., before, end] = points[..] else { continue };
        let ink = Ink::Series(number);
        scene.below.push(line(points.clone(), ink, 2.0));
        let last = flow.route[flow.route.len() - 1];
        let away = sizes.widths[last] / 2.0 + 5.0;
        let length = ((end.0 - before.0).powi(2) + (end.1 - before.1).powi(2)).sqrt().max(1.0);
        let back = |by: f64| {
            (end.0 - (end.0 - before.0) * by / length, end.1 - (end.1 - before.1) * by / length)
        };
        let (tip, tail) = (back(away), back(away + 9.0));
        let across = ((end.1 - before.1) / length * 4.5, (end.0 - before.0) / length * 4.5);
        let head =
            [(tail.0 - across.0, tail.1 + across.1), tip, (tail.0 + across.0, tail.1 - across.1)];
        scene.below.push(line(head.to_vec(), ink, 2.0));
    }
}

/// An entry: its colour and words.
type Entry = (Option<usize>, String);

fn legend(topology: &Topology, counts: &Counts) -> Vec<Entry> {
    let name = |node: usize| topology.nodes[node].name.as_str();
    let mut entries: Vec<Entry> = Vec::new();
    for (number, (flow, count)) in topology.flows.iter().zip(&counts.flows).enumerate() {
        if number == MOST_FLOWS {
            let others: usize = counts.flows[number..].iter().sum();
            entries.push((None, format!("and {others} more")));
            break;
        }
        let ends = match flow.route[..] {
            [from, .., to] => format!(": {} to {}", name(from), name(to)),
            _ => String::new(),
        };
        let named = match count {
            1 => flow.name.clone(),
            _ => format!("{}-* ({count} flows)", stem(&flow.name)),
        };
        entries.push((Some(number), format!("{named}{ends}")));
    }
    entries
}

/// The entries in rows that fit, each with its place from the left.
fn legend_rows(entries: &[Entry], font: &Font, width: f64) -> Vec<Vec<(f64, Entry)>> {
    let mut rows: Vec<Vec<(f64, Entry)>> = Vec::new();
    let mut x = f64::INFINITY;
    for entry in entries {
        let wide = 30.0 + font.width(&entry.1, SMALL) + 18.0;
        if x + wide > width {
            rows.push(Vec::new());
            x = EDGE;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, entry.clone()));
        }
        x += wide;
    }
    rows
}

fn draw_legend(scene: &mut Scene, rows: &[Vec<(f64, Entry)>], top: f64) {
    for (number, row) in rows.iter().enumerate() {
        let y = top + (number as f64 + 0.5) * LEGEND_ROW;
        for (x, (colour, text)) in row {
            if let Some(colour) = colour {
                scene.above.push(line(vec![(*x, y), (x + 22.0, y)], Ink::Series(*colour), 2.0));
                let (x, shape) = (x + 22.0, Shape::Disc);
                scene.above.push(Drawn::Point { x, y, shape, ink: Ink::Series(*colour) });
            }
            let place = (x + 30.0, y + SMALL * 0.36);
            scene.above.push(words(place, text, SMALL, Ink::Words, Anchor::Start));
        }
    }
}

fn line(points: Vec<Place>, ink: Ink, width: f64) -> Drawn {
    Drawn::Line { points, ink, width, dashed: false }
}

fn words((x, y): Place, text: &str, size: f64, ink: Ink, anchor: Anchor) -> Drawn {
    Drawn::Text(Words { x, y, text: text.to_owned(), size, anchor, ink, upright: false })
}
