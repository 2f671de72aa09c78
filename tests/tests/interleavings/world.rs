//! One world: who there is, what they are given, and what they do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use countersign_admin::reviewer::{self, Rights, Scope};
use countersign_engine::port::LeasedItem;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rust_decimal::Decimal;
use sqlx::PgConnection;
use tokio::task::JoinSet;

use crate::deeds::{Supervisor, review};
use crate::office::{Office, Paper, Seat};

pub(crate) const PARTITIONS: [&str; 4] = ["a", "b", "c", "d"];
const ENTITIES: [&str; 2] = ["acme", "bolt"];
const TIERS: [&str; 3] = ["standard", "priority", "escalated"];
const CURRENCIES: [&str; 2] = ["USD", "EUR"];
const DAYS: [&str; 3] = ["2026-10-05", "2026-10-20", "2026-11-02"];
/// The periods, of which the last one is that of one entity alone.
pub(crate) const PERIODS: [(&str, &str, &str, &str); 3] = [
    ("*", "first half", "2026-10-01", "2026-10-15"),
    ("*", "second half", "2026-10-16", "2026-10-31"),
    ("acme", "acme second half", "2026-10-16", "2026-10-31"),
];
/// Arrivals to begin with, and what each reviewer and the supervisor do.
pub(crate) const ARRIVALS: u64 = 30;
pub(crate) const STEPS: u64 = 20;

/// A world after everything happened.
pub(crate) struct World {
    pub(crate) office: Office,
    /// Each person's names, in lower case: all of their logins, and what upstream calls them.
    pub(crate) people: Vec<Vec<String>>,
    /// How often each outcome was answered, and what else happened.
    pub(crate) seen: BTreeMap<String, u64>,
}

/// What all see: what was leased by anybody, and how often what happened.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    pub(crate) items: Arc<Mutex<Vec<LeasedItem>>>,
    seen: Arc<Mutex<BTreeMap<String, u64>>>,
    pub(crate) policy: Arc<Mutex<i32>>,
}

impl Shared {
    pub(crate) fn count(&self, what: &str) {
        *self.seen.lock().expect("counting cannot panic").entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn policy(&self) -> u32 {
        u32::try_from(*self.policy.lock().expect("reading cannot panic")).expect("versions count from 1")
    }
}

pub(crate) async fn run(seed: u64) -> anyhow::Result<World> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let office = Arc::new(Office::open().await?);
    let shared = Shared::default();
    *shared.policy.lock().expect("writing cannot panic") = 1;
    // One connection for all that is set: to log in takes longer than anything else here.
    let mut rules = office.supervisor.connect().await?;
    let (seats, people) = people(&office, &mut rules, &mut rng).await?;
    for (entity, name, first, last) in PERIODS {
        sqlx::query("SELECT countersign.period_add($1, $2, $3::date, $4::date)")
            .bind(entity)
            .bind(name)
            .bind(first)
            .bind(last)
            .execute(&mut rules)
            .await?;
    }
    let names: Vec<String> = people.iter().flatten().cloned().collect();
    let papers: Vec<Paper<'static>> = (0..ARRIVALS).map(|number| paper(number, &names, &mut rng)).collect();
    office.take_in(&papers).await?;

    let mut work = JoinSet::new();
    let logins: Vec<String> = seats.iter().map(|seat| seat.user().to_owned()).collect();
    for seat in &seats {
        let (seat, shared, logins) = (seat.clone(), shared.clone(), logins.clone());
        let login = seat.user().to_lowercase();
        let names = people.iter().find(|names| names.contains(&login)).cloned().unwrap_or_default();
        let rng = ChaCha8Rng::seed_from_u64(rng.random());
        work.spawn(review(seat, shared, logins, names, rng));
    }
    let supervisor = Supervisor {
        office: Arc::clone(&office),
        rules,
        shared: shared.clone(),
        logins,
        papers,
        names,
        rng: ChaCha8Rng::seed_from_u64(rng.random()),
    };
    work.spawn(supervisor.work());
    while let Some(done) = work.join_next().await {
        done??;
    }
    let counted = shared.seen.lock().expect("reading cannot panic").clone();
    let office = Arc::into_inner(office).ok_or_else(|| anyhow::anyhow!("somebody is in the office still"))?;
    Ok(World { office, people, seen: counted })
}

/// Two to four connections: of people with names upstream, of whom one has a second login, or a second desk.
async fn people(
    office: &Office,
    rules: &mut PgConnection,
    rng: &mut ChaCha8Rng,
) -> anyhow::Result<(Vec<Seat>, Vec<Vec<String>>)> {
    let (mut seats, mut people) = (Vec::new(), Vec::new());
    let count = rng.random_range(2..=3);
    for number in 0..count {
        let mut mine = vec![office.seat(&format!("Reviewer{number}")).await?];
        let mut also = vec![format!("Upstream-{number}")];
        if number == 0 {
            let one_more = rng.random_bool(0.5);
            mine.push(if one_more { office.seat("second").await? } else { office.desk(&mine[0].login).await? });
        }
        also.extend(mine.iter().skip(1).map(|seat| seat.user().to_uppercase()));
        let pick = |names: &[&str], rng: &mut ChaCha8Rng| match rng.random_range(0..4) {
            0 => Scope::Only(names.choose_multiple(rng, 2).map(|name| (*name).to_owned()).collect()),
            _ => Scope::Any,
        };
        let rights = Rights { also: Scope::Only(also.clone()), tiers: pick(&TIERS, rng), ..Rights::default() };
        reviewer::set(&office.supervisor, mine[0].user(), &rights).await?;
        for seat in &mine {
            limit(rules, seat.user(), rng).await?;
        }
        let logins = mine.iter().map(|seat| seat.user().to_owned());
        let mut names: Vec<String> = logins.chain(also).map(|name| name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        people.push(names);
        seats.extend(mine);
    }
    Ok((seats, people))
}

/// Sets limits that some of what comes in is over, and all of it together for certain.
pub(crate) async fn limit(rules: &mut PgConnection, login: &str, rng: &mut ChaCha8Rng) -> anyhow::Result<()> {
    for currency in ["*", "USD"] {
        sqlx::query("SELECT countersign.reviewer_limit_set($1, $2, $3, $4)")
            .bind(login)
            .bind(currency)
            .bind(Decimal::from(rng.random_range(50..=90)))
            .bind(Decimal::from(rng.random_range(80..=200)))
            .execute(&mut *rules)
            .await?;
    }
    Ok(())
}

pub(crate) fn paper(number: u64, names: &[String], rng: &mut ChaCha8Rng) -> Paper<'static> {
    let partition = PARTITIONS.choose(rng).expect("there are some");
    let prepared_by = match rng.random_range(0..3) {
        0 => vec![names.choose(rng).expect("there are some").to_uppercase()],
        _ => vec!["somebody".to_owned()],
    };
    Paper {
        entity: ENTITIES.choose(rng).expect("there are some"),
        currency: CURRENCIES.choose(rng).expect("there are some"),
        tier: TIERS.choose(rng).expect("there are some"),
        day: DAYS.choose(rng).expect("there are some"),
        group: rng.random_bool(0.3).then_some("group"),
        prepared_by,
        ..Paper::new(number, partition, rng.random_range(-9_000..=9_000))
    }
}
