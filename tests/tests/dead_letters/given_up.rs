//! What workstations gave up.

use countersign_domain::dead_letter::Cause;
use countersign_domain::id::ExceptionId;
use countersign_engine::port::{Desk as _, LetterStatus};
use countersign_tests::calls::lease;
use sqlx::{Connection as _, PgConnection};

use crate::world::{Seat, World, good, line};

/// Gives one exception up as often as there are keys.
async fn give_up(
    client: &mut PgConnection,
    seat: &Seat,
    cause: &str,
    key: Option<&[u8]>,
) -> Result<Option<bool>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT countersign.give_up($1, ARRAY[$2], ARRAY[1::bigint], ARRAY[1], ARRAY[$3], ARRAY['{\"decision\":\"APPROVE\"}'], ARRAY['it never could'], ARRAY[3], ARRAY[now()])",
    )
    .bind(seat.desk.0)
    .bind(cause)
    .bind(key)
    .fetch_one(client)
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_one_letter_however_often_it_is_told_and_its_exception_stays_for_others() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (alice, bob, dora) =
        (world.reviewer("alice").await?, world.reviewer("bob").await?, world.remediator("dora").await?);
    world.send(&[line(&good(1, "p"))]).await?;
    let (mut hers, mut his) = (alice.client(&world).await?, bob.client(&world).await?);
    for _ in 0..2 {
        assert_eq!(give_up(&mut hers, &alice, "SCORING", None).await?, Some(true));
        assert_eq!(give_up(&mut his, &bob, "SCORING", None).await?, Some(true));
        assert_eq!(give_up(&mut hers, &alice, "SIGN_OFF", Some(&[7; 32])).await?, Some(true));
    }
    let letters = dora.letters().await?;
    let causes: Vec<(Cause, u32)> = letters.iter().map(|letter| (letter.cause, letter.attempts)).collect();
    assert_eq!(causes, [(Cause::Scoring, 3), (Cause::SignOff, 3)]);
    let scoring = &letters[0];
    assert_eq!((scoring.entity.as_deref(), scoring.at_risk.is_some()), (Some("p"), true), "what it is about is known");
    assert!(scoring.origin.contains(&alice.login.user), "{}", scoring.origin);

    for letter in &letters {
        let answer = dora.replay(letter.id).await?;
        assert_eq!(answer.outcome, "REFUSED");
        assert!(answer.detail.as_deref().is_some_and(|why| why.starts_with("no arrival: ")), "what to do: {answer:?}");
        assert_eq!(dora.take(letter.id).await?, "TAKEN");
        assert_eq!(dora.correct(letter.id, 0, "{}").await?, "REFUSED");
    }
    let detail = dora.backlog.letter(dora.desk, scoring.id).await?.expect("it is there");
    assert_eq!((detail.exception, detail.letter.status), (Some(ExceptionId(1)), LetterStatus::Taken));
    assert_eq!(lease(&bob.backlog, bob.desk, 10).await?.items.len(), 1, "it is still to be decided");
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gives_up_in_anothers_name_or_what_is_not_there() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (alice, bob) = (world.reviewer("alice").await?, world.reviewer("bob").await?);
    let mut his = bob.client(&world).await?;
    assert!(give_up(&mut his, &bob, "SCORING", None).await.is_err(), "there is no such exception");
    world.send(&[line(&good(1, "p"))]).await?;
    assert_eq!(give_up(&mut his, &alice, "SCORING", None).await?, None, "it is turned away");
    for (cause, key) in [("VENDOR", None), ("SCORING", Some(&[7; 32][..])), ("SIGN_OFF", Some(&[7; 3][..]))] {
        assert!(give_up(&mut his, &bob, cause, key).await.is_err(), "{cause} {key:?}");
    }
    let mut owner = PgConnection::connect(&world.installation.database().admin_url()).await?;
    assert!(
        give_up(&mut owner, &bob, "SCORING", None).await.is_err()
            || world.count("SELECT count(*) FROM countersign.dead_letter").await? == 0
    );
    assert_eq!(world.count("SELECT count(*) FROM countersign.dead_letter").await?, 0);
    world.holds().await
}
