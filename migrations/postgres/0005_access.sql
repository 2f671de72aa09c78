-- Who may call what. Roles belong to the whole cluster and may exist already.
DO $$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['countersign_reviewer', 'countersign_producer'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = v_role) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- Made by another installation in the same moment.
            END;
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM PUBLIC;
GRANT USAGE ON SCHEMA countersign TO countersign_reviewer, countersign_producer;
GRANT EXECUTE ON FUNCTION countersign.hello, countersign.lease, countersign.renew, countersign.release, countersign.sign_off TO countersign_reviewer;
GRANT EXECUTE ON FUNCTION countersign.enqueue, countersign.dead_letter TO countersign_producer;
