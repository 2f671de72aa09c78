//! What is safe to do next about a decision.

use countersign_domain::sign_off::Outcome;

use crate::port::Stage;

/// The next safe action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing; it is answered, or will be.
    Nothing,
    /// Look at the exception again, which is back in the deck.
    ReviewAgain,
    /// Compare with what stands, then put it away.
    PutAway,
    /// Send it again.
    SendAgain,
    /// Ask somebody with other rights.
    AskSupervisor,
}

/// By where a decision is, and by what the database said to it.
pub fn next_step(stage: Stage, outcome: Option<Outcome>) -> NextStep {
    match (stage, outcome) {
        (Stage::Ready | Stage::Committed, _) => NextStep::Nothing,
        (Stage::Dead, _) => NextStep::SendAgain,
        (Stage::Refused, Some(outcome)) => match outcome {
            Outcome::StaleVersion | Outcome::FigureDiffers => NextStep::ReviewAgain,
            Outcome::Preparer | Outcome::OverLimit | Outcome::PeriodClosed | Outcome::NotEligible | Outcome::Forged => {
                NextStep::AskSupervisor
            }
            Outcome::KeyReused
            | Outcome::LeaseSuperseded
            | Outcome::AlreadyDecided
            | Outcome::Committed
            | Outcome::AwaitingSecond
            | Outcome::Held
            | Outcome::Duplicate => NextStep::PutAway,
        },
        (Stage::Refused, None) => NextStep::PutAway,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_and_refusal_has_its_next_step() {
        for (stage, outcome, expected) in [
            (Stage::Ready, None, NextStep::Nothing),
            (Stage::Committed, Some(Outcome::Held), NextStep::Nothing),
            (Stage::Committed, Some(Outcome::AwaitingSecond), NextStep::Nothing),
            (Stage::Dead, None, NextStep::SendAgain),
            (Stage::Refused, Some(Outcome::StaleVersion), NextStep::ReviewAgain),
            (Stage::Refused, Some(Outcome::AlreadyDecided), NextStep::PutAway),
            (Stage::Refused, Some(Outcome::LeaseSuperseded), NextStep::PutAway),
            (Stage::Refused, Some(Outcome::KeyReused), NextStep::PutAway),
            (Stage::Refused, Some(Outcome::OverLimit), NextStep::AskSupervisor),
            (Stage::Refused, Some(Outcome::Preparer), NextStep::AskSupervisor),
            (Stage::Refused, Some(Outcome::PeriodClosed), NextStep::AskSupervisor),
            (Stage::Refused, Some(Outcome::NotEligible), NextStep::AskSupervisor),
            (Stage::Refused, Some(Outcome::Forged), NextStep::AskSupervisor),
        ] {
            assert_eq!(next_step(stage, outcome), expected, "{stage:?} {outcome:?}");
        }
        let refusals = Outcome::ALL.into_iter().filter(|outcome| !outcome.accepted());
        for outcome in refusals {
            assert_ne!(next_step(Stage::Refused, Some(outcome)), NextStep::Nothing, "{outcome:?} wants attention");
        }
    }
}
