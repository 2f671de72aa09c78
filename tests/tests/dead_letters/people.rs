//! Two people at one desk, and the second one who has to agree.

use countersign_engine::port::{Desk as _, LetterStatus};

use crate::world::{World, key, line, mended, withdrawn};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_is_one_persons_while_they_work_on_it() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, bob) = (world.remediator("dora").await?, world.remediator("bob").await?);
    let (_, sue) = world.supervisor("sue").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let id = dora.letter(&key(1)).await?.id;
    assert_eq!(bob.correct(id, 0, &mended(1, "p")).await?, "NOT_YOURS", "it has to be taken first");
    assert_eq!((dora.take(id).await?.as_str(), dora.take(id).await?.as_str()), ("TAKEN", "TAKEN"));
    assert_eq!(bob.take(id).await?, "NOT_YOURS");
    assert_eq!(bob.put_back(id).await?, "NOT_YOURS");
    assert_eq!(bob.correct(id, 0, &mended(1, "p")).await?, "NOT_YOURS");
    assert_eq!(bob.replay(id).await?.outcome, "NOT_YOURS");
    assert_eq!(bob.discard(id, "no use").await?, "NOT_YOURS");
    let answers = bob.backlog.take(bob.desk, &[id], false).await?;
    assert_eq!(answers[0].detail.as_deref(), Some(format!("{} works on it", dora.login.user).as_str()));
    // A supervisor puts back what somebody left behind.
    let ran = sue.run(&["dead-letters", "put-back", &id.0.to_string()]).await?;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(bob.take(id).await?, "TAKEN");
    assert_eq!(bob.letter(&key(1)).await?.owner, Some(bob.login.user.clone()));
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_made_from_an_earlier_text_is_a_conflict_and_nothing_is_lost() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let id = dora.letter(&key(1)).await?.id;
    dora.take(id).await?;
    assert_eq!(dora.correct(id, 0, &mended(1, "p")).await?, "KEPT");
    let other = mended(1, "p").replace("\"EUR\"", "\"USD\"");
    let answer = dora.backlog.correct(dora.desk, id, 0, &other).await?;
    assert_eq!(answer.outcome, "CONFLICT");
    assert!(answer.detail.as_deref().is_some_and(|why| why.contains("revision 1")), "{answer:?}");
    assert_eq!(dora.correct(id, 1, &other).await?, "KEPT");
    assert_eq!(dora.correct(id, 2, &other).await?, "REFUSED", "nothing was corrected");
    let detail = dora.backlog.letter(dora.desk, id).await?.expect("it is kept");
    let bodies: Vec<&str> = detail.corrections.iter().map(|one| one.body.as_str()).collect();
    assert_eq!(bodies, [mended(1, "p"), other]);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn discarding_takes_a_reason_and_a_supervisor_who_is_somebody_else_under_every_name() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let (sue, as_sue) = world.supervisor("sue").await?;
    let (tom, as_tom) = world.supervisor("tom").await?;
    world.send(&[line(&withdrawn(1, "p")), line(&withdrawn(2, "p")), line(&withdrawn(3, "p"))]).await?;
    let (first, second, third) =
        (dora.letter(&key(1)).await?.id, dora.letter(&key(2)).await?.id, dora.letter(&key(3)).await?.id);
    assert!(dora.backlog.discard(dora.desk, &[first], "  ").await.is_err(), "a reason is expected");
    assert_eq!(dora.discard(first, "a test file").await?, "DISCARDING");
    assert_eq!(dora.replay(first).await?.outcome, "DISCARDING", "it waits");
    assert_eq!(dora.put_back(first).await?, "PUT_BACK", "whoever asked thinks better of it");
    assert_eq!(dora.discard(first, "a test file").await?, "DISCARDING");

    // Sue asks and cannot agree with herself; nor can Tom, while he and Sue are one person.
    let id = second.0.to_string();
    let ran = as_sue.run(&["dead-letters", "discard", &id, "--reason", "sent twice"]).await?;
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = as_sue.run(&["dead-letters", "confirm-discard", &id, "--yes"]).await?;
    assert!(ran.code == 1 && ran.stdout.contains("another supervisor has to agree"), "{ran:?}");
    sqlx::query("SELECT countersign.reviewer_set($1, NULL, ARRAY[$2], NULL, NULL, NULL)")
        .bind(&sue)
        .bind(&tom)
        .execute(&world.installation.owner)
        .await?;
    let ran = as_tom.run(&["dead-letters", "confirm-discard", &id, "--yes"]).await?;
    assert!(ran.code == 1 && ran.stdout.contains("another supervisor has to agree"), "{ran:?}");

    // Dora's is another person's; nobody agrees to what they were not shown.
    let ran = as_tom.run(&["dead-letters", "confirm-discard", &first.0.to_string()]).await?;
    assert!(ran.code == 1 && ran.stderr.contains("a test file") && ran.stderr.contains("--yes"), "{ran:?}");
    let stale = "SELECT outcome FROM countersign.letter_discard_confirm(ARRAY[$1], ARRAY['another reason'])";
    let stale: String = sqlx::query_scalar(stale).bind(first.0).fetch_one(&world.installation.owner).await?;
    assert_eq!(stale, "CONFLICT");
    let ran = as_tom.run(&["dead-letters", "confirm-discard", &first.0.to_string(), "--yes"]).await?;
    assert_eq!(ran.code, 0, "{ran:?}");
    let letter = dora.letter(&key(1)).await?;
    assert_eq!(letter.status, LetterStatus::Discarded);
    let detail = dora.backlog.letter(dora.desk, first).await?.expect("it is kept all the same");
    assert_eq!(detail.discard, Some((dora.login.user.clone(), "a test file".to_owned())));
    assert_eq!(detail.original, line(&withdrawn(1, "p")));
    assert_eq!((dora.replay(first).await?.outcome.as_str(), dora.take(first).await?.as_str()), ("DONE", "DONE"));
    // It comes again: it was decided on by two, and is counted.
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let again = dora.letter(&key(1)).await?;
    assert_eq!((again.status, again.times), (LetterStatus::Discarded, 2));
    // Nobody asked for the third one.
    let ran = as_tom.run(&["dead-letters", "confirm-discard", &third.0.to_string(), "--yes"]).await?;
    assert!(ran.code == 1 && ran.stderr.contains("nobody wants to discard"), "{ran:?}");
    world.holds().await
}
