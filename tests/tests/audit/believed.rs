//! What the tables say is believed only as far as the records say the same.

use countersign_admin::audit::Verify;

use super::day::Day;
use super::forging::{rechain, tamper};
use super::verified;

/// What is changed, how, and what is said of it.
type Change = (&'static str, String, &'static str);

/// The first exception of a partition on which nothing was decided.
fn pending(set: &str) -> String {
    format!("UPDATE countersign.exception SET {set} WHERE partition_key = 'd' AND seq = 1")
}

/// Moves what was set last into the past, as whoever knows the key of the seal can.
fn backdated(event: &str, detail: &str) -> String {
    format!(
        "UPDATE countersign.audit_event SET at = at - interval '2 hours' WHERE event = 'REVIEWER_SET';
         SELECT countersign.audit_installation('{event}', NULL, NULL, NULL, {detail});
         UPDATE countersign.audit_event SET at = at - interval '1 hour' WHERE partition_key = ''
             AND chain_seq = (SELECT i.chain_seq FROM countersign.installation i);"
    ) + &rechain("", 1, true)
}

fn of_sealing() -> Vec<Change> {
    vec![
        (
            "a sign-off made to look as if it were from before sealing",
            "UPDATE countersign.audit_key SET made_at = 'infinity';
             UPDATE countersign.sign_off SET signature = NULL, partition_key = NULL, chain_seq = NULL WHERE partition_key = 'c'"
                .to_owned(),
            "sign-offs have no signature, and there were 0",
        ),
        (
            "the beginning of sealing made to look like something else",
            "UPDATE countersign.audit_event SET event = 'SETTINGS_CHANGED' WHERE event = 'SEALING_BEGAN';".to_owned()
                + &rechain("", 1, true),
            "0 records say when sealing began",
        ),
        (
            "sealing that begins again",
            "SELECT countersign.audit_installation('SEALING_BEGAN', NULL, NULL, NULL, '{\"sign_offs\": 1, \"keys_sha256\": \"\"}')".to_owned(),
            "2 records say when sealing began",
        ),
    ]
}

fn of_exceptions() -> Vec<Change> {
    let mut changes: Vec<Change> = vec![
        ("an amount", pending("variance_amount = 1"), "its amount is not that of what arrived"),
        ("an entity", pending("ledger_entity = 'XX99'"), "its ledger entity is not"),
        ("a currency", pending("currency = 'EUR'"), "its currency is not"),
        ("a day", pending("business_date = '2026-12-01'"), "its business date is not"),
        ("a source hash", pending("source_hash = 'x'"), "its source hash is not"),
        ("a trace", pending("trace_id = gen_random_uuid()"), "its trace is not"),
        ("a match decision", pending("match_decision = 'MATCHED'"), "its match decision is not"),
        ("a kind", pending("kind = 'receipt'"), "its kind is not"),
        ("a tier", pending("routing_tier = 'escalated'"), "its tier is not"),
        ("a group", pending("group_key = 'g'"), "its group is not"),
        ("a key", pending("idempotency_key = 'k'"), "its key is not"),
        ("a reversal", pending("reverses = (SELECT min(o.id) FROM countersign.exception o)"), "its reversed exception"),
        ("its preparers", pending("prepared_by = '{x}'"), "its list of preparers is not"),
        ("who is barred", pending("barred = '{postgres}'"), "its list of who is barred is not"),
        ("who sent it", pending("barred = barred[2:] || ARRAY['x']"), "barred"),
        ("a NULL", pending("prepared_by = ARRAY[NULL]"), "cannot be read"),
        ("a first approval", pending("first_by = 'x'"), "it was approved first by nobody, and its row says x"),
        ("a version", pending("version = 2"), "its last version is 1"),
    ];
    changes.extend([
        (
            "the order of two",
            "ALTER TABLE countersign.exception DROP CONSTRAINT exception_partition_key_seq_key;
             UPDATE countersign.exception SET seq = 3 - seq WHERE partition_key = 'd' AND seq < 3"
                .to_owned(),
            "its row says another place",
        ),
        (
            "the content of an earlier version",
            "UPDATE countersign.exception_content SET body = replace(body, 'Counterparty', 'Somebody')
             WHERE version = 1 AND exception_id IN (SELECT exception_id FROM countersign.exception_content WHERE version = 2)"
                .to_owned(),
            "the content of version 1 is not the one that arrived",
        ),
        (
            "an exception put in",
            "CREATE TEMP TABLE more AS SELECT * FROM countersign.exception WHERE partition_key = 'd' AND seq = 1;
             UPDATE more SET id = 900000, seq = 4, idempotency_key = 'more';
             ALTER TABLE more DROP COLUMN id; INSERT INTO countersign.exception (partition_key, seq, idempotency_key, kind, match_decision,
                 routing_tier, ledger_entity, currency, variance_amount, prepared_by, trace_id, correlation_id, source_hash, submitted_at,
                 arrived_at, content_hash, business_date, barred)
             SELECT partition_key, seq, idempotency_key, kind, match_decision, routing_tier, ledger_entity, currency, variance_amount,
                 prepared_by, trace_id, correlation_id, source_hash, submitted_at, arrived_at, content_hash, business_date, barred FROM more"
                .to_owned(),
            "there is no record of its arrival",
        ),
    ]);
    changes
}

fn of_decisions() -> Vec<Change> {
    let posting = |set: &str| {
        format!(
            "UPDATE countersign.posting SET {set} WHERE exception_id = (SELECT e.id FROM countersign.exception e WHERE e.partition_key = 'c' AND e.seq = 1)"
        )
    };
    vec![
        (
            "when it was signed",
            "UPDATE countersign.sign_off SET signed_at = signed_at + interval '1 microsecond' WHERE partition_key = 'c'".to_owned(),
            "its instant is not that of its sign-off",
        ),
        (
            "an instant that no calendar has",
            "UPDATE countersign.sign_off SET decided_at = 'infinity' WHERE partition_key = 'c'".to_owned(),
            "its instant of the decision is not that of its sign-off",
        ),
        (
            "its period, wherever it stands",
            "UPDATE countersign.sign_off SET period = '2026-12' WHERE partition_key = 'c';
             UPDATE countersign.posting SET period = '2026-12'"
                .to_owned(),
            "its period is 2026-12",
        ),
        (
            "a period that was closed",
            "UPDATE countersign.audit_event SET at = at - interval '2 hours' WHERE partition_key = '' AND event = 'PERIOD_ADDED';
             UPDATE countersign.audit_event SET at = at - interval '1 hour' WHERE event = 'PERIOD_MOVED' AND detail ->> 'name' = '2026-10';"
                .to_owned()
                + &rechain("", 1, true),
            "it was signed while the period 2026-10 was closed",
        ),
        ("when it was posted", posting("posted_at = posted_at + interval '1 second'"), "its effect is of another instant"),
        ("the number of an effect", posting("effect_no = (SELECT min(r.effect_no) FROM countersign.routing r)"), "has the number of another"),
    ]
}

fn of_tables(day: &Day) -> Vec<Change> {
    let alice = &day.alice.user;
    vec![
        ("a period", "UPDATE countersign.period SET state = 'open'".to_owned(), "the period 2026-09 of * is open"),
        (
            "a period's days",
            "UPDATE countersign.period SET last_day = last_day + 1".to_owned(),
            "the period 2026-10 of * is",
        ),
        (
            "a reviewer's rights",
            "UPDATE countersign.reviewer SET tiers = '{standard}'".to_owned(),
            "and was set to active",
        ),
        ("a reviewer's names", "UPDATE countersign.reviewer SET also = '{x}'".to_owned(), "and was set to active"),
        ("a disabled reviewer", "UPDATE countersign.reviewer SET active = false".to_owned(), "is disabled, named"),
        (
            "a reviewer put in",
            "INSERT INTO countersign.reviewer (login, display_name, added_by) VALUES ('x', 'x', 'x')".to_owned(),
            "no record says how the reviewer x came to be",
        ),
        (
            "a limit put in",
            format!("INSERT INTO countersign.reviewer_limit VALUES ('{alice}', 'USD', 1, 1)"),
            "no record says how the limit of",
        ),
        (
            "a policy's words",
            "UPDATE countersign.policy_version SET comment = 'x' WHERE version = 2".to_owned(),
            "the policy 2 is not",
        ),
        (
            "a revocation taken back",
            "UPDATE countersign.workstation SET revoked_at = NULL".to_owned(),
            "is not revoked, and was set to revoked: lost",
        ),
        (
            "a key of a workstation",
            "UPDATE countersign.workstation_key SET public_key = decode(repeat('0a', 32), 'hex')".to_owned(),
            "the key of the workstation",
        ),
        ("a dead letter", "UPDATE countersign.dead_letter SET reason = 'x'".to_owned(), "the dead letter 1 is not"),
        (
            "a dead letter's bytes",
            "UPDATE countersign.dead_letter SET original = 'y'".to_owned(),
            "the dead letter 1 is not",
        ),
        ("a dead letter removed", "DELETE FROM countersign.dead_letter".to_owned(), "the dead letter 1 is not"),
        (
            "a receipt of refusals removed",
            "DELETE FROM countersign.receipt WHERE document ->> 'committed' = '0' AND document ->> 'duplicate' = '0'"
                .to_owned(),
            "is not as its records say",
        ),
        (
            "a reviewer who was disabled",
            backdated("REVIEWER_DISABLED", &format!("jsonb_build_object('login', '{alice}')")),
            "its reviewer was no active reviewer then",
        ),
        (
            "a limit that was set",
            backdated(
                "LIMIT_SET",
                &format!(
                    "jsonb_build_object('login', '{alice}', 'currency', '*', 'largest', '0.01', 'per_period', NULL)"
                ),
            ),
            "its reviewer might sign no more than 0.01",
        ),
        (
            "rights that were set",
            backdated(
                "REVIEWER_SET",
                &format!("jsonb_build_object('login', '{alice}', 'ledger_entities', ARRAY['XX99'])"),
            ),
            "its reviewer might not sign exceptions like it",
        ),
        (
            "two logins of one person",
            backdated(
                "REVIEWER_SET",
                &format!("jsonb_build_object('login', '{}', 'also', ARRAY['{alice} '])", day.bob.user),
            ),
            "both approvals of it are of one person",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_table_says_against_the_records_is_found_out() -> anyhow::Result<()> {
    let day = Day::work().await?;
    day.installation.owner.close().await;
    let changes = of_sealing().into_iter().chain(of_exceptions()).chain(of_decisions()).chain(of_tables(&day));
    let mut missed = Vec::new();
    for (what, sql, says) in changes {
        let copy = day.copy().await?;
        tamper(&copy, &sql).await.map_err(|error| error.context(what))?;
        let report = verified(&copy, &Verify::default()).await?;
        if !report.first.iter().any(|one| one.what.contains(says)) {
            missed.push(format!("{what}: {says}: {:?}", report.first.iter().map(|one| &one.what).collect::<Vec<_>>()));
        }
        copy.close().await?;
    }
    assert!(missed.is_empty(), "{missed:#?}");
    Ok(())
}

/// Whoever signed just before is judged by what held then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_afterwards_leaves_the_day_as_it_was() -> anyhow::Result<()> {
    let day = Day::work().await?;
    let owner = &day.installation.owner;
    let (alice, bob) = (&day.alice.user, &day.bob.user);
    for sql in [
        format!("SELECT countersign.reviewer_set('{bob}', NULL, ARRAY['{alice}'], ARRAY['receipt'], NULL, NULL)"),
        format!("SELECT countersign.reviewer_limit_set('{alice}', 'USD', 0.01, 0.01)"),
        format!("SELECT countersign.reviewer_limit_set('{bob}', '*', 1, NULL)"),
        format!("SELECT countersign.reviewer_limit_set('{bob}', '*', NULL, NULL)"),
        format!("SELECT countersign.reviewer_disable('{alice}')"),
        "SELECT countersign.policy_set(p.document || '{\"four_eyes\": [{\"currency\": \"*\", \"at_or_above\": \"0\"}]}', 'two for all')
         FROM countersign.policy_version p ORDER BY p.version DESC LIMIT 1".to_owned(),
        "SELECT countersign.period_add('US01', 'P10', '2026-11-01', '2026-11-30')".to_owned(),
        "SELECT countersign.period_move('*', '2026-10', 'closed', 'all is done')".to_owned(),
    ] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(owner).await?;
    }
    let report = verified(day.database(), &Verify::default()).await?;
    assert!(report.holds(), "{:#?}", report.first);
    Ok(())
}
