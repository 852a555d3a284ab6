//! A report as one HTML file that needs nothing else: style and plots are inside.

use crate::document::{Align, Block, Cell, Document, Section, Table};
use crate::escape::escaped;
use crate::interactive::{POLICY, SCRIPT, STYLE as INTERACTIVE_STYLE, interactive, script_json};
use std::fmt::Write;
use std::time::Duration;

const STYLE: &str = include_str!("../assets/report.css");

/// What a page has besides a document: markup, which is written as it is.
#[derive(Clone, Copy, Default)]
pub(crate) struct Page<'a> {
    /// What a browser may load and run; empty for no word on it.
    pub(crate) policy: &'a str,
    /// Milliseconds after which the page refreshes itself.
    pub(crate) refresh_ms: Option<u128>,
    /// More style.
    pub(crate) style: &'a str,
    /// Behind the document's sections.
    pub(crate) body: &'a str,
    /// Behind everything that is seen.
    pub(crate) end: &'a str,
}

/// The whole file. Plots over time can be zoomed into, and all plots show values beside the pointer, where `make ui`
/// came before the build.
pub fn to_html(document: &Document) -> String {
    if !interactive() || document.plots().next().is_none() {
        return page_to_html(document, &Page::default());
    }
    let end = format!("<script>{SCRIPT}</script>\n");
    let page = Page { policy: POLICY, style: INTERACTIVE_STYLE, end: &end, ..Page::default() };
    page_to_html(document, &page)
}

/// Returns the page of a server that answers each request with the present state: it refreshes itself `every` so often,
/// and requests nothing but its own address.
pub fn to_refreshing_html(document: &Document, every: Duration) -> String {
    let refresh_ms = Some(every.as_millis());
    if !interactive() {
        return page_to_html(document, &Page { refresh_ms, ..Page::default() });
    }
    let policy = format!("{POLICY}; connect-src 'self'");
    let end = format!("<script>{SCRIPT}</script>\n");
    let (policy, style, end) = (policy.as_str(), INTERACTIVE_STYLE, end.as_str());
    page_to_html(document, &Page { refresh_ms, policy, style, end, ..Page::default() })
}

/// The whole file, with more in it.
pub(crate) fn page_to_html(document: &Document, page: &Page) -> String {
    let title = escaped(&document.title);
    let policy = match page.policy {
        "" => String::new(),
        policy => {
            format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n")
        }
    };
    let style = page.style;
    let (head, main) = match page.refresh_ms {
        Some(ms) if page.end.is_empty() => {
            let seconds = ms.div_ceil(1_000);
            (format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n"), String::new())
        }
        Some(ms) => (String::new(), format!(" data-refresh=\"{ms}\"")),
        None => (String::new(), String::new()),
    };
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{policy}{head}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main{main}>\n\
         <h1>{title}</h1>\n"
    );
    if !document.purpose.is_empty() {
        let _ = writeln!(html, "<p class=\"purpose\">{}</p>", escaped(&document.purpose));
    }
    // A report with an answer has its facts behind everything: they are there to be looked up.
    let answers = document.sections.iter().any(Section::is_answer);
    if !answers {
        facts(&mut html, document);
    }
    sections(&mut html, &document.sections);
    if answers {
        facts(&mut html, document);
    }
    html.push_str(page.body);
    html.push_str("</main>\n");
    html.push_str(page.end);
    html.push_str("</body>\n</html>\n");
    html
}

fn facts(html: &mut String, document: &Document) {
    if document.facts.is_empty() {
        return;
    }
    html.push_str("<dl>\n");
    for (name, value) in &document.facts {
        let (name, value) = (escaped(name), escaped(value));
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    html.push_str("</dl>\n");
}

/// Sections alone.
pub(crate) fn sections_to_html(parts: &[Section]) -> String {
    let mut html = String::new();
    sections(&mut html, parts);
    html
}

fn sections(html: &mut String, parts: &[Section]) {
    let listed = parts.iter().flat_map(|part| &part.blocks).any(|block| *block == Block::Contents);
    for (number, part) in parts.iter().enumerate() {
        let id = if listed { format!(" id=\"part-{number}\"") } else { String::new() };
        let _ = writeln!(html, "<section{id}>");
        if !part.is_answer() {
            let _ = writeln!(html, "<h2>{}</h2>", escaped(&part.heading));
        }
        for part in &part.blocks {
            match part {
                Block::Contents => contents(html, parts),
                part => block(html, part),
            }
        }
        html.push_str("</section>\n");
    }
}

/// Lists the sections, each with a link to its place in the page.
fn contents(html: &mut String, parts: &[Section]) {
    html.push_str("<nav class=\"contents\" aria-label=\"contents\"><ul>\n");
    for (number, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_answer()) {
        let heading = escaped(&part.heading);
        let _ = writeln!(html, "<li><a href=\"#part-{number}\">{heading}</a></li>");
    }
    html.push_str("</ul></nav>\n");
}

fn block(html: &mut String, block: &Block) {
    match block {
        Block::Answer(text) => {
            let _ = writeln!(html, "<p class=\"answer\">{}</p>", escaped(text));
        }
        // Placed by its section's page, which knows all sections.
        Block::Contents => {}
        Block::Picture(picture) => {
            let (svg, width) = (picture.to_svg(), picture.width());
            let _ = writeln!(
                html,
                "<figure class=\"picture\"><div class=\"wide\"><div style=\"max-width:{width:.0}px;\
                 min-width:{:.0}px\">\n{svg}</div></div></figure>",
                width * 0.75
            );
        }
        Block::Text(text) => {
            let _ = writeln!(html, "<p>{}</p>", escaped(text));
        }
        Block::Notes(notes) => {
            html.push_str("<ul>\n");
            for note in notes {
                let _ = writeln!(html, "<li>{}</li>", escaped(note));
            }
            html.push_str("</ul>\n");
        }
        Block::Table(part) => table(html, part),
        Block::Plot(plot) => {
            let data = match interactive() {
                true => {
                    let json = script_json(plot);
                    format!("<script type=\"application/json\">{json}</script>\n")
                }
                false => String::new(),
            };
            let _ = writeln!(html, "<figure>\n{}{data}</figure>", plot.to_svg());
        }
        Block::Command { caption, line } => {
            let (caption, line) = (escaped(caption), escaped(line));
            let _ = writeln!(html, "<p>{caption}:</p>\n<pre><code>{line}</code></pre>");
        }
        Block::Code { caption, text, open } => {
            let open = if *open { " open" } else { "" };
            let (caption, text) = (escaped(caption), escaped(text));
            let _ = writeln!(
                html,
                "<details{open}><summary>{caption}</summary>\n<pre><code>{text}</code></pre>\n\
                 </details>"
            );
        }
    }
}

fn table(html: &mut String, table: &Table) {
    // Wide tables scroll by themselves, so that the page does not.
    html.push_str("<div class=\"wide\"><table>\n");
    if !table.caption.is_empty() {
        // A sentence is a remark, not the table's title.
        let class = if table.caption.ends_with('.') { " class=\"remark\"" } else { "" };
        let _ = writeln!(html, "<caption{class}>{}</caption>", escaped(&table.caption));
    }
    html.push_str("<thead><tr>");
    for column in &table.columns {
        let unit = match column.unit.as_str() {
            "" => String::new(),
            unit => format!("<br><small>{}</small>", escaped(unit)),
        };
        let heading = escaped(&column.heading);
        let _ = write!(html, "<th{}>{heading}{unit}</th>", side(column.align));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for (cell, column) in row.iter().zip(&table.columns) {
            let shown = escaped(&cell.show());
            let _ = match cell {
                Cell::Verdict(verdict) => {
                    write!(
                        html,
                        "<td><span class=\"verdict {}\">{shown}</span></td>",
                        verdict.name()
                    )
                }
                // A name stays in one line: a hyphen in it is no place to break.
                Cell::Text(words) if is_name(words) => {
                    write!(html, "<td class=\"name\">{shown}</td>")
                }
                _ => write!(html, "<td{}>{shown}</td>", side(column.align)),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
}

/// True for one short word.
fn is_name(words: &str) -> bool {
    words.len() <= 24 && !words.contains(' ')
}

fn side(align: Align) -> &'static str {
    match align {
        Align::Left => "",
        Align::Right => " class=\"right\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Column;
    use crate::plot::{Mark, Plot, PlotSeries};

    const EVIL: &str = "<script>alert(\"x\")</script>'&";

    fn document_of(text: &str) -> Document {
        let plot = Plot::new("p", text, text, text).with(PlotSeries::new(
            text,
            Mark::Line,
            [(0.0, 1.0), (1.0, 2.0)],
        ));
        let table = Table {
            caption: text.to_owned(),
            columns: vec![Column::words(text), Column::numbers(text, text)],
            rows: vec![vec![Cell::text(text), Cell::Count(1)]],
        };
        let code = Block::Code { caption: text.to_owned(), text: text.to_owned(), open: false };
        Document {
            title: text.to_owned(),
            purpose: text.to_owned(),
            facts: vec![(text.to_owned(), text.to_owned())],
            sections: vec![
                Section::new(text)
                    .with(Block::Text(text.to_owned()))
                    .with(Block::Notes(vec![text.to_owned()]))
                    .with(Block::Table(table))
                    .with(Block::Plot(plot))
                    .with(code),
            ],
        }
    }

    #[test]
    fn nothing_a_user_wrote_becomes_markup() {
        let html = to_html(&document_of(EVIL));
        assert!(!html.contains(EVIL), "{html}");
        // The page's own, where it has some: the plot's values, and what shows them.
        let scripts = html.matches("<script").count();
        assert_eq!(scripts, if interactive() { 2 } else { 0 }, "{html}");
        assert_eq!(html.matches("</script").count(), scripts, "{html}");
        // All of them arrive as text: 8 in the head and paragraphs, 7 in table and code, 5 in the
        // plot (title twice, both labels, legend).
        assert_eq!(html.matches("&lt;script&gt;").count(), 20, "{html}");
    }

    #[test]
    fn only_a_refreshing_page_requests_anything_and_only_its_own_address() {
        let (file, page) = (document_of("a"), document_of("a"));
        let (file, page) = (to_html(&file), to_refreshing_html(&page, Duration::from_secs(1)));
        assert!(!file.contains("connect-src") && !file.contains("<main data-refresh"), "{file}");
        match interactive() {
            true => {
                assert!(page.contains("; connect-src 'self'\">"), "{page}");
                assert!(page.contains("<main data-refresh=\"1000\">"), "{page}");
            }
            false => {
                assert!(page.contains("<meta http-equiv=\"refresh\" content=\"1\">"), "{page}")
            }
        }
    }

    #[test]
    fn the_file_refers_to_nothing_outside_itself() {
        let html = to_html(&document_of("plain"));
        let without_namespace = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        let without_namespace = without_namespace.replace("href=\"#", "");
        for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!without_namespace.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_body_is_well_formed() {
        let html = to_html(&document_of("plain"));
        let start = html.find("<main>").expect("a body");
        let end = html.find("</body>").expect("a body");
        let mut xml =
            html[start..end].replace("<br>", "<br/>").replace("<details open>", "<details>");
        // Behind the body there may be the page's own script, which is no XML.
        xml.truncate(xml.find("</main>").map_or(xml.len(), |at| at + "</main>".len()));
        roxmltree::Document::parse(&xml).expect("well-formed");
    }

    #[test]
    fn the_same_document_gives_the_same_bytes() {
        assert_eq!(to_html(&document_of("a")), to_html(&document_of("a")));
    }
}
