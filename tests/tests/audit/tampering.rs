//! Each way of changing what happened, on a copy of the day: the first bad record is named, and what is wrong with it.

use countersign_admin::audit::{Finding, Verify};
use countersign_backlog::{PgBacklog, Target};
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::Backlog as _;
use countersign_testkit::generate::Arrival;
use countersign_testkit::postgres::TestDatabase;
use countersign_tests::calls::{decision, lease};

use super::day::{Day, of};
use super::forging::{invented, rechain, tamper};
use super::verified;

struct Tampering {
    what: &'static str,
    sql: String,
    /// The chain and the number of the record that is named; a number of 0 for any.
    named: Option<(&'static str, i64)>,
    says: &'static str,
}

/// An edit of one record.
const EDIT: &str = "UPDATE countersign.audit_event SET actor = 'somebody' WHERE partition_key = 'a' AND chain_seq = 3;";
/// The record of a sign-off, as SQL finds it.
const A_SIGNED: &str =
    "(SELECT s.sign_off_key FROM countersign.sign_off s WHERE s.partition_key = 'a' ORDER BY s.chain_seq LIMIT 1)";

fn tampering(what: &'static str, sql: String, named: Option<(&'static str, i64)>, says: &'static str) -> Tampering {
    Tampering { what, sql, named, says }
}

fn of_records() -> Vec<Tampering> {
    vec![
        tampering("an edited record", EDIT.to_owned(), Some(("a", 3)), "do not hash"),
        tampering(
            "an edited detail",
            "UPDATE countersign.audit_event SET detail = detail || '{\"epoch\": 9}' WHERE partition_key = 'c' AND chain_seq = (
                 SELECT min(chain_seq) FROM countersign.audit_event WHERE partition_key = 'c' AND event = 'SIGNED')".to_owned(),
            Some(("c", 0)),
            "do not hash",
        ),
        tampering(
            "a record removed from the middle",
            "DELETE FROM countersign.audit_event WHERE partition_key = 'a' AND chain_seq = 2".to_owned(),
            Some(("a", 3)),
            "record 2 is missing before it",
        ),
        tampering(
            "two records cut off",
            "DELETE FROM countersign.audit_event a USING countersign.partition p
             WHERE a.partition_key = 'b' AND p.partition_key = 'b' AND a.chain_seq > p.chain_seq - 2".to_owned(),
            Some(("b", 0)),
            "according to its head",
        ),
        tampering(
            "a chain removed",
            "DELETE FROM countersign.audit_event WHERE partition_key = 'd'".to_owned(),
            Some(("d", 0)),
            "has no record at all",
        ),
        tampering(
            "a suffix written anew without the key",
            EDIT.to_owned() + &rechain("a", 3, false),
            Some(("a", 3)),
            "its seal is not that of the key",
        ),
        tampering(
            "two records swapped",
            "UPDATE countersign.audit_event SET chain_seq = -chain_seq WHERE partition_key = 'a' AND chain_seq IN (2, 3);
             UPDATE countersign.audit_event SET chain_seq = 5 + chain_seq WHERE partition_key = 'a' AND chain_seq IN (-2, -3)".to_owned(),
            Some(("a", 2)),
            "do not hash",
        ),
        tampering(
            "a chain without a head",
            "INSERT INTO countersign.audit_event SELECT 'ghost', 1, at, event, actor, workstation, exception_id, trace_id, source_hash,
                 match_decision, content_hash, outcome, detail, chain_hash, key_id, mac
             FROM countersign.audit_event WHERE partition_key = 'a' AND chain_seq = 1".to_owned(),
            Some(("ghost", 1)),
            "do not hash",
        ),
    ]
}

fn of_sign_offs() -> Vec<Tampering> {
    vec![
        tampering(
            "an edited comment",
            format!("UPDATE countersign.sign_off SET comment = 'other words' WHERE sign_off_key = {A_SIGNED}"),
            Some(("a", 0)),
            "reason, comment, instant or figure is not the one that was signed",
        ),
        tampering(
            "an edited reviewer",
            format!("UPDATE countersign.sign_off SET reviewer = 'somebody' WHERE sign_off_key = {A_SIGNED}"),
            Some(("a", 0)),
            "its reviewer is not that of its sign-off",
        ),
        tampering("an invented sign-off", invented(false), Some(("d", 0)), "there is no such record"),
        tampering(
            "an invented sign-off with all its records",
            invented(true),
            Some(("d", 0)),
            "its signature is not that",
        ),
        tampering(
            "a removed sign-off",
            format!("DELETE FROM countersign.sign_off WHERE sign_off_key = {A_SIGNED}"),
            Some(("a", 0)),
            "the sign-off of this record is not there",
        ),
    ]
}

fn of_effects() -> Vec<Tampering> {
    vec![
        tampering(
            "an edited posting",
            "UPDATE countersign.posting p SET amount = amount + 1 FROM countersign.exception e
             WHERE e.id = p.exception_id AND e.partition_key = 'a' AND e.seq = 1".to_owned(),
            Some(("a", 0)),
            "was posted, and",
        ),
        tampering(
            "a second effect",
            "INSERT INTO countersign.posting SELECT e.id, nextval('countersign.effect_no'), e.ledger_entity, e.currency, e.variance_amount, e.decided_at, '2026-10'
             FROM countersign.exception e WHERE e.partition_key = 'a' AND e.seq = 2".to_owned(),
            Some(("a", 0)),
            "has 2 effects",
        ),
        tampering(
            "the same posting twice",
            "ALTER TABLE countersign.posting DROP CONSTRAINT posting_pkey; INSERT INTO countersign.posting SELECT * FROM countersign.posting LIMIT 1".to_owned(),
            None,
            "several equal ones",
        ),
        tampering(
            "effects in another order",
            "UPDATE countersign.posting p SET effect_no = 1000000 FROM countersign.exception e
             WHERE e.id = p.exception_id AND e.partition_key = 'a' AND e.seq = 1".to_owned(),
            Some(("a", 0)),
            "came before effect 1000000",
        ),
        tampering(
            "an edited content",
            "UPDATE countersign.exception_content c SET body = replace(c.body, 'Counterparty', 'Somebody') FROM countersign.exception e
             WHERE e.id = c.exception_id AND e.partition_key = 'a' AND e.seq = 1".to_owned(),
            Some(("a", 0)),
            "is not the one that it signs",
        ),
        tampering(
            "a first approval removed with its record",
            "DELETE FROM countersign.sign_off WHERE partition_key = 'b' AND outcome = 'AWAITING_SECOND';
             UPDATE countersign.audit_event SET outcome = 'NOT_ELIGIBLE' WHERE partition_key = 'b' AND outcome = 'AWAITING_SECOND';"
                .to_owned() + &rechain("b", 1, true),
            Some(("b", 0)),
            "asks for two",
        ),
        tampering(
            "an edited receipt",
            "UPDATE countersign.receipt SET document = document || '{\"refused\": 0, \"submitted\": 1}' WHERE document ->> 'refused' = '1'".to_owned(),
            None,
            "its seal is not that of the key",
        ),
        tampering(
            "an edited policy",
            "UPDATE countersign.policy_version SET document = document || '{\"four_eyes\": []}' WHERE version = 2".to_owned(),
            None,
            "the policy 2 is not the one that was put in force",
        ),
        tampering(
            "a public key swapped where it is recorded",
            "UPDATE countersign.audit_event SET detail = detail || jsonb_build_object('public_key', repeat('0a', 32))
             WHERE event = 'WORKSTATION_ENROLLED';".to_owned() + &rechain("", 1, true),
            Some(("a", 0)),
            "its signature is not that",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_changes_what_happened_is_found_out_and_the_record_is_named() -> anyhow::Result<()> {
    let day = Day::work().await?;
    day.installation.owner.close().await;
    for Tampering { what, sql, named, says } in of_records().into_iter().chain(of_sign_offs()).chain(of_effects()) {
        let copy = day.copy().await?;
        tamper(&copy, &sql).await?;
        let report = verified(&copy, &Verify::default()).await?;
        let Some(first) = report.first.first() else { panic!("{what} was not found out") };
        assert!(first.what.contains(says), "{what}: {:#?}", report.first);
        if let Some((chain, number)) = named {
            let Finding { chain: found, number: at, .. } = first;
            assert!(
                found.as_deref() == Some(chain) && (number == 0 || *at == Some(number)),
                "{what}: {:#?}",
                report.first
            );
        }
        copy.close().await?;
    }
    Ok(())
}

/// Whoever can write the tables can have a preparer sign, and cannot hide it: the content names the preparer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preparer_who_was_let_sign_is_found_out() -> anyhow::Result<()> {
    let day = Day::work().await?;
    day.installation.owner.close().await;
    let copy = day.copy().await?;
    let hers = backlog(&day, &copy).await?;
    let barred = |names: &str| {
        format!(
            "UPDATE countersign.exception SET barred = '{{{names}}}', prepared_by = '{{x}}' WHERE partition_key = 'e' AND seq = 1"
        )
    };
    tamper(&copy, &barred("postgres")).await?;
    tamper(&copy, "UPDATE countersign.partition SET shut_out = '{}', passed_by = '{}'").await?;
    let leased = lease(&hers, day.her_desk, 50).await?;
    let own = of(&leased, "e").into_iter().find(|item| item.body.contains(&Arrival::new(40, "e").key()));
    let own = decision(&own.expect("it is handed out"), &day.alice, day.her_desk, Decision::Approve);
    let answers = hers.sign_off(day.her_desk, &[own]).await?.answers;
    assert_eq!(answers[0].outcome, Outcome::Committed);
    let report = verified(&copy, &Verify::default()).await?;
    assert!(report.first[0].what.contains("its reviewer is barred from it as alice"), "{:#?}", report.first);
    assert_eq!(report.first[0].chain.as_deref(), Some("e"));
    drop(hers);
    copy.close().await
}

/// Her workstation, in front of the copy: it has the same people and desks.
async fn backlog(day: &Day, copy: &TestDatabase) -> anyhow::Result<PgBacklog> {
    let target = Target { database: copy.name().to_owned(), ..day.installation.target(&day.alice, None).await? };
    Ok(PgBacklog::new(target, Some(day.alice.password.clone())))
}
