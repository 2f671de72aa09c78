-- Who works on what, with what each reviewer may sign, and handing it on.

SET LOCAL ROLE countersign_owner;

-- Makes these partitions, whose rows the caller has locked, free again. The epoch stays: until somebody claims them, what their
-- last holder decided is still good.
CREATE OR REPLACE FUNCTION countersign.free_partitions(p_keys text[], p_event text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_key countersign.audit_key := countersign.sealing_key();
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
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
        SELECT c.partition_key, c.chain_seq, c.at, p_event, session_user, c.holder, c.detail, c.chain_hash,
               v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
        FROM chained c
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

-- Returns partitions whose lease passed its end. Called before every claim, in a statement of its own. One that cannot be returned
-- must not keep the others.
CREATE OR REPLACE FUNCTION countersign.expire_leases() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_keys text[];
    v_key text;
BEGIN
    WITH expired AS MATERIALIZED (
        SELECT p.partition_key FROM countersign.partition p
        WHERE p.lease_until < v_now ORDER BY p.lease_until LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED)
    SELECT array_agg(partition_key) INTO v_keys FROM expired;
    IF v_keys IS NULL THEN
        RETURN 0;
    END IF;
    BEGIN
        PERFORM countersign.free_partitions(v_keys, 'LEASE_EXPIRED');
    EXCEPTION WHEN program_limit_exceeded OR data_exception OR integrity_constraint_violation THEN
        FOREACH v_key IN ARRAY v_keys LOOP
            BEGIN
                PERFORM countersign.free_partitions(ARRAY[v_key], 'LEASE_EXPIRED');
            EXCEPTION WHEN program_limit_exceeded OR data_exception OR integrity_constraint_violation THEN
                RAISE WARNING 'the lease of the partition % cannot be ended: %', v_key, SQLERRM;
            END;
        END LOOP;
    END;
    RETURN cardinality(v_keys);
END $$;

DROP FUNCTION countersign.hand_out(text[], bigint[], integer, integer, boolean, text);
-- What of these partitions this person may sign, from each cursor on, in the order of the partitions and of `seq`: about
-- `p_want` items, whole groups only. A group is handed out when it fits into `p_room`; one that can never fit only to a deck that
-- is empty (`p_empty`), or it would never be decided. A partition of which nothing is handed out appears once, without an item.
CREATE FUNCTION countersign.hand_out(p_keys text[], p_after bigint[], p_want integer, p_room integer, p_empty boolean, p_who countersign.authority)
RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
               version integer, content_hash bytea, body text, signatures integer)
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
              AND NOT countersign.closed_alone(p_who, e.barred, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount)
              AND (e.group_key IS NULL OR NOT countersign.closed_in_group(p_who, e.partition_key, e.group_key))
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
                     AND NOT countersign.closed_alone(p_who, e.barred, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount)
                     AND (e.group_key IS NULL OR NOT countersign.closed_in_group(p_who, e.partition_key, e.group_key))
                   ORDER BY e.seq LIMIT 1) AS next
        FROM held h
    )
    -- FULL, though nothing is chosen of what is not held: the planner expects a few rows, and would compare each with each.
    SELECT r.partition_key, r.epoch, r.lease_ms, coalesce(r.next - 1, max(c.seq) OVER (PARTITION BY r.n), r.after),
           r.next IS NOT NULL, c.id, c.seq, c.version, c.content_hash, c.body, c.signatures
    FROM reached r
    FULL JOIN (
        SELECT h.n, h.id, h.seq, h.version, b.content_hash, b.body, (SELECT (e.first_by IS NOT NULL)::integer FROM countersign.exception e WHERE e.id = h.id) AS signatures
        FROM chosen h LEFT JOIN LATERAL (
            SELECT b.content_hash, b.body FROM countersign.exception_content b
            WHERE b.exception_id = h.id AND b.version = h.version LIMIT 1) AS b ON true
    ) AS c ON c.n = r.n
    ORDER BY r.n, c.seq;
END $$;

DROP FUNCTION countersign.lease(uuid, integer, integer, boolean, integer, text[], bigint[]);
-- Hands out about `p_want` items. What the workstation holds comes first, from the cursors it names (a partition it holds and
-- does not name, because an answer was lost, starts anew); then partitions are claimed in the order of their rank.
-- Its plans are made once for the session, and only from what does not grow with the tables: indexes, in their order.
CREATE FUNCTION countersign.lease(
    p_workstation uuid, p_want integer, p_room integer, p_empty boolean, p_ttl_ms integer, p_held text[], p_after bigint[]
) RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
                 version integer, content_hash bytea, body text, signatures integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_who countersign.authority;
    v_kinds integer;
    v_tiers integer;
    v_key countersign.audit_key;
    v_ttl_ms integer;
    v_now timestamptz;
    v_own text[];
    v_after bigint[];
    v_got integer := 0;
    v_claim text[] := '{}';
    v_promised bigint := 0;
    v_next record;
    v_pending integer;
    v_nothing text[] := '{}';
BEGIN
    PERFORM countersign.read_committed();
    IF (p_want BETWEEN 1 AND 5000 AND p_room >= p_want AND p_ttl_ms BETWEEN 30000 AND 43200000 AND p_empty IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'lease: want must be 1 to 5000, room at least want, ttl 30000 to 43200000 ms, not %, %, %', p_want, p_room, p_ttl_ms
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF countersign.turned_away(p_workstation, 'lease') THEN
        -- A row without a partition.
        RETURN NEXT;
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_who := countersign.authority_of(v_me);
    v_kinds := coalesce((SELECT bit_or(countersign.kind_bit(k)) FROM unnest(v_who.kinds) AS k), CASE WHEN v_who.kinds IS NULL THEN 7 ELSE 0 END);
    v_tiers := coalesce((SELECT bit_or(countersign.tier_bit(t)) FROM unnest(v_who.tiers) AS t), CASE WHEN v_who.tiers IS NULL THEN 7 ELSE 0 END);
    v_ttl_ms := least(p_ttl_ms, ((countersign.policy()).document -> 'lease' ->> 'longest_ms')::integer);
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
        FOR partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body, signatures IN
            SELECT * FROM countersign.hand_out(v_own, v_after, p_want, p_room, p_empty, v_who)
        LOOP
            v_got := v_got + (exception_id IS NOT NULL)::integer;
            RETURN NEXT;
        END LOOP;
    END IF;
    IF v_got >= p_want THEN
        RETURN;
    END IF;

    -- From class to class over the index of ready partitions: a run of partitions in which this person may sign nothing is passed in
    -- one step, however long it is. Who may sign for a few ledger entities is led to these.
    FOR v_next IN
        WITH RECURSIVE class AS (
            (SELECT p.shut_out, p.kinds, p.tiers FROM countersign.partition p
             WHERE v_who.ledger_entities IS NULL AND p.ready ORDER BY p.shut_out, p.kinds, p.tiers LIMIT 1)
            UNION ALL
            SELECT n.* FROM class c CROSS JOIN LATERAL (
                SELECT p.shut_out, p.kinds, p.tiers FROM countersign.partition p
                WHERE p.ready AND (p.shut_out, p.kinds, p.tiers) > (c.shut_out, c.kinds, c.tiers) ORDER BY p.shut_out, p.kinds, p.tiers LIMIT 1) AS n
        )
        SELECT c.partition_key FROM (
            SELECT c.partition_key, c.claim_rank FROM class CROSS JOIN LATERAL (
                SELECT p.partition_key, p.claim_rank FROM countersign.partition p
                WHERE p.ready AND p.shut_out = class.shut_out AND p.kinds = class.kinds AND p.tiers = class.tiers AND NOT v_me = ANY (p.passed_by)
                ORDER BY p.claim_rank, p.partition_key LIMIT p_want + 50) AS c
            WHERE NOT class.shut_out && v_who.names AND class.kinds & v_kinds <> 0 AND class.tiers & v_tiers <> 0
            UNION ALL
            SELECT c.partition_key, c.claim_rank FROM unnest(v_who.ledger_entities || ''::text) AS o (entity) CROSS JOIN LATERAL (
                SELECT p.partition_key, p.claim_rank FROM countersign.partition p
                WHERE p.ready AND p.ledger_entity = o.entity AND NOT v_me = ANY (p.passed_by) AND NOT p.shut_out && v_who.names
                  AND p.kinds & v_kinds <> 0 AND p.tiers & v_tiers <> 0
                ORDER BY p.claim_rank, p.partition_key LIMIT p_want + 50) AS c
            WHERE v_who.ledger_entities IS NOT NULL) AS c
        ORDER BY c.claim_rank, c.partition_key LIMIT p_want + 50
    LOOP
        -- One at a time, so that no partition is locked, and kept from the others, that is not taken.
        SELECT p.pending INTO v_pending FROM countersign.partition p
        WHERE p.partition_key = v_next.partition_key AND p.ready AND NOT p.shut_out && v_who.names FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_claim := v_claim || v_next.partition_key;
        v_promised := v_promised + v_pending;
        EXIT WHEN v_promised >= p_want - v_got;
    END LOOP;
    IF cardinality(v_claim) > 0 THEN
        v_key := countersign.sealing_key();
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
            INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
            SELECT c.partition_key, c.chain_seq, v_now, 'LEASED', session_user, p_workstation, c.detail, c.chain_hash,
                   v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
            FROM chained c
        )
        UPDATE countersign.partition p SET
            epoch = c.epoch, holder = p_workstation, holder_reviewer = v_me, lease_until = v_now + v_ttl_ms * interval '1 millisecond',
            chain_seq = c.chain_seq, chain_head = c.chain_hash
        FROM chained c WHERE p.partition_key = c.partition_key;
        FOR partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body, signatures IN
            SELECT * FROM countersign.hand_out(v_claim, array_fill(0::bigint, ARRAY[cardinality(v_claim)]), p_want - v_got, p_room - v_got,
                                               p_empty AND v_got = 0, v_who)
        LOOP
            v_got := v_got + (exception_id IS NOT NULL)::integer;
            IF exception_id IS NULL AND NOT more THEN
                v_nothing := v_nothing || partition_key;
            END IF;
            RETURN NEXT;
        END LOOP;
        IF cardinality(v_nothing) > 0 THEN
            -- It looked as if there was something for them, and there is not: they are not led here again.
            UPDATE countersign.partition p SET passed_by = p.passed_by || v_me WHERE p.partition_key = ANY (v_nothing) AND NOT v_me = ANY (p.passed_by);
        END IF;
    END IF;
END $$;

-- Prolongs leases, and says which still stand. One that lapsed and that nobody took is taken up again.
CREATE OR REPLACE FUNCTION countersign.renew(p_workstation uuid, p_keys text[], p_epochs bigint[], p_ttl_ms integer)
RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_ttl_ms integer;
    v_lapsed text[];
BEGIN
    PERFORM countersign.read_committed();
    IF (p_ttl_ms BETWEEN 30000 AND 43200000) IS NOT TRUE THEN
        RAISE EXCEPTION 'renew: ttl must be 30000 to 43200000 ms, not %', p_ttl_ms USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF countersign.turned_away(p_workstation, 'renew') THEN
        RETURN NEXT;
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_ttl_ms := least(p_ttl_ms, ((countersign.policy()).document -> 'lease' ->> 'longest_ms')::integer);
    PERFORM 1 FROM countersign.partition p WHERE p.partition_key = ANY (p_keys) AND p.holder = p_workstation
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    -- Whoever waited for these rows is judged by what holds now.
    IF countersign.turned_away(p_workstation, 'renew') THEN
        RETURN NEXT;
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    SELECT array_agg(p.partition_key) INTO v_lapsed
    FROM unnest(p_keys, p_epochs) AS h (key, epoch) JOIN countersign.partition p ON p.partition_key = h.key
    WHERE p.epoch = h.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me AND p.lease_until IS NULL;
    IF v_lapsed IS NOT NULL THEN
        PERFORM countersign.audit_partitions(v_lapsed, 'LEASED', p_workstation);
    END IF;
    RETURN QUERY
    UPDATE countersign.partition p SET lease_until = clock_timestamp() + v_ttl_ms * interval '1 millisecond'
    FROM unnest(p_keys, p_epochs) AS h (key, epoch)
    WHERE p.partition_key = h.key AND p.epoch = h.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me
    RETURNING p.partition_key, p.epoch, v_ttl_ms::bigint;
END $$;

-- Gives partitions back at once. Those that are somebody else's by now are left alone.
CREATE OR REPLACE FUNCTION countersign.release(p_workstation uuid, p_keys text[], p_epochs bigint[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_me text;
    v_keys text[];
BEGIN
    PERFORM countersign.read_committed();
    IF countersign.turned_away(p_workstation, 'release') THEN
        RETURN NULL;
    END IF;
    v_me := countersign.caller(p_workstation);
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

-- Moves partitions, whose rows the caller has locked, to somebody's workstation, or to nobody's: the epoch moves on, so that nothing
-- decided under the old one takes effect.
CREATE FUNCTION countersign.move_partitions(p_keys text[], p_event text, p_to text, p_workstation uuid, p_ttl_ms integer, p_reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_key countersign.audit_key := countersign.sealing_key();
    v_now timestamptz := clock_timestamp();
BEGIN
    WITH record AS MATERIALIZED (
        SELECT p.partition_key, p.chain_seq + 1 AS chain_seq, p.chain_head, p.epoch + 1 AS epoch, p_workstation AS workstation,
               jsonb_build_object('epoch', p.epoch + 1, 'from', p.holder_reviewer, 'reviewer', p_to, 'reason', p_reason) AS detail
        FROM countersign.partition p WHERE p.partition_key = ANY (p_keys)
    ), chained AS MATERIALIZED (
        SELECT r.*, sha256(r.chain_head || countersign.audit_record(r.partition_key, r.chain_seq, v_now, p_event, session_user, r.workstation,
                   NULL, NULL, NULL, NULL, NULL, NULL, r.detail)) AS chain_hash
        FROM record r
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
        SELECT c.partition_key, c.chain_seq, v_now, p_event, session_user, c.workstation, c.detail, c.chain_hash,
               v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
        FROM chained c
    )
    UPDATE countersign.partition p SET
        epoch = c.epoch, holder = p_workstation, holder_reviewer = p_to, chain_seq = c.chain_seq, chain_head = c.chain_hash,
        lease_until = CASE WHEN p_workstation IS NOT NULL THEN v_now + p_ttl_ms * interval '1 millisecond' END,
        shut_out = countersign.shut_out(p.partition_key, p.head_seq)
    FROM chained c WHERE p.partition_key = c.partition_key;
END $$;

-- Where somebody works: their confirmed workstation that was seen last.
CREATE FUNCTION countersign.desk_of(p_login text) RETURNS uuid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_workstation uuid;
BEGIN
    SELECT w.id INTO v_workstation FROM countersign.workstation w JOIN countersign.reviewer r ON r.login = w.reviewer AND r.active
    WHERE w.reviewer = p_login AND w.revoked_at IS NULL
      AND EXISTS (SELECT 1 FROM countersign.workstation_key k WHERE k.workstation = w.id AND k.confirmed_at IS NOT NULL)
    ORDER BY w.last_seen DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% is no active reviewer with a confirmed workstation', p_login USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN v_workstation;
END $$;

-- Hands partitions one holds to a colleague; returns those that were handed over. They appear in the colleague's deck with its next
-- lease call, and lapse after `p_ttl_ms` if it does not come.
CREATE FUNCTION countersign.hand_over(p_workstation uuid, p_keys text[], p_epochs bigint[], p_to text, p_ttl_ms integer) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_me text;
    v_ttl_ms integer;
    v_desk uuid;
    v_keys text[];
BEGIN
    PERFORM countersign.read_committed();
    IF (p_ttl_ms BETWEEN 30000 AND 43200000 AND cardinality(p_keys) = cardinality(p_epochs) AND cardinality(p_keys) <= 5000) IS NOT TRUE THEN
        RAISE EXCEPTION 'hand_over: at most 5000 partitions, an epoch for each, and a ttl of 30000 to 43200000 ms are expected' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF countersign.turned_away(p_workstation, 'hand_over') THEN
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_desk := countersign.desk_of(p_to);
    IF countersign.names_of(p_to) && countersign.names_of(v_me) THEN
        RAISE EXCEPTION 'hand_over: % and % are one person', v_me, p_to USING ERRCODE = 'invalid_parameter_value';
    END IF;
    v_ttl_ms := least(p_ttl_ms, ((countersign.policy()).document -> 'lease' ->> 'longest_ms')::integer);
    PERFORM 1 FROM countersign.partition p WHERE p.partition_key = ANY (p_keys) AND p.holder = p_workstation ORDER BY p.partition_key FOR NO KEY UPDATE;
    SELECT array_agg(p.partition_key) INTO v_keys
    FROM unnest(p_keys, p_epochs) AS h (key, epoch)
    CROSS JOIN LATERAL (SELECT p.* FROM countersign.partition p WHERE p.partition_key = h.key LIMIT 1) AS p
    WHERE p.epoch = h.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me AND p.lease_until IS NOT NULL;
    IF v_keys IS NOT NULL THEN
        PERFORM countersign.move_partitions(v_keys, 'HANDED_OVER', p_to, v_desk, v_ttl_ms, NULL);
    END IF;
    RETURN QUERY SELECT unnest(v_keys);
END $$;

-- A supervisor takes partitions from whoever holds them, and gives them to `p_to`, or to nobody.
CREATE FUNCTION countersign.partition_assign(p_keys text[], p_to text, p_reason text) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_desk uuid := CASE WHEN p_to IS NOT NULL THEN countersign.desk_of(p_to) END;
    v_keys text[];
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_reason);
    IF (cardinality(p_keys) BETWEEN 1 AND 5000) IS NOT TRUE THEN
        RAISE EXCEPTION 'partition_assign: 1 to 5000 partitions are expected' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT array_agg(h.partition_key) INTO v_keys
    FROM (SELECT p.partition_key FROM countersign.partition p WHERE p.partition_key = ANY (p_keys) AND (p.pending > 0 OR p.lease_until IS NOT NULL)
          ORDER BY p.partition_key FOR NO KEY UPDATE) AS h;
    IF v_keys IS NOT NULL THEN
        PERFORM countersign.move_partitions(v_keys, CASE WHEN p_to IS NULL THEN 'TAKEN_AWAY' ELSE 'ASSIGNED' END, p_to, v_desk, 900000, p_reason);
    END IF;
    RETURN QUERY SELECT unnest(v_keys);
END $$;

RESET ROLE;
