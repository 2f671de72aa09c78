//! Whoever has no right to the desk, and whoever has one and wants more.

use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Backlog as _, Desk as _, LetterFilter, LetterId, Problem};
use countersign_tests::calls::{decision, lease};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::world::{World, good, key, line, mended, withdrawn};

async fn sqlstate(client: &mut PgConnection, sql: &str) -> String {
    match sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(client).await {
        Ok(_) => "it went through".to_owned(),
        Err(error) => error
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code)
            .map_or_else(|| error.to_string(), std::borrow::Cow::into_owned),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_right_or_at_anothers_workstation_nothing_is_seen_and_nothing_happens() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, mallory) = (world.remediator("dora").await?, world.reviewer("mallory").await?);
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let id = dora.letter(&key(1)).await?.id.0;
    let mut client = mallory.client(&world).await?;
    let calls = |desk: &str| {
        [
            format!("SELECT countersign.letter_causes({desk})"),
            format!("SELECT countersign.letters({desk}, NULL, NULL, NULL)"),
            format!("SELECT countersign.letter({desk}, {id})"),
            format!("SELECT countersign.letter_bodies({desk}, ARRAY[{id}])"),
            format!("SELECT countersign.letter_take({desk}, ARRAY[{id}], false)"),
            format!("SELECT countersign.letter_correct({desk}, {id}, 0, '{{}}')"),
            format!(
                "SELECT countersign.letter_replay({desk}, ARRAY[{id}], ARRAY[0], ARRAY['{{}}'], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], false)"
            ),
            format!("SELECT countersign.letter_discard({desk}, ARRAY[{id}], 'spite')"),
        ]
    };
    for call in calls(&format!("'{}'", mallory.desk.0)) {
        assert_eq!(sqlstate(&mut client, &call).await, "CS006", "{call}");
    }
    // Nobody but a supervisor comes without a workstation.
    for call in calls("NULL") {
        assert_eq!(sqlstate(&mut client, &call).await, "42501", "{call}");
    }
    for call in [
        format!("SELECT countersign.letter_discard_confirm(ARRAY[{id}], ARRAY['x'])"),
        format!("SELECT countersign.reviewer_remediates('{}', true)", mallory.login.user),
        "SELECT countersign.take_in(ARRAY['{}'])".to_owned(),
        "SELECT countersign.letter_steps(NULL, 'DEAD_LETTERED', NULL)".to_owned(),
        format!("UPDATE countersign.dead_letter SET status = 'REPLAYED' WHERE id = {id}"),
    ] {
        assert_eq!(sqlstate(&mut client, &call).await, "42501", "{call}");
    }
    // At Dora's workstation everybody but her is turned away, which is recorded.
    for call in calls(&format!("'{}'", dora.desk.0)) {
        assert_eq!(sqlstate(&mut client, &call).await, "it went through", "{call}");
    }
    let turned_away =
        "SELECT count(*) FROM countersign.audit_event WHERE event = 'TURNED_AWAY' AND actor LIKE 'mallory%'";
    assert_eq!(world.count(turned_away).await?, 8);
    let error = mallory.backlog.letters(dora.desk, &LetterFilter::default()).await.expect_err("it is not hers");
    assert_eq!(error.code(), Problem::UnknownWorkstation.code(), "{error}");
    assert_eq!(
        world.count("SELECT count(*) FROM countersign.dead_letter WHERE events = 1").await?,
        1,
        "nothing happened"
    );
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_remediator_sees_the_letters_of_their_entities_and_those_that_may_be_anybodys() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    sqlx::query("SELECT countersign.reviewer_set($1, NULL, '{}', NULL, NULL, ARRAY['US01'])")
        .bind(&dora.login.user)
        .execute(&world.installation.owner)
        .await?;
    let all = world.remediator("all").await?;
    world.send(&[line(&withdrawn(1, "US01")), line(&withdrawn(2, "DE01")), b"not JSON".to_vec()]).await?;
    let seen: Vec<Option<String>> = dora.letters().await?.into_iter().map(|letter| letter.entity).collect();
    assert_eq!(seen, [Some("US01".to_owned()), None]);
    let told: u32 = dora.backlog.causes(dora.desk).await?.iter().map(|cause| cause.open).sum();
    assert_eq!(told, 2);
    let (hers, other) = (all.letter(&key(1)).await?.id, all.letter(&key(2)).await?.id);
    assert_eq!(dora.backlog.letter(dora.desk, other).await?, None);
    assert_eq!(
        (dora.take(other).await?.as_str(), dora.replay(other).await?.outcome.as_str()),
        ("NOT_YOURS", "NOT_YOURS")
    );
    assert_eq!(dora.discard(other, "no").await?, "NOT_YOURS");
    // Nor is anything moved to where it cannot be seen.
    dora.take(hers).await?;
    assert_eq!(dora.correct(hers, 0, &mended(1, "DE01")).await?, "REFUSED");
    world.holds().await
}

/// The gates are Rust's and the database's; that a text is the letter's own is the database's alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_goes_in_under_a_letter_but_the_letter_with_everyone_who_corrected_it() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let id = dora.letter(&key(1)).await?.id;
    dora.take(id).await?;
    dora.correct(id, 0, &mended(1, "p")).await?;
    let mut client = dora.client(&world).await?;
    let mut other = good(7, "p");
    other["prepared_by"] = json!(["preparer", dora.login.user]);
    let mut alone: serde_json::Value = serde_json::from_str(&mended(1, "p"))?;
    alone["prepared_by"] = json!([dora.login.user]);
    let text = mended(1, "p");
    for (body, words) in [
        (text.as_str(), "prepared_by lacks dora"),
        (&alone.to_string(), "prepared_by lacks preparer"),
        (&other.to_string(), "not the dead letter as it was last corrected"),
        ("[1]", "not the dead letter as it was last corrected"),
        ("{", "no JSON"),
        ("", "no JSON"),
    ] {
        let (outcome, detail): (String, String) = sqlx::query_as(
            "SELECT outcome, detail FROM countersign.letter_replay($1, ARRAY[$2], ARRAY[1], ARRAY[$3], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], false)",
        )
        .bind(dora.desk.0)
        .bind(id.0)
        .bind(body)
        .fetch_one(&mut client)
        .await?;
        assert!(outcome == "REFUSED" && detail.contains(words), "{body}: {detail}");
    }
    let letter = dora.letter(&key(1)).await?;
    assert_eq!(letter.attempts, 1, "what is not the letter is no attempt of it");
    assert_eq!(dora.replay(id).await?.outcome, "ENQUEUED");
    world.holds().await
}

/// Whoever prepared what came stays barred, whatever a correction says and however the names are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preparer_who_is_struck_out_of_a_letter_is_told_and_still_cannot_sign() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, bob, blake) =
        (world.remediator("dora").await?, world.remediator("bob").await?, world.reviewer("blake").await?);
    let mut arrival = withdrawn(1, "p");
    arrival["prepared_by"] = json!([blake.login.user.to_uppercase()]);
    world.send(&[line(&arrival)]).await?;
    let id = dora.letter(&key(1)).await?.id;
    arrival["currency"] = json!("EUR");
    for (number, (seat, preparers)) in (0..).zip([(&dora, json!(["zoe"])), (&bob, json!(["eve"]))]) {
        seat.take(id).await?;
        arrival["prepared_by"] = preparers;
        assert_eq!(seat.correct(id, number, &arrival.to_string()).await?, "KEPT");
        seat.put_back(id).await?;
    }
    let told = bob.rehearse(id).await?;
    let words = format!("prepared_by keeps {}, zoe", blake.login.user.to_uppercase());
    assert!(told.passes() && told.detail.as_deref().is_some_and(|detail| detail.contains(&words)), "{told:?}");
    let mut client = bob.client(&world).await?;
    arrival["prepared_by"] = json!(["eve", "zoe", dora.login.user, bob.login.user]);
    let detail: String = sqlx::query_scalar(
        "SELECT detail FROM countersign.letter_replay($1, ARRAY[$2], ARRAY[2], ARRAY[$3], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], false)",
    )
    .bind(bob.desk.0)
    .bind(id.0)
    .bind(arrival.to_string())
    .fetch_one(&mut client)
    .await?;
    assert!(detail.contains("prepared_by lacks BLAKE"), "{detail}");
    assert_eq!(bob.replay(id).await?.outcome, "ENQUEUED");
    assert!(lease(&blake.backlog, blake.desk, 10).await?.items.is_empty());
    let carol = world.reviewer("carol").await?;
    let leased = lease(&carol.backlog, carol.desk, 10).await?;
    let [item] = leased.items.as_slice() else { unreachable!("one exception: {leased:?}") };
    let his = decision(item, &blake.login, blake.desk, Decision::Approve);
    let answer = blake.backlog.sign_off(blake.desk, &[his]).await?.answers;
    assert_eq!(answer[0].outcome.as_str(), "PREPARER", "{answer:?}");
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_keeps_its_key_and_trace_unless_they_were_at_fault() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let mut no_trace = good(2, "p");
    no_trace["trace_id"] = json!("none");
    let mut no_key = good(3, "p");
    no_key["idempotency_key"] = json!("a\u{1}b");
    world.send(&[line(&withdrawn(1, "p")), line(&no_trace), line(&no_key)]).await?;
    let id = dora.letter(&key(1)).await?.id;
    dora.take(id).await?;
    let right: serde_json::Value = serde_json::from_str(&mended(1, "p"))?;
    let (mut other_key, mut other_trace) = (good(9, "p"), right.clone());
    other_key["trace_id"] = right["trace_id"].clone();
    other_trace["trace_id"] = json!("6f1f2d1e-0000-4000-8000-000000000001");
    let mut after = 0;
    for (field, other) in [("idempotency_key", other_key), ("trace_id", other_trace)] {
        dora.take(id).await?;
        assert_eq!(dora.correct(id, after, &other.to_string()).await?, "KEPT");
        after += 1;
        for told in [dora.rehearse(id).await?, dora.replay(id).await?] {
            let words = told.detail.as_deref().unwrap_or_default();
            assert!(
                told.outcome == "REFUSED" && words.starts_with(field) && words.contains("not at fault"),
                "{told:?}"
            );
        }
    }
    assert_eq!(dora.correct(id, after, &mended(1, "p")).await?, "KEPT");
    assert_eq!(dora.replay(id).await?.outcome, "ENQUEUED");
    for (place, number) in [("trace_id", 2), ("idempotency_key", 3)] {
        let letters = dora.letters().await?;
        let letter = letters.into_iter().find(|letter| letter.field.as_deref() == Some(place)).expect(place);
        dora.take(letter.id).await?;
        assert_eq!(dora.correct(letter.id, 0, &good(number, "p").to_string()).await?, "KEPT");
        assert_eq!(dora.replay(letter.id).await?.outcome, "ENQUEUED", "{place}");
    }
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_that_nobody_corrected_keeps_its_cause_whatever_a_client_says() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let before = dora.letter(&key(1)).await?;
    let mut client = dora.client(&world).await?;
    let call = |cause: &str, field: &str, reason: &str| {
        format!(
            "SELECT countersign.letter_replay('{}', ARRAY[{}], ARRAY[0], ARRAY[NULL], ARRAY[{cause}], ARRAY[{field}], ARRAY[{reason}], false)",
            dora.desk.0, before.id.0
        )
    };
    for (cause, reason) in
        [("'SIGN_OFF'", "'x'"), ("'NONSENSE'", "'x'"), ("'DATE'", "NULL"), ("'DATE'", "repeat('x', 65537)")]
    {
        assert_eq!(sqlstate(&mut client, &call(cause, "NULL", reason)).await, "22023", "{cause} {reason:.20}");
    }
    assert_eq!(sqlstate(&mut client, &call("'KEY'", "'idempotency_key'", "'no'")).await, "it went through");
    let after = dora.letter(&key(1)).await?;
    assert_eq!((&after.cause, &after.field, &after.reason), (&before.cause, &before.field, &before.reason));
    assert_eq!(after.attempts, 2);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_cannot_be_is_refused_whole() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let id = dora.letter(&key(1)).await?.id.0;
    let mut client = dora.client(&world).await?;
    let desk = dora.desk.0;
    let many: Vec<String> = (1..=101).map(|number| number.to_string()).collect();
    for (call, code) in [
        (format!("SELECT countersign.letter_take('{desk}', ARRAY[{}], false)", many.join(", ")), "54000"),
        (format!("SELECT countersign.letter_take('{desk}', '{{}}', false)"), "54000"),
        (format!("SELECT countersign.letter_take('{desk}', ARRAY[{id}, {id}], false)"), "54000"),
        (format!("SELECT countersign.letter_correct('{desk}', {id}, 0, repeat('x', 16777217))"), "54000"),
        (format!("SELECT countersign.letter_correct('{desk}', {id}, -1, 'x')"), "54000"),
        (format!("SELECT countersign.letter_discard('{desk}', ARRAY[{id}], repeat('x', 501))"), "22023"),
        (
            format!(
                "SELECT countersign.letter_replay('{desk}', ARRAY[{id}], '{{}}', ARRAY['x'], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], false)"
            ),
            "22023",
        ),
        (
            format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT countersign.letter_take('{desk}', ARRAY[{id}], false)"
            ),
            "25000",
        ),
    ] {
        assert_eq!(sqlstate(&mut client, &call).await, code, "{call:.120}");
        sqlx::raw_sql("ROLLBACK").execute(&mut client).await?;
    }
    assert_eq!(
        world.count("SELECT count(*) FROM countersign.dead_letter WHERE events = 1").await?,
        1,
        "nothing happened"
    );
    // Producers keep nothing whose hash or size is another's.
    let forged = "SELECT countersign.dead_letter(ARRAY['x'::bytea], ARRAY[sha256('y')], ARRAY[1::bigint], ARRAY['f'], ARRAY[1::bigint], ARRAY['P'],
        ARRAY['S'], ARRAY[NULL], ARRAY['r'], ARRAY[NULL], ARRAY[NULL])";
    let shorter = forged.replace("ARRAY[sha256('y')], ARRAY[1::bigint]", "ARRAY[sha256('y')], ARRAY[5::bigint]");
    let mut owner = PgConnection::connect_url(&world).await?;
    for sql in [forged, shorter.as_str()] {
        assert_eq!(sqlstate(&mut owner, sql).await, "22023", "{sql}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_of_any_kind_are_kept_as_they_are_and_mean_nothing_to_the_database() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let (_, tom) = world.supervisor("tom").await?;
    let injected = "'); DROP TABLE countersign.dead_letter; --";
    let mut quoted = withdrawn(1, "p");
    quoted["counterparty"] = json!(injected);
    let nul = line(&withdrawn(2, "p")).into_iter().chain(*b"\0").collect::<Vec<u8>>();
    let deep = [vec![b'['; 200_000], b"1".to_vec()].concat();
    let lines =
        [line(&quoted), b"\xff\xfe\x00bytes".to_vec(), nul, deep, br#"{"idempotency_key":"a\u0000b"}"#.to_vec()];
    world.send(&lines).await?;
    let letters = dora.letters().await?;
    assert_eq!(letters.len(), lines.len());
    for letter in &letters {
        let detail = dora.backlog.letter(dora.desk, letter.id).await?.expect("it is there");
        assert!(lines.contains(&detail.original), "to the byte");
        assert!(!dora.rehearse(letter.id).await?.passes());
    }
    let id = dora.letter(&key(1)).await?.id;
    dora.take(id).await?;
    let answer = dora.backlog.correct(dora.desk, id, 0, "a NUL \0 in it").await?;
    assert_eq!(answer.outcome, "REFUSED", "{answer:?}");
    quoted["currency"] = json!("EUR");
    assert_eq!(dora.correct(id, 0, &quoted.to_string()).await?, "KEPT");
    assert_eq!(dora.replay(id).await?.outcome, "ENQUEUED");
    let last = letters.iter().map(|letter| letter.id).find(|other| *other != id).expect("another one");
    assert_eq!(dora.discard(last, injected).await?, "DISCARDING");
    let ran = tom.run(&["dead-letters", "confirm-discard", &last.0.to_string(), "--yes"]).await?;
    assert_eq!(ran.code, 0, "{ran:?}");
    // Whoever guesses numbers finds nothing.
    assert_eq!(dora.backlog.letter(dora.desk, LetterId(i64::MAX)).await?, None);
    // Hashes are recorded, and no content.
    let told =
        "SELECT count(*) FROM countersign.audit_event WHERE partition_key = '' AND detail::text LIKE '%Counterparty%'";
    assert_eq!(world.count(told).await?, 0);
    world.holds().await
}

/// A connection of the owner.
trait ConnectUrl: Sized {
    async fn connect_url(world: &World) -> anyhow::Result<Self>;
}

impl ConnectUrl for PgConnection {
    async fn connect_url(world: &World) -> anyhow::Result<Self> {
        use sqlx::Connection as _;
        Ok(Self::connect(&world.installation.database().admin_url()).await?)
    }
}
