//! What does not hold, in words that need no knowledge of the tables.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::instant;

/// How many findings are kept with their words; all of them are counted.
pub const KEPT: usize = 100;

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The chain: a partition's key, or the empty text for the installation's own.
    pub chain: Option<String>,
    /// The record's number in its chain.
    pub number: Option<i64>,
    /// When it is said to have happened.
    pub at: Option<String>,
    /// What is said to have happened.
    pub event: Option<String>,
    /// Who is said to have done it.
    pub actor: Option<String>,
    /// The exception's number.
    pub exception: Option<i64>,
    /// What is wrong.
    pub what: String,
    /// What that means.
    pub means: &'static str,
}

impl Finding {
    /// About nothing in particular yet.
    pub(crate) fn new(what: impl Into<String>, means: &'static str) -> Self {
        Self {
            chain: None,
            number: None,
            at: None,
            event: None,
            actor: None,
            exception: None,
            what: what.into(),
            means,
        }
    }

    pub(crate) fn record(mut self, chain: &str, number: i64) -> Self {
        self.chain = Some(chain.to_owned());
        self.number = Some(number);
        self
    }

    pub(crate) fn chain(mut self, chain: &str) -> Self {
        self.chain = Some(chain.to_owned());
        self
    }

    pub(crate) fn at(mut self, micros: i64) -> Self {
        self.at = Some(instant(micros));
        self
    }

    pub(crate) fn event(mut self, event: &str) -> Self {
        self.event = Some(event.to_owned());
        self
    }

    pub(crate) fn by(mut self, actor: &str) -> Self {
        self.actor = Some(actor.to_owned());
        self
    }

    pub(crate) fn exception(mut self, id: i64) -> Self {
        self.exception = Some(id);
        self
    }

    /// Where a row says to be: columns with a chain and a number, as far as they can be read.
    pub(crate) fn place(mut self, row: &PgRow, chain: usize, number: usize) -> Self {
        self.chain = row.try_get(chain).ok();
        self.number = row.try_get(number).ok();
        self
    }

    /// In one line.
    pub fn line(&self) -> String {
        let mut place = Vec::new();
        match (self.chain.as_deref(), self.number) {
            (Some(chain), Some(number)) => place.push(format!("{}, record {number}", chain_name(chain))),
            (Some(chain), None) => place.push(chain_name(chain)),
            (None, _) => {}
        }
        if let Some(exception) = self.exception {
            place.push(format!("exception {exception}"));
        }
        if let Some(event) = &self.event {
            place.push(event.clone());
        }
        if let Some(actor) = &self.actor {
            place.push(format!("by {actor}"));
        }
        if let Some(at) = &self.at {
            place.push(format!("at {at}"));
        }
        let place = if place.is_empty() { "the database".to_owned() } else { place.join(", ") };
        format!("{place}: {}. {}", self.what, self.means)
    }
}

/// A row that holds what it cannot hold.
pub(crate) fn unreadable(what: &str, error: &sqlx::Error) -> Finding {
    Finding::new(
        format!("{what} cannot be read: {}", countersign_backlog::failure::cause(error)),
        "It was changed by somebody who gets around the database's own functions",
    )
}

/// A chain for people.
pub(crate) fn chain_name(chain: &str) -> String {
    if chain.is_empty() { "the installation's chain".to_owned() } else { format!("chain {chain}") }
}

/// Everything that does not hold: all of it counted, the first [`KEPT`] kept in the order of reading, whatever the order in which
/// they are found.
#[derive(Debug, Default)]
pub struct Findings {
    kept: BTreeMap<(u64, u64), Finding>,
    next: u64,
    total: u64,
}

impl Findings {
    /// Keeps a place in the order for what is looked into elsewhere.
    pub(crate) fn place(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        let place = self.place();
        self.add_at(place, finding);
    }

    pub(crate) fn add_at(&mut self, place: u64, finding: Finding) {
        self.total += 1;
        self.kept.insert((place, self.total), finding);
        if self.kept.len() > KEPT {
            self.kept.pop_last();
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn into_kept(self) -> Vec<Finding> {
        self.kept.into_values().collect()
    }
}
