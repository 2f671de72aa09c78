//! Workstations whose keys follow from their names, so that a run replays; and what they may do.

use countersign_domain::hash;
use countersign_domain::id::WorkstationId;
use countersign_domain::policy::Policy;
use countersign_domain::seal::{Enrolment, Keys, Statement};
use countersign_domain::sign_off::SignOff;
use countersign_domain::standing::Standing;
use countersign_engine::port::EnrolmentState;
use secrecy::SecretBox;
use sqlx::{PgExecutor, Row as _};

use chrono::{DateTime, Utc};

fn secret_of(workstation: WorkstationId) -> [u8; 32] {
    hash::sha256(format!("secret of {}", workstation.0).as_bytes()).0
}

/// The keys of a workstation that is enrolled once.
pub fn keys_of(workstation: WorkstationId) -> Keys {
    let seed = hash::sha256(format!("seed of {}", workstation.0).as_bytes()).0;
    let secret = SecretBox::new(Box::new(secret_of(workstation)));
    Keys::new(&seed, Some(Enrolment { number: 1, secret }))
}

/// How the enrolment of such a workstation stands.
pub fn enrolled(workstation: WorkstationId) -> EnrolmentState {
    EnrolmentState { number: 1, public_key: keys_of(workstation).public(), confirmed: true }
}

/// Signs and seals a decision as its workstation would.
#[must_use]
pub fn sealed(sign_off: SignOff, idempotency_key: &str, reviewer: &str, workstation: WorkstationId) -> SignOff {
    let seal = keys_of(workstation).seal(&Statement {
        idempotency_key,
        content: sign_off.content,
        decision: sign_off.decision,
        reason: sign_off.reason.as_deref(),
        comment: sign_off.comment.as_deref(),
        reviewer,
        workstation,
        policy_version: sign_off.policy_version,
        decided_at: sign_off.decided_at,
        figure: sign_off.figure,
    });
    SignOff { seal, ..sign_off }
}

/// A reviewer who may sign everything under the policy that an installation begins with.
pub fn standing_of(reviewer: &str, at: DateTime<Utc>) -> Standing {
    Standing {
        at,
        policy_version: 1,
        policy: Policy::default(),
        names: vec![reviewer.to_lowercase()],
        kinds: None,
        tiers: None,
        ledger_entities: None,
        limits: Vec::new(),
        used: Vec::new(),
        periods: Vec::new(),
        remediates: false,
    }
}

/// Confirms every workstation that asks for it, as a supervisor who compared its fingerprint.
pub async fn confirm_all(owner: impl PgExecutor<'_>) -> anyhow::Result<u64> {
    let sql = "SELECT countersign.workstation_confirm(k.workstation, left(encode(sha256(k.public_key), 'hex'), 16))
               FROM countersign.workstation_key k WHERE k.confirmed_at IS NULL";
    Ok(u64::try_from(sqlx::query(sql).fetch_all(owner).await?.len())?)
}

/// Makes a workstation known and its keys confirmed, as the owner can. A second time changes nothing.
pub async fn enrol(owner: impl PgExecutor<'_>, reviewer: &str, workstation: WorkstationId) -> anyhow::Result<()> {
    let row = sqlx::query(
        "WITH desk AS (
             INSERT INTO countersign.workstation (id, reviewer, name, app_version, first_seen, last_seen)
             VALUES ($1, $2, 'test', '0', clock_timestamp(), clock_timestamp()) ON CONFLICT DO NOTHING
         ), key AS (
             INSERT INTO countersign.workstation_key (workstation, enrolment, public_key, inner_pad, outer_pad, requested_at, confirmed_at, confirmed_by)
             SELECT $1, 1, $3, countersign.hmac_pad($4, 54), countersign.hmac_pad($4, 92), clock_timestamp(), clock_timestamp(), session_user
             ON CONFLICT DO NOTHING RETURNING 1
         )
         SELECT count(countersign.audit_installation('WORKSTATION_ENROLLED', $1, NULL, NULL,
                    jsonb_build_object('enrolment', 1, 'public_key', encode($3, 'hex'), 'reviewer', $2::text))) FROM key",
    )
    .bind(workstation.0)
    .bind(reviewer)
    .bind(keys_of(workstation).public().0.to_vec())
    .bind(secret_of(workstation).to_vec())
    .fetch_one(owner)
    .await?;
    let _recorded: i64 = row.try_get(0)?;
    Ok(())
}
