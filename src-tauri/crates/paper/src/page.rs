//! Pages of text: fonts, widths, and what is drawn where. Nothing here knows what the text is about.

// Points on a page, and no amounts.
#![allow(clippy::float_arithmetic)]

use std::collections::HashMap;
use std::sync::LazyLock;

use countersign_domain::visible::visible;
use krilla::color::rgb;
use krilla::geom::{PathBuilder, Point, Rect};
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph, TextDirection};
use krilla::{Data, Document};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};
use thiserror::Error;

/// A4, in points.
pub(crate) const WIDTH: f32 = 595.0;
/// A4, in points.
pub(crate) const HEIGHT: f32 = 842.0;
/// Stands for a character that the font lacks.
const LACKING: char = '\u{25A1}';

static REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSansCondensed.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/DejaVuSansCondensed-Bold.ttf");
static FACES: LazyLock<Option<[Face; 2]>> = LazyLock::new(|| Some([Face::new(REGULAR)?, Face::new(BOLD)?]));

/// A document could not be put together.
#[derive(Debug, Error)]
pub enum PageError {
    /// The fonts that are compiled in do not read.
    #[error("the fonts of this installation are damaged")]
    Fonts,
    /// The document cannot be written.
    #[error("the document could not be written: {0}")]
    Document(String),
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Style {
    pub(crate) size: f32,
    pub(crate) bold: bool,
    /// Red, green and blue.
    pub(crate) color: [u8; 3],
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// Text, from the left end of its base line.
    Text { x: f32, y: f32, text: String, style: Style },
    /// A filled box.
    Box { x: f32, y: f32, width: f32, height: f32, color: [u8; 3] },
}

/// The fonts, with the widths that lines are broken by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fonts(&'static [Face; 2]);

struct Face {
    font: Font,
    /// Each character's glyph, and its width as a part of the size.
    glyphs: HashMap<char, (u32, f32)>,
    lacking: (u32, f32),
}

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Face({} glyphs)", self.glyphs.len())
    }
}

impl Face {
    fn new(bytes: &'static [u8]) -> Option<Self> {
        let face = FontRef::new(bytes).ok()?;
        let metrics = face.glyph_metrics(Size::new(1.0), LocationRef::default());
        let glyph = |glyph: skrifa::GlyphId| (glyph.to_u32(), metrics.advance_width(glyph).unwrap_or_default());
        let glyphs: HashMap<char, (u32, f32)> = face
            .charmap()
            .mappings()
            .filter_map(|(code, id)| char::from_u32(code).map(|character| (character, glyph(id))))
            .collect();
        let lacking = *glyphs.get(&LACKING)?;
        Some(Self { font: Font::new(Data::from(bytes.to_vec()), 0)?, glyphs, lacking })
    }

    fn glyph(&self, character: char) -> (u32, f32) {
        self.glyphs.get(&character).copied().unwrap_or(self.lacking)
    }
}

impl Fonts {
    pub(crate) fn new() -> Result<Self, PageError> {
        FACES.as_ref().map(Self).ok_or(PageError::Fonts)
    }

    fn face(self, style: Style) -> &'static Face {
        &self.0[usize::from(style.bold)]
    }

    /// How wide a text is.
    pub(crate) fn width(self, text: &str, style: Style) -> f32 {
        let face = self.face(style);
        text.chars().map(|character| face.glyph(character).1).sum::<f32>() * style.size
    }

    /// The style, with the text as small as it has to be to fit.
    pub(crate) fn shrunk(self, text: &str, style: Style, room: f32) -> Style {
        let width = self.width(text, style);
        // A little less, for the rounding.
        if width <= room { style } else { Style { size: style.size * room / width * 0.999, ..style } }
    }

    /// Whether a font has every character of a text, hidden ones aside: these are spelled out.
    pub(crate) fn has(self, text: &str, style: Style) -> bool {
        visible(text).chars().all(|character| self.face(style).glyphs.contains_key(&character))
    }

    /// The text with what hides spelled out, and with a box for each character that the font lacks.
    fn printable(self, text: &str, style: Style) -> String {
        let glyphs = &self.face(style).glyphs;
        visible(text)
            .chars()
            .map(|character| if glyphs.contains_key(&character) { character } else { LACKING })
            .collect()
    }

    /// The text, printable, on one line: what does not fit is cut and marked.
    pub(crate) fn fitted(self, text: &str, style: Style, width: f32) -> String {
        let text = self.printable(text, style);
        if self.width(&text, style) <= width {
            return text;
        }
        let room = width - self.width("…", style);
        let mut taken = 0.0;
        let fits = |character: &char| {
            taken += self.face(style).glyph(*character).1 * style.size;
            taken <= room
        };
        let mut cut: String = text.chars().take_while(fits).collect();
        cut.push('…');
        cut
    }

    /// The text in lines, broken at spaces, or anywhere in a word that is wider than a line. Its own line breaks are kept.
    pub(crate) fn lines(self, text: &str, style: Style, width: f32) -> Vec<String> {
        text.replace("\r\n", "\n")
            .split('\n')
            .flat_map(|line| self.broken(&self.printable(line, style), style, width))
            .collect()
    }

    fn broken(self, text: &str, style: Style, width: f32) -> Vec<String> {
        let mut lines = vec![String::new()];
        let mut used = 0.0;
        for word in text.split_inclusive(' ') {
            let mut wide = self.width(word, style);
            if used > 0.0 && used + wide > width {
                lines.push(String::new());
                used = 0.0;
            }
            for character in word.chars() {
                let advance = self.face(style).glyph(character).1 * style.size;
                if used > 0.0 && wide > width && used + advance > width {
                    lines.push(String::new());
                    used = 0.0;
                    wide = width;
                }
                if let Some(line) = lines.last_mut() {
                    line.push(character);
                }
                used += advance;
            }
        }
        lines
    }
}

/// Draws pages.
pub(crate) fn draw(
    document: &mut Document,
    fonts: Fonts,
    pages: impl IntoIterator<Item = Vec<Mark>>,
) -> Result<(), PageError> {
    let settings = PageSettings::from_wh(WIDTH, HEIGHT).ok_or_else(|| PageError::Document("no page".to_owned()))?;
    for marks in pages {
        let mut page = document.start_page_with(settings.clone());
        let mut surface = page.surface();
        for mark in &marks {
            match mark {
                Mark::Text { x, y, text, style } => {
                    draw_text(&mut surface, fonts, Point::from_xy(*x, *y), text, *style);
                }
                Mark::Box { x, y, width, height, color } => {
                    surface.set_fill(Some(fill(*color)));
                    let mut path = PathBuilder::new();
                    if let Some(rect) = Rect::from_xywh(*x, *y, *width, *height) {
                        path.push_rect(rect);
                    }
                    if let Some(path) = path.finish() {
                        surface.draw_path(&path);
                    }
                }
            }
        }
        surface.finish();
        page.finish();
    }
    Ok(())
}

fn draw_text(surface: &mut Surface<'_>, fonts: Fonts, at: Point, text: &str, style: Style) {
    let face = fonts.face(style);
    surface.set_fill(Some(fill(style.color)));
    if text.chars().any(is_right_to_left) {
        // Letters that join and run the other way need a shaper.
        surface.draw_text(at, face.font.clone(), style.size, text, false, TextDirection::Auto);
        return;
    }
    let glyph = |(start, character): (usize, char)| {
        let (id, advance) = face.glyph(character);
        let range = start..start + character.len_utf8();
        KrillaGlyph::new(GlyphId::new(id), advance, 0.0, 0.0, 0.0, range, None)
    };
    let glyphs: Vec<KrillaGlyph> = text.char_indices().map(glyph).collect();
    surface.draw_glyphs(at, &glyphs, face.font.clone(), text, style.size, false);
}

/// Hebrew, Arabic and their like, by their blocks.
fn is_right_to_left(character: char) -> bool {
    matches!(u32::from(character), 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

fn fill(color: [u8; 3]) -> Fill {
    let [red, green, blue] = color;
    Fill { paint: rgb::Color::new(red, green, blue).into(), ..Fill::default() }
}
