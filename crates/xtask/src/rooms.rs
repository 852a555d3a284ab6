//! The picture of the crates in ARCHITECTURE.md: each in the row above everything it uses, as wide as
//! it has lines.

use crate::findings::CannotCheck;
use crate::layers;
use crate::workspace::Workspace;
use cargo_metadata::DependencyKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Measures of the picture, in pixels.
const WIDTH: usize = 960;
const BOX_HEIGHT: usize = 46;
const GAP: usize = 8;
const ROW_GAP: usize = 16;
const WIDTH_PER_THOUSAND_LINES: usize = 13;

const STYLE: &str = "<style>
  rect { fill: #ddf4ff; stroke: #0969da; }
  text { font-family: -apple-system, \"Segoe UI\", Helvetica, Arial, \"DejaVu Sans\", sans-serif; fill: #1f2328; font-size: 14px; text-anchor: middle; }
  .s { font-size: 12px; fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    rect { fill: #0c2d6b; stroke: #58a6ff; }
    text { fill: #e6edf3; }
    .s { fill: #9198a1; }
  }
</style>
";

/// A crate in the picture.
struct Room {
    name: String,
    /// Lines of production code, without blank ones and comments, to the next thousand.
    thousands: usize,
}

impl Room {
    fn size(&self) -> String {
        match self.thousands {
            0 => "under 500 lines".to_owned(),
            thousands => format!("{thousands}k lines"),
        }
    }

    fn width(&self) -> usize {
        let text = 9 * self.name.len().max(self.size().len()) + 12;
        text.max(self.thousands * WIDTH_PER_THOUSAND_LINES)
    }
}

/// The picture, as SVG.
pub(crate) fn picture(workspace: &Workspace) -> Result<String, CannotCheck> {
    let sizes = sizes(workspace)?;
    let rows = rows(workspace).into_iter().flat_map(|names| {
        let room = |name: String| {
            let thousands = (sizes.get(&name).copied().unwrap_or(0) + 500) / 1000;
            Room { name, thousands }
        };
        wrapped(names.into_iter().map(room).collect())
    });
    Ok(drawn(&rows.collect::<Vec<_>>()))
}

/// The names of the crates by row: what uses nothing first, and all else in the row after the last
/// thing it uses. Within a row, in the order of the layers.
fn rows(workspace: &Workspace) -> Vec<Vec<String>> {
    let uses: BTreeMap<&str, Vec<&str>> = workspace
        .metadata
        .workspace_packages()
        .into_iter()
        .filter_map(|package| {
            let built = package.dependencies.iter().filter(|dependency| {
                dependency.path.is_some() && dependency.kind == DependencyKind::Normal
            });
            let uses = built.filter_map(|dependency| layers::room(&dependency.name));
            Some((layers::room(&package.name)?, uses.collect()))
        })
        .collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row_of = BTreeMap::new();
    for room in layers::rooms() {
        let above = uses.get(room).into_iter().flatten().filter_map(|used| row_of.get(used));
        let row = above.max().map_or(0, |row| row + 1);
        row_of.insert(room, row);
        rows.resize(rows.len().max(row + 1), Vec::new());
        rows[row].push(room.to_owned());
    }
    rows
}

/// A row in as many as fit into the width.
fn wrapped(rooms: Vec<Room>) -> Vec<Vec<Room>> {
    let mut rows: Vec<Vec<Room>> = Vec::new();
    let mut taken = WIDTH;
    for room in rooms {
        let more = room.width() + GAP;
        if taken + more > WIDTH {
            rows.push(Vec::new());
            taken = GAP;
        }
        taken += more;
        rows.last_mut().expect("the first one begins a row").push(room);
    }
    rows
}

/// The rows, the first at the bottom.
fn drawn(rows: &[Vec<Room>]) -> String {
    let height = rows.len() * (BOX_HEIGHT + ROW_GAP) + ROW_GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>The crates, each above everything it uses, with lines of code</title>\n{STYLE}"
    );
    for (row, rooms) in rows.iter().enumerate() {
        let y = height - (row + 1) * (BOX_HEIGHT + ROW_GAP);
        let wide: usize = rooms.iter().map(|room| room.width() + GAP).sum();
        let mut x = (WIDTH + GAP - wide) / 2;
        for room in rooms {
            let (width, middle) = (room.width(), x + room.width() / 2);
            let (name, size) = (&room.name, room.size());
            let (upper, lower) = (y + 20, y + 37);
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\"/>\
                 <text x=\"{middle}\" y=\"{upper}\">{name}</text>\
                 <text class=\"s\" x=\"{middle}\" y=\"{lower}\">{size}</text>"
            )
            .expect("a string takes everything");
            x += width + GAP;
        }
    }
    svg + "</svg>\n"
}

/// Lines of production code by crate.
fn sizes(workspace: &Workspace) -> Result<BTreeMap<String, usize>, CannotCheck> {
    let mut sizes = BTreeMap::new();
    for name in workspace.files_ending(".rs")? {
        let Some((room, "src", inside)) = parts(&name) else { continue };
        if inside.ends_with("tests.rs") || inside.contains("tests/") {
            continue;
        }
        let text = workspace.read(&name)?;
        let lines = production(&text).map_err(|error| format!("{name}: {error}"))?;
        *sizes.entry(room.to_owned()).or_insert(0) += lines;
    }
    Ok(sizes)
}

/// "crates/tcp/src/ack/mod.rs" as crate, folder and the rest.
fn parts(name: &str) -> Option<(&str, &str, &str)> {
    let (room, rest) = name.strip_prefix("crates/")?.split_once('/')?;
    let (folder, inside) = rest.split_once('/')?;
    Some((room, folder, inside))
}

/// Lines of a file that are neither blank nor comment nor in an item for tests.
fn production(text: &str) -> Result<usize, syn::Error> {
    let mut tests = ForTests(Vec::new());
    tests.visit_file(&syn::parse_file(text)?);
    let left_out: BTreeSet<usize> = tests.0.into_iter().flatten().collect();
    let counts = |(at, line): &(usize, &str)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !left_out.contains(&(at + 1))
    };
    Ok(text.lines().enumerate().filter(counts).count())
}

/// The lines of the items that are only built for tests.
struct ForTests(Vec<RangeInclusive<usize>>);

impl<'a> Visit<'a> for ForTests {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => return,
        };
        let for_tests = |attribute: &syn::Attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
        };
        if attributes.iter().any(for_tests) {
            let span = item.span();
            self.0.push(span.start().line..=span.end().line);
        } else {
            syn::visit::visit_item(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blank_lines_do_not_count() {
        let text = "//! A file.\n\nuse a::B;\n\n/// Does.\nfn f() {\n    // Why.\n    g();\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(production(text).expect("it is Rust"), 4);
    }

    #[test]
    fn a_row_that_is_too_wide_goes_on_in_the_next() {
        let rooms = |count| (0..count).map(|_| Room { name: "r".to_owned(), thousands: 30 });
        let widths: Vec<usize> = wrapped(rooms(5).collect()).iter().map(Vec::len).collect();
        assert_eq!(widths, [2, 2, 1]);
    }
}
