//! Whether the database can be reached, and when to try again.

use chrono::{DateTime, Utc};
use rand::Rng;

use crate::ENROLMENT_POLL_MS;
use crate::backoff::delay_ms;
use crate::port::{BacklogError, Failure, Problem};

/// The connection as it was left by the last call.
#[derive(Debug, Default)]
pub(crate) struct Link {
    pub(crate) online: bool,
    pub(crate) problem: Option<BacklogError>,
    pub(crate) last_contact: Option<DateTime<Utc>>,
    /// When to try again; `None` waits for the reviewer (a wrong password is not tried twice).
    pub(crate) next_attempt_ms: Option<u64>,
    failures: u32,
}

impl Link {
    /// Not connected yet; the first attempt is due.
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { next_attempt_ms: Some(now_ms), ..Self::default() }
    }

    pub(crate) fn answered(&mut self, wall: DateTime<Utc>) {
        self.online = true;
        self.problem = None;
        self.failures = 0;
        self.last_contact = Some(wall);
    }

    /// Notes that no work can be done until a new connection says hello.
    pub(crate) fn lost(&mut self, error: BacklogError, now_ms: u64, random: &mut impl Rng) {
        self.next_attempt_ms = match error.failure {
            Failure::Refused(Problem::BadPassword | Problem::Revoked) => None,
            // Somebody is on the phone with a supervisor.
            Failure::Refused(Problem::NotEnrolled) => Some(now_ms + ENROLMENT_POLL_MS),
            // The reviewer should wait for the network, not the network for the reviewer: the first attempts come soon.
            _ if self.online => Some(now_ms + 500),
            _ => Some(now_ms + delay_ms(self.failures.min(6), random)),
        };
        self.online = false;
        self.failures = self.failures.saturating_add(1);
        self.problem = Some(error);
    }

    pub(crate) fn try_now(&mut self, now_ms: u64) {
        if !self.online {
            self.failures = 0;
            self.next_attempt_ms = Some(now_ms);
        }
    }
}
