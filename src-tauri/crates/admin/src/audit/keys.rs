//! The keys of the audit seal, kept outside the database by whoever verifies without asking it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use countersign_domain::record::MacKey;
use serde::{Deserialize, Serialize};
use sqlx::types::Uuid;

use crate::text::shown;
use crate::{AdminError, Database};

/// A file of keys is short.
const FILE_BYTES: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct File {
    installation: Uuid,
    keys: Vec<Key>,
}

#[derive(Serialize, Deserialize)]
struct Key {
    id: i32,
    inner_pad: String,
    outer_pad: String,
}

/// The keys that seals are checked with.
#[derive(Debug, Default)]
pub(crate) struct VerifyingKeys {
    pub(crate) installation: Uuid,
    keys: BTreeMap<i32, MacKey>,
}

impl VerifyingKeys {
    /// Reads what [`export_keys`] wrote.
    pub(crate) fn read(path: &Path) -> Result<Self, AdminError> {
        let unreadable = |source| AdminError::Unreadable { origin: shown(&path.to_string_lossy()), source };
        let text = read_private(path, FILE_BYTES).map_err(unreadable)?;
        let wrong = |why: String| unreadable(io::Error::new(io::ErrorKind::InvalidData, why));
        let File { installation, keys } = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let mut known = BTreeMap::new();
        for Key { id, inner_pad, outer_pad } in keys {
            let pad = |text: &str| {
                let mut pad = [0; 64];
                hex::decode_to_slice(text, &mut pad).map(|()| pad).map_err(|error| wrong(error.to_string()))
            };
            known.insert(id, MacKey::from_pads(&pad(&inner_pad)?, &pad(&outer_pad)?));
        }
        Ok(Self { installation, keys: known })
    }

    /// Whether a seal is right; `None` if there is no such key.
    pub(crate) fn holds(&self, key: i32, bytes: &[u8], mac: &[u8]) -> Option<bool> {
        self.keys.get(&key).map(|key| key.mac(bytes).0 == mac)
    }
}

/// Reads a whole small file with a secret in it, which nobody else may read. One that the system's administrator owns may be lent
/// to a group, as PostgreSQL allows it.
pub(crate) fn read_private(path: &Path, most: u64) -> io::Result<String> {
    let file = std::fs::File::open(path)?;
    // Of the file that is read, and not of one that has come in its place meanwhile.
    let metadata = file.metadata()?;
    let others = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.mode() & others != 0 {
        let why = "it can be read by others; run `chmod 600` on it".to_owned();
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is larger than {most} bytes")));
    }
    Ok(text)
}

/// Makes a file that nobody else can read, and that was not there.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Writes every key of the seal into a new file; returns how many there are. Only the owner of the schema can read them.
pub async fn export_keys(database: &Database, path: &Path) -> Result<usize, AdminError> {
    const SQL: &str = "SELECT k.id, encode(k.inner_pad, 'hex'), encode(k.outer_pad, 'hex') FROM countersign.audit_key k ORDER BY k.id";
    let mut connection = database.connect().await?;
    let refused = database.refused("read the keys of the seal");
    let installation = sqlx::query_scalar("SELECT i.id FROM countersign.installation i")
        .fetch_one(&mut connection)
        .await
        .map_err(&refused)?;
    let keys: Vec<(i32, String, String)> = sqlx::query_as(SQL).fetch_all(&mut connection).await.map_err(&refused)?;
    let keys: Vec<Key> = keys.into_iter().map(|(id, inner_pad, outer_pad)| Key { id, inner_pad, outer_pad }).collect();
    let count = keys.len();
    let json = serde_json::to_string_pretty(&File { installation, keys })
        .map_err(|error| AdminError::Request(format!("cannot write JSON: {error}")))?;
    let unwritable =
        |error: io::Error| AdminError::Request(format!("cannot write {}: {error}", shown(&path.to_string_lossy())));
    write_private(path, &(json + "\n")).map_err(unwritable)?;
    Ok(count)
}

/// Retires the key of the seal that is in use; returns the number of its successor.
pub async fn rotate_key(database: &Database) -> Result<i32, AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query_scalar("SELECT countersign.audit_rotate_key()")
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("rotate the key of the seal"))
}
