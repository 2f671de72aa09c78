//! Waiting for a condition, with a deadline. Never for a while.

use std::time::{Duration, Instant};

use anyhow::bail;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Looks until there is something; what was waited for is in the error.
pub async fn until<T>(
    what: &str,
    within: Duration,
    mut look: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + within;
    loop {
        // A window that is just being made, or a server that just starts, may not answer yet: only the last failure counts.
        let failure = match look().await {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => None,
            Err(failure) => Some(failure),
        };
        if Instant::now() >= deadline {
            match failure {
                Some(failure) => return Err(failure.context(format!("waited {within:?} for {what}"))),
                None => bail!("waited {within:?} for {what}"),
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}
