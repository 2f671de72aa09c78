//! Taking in the pictures of receipts, which arrivals name in `payload.image`.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use crate::text::shown;
use crate::{AdminError, Database};

/// The most bytes of a picture.
pub const PICTURE_BYTES: u64 = 4_000_000;
/// The most bytes of a manifest, and the most pictures of one call.
const MANIFEST_BYTES: u64 = 1024 * 1024;
const PICTURES: usize = 10_000;
/// The first line of a manifest.
const HEAD: &str = "name\tpage_width\tpage_height";

/// A picture's file, and the page that the OCR's boxes count in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The file; its name is what arrivals call it.
    pub file: PathBuf,
    /// The page's width and height in pixels; those of the picture itself, if they are not said.
    pub page: Option<(u32, u32)>,
}

/// What became of the pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AttachReport {
    /// New ones.
    pub added: u64,
    /// Those that were there already.
    pub known: u64,
}

/// Reads `1276x1754`.
pub fn read_page(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.parse::<u32>().ok().filter(|pixels| (1..=100_000).contains(pixels));
    text.split_once('x')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| "expected a width and a height of 1 to 100000 pixels, such as 1276x1754".to_owned())
}

/// Reads a manifest: tab-separated, a head `name page_width page_height`, then a picture a line, beside the manifest.
pub async fn manifest(path: &Path) -> Result<Vec<Attachment>, AdminError> {
    let origin = shown(&path.to_string_lossy());
    let bytes = bytes(path, MANIFEST_BYTES).await?;
    let text = String::from_utf8(bytes).map_err(|error| AdminError::Unreadable {
        origin: origin.clone(),
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(AdminError::Request(format!(
            "{origin}: the first line is name, page_width, page_height, with tabs"
        )));
    }
    let rows: Vec<(usize, &str)> = (2..).zip(lines).filter(|(_, line)| !line.trim().is_empty()).collect();
    if rows.len() > PICTURES {
        return Err(AdminError::Request(format!("{origin}: at most {PICTURES} pictures are taken in one call")));
    }
    rows.into_iter()
        .map(|(number, line)| {
            let wrong = |reason: &str| AdminError::Request(format!("{origin}, line {number}: {reason}"));
            let columns: Vec<&str> = line.split('\t').collect();
            let [name, width, height] = columns[..] else { return Err(wrong("expected three columns")) };
            if name.is_empty() || name.contains(['/', '\\']) {
                return Err(wrong("a picture lies beside the manifest: expected a file's name"));
            }
            let page = read_page(&format!("{width}x{height}")).map_err(|reason| wrong(&reason))?;
            Ok(Attachment { file: folder.join(name), page: Some(page) })
        })
        .collect()
}

/// Takes pictures in, one after the other. What is there already is left alone; a picture is never replaced.
pub async fn attach(database: &Database, pictures: &[Attachment]) -> Result<AttachReport, AdminError> {
    let mut connection = database.connect().await?;
    let mut report = AttachReport::default();
    for Attachment { file, page } in pictures {
        let origin = shown(&file.to_string_lossy());
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| AdminError::Request(format!("{origin} has no name in UTF-8")))?;
        let bytes = bytes(file, PICTURE_BYTES).await?;
        let (width, height) = page.or_else(|| size(&bytes)).ok_or_else(|| {
            AdminError::Request(format!("{origin} is no JPEG or PNG whose size can be read: --page-size may say it"))
        })?;
        let added: bool = sqlx::query_scalar("SELECT countersign.picture_add($1, $2, $3, $4)")
            .bind(name)
            .bind(&bytes)
            .bind(i32::try_from(width).unwrap_or(i32::MAX))
            .bind(i32::try_from(height).unwrap_or(i32::MAX))
            .fetch_one(&mut connection)
            .await
            .map_err(database.refused("take the picture in"))?;
        *(if added { &mut report.added } else { &mut report.known }) += 1;
    }
    Ok(report)
}

/// The report in words.
pub fn describe(report: &AttachReport) -> String {
    let AttachReport { added, known } = report;
    format!("{added} pictures were taken in, {known} were there already.\n")
}

/// A file whole, or why not.
async fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, AdminError> {
    let origin = shown(&path.to_string_lossy());
    let unreadable = |source| AdminError::Unreadable { origin: origin.clone(), source };
    let file = File::open(path).await.map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).await.map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(AdminError::Request(format!("{origin} has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The size a picture says it has: of a PNG's `IHDR`, or of a JPEG's frame header (ITU-T T.81, B.2.2).
fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    if let Some(header) = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n") {
        let side = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
        return (header.get(4..8)? == b"IHDR").then_some((side(8)?, side(12)?));
    }
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, high, low, ..] = *rest else { return None };
        let length = usize::from(u16::from_be_bytes([high, low]));
        // SOF0 to SOF15, without DHT, JPG and DAC, which share the range.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let side = |at: usize| Some(u32::from(u16::from_be_bytes(rest.get(at..at + 2)?.try_into().ok()?)));
            return Some((side(7)?, side(5)?));
        }
        rest = rest.get(2 + length..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../demo/pictures");

    #[tokio::test]
    async fn the_demo_s_manifest_names_pictures_whose_size_can_be_read() {
        let attachments = manifest(&Path::new(PICTURES).join("manifest.tsv")).await.expect("a manifest");
        assert_eq!(attachments.len(), 11);
        for Attachment { file, page } in attachments {
            let picture = std::fs::read(&file).expect("the picture is there");
            let (width, height) = size(&picture).expect("a JPEG");
            let (page_width, page_height) = page.expect("the manifest says it");
            // The same shape, to two pixels of the small picture.
            let expected = u64::from(page_height) * u64::from(width) / u64::from(page_width);
            assert!(expected.abs_diff(u64::from(height)) <= 2, "{}: {width}x{height}", file.display());
        }
    }

    #[test]
    fn what_is_no_picture_has_no_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x00\0\0\x01\x00";
        assert_eq!(size(png), Some((512, 256)));
        for bytes in [&png[..20], b"GIF89a", b"\xff\xd8\xff", b"\xff\xd8\xff\xc0\0\x04\x08", b""] {
            assert_eq!(size(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_page_is_two_numbers_of_pixels() {
        assert_eq!(read_page("1276x1754"), Ok((1276, 1754)));
        for text in ["", "1276", "0x5", "5x-5", "1x100001", "axb"] {
            assert!(read_page(text).is_err(), "{text}");
        }
    }
}
