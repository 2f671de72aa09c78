//! Which close period a day belonged to, and whether it was closed then.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Deserialize;

use super::history::CALL_MICROS;

/// A period as it was added and moved.
#[derive(Debug, Default)]
pub(crate) struct Period {
    added: i64,
    pub(crate) first_day: String,
    pub(crate) last_day: String,
    moves: Vec<(i64, String)>,
}

impl Period {
    /// Its state now.
    pub(crate) fn state(&self) -> &str {
        self.moves.last().map_or("open", |(_, state)| state)
    }
}

/// All periods, by ledger entity and name.
#[derive(Debug, Default)]
pub(crate) struct Calendar(pub(crate) BTreeMap<(String, String), Period>);

/// What a record says of a period.
#[derive(Deserialize)]
pub(crate) struct PeriodDetail {
    ledger_entity: String,
    name: String,
    #[serde(default)]
    first_day: String,
    #[serde(default)]
    last_day: String,
    #[serde(default)]
    to: String,
}

impl Calendar {
    pub(crate) fn add(&mut self, at: i64, detail: PeriodDetail) -> Result<(), String> {
        let PeriodDetail { ledger_entity, name, first_day, last_day, .. } = detail;
        let period = Period { added: at, first_day, last_day, moves: Vec::new() };
        match self.0.entry((ledger_entity, name)) {
            Entry::Vacant(place) => {
                place.insert(period);
                Ok(())
            }
            Entry::Occupied(_) => Err("the period was added before".to_owned()),
        }
    }

    pub(crate) fn moved(&mut self, at: i64, detail: PeriodDetail) -> Result<(), String> {
        let period = self.0.get_mut(&(detail.ledger_entity, detail.name)).ok_or("the period was never added")?;
        period.moves.push((at, detail.to));
        Ok(())
    }

    /// An entity's own period goes before that of all. Days are of the form `2026-10-31`.
    fn of(&self, entity: &str, day: &str, at: i64) -> Option<(&str, &Period)> {
        let own = |entity: &str| {
            self.0
                .iter()
                .filter(|((of, _), _)| of == entity)
                .find(|(_, one)| one.added <= at && one.first_day.as_str() <= day && day <= one.last_day.as_str())
                .map(|((_, name), period)| (name.as_str(), period))
        };
        own(entity).or_else(|| own("*"))
    }

    /// The period that was closed then.
    pub(crate) fn closed(&self, entity: &str, day: &str, at: i64) -> Option<&str> {
        let (name, period) = self.of(entity, day, at)?;
        let state = period.moves.iter().rev().find(|(since, _)| *since <= at);
        state.filter(|(_, state)| state == "closed").map(|_| name)
    }

    /// Whether a day may have been taken for one of this period. A period that was being added meanwhile may have been seen or not.
    pub(crate) fn named(&self, entity: &str, day: &str, at: i64, name: Option<&str>) -> bool {
        let month = day.get(..7).unwrap_or(day);
        let (from, until) = (at.saturating_sub(CALL_MICROS), at.saturating_add(CALL_MICROS));
        let meanwhile = self.0.values().map(|period| period.added).filter(|added| from < *added && *added <= until);
        [from].into_iter().chain(meanwhile).any(|at| {
            let found = self.of(entity, day, at).map_or(month, |(name, _)| name);
            Some(found) == name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(entity: &str, name: &str, to: &str) -> PeriodDetail {
        PeriodDetail {
            ledger_entity: entity.to_owned(),
            name: name.to_owned(),
            first_day: "2026-10-01".to_owned(),
            last_day: "2026-10-31".to_owned(),
            to: to.to_owned(),
        }
    }

    #[test]
    fn a_day_belongs_to_its_entitys_own_period_then_to_that_of_all_then_to_its_month() {
        let mut calendar = Calendar::default();
        let hour = 60 * CALL_MICROS;
        calendar.add(hour, detail("*", "October", "")).expect("it is new");
        calendar.add(3 * hour, detail("US01", "P10", "")).expect("it is new");
        calendar.moved(2 * hour, detail("*", "October", "closed")).expect("it is there");
        assert!(calendar.add(4 * hour, detail("*", "October", "")).is_err());
        assert!(calendar.moved(4 * hour, detail("*", "November", "open")).is_err());
        let named = |entity, day, at, name| calendar.named(entity, day, at, Some(name));
        assert!(named("US01", "2026-10-05", hour / 2, "2026-10") && !named("US01", "2026-10-05", hour / 2, "October"));
        assert!(named("US01", "2026-10-05", hour, "2026-10") && named("US01", "2026-10-05", hour, "October"));
        assert!(!named("US01", "2026-10-05", 2 * hour, "2026-10") && named("US01", "2026-10-05", 2 * hour, "October"));
        assert!(named("US01", "2026-10-05", 4 * hour, "P10") && named("EU01", "2026-10-05", 4 * hour, "October"));
        assert!(named("US01", "2026-11-01", 4 * hour, "2026-11"));
        assert_eq!(calendar.closed("EU01", "2026-10-05", 4 * hour), Some("October"));
        assert_eq!(calendar.closed("US01", "2026-10-05", 4 * hour), None);
        assert_eq!(calendar.closed("EU01", "2026-10-05", 2 * hour - 1), None);
    }
}
