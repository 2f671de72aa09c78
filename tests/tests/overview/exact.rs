//! The sums are those of a count, whatever was done from how many connections.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use countersign_admin::{reversal, status};
use countersign_domain::id::ExceptionId;
use countersign_engine::port::{Backlog as _, Held, LeaseReply, LeaseRequest, LeasedItem, Reading};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::office::{Office, Paper, Seat};

const ENTITIES: [&str; 3] = ["DE01", "FR01", "US01"];
const PARTITIONS: [&str; 10] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

/// What the overview should say, from the exceptions themselves: by line, how many are free and held, and their amounts.
const SCAN: &str = "
    SELECT format('%s %s %s %s', e.ledger_entity, e.kind, e.routing_tier, e.currency),
           format('%s %s %s %s %s', count(*) FILTER (WHERE NOT h.held), coalesce(sum(abs(e.variance_amount)) FILTER (WHERE NOT h.held), 0.00),
                  count(*) FILTER (WHERE h.held), coalesce(sum(abs(e.variance_amount)) FILTER (WHERE h.held), 0.00),
                  count(*) FILTER (WHERE h.held AND p.holder_reviewer = $1))
    FROM countersign.exception e JOIN countersign.partition p ON p.partition_key = e.partition_key
    CROSS JOIN LATERAL (SELECT coalesce(p.lease_until >= clock_timestamp(), false) AS held) AS h
    WHERE e.state = 'PENDING' GROUP BY 1";

/// Lines that say something else than the exceptions they stand for.
const LINES: &str = "
    WITH counted AS (
        SELECT e.partition_key, e.line, count(*) AS pending, sum(abs(e.variance_amount)) AS amount, min(abs(e.variance_amount)) AS least,
               max(abs(e.variance_amount)) AS largest, min(e.claim_rank) AS claim_rank
        FROM countersign.exception e WHERE e.state = 'PENDING' GROUP BY e.partition_key, e.line
    )
    SELECT count(*) FROM counted c FULL JOIN countersign.pending_line l ON l.partition_key = c.partition_key AND l.line = c.line
    LEFT JOIN countersign.partition p ON p.partition_key = l.partition_key
    WHERE (c.pending, c.amount) IS DISTINCT FROM (l.pending::bigint, l.amount) OR l.least > c.least OR l.largest < c.largest
       OR l.claim_rank > c.claim_rank OR l.shut_out <> p.shut_out";

type Lines = BTreeMap<String, String>;

async fn said(seat: &Seat) -> anyhow::Result<Lines> {
    let overview = seat.backlog.overview(seat.desk).await?;
    assert_eq!(overview.more, 0);
    let line = |line: countersign_engine::port::OverviewLine| {
        let currency = line.free_amount.currency.code();
        let amount = |money: countersign_domain::money::Money| format!("{:.2}", money.amount);
        (
            format!("{} {} {} {currency}", line.entity, line.kind.as_str(), line.tier.as_str()),
            format!(
                "{} {} {} {} {}",
                line.free,
                amount(line.free_amount),
                line.held,
                amount(line.held_amount),
                line.mine
            ),
        )
    };
    Ok(overview.lines.into_iter().map(line).collect())
}

async fn counted(office: &Office, seat: &Seat) -> anyhow::Result<Lines> {
    let rows: Vec<(String, String)> =
        sqlx::query_as(SCAN).bind(seat.user()).fetch_all(&office.installation.owner).await?;
    Ok(rows.into_iter().collect())
}

async fn exact(office: &Office, seats: &[Seat], after: &str) -> anyhow::Result<()> {
    for seat in seats {
        assert_eq!(said(seat).await?, counted(office, seat).await?, "{after}");
    }
    let differing: i64 = sqlx::query_scalar(LINES).fetch_one(&office.installation.owner).await?;
    assert_eq!(differing, 0, "{after}");
    Ok(())
}

/// One reviewer's or producer's day: a chance deed after the other.
struct Worker {
    office: Arc<Office>,
    seat: Seat,
    random: ChaCha8Rng,
    next: u64,
    mine: Vec<LeasedItem>,
    held: Vec<Held>,
}

impl Worker {
    async fn deed(&mut self) -> anyhow::Result<()> {
        match self.random.random_range(0..9) {
            0 | 1 => self.arrive().await,
            2 => self.correct().await,
            3 | 4 => self.lease().await,
            5 | 6 => self.sign().await,
            7 => self.release().await,
            _ => self.look().await,
        }
    }

    fn paper(&mut self, number: u64, revision: usize) -> String {
        let tier = ["standard", "priority", "escalated"][self.random.random_range(0..3)];
        let paper = Paper {
            entity: ENTITIES[self.random.random_range(0..3)],
            currency: ["USD", "EUR"][self.random.random_range(0..2)],
            tier,
            revision,
            ..Paper::new(
                number,
                PARTITIONS[usize::try_from(number % 10).expect("small")],
                self.random.random_range(-99_999..99_999),
            )
        };
        paper.body()
    }

    async fn arrive(&mut self) -> anyhow::Result<()> {
        let numbers: Vec<u64> = (self.next..self.next + 8).collect();
        self.next += 8;
        let bodies: Vec<String> = numbers.into_iter().map(|number| self.paper(number, 1)).collect();
        self.office.installation.enqueue(&bodies).await?;
        Ok(())
    }

    async fn correct(&mut self) -> anyhow::Result<()> {
        let number = self.random.random_range(self.next / 100_000 * 100_000..self.next + 1);
        let body = self.paper(number, 2);
        self.office.installation.enqueue(&[body]).await?;
        Ok(())
    }

    async fn lease(&mut self) -> anyhow::Result<()> {
        let request = LeaseRequest { want: 15, room: 50, empty: true, ttl_ms: 60_000, held: Vec::new(), focus: None };
        let LeaseReply { partitions, items } = self.seat.backlog.lease(self.seat.desk, &request).await?;
        self.held = partitions.into_iter().map(|one| Held { partition: one.partition, epoch: one.epoch }).collect();
        self.mine = items;
        Ok(())
    }

    async fn sign(&mut self) -> anyhow::Result<()> {
        let some = self.random.random_range(0..=self.mine.len());
        let reject = self.random.random_ratio(1, 3);
        let decide = |item: &LeasedItem| if reject { self.seat.rejection(item) } else { self.seat.approval(item) };
        let batch: Vec<_> = self.mine.iter().rev().take(some).map(decide).collect();
        if !batch.is_empty() {
            self.seat.answers(&batch).await?;
        }
        Ok(())
    }

    async fn release(&mut self) -> anyhow::Result<()> {
        let held = std::mem::take(&mut self.held);
        Ok(self.seat.backlog.release(self.seat.desk, &held).await?)
    }

    /// Reading adds up, beside whoever else does.
    async fn look(&mut self) -> anyhow::Result<()> {
        let overview = self.seat.backlog.overview(self.seat.desk).await?;
        assert!(overview.lines.len() <= 18, "{overview:?}");
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_overview_is_that_of_a_count_after_chance_deeds_of_several() -> anyhow::Result<()> {
    let office = Arc::new(Office::open().await?);
    office.four_eyes(&[("EUR", "500.00")]).await?;
    let mut workers = Vec::new();
    for number in 1..=3 {
        let seat = office.seat("worker").await?;
        let random = ChaCha8Rng::seed_from_u64(number);
        let (mine, held) = (Vec::new(), Vec::new());
        workers.push(Worker { office: Arc::clone(&office), seat, random, next: number * 100_000, mine, held });
    }
    let seats: Vec<Seat> = workers.iter().map(|worker| worker.seat.clone()).collect();
    for round in 0..6 {
        let mut at_work = tokio::task::JoinSet::new();
        for mut worker in workers.drain(..) {
            at_work.spawn(async move {
                for _ in 0..14 {
                    worker.deed().await?;
                }
                anyhow::Ok(worker)
            });
        }
        while let Some(worker) = at_work.join_next().await {
            workers.push(worker??);
        }
        exact(&office, &seats, &format!("round {round}")).await?;
        if round == 2 {
            office.installation.lapse().await?;
            exact(&office, &seats, "after every lease ran out").await?;
        }
        if round == 3 {
            let key: String = office
                .ask("SELECT idempotency_key FROM countersign.exception WHERE state = 'RESOLVED' AND decision = 'APPROVE' ORDER BY id LIMIT 1")
                .await?;
            reversal::reverse(&office.supervisor, &key, "a test").await?;
            exact(&office, &seats, "after a reversal").await?;
        }
    }
    close_adds_up(&office, &seats).await
}

async fn close_adds_up(office: &Office, seats: &[Seat]) -> anyhow::Result<()> {
    let pending: i64 = office.ask("SELECT count(*) FROM countersign.exception WHERE state = 'PENDING'").await?;
    let decided: i64 = office.ask("SELECT count(*) FROM countersign.exception WHERE state <> 'PENDING'").await?;
    let signed: i64 = office.ask("SELECT count(*) FROM countersign.sign_off").await?;
    assert!(decided > 50 && pending > 50, "the deeds did something: {decided} decided, {pending} pending");
    let mut shares = 0;
    for seat in seats {
        let close = Reading::close(&*seat.backlog, seat.desk, DateTime::UNIX_EPOCH).await?;
        let sum = |of: fn(&countersign_engine::port::CloseLine) -> u32| {
            close.lines.iter().map(of).map(i64::from).sum::<i64>()
        };
        assert_eq!((sum(|line| line.left), sum(|line| line.signed)), (pending, signed));
        shares += sum(|line| line.mine);
        assert_eq!(close.hours.iter().map(|hour| i64::from(hour.decided)).sum::<i64>(), decided);
        assert_eq!(close.hours.iter().map(|hour| i64::from(hour.arrived)).sum::<i64>(), decided + pending);
        assert_eq!(close.hours.last().map(|hour| i64::from(hour.left)), Some(pending));
        let later = Reading::close(&*seat.backlog, seat.desk, Utc::now() + chrono::Duration::hours(1)).await?;
        assert_eq!(later.lines.iter().map(|line| line.signed).sum::<u32>(), 0);
    }
    assert_eq!(shares, signed, "each signature is somebody's");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hours_are_without_gaps_and_at_most_two_weeks() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "q", 200)]).await?;
    countersign_tests::owner::run(
        &office.installation.owner,
        "UPDATE countersign.exception SET arrived_at = arrived_at - interval '400 hours' WHERE partition_key = 'p';
         UPDATE countersign.exception SET arrived_at = arrived_at - interval '5 hours' WHERE partition_key = 'q'",
    )
    .await?;
    status::recount(&office.supervisor).await?;
    let close = Reading::close(&*alice.backlog, alice.desk, Utc::now()).await?;
    assert_eq!(close.hours.len(), 6);
    assert!(close.hours.windows(2).all(|two| two[1].until - two[0].until == chrono::Duration::hours(1)));
    assert!(close.hours[5].until > close.at && close.hours[4].until <= close.at);
    assert_eq!(close.hours.iter().map(|hour| hour.left).collect::<Vec<_>>(), [2; 6]);
    assert_eq!(close.hours[0].arrived, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recount_mends_what_was_broken_by_hand() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "q", 200)]).await?;
    assert_eq!(status::recount(&office.supervisor).await?.differed, 0);
    countersign_tests::owner::run(
        &office.installation.owner,
        "DELETE FROM countersign.pending_line WHERE partition_key = 'p'; UPDATE countersign.backlog_total SET pending = 7",
    )
    .await?;
    let recounted = status::recount(&office.supervisor).await?;
    assert_eq!((recounted.pending, recounted.differed), (2, 1));
    exact(&office, std::slice::from_ref(&alice), "after the recount").await?;
    let item = alice.lease().await?.remove(0);
    alice.approve(std::slice::from_ref(&item)).await?;
    assert_ne!(item.id, ExceptionId(0));
    exact(&office, &[alice], "after a decision").await
}
