//! What reviewers and a supervisor do, all at once.

use std::sync::Arc;

use countersign_admin::reversal;
use countersign_domain::policy::{FourEyesRule, Policy};
use countersign_domain::sign_off::{Outcome, SignOff};
use countersign_engine::port::{Backlog as _, BacklogError, Failure, Held, LeasedItem};
use rand::Rng as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use sqlx::PgConnection;

use crate::office::{Office, Paper, Seat};
use crate::world::{ARRIVALS, PARTITIONS, PERIODS, STEPS, Shared, limit, paper};

/// A reviewer's day.
pub(crate) async fn review(
    seat: Seat,
    shared: Shared,
    logins: Vec<String>,
    names: Vec<String>,
    mut rng: ChaCha8Rng,
) -> anyhow::Result<()> {
    let mut mine: Vec<LeasedItem> = Vec::new();
    for _ in 0..STEPS {
        match rng.random_range(0..10) {
            0..=2 => {
                let Some(leased) = answered(&shared, seat.lease().await)? else { continue };
                shared.items.lock().expect("pushing cannot panic").extend(leased.iter().cloned());
                mine = leased;
            }
            3..=7 => {
                let batch = batch(&seat, &shared, &mine, &names, &mut rng);
                if batch.is_empty() {
                    continue;
                }
                let Some(outcomes) = answered(&shared, seat.send(&batch).await)? else { continue };
                for outcome in &outcomes {
                    shared.count(outcome.as_str());
                }
                let done = |outcome: &Outcome| outcome.accepted() && rng.random_bool(0.9);
                let done: Vec<_> = batch.iter().zip(outcomes.iter().map(done)).filter(|(_, done)| *done).collect();
                mine.retain(|item| done.iter().all(|(sign_off, _)| sign_off.exception != item.id));
            }
            8 => {
                let held = held(&mine);
                answered(&shared, seat.backlog.release(seat.desk, &held).await.map_err(anyhow::Error::from))?;
                mine.clear();
            }
            _ => {
                let (held, to) = (held(&mine), logins.choose(&mut rng).expect("there are some"));
                let moved = seat.backlog.hand_over(seat.desk, &held, to, 60_000).await;
                let moved = moved.is_ok_and(|moved| !moved.is_empty());
                shared.count(if moved { "HANDED_OVER" } else { "NOT_HANDED_OVER" });
            }
        }
    }
    Ok(())
}

/// The first ones of a partition in their order, mostly; now and then some of somebody else's, or one that was sent before.
fn batch(seat: &Seat, shared: &Shared, mine: &[LeasedItem], names: &[String], rng: &mut ChaCha8Rng) -> Vec<SignOff> {
    let count = rng.random_range(1..=6);
    let mut items: Vec<LeasedItem> = match rng.random_range(0..4) {
        0 => mine.choose_multiple(rng, count).cloned().collect(),
        _ => mine.iter().take(count).cloned().collect(),
    };
    if rng.random_bool(0.4) {
        items.extend(temptations(shared, mine, names, rng));
    }
    let signed = items.iter().map(|item| {
        let decision = if rng.random_bool(0.12) { seat.rejection(item) } else { seat.approval(item) };
        seat.resealed(item, SignOff { policy_version: shared.policy(), ..decision })
    });
    signed.collect()
}

/// What was never handed to this one, or not any more: of those that anybody saw, some at random, and one that they prepared
/// themselves. Each comes under a lease of their own where they have one, so that it is refused for what it is and not for whose it is.
fn temptations(shared: &Shared, mine: &[LeasedItem], names: &[String], rng: &mut ChaCha8Rng) -> Vec<LeasedItem> {
    let everybodys = shared.items.lock().expect("reading cannot panic");
    let lease = |item: &LeasedItem| mine.iter().find(|mine| mine.partition == item.partition).map(|mine| mine.epoch);
    let near: Vec<&LeasedItem> = everybodys.iter().rev().filter(|item| lease(item).is_some()).take(60).collect();
    let own: Vec<&LeasedItem> =
        near.iter().copied().filter(|item| names.iter().any(|name| item.body.contains(&name.to_uppercase()))).collect();
    let chosen = near.choose_multiple(rng, 2).copied().chain(own.choose(rng).copied()).chain(everybodys.choose(rng));
    chosen.map(|item| LeasedItem { epoch: lease(item).unwrap_or(item.epoch), ..item.clone() }).collect()
}

fn held(items: &[LeasedItem]) -> Vec<Held> {
    let mut held: Vec<Held> =
        items.iter().map(|item| Held { partition: item.partition.clone(), epoch: item.epoch }).collect();
    held.sort();
    held.dedup();
    held
}

/// The answer, unless the database said "not now", which is counted and changes nothing.
fn answered<T>(shared: &Shared, answer: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.downcast_ref::<BacklogError>().is_some_and(|known| known.failure == Failure::Transient) => {
            shared.count("NOT_NOW");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Who changes the rules, and brings more in.
pub(crate) struct Supervisor {
    pub(crate) office: Arc<Office>,
    pub(crate) rules: PgConnection,
    pub(crate) shared: Shared,
    pub(crate) logins: Vec<String>,
    pub(crate) papers: Vec<Paper<'static>>,
    pub(crate) names: Vec<String>,
    pub(crate) rng: ChaCha8Rng,
}

impl Supervisor {
    pub(crate) async fn work(mut self) -> anyhow::Result<()> {
        for step in 0..STEPS {
            match self.rng.random_range(0..10) {
                0 => self.policy().await?,
                1..=3 => self.period().await?,
                4 => {
                    let login = self.logins.choose(&mut self.rng).expect("there are some");
                    limit(&mut self.rules, login, &mut self.rng).await?;
                }
                5 => self.assign().await?,
                6..=8 => self.bring_in(step).await?,
                _ => self.reverse().await?,
            }
        }
        Ok(())
    }

    async fn policy(&mut self) -> anyhow::Result<()> {
        let mut policy = Policy::default();
        for currency in ["*", "USD"] {
            if self.rng.random_bool(0.7) {
                let at_or_above = self.rng.random_range(20..=60).into();
                policy.four_eyes.push(FourEyesRule {
                    currency: currency.to_owned(),
                    kind: None,
                    tier: None,
                    at_or_above,
                });
            }
        }
        let document = serde_json::to_string(&policy)?;
        let sql = "SELECT countersign.policy_set($1::jsonb, 'a test')";
        let version = sqlx::query_scalar(sql).bind(document).fetch_one(&mut self.rules).await?;
        *self.shared.policy.lock().expect("writing cannot panic") = version;
        Ok(())
    }

    /// It is in that state already, or something in it is held: a refusal is an answer.
    async fn period(&mut self) -> anyhow::Result<()> {
        let (entity, name, ..) = PERIODS.choose(&mut self.rng).expect("there are some");
        let state = ["open", "closing", "closed", "closed"].choose(&mut self.rng).expect("there are some");
        let moved = sqlx::query("SELECT countersign.period_move($1, $2, $3, 'the close')")
            .bind(*entity)
            .bind(*name)
            .bind(*state)
            .execute(&mut self.rules)
            .await;
        if moved.is_ok() && *state == "closed" {
            self.shared.count("CLOSED");
        }
        Ok(())
    }

    async fn assign(&mut self) -> anyhow::Result<()> {
        let partition = PARTITIONS.choose(&mut self.rng).expect("there are some");
        let to = if self.rng.random_bool(0.5) { self.logins.choose(&mut self.rng) } else { None };
        let moved = sqlx::query("SELECT countersign.partition_assign(ARRAY[$1], $2, 'a test')")
            .bind(*partition)
            .bind(to)
            .fetch_all(&mut self.rules)
            .await?;
        self.shared.count(if moved.is_empty() { "NOT_ASSIGNED" } else { "ASSIGNED" });
        Ok(())
    }

    /// One that is new, and two that were there before with another amount.
    async fn bring_in(&mut self, step: u64) -> anyhow::Result<()> {
        let fresh = paper(ARRIVALS + step, &self.names, &mut self.rng);
        let mut sent = vec![fresh.clone()];
        // One of those that somebody looks at right now, if there is one.
        let seen = self.shared.items.lock().expect("reading cannot panic").choose(&mut self.rng).cloned();
        let seen = seen.and_then(|item| self.papers.iter().position(|paper| item.body.contains(&paper.key())));
        for place in [seen, None] {
            let place = place.unwrap_or_else(|| self.rng.random_range(0..self.papers.len()));
            let old = &mut self.papers[place];
            old.revision = old.revision % 3 + 1;
            old.cents = self.rng.random_range(-9_000..=9_000);
            sent.push(old.clone());
        }
        self.papers.push(fresh);
        for outcome in self.office.send(&sent).await? {
            self.shared.count(&outcome);
        }
        Ok(())
    }

    async fn reverse(&mut self) -> anyhow::Result<()> {
        let posted: Vec<String> = sqlx::query_scalar(
            "SELECT e.idempotency_key FROM countersign.postings p JOIN countersign.exceptions e ON e.id = p.exception_id
             WHERE NOT EXISTS (SELECT 1 FROM countersign.exceptions r WHERE r.reverses = e.id) ORDER BY e.id",
        )
        .fetch_all(&mut self.rules)
        .await?;
        if let Some(key) = posted.choose(&mut self.rng) {
            reversal::reverse(&self.office.supervisor, key, "a test").await?;
            self.shared.count("REVERSED");
        }
        Ok(())
    }
}
