//! What the database says once somebody is let in.

use chrono::{DateTime, Utc};
use countersign_domain::seal::PublicKey;
use countersign_engine::port::{Failure, Problem};
use secrecy::SecretString;
use sqlx::{Connection as _, PgConnection, Row as _};
use uuid::Uuid;

use super::{Bad, Desk, Good, failed, passed, warned};
use crate::connect::{Target, Timing};
use crate::failure::{self, Step, cause};
use crate::{dial, migrate};

/// Clocks that differ by more are told: times that reviewers see and sign are their own computer's.
const CLOCKS_APART_MS: i64 = 5_000;

/// What the database knows of this login and this workstation.
#[derive(Debug)]
pub(super) struct Standing {
    /// The schema's version; `None` where it is unfinished.
    schema: Option<i32>,
    workstation: Workstation,
}

/// What the database knows of a workstation.
#[derive(Debug)]
enum Workstation {
    /// It was not asked, because the schema is another release's.
    NotAsked,
    /// It has no key of it yet.
    New,
    /// It has this key.
    Enrolled { fingerprint: String, confirmed: bool },
    /// It is another login's.
    SomebodyElses,
    /// It cannot be used, for this reason.
    Refused { reason: String, revoked: bool },
}

pub(super) async fn login(target: &Target, password: Option<&SecretString>) -> Result<(Good, PgConnection), Bad> {
    let options = target
        .options(password, &Timing::default())
        .map_err(|reason| failed(reason, "Set TLS to verify-full in the profile."))?;
    let connected = dial::connect(options, &target.certificates()).await;
    let mut connection = connected.map_err(|error| not_let_in(target, &error))?;
    let row = sqlx::query(
        "SELECT session_user::text, current_setting('server_version'), current_setting('transaction_read_only')",
    )
    .fetch_one(&mut connection)
    .await
    .and_then(|row| Ok::<(String, String, String), sqlx::Error>((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)));
    let (user, version, read_only) = row.map_err(|error| not_let_in(target, &error))?;
    if read_only == "on" {
        return Err(failed(
            format!("{user} is let in, but the server takes no writes: it is a replica, or set to read-only"),
            "Enter the address of the primary server.",
        ));
    }
    Ok((passed(format!("{user} is let in, by PostgreSQL {version}")), connection))
}

/// The role, and what else the database says in the same breath.
pub(super) async fn role(
    connection: &mut PgConnection,
    target: &Target,
    desk: Option<&Desk>,
) -> Result<(Good, Standing), Bad> {
    let version = sqlx::query("SELECT countersign.schema_version()").fetch_one(&mut *connection).await;
    let schema: Option<i32> =
        version.and_then(|row| row.try_get(0)).map_err(|error| not_a_reviewer(target, Step::Version, &error))?;
    if schema != Some(migrate::latest()) {
        let member = "SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'countersign_reviewer' AND pg_has_role(session_user, r.oid, 'MEMBER'))";
        let member = sqlx::query(member).fetch_one(connection).await.and_then(|row| row.try_get::<bool, _>(0));
        let member = member.map_err(|error| not_a_reviewer(target, Step::Call, &error))?;
        let standing = Standing { schema, workstation: Workstation::NotAsked };
        return if member {
            Ok((passed("has the role of reviewers"), standing))
        } else {
            Err(failed(format!("{} has not the role of reviewers", target.user), add_reviewer(target)))
        };
    }
    let workstation = hello(connection, target, desk).await?;
    Ok((passed(format!("{} is an active reviewer", target.user)), Standing { schema, workstation }))
}

pub(super) fn schema(standing: &Standing) -> Result<Good, Bad> {
    let latest = migrate::latest();
    match standing.schema {
        Some(found) if found == latest => Ok(passed(format!("version {found}, which this release works with"))),
        Some(found) if found > latest => Err(failed(
            format!("the database is at version {found}, this release knows {latest}"),
            "Update Countersign on this workstation.",
        )),
        Some(found) => Err(failed(
            format!("the database is at version {found}, this release needs {latest}"),
            "Ask an administrator to run `countersign-admin migrate`.",
        )),
        None => Err(failed(
            "Countersign in this database is unfinished",
            "Ask an administrator to run `countersign-admin migrate`.",
        )),
    }
}

pub(super) async fn clock(
    connection: &mut PgConnection,
    clock: &impl Fn() -> DateTime<Utc>,
) -> Result<(Good, ()), Bad> {
    let before = clock();
    let row = sqlx::query("SELECT clock_timestamp()").fetch_one(connection).await;
    let after = clock();
    let there: DateTime<Utc> = row
        .and_then(|row| row.try_get(0))
        .map_err(|error| failed(format!("the database’s clock could not be read: {}", cause(&error)), "Try again."))?;
    Ok((compare((before, after), there), ()))
}

/// Nobody knows when between the two readings the database looked at its clock: in its favour.
fn compare((before, after): (DateTime<Utc>, DateTime<Utc>), there: DateTime<Utc>) -> Good {
    let ahead = (before - there).num_milliseconds().max(0);
    let behind = (there - after).num_milliseconds().max(0);
    let apart_ms = ahead.max(behind);
    let seconds = format!("{}.{} s", apart_ms / 1_000, apart_ms % 1_000 / 100);
    if apart_ms <= CLOCKS_APART_MS {
        return passed(format!("{seconds} apart"));
    }
    let direction = if ahead > 0 { "ahead of" } else { "behind" };
    warned(
        format!("this computer’s clock is {seconds} {direction} the database’s"),
        "Have this computer’s clock set over the network (NTP): the times that you see and sign are its own.",
    )
}

pub(super) fn enrolment(standing: &Standing, desk: Option<&Desk>) -> Result<Good, Bad> {
    let confirm = "Connect and read the fingerprint on the screen out to a supervisor, who runs `countersign-admin workstation confirm`.";
    let refused = |reason: &str, remedy: &str| Err(failed(reason, remedy));
    match &standing.workstation {
        Workstation::New | Workstation::NotAsked => {
            Ok(warned("this workstation is new here: a supervisor has to confirm its key before work begins", confirm))
        }
        Workstation::Enrolled { confirmed: false, .. } => {
            Ok(warned("no supervisor has confirmed the key of this workstation yet", confirm))
        }
        Workstation::Enrolled { fingerprint, .. } => {
            match desk.and_then(|desk| desk.fingerprint.as_ref()).filter(|ours| *ours != fingerprint) {
                None => Ok(passed(format!("a supervisor has confirmed the key of this workstation, {fingerprint}"))),
                Some(ours) => Ok(warned(
                    format!("another key was confirmed ({fingerprint}) than the one that is here ({ours})"),
                    confirm,
                )),
            }
        }
        Workstation::SomebodyElses => refused(
            "the workstation of this profile’s journal is another login’s in this database",
            "Choose the profile that the journal belongs to, or make a new one.",
        ),
        Workstation::Refused { reason, revoked: true } => {
            refused(reason, "Ask a supervisor. What was not sent from here can be exported.")
        }
        Workstation::Refused { reason, revoked: false } => refused(reason, "Tell the administrator of the database."),
    }
}

/// Introduces the workstation as a connection does, and takes it back.
async fn hello(connection: &mut PgConnection, target: &Target, desk: Option<&Desk>) -> Result<Workstation, Bad> {
    let workstation = desk.map_or(Uuid::nil(), |desk| desk.workstation.0);
    let not_asked = |error: sqlx::Error| not_a_reviewer(target, Step::Call, &error);
    let mut transaction = connection.begin().await.map_err(not_asked)?;
    let rows = sqlx::query("SELECT public_key, confirmed FROM countersign.hello($1, 'connection test', '', '{}')")
        .bind(workstation)
        .fetch_all(&mut *transaction)
        .await;
    transaction.rollback().await.map_err(not_asked)?;
    match rows {
        Ok(rows) => match rows.first() {
            None => Ok(Workstation::SomebodyElses),
            Some(row) => known(row).map_err(not_asked),
        },
        Err(error) => match failure::failure_of(Step::Call, &error) {
            Failure::Refused(Problem::Revoked) => Ok(Workstation::Refused { reason: cause(&error), revoked: true }),
            Failure::Structural => Ok(Workstation::Refused { reason: cause(&error), revoked: false }),
            _ => Err(not_asked(error)),
        },
    }
}

fn known(row: &sqlx::postgres::PgRow) -> Result<Workstation, sqlx::Error> {
    let key: Option<Vec<u8>> = row.try_get("public_key")?;
    let Some(key) = key.and_then(|key| key.try_into().ok()) else { return Ok(Workstation::New) };
    Ok(Workstation::Enrolled { fingerprint: PublicKey(key).fingerprint(), confirmed: row.try_get("confirmed")? })
}

fn not_let_in(target: &Target, error: &sqlx::Error) -> Bad {
    let Target { user, database, .. } = target;
    let said = cause(error);
    if failure::is_pooler(error) {
        return failed(
            format!("a connection pooler (such as PgBouncer) answers, through which Countersign cannot work: {said}"),
            "Enter the address of PostgreSQL itself.",
        );
    }
    let remedy = match failure::failure_of(Step::Connect, error) {
        Failure::Refused(Problem::BadPassword) if said.contains("client certificate") => {
            "Name the login’s certificate and its key in the profile."
        }
        Failure::Refused(Problem::BadPassword) => "Check the login and enter the password again.",
        Failure::Refused(Problem::NoDatabase) => "Check the database’s name.",
        Failure::Refused(Problem::Tls) => "Ask the administrator of the database for scram-sha-256 in pg_hba.conf.",
        Failure::Refused(_) => "Ask the administrator of the database whether this login may connect to it.",
        Failure::Offline | Failure::Transient => "Try again; if it stays so, ask the administrator of the database.",
        Failure::Structural => "Tell the administrator of the database.",
    };
    failed(format!("{user} is not let into {database}: {said}"), remedy)
}

fn not_a_reviewer(target: &Target, step: Step, error: &sqlx::Error) -> Bad {
    let Target { user, database, .. } = target;
    let said = cause(error);
    match failure::failure_of(step, error) {
        Failure::Refused(Problem::NoSchema) => failed(
            format!("{database} has no Countersign that {user} may use: {said}"),
            format!(
                "Check the database’s name, or ask an administrator to run `countersign-admin migrate` and `countersign-admin reviewer add {user}`."
            ),
        ),
        Failure::Refused(_) => failed(format!("{user} is no active reviewer: {said}"), add_reviewer(target)),
        Failure::Offline | Failure::Transient | Failure::Structural => failed(
            format!("the role of {user} could not be looked up: {said}"),
            "Try again; if it stays so, tell the administrator of the database.",
        ),
    }
}

fn add_reviewer(target: &Target) -> String {
    format!("Ask a supervisor to run `countersign-admin reviewer add {}`.", target.user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clocks_that_are_apart_beyond_any_doubt_are_told() {
        let at = |ms: i64| DateTime::from_timestamp_millis(1_790_000_000_000 + ms).expect("a time in range");
        for (before, after, there, message, told) in [
            (0, 10, 5, "0.0 s apart", false),
            (0, 10, 5_010, "5.0 s apart", false),
            (0, 10, 5_011, "5.0 s behind", true),
            (0, 10, 73_710, "73.7 s behind", true),
            (0, 10, -73_700, "73.7 s ahead", true),
            // A slow line is no wrong clock.
            (0, 9_000, 4_500, "0.0 s apart", false),
            (0, 9_000, 14_000, "5.0 s apart", false),
        ] {
            let good = compare((at(before), at(after)), at(there));
            assert_eq!(good.remedy.is_some(), told, "{before} {after} {there}");
            assert!(good.message.contains(message), "{}", good.message);
        }
    }
}
