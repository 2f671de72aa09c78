//! The file of keys: for this login alone, replaced whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use secrecy::zeroize::Zeroizing;

use super::VaultError;

/// The longest file that is read, in bytes; a document of keys is shorter than a tenth of it.
const MOST_BYTES: u64 = 16 * 1_024;

/// The file's text, if there is a file. Rights that others have on it are taken away.
pub(super) fn read(path: &Path) -> Result<Option<Zeroizing<String>>, VaultError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(path, source)),
    };
    tighten(&file, path)?;
    let bytes = file.metadata().map_err(|source| failed(path, source))?.len().min(MOST_BYTES);
    // With its whole length from the start it is never moved and leaves no copies.
    let mut text = Zeroizing::new(String::with_capacity(usize::try_from(bytes).unwrap_or(0) + 1));
    match (&file).take(MOST_BYTES).read_to_string(&mut text) {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(VaultError::Malformed { place: path.display().to_string(), reason: "it is no text".to_owned() })
        }
        Err(source) => Err(failed(path, source)),
    }
}

/// Writes the whole file under another name and moves it into place; durable when it returns.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), VaultError> {
    let new = path.with_extension("json.new");
    // What a crash left behind.
    remove(&new)?;
    let written = private().create_new(true).open(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&new, path))
        .and_then(|()| sync_directory(path))
        .map_err(|source| failed(path, source))
}

/// Overwrites and deletes the file, if there is one.
pub(super) fn remove(path: &Path) -> Result<(), VaultError> {
    let overwritten = match OpenOptions::new().write(true).open(path) {
        Ok(mut file) => file.metadata().and_then(|about| {
            file.seek(SeekFrom::Start(0))?;
            std::io::copy(&mut std::io::repeat(0).take(about.len()), &mut file)?;
            file.sync_all()
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
    };
    overwritten
        .and_then(|()| fs::remove_file(path))
        .and_then(|()| sync_directory(path))
        .map_err(|source| failed(path, source))
}

/// Waits for whoever has the lock, for as long as a keyring may take; it goes with the returned file.
pub(super) fn lock(path: &Path) -> Result<File, VaultError> {
    if let Some(directory) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory).map_err(|source| failed(directory, source))?;
    }
    let file = private().create(true).truncate(false).open(path).map_err(|source| failed(path, source))?;
    file.lock().map_err(|source| failed(path, source))?;
    Ok(file)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn tighten(file: &File, path: &Path) -> Result<(), VaultError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata().map_err(|source| failed(path, source))?.permissions().mode() & 0o777;
        if mode & 0o177 != 0 {
            tracing::warn!(
                event = "keys_exposed",
                mode = format!("{mode:o}"),
                "others had rights on {}; they are taken away",
                path.display()
            );
            file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(|source| failed(path, source))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (file, path);
    Ok(())
}

/// Makes a change of names durable.
fn sync_directory(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn failed(path: &Path, source: std::io::Error) -> VaultError {
    VaultError::File { path: path.to_owned(), source }
}
