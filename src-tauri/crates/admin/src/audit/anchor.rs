//! Anchors: the heads of all chains, written down outside the database, signed, each line covering the one before it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;

use countersign_domain::hash;
use countersign_domain::id::Digest;
use countersign_domain::seal::{PublicKey, sign_with};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::types::Uuid;

use super::keys::{read_private, write_private};
use super::{Micros, Session, instant};
use crate::text::shown;
use crate::{AdminError, Database};

/// The most heads in one line; more of them take several lines.
const HEADS: usize = 10_000;
/// The longest line that can come of it.
const LINE_BYTES: u64 = 32 << 20;

/// One line. It is signed as it stands here; the signature follows as its last field.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Its number in the file, from 1.
    pub(crate) anchor: u64,
    /// When, by the database's clock.
    pub(crate) at: String,
    pub(crate) installation: Uuid,
    /// How many records there were in all chains.
    pub(crate) records: i64,
    /// The chain, the number and the hash of its last record: of the chains that grew since the lines before.
    pub(crate) heads: Vec<(String, i64, Digest)>,
    /// SHA-256 of the line before it, without its line feed; 64 zeros for the first.
    pub(crate) previous: Digest,
    /// The Ed25519 key that the line is signed with.
    pub(crate) public_key: Digest,
}

/// The lines of a file, each of them checked: its number, its signature, and that it follows the one before it.
pub(crate) struct Lines {
    reader: BufReader<File>,
    pub(crate) count: u64,
    pub(crate) previous: Digest,
    key: Option<PublicKey>,
    installation: Uuid,
}

impl Lines {
    pub(crate) fn new(file: File, installation: Uuid, key: Option<PublicKey>) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, file), count: 0, previous: Digest([0; 32]), key, installation }
    }

    /// The next line, or what is wrong with it.
    pub(crate) fn next(&mut self) -> io::Result<Option<Result<Line, String>>> {
        let mut text = String::new();
        (&mut self.reader).take(LINE_BYTES).read_line(&mut text)?;
        if text.is_empty() {
            return Ok(None);
        }
        self.count += 1;
        let Some(text) = text.strip_suffix('\n') else {
            return Ok(Some(Err("it is torn: it has no end".to_owned())));
        };
        let line = self.check(text);
        self.previous = hash::sha256(text.as_bytes());
        Ok(Some(line))
    }

    fn check(&mut self, text: &str) -> Result<Line, String> {
        const SIGNATURE: &str = ",\"signature\":\"";
        let (signed, signature) = text.rsplit_once(SIGNATURE).ok_or("it has no signature")?;
        let signed = format!("{signed}}}");
        let mut bytes = [0; 64];
        hex::decode_to_slice(signature.strip_suffix("\"}").unwrap_or_default(), &mut bytes)
            .map_err(|_| "its signature is none")?;
        let line: Line = serde_json::from_str(&signed).map_err(|error| format!("it does not read: {error}"))?;
        let key = PublicKey(line.public_key.0);
        if self.key.get_or_insert(key) != &key {
            return Err("it is signed with another key than it has to be".to_owned());
        }
        if !key.verifies(signed.as_bytes(), &bytes) {
            return Err("its signature is not that of its key".to_owned());
        }
        if line.anchor != self.count || line.previous != self.previous {
            return Err("it does not follow the line before it".to_owned());
        }
        if line.installation != self.installation {
            return Err("it is of another installation".to_owned());
        }
        Ok(line)
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Anchored {
    /// The number of the last line.
    pub anchor: u64,
    /// How many heads went into this run's lines.
    pub heads: u64,
    /// How many records there are in all chains.
    pub records: i64,
    /// The key that the file is signed with, in hex: what `--anchor-key` takes.
    pub public_key: String,
    /// SHA-256 of the last line: worth writing down on paper.
    pub last_line: String,
}

/// A chain in few bytes: there may be a million of them.
fn short(text: &[u8]) -> u128 {
    let digest = hash::sha256(text).0;
    digest[..16].iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// Appends the heads that changed since the file's last line.
pub async fn anchor(database: &Database, path: &Path, key_file: &Path) -> Result<Anchored, AdminError> {
    let failed =
        |error: io::Error| AdminError::Request(format!("cannot write {}: {error}", shown(&path.to_string_lossy())));
    let Seed { seed, fresh } = Seed::read(key_file)?;
    let (public_key, _) = sign_with(&seed, b"");
    let mut session = Session::begin(database, "anchor the audit stream").await?;
    let refused = session.refused();
    let (installation, Micros(at), records): (Uuid, Micros, i64) = sqlx::query_as(
        "SELECT i.id, clock_timestamp(), (SELECT least(coalesce(sum(h.chain_seq), 0), 1e18)::bigint FROM countersign.chain_heads h) FROM countersign.installations i",
    )
    .fetch_one(&mut session.connection)
    .await
    .map_err(&refused)?;
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
    file.try_lock().map_err(|error| failed(io::Error::other(format!("somebody else writes to it: {error}"))))?;
    let mut lines = Lines::new(file.try_clone().map_err(failed)?, installation, Some(public_key));
    let mut known: HashMap<u128, (i64, u128)> = HashMap::new();
    while let Some(line) = lines.next().map_err(failed)? {
        let number = lines.count;
        let line =
            line.map_err(|why| failed(io::Error::other(format!("line {number}: {why}. Nothing was appended"))))?;
        for (chain, number, hash) in line.heads {
            known.insert(short(chain.as_bytes()), (number, short(&hash.0)));
        }
    }
    let mut writer = Writer {
        file: &file,
        key_file: fresh.then_some(key_file),
        seed,
        template: Line {
            anchor: lines.count,
            at: instant(at),
            installation,
            records,
            heads: Vec::new(),
            previous: lines.previous,
            public_key: Digest(public_key.0),
        },
    };
    let mut heads: u64 = 0;
    let sql = "SELECT h.partition_key, h.chain_seq, h.chain_head FROM countersign.chain_heads h WHERE h.chain_seq > 0 ORDER BY h.partition_key";
    let mut rows = sqlx::query(sql).fetch(&mut session.connection);
    while let Some(row) = rows.try_next().await.map_err(&refused)? {
        let (chain, number): (String, i64) = (row.try_get(0).map_err(&refused)?, row.try_get(1).map_err(&refused)?);
        let hash = Digest::from_bytes(row.try_get(2).map_err(&refused)?).ok_or_else(|| {
            AdminError::Request(format!("the head of the chain {} is none: verify the stream", shown(&chain)))
        })?;
        match known.get(&short(chain.as_bytes())) {
            Some((before, same)) if *before == number && *same == short(&hash.0) => continue,
            Some((before, _)) if *before >= number => {
                return Err(AdminError::Request(format!(
                    "the chain {} was anchored at record {before}, and ends at record {number} with another hash: verify the stream before anchoring it anew",
                    shown(&chain)
                )));
            }
            _ => {}
        }
        heads += 1;
        writer.template.heads.push((chain, number, hash));
        if writer.template.heads.len() >= HEADS {
            writer.write().map_err(failed)?;
        }
    }
    drop(rows);
    if !writer.template.heads.is_empty() || heads == 0 {
        writer.write().map_err(failed)?;
    }
    let Line { anchor, previous, .. } = writer.template;
    file.sync_all().map_err(failed)?;
    session.end().await;
    Ok(Anchored {
        anchor,
        heads,
        records,
        public_key: Digest(public_key.0).to_string(),
        last_line: previous.to_string(),
    })
}

struct Writer<'a> {
    file: &'a File,
    /// Where the key goes, if it is new. It is kept once there is something that it signs.
    key_file: Option<&'a Path>,
    seed: [u8; 32],
    template: Line,
}

impl Writer<'_> {
    fn write(&mut self) -> io::Result<()> {
        if let Some(path) = self.key_file.take() {
            write_private(path, &(hex::encode(self.seed) + "\n"))?;
        }
        self.template.anchor += 1;
        let signed = serde_json::to_string(&self.template)?;
        let (_, signature) = sign_with(&self.seed, signed.as_bytes());
        let open = signed.strip_suffix('}').unwrap_or(&signed);
        let line = format!("{open},\"signature\":\"{}\"}}", hex::encode(signature));
        self.template.previous = hash::sha256(line.as_bytes());
        self.template.heads.clear();
        self.file.write_all((line + "\n").as_bytes())
    }
}

/// The seed of the signing key, 32 bytes in hex in its file.
struct Seed {
    seed: [u8; 32],
    /// Whether it has no file yet.
    fresh: bool,
}

impl Seed {
    /// Reads it, or makes it.
    fn read(path: &Path) -> Result<Self, AdminError> {
        let unreadable = |source| AdminError::Unreadable { origin: shown(&path.to_string_lossy()), source };
        let mut seed = [0; 32];
        match read_private(path, 1_000) {
            Ok(text) => {
                let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, format!("it is no key: {error}"));
                hex::decode_to_slice(text.trim(), &mut seed).map_err(wrong).map_err(unreadable)?;
                Ok(Self { seed, fresh: false })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut seed)).map_err(unreadable)?;
                Ok(Self { seed, fresh: true })
            }
            Err(error) => Err(unreadable(error)),
        }
    }
}
