//! What each role may do with a plain client: call its functions, read its views, and nothing else.

use std::collections::BTreeSet;

use countersign_testkit::installation::Installation;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::{REFUSED, sqlstate};

/// A view that cannot be written says so before anybody asks for rights.
const NOT_WRITABLE: &str = "55000";

struct Role {
    name: &'static str,
    functions: &'static [&'static str],
    views: &'static [&'static str],
}

/// What a supervisor looks at, and an auditor too.
const SUPERVISED: [&str; 23] = [
    "claim_lines",
    "claim_loads",
    "dead_letter_events",
    "dead_letter_revisions",
    "dead_letters",
    "disputes",
    "exception_contents",
    "exceptions",
    "installations",
    "partitions",
    "periods",
    "pictures",
    "policies",
    "postings",
    "releases",
    "reviewer_limits",
    "reviewer_usages",
    "reviewers",
    "routings",
    "sign_offs",
    "vendors",
    "workstation_keys",
    "workstations",
];
const AUDITED: [&str; 28] = [
    "audit_events",
    "audit_keys",
    "chain_heads",
    "claim_lines",
    "claim_loads",
    "dead_letter_events",
    "dead_letter_revisions",
    "dead_letters",
    "disputes",
    "exception_contents",
    "exceptions",
    "installations",
    "partitions",
    "periods",
    "pictures",
    "policies",
    "postings",
    "receipts",
    "releases",
    "reviewer_limits",
    "reviewer_usages",
    "reviewers",
    "routings",
    "setting_versions",
    "sign_offs",
    "vendors",
    "workstation_keys",
    "workstations",
];

const ROLES: [Role; 5] = [
    Role { name: "none", functions: &[], views: &[] },
    Role {
        name: "producer",
        functions: &[
            "claim_lines_add",
            "claim_lines_seal",
            "claim_lines_there",
            "dead_letter",
            "dead_letter",
            "enqueue",
            "picture_add",
            "schema_version",
        ],
        views: &[],
    },
    Role { name: "reviewer", functions: &crate::DOORS, views: &[] },
    Role {
        name: "supervisor",
        functions: &[
            "capture_days",
            "enqueue",
            "letter",
            "letter_bodies",
            "letter_causes",
            "letter_correct",
            "letter_discard",
            "letter_discard_confirm",
            "letter_replay",
            "letter_take",
            "letters",
            "partition_assign",
            "period_add",
            "period_deadline",
            "period_move",
            "picture_add",
            "policy_set",
            "recount",
            "reviewer_disable",
            "reviewer_limit_set",
            "reviewer_remediates",
            "reviewer_set",
            "schema_version",
            "vendor_disable",
            "vendor_set",
            "workstation_confirm",
            "workstation_revoke",
        ],
        views: &SUPERVISED,
    },
    Role {
        name: "auditor",
        functions: &["audit_record", "capture_days", "mac_holds", "receipt_seal", "schema_version"],
        views: &AUDITED,
    },
];

/// A plain client with one role and no other.
async fn client(installation: &Installation, role: &Role) -> anyhow::Result<PgConnection> {
    let (user, password) = installation.database().login(role.name).await?;
    if role.name != "none" {
        let grant = format!("GRANT countersign_{} TO \"{user}\"", role.name);
        sqlx::raw_sql(AssertSqlSafe(grant)).execute(&installation.owner).await?;
    }
    Ok(PgConnection::connect(&installation.database().url_for(&user, &password)).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_has_a_right_on_a_table_or_sequence_and_each_reads_their_views_alone() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let relations: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT c.relname, c.relkind::text, coalesce((SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
                 AND a.attidentity = '' AND a.attgenerated = '' ORDER BY a.attnum DESC LIMIT 1), '')
         FROM pg_class c WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S') ORDER BY 1",
    )
    .fetch_all(&installation.owner)
    .await?;
    assert!(relations.len() > 40, "the whole schema: {relations:?}");
    for role in &ROLES {
        let mut client = client(&installation, role).await?;
        let mut readable = BTreeSet::new();
        for (name, kind, column) in &relations {
            let view = kind == "v";
            if sqlstate(&mut client, &format!("SELECT 1 FROM countersign.{name}")).await != REFUSED {
                readable.insert(name.as_str());
            }
            for statement in if kind == "S" { on_a_sequence(name) } else { on_a_relation(name, column, view) } {
                let code = sqlstate(&mut client, &statement).await;
                assert!(code == REFUSED || (view && code == NOT_WRITABLE), "{}: {statement}: {code}", role.name);
            }
        }
        assert_eq!(readable, role.views.iter().copied().collect(), "{}", role.name);
    }
    Ok(())
}

fn on_a_sequence(name: &str) -> Vec<String> {
    vec![
        format!("SELECT nextval('countersign.{name}')"),
        format!("SELECT setval('countersign.{name}', 1)"),
        format!("SELECT last_value FROM countersign.{name}"),
        format!("DROP SEQUENCE countersign.{name}"),
        format!("ALTER SEQUENCE countersign.{name} RESTART"),
    ]
}

fn on_a_relation(name: &str, column: &str, view: bool) -> Vec<String> {
    let mut statements = vec![
        format!("SELECT {column} FROM countersign.{name} FOR UPDATE"),
        format!("SELECT {column} FROM countersign.{name} FOR KEY SHARE"),
        format!("INSERT INTO countersign.{name} DEFAULT VALUES"),
        format!("UPDATE countersign.{name} SET {column} = {column}"),
        format!("UPDATE countersign.{name} SET {column} = {column} WHERE false"),
        format!("DELETE FROM countersign.{name}"),
        format!("COPY countersign.{name} FROM PROGRAM 'true'"),
        format!("COPY countersign.{name} TO '/tmp/countersign'"),
        format!("COMMENT ON COLUMN countersign.{name}.{column} IS 'mine'"),
        format!("CREATE RULE mine AS ON INSERT TO countersign.{name} DO INSTEAD NOTHING"),
    ];
    if view {
        statements.push(format!("DROP VIEW countersign.{name}"));
        statements.push(format!("ALTER VIEW countersign.{name} SET (security_barrier = false)"));
        return statements;
    }
    statements.extend([
        format!("TRUNCATE countersign.{name}"),
        format!("GRANT SELECT ON countersign.{name} TO PUBLIC"),
        format!("COPY countersign.{name} TO STDOUT"),
        format!("COPY countersign.{name} FROM STDIN"),
        format!("DO $$ BEGIN LOCK TABLE countersign.{name} IN ACCESS SHARE MODE; END $$"),
        format!("DROP TABLE countersign.{name}"),
        format!("ALTER TABLE countersign.{name} DISABLE TRIGGER ALL"),
        format!("CREATE INDEX ON countersign.{name} ({column})"),
        format!("CREATE TRIGGER mine BEFORE INSERT ON countersign.{name} EXECUTE FUNCTION suppress_redundant_updates_trigger()"),
        format!("DO $$ BEGIN PERFORM 1 FROM countersign.{name}; END $$"),
        format!("MERGE INTO countersign.{name} t USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE"),
    ]);
    statements
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_role_may_call_its_functions_and_no_other() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    for role in &ROLES {
        let mut client = client(&installation, role).await?;
        let me: String = sqlx::query_scalar("SELECT session_user::text").fetch_one(&mut client).await?;
        let functions: Vec<(String, String, bool)> = sqlx::query_as(
            "SELECT p.proname, 'SELECT countersign.' || p.proname || '(' || coalesce((
                        SELECT string_agg('NULL::' || format_type(t, NULL), ', ' ORDER BY n) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, n)), '')
                    || ')', has_function_privilege($1, p.oid, 'EXECUTE') AND has_schema_privilege($1, 'countersign', 'USAGE')
             FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace ORDER BY 1",
        )
        .bind(&me)
        .fetch_all(&installation.owner)
        .await?;
        let open: Vec<&str> = functions.iter().filter(|(.., may)| *may).map(|(name, ..)| name.as_str()).collect();
        assert_eq!(open, role.functions, "{}", role.name);
        for name in ["audit_installation", "free_partitions", "hand_out", "make_audit_key", "move_partitions"] {
            assert!(
                functions.iter().any(|(known, ..)| known == name),
                "{name} is gone: this test has to be brought along"
            );
        }
        for (name, call, _) in functions.iter().filter(|(.., may)| !may) {
            assert_eq!(sqlstate(&mut client, call).await, REFUSED, "{}: {name}: {call}", role.name);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_becomes_somebody_else_or_leaves_something_behind() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let names = ["owner", "producer", "reviewer", "supervisor", "auditor"];
    for role in &ROLES {
        let mut client = client(&installation, role).await?;
        let me: String = sqlx::query_scalar("SELECT session_user::text").fetch_one(&mut client).await?;
        let mut statements: Vec<String> = names
            .iter()
            .filter(|name| **name != role.name)
            .flat_map(|name| {
                [
                    format!("SET ROLE countersign_{name}"),
                    format!("SET SESSION AUTHORIZATION countersign_{name}"),
                    format!("GRANT countersign_{name} TO \"{me}\""),
                    format!("REVOKE countersign_{name} FROM postgres"),
                    format!("DROP ROLE countersign_{name}"),
                    format!("ALTER ROLE countersign_{name} LOGIN"),
                ]
            })
            .collect();
        statements.extend(FORBIDDEN.iter().map(|text| (*text).to_owned()));
        statements.push(format!("ALTER ROLE \"{me}\" CREATEROLE"));
        statements.push(format!("ALTER DATABASE \"{}\" SET search_path = public", installation.database().name()));
        for statement in statements {
            assert_eq!(sqlstate(&mut client, &statement).await, REFUSED, "{}: {statement}", role.name);
        }
    }
    Ok(())
}

const FORBIDDEN: [&str; 33] = [
    "SET SESSION AUTHORIZATION postgres",
    "SET ROLE postgres",
    "SET session_replication_role = replica",
    "SET log_statement = 'none'",
    "ALTER SYSTEM SET log_statement = 'none'",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "CREATE SCHEMA mine",
    "CREATE EXTENSION file_fdw",
    "CREATE FUNCTION public.mine() RETURNS integer LANGUAGE internal AS 'pg_backend_pid'",
    "CREATE TABLE countersign.mine (id integer)",
    "CREATE TABLE public.reviewer (login text)",
    "CREATE VIEW public.mine AS SELECT 1",
    "CREATE SEQUENCE countersign.mine",
    "CREATE TYPE countersign.mine AS (a integer)",
    "CREATE DOMAIN countersign.mine AS text",
    "CREATE FUNCTION countersign.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION public.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT $1'",
    "CREATE OR REPLACE FUNCTION countersign.caller(uuid) RETURNS text LANGUAGE sql AS 'SELECT session_user::text'",
    "CREATE OPERATOR public.= (LEFTARG = uuid, RIGHTARG = text, FUNCTION = starts_with)",
    "CREATE CAST (text AS uuid) WITH INOUT",
    "ALTER SCHEMA countersign RENAME TO mine",
    "DROP SCHEMA countersign CASCADE",
    "ALTER FUNCTION countersign.caller(uuid) RESET search_path",
    "DROP FUNCTION countersign.caller(uuid)",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA countersign TO PUBLIC",
    "ALTER DEFAULT PRIVILEGES FOR ROLE countersign_owner GRANT SELECT ON TABLES TO PUBLIC",
    "SELECT pg_read_file('/etc/hostname')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT rolpassword FROM pg_authid",
    "SELECT pg_reload_conf()",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO '/tmp/countersign'",
];
