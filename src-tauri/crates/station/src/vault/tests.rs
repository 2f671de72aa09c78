//! Where keys are found and kept, with a keyring that does as it is told.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};

use rand::SeedableRng as _;
use tempfile::TempDir;

use super::*;

/// A keyring in memory.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<FakeState>>);

#[derive(Default)]
struct FakeState {
    entries: HashMap<String, String>,
    locked: bool,
    /// Takes what it is given and keeps nothing.
    forgetful: bool,
}

impl Fake {
    fn state(&self) -> std::sync::MutexGuard<'_, FakeState> {
        self.0.lock().expect("no test thread panicked")
    }

    fn entries(&self) -> usize {
        self.state().entries.len()
    }

    fn ask(&self) -> Result<std::sync::MutexGuard<'_, FakeState>, String> {
        let state = self.state();
        if state.locked { Err("it is locked".to_owned()) } else { Ok(state) }
    }
}

impl Keyring for Fake {
    fn find(&self, entry: &str) -> Result<Option<Zeroizing<String>>, String> {
        Ok(self.ask()?.entries.get(entry).cloned().map(Zeroizing::new))
    }

    fn set(&self, entry: &str, text: &Zeroizing<String>) -> Result<(), String> {
        let mut state = self.ask()?;
        if !state.forgetful {
            state.entries.insert(entry.to_owned(), text.to_string());
        }
        Ok(())
    }

    fn delete(&self, entry: &str) -> Result<(), String> {
        self.ask()?.entries.remove(entry);
        Ok(())
    }
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn with(keyring: &Fake, directory: &TempDir) -> Vault {
    Vault::with("close 2026", &directory.path().join("close"), Some(Box::new(keyring.clone())))
}

fn without(directory: &TempDir) -> Vault {
    Vault::new("close 2026", &directory.path().join("close"), false)
}

fn fresh(seed: u8) -> Secrets {
    Secrets::random(&mut rand::rngs::StdRng::from_seed([seed; 32]))
}

fn unwanted() -> Secrets {
    unreachable!("keys are there, or must not be made")
}

fn key(secrets: &Secrets) -> [u8; 32] {
    *secrets.journal_key.expose()
}

#[test]
fn without_a_keyring_the_keys_are_in_a_private_file() {
    let directory = directory();
    let vault = without(&directory);
    assert!(vault.find().expect("it is looked at").is_none());
    let (made, kept_in) = vault.open(false, || fresh(1)).expect("they are made");
    assert_eq!(kept_in, KeptIn::File(vault.file()));
    let mut found = without(&directory).open(true, unwanted).expect("they are found").0;
    assert_eq!((key(&found), found.signing_seed.expose()), (key(&made), made.signing_seed.expose()));
    assert!(found.sealing.is_none());

    found.sealing = Some(Sealing { enrolment: 7, secret: Secret::new(&[9; 32]) });
    assert_eq!(vault.keep(&found).expect("they are kept"), kept_in);
    let again = vault.find().expect("it reads").expect("they are there").0;
    let sealing = again.sealing.as_ref().expect("it was kept");
    assert_eq!((sealing.enrolment, sealing.secret.expose()), (7, &[9; 32]));
    assert_eq!(key(&again), key(&made));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let rights = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((rights(&vault.file()), rights(&vault.directory)), (0o600, 0o700));
        fs::set_permissions(vault.file(), fs::Permissions::from_mode(0o644)).expect("it is ours");
        vault.open(true, unwanted).expect("they are found");
        assert_eq!(rights(&vault.file()), 0o600);
    }
    vault.forget().expect("they go");
    assert!(!vault.file().exists());
    vault.forget().expect("there is nothing to do");
}

#[test]
fn keys_are_never_made_in_place_of_ones_that_are_missing() {
    let directory = directory();
    let error = without(&directory).open(true, unwanted).expect_err("they are gone").to_string();
    for words in ["there is a journal in", "keys.json", "nothing was touched", "unlock the keyring", "restore the file"]
    {
        assert!(error.contains(words), "{words}: {error}");
    }
    let keyring = Fake::default();
    let vault = with(&keyring, &directory);
    keyring.state().locked = true;
    let error = vault.open(true, unwanted).expect_err("it is locked").to_string();
    assert!(error.contains("(it is locked)"), "{error}");
    assert!(!vault.file().exists() && keyring.entries() == 0);
}

#[test]
fn the_keyring_comes_first_and_the_file_is_for_when_it_does_not_answer() {
    let (directory, keyring) = (directory(), Fake::default());
    let vault = with(&keyring, &directory);
    keyring.state().locked = true;
    let (made, kept_in) = vault.open(false, || fresh(1)).expect("they are made");
    assert_eq!(kept_in, KeptIn::File(vault.file()));
    assert_eq!(vault.open(true, unwanted).expect("they are found").1, kept_in);

    // It answers, but does not give back what it was given: the file stays.
    keyring.state().locked = false;
    keyring.state().forgetful = true;
    assert_eq!(vault.open(true, unwanted).expect("they are found").1, kept_in);
    assert!(vault.file().exists());

    keyring.state().forgetful = false;
    let (found, kept_in) = vault.open(true, unwanted).expect("they are found");
    assert_eq!((key(&found), kept_in), (key(&made), KeptIn::Keyring));
    assert!(!vault.file().exists(), "they moved");

    // A file beside it, as from an old backup, does not count.
    without(&directory).open(false, || fresh(2)).expect("they are made");
    assert_eq!(key(&vault.open(true, unwanted).expect("they are found").0), key(&made));
    assert!(vault.file().exists(), "and is left alone");

    vault.forget().expect("they go");
    assert!(!vault.file().exists() && keyring.entries() == 0);
}

#[test]
fn changed_keys_do_not_go_where_older_ones_would_be_found_before_them() {
    let (directory, keyring) = (directory(), Fake::default());
    let vault = with(&keyring, &directory);
    let (mut secrets, kept_in) = vault.open(false, || fresh(1)).expect("they are made");
    assert_eq!(kept_in, KeptIn::Keyring);
    secrets.sealing = Some(Sealing { enrolment: 1, secret: Secret::new(&[3; 32]) });
    keyring.state().locked = true;
    assert!(matches!(vault.keep(&secrets), Err(VaultError::NotKept(_))));
    assert!(!vault.file().exists());
    keyring.state().locked = false;
    assert_eq!(vault.keep(&secrets).expect("they are kept"), KeptIn::Keyring);
    assert!(vault.find().expect("it reads").expect("they are there").0.sealing.is_some());
}

#[test]
fn profiles_have_keys_of_their_own_apart_from_their_passwords() {
    let (directory, keyring) = (directory(), Fake::default());
    for (seed, name) in [(1, "a"), (2, "b")] {
        let vault = Vault::with(name, &directory.path().join(name), Some(Box::new(keyring.clone())));
        vault.open(false, || fresh(seed)).expect("they are made");
    }
    assert_eq!(keyring.entries(), 2);
    assert!(!keyring.state().entries.contains_key("a"), "that is the password's");
}

#[test]
fn a_file_that_does_not_read_is_told_without_quoting_it_and_left_alone() {
    let directory = directory();
    let vault = without(&directory);
    vault.open(false, || fresh(1)).expect("they are made");
    let whole = fs::read_to_string(vault.file()).expect("it reads");
    let digits = hex::encode(key(&fresh(1)));
    assert!(whole.contains(&digits));
    for (damaged, words) in [
        (whole[..whole.len() / 2].to_owned(), "JSON"),
        (whole.replace(&digits, &digits[2..]), "fields"),
        (whole.replace("\"version\":1", "\"version\":2"), "newer release"),
        (whole.replace("journal_key", &digits), "fields"),
        (String::new(), "JSON"),
    ] {
        fs::write(vault.file(), &damaged).expect("it writes");
        for exists in [false, true] {
            let error = vault.open(exists, unwanted).expect_err("it does not read");
            assert!(matches!(error, VaultError::Malformed { .. }), "{error}");
            let told = format!("{error} {error:?}");
            assert!(told.contains(words) && !told.contains(&digits[2..]), "{told}");
            assert_eq!(fs::read_to_string(vault.file()).expect("it reads"), damaged);
        }
    }
    fs::write(vault.file(), [0xff, 0xfe]).expect("it writes");
    assert!(matches!(vault.open(false, unwanted), Err(VaultError::Malformed { .. })));
}

#[test]
fn what_a_crash_left_of_keeping_keys_is_no_obstacle() {
    let directory = directory();
    let vault = without(&directory);
    let (secrets, _) = vault.open(false, || fresh(1)).expect("they are made");
    fs::write(vault.file().with_extension("json.new"), "half of it").expect("it writes");
    vault.keep(&secrets).expect("they are kept");
    assert!(!vault.file().with_extension("json.new").exists());
    assert!(vault.find().expect("it reads").is_some());
}

#[test]
fn nothing_secret_is_printed() {
    let mut secrets = fresh(1);
    secrets.sealing = Some(Sealing { enrolment: 7, secret: Secret::new(&[0xab; 32]) });
    let printed = format!("{secrets:?} {secrets:#?} {:?}", without(&directory()));
    for secret in [&key(&secrets), secrets.signing_seed.expose(), &[0xab; 32]] {
        for shown in [hex::encode(secret), format!("{}, {}", secret[0], secret[1]), format!("{secret:x?}")] {
            assert!(!printed.contains(&shown), "{printed}");
        }
    }
    assert!(printed.contains("REDACTED") && printed.contains("enrolment: 7"), "{printed}");
}

#[test]
fn two_starts_at_once_make_one_set_of_keys() {
    let directory = directory();
    let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|seed| {
                let vault = without(&directory);
                scope.spawn(move || key(&vault.open(false, || fresh(seed)).expect("they are made or found").0))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}
