-- Who works on what: partitions are leased whole, by the database's clock.

-- Who is calling. Fails unless the login is an active reviewer and the workstation is theirs.
CREATE FUNCTION countersign.caller(p_workstation uuid) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM countersign.reviewer r WHERE r.login = session_user AND r.active;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the login % is not an active reviewer', session_user
            USING ERRCODE = 'CS001', HINT = 'Ask a supervisor to add it: countersign-admin reviewer add.';
    END IF;
    PERFORM 1 FROM countersign.workstation w WHERE w.id = p_workstation AND w.reviewer = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the workstation % is not known for the login %', p_workstation, session_user
            USING ERRCODE = 'CS002', HINT = 'Connect again, so that the workstation says who it is.';
    END IF;
    RETURN session_user;
END $$;

-- A workstation says who it is and which settings it works with, and learns where it is.
CREATE FUNCTION countersign.hello(p_workstation uuid, p_name text, p_app_version text, p_settings jsonb)
RETURNS TABLE (installation uuid, reviewer text, display_name text, server_now timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_display_name text;
    v_owner text;
    v_last countersign.setting_version;
BEGIN
    SELECT r.display_name INTO v_display_name FROM countersign.reviewer r WHERE r.login = session_user AND r.active;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the login % is not an active reviewer', session_user
            USING ERRCODE = 'CS001', HINT = 'Ask a supervisor to add it: countersign-admin reviewer add.';
    END IF;
    IF (p_workstation IS NOT NULL AND length(p_name) <= 200 AND length(p_app_version) <= 50 AND length(p_settings::text) <= 10000) IS NOT TRUE THEN
        RAISE EXCEPTION 'hello: a workstation has an id, a name of at most 200 characters, a version of at most 50 and settings of at most 10000'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT w.reviewer INTO v_owner FROM countersign.workstation w WHERE w.id = p_workstation FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO countersign.workstation (id, reviewer, name, app_version, first_seen, last_seen)
        VALUES (p_workstation, session_user, p_name, p_app_version, v_now, v_now);
        PERFORM countersign.audit_installation('WORKSTATION_SEEN', p_workstation, NULL, NULL,
            jsonb_build_object('name', p_name, 'app_version', p_app_version));
    ELSIF v_owner <> session_user THEN
        RAISE EXCEPTION 'the workstation % belongs to %, not to %', p_workstation, v_owner, session_user
            USING ERRCODE = 'CS002', HINT = 'Use a journal of your own: choose another profile.';
    ELSE
        UPDATE countersign.workstation w SET name = p_name, app_version = p_app_version, last_seen = v_now WHERE w.id = p_workstation;
    END IF;
    SELECT * INTO v_last FROM countersign.setting_version s WHERE s.workstation = p_workstation ORDER BY s.version DESC LIMIT 1;
    IF v_last.settings IS DISTINCT FROM p_settings THEN
        INSERT INTO countersign.setting_version (workstation, version, settings, since)
        VALUES (p_workstation, coalesce(v_last.version, 0) + 1, p_settings, v_now);
        PERFORM countersign.audit_installation('SETTINGS_CHANGED', p_workstation, NULL, NULL,
            jsonb_build_object('version', coalesce(v_last.version, 0) + 1, 'settings', p_settings));
    END IF;
    RETURN QUERY SELECT i.id, session_user::text, v_display_name, v_now FROM countersign.installation i;
END $$;

-- Appends one record for each of these partitions, whose rows the caller has locked.
CREATE FUNCTION countersign.audit_partitions(p_keys text[], p_event text, p_workstation uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash)
        SELECT c.partition_key, c.chain_seq, c.at, p_event, session_user, c.workstation, c.detail, c.chain_hash FROM chained c
    )
    UPDATE countersign.partition p SET chain_seq = c.chain_seq, chain_head = c.chain_hash
    FROM chained c WHERE p.partition_key = c.partition_key;
END $$;

-- Makes these partitions, whose rows the caller has locked, free again. The epoch stays: until somebody claims them, what their
-- last holder decided is still good.
CREATE FUNCTION countersign.free_partitions(p_keys text[], p_event text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- The record is written with the change, so that each row is written once.
    WITH record AS MATERIALIZED (
        SELECT p.partition_key, p.chain_seq + 1 AS chain_seq, p.chain_head, clock_timestamp() AS at, p.holder,
               jsonb_build_object('epoch', p.epoch, 'reviewer', p.holder_reviewer) AS detail
        FROM countersign.partition p WHERE p.partition_key = ANY (p_keys)
    ), chained AS MATERIALIZED (
        SELECT r.*, sha256(r.chain_head || countersign.audit_record(r.partition_key, r.chain_seq, r.at, p_event, session_user, r.holder,
                   NULL, NULL, NULL, NULL, NULL, NULL, r.detail)) AS chain_hash
        FROM record r
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash)
        SELECT c.partition_key, c.chain_seq, c.at, p_event, session_user, c.holder, c.detail, c.chain_hash FROM chained c
    )
    UPDATE countersign.partition p SET
        lease_until = NULL, chain_seq = c.chain_seq, chain_head = c.chain_hash,
        -- Most are given back when nothing is pending in them: there is nobody and nothing to look for.
        shut_out = CASE WHEN p.pending = 0 THEN '{}' ELSE countersign.shut_out(p.partition_key, p.head_seq) END,
        claim_rank = CASE WHEN p.pending = 0 THEN 'infinity' ELSE coalesce((
            SELECT min(countersign.claim_rank(e.submitted_at, e.routing_tier))
            FROM (SELECT e.submitted_at, e.routing_tier FROM countersign.exception e
                  WHERE e.partition_key = p.partition_key AND e.seq >= p.head_seq AND e.state = 'PENDING'
                  ORDER BY e.seq LIMIT 1000) AS e), 'infinity') END
    FROM chained c WHERE p.partition_key = c.partition_key;
END $$;

-- Returns partitions whose lease passed its end. Called before every claim, in a statement of its own.
CREATE FUNCTION countersign.expire_leases() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_keys text[];
BEGIN
    WITH expired AS MATERIALIZED (
        SELECT p.partition_key FROM countersign.partition p
        WHERE p.lease_until < v_now ORDER BY p.lease_until LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED)
    SELECT array_agg(partition_key) INTO v_keys FROM expired;
    IF v_keys IS NOT NULL THEN
        PERFORM countersign.free_partitions(v_keys, 'LEASE_EXPIRED');
    END IF;
    RETURN coalesce(cardinality(v_keys), 0);
END $$;

-- What of these partitions this person may sign, from each cursor on, in the order of the partitions and of `seq`: about
-- `p_want` items, whole groups only. A group is handed out when it fits into `p_room`; one that can never fit only to a deck that
-- is empty (`p_empty`), or it would never be decided. A partition of which nothing is handed out appears once, without an item.
CREATE FUNCTION countersign.hand_out(p_keys text[], p_after bigint[], p_want integer, p_room integer, p_empty boolean, p_person text)
RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
               version integer, content_hash bytea, body text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT h.n, h.after, p.partition_key, p.epoch, p.head_seq,
               (extract(epoch FROM p.lease_until - clock_timestamp()) * 1000)::bigint AS lease_ms
        FROM unnest(p_keys, p_after) WITH ORDINALITY AS h (key, after, n) JOIN countersign.partition p ON p.partition_key = h.key
    ), head AS MATERIALIZED (
        SELECT h.n, e.id, e.seq, e.version, e.group_key, h.partition_key
        FROM held h CROSS JOIN LATERAL (
            SELECT e.id, e.seq, e.version, e.group_key FROM countersign.exception e
            WHERE e.partition_key = h.partition_key AND e.seq >= greatest(h.head_seq, h.after + 1) AND e.state = 'PENDING'
              AND NOT p_person = ANY (e.prepared_by)
              AND (e.group_key IS NULL OR NOT countersign.shut_out_of(p_person, e.prepared_by, e.partition_key, e.group_key))
            ORDER BY e.seq LIMIT p_want) AS e
        ORDER BY h.n, e.seq LIMIT p_want
    ), whole AS (
        SELECT h.n, h.id, h.seq, h.version, h.group_key, CASE WHEN h.group_key IS NULL THEN h.id END AS alone FROM head h
        UNION ALL
        SELECT g.n, e.id, e.seq, e.version, g.group_key, NULL
        FROM (SELECT DISTINCT h.n, h.partition_key, h.group_key FROM head h WHERE h.group_key IS NOT NULL) AS g
        JOIN countersign.exception e ON e.partition_key = g.partition_key AND e.group_key = g.group_key AND e.state = 'PENDING'
        WHERE e.id NOT IN (SELECT h.id FROM head h)
    ), unit AS (
        SELECT w.n, w.id, w.seq, w.version, min(w.seq) OVER unit AS first, count(*) OVER unit AS size
        FROM whole w WINDOW unit AS (PARTITION BY w.n, w.group_key, w.alone)
    ), counted AS (
        -- The items of a unit are peers here: each of them counts the whole unit.
        SELECT u.*, count(*) OVER (ORDER BY u.n, u.first) AS upto FROM unit u
    ), chosen AS MATERIALIZED (
        SELECT c.n, c.id, c.seq, c.version FROM counted c WHERE c.upto <= p_room OR (p_empty AND c.upto = c.size)
    ), reached AS MATERIALIZED (
        -- How far: up to the first item that is left, of which a group's later items may be ahead.
        SELECT h.n, h.partition_key, h.epoch, h.lease_ms, h.after, (
                   SELECT e.seq FROM countersign.exception e
                   WHERE e.partition_key = h.partition_key AND e.seq >= greatest(h.head_seq, h.after + 1) AND e.state = 'PENDING'
                     AND e.id NOT IN (SELECT c.id FROM chosen c)
                     AND NOT p_person = ANY (e.prepared_by)
                     AND (e.group_key IS NULL OR NOT countersign.shut_out_of(p_person, e.prepared_by, e.partition_key, e.group_key))
                   ORDER BY e.seq LIMIT 1) AS next
        FROM held h
    )
    -- FULL, though nothing is chosen of what is not held: the planner expects a few rows, and would compare each with each.
    SELECT r.partition_key, r.epoch, r.lease_ms, coalesce(r.next - 1, max(c.seq) OVER (PARTITION BY r.n), r.after),
           r.next IS NOT NULL, c.id, c.seq, c.version, c.content_hash, c.body
    FROM reached r
    FULL JOIN (
        SELECT h.n, h.id, h.seq, h.version, b.content_hash, b.body
        FROM chosen h LEFT JOIN LATERAL (
            SELECT b.content_hash, b.body FROM countersign.exception_content b
            WHERE b.exception_id = h.id AND b.version = h.version LIMIT 1) AS b ON true
    ) AS c ON c.n = r.n
    ORDER BY r.n, c.seq;
END $$;

-- Hands out about `p_want` items. What the workstation holds comes first, from the cursors it names (a partition it holds and
-- does not name, because an answer was lost, starts anew); then partitions are claimed in the order of their rank.
-- Its plans are made once for the session, and only from what does not grow with the tables: indexes, in their order.
CREATE FUNCTION countersign.lease(
    p_workstation uuid, p_want integer, p_room integer, p_empty boolean, p_ttl_ms integer, p_held text[], p_after bigint[]
) RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
                 version integer, content_hash bytea, body text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_me text := countersign.caller(p_workstation);
    v_now timestamptz;
    v_own text[];
    v_after bigint[];
    v_got integer := 0;
    v_claim text[] := '{}';
    v_promised bigint := 0;
    v_next record;
    v_pending integer;
BEGIN
    IF (p_want BETWEEN 1 AND 5000 AND p_room >= p_want AND p_ttl_ms BETWEEN 30000 AND 43200000 AND p_empty IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'lease: want must be 1 to 5000, room at least want, ttl 30000 to 43200000 ms, not %, %, %', p_want, p_room, p_ttl_ms
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM countersign.expire_leases();

    -- FULL for its plan alone: as a LEFT JOIN of two short lists it would compare each with each.
    WITH own AS MATERIALIZED (
        SELECT p.partition_key, p.claim_rank, coalesce(h.after, 0) AS after
        FROM (SELECT p.partition_key, p.claim_rank FROM countersign.partition p
              WHERE p.holder = p_workstation AND p.lease_until IS NOT NULL) AS p
        FULL JOIN unnest(p_held, p_after) AS h (key, after) ON h.key = p.partition_key
    )
    SELECT array_agg(o.partition_key ORDER BY o.after = 0, o.claim_rank, o.partition_key),
           array_agg(o.after ORDER BY o.after = 0, o.claim_rank, o.partition_key)
    INTO v_own, v_after
    FROM own o WHERE o.partition_key IS NOT NULL;
    IF v_own IS NOT NULL THEN
        FOR partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body IN
            SELECT * FROM countersign.hand_out(v_own, v_after, p_want, p_room, p_empty, v_me)
        LOOP
            v_got := v_got + (exception_id IS NOT NULL)::integer;
            RETURN NEXT;
        END LOOP;
    END IF;
    IF v_got >= p_want THEN
        RETURN;
    END IF;

    -- From person to person over the index of ready partitions: a run of partitions in which this person may sign nothing is
    -- passed in one step, however long it is.
    FOR v_next IN
        WITH RECURSIVE who AS (
            (SELECT p.shut_out FROM countersign.partition p WHERE p.ready ORDER BY p.shut_out LIMIT 1)
            UNION ALL
            SELECT (SELECT p.shut_out FROM countersign.partition p WHERE p.ready AND p.shut_out > who.shut_out ORDER BY p.shut_out LIMIT 1)
            FROM who WHERE who.shut_out IS NOT NULL
        )
        SELECT c.partition_key FROM who CROSS JOIN LATERAL (
            SELECT p.partition_key, p.claim_rank FROM countersign.partition p
            WHERE p.ready AND p.shut_out = who.shut_out ORDER BY p.claim_rank, p.partition_key LIMIT p_want + 50) AS c
        WHERE who.shut_out IS NOT NULL AND NOT v_me = ANY (who.shut_out)
        ORDER BY c.claim_rank, c.partition_key LIMIT p_want + 50
    LOOP
        -- One at a time, so that no partition is locked, and kept from the others, that is not taken.
        SELECT p.pending INTO v_pending FROM countersign.partition p
        WHERE p.partition_key = v_next.partition_key AND p.ready AND NOT v_me = ANY (p.shut_out) FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_claim := v_claim || v_next.partition_key;
        v_promised := v_promised + v_pending;
        EXIT WHEN v_promised >= p_want - v_got;
    END LOOP;
    IF cardinality(v_claim) > 0 THEN
        v_now := clock_timestamp();
        -- The record is written with the change, so that each row is written once.
        WITH record AS MATERIALIZED (
            SELECT p.partition_key, p.epoch + 1 AS epoch, p.chain_seq + 1 AS chain_seq, p.chain_head,
                   jsonb_build_object('epoch', p.epoch + 1, 'reviewer', v_me) AS detail
            FROM countersign.partition p WHERE p.partition_key = ANY (v_claim)
        ), chained AS MATERIALIZED (
            SELECT r.*, sha256(r.chain_head || countersign.audit_record(r.partition_key, r.chain_seq, v_now, 'LEASED', session_user,
                       p_workstation, NULL, NULL, NULL, NULL, NULL, NULL, r.detail)) AS chain_hash
            FROM record r
        ), audited AS (
            INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash)
            SELECT c.partition_key, c.chain_seq, v_now, 'LEASED', session_user, p_workstation, c.detail, c.chain_hash FROM chained c
        )
        UPDATE countersign.partition p SET
            epoch = c.epoch, holder = p_workstation, holder_reviewer = v_me, lease_until = v_now + p_ttl_ms * interval '1 millisecond',
            chain_seq = c.chain_seq, chain_head = c.chain_hash
        FROM chained c WHERE p.partition_key = c.partition_key;
        RETURN QUERY SELECT * FROM countersign.hand_out(v_claim, array_fill(0::bigint, ARRAY[cardinality(v_claim)]),
            p_want - v_got, p_room - v_got, p_empty AND v_got = 0, v_me);
    END IF;
END $$;

-- Prolongs leases, and says which still stand. One that lapsed and that nobody took is taken up again.
CREATE FUNCTION countersign.renew(p_workstation uuid, p_keys text[], p_epochs bigint[], p_ttl_ms integer)
RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_me text := countersign.caller(p_workstation);
    v_lapsed text[];
BEGIN
    IF (p_ttl_ms BETWEEN 30000 AND 43200000) IS NOT TRUE THEN
        RAISE EXCEPTION 'renew: ttl must be 30000 to 43200000 ms, not %', p_ttl_ms USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM 1 FROM countersign.partition p WHERE p.partition_key = ANY (p_keys) AND p.holder = p_workstation
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    SELECT array_agg(p.partition_key) INTO v_lapsed
    FROM unnest(p_keys, p_epochs) AS h (key, epoch) JOIN countersign.partition p ON p.partition_key = h.key
    WHERE p.epoch = h.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me AND p.lease_until IS NULL;
    IF v_lapsed IS NOT NULL THEN
        PERFORM countersign.audit_partitions(v_lapsed, 'LEASED', p_workstation);
    END IF;
    RETURN QUERY
    UPDATE countersign.partition p SET lease_until = clock_timestamp() + p_ttl_ms * interval '1 millisecond'
    FROM unnest(p_keys, p_epochs) AS h (key, epoch)
    WHERE p.partition_key = h.key AND p.epoch = h.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me
    RETURNING p.partition_key, p.epoch, p_ttl_ms::bigint;
END $$;

-- Gives partitions back at once. Those that are somebody else's by now are left alone.
CREATE FUNCTION countersign.release(p_workstation uuid, p_keys text[], p_epochs bigint[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_me text := countersign.caller(p_workstation);
    v_keys text[];
BEGIN
    PERFORM 1 FROM countersign.partition p WHERE p.partition_key = ANY (p_keys) AND p.holder = p_workstation
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    -- By key, one after the other: by its holder, each lease would be compared with each key.
    SELECT array_agg(p.partition_key) INTO v_keys
    FROM unnest(p_keys, p_epochs) AS h (key, epoch)
    CROSS JOIN LATERAL (SELECT p.* FROM countersign.partition p WHERE p.partition_key = h.key LIMIT 1) AS p
    WHERE p.epoch = h.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me AND p.lease_until IS NOT NULL;
    IF v_keys IS NOT NULL THEN
        PERFORM countersign.free_partitions(v_keys, 'RELEASED');
    END IF;
    RETURN coalesce(cardinality(v_keys), 0);
END $$;
