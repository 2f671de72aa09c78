-- The audit chain gets a seal that nobody can make who cannot read its key.

SET LOCAL ROLE countersign_owner;

-- Every rule is judged by what holds when its locks are held. A caller whose transaction looks at an older snapshot would be judged
-- by what held when they began, which is theirs to choose.
CREATE FUNCTION countersign.read_committed() RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the transaction is %, and has to be read committed', current_setting('transaction_isolation')
            USING ERRCODE = 'invalid_transaction_state', HINT = 'Set default_transaction_isolation to read committed.';
    END IF;
END $$;

-- HMAC-SHA256 (RFC 2104). A key is kept as its two padded blocks of 64 bytes, so that a seal is two hashes and nothing else.
CREATE FUNCTION countersign.hmac(inner_pad bytea, outer_pad bytea, message bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(outer_pad || sha256(inner_pad || message));

-- A key of at most 64 bytes, filled up with zeros, each byte XOR `mask`: 0x36 for the inner block, 0x5c for the outer one.
CREATE FUNCTION countersign.hmac_pad(key bytea, mask integer) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_pad bytea := key || decode(repeat('00', 64 - length(key)), 'hex');
BEGIN
    FOR n IN 0 .. 63 LOOP
        v_pad := set_byte(v_pad, n, get_byte(v_pad, n) # mask);
    END LOOP;
    RETURN v_pad;
END $$;

-- 32 bytes that nobody can guess: a version 4 UUID holds 122 random bits of the server's strong source.
CREATE FUNCTION countersign.random_key() RETURNS bytea LANGUAGE sql VOLATILE
RETURN sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- The keys of the audit seal; the one that is not retired seals. Only the owner's functions read them.
CREATE TABLE countersign.audit_key (
    id          integer     PRIMARY KEY,
    inner_pad   bytea       NOT NULL CHECK (length(inner_pad) = 64),
    outer_pad   bytea       NOT NULL CHECK (length(outer_pad) = 64),
    made_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    made_by     text        NOT NULL DEFAULT session_user,
    retired_at  timestamptz
);
CREATE UNIQUE INDEX audit_key_in_use ON countersign.audit_key ((true)) WHERE retired_at IS NULL;

CREATE FUNCTION countersign.make_audit_key() RETURNS integer LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_key bytea := countersign.random_key();
    v_id integer;
BEGIN
    INSERT INTO countersign.audit_key (id, inner_pad, outer_pad)
    SELECT coalesce(max(k.id), 0) + 1, countersign.hmac_pad(v_key, 54), countersign.hmac_pad(v_key, 92) FROM countersign.audit_key k
    RETURNING id INTO v_id;
    RETURN v_id;
END $$;
SELECT countersign.make_audit_key();

-- (Functions that are called in each call and look something up are in PL/pgSQL, which keeps their plans.)
CREATE FUNCTION countersign.sealing_key() RETURNS countersign.audit_key LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_key countersign.audit_key;
BEGIN
    SELECT * INTO STRICT v_key FROM countersign.audit_key k WHERE k.retired_at IS NULL;
    RETURN v_key;
END $$;

-- `mac` is HMAC-SHA256 over `chain_hash`, which covers the record and everything before it in its chain.
ALTER TABLE countersign.audit_event ADD key_id integer, ADD mac bytea;
ALTER TABLE countersign.audit_event DISABLE TRIGGER append_only;
-- What an earlier release recorded is sealed now; from here on each record is sealed when it is made.
UPDATE countersign.audit_event SET key_id = k.id, mac = countersign.hmac(k.inner_pad, k.outer_pad, chain_hash)
FROM countersign.audit_key k;
ALTER TABLE countersign.audit_event ENABLE TRIGGER append_only;
ALTER TABLE countersign.audit_event ALTER key_id SET NOT NULL, ALTER mac SET NOT NULL;

-- Appends one record to the installation's own chain.
CREATE OR REPLACE FUNCTION countersign.audit_installation(
    p_event text, p_workstation uuid, p_exception_id bigint, p_outcome text, p_detail jsonb
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_at timestamptz;
    v_chain countersign.installation;
    v_key countersign.audit_key;
BEGIN
    SELECT * INTO STRICT v_chain FROM countersign.installation FOR NO KEY UPDATE;
    v_key := countersign.sealing_key();
    v_at := clock_timestamp();
    v_chain.chain_seq := v_chain.chain_seq + 1;
    v_chain.chain_head := sha256(v_chain.chain_head || countersign.audit_record('', v_chain.chain_seq, v_at, p_event, session_user,
        p_workstation, p_exception_id, NULL, NULL, NULL, NULL, p_outcome, p_detail));
    INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, outcome, detail, chain_hash, key_id, mac)
    VALUES ('', v_chain.chain_seq, v_at, p_event, session_user, p_workstation, p_exception_id, p_outcome, p_detail, v_chain.chain_head,
            v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, v_chain.chain_head));
    UPDATE countersign.installation SET chain_seq = v_chain.chain_seq, chain_head = v_chain.chain_head;
END $$;

-- Retires the key in use. What it sealed stays sealed by it: a record covers all before it, so that whoever learns a retired key
-- cannot change anything that later records follow.
CREATE FUNCTION countersign.audit_rotate_key() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_old integer;
    v_new integer;
BEGIN
    PERFORM countersign.read_committed();
    UPDATE countersign.audit_key SET retired_at = clock_timestamp() WHERE retired_at IS NULL RETURNING id INTO v_old;
    v_new := countersign.make_audit_key();
    PERFORM countersign.audit_installation('AUDIT_KEY_ROTATED', NULL, NULL, NULL, jsonb_build_object('old', v_old, 'new', v_new));
    RETURN v_new;
END $$;

-- Whether a seal is right, for whoever verifies without knowing the key.
CREATE FUNCTION countersign.mac_holds(p_key_id integer, p_message bytea, p_mac bytea) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((SELECT countersign.hmac(k.inner_pad, k.outer_pad, p_message) = p_mac FROM countersign.audit_key k WHERE k.id = p_key_id), false);
END $$;

-- Appends one record for each of these partitions, whose rows the caller has locked.
CREATE OR REPLACE FUNCTION countersign.audit_partitions(p_keys text[], p_event text, p_workstation uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_key countersign.audit_key := countersign.sealing_key();
BEGIN
    WITH record AS MATERIALIZED (
        SELECT p.partition_key, p.chain_seq + 1 AS chain_seq, p.chain_head, clock_timestamp() AS at,
               coalesce(p_workstation, p.holder) AS workstation, jsonb_build_object('epoch', p.epoch, 'reviewer', p.holder_reviewer) AS detail
        FROM countersign.partition p WHERE p.partition_key = ANY (p_keys)
    ), chained AS MATERIALIZED (
        SELECT r.*, sha256(r.chain_head || countersign.audit_record(r.partition_key, r.chain_seq, r.at, p_event, session_user, r.workstation,
                   NULL, NULL, NULL, NULL, NULL, NULL, r.detail)) AS chain_hash
        FROM record r
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
        SELECT c.partition_key, c.chain_seq, c.at, p_event, session_user, c.workstation, c.detail, c.chain_hash,
               v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
        FROM chained c
    )
    UPDATE countersign.partition p SET chain_seq = c.chain_seq, chain_head = c.chain_hash
    FROM chained c WHERE p.partition_key = c.partition_key;
END $$;

-- What one call of `sign_off` came to. `document` says it all and is sealed; `countersign.receipt_seal` says how.
CREATE SEQUENCE countersign.receipt_no;
CREATE TABLE countersign.receipt (
    id           bigint      PRIMARY KEY,
    at           timestamptz NOT NULL,
    reviewer     text        NOT NULL,
    workstation  uuid        NOT NULL,
    document     jsonb       NOT NULL,
    key_id       integer     NOT NULL,
    mac          bytea       NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.receipt EXECUTE FUNCTION countersign.append_only();

-- The bytes of a receipt that its seal covers: `countersign/receipt/1`, a line feed, and the document as PostgreSQL writes it.
CREATE FUNCTION countersign.receipt_seal(document jsonb) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
RETURN convert_to('countersign/receipt/1' || E'\n' || document::text, 'UTF8');

-- A trigger's function is called by nobody, and has its path fixed all the same.
ALTER FUNCTION countersign.append_only() SET search_path = pg_catalog, pg_temp;

RESET ROLE;
