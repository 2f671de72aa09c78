//! The workstation without a window and without a network.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_domain::settings::Settings;
use countersign_wire::{Needs, Profile, TlsMode};
use secrecy::SecretString;

use super::{Closed, Workstation};
use crate::args::Places;
use crate::profile;

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

fn workstation(home: &Path, wanted: Option<&str>) -> Arc<Workstation> {
    let places =
        Places { config_dir: home.join("config"), data_dir: home.join("data"), keyring: false, instance: None };
    // With a password from the surroundings the keyring is never asked.
    let unattended = Some(SecretString::from("secret"));
    Arc::new(Workstation::new(Settings::default(), places, wanted.map(str::to_owned), unattended))
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
