//! What is kept of a reviewer's choices, and what is told to whoever helps.

use std::net::Ipv4Addr;

use countersign_wire::{Preferences, SettingSource, TestState, Theme};
use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_changed_setting_is_in_force_at_the_next_start_and_told_until_then() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let now = workstation(home.path(), None);
    now.start().await;
    now.change_setting("queue_maxsize", Some(400)).await.expect("a good change");
    let refused = now.change_setting("lease_prefetch", Some(401)).await.expect_err("more than the deck can hold");
    assert_eq!(refused.code, "BAD_SETTING");
    let view = now.settings_view().await.expect("the settings");
    let row = |view: &countersign_wire::SettingsView| {
        let row = view.rows.iter().find(|row| row.name == "queue_maxsize").expect("every setting is there");
        (row.value, row.source, row.next_start)
    };
    assert_eq!(row(&view), (100, SettingSource::Default, Some(400)));
    assert_eq!(view.changes.len(), 1);
    assert_eq!(now.session().await.queue_maxsize, 100);
    now.close().await;

    let next = workstation(home.path(), None);
    next.start().await;
    assert_eq!(row(&next.settings_view().await.expect("the settings")), (400, SettingSource::File, None));
    assert_eq!(next.session().await.queue_maxsize, 400);
    next.close().await;
}

#[tokio::test]
async fn preferences_come_back_and_what_does_not_read_is_told_and_kept() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let first = workstation(home.path(), None);
    first.load_preferences();
    let dark = Preferences { theme: Theme::Dark, zoom_percent: 125, ..Preferences::default() };
    first.save_preferences(dark.clone()).await.expect("good preferences");
    let refused =
        first.save_preferences(Preferences { zoom_percent: 10, ..dark.clone() }).await.expect_err("too small");
    assert_eq!(refused.code, "PREFERENCES_REFUSED");
    assert_eq!(first.preferences(), dark);

    let second = workstation(home.path(), None);
    second.load_preferences();
    assert_eq!(second.preferences(), dark);

    let file = home.path().join("config").join("preferences.json");
    let text = std::fs::read_to_string(&file).expect("the file").replace("125", "12500");
    std::fs::write(&file, &text).expect("a writable directory");
    let third = workstation(home.path(), None);
    third.load_preferences();
    third.start().await;
    assert_eq!(third.preferences(), Preferences { zoom_percent: 100, ..dark });
    let warnings = third.session().await.warnings;
    let told = warnings.iter().find(|warning| warning.contains("zoom_percent")).expect("words about the field");
    let aside = told.split_whitespace().find(|word| word.contains("set-aside")).expect("a path");
    assert_eq!(std::fs::read_to_string(aside.trim_end_matches('.')).expect("the file as it was"), text);
    third.close().await;
}

#[tokio::test]
async fn the_profile_in_use_is_connected_anew_when_it_is_changed() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a", "b"]).await;
    let workstation = workstation(home.path(), Some("a"));
    workstation.start().await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    workstation.save_profile(Profile { port, ..unreachable("a") }).await.expect("a good profile");
    // Nobody said "connect": whoever listens there hears of it.
    listener.accept().await.expect("somebody who connects");
    assert_eq!(workstation.session().await.profile.map(|profile| profile.port), Some(port));
    // Another profile is another matter.
    workstation.save_profile(Profile { port: 2, ..unreachable("b") }).await.expect("a good profile");
    assert_eq!(workstation.session().await.profile.map(|profile| profile.name).as_deref(), Some("a"));
    workstation.close_now().await;
    workstation.close().await;
}

#[tokio::test]
async fn a_profile_goes_only_after_its_journal() {
    let home = tempfile::tempdir().expect("a temporary directory");
    with_profiles(home.path(), &["a", "b", "c"]).await;
    let first = workstation(home.path(), Some("a"));
    first.start().await;
    let in_use = first.delete_profile("a").await.expect_err("it is in use");
    assert_eq!(in_use.code, "PROFILE_IN_USE");
    assert!(in_use.message.contains("Sign out first"), "{}", in_use.message);
    assert!(first.connect("b", None, false).await.is_err(), "nobody listens");
    let kept = first.delete_profile("a").await.expect_err("its journal is here");
    assert_eq!(kept.code, "PROFILE_HAS_JOURNAL");
    assert!(kept.message.contains("Remove everything"), "{}", kept.message);
    assert!(journal(home.path(), "a").exists());
    assert_eq!(first.delete_profile("d").await.expect_err("there is none").code, "NO_PROFILE");
    first.delete_profile("c").await.expect("it has no journal");
    let names = |profiles: Vec<Profile>| profiles.into_iter().map(|profile| profile.name).collect::<Vec<_>>();
    assert_eq!(names(first.session().await.profiles), ["a", "b"]);

    let (signed_out, ()) = tokio::join!(first.sign_out(), first.close_now());
    signed_out.expect("a station that runs");
    first.remove_everything("b", None).await.expect("nothing is unsent");
    first.delete_profile("b").await.expect("its journal is gone");
    let session = first.session().await;
    assert_eq!((names(session.profiles), session.profile, session.leaving), (vec!["a".to_owned()], None, None));
    first.close().await;
}

#[tokio::test]
async fn a_profile_is_tried_out_and_nothing_of_it_is_kept() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let workstation = workstation(home.path(), None);
    workstation.start().await;
    let tried = workstation.test_connection(&unreachable("a"), None).await.expect("a profile that could be");
    assert!(!tried.good);
    let states: Vec<TestState> = tried.lines.iter().map(|line| line.state).collect();
    assert_eq!(states[..3], [TestState::Passed, TestState::Failed, TestState::Skipped]);
    let refused = workstation.test_connection(&Profile { port: 0, ..unreachable("a") }, None).await;
    assert_eq!(refused.expect_err("no port").code, "PROFILE_REFUSED");
    let session = workstation.session().await;
    assert_eq!((session.profiles, session.profile), (Vec::new(), None));
    assert!(!journal(home.path(), "a").exists());
    workstation.close().await;
}

#[tokio::test]
async fn diagnostics_tell_how_things_are_and_nobodys_business() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let canary = Profile {
        host: "h.canary-domain.invalid".into(),
        tls: TlsMode::VerifyFull,
        user: "xcanary-login".into(),
        database: "canary-database".into(),
        ..unreachable("canary-profile")
    };
    workstation(home.path(), None).save_profile(canary.clone()).await.expect("a good profile");
    let first = workstation(home.path(), None);
    first.start().await;
    first.close().await;
    // A decision with a content, on a journal that nobody has open.
    sign_offline(&journal(home.path(), "canary-profile"), "canary-profile");
    let second = workstation(home.path(), None);
    second.start().await;
    let station = second.running().await.expect("a journal that is open");
    station.wait_until(|engine, now| engine.link(now).problem.is_some()).await.expect("a station that runs");
    second.notice("canary-notice".to_owned());
    second.change_setting("commit_batch", Some(7)).await.expect("a good change");
    second
        .test_connection(&canary, Some(SecretString::from("canary-password")))
        .await
        .expect("a profile that could be");
    let text = second.diagnostics().await;
    for told in [
        &format!("Countersign: {}", env!("CARGO_PKG_VERSION")),
        "WebKitGTK: ",
        "Host: h.…",
        "Login: x…",
        "Online: no",
        "Last problem: UNREACHABLE",
        "Outbox: 0 held, 1 ready, 0 sending, 0 committed, 0 refused, 0 dead",
        "journal.db: ",
        "keys.json: ",
        "Keys: in a file",
        "Notices: 1",
        "Test NAME: Failed",
        "Test ENROLMENT: Skipped",
        "queue_maxsize: 100 (default)",
        "zoom 100 %",
    ] {
        assert!(text.contains(told), "`{told}` is not in:\n{text}");
    }
    // Names, words, directories, and the content that `sign_offline` wrote.
    let place = home.path().display().to_string();
    for secret in ["canary", "alice", "bob", "12.00", "secret", place.as_str()] {
        assert!(!text.contains(secret), "`{secret}` is in:\n{text}");
    }
    second.close_now().await;
    second.close().await;
}
