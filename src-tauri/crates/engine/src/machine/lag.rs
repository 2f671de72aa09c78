//! `CONSUMER_LAG`: the oldest undecided exception grows older over consecutive windows, because it stays the same one. Whoever works
//! through the deck from its beginning has another one at the front at each end of a window. It is over as soon as the one is decided
//! or gone.

use countersign_domain::code::Code;
use countersign_domain::id::ExceptionId;

use super::{Effect, Engine, Happened, Ids, Now, Record};
use crate::{LAG_WINDOW_MS, LAG_WINDOWS};

/// What was seen at the ends of the last windows.
#[derive(Debug)]
pub(super) struct Lag {
    window_ends_ms: u64,
    /// The oldest at the end of the last window.
    oldest: Option<ExceptionId>,
    /// In how many windows one after the other it was the oldest.
    grew: u32,
}

impl Lag {
    pub(super) fn new(now_ms: u64) -> Self {
        Self { window_ends_ms: now_ms + LAG_WINDOW_MS, oldest: None, grew: 0 }
    }

    /// Takes note of the oldest, at the end of a window or because it may be another one.
    fn look(&mut self, now_ms: u64, oldest: Option<ExceptionId>) {
        let ends = now_ms >= self.window_ends_ms;
        let same = oldest.is_some() && self.oldest == oldest;
        if !same {
            self.grew = 0;
        } else if ends {
            self.grew = (self.grew + 1).min(LAG_WINDOWS);
        }
        if ends {
            self.oldest = oldest;
            self.window_ends_ms = now_ms + LAG_WINDOW_MS;
        }
    }

    fn lags(&self) -> bool {
        self.grew >= LAG_WINDOWS
    }
}

impl Engine {
    /// Whether the oldest undecided exception grew older in each of the last windows.
    pub fn consumer_lags(&self) -> bool {
        self.lag.lags()
    }

    pub(super) fn lag_warning(&self) -> Option<String> {
        self.lag.lags().then(|| {
            let minutes = LAG_WINDOW_MS * u64::from(LAG_WINDOWS) / 60_000;
            format!("The oldest exception of your deck has waited for more than {minutes} minutes. Decide it, or give it back to colleagues.")
        })
    }

    pub(super) fn lag_wakeup_ms(&self) -> Option<u64> {
        (self.undecided() > 0).then_some(self.lag.window_ends_ms)
    }

    pub(super) fn note_lag(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let (lagged, ends) = (self.lag.lags(), now.mono_ms >= self.lag.window_ends_ms);
        if !ends && !lagged {
            return;
        }
        let oldest = self.oldest();
        self.lag.look(now.mono_ms, oldest.as_ref().map(|(id, ..)| *id));
        if self.lag.lags() == lagged {
            return;
        }
        self.session_version += 1;
        if let Some((id, ids, since_ms)) = oldest.filter(|_| !lagged) {
            let age_ms = now.mono_ms.saturating_sub(since_ms);
            Self::trace(id, ids, Happened::ConsumerLag { age_ms }, effects);
        } else {
            let message = "the oldest exception does not grow older any more".to_owned();
            let code = Some(Code::ConsumerLag);
            effects.push(Effect::Record(Record { event: "consumer_lag_over", code, item: None, message }));
        }
    }

    /// The oldest undecided exception: in the deck, or on its way there.
    fn oldest(&self) -> Option<(ExceptionId, Option<Ids>, u64)> {
        let deck = self.deck.slots().min_by_key(|slot| slot.since_ms);
        let scoring = self.scoring.oldest();
        match (deck, scoring) {
            (Some(slot), Some((id, since_ms))) if since_ms < slot.since_ms => Some((id, None, since_ms)),
            (Some(slot), _) => Some((slot.item.id, Some(Ids::of(&slot.item)), slot.since_ms)),
            (None, Some((id, since_ms))) => Some((id, None, since_ms)),
            (None, None) => None,
        }
    }
}
