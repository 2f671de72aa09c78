use super::*;

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000 + second, 0).expect("a time in range")
}

struct Place {
    directory: tempfile::TempDir,
    environment: &'static [(&'static str, &'static str)],
}

impl Place {
    fn with(text: &str, environment: &'static [(&'static str, &'static str)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(directory.path().join("config.toml"), text).expect("a writable directory");
        Self { directory, environment }
    }

    fn file(&self) -> SettingsFile {
        let look_up = |name: &str| {
            self.environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        SettingsFile::at(self.directory.path().join("config.toml"), look_up)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("config.toml")).expect("the file")
    }
}

fn load(text: &str, environment: &'static [(&'static str, &'static str)]) -> Result<Configured, String> {
    Place::with(text, environment).file().load(true).map_err(|error| error.to_string())
}

#[test]
fn the_environment_overrides_the_file_and_the_file_the_defaults() {
    let configured = load("queue_maxsize = 500\ncommit_batch = 10\n", &[("COUNTERSIGN_QUEUE_MAXSIZE", "600")])
        .expect("good settings");
    let Settings { queue_maxsize, commit_batch, max_attempts, .. } = configured.settings;
    assert_eq!((queue_maxsize, commit_batch, max_attempts), (600, 10, 3));
    for (name, source) in
        [("queue_maxsize", Source::Environment), ("commit_batch", Source::File), ("max_attempts", Source::Default)]
    {
        assert_eq!(configured.source(name), source, "{name}");
    }
}

#[test]
fn what_is_wrong_is_named_with_where_it_stands() {
    for (text, environment, words) in [
        ("queue_maxsize = 9", &[][..], &["config.toml", "queue_maxsize", "9", "10 to 5000"][..]),
        ("queue_maxsize = -1", &[], &["queue_maxsize", "-1"]),
        ("queue_maxsize = \"many\"", &[], &["queue_maxsize", "whole number", "string"]),
        ("queue_size = 10", &[], &["queue_size", "no such setting"]),
        ("queue_maxsize = ", &[], &["config.toml", "line 1"]),
        ("", &[("COUNTERSIGN_COMMIT_BATCH", "1001")], &["commit_batch", "1001", "environment", "1 to 1000"]),
    ] {
        let message = load(text, environment).expect_err(text);
        for word in words {
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}

#[test]
fn only_a_file_that_was_asked_for_has_to_exist() {
    let nowhere = SettingsFile::at("/nonexistent/config.toml", |_| None);
    assert_eq!(nowhere.load(false).expect("the defaults").settings, Settings::default());
    assert!(nowhere.load(true).is_err());
}

#[test]
fn a_change_keeps_what_a_person_wrote_around_it() {
    let place = Place::with(
        "# Set by treasury, 2026-01.\nqueue_maxsize = 500 # we agreed on this\n\n# Slow line.\ncommit_batch = 10\n",
        &[],
    );
    let file = place.file();
    file.change("queue_maxsize", Some(600), at(1)).expect("a good change");
    file.change("undo_window_ms", Some(0), at(2)).expect("a good change");
    assert_eq!(
        place.text(),
        "# Set by treasury, 2026-01.\nqueue_maxsize = 600 # we agreed on this\n\n# Slow line.\ncommit_batch = 10\nundo_window_ms = 0\n"
    );
    file.change("commit_batch", None, at(3)).expect("a good change");
    let Settings { queue_maxsize, commit_batch, undo_window_ms, .. } = file.load(true).expect("good settings").settings;
    assert_eq!((queue_maxsize, commit_batch, undo_window_ms), (600, 200, 0));
    let changes = file.changes().expect("a readable list");
    let told: Vec<_> = changes.iter().map(|change| (change.setting.as_str(), change.from, change.to)).collect();
    assert_eq!(
        told,
        [("commit_batch", Some(10), None), ("undo_window_ms", None, Some(0)), ("queue_maxsize", Some(500), Some(600))]
    );
    assert_eq!(changes[0].at, at(3));
}

#[test]
fn a_change_that_cannot_be_leaves_the_file_as_it_was() {
    let text = "queue_maxsize = 20\nlease_prefetch = 20\n";
    for (name, value, environment, words) in [
        ("queue_maxsize", Some(5_001), &[][..], &["queue_maxsize", "5001", "10 to 5000"][..]),
        ("queue_maxsize", Some(9), &[], &["queue_maxsize", "9"]),
        ("queue_maxsize", Some(19), &[], &["lease_prefetch", "20", "19"]),
        ("lease_prefetch", Some(21), &[], &["lease_prefetch", "21", "20"]),
        ("queue_size", Some(20), &[], &["queue_size", "no such setting"]),
        ("commit_batch", Some(1), &[("COUNTERSIGN_COMMIT_BATCH", "5")], &["commit_batch", "COUNTERSIGN_COMMIT_BATCH"]),
        // Taking the file's word away is refused too where the rest does not go together then.
        ("queue_maxsize", None, &[("COUNTERSIGN_LEASE_PREFETCH", "200")], &["lease_prefetch", "200"]),
    ] {
        let place = Place::with(text, environment);
        let message = place.file().change(name, value, at(1)).expect_err(name).to_string();
        for word in words {
            assert!(message.contains(word), "{name}: {message}");
        }
        assert_eq!(place.text(), text);
        assert_eq!(place.file().changes().expect("no list"), []);
    }
}

#[test]
fn what_is_so_already_is_no_change() {
    let place = Place::with("commit_batch = 10\n", &[]);
    assert!(place.file().change("commit_batch", Some(10), at(1)).expect("nothing to do").is_none());
    assert!(place.file().change("queue_maxsize", None, at(1)).expect("nothing to do").is_none());
    assert_eq!(place.file().changes().expect("no list"), []);
}

#[test]
fn the_latest_fifty_changes_are_kept_and_a_list_that_does_not_read_is_set_aside() {
    let place = Place::with("", &[]);
    let list = place.directory.path().join("config.changes.json");
    std::fs::write(&list, "not a list").expect("a writable directory");
    for second in 0..60 {
        let value = if second % 2 == 0 { 10 } else { 20 };
        let (_, problem) =
            place.file().change("commit_batch", Some(value), at(second)).expect("a good change").expect("a change");
        assert!(problem.is_none());
    }
    let changes = place.file().changes().expect("a readable list");
    assert_eq!((changes.len(), changes[0].at, changes[49].at), (50, at(59), at(10)));
    let aside = std::fs::read_dir(place.directory.path())
        .expect("the directory")
        .filter_map(Result::ok)
        .find(|entry| entry.file_name().to_string_lossy().contains("set-aside"))
        .expect("the list that did not read");
    assert_eq!(std::fs::read(aside.path()).expect("the file"), b"not a list");
}
