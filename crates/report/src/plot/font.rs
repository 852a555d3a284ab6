//! Widths and outlines of text, from the font this crate carries (a subset of DejaVu Sans; its
//! licence lies beside it).
//!
//! Not modelled: kerning, ligatures, scripts other than Latin and Greek (they show as boxes in
//! PNG; SVG leaves them to the viewer's fonts).

use ttf_parser::{Face, GlyphId, OutlineBuilder};

const FONT: &[u8] = include_bytes!("../../assets/PlotSans.ttf");

/// The font, ready to use.
pub(super) struct Font(Face<'static>);

impl Font {
    pub(super) fn new() -> Font {
        Font(Face::parse(FONT, 0).expect("the font in assets/ is sound"))
    }

    /// Width of a line of text in pixels.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        let units: u64 = self.glyphs(text).map(|(_, advance)| u64::from(advance)).sum();
        units as f64 * self.scale(size)
    }

    /// Feeds the outlines of `text`, y up, one glyph after another; `pen` gets each glyph's offset
    /// in pixels first.
    pub(super) fn outline<P: Pen>(&self, text: &str, size: f64, pen: &mut P) {
        let scale = self.scale(size);
        let mut offset = 0u64;
        for (glyph, advance) in self.glyphs(text) {
            pen.glyph(offset as f64 * scale, scale);
            self.0.outline_glyph(glyph, pen);
            offset += u64::from(advance);
        }
    }

    fn glyphs<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (GlyphId, u16)> + 'a {
        text.chars().map(|letter| {
            let glyph = self.0.glyph_index(letter).or_else(|| self.0.glyph_index('\u{FFFD}'));
            let glyph = glyph.unwrap_or(GlyphId(0));
            (glyph, self.0.glyph_hor_advance(glyph).unwrap_or(0))
        })
    }

    fn scale(&self, size: f64) -> f64 {
        size / f64::from(self.0.units_per_em())
    }
}

/// Takes outlines.
pub(super) trait Pen: OutlineBuilder {
    /// What follows is a glyph `offset` pixels from the start, in font units times `scale`.
    fn glyph(&mut self, offset: f64, scale: f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_and_grow_with_the_size() {
        let font = Font::new();
        let (a, b, both) = (font.width("a", 10.0), font.width("b", 10.0), font.width("ab", 10.0));
        assert!(a > 0.0 && (a + b - both).abs() < 1e-9);
        assert!((font.width("ab", 20.0) - 2.0 * both).abs() < 1e-9);
    }

    #[test]
    fn signs_that_plots_use_have_glyphs_of_their_own() {
        let font = Font::new();
        for sign in "µ×±−≤≥≈·–αβγτ…√⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars() {
            assert!(font.0.glyph_index(sign).is_some(), "{sign}");
        }
    }
}
