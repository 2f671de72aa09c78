//! Nobody chooses the moment by which they are judged, nor what everybody else has to wait for.

use std::borrow::Cow;

use countersign_domain::sign_off::Outcome;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::office::{Office, Paper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_looks_at_an_older_snapshot_is_refused_at_every_door() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let mut client = alice.client(&office.installation).await?;
    let desk = alice.desk.0;
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        for call in [
            format!("countersign.hello('{desk}', 'x', '0', '{{}}')"),
            format!("countersign.lease('{desk}', 5, 5, true, 60000, '{{}}', '{{}}', NULL)"),
            format!("countersign.renew('{desk}', '{{}}', '{{}}', 60000)"),
            format!("countersign.release('{desk}', '{{}}', '{{}}')"),
            format!("countersign.hand_over('{desk}', '{{}}', '{{}}', 'bob', 60000)"),
            format!(
                "countersign.sign_off('{desk}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}')"
            ),
            format!("countersign.workstation_revoke('{desk}', 'x')"),
            format!("countersign.overview('{desk}')"),
            format!("countersign.close_overview('{desk}', now())"),
            format!("countersign.history('{desk}', 1)"),
            format!("countersign.picture_of('{desk}', 1)"),
        ] {
            let mut transaction = client.begin().await?;
            sqlx::raw_sql(AssertSqlSafe(format!("SET TRANSACTION ISOLATION LEVEL {level}")))
                .execute(&mut *transaction)
                .await?;
            let refused = sqlx::raw_sql(AssertSqlSafe(format!("SELECT {call}"))).execute(&mut *transaction).await;
            let code = refused.err().and_then(|error| error.as_database_error()?.code().map(Cow::into_owned));
            assert_eq!(code.as_deref(), Some("25000"), "{level}: {call}");
            transaction.rollback().await?;
        }
    }
    assert_eq!(alice.approve(&alice.lease().await?).await?, [Outcome::Committed]);
    Ok(())
}

/// Fifty long names on one arrival fit into no index; they must neither keep it out nor jam its partition for everybody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_long_names_jam_nothing() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let long = |number: usize| format!("{number:03}{}", "\u{416}".repeat(190));
    let crowded = Paper { prepared_by: (0..50).map(long).collect(), ..Paper::new(1, "p", 100) };
    office.take_in(&[crowded, Paper::new(2, "p", 100)]).await?;
    office.take_in(&[Paper { prepared_by: (50..100).map(long).collect(), ..Paper::new(3, "alone", 100) }]).await?;
    let items = alice.lease().await?;
    assert_eq!(items.len(), 3);
    let second =
        items.iter().find(|item| item.partition.0 == "p" && item.seq.0 == 2).expect("it was handed out").clone();
    assert_eq!(alice.approve(&[second]).await?, [Outcome::Held]);
    office.installation.lapse().await?;
    let bob = office.seat("bob").await?;
    assert_eq!(bob.approve(&bob.lease().await?).await?, [Outcome::Committed; 2]);
    Ok(())
}

/// The content of what one may not sign is not to be had by guessing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guessed_hash_shows_nothing_that_was_not_handed_out() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "USD", Some("5"), None).await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "p", 1_000_000)]).await?;
    let mut guessed = alice.lease().await?.remove(0);
    guessed.body = Paper::new(2, "p", 1_000_000).body();
    guessed.id.0 += 1;
    let (answers, _) = alice.answers(&[alice.approval(&guessed)]).await?;
    assert_eq!((answers[0].outcome, answers[0].now.is_none()), (Outcome::OverLimit, true));
    Ok(())
}
