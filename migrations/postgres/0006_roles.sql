-- Who owns what, and which roles there are. Roles belong to the whole cluster and may exist already.
--   countersign_owner       owns the schema and runs its functions; nobody logs in as it.
--   countersign_producer    brings exceptions in.
--   countersign_reviewer    leases and signs.
--   countersign_supervisor  policy, periods, reviewers, workstations, partitions, dead letters.
--   countersign_auditor     reads views, and nothing else.
DO $$
DECLARE
    v_role text;
    v_object record;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['owner', 'producer', 'reviewer', 'supervisor', 'auditor'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'countersign_' || v_role) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', 'countersign_' || v_role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- Made by another installation in the same moment.
            END;
        END IF;
    END LOOP;
    -- Whoever migrates acts as the owner, now and with every later release.
    IF NOT pg_catalog.pg_has_role(current_user, 'countersign_owner', 'MEMBER') THEN
        EXECUTE format('GRANT countersign_owner TO %I', current_user);
    END IF;
    EXECUTE format('GRANT CREATE ON DATABASE %I TO countersign_owner', current_database());
    EXECUTE 'ALTER SCHEMA countersign OWNER TO countersign_owner';
    FOR v_object IN
        SELECT format('ALTER %s countersign.%I OWNER TO countersign_owner', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname) AS statement
        FROM pg_catalog.pg_class c
        WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'S')
          -- The sequence of an identity column goes with its table.
          AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'i')
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO countersign_owner', p.oid::regprocedure)
        FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace
    LOOP
        EXECUTE v_object.statement;
    END LOOP;
    EXECUTE format('REVOKE CREATE ON DATABASE %I FROM countersign_owner', current_database());
END $$;

-- What later releases add starts closed.
ALTER DEFAULT PRIVILEGES FOR ROLE countersign_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
GRANT USAGE ON SCHEMA countersign TO countersign_producer, countersign_reviewer, countersign_supervisor, countersign_auditor;
