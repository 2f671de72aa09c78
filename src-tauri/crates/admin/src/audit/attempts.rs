//! What somebody tried and was refused. It is no failure of the stream; it is what the stream is for.

use serde::Serialize;

use super::instant;

/// How many are listed; all of them are counted.
const LISTED: usize = 20;

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// `FORGED`, `TURNED_AWAY` or `ENROLMENT_REFUSED`.
    pub kind: &'static str,
    /// The chain that it is recorded in.
    pub chain: String,
    /// Its number there.
    pub number: i64,
    /// When.
    pub at: String,
    /// The login.
    pub actor: String,
    /// The workstation that it was tried with or for.
    pub workstation: Option<String>,
    /// What more is recorded, as JSON.
    pub detail: Option<String>,
}

/// Everything that was tried.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Attempts {
    /// Decisions whose seal was not that of the workstation that sent them.
    pub forged: u64,
    /// Calls in the name of somebody else's workstation, or of one that was revoked.
    pub turned_away: u64,
    /// Confirmations with a fingerprint that was not the key's.
    pub enrolment_refused: u64,
    /// The first of them.
    pub first: Vec<Attempt>,
}

impl Attempts {
    pub(crate) fn total(&self) -> u64 {
        self.forged + self.turned_away + self.enrolment_refused
    }

    /// Counts a record, if it is of an attempt.
    pub(crate) fn consider(&mut self, record: &countersign_domain::record::Record<'_>) {
        let (kind, count) = match (record.event, record.outcome) {
            ("SIGNED", Some("FORGED")) => ("FORGED", &mut self.forged),
            ("TURNED_AWAY", _) => ("TURNED_AWAY", &mut self.turned_away),
            ("ENROLMENT_REFUSED", _) => ("ENROLMENT_REFUSED", &mut self.enrolment_refused),
            _ => return,
        };
        *count += 1;
        if self.first.len() < LISTED {
            self.first.push(Attempt {
                kind,
                chain: record.chain.to_owned(),
                number: record.number,
                at: instant(record.at),
                actor: record.actor.to_owned(),
                workstation: record.workstation.map(|id| id.to_string()),
                detail: record.detail.map(str::to_owned),
            });
        }
    }
}
