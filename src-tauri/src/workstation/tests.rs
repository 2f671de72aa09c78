//! The workstation without a window and without a network.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_domain::hash;
use countersign_domain::id::{BatchId, WorkstationId};
use countersign_domain::sign_off::{Decision, SignOff};
use countersign_engine::port::{Entry, Journal as _, Stage, Write};
use countersign_journal::SqliteJournal;
use countersign_station::{Configured, SettingsFile, Vault};
use countersign_wire::{LeavingReason, Needs, Profile, TlsMode};
use secrecy::SecretString;
use uuid::Uuid;

use super::{Closed, Workstation};
use crate::args::Places;
use crate::profile;
use crate::views::samples::{at, item};

/// Nobody listens at the reserved port 1: every attempt to connect fails at once.
fn unreachable(name: &str) -> Profile {
    Profile {
        name: name.into(),
        host: "127.0.0.1".into(),
        port: 1,
        database: "close".into(),
        user: "alice".into(),
        tls: TlsMode::Disable,
        root_certificate: None,
        client_certificate: None,
        client_key: None,
    }
}

/// Settings in a file of these words.
fn configured(home: &Path, text: &str) -> (SettingsFile, Configured) {
    let path = home.join("config").join("config.toml");
    if !text.is_empty() {
        std::fs::write(&path, text).expect("a writable directory");
    }
    let file = SettingsFile::at(path, |_| None);
    let configured = file.load(false).expect("good settings");
    (file, configured)
}

fn workstation(home: &Path, wanted: Option<&str>) -> Arc<Workstation> {
    let places = Places {
        config_dir: home.join("config"),
        data_dir: home.join("data"),
        export_dir: home.to_owned(),
        keyring: false,
        instance: None,
    };
    // With a password from the surroundings the keyring is never asked.
    let unattended = Some(SecretString::from("secret"));
    Arc::new(Workstation::new(configured(home, ""), places, wanted.map(str::to_owned), unattended))
}

async fn with_profiles(home: &Path, names: &[&str]) {
    for name in names {
        workstation(home, None).save_profile(unreachable(name)).await.expect("a good profile");
    }
}

fn journal(home: &Path, name: &str) -> PathBuf {
    profile::journal(&home.join("data"), name)
}

#[tokio::test]
async fn without_a_profile_one_is_asked_for() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let workstation = workstation(home.path(), None);
    workstation.start().await;
    let session = workstation.session().await;
    assert_eq!((session.needs, session.profile, session.profiles), (Needs::Profile, None, Vec::new()));
    assert_eq!(workstation.close().await, Closed::Done);
}

#[tokio::test]
async fn the_only_profile_is_opened_and_among_several_the_one_that_was_named() {
    let home = tempfile::tempdir().expect("a temporary directory");
    for (names, wanted, opened) in [
        (&["a"][..], None, Some("a")),
        (&["a", "b"], None, None),
        (&["a", "b"], Some("b"), Some("b")),
        (&["a", "b"], Some("c"), None),
    ] {
        with_profiles(home.path(), names).await;
        let workstation = workstation(home.path(), wanted);
        workstation.start().await;
        let session = workstation.session().await;
        assert_eq!(session.profile.map(|profile| profile.name).as_deref(), opened, "{names:?} {wanted:?}");
        assert_eq!(workstation.running().await.is_some(), opened.is_some());
        if wanted == Some("c") {
            let problem = session.link.problem.expect("words about the missing profile");
            assert!(problem.message.contains("called c") && problem.message.contains("a, b"), "{}", problem.message);
        }
        workstation.close().await;
    }
}

#[tokio::test]
async fn before_the_first_connection_an_unreachable_database_leads_back_to_the_profile() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a"]).await;
    let workstation = workstation(home.path(), None);
    workstation.start().await;
    let refused = workstation.connect("a", None, false).await.expect_err("nobody listens");
    assert_eq!(refused.code, "UNREACHABLE");
    let session = workstation.session().await;
    assert_eq!(session.needs, Needs::Profile);
    assert_eq!(session.link.problem, Some(refused));
    // Offline with nothing to send, closing has nothing to wait for.
    assert_eq!(workstation.close().await, Closed::Done);
    assert_eq!(workstation.close().await, Closed::UnderWay);
}

#[tokio::test]
async fn another_profile_is_another_journal_and_the_windows_versions_go_on_growing() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a", "b"]).await;
    let workstation = workstation(home.path(), Some("a"));
    workstation.start().await;
    let before = workstation.change(countersign_station::Versions::default(), None);
    assert!(workstation.connect("b", None, false).await.is_err(), "nobody listens");
    assert_eq!(workstation.session().await.profile.map(|profile| profile.name).as_deref(), Some("b"));
    assert!(journal(home.path(), "a").exists() && journal(home.path(), "b").exists());
    let after = workstation.change(countersign_station::Versions::default(), None);
    assert!(after.deck > before.deck && after.outbox > before.outbox && after.session > before.session);
    workstation.close().await;
}

#[tokio::test]
async fn a_journal_that_is_in_use_is_told_and_opened_once_it_is_free() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a"]).await;
    let (first, second) = (workstation(home.path(), None), workstation(home.path(), None));
    first.start().await;
    second.start().await;
    let session = second.session().await;
    assert_eq!(session.needs, Needs::Profile);
    let problem = session.link.problem.expect("words about the lock");
    assert_eq!(problem.code, "JOURNAL_LOCKED");
    assert!(problem.message.contains("Another Countersign"), "{}", problem.message);
    assert_eq!(second.connect("a", None, false).await.expect_err("still locked").code, "JOURNAL_LOCKED");

    first.close().await;
    assert_eq!(second.connect("a", None, false).await.expect_err("nobody listens").code, "UNREACHABLE");
    assert!(second.running().await.is_some());
    second.close().await;
}

#[tokio::test]
async fn a_damaged_journal_is_moved_aside_only_after_the_reviewer_was_told() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a"]).await;
    let file = journal(home.path(), "a");
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("a writable directory");
    std::fs::write(&file, "no journal").expect("a writable file");

    let workstation = workstation(home.path(), None);
    workstation.start().await;
    let problem = workstation.session().await.link.problem.expect("words about the damage");
    assert_eq!(problem.code, "JOURNAL_CORRUPT");
    assert!(problem.message.contains("If you connect again"), "{}", problem.message);
    assert_eq!(std::fs::read(&file).expect("the file"), b"no journal");

    assert_eq!(workstation.connect("a", None, false).await.expect_err("nobody listens").code, "UNREACHABLE");
    let warnings = workstation.session().await.warnings;
    let moved = warnings.iter().find(|warning| warning.contains(".corrupt-")).expect("the new name");
    let name = moved.split_whitespace().find(|word| word.contains(".corrupt-")).expect("a path");
    assert_eq!(std::fs::read(name.trim_end_matches('.')).expect("the file that was moved"), b"no journal");
    workstation.close().await;
}

#[tokio::test]
async fn a_journal_whose_key_is_gone_is_told_and_opens_once_the_key_is_back() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a"]).await;
    let file = journal(home.path(), "a");
    let keys = file.with_file_name("keys.json");
    let first = workstation(home.path(), None);
    first.start().await;
    assert!(first.running().await.is_some());
    first.close().await;
    let (content, kept) = (std::fs::read(&file).expect("the journal"), std::fs::read(&keys).expect("the keys"));
    std::fs::remove_file(&keys).expect("a writable directory");

    let second = workstation(home.path(), None);
    second.start().await;
    let problem = second.session().await.link.problem.expect("words about the key");
    assert_eq!(problem.code, "JOURNAL_KEY");
    assert!(problem.message.contains("restore the file"), "{}", problem.message);
    // However often it is tried, nothing is made in its place and nothing is moved.
    assert_eq!(second.connect("a", None, false).await.expect_err("still gone").code, "JOURNAL_KEY");
    assert!(!keys.exists());
    assert_eq!(std::fs::read(&file).expect("the journal"), content);

    std::fs::write(&keys, kept).expect("a writable directory");
    assert_eq!(second.connect("a", None, false).await.expect_err("nobody listens").code, "UNREACHABLE");
    assert!(second.running().await.is_some());
    second.close().await;
}

/// Puts a decision into a journal that nobody has open, as if it had been signed offline.
fn sign_offline(file: &Path, name: &str) {
    let vault = Vault::new(name, file.parent().expect("a directory"), false);
    let (secrets, _) = vault.find().expect("readable keys").expect("keys");
    let mut journal =
        SqliteJournal::open(file, &secrets.journal_key, WorkstationId(Uuid::nil())).expect("a journal that is free");
    let item = item(1, "12.00", "bob");
    let sign_off = SignOff {
        key: hash::sign_off_key(&item.key, item.content, Decision::Approve, "alice"),
        exception: item.id,
        content: item.content,
        epoch: item.epoch,
        decision: Decision::Approve,
        reason: None,
        comment: None,
        decided_at: at(9),
        policy_version: 1,
        figure: None,
        seal: None,
    };
    let entry = Entry {
        ordinal: 1,
        batch: BatchId(Uuid::nil()),
        sign_off,
        item,
        stage: Stage::Ready,
        attempts: 0,
        answer: None,
        problem: None,
        offline: true,
        settled_at: None,
        may_be_sent: false,
        receipt: None,
        steps: Vec::new(),
    };
    journal.write(&Write::Signed { entries: vec![entry], attestation: String::new() }).expect("a writable journal");
}

#[tokio::test]
async fn who_signs_out_comes_back_to_the_profile_and_may_remove_what_is_left() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a"]).await;
    let workstation = workstation(home.path(), None);
    workstation.start().await;
    assert!(workstation.session().await.keys_in_file);
    let in_use = workstation.remove_everything("a", None).await.expect_err("a profile in use");
    assert_eq!(in_use.code, "NOT_LEFT");
    assert!(journal(home.path(), "a").exists());

    workstation.sign_out().await.expect("a station that runs");
    let session = workstation.session().await;
    assert_eq!((session.needs, session.profile.map(|profile| profile.name)), (Needs::Profile, Some("a".into())));
    let leaving = session.leaving.expect("what is left");
    assert_eq!((leaving.reason, leaving.unsent), (LeavingReason::SignedOut, 0));
    assert!(leaving.message.contains("removed from this computer"), "{}", leaving.message);

    let reply = workstation.remove_everything("a", None).await.expect("nothing is unsent");
    assert!(reply.message.contains("of a were removed"), "{}", reply.message);
    let file = journal(home.path(), "a");
    assert!(!file.exists() && !file.with_file_name("keys.json").exists());
    assert_eq!(workstation.session().await.leaving, None);
    // The settings of the connection stay, and a new journal begins empty.
    assert_eq!(workstation.connect("a", None, false).await.expect_err("nobody listens").code, "UNREACHABLE");
    assert!(file.exists());
    workstation.close().await;
}

#[tokio::test]
async fn unsent_decisions_are_removed_only_with_the_digest_of_their_export() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a"]).await;
    let first = workstation(home.path(), None);
    first.start().await;
    first.close().await;
    let file = journal(home.path(), "a");
    sign_offline(&file, "a");

    let places = Places {
        config_dir: home.path().join("config"),
        data_dir: home.path().join("data"),
        export_dir: home.path().to_owned(),
        keyring: false,
        instance: None,
    };
    let second = Arc::new(Workstation::new(
        configured(home.path(), "drain_timeout_s = 5\n"),
        places,
        None,
        Some(SecretString::from("secret")),
    ));
    second.start().await;
    let (signed_out, ()) = tokio::join!(second.sign_out(), second.close_now());
    signed_out.expect("a station that runs");
    assert_eq!(second.session().await.leaving.map(|leaving| leaving.unsent), Some(1));

    let refused = second.remove_everything("a", None).await.expect_err("a decision that is here alone");
    assert!(refused.message.contains("1 unanswered decisions"), "{}", refused.message);
    let wrong = second.remove_everything("a", Some(hash::sha256(b"another"))).await.expect_err("another export");
    assert_eq!(wrong, refused);
    assert!(file.exists());

    let export = second.export_outbox("a").await.expect("a writable directory");
    assert_eq!(export.count, 1);
    let text = std::fs::read_to_string(&export.path).expect("the export");
    assert_eq!(text.lines().count(), 2);
    assert!(text.ends_with(&format!("{{\"count\":1,\"sha256\":\"{}\"}}\n", export.sha256)), "{text}");
    let leaving = second.session().await.leaving.expect("still left");
    assert_eq!(leaving.export.as_ref(), Some(&export));

    let digest = export.sha256.parse().expect("a digest");
    second.remove_everything("a", Some(digest)).await.expect("an acknowledged export");
    assert!(!file.exists());
    assert!(Path::new(&export.path).exists());
    second.close().await;
}

mod keeping;
