//! What the catalogue says of the schema: rules that a later migration must not forget.

use countersign_testkit::installation::Installation;

/// Each question lists what breaks a rule.
const RULES: [(&str, &str); 12] = [
    (
        "a function that runs as its owner has its path fixed",
        "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
           AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']",
    ),
    (
        "a function in a text of its own has its path fixed too, but for two that are called for each row, in a path that is fixed already",
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
         WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosqlbody IS NULL AND p.prokind = 'f' AND p.proname NOT IN ('chain_step', 'spend')
           AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']",
    ),
    (
        "everybody may call schema_version, and nothing else",
        "SELECT p.oid::regprocedure::text FROM pg_proc p CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
         WHERE p.pronamespace = 'countersign'::regnamespace AND a.grantee = 0 AND p.proname <> 'schema_version'",
    ),
    (
        "everything is the owner's",
        "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace AND p.proowner <> 'countersign_owner'::regrole
         UNION ALL SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'countersign'::regnamespace AND c.relowner <> 'countersign_owner'::regrole
         UNION ALL SELECT t.oid::regtype::text FROM pg_type t WHERE t.typnamespace = 'countersign'::regnamespace AND t.typowner <> 'countersign_owner'::regrole
         UNION ALL SELECT n.nspname FROM pg_namespace n WHERE n.nspname = 'countersign' AND n.nspowner <> 'countersign_owner'::regrole",
    ),
    (
        "nobody but the owner has a right on a table or a sequence, nor on a column",
        "SELECT c.oid::regclass || ' ' || a.privilege_type FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
         WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'p', 'S', 'm') AND a.grantee <> c.relowner
         UNION ALL SELECT c.oid::regclass || '.' || t.attname FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid
         WHERE c.relnamespace = 'countersign'::regnamespace AND t.attacl IS NOT NULL",
    ),
    (
        "a view is read, and by no PUBLIC",
        "SELECT c.oid::regclass || ' ' || a.privilege_type FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
         WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind = 'v' AND a.grantee <> c.relowner AND (a.privilege_type <> 'SELECT' OR a.grantee = 0 OR a.is_grantable)",
    ),
    (
        "a view is of its owner's rights, and one that leaves rows out lets no condition look behind it",
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind = 'v'
           AND (coalesce(c.reloptions, '{}')::text LIKE '%security_invoker%'
                OR (pg_get_viewdef(c.oid) ~ 'WHERE' AND NOT coalesce(c.reloptions, '{}')::text LIKE '%security_barrier%'))",
    ),
    (
        "no view shows a secret",
        "SELECT c.oid::regclass || '.' || t.attname FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid
         WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind = 'v' AND t.attname LIKE ANY (ARRAY['%pad%', '%secret%'])",
    ),
    (
        "the roles use the schema, and only its owner makes something in it",
        "SELECT a.grantee::regrole || ' ' || a.privilege_type FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
         WHERE n.nspname = 'countersign' AND a.grantee <> n.nspowner AND (a.grantee = 0 OR a.privilege_type <> 'USAGE' OR a.is_grantable)",
    ),
    (
        "a role is no login, and has no power of its own",
        "SELECT r.rolname FROM pg_roles r WHERE r.rolname IN ('countersign_owner', 'countersign_producer', 'countersign_reviewer', 'countersign_supervisor', 'countersign_auditor')
           AND (r.rolcanlogin OR r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication)",
    ),
    (
        "no role has another one, and who has one of the others has not the owner's",
        "SELECT m.roleid::regrole || ' has ' || m.member::regrole FROM pg_auth_members m
         WHERE m.member IN (SELECT r.oid FROM pg_roles r WHERE r.rolname IN ('countersign_owner', 'countersign_producer', 'countersign_reviewer', 'countersign_supervisor', 'countersign_auditor'))
            OR (m.roleid = 'countersign_owner'::regrole AND EXISTS (SELECT 1 FROM pg_auth_members o WHERE o.member = m.member AND o.roleid IN
                (SELECT r.oid FROM pg_roles r WHERE r.rolname IN ('countersign_producer', 'countersign_reviewer', 'countersign_supervisor', 'countersign_auditor'))))",
    ),
    (
        "what happened is guarded",
        "SELECT t.name FROM unnest(ARRAY['audit_event', 'sign_off', 'posting', 'routing', 'exception_content', 'receipt', 'policy_version', 'picture', 'dead_letter_event', 'dead_letter_revision']) AS t (name)
         WHERE NOT EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = ('countersign.' || t.name)::regclass AND g.tgenabled <> 'D'
                             AND g.tgfoid = 'countersign.append_only()'::regprocedure)",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_catalogue_keeps_the_rules() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    for (rule, sql) in RULES {
        let broken: Vec<String> = sqlx::query_scalar(sql).fetch_all(&installation.owner).await?;
        assert_eq!(broken, Vec::<String>::new(), "{rule}");
    }
    Ok(())
}

/// A later migration's functions and tables start closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_later_release_adds_starts_closed() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let mut transaction = installation.owner.begin().await?;
    sqlx::raw_sql(
        "SET LOCAL ROLE countersign_owner; CREATE FUNCTION countersign.later() RETURNS integer LANGUAGE sql AS 'SELECT 1';
         CREATE TABLE countersign.later (id integer)",
    )
    .execute(&mut *transaction)
    .await?;
    let open: Vec<String> = sqlx::query_scalar(
        "SELECT r.rolname::text FROM pg_roles r WHERE r.rolname IN ('countersign_producer', 'countersign_reviewer', 'countersign_supervisor', 'countersign_auditor')
           AND (has_function_privilege(r.oid, 'countersign.later()', 'EXECUTE') OR has_table_privilege(r.oid, 'countersign.later', 'SELECT, INSERT'))",
    )
    .fetch_all(&mut *transaction)
    .await?;
    assert_eq!(open, Vec::<String>::new());
    Ok(())
}
