//! The simulated database behind the port, for tests that hold it against the real one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use countersign_domain::id::{PartitionKey, WorkstationId};
use countersign_domain::seal::{Enrolment, PublicKey};
use countersign_domain::sign_off::SignOff;
use countersign_engine::port::{
    Backlog, BacklogError, Failure, GivenUp, Held, Hello, LeaseReply, LeaseRequest, Problem, Renewed, SignOffReply,
    Welcome,
};
use uuid::Uuid;

use super::database::Database;
use crate::enrolment::{enrolled, keys_of, standing_of};

/// One reviewer's way to a simulated database.
#[derive(Debug, Clone)]
pub struct SimBacklog {
    database: Arc<Mutex<Database>>,
    clock_ms: Arc<AtomicU64>,
    reviewer: String,
}

impl SimBacklog {
    /// A new, empty database, seen by this reviewer.
    pub fn new(reviewer: &str) -> Self {
        Self { database: Arc::default(), clock_ms: Arc::default(), reviewer: reviewer.to_owned() }
    }

    /// The same database, seen by somebody else.
    #[must_use]
    pub fn seen_by(&self, reviewer: &str) -> Self {
        Self { reviewer: reviewer.to_owned(), ..self.clone() }
    }

    /// Lets the database's clock go forward.
    pub fn advance_ms(&self, by: u64) {
        self.clock_ms.fetch_add(by, Ordering::SeqCst);
    }

    /// The database itself.
    pub fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().expect("no test thread panicked while it held the database")
    }

    fn now_ms(&self) -> u64 {
        self.clock_ms.load(Ordering::SeqCst)
    }

    fn wall(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(i64::try_from(self.now_ms()).unwrap_or(i64::MAX)).unwrap_or_default()
    }
}

impl Backlog for SimBacklog {
    async fn hello(&self, hello: &Hello) -> Result<Welcome, BacklogError> {
        if self.reviewer.is_empty() {
            let failure = Failure::Refused(Problem::NotAReviewer);
            return Err(BacklogError { operation: "connect", failure, message: "not an active reviewer".to_owned() });
        }
        let (reviewer, display_name) = (self.reviewer.clone(), self.reviewer.clone());
        Ok(Welcome {
            installation: Uuid::from_u128(1),
            standing: Box::new(standing_of(&reviewer, self.wall())),
            reviewer,
            display_name,
            server_now: self.wall(),
            enrolment: Some(enrolled(hello.workstation)),
        })
    }

    async fn enrol(&self, workstation: WorkstationId, _key: PublicKey) -> Result<Enrolment, BacklogError> {
        Ok(keys_of(workstation).enrolment().expect("they are enrolled").clone())
    }

    async fn lease(&self, workstation: WorkstationId, request: &LeaseRequest) -> Result<LeaseReply, BacklogError> {
        Ok(self.database().lease(self.now_ms(), workstation, &self.reviewer, request))
    }

    async fn renew(
        &self,
        workstation: WorkstationId,
        held: &[Held],
        ttl_ms: u32,
    ) -> Result<Vec<Renewed>, BacklogError> {
        Ok(self.database().renew(self.now_ms(), workstation, &self.reviewer, held, ttl_ms))
    }

    async fn release(&self, workstation: WorkstationId, held: &[Held]) -> Result<(), BacklogError> {
        self.database().release(workstation, &self.reviewer, held);
        Ok(())
    }

    async fn hand_over(
        &self,
        workstation: WorkstationId,
        held: &[Held],
        to: &str,
        ttl_ms: u32,
    ) -> Result<Vec<PartitionKey>, BacklogError> {
        Ok(self.database().hand_over(self.now_ms(), workstation, &self.reviewer, held, to, ttl_ms))
    }

    async fn sign_off(&self, workstation: WorkstationId, sign_offs: &[SignOff]) -> Result<SignOffReply, BacklogError> {
        Ok(self.database().sign_off(self.wall(), workstation, &self.reviewer, sign_offs))
    }

    async fn give_up(&self, _workstation: WorkstationId, letters: &[GivenUp]) -> Result<(), BacklogError> {
        self.database().give_up(letters);
        Ok(())
    }
}
