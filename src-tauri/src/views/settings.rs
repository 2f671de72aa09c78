//! The settings, in a reviewer's words.

use countersign_domain::settings::Settings;
use countersign_station::{Change, ConfigError, Configured, SettingsFile, Source, variable};
use countersign_wire::{CommandError, SettingChange, SettingRow, SettingSource, SettingsView};

use super::{error, instant};

/// The setting that policy bounds.
const LEASE: &str = "lease_timeout_ms";
/// Said of every setting.
const AUDITED: &str =
    "It takes effect at the next start; the database keeps each version that this workstation ever worked with.";

/// What a setting is about: label, unit, explanation. In the order in which they are shown.
const WORDS: [(&str, &str, &str, &str); 10] = [
    (
        "queue_maxsize",
        "Deck size",
        "exceptions",
        "How many undecided exceptions this workstation holds at most. More of them means fewer for colleagues meanwhile.",
    ),
    (
        "lease_prefetch",
        "Asked for at a time",
        "exceptions",
        "How many exceptions are asked for in one call; at most the deck size. When nobody sets it, it follows a smaller deck.",
    ),
    (
        LEASE,
        "Length of a lease",
        "ms",
        "How long exceptions are kept for you before colleagues may take them, on the database's clock. While you are connected, leases are renewed by themselves.",
    ),
    (
        "undo_window_ms",
        "Undo window",
        "ms",
        "How long a signed decision waits on this computer, where you can withdraw it, before it is sent. 0 sends at once.",
    ),
    (
        "drain_timeout_s",
        "Longest wait when closing",
        "s",
        "How long closing waits for decisions to be sent. What is left then is on disk and is sent the next time.",
    ),
    (
        "commit_batch",
        "Decisions in one transaction",
        "decisions",
        "How many decisions are sent together. Fewer help on a slow line.",
    ),
    (
        "sync_max_attempts",
        "Attempts to send",
        "attempts",
        "How often a decision is sent again after the database said “not now”, before it is given up and shown to you. Being offline never counts.",
    ),
    (
        "max_attempts",
        "Attempts to score",
        "attempts",
        "How often the suggestion for an exception is computed again after a failure, before the exception is set aside.",
    ),
    ("concurrency", "Scoring workers", "workers", "How many suggestions are computed at the same time."),
    ("scoring_prefetch", "Jobs for each worker", "jobs", "How many suggestions each worker has in hand."),
];

/// Every setting. `next` is what the file says now; `policy` is a policy's version and its longest lease.
pub(crate) fn settings(
    file: &SettingsFile,
    now: &Configured,
    next: Result<&Configured, &ConfigError>,
    policy: Option<(u32, u32)>,
    changes: Vec<Change>,
) -> SettingsView {
    let rows = WORDS.iter().filter_map(|words| row(file, now, next, policy, words)).collect();
    let changes = changes
        .into_iter()
        .map(|Change { setting, from, to, at }| SettingChange { name: setting, from, to, at: instant(at) })
        .collect();
    SettingsView { file: file.path().display().to_string(), rows, changes }
}

fn row(
    file: &SettingsFile,
    now: &Configured,
    next: Result<&Configured, &ConfigError>,
    policy: Option<(u32, u32)>,
    (name, label, unit, explanation): &(&str, &str, &str, &str),
) -> Option<SettingRow> {
    let (_, default, least, most) = *Settings::TABLE.iter().find(|(known, ..)| known == name)?;
    let longest = policy.filter(|_| *name == LEASE);
    let bounded = |value: u32| longest.map_or(value, |(_, longest_ms)| value.min(longest_ms));
    let asked = now.settings.get(name)?;
    let value = bounded(asked);
    let (source, origin) = match (longest.filter(|_| value < asked), now.source(name)) {
        (Some((version, _)), _) => (SettingSource::Policy, Some(format!("policy version {version}"))),
        (None, Source::Default) => (SettingSource::Default, None),
        (None, Source::File) => (SettingSource::File, Some(file.path().display().to_string())),
        (None, Source::Environment) => (SettingSource::Environment, Some(variable(name))),
    };
    let fixed = (now.source(name) == Source::Environment)
        .then(|| format!("{} sets it when Countersign starts; change it there.", variable(name)));
    // A file that does not read now keeps the next start from beginning; that is said where it is changed.
    let next_start = next.ok().and_then(|next| next.settings.get(name)).map(bounded).filter(|next| *next != value);
    let cut = longest
        .filter(|_| value < asked)
        .map(|(_, longest_ms)| format!(" It was set to {asked} {unit}; policy allows {longest_ms} {unit} at most."));
    Some(SettingRow {
        name: (*name).to_owned(),
        label: (*label).to_owned(),
        explanation: format!("{explanation}{} {AUDITED}", cut.unwrap_or_default()),
        unit: (*unit).to_owned(),
        value,
        default,
        least,
        most,
        source,
        origin,
        fixed,
        next_start,
    })
}

/// A setting that cannot be, or a file that does not take it.
pub(crate) fn config_error(problem: &ConfigError) -> CommandError {
    let code = match problem {
        ConfigError::Setting(_) => "BAD_SETTING",
        ConfigError::Fixed { .. } => "SETTING_FIXED",
        ConfigError::Unreadable { .. } | ConfigError::Malformed { .. } => "SETTINGS_UNREADABLE",
        ConfigError::Unwritable { .. } => "SETTINGS_NOT_KEPT",
    };
    error(code, format!("{problem}. Nothing was changed."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, environment: &'static [(&'static str, &'static str)]) -> (tempfile::TempDir, SettingsFile) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).expect("a writable directory");
        let look_up =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        (directory, SettingsFile::at(path, look_up))
    }

    fn of<'a>(view: &'a SettingsView, name: &str) -> &'a SettingRow {
        view.rows.iter().find(|row| row.name == name).expect("every setting is there")
    }

    #[test]
    fn every_setting_is_there_once_and_has_words() {
        let (_kept, file) = file("", &[]);
        let now = file.load(false).expect("good settings");
        let view = settings(&file, &now, Ok(&now), None, Vec::new());
        let mut names: Vec<&str> = view.rows.iter().map(|row| row.name.as_str()).collect();
        let mut expected: Vec<&str> = Settings::TABLE.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        for row in &view.rows {
            assert!(!row.label.is_empty() && row.explanation.ends_with('.') && !row.unit.is_empty(), "{row:?}");
            assert_eq!((row.value, row.source, row.next_start), (row.default, SettingSource::Default, None), "{row:?}");
        }
    }

    #[test]
    fn a_row_says_where_its_value_comes_from_and_what_it_will_be() {
        let (_kept, file) =
            file("queue_maxsize = 500\nlease_timeout_ms = 43200000\n", &[("COUNTERSIGN_COMMIT_BATCH", "7")]);
        let now = file.load(false).expect("good settings");
        let at = chrono::DateTime::from_timestamp(1_790_000_000, 0).expect("a time in range");
        file.change("queue_maxsize", Some(600), at).expect("a good change");
        let next = file.load(false).expect("good settings");
        let changes = file.changes().expect("a readable list");
        let view = settings(&file, &now, Ok(&next), Some((7, 28_800_000)), changes);

        let deck = of(&view, "queue_maxsize");
        assert_eq!((deck.value, deck.source, deck.next_start), (500, SettingSource::File, Some(600)));
        assert!(deck.origin.as_ref().is_some_and(|origin| origin.ends_with("config.toml")));
        let batch = of(&view, "commit_batch");
        assert_eq!((batch.value, batch.source), (7, SettingSource::Environment));
        assert!(batch.fixed.as_ref().is_some_and(|fixed| fixed.contains("COUNTERSIGN_COMMIT_BATCH")));
        let lease = of(&view, "lease_timeout_ms");
        assert_eq!((lease.value, lease.source, lease.next_start), (28_800_000, SettingSource::Policy, None));
        assert_eq!(lease.origin.as_deref(), Some("policy version 7"));
        assert!(lease.explanation.contains("43200000"), "{}", lease.explanation);
        let change = &view.changes[0];
        assert_eq!((change.name.as_str(), change.from, change.to), ("queue_maxsize", Some(500), Some(600)));
    }

    #[test]
    fn a_refused_change_is_a_sentence() {
        let (_kept, file) = file("", &[]);
        let at = chrono::DateTime::from_timestamp(1_790_000_000, 0).expect("a time in range");
        let refused = config_error(&file.change("queue_maxsize", Some(9), at).expect_err("out of range"));
        assert_eq!(refused.code, "BAD_SETTING");
        for word in ["queue_maxsize", "9", "10 to 5000", "Nothing was changed."] {
            assert!(refused.message.contains(word), "{}", refused.message);
        }
    }
}
