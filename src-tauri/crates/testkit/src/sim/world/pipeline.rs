//! The scoring pool, and what is given up: results come in any order, some attempts fail, and some exceptions fail every time.

use countersign_domain::code::FailureClass;
use countersign_domain::scoring::Thresholds;
use countersign_engine::port::{BacklogError, Failure, GivenUp, LeasedItem};
use countersign_engine::{Event, Happened, Ids, Scored, Trace, Unscored, deck_item};
use rand::Rng as _;

use super::{DayReport, What, World};

/// One in so many exceptions cannot be scored by anybody.
const HOPELESS: i64 = 41;

impl DayReport {
    pub(super) fn note(&mut self, trace: &Trace) {
        match trace.happened {
            Happened::RetryScheduled { operation: "score", .. } => self.retried += 1,
            Happened::DeadLettered { operation: "score", .. } => self.given_up += 1,
            Happened::DuplicateSkipped => self.redelivered += 1,
            _ => {}
        }
    }
}

impl World {
    pub(super) fn score(&mut self, index: usize, life: u32, items: Vec<LeasedItem>, thresholds: &Thresholds) {
        for leased in items {
            let fails = leased.id.0 % HOPELESS == 0 || self.random.random_range(0..50) == 0;
            let result = if fails {
                let reason = "the scorer fell over".to_owned();
                Err(Unscored { class: FailureClass::Transient, reason, ids: Ids::read(&leased.body) })
            } else {
                deck_item(&leased, thresholds)
            };
            let takes_ms = if self.random.random_range(0..20) == 0 { 3_000 } else { 5 };
            let takes_ms = self.random.random_range(1..=takes_ms);
            let scored = vec![Scored { leased, worker: 0, result }];
            self.at(takes_ms, What::Engine(index, life, Box::new(Event::Scored(scored))));
        }
    }

    /// Like any call: it or its answer may get lost, or the server may be too busy.
    pub(super) fn give_up(&mut self, index: usize, letters: &[GivenUp]) {
        let told = letters.iter().map(GivenUp::letter).collect();
        let lossy = self.stations[index].lossy;
        let mut one_in_40 = || lossy && self.random.random_range(0..40) == 0;
        let (request_lost, answer_lost, busy) = (one_in_40() || !self.stations[index].online, one_in_40(), one_in_40());
        if !letters.is_empty() && !request_lost && (answer_lost || !busy) {
            self.database.give_up(letters);
        }
        let error = |failure| BacklogError { operation: "give up", failure, message: "simulated".to_owned() };
        let result = match (letters.is_empty(), request_lost || answer_lost, busy) {
            (false, true, _) => Err(error(Failure::Offline)),
            (false, false, true) => Err(error(Failure::Transient)),
            _ => Ok(()),
        };
        let life = self.stations[index].life;
        let takes_ms = self.random.random_range(1..200);
        self.at(takes_ms, What::Engine(index, life, Box::new(Event::GaveUp(told, result))));
    }
}
