//! The settings of a workstation: defaults, ranges and interlocks. A value out of range is refused, never clamped.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingError {
    /// Not a setting of Countersign.
    #[error("{setting}: there is no such setting (from {source_name})")]
    Unknown {
        /// Its name.
        setting: String,
        /// Where it was found.
        source_name: String,
    },
    /// Not a whole number.
    #[error("{setting}: `{value}` is not a whole number (from {source_name}); expected {min} to {max}")]
    NotANumber {
        /// Its name.
        setting: &'static str,
        /// What was found.
        value: String,
        /// The least.
        min: u32,
        /// The most.
        max: u32,
        /// Where it was found.
        source_name: String,
    },
    /// Outside its range.
    #[error("{setting}: {value} is out of range (from {source_name}); expected {min} to {max}")]
    OutOfRange {
        /// Its name.
        setting: &'static str,
        /// What was found.
        value: u64,
        /// The least.
        min: u32,
        /// The most.
        max: u32,
        /// Where it was found.
        source_name: String,
    },
    /// Two settings that do not go together.
    #[error(
        "lease_prefetch: {lease_prefetch} is more than queue_maxsize, which is {queue_maxsize}; ask for at most what the deck can hold"
    )]
    PrefetchOverBound {
        /// What was asked for in one call.
        lease_prefetch: u32,
        /// What the deck can hold.
        queue_maxsize: u32,
    },
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $default:literal, $min:literal ..= $max:literal);+ $(;)?) => {
        /// The settings in force.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Settings { $($(#[$doc])* pub $name: u32),+ }

        impl Default for Settings {
            fn default() -> Self { Self { $($name: $default),+ } }
        }

        impl Settings {
            /// Name, default, least and most of each.
            pub const TABLE: &'static [(&'static str, u32, u32, u32)] = &[$((stringify!($name), $default, $min, $max)),+];

            /// The value of a setting by its name; `None` if there is no such setting.
            pub fn get(&self, name: &str) -> Option<u32> {
                match name {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }

            fn set(&mut self, name: &str, value: &str, source_name: &str) -> Result<(), SettingError> {
                match name {
                    $(stringify!($name) => { self.$name = in_range(stringify!($name), value, $min, $max, source_name)?; Ok(()) })+
                    other => Err(SettingError::Unknown { setting: other.to_owned(), source_name: source_name.to_owned() }),
                }
            }
        }
    };
}

settings! {
    /// Scoring workers.
    concurrency: 4, 1..=32;
    /// CPU jobs in flight for each worker.
    scoring_prefetch: 1, 1..=8;
    /// Leased and undecided exceptions on this workstation.
    queue_maxsize: 100, 10..=5000;
    /// Exceptions asked for in one lease call; at most `queue_maxsize`.
    lease_prefetch: 50, 1..=5000;
    /// Length of a lease in milliseconds, on the database's clock.
    lease_timeout_ms: 900_000, 30_000..=43_200_000;
    /// Sign-offs in one transaction.
    commit_batch: 200, 1..=1000;
    /// Attempts to score an exception.
    max_attempts: 3, 1..=10;
    /// Attempts that the server answered with a transient error. Being offline never counts.
    sync_max_attempts: 5, 1..=20;
    /// How long a signed decision can be withdrawn, in milliseconds, before it is sent.
    undo_window_ms: 5_000, 0..=60_000;
    /// The longest that closing waits, in seconds.
    drain_timeout_s: 30, 5..=300;
}

impl Settings {
    /// Puts layers of name and value over the defaults, the later over the earlier, and checks the result.
    pub fn resolve<'a>(
        layers: impl IntoIterator<Item = (&'a str, &'a BTreeMap<String, String>)>,
    ) -> Result<Self, SettingError> {
        let mut settings = Self::default();
        let mut prefetch_given = false;
        for (source_name, layer) in layers {
            for (name, value) in layer {
                settings.set(name, value, source_name)?;
                prefetch_given |= name == "lease_prefetch";
            }
        }
        if settings.lease_prefetch > settings.queue_maxsize {
            if prefetch_given {
                return Err(SettingError::PrefetchOverBound {
                    lease_prefetch: settings.lease_prefetch,
                    queue_maxsize: settings.queue_maxsize,
                });
            }
            // Nobody asked for the default; it gives way to a smaller deck.
            settings.lease_prefetch = settings.queue_maxsize;
        }
        Ok(settings)
    }

    /// A warning while leases are shorter than three times the 99th percentile of the time a decision takes.
    pub fn lease_too_short(&self, decision_p99_ms: u32) -> Option<String> {
        (u64::from(self.lease_timeout_ms) < 3 * u64::from(decision_p99_ms)).then(|| {
            format!(
                "lease_timeout_ms is {}, less than three times the {decision_p99_ms} ms that one decision in a hundred takes; leases may lapse while you work",
                self.lease_timeout_ms
            )
        })
    }
}

fn in_range(setting: &'static str, value: &str, min: u32, max: u32, source_name: &str) -> Result<u32, SettingError> {
    let source_name = source_name.to_owned();
    let Ok(number) = value.trim().parse::<u64>() else {
        return Err(SettingError::NotANumber {
            setting,
            value: value.chars().take(60).collect(),
            min,
            max,
            source_name,
        });
    };
    match u32::try_from(number) {
        Ok(fits) if (min..=max).contains(&fits) => Ok(fits),
        _ => Err(SettingError::OutOfRange { setting, value: number, min, max, source_name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn each_setting_keeps_its_range_and_says_so() {
        for (name, default, min, max) in Settings::TABLE {
            assert!((min..=max).contains(&default), "{name}");
            for good in [min, max] {
                let given = layer(&[(name, &good.to_string()), ("queue_maxsize", "5000")]);
                let result = Settings::resolve([("the file", &given)]);
                assert!(result.is_ok() || *name == "queue_maxsize", "{name} {good}: {result:?}");
            }
            for bad in [u64::from(*max) + 1, u64::from(*min).wrapping_sub(1), u64::from(u32::MAX) + 1] {
                if (u64::from(*min)..=u64::from(*max)).contains(&bad) {
                    continue;
                }
                let message =
                    Settings::resolve([("the file", &layer(&[(name, &bad.to_string())]))]).expect_err(name).to_string();
                assert!(
                    message.contains(name) && message.contains(&bad.to_string()) && message.contains(&max.to_string()),
                    "{message}"
                );
            }
            assert!(Settings::resolve([("the file", &layer(&[(name, "many")]))]).is_err(), "{name}");
        }
    }

    #[test]
    fn each_setting_is_found_by_its_name_and_nothing_else_is() {
        let settings = Settings::default();
        for (name, default, ..) in Settings::TABLE {
            assert_eq!(settings.get(name), Some(*default), "{name}");
        }
        assert_eq!(settings.get("queue_size"), None);
    }

    #[test]
    fn the_environment_goes_over_the_file() {
        let (file, environment) = (layer(&[("queue_maxsize", "500")]), layer(&[("queue_maxsize", "600")]));
        let settings =
            Settings::resolve([("config.toml", &file), ("the environment", &environment)]).expect("both in range");
        assert_eq!(settings.queue_maxsize, 600);
    }

    #[test]
    fn more_prefetch_than_deck_is_refused_when_asked_for_and_gives_way_when_not() {
        assert!(Settings::resolve([("f", &layer(&[("queue_maxsize", "10"), ("lease_prefetch", "11")]))]).is_err());
        assert_eq!(
            Settings::resolve([("f", &layer(&[("queue_maxsize", "10")]))]).expect("in range").lease_prefetch,
            10
        );
        assert!(Settings::resolve([("f", &layer(&[("queue_size", "10")]))]).is_err());
    }

    #[test]
    fn short_leases_warn() {
        assert!(Settings::default().lease_too_short(300_001).is_some());
        assert!(Settings::default().lease_too_short(300_000).is_none());
    }
}
