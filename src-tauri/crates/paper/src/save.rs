//! Writing a file: readable by its owner alone, never over another one, and on the disk when it is said to be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use countersign_domain::hash::sha256;
use countersign_domain::id::Digest;
use thiserror::Error;

/// How many names are tried before giving up.
const NAMES: u32 = 1_000;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its full path.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// SHA-256 of it.
    pub sha256: Digest,
}

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The folder is not there and cannot be made.
    #[error("the folder {path} cannot be made")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{path} cannot be written")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// All names are taken.
    #[error("{path} and {NAMES} files with numbers behind that name are there already")]
    Taken {
        /// The first of them.
        path: PathBuf,
    },
}

/// Writes a file into a folder, which is made if it has to be. If the name is taken, it gets a number.
pub fn save(folder: &Path, stem: &str, extension: &str, bytes: &[u8]) -> Result<Saved, SaveError> {
    make_folder(folder).map_err(|source| SaveError::Folder { path: folder.to_owned(), source })?;
    for number in 1..=NAMES {
        let name = if number == 1 { format!("{stem}.{extension}") } else { format!("{stem} ({number}).{extension}") };
        let path = folder.join(&name);
        let mut file = match create(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(source) => return Err(SaveError::File { path, source }),
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| sync_folder(folder));
        if let Err(source) = written {
            // Half a file would be taken for a whole one.
            let _ = fs::remove_file(&path);
            return Err(SaveError::File { path, source });
        }
        return Ok(Saved { path, name, bytes: bytes.len(), sha256: sha256(bytes) });
    }
    Err(SaveError::Taken { path: folder.join(format!("{stem}.{extension}")) })
}

/// A part of a file's name: letters, digits, `-` and `_`, whatever the text was. At most 60 characters, at least one.
pub fn name_part(text: &str) -> String {
    let kept = text
        .chars()
        .map(|character| if character.is_alphanumeric() || "-_".contains(character) { character } else { '-' });
    let part: String = kept.take(60).collect();
    if part.is_empty() { "-".to_owned() } else { part }
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A name is on the disk when its folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_nothing_is_written_over() {
        let root = tempfile::tempdir().expect("a directory");
        let folder = root.path().join("Documents").join("Countersign");
        let names: Vec<String> =
            ["a", "b", "c"].map(|text| save(&folder, "deck", "csv", text.as_bytes()).expect("written").name).to_vec();
        assert_eq!(names, ["deck.csv", "deck (2).csv", "deck (3).csv"]);
        for (name, text) in names.iter().zip(["a", "b", "c"]) {
            assert_eq!(fs::read_to_string(folder.join(name)).expect("it is there"), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_written_is_for_its_owner_alone_and_what_is_said_of_it_is_true() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().expect("a directory");
        let saved = save(root.path(), "deck", "csv", b"abc").expect("written");
        let mode = fs::metadata(&saved.path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!((saved.bytes, saved.sha256), (3, sha256(b"abc")));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let root = tempfile::tempdir().expect("a directory");
        let file = save(root.path(), "deck", "csv", b"abc").expect("written").path;
        let error = save(&file, "deck", "csv", b"abc").expect_err("it is a file");
        assert!(error.to_string().contains("deck.csv"), "{error}");
    }

    #[test]
    fn a_name_has_nothing_in_it_that_means_anything_to_a_file_system() {
        assert_eq!(name_part("../a b\u{202E}ü"), "---a-b-ü");
        assert_eq!(name_part(""), "-");
    }
}
