//! Files that are replaced whole or not at all, and that nobody else can read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

/// Puts `bytes` in the place of whatever the file held. After a crash or a power cut it holds the one or the other. Its directory is
/// made where it is missing; a link stays one, and what it leads to is replaced.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let next = beside(&path, "new");
    // One that a crash left behind may have another mode.
    match std::fs::remove_file(&next) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&next, &path)?;
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}

/// The text of a file of at most `limit_bytes`; `None` if there is no such file.
pub(crate) fn read(path: &Path, limit_bytes: u64) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(limit_bytes + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limit_bytes {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it holds more than {limit_bytes} bytes")));
    }
    Ok(Some(text))
}

/// Moves a file that does not read out of the way, under a name that says when. Nothing is deleted.
pub(crate) fn set_aside(path: &Path, at: DateTime<Utc>) -> io::Result<PathBuf> {
    let aside = beside(path, &format!("set-aside-{}", at.format("%Y%m%dT%H%M%S%3fZ")));
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    path.with_file_name(name)
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_readable_for_its_owner_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("made").join("file.json");
        // What a crash left behind is in nobody's way.
        std::fs::create_dir(directory.path().join("made")).expect("a writable directory");
        std::fs::write(beside(&path, "new"), "half").expect("a writable directory");
        for text in ["first", "second"] {
            replace(&path, text.as_bytes()).expect("a writable directory");
            assert_eq!(read(&path, 10).expect("a readable file").as_deref(), Some(text));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).expect("the file").permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(directory.path().join("made")).expect("the directory").count(), 1);
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("file");
        assert_eq!(read(&path, 4).expect("no file"), None);
        std::fs::write(&path, "12345").expect("a writable directory");
        assert!(read(&path, 4).expect_err("too long").to_string().contains("more than 4 bytes"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::write(&real, "old").expect("a writable directory");
        std::os::unix::fs::symlink(&real, &link).expect("a writable directory");
        replace(&link, b"new").expect("a writable directory");
        assert!(std::fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(std::fs::read(&real).expect("the file"), b"new");
    }
}
