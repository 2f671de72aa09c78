//! A few connections, kept for the next call.
//!
//! Not sqlx's pool: while a server refuses connections, that one tries on for its whole timeout and then says no more than that
//! time is up, where a reviewer wants to read "connection refused" at once; and a call that is cancelled or timed out here takes
//! its connection with it, whatever state that was in.

use std::sync::{Mutex, PoisonError};

use countersign_engine::port::{BacklogError, Failure, Problem};
use futures_util::TryStreamExt as _;
use secrecy::SecretString;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Connection as _, PgConnection, Postgres};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Duration, Instant, timeout};

use crate::connect::{Target, Timing};
use crate::dial;
use crate::failure::{self, Step};

/// Leasing, signing and renewing at the same time.
const CONNECTIONS: usize = 3;
/// A connection that rested for less is used as it is.
const FRESH: Duration = Duration::from_secs(1);
/// A connection that rested for longer is given up: a firewall may have forgotten it.
const RESTED: Duration = Duration::from_mins(1);
/// How long a rested connection may take to show that it is alive.
const PING: Duration = Duration::from_secs(3);

pub(crate) struct Connections {
    target: Target,
    password: Option<SecretString>,
    timing: Timing,
    permits: Semaphore,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: PgConnection,
    since: Instant,
}

impl Connections {
    pub(crate) fn new(target: Target, password: Option<SecretString>, timing: Timing) -> Self {
        Self { target, password, timing, permits: Semaphore::new(CONNECTIONS), idle: Mutex::default() }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Runs one statement and gathers its answer. Only a connection whose answer was read to its end is used again.
    pub(crate) async fn rows(
        &self,
        operation: &'static str,
        step: Step,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, BacklogError> {
        let (mut connection, _permit) = self.take(operation).await?;
        let answer = self.read(operation, step, &mut connection, query).await;
        match &answer {
            Ok(_) => self.idle().push(Idle { connection, since: Instant::now() }),
            // What cut one connection has mostly cut the others too.
            Err(BacklogError { failure: Failure::Offline, .. }) => self.idle().clear(),
            Err(_) => {}
        }
        answer
    }

    /// Says goodbye on every connection that rests. Calls that come later connect anew.
    pub(crate) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle());
        for Idle { connection, .. } in idle {
            // A server that does not hear it notices the closed socket.
            let _ = timeout(PING, connection.close()).await;
        }
    }

    /// The bound is on silence and not on the whole answer: a thousand items over a slow line may take their time.
    async fn read(
        &self,
        operation: &'static str,
        step: Step,
        connection: &mut PgConnection,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, BacklogError> {
        let mut stream = query.fetch(connection);
        let mut rows = Vec::new();
        loop {
            match timeout(self.timing.answer, stream.try_next()).await {
                Ok(Ok(Some(row))) => rows.push(row),
                Ok(Ok(None)) => return Ok(rows),
                Ok(Err(error)) => return Err(failure::explain(operation, &self.target, step, &error)),
                Err(_) => return Err(self.offline(operation, &format!("no answer within {:?}", self.timing.answer))),
            }
        }
    }

    async fn take(&self, operation: &'static str) -> Result<(PgConnection, SemaphorePermit<'_>), BacklogError> {
        let Ok(Ok(permit)) = timeout(self.timing.acquire, self.permits.acquire()).await else {
            let busy = format!("all {CONNECTIONS} connections were busy for {:?}", self.timing.acquire);
            return Err(self.offline(operation, &busy));
        };
        while let Some(Idle { mut connection, since }) = self.pop() {
            let rested = since.elapsed();
            if rested < FRESH {
                return Ok((connection, permit));
            }
            if rested < RESTED && matches!(timeout(PING, connection.ping()).await, Ok(Ok(()))) {
                return Ok((connection, permit));
            }
        }
        Ok((self.connect(operation).await?, permit))
    }

    async fn connect(&self, operation: &'static str) -> Result<PgConnection, BacklogError> {
        let options = self.target.options(self.password.as_ref(), &self.timing);
        let options = options.map_err(|reason| self.not_safe(operation, &reason))?;
        let certificates = self.target.certificates();
        match timeout(self.timing.connect, dial::connect(options, &certificates)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(failure::explain(operation, &self.target, Step::Connect, &error)),
            Err(_) => Err(self.offline(operation, &format!("no connection within {:?}", self.timing.connect))),
        }
    }

    fn pop(&self) -> Option<Idle> {
        self.idle().pop()
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        // A list of connections cannot be half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offline(&self, operation: &'static str, cause: &str) -> BacklogError {
        BacklogError { operation, failure: Failure::Offline, message: failure::offline(&self.target, cause) }
    }

    fn not_safe(&self, operation: &'static str, cause: &str) -> BacklogError {
        let message = failure::unsafe_connection(&self.target, cause);
        BacklogError { operation, failure: Failure::Refused(Problem::Tls), message }
    }
}
