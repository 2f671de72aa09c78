-- The audit chain, and everything that brings exceptions in.

-- The bytes of a record that its chain covers: a JSON array of its fields in the order of the table, instants in microseconds
-- since 1970, hashes in lower-case hex.
CREATE FUNCTION countersign.audit_record(
    partition_key text, chain_seq bigint, at timestamptz, event text, actor text, workstation uuid, exception_id bigint,
    trace_id uuid, source_hash text, match_decision text, content_hash bytea, outcome text, detail jsonb
) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
RETURN convert_to(json_build_array(
    partition_key, chain_seq, (extract(epoch FROM at) * 1000000)::bigint, event, actor, workstation, exception_id, trace_id,
    source_hash, match_decision, encode(content_hash, 'hex'), outcome, detail)::text, 'UTF8');

-- hash(n) = SHA-256(hash(n-1) || record(n)); hash(0) is empty. Used as a window function over the records of one statement,
-- with the head of the chain put before the first of them.
CREATE FUNCTION countersign.chain_step(head bytea, record bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN sha256(coalesce(head, '') || record);
END $$;
CREATE AGGREGATE countersign.chain(bytea) (SFUNC = countersign.chain_step, STYPE = bytea);

-- Appends one record to the installation's own chain.
CREATE FUNCTION countersign.audit_installation(
    p_event text, p_workstation uuid, p_exception_id bigint, p_outcome text, p_detail jsonb
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_at timestamptz;
    v_chain countersign.installation;
BEGIN
    SELECT * INTO STRICT v_chain FROM countersign.installation FOR NO KEY UPDATE;
    v_at := clock_timestamp();
    v_chain.chain_seq := v_chain.chain_seq + 1;
    v_chain.chain_head := sha256(v_chain.chain_head || countersign.audit_record('', v_chain.chain_seq, v_at, p_event, session_user,
        p_workstation, p_exception_id, NULL, NULL, NULL, NULL, p_outcome, p_detail));
    INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, outcome, detail, chain_hash)
    VALUES ('', v_chain.chain_seq, v_at, p_event, session_user, p_workstation, p_exception_id, p_outcome, p_detail, v_chain.chain_head);
    UPDATE countersign.installation SET chain_seq = v_chain.chain_seq, chain_head = v_chain.chain_head;
END $$;

-- How much earlier than an ordinary item one of this tier counts as submitted. Because it is a headstart and not a class of its
-- own, waiting always wins in the end and nothing starves.
CREATE FUNCTION countersign.claim_rank(submitted_at timestamptz, routing_tier text) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN submitted_at - CASE routing_tier WHEN 'escalated' THEN interval '30 days' WHEN 'priority' THEN interval '7 days' ELSE interval '0' END;

-- Whether `person` is shut out of one pending item: they prepared it, or another pending item of its group (a group is decided
-- by one person).
CREATE FUNCTION countersign.shut_out_of(person text, prepared_by text[], partition_key text, group_key text) RETURNS boolean LANGUAGE sql STABLE
RETURN person = ANY (prepared_by) OR (group_key IS NOT NULL AND EXISTS (
    SELECT 1 FROM countersign.exception g
    WHERE g.partition_key = $3 AND g.group_key = $4 AND g.state = 'PENDING' AND $1 = ANY (g.prepared_by)));

-- Everyone who is shut out of all that is pending in a partition. Only a preparer of the first item (or of its group) can be,
-- and the search for an item that somebody else prepared ends at the first one.
CREATE FUNCTION countersign.shut_out(p_partition_key text, p_head_seq bigint) RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY(
    SELECT DISTINCT c.person
    FROM (SELECT e.group_key, e.prepared_by FROM countersign.exception e
          WHERE e.partition_key = p_partition_key AND e.seq >= p_head_seq AND e.state = 'PENDING' ORDER BY e.seq LIMIT 1) AS first
    CROSS JOIN LATERAL (
        SELECT unnest(first.prepared_by)
        UNION
        SELECT unnest(g.prepared_by) FROM countersign.exception g
        WHERE first.group_key IS NOT NULL AND g.partition_key = p_partition_key AND g.group_key = first.group_key AND g.state = 'PENDING'
    ) AS c (person)
    WHERE NOT EXISTS (
        SELECT 1 FROM countersign.exception e
        WHERE e.partition_key = p_partition_key AND e.seq >= p_head_seq AND e.state = 'PENDING'
          AND NOT countersign.shut_out_of(c.person, e.prepared_by, e.partition_key, e.group_key))
    ORDER BY c.person);

-- Takes arrivals in, set-based, with an answer for each:
--   ENQUEUED    new;
--   DUPLICATE   the key is known with this source hash, or this very content: a redelivery, nothing happens;
--   CORRECTED   the key is known with another source hash and still pending: a new version, and who sent it counts as a preparer;
--   CONFLICT    the key is known with another source hash, and decided or in another partition: nothing happens.
-- A body is the arrival as JSON text; its exact bytes are what a sign-off binds.
CREATE FUNCTION countersign.enqueue(p_bodies text[])
RETURNS TABLE (ordinal integer, outcome text, exception_id bigint, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_docs jsonb[];
    v_now timestamptz;
    v_rounds integer;
    v_touched text[];
BEGIN
    IF cardinality(p_bodies) > 5000 THEN
        RAISE EXCEPTION 'enqueue takes at most 5000 arrivals a call, not %', cardinality(p_bodies) USING ERRCODE = 'program_limit_exceeded';
    END IF;
    SELECT array_agg(b::jsonb ORDER BY n) INTO v_docs FROM unnest(p_bodies) WITH ORDINALITY AS i (b, n);

    INSERT INTO countersign.partition (partition_key)
    SELECT DISTINCT d ->> 'partition_key' FROM unnest(v_docs) AS d ORDER BY 1
    ON CONFLICT DO NOTHING;
    PERFORM 1 FROM countersign.partition p
    WHERE p.partition_key IN (
        SELECT d ->> 'partition_key' FROM unnest(v_docs) AS d
        UNION
        SELECT e.partition_key FROM unnest(v_docs) AS d JOIN countersign.exception e ON e.idempotency_key = d ->> 'idempotency_key')
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    v_now := clock_timestamp();

    -- A key that comes twice in one call is judged in the order of arrival, one round each.
    SELECT max(n) INTO v_rounds
    FROM (SELECT count(*) AS n FROM unnest(v_docs) AS d GROUP BY d ->> 'idempotency_key') AS k;

    FOR v_round IN 1 .. coalesce(v_rounds, 0) LOOP
        RETURN QUERY
        WITH item AS MATERIALIZED (
            SELECT i.n::integer AS n, i.d, i.body, i.d ->> 'idempotency_key' AS key, i.d ->> 'partition_key' AS partition_key,
                   i.d ->> 'source_hash' AS source_hash, sha256(convert_to(i.body, 'UTF8')) AS content_hash,
                   ARRAY(SELECT jsonb_array_elements_text(i.d -> 'prepared_by')) AS prepared_by,
                   row_number() OVER (PARTITION BY i.d ->> 'idempotency_key' ORDER BY i.n) AS nth
            FROM unnest(v_docs, p_bodies) WITH ORDINALITY AS i (d, body, n)
        ), judged AS MATERIALIZED (
            SELECT i.*, e.id AS old_id, e.version AS old_version, e.content_hash AS old_hash, e.prepared_by AS old_prepared_by,
                   CASE WHEN e.id IS NULL THEN 'ENQUEUED'
                        WHEN e.source_hash = i.source_hash THEN 'DUPLICATE'
                        -- A late delivery of an earlier version must not undo its correction.
                        WHEN EXISTS (SELECT 1 FROM countersign.exception_content c
                                     WHERE c.exception_id = e.id AND c.content_hash = i.content_hash) THEN 'DUPLICATE'
                        WHEN e.state = 'PENDING' AND e.partition_key = i.partition_key THEN 'CORRECTED'
                        ELSE 'CONFLICT' END AS outcome,
                   CASE WHEN e.source_hash = i.source_hash AND e.content_hash <> i.content_hash
                            THEN 'same source hash, other content: the first content stands'
                        WHEN e.source_hash <> i.source_hash AND e.partition_key <> i.partition_key
                            THEN 'the key is known in partition ' || e.partition_key
                        WHEN e.source_hash <> i.source_hash AND e.state <> 'PENDING'
                            THEN 'already ' || lower(e.state) || ' by ' || coalesce(e.decided_by, '?') END AS detail
            FROM item i LEFT JOIN countersign.exception e ON e.idempotency_key = i.key
            WHERE i.nth = v_round
        ), fresh AS MATERIALIZED (
            SELECT j.*, p.next_seq + row_number() OVER (PARTITION BY j.partition_key ORDER BY j.n) - 1 AS seq
            FROM judged j JOIN countersign.partition p ON p.partition_key = j.partition_key
            WHERE j.outcome = 'ENQUEUED'
        ), inserted AS (
            INSERT INTO countersign.exception (partition_key, seq, idempotency_key, kind, match_decision, routing_tier, ledger_entity,
                currency, variance_amount, prepared_by, group_key, trace_id, correlation_id, source_hash, submitted_at, arrived_at, content_hash)
            SELECT f.partition_key, f.seq, f.key, f.d ->> 'kind', f.d ->> 'match_decision', f.d ->> 'routing_tier', f.d ->> 'ledger_entity',
                   f.d ->> 'currency', (f.d ->> 'variance_amount')::numeric, f.prepared_by, f.d ->> 'group_key', (f.d ->> 'trace_id')::uuid,
                   (f.d ->> 'correlation_id')::uuid, f.source_hash, (f.d ->> 'submitted_at')::timestamptz, v_now, f.content_hash
            FROM fresh f ORDER BY f.partition_key, f.seq
            RETURNING id, idempotency_key
        ), corrected AS (
            UPDATE countersign.exception e SET
                version = j.old_version + 1, content_hash = j.content_hash, source_hash = j.source_hash, kind = j.d ->> 'kind',
                match_decision = j.d ->> 'match_decision', routing_tier = j.d ->> 'routing_tier', ledger_entity = j.d ->> 'ledger_entity',
                currency = j.d ->> 'currency', variance_amount = (j.d ->> 'variance_amount')::numeric, group_key = j.d ->> 'group_key',
                trace_id = (j.d ->> 'trace_id')::uuid, correlation_id = (j.d ->> 'correlation_id')::uuid,
                submitted_at = (j.d ->> 'submitted_at')::timestamptz,
                prepared_by = ARRAY(SELECT DISTINCT x FROM unnest(j.old_prepared_by || j.prepared_by) AS x ORDER BY x)
            FROM judged j WHERE j.outcome = 'CORRECTED' AND e.id = j.old_id
            RETURNING e.id, e.idempotency_key
        ), written AS MATERIALIZED (
            SELECT j.*, coalesce(i.id, c.id) AS id, coalesce(j.old_version, 0) + 1 AS version
            FROM judged j LEFT JOIN inserted i ON i.idempotency_key = j.key LEFT JOIN corrected c ON c.idempotency_key = j.key
            WHERE j.outcome IN ('ENQUEUED', 'CORRECTED')
        ), content AS (
            INSERT INTO countersign.exception_content (exception_id, version, content_hash, body, arrived_at)
            SELECT w.id, w.version, w.content_hash, w.body, v_now FROM written w ORDER BY w.id
        ), record AS MATERIALIZED (
            SELECT w.*, p.chain_head, p.chain_seq + row_number() OVER (PARTITION BY w.partition_key ORDER BY w.n) AS chain_seq,
                   row_number() OVER (PARTITION BY w.partition_key ORDER BY w.n) AS place,
                   CASE w.outcome WHEN 'ENQUEUED' THEN 'ARRIVED' ELSE 'CORRECTED' END AS event
            FROM written w JOIN countersign.partition p ON p.partition_key = w.partition_key
        ), chained AS MATERIALIZED (
            SELECT r.*, countersign.chain(CASE WHEN r.place = 1 THEN r.chain_head ELSE '' END || countersign.audit_record(r.partition_key,
                       r.chain_seq, v_now, r.event, session_user, NULL, r.id, (r.d ->> 'trace_id')::uuid, r.source_hash,
                       r.d ->> 'match_decision', r.content_hash, NULL, NULL))
                       OVER (PARTITION BY r.partition_key ORDER BY r.chain_seq) AS chain_hash
            FROM record r
        ), audited AS (
            INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, exception_id, trace_id, source_hash,
                match_decision, content_hash, chain_hash)
            SELECT c.partition_key, c.chain_seq, v_now, c.event, session_user, c.id, (c.d ->> 'trace_id')::uuid, c.source_hash,
                   c.d ->> 'match_decision', c.content_hash, c.chain_hash
            FROM chained c
        ), moved AS (
            UPDATE countersign.partition p SET
                next_seq = p.next_seq + s.fresh, pending = p.pending + s.fresh, claim_rank = least(p.claim_rank, s.claim_rank),
                chain_seq = s.chain_seq, chain_head = s.chain_head
            FROM (SELECT c.partition_key, count(*) FILTER (WHERE c.outcome = 'ENQUEUED') AS fresh,
                         min(countersign.claim_rank((c.d ->> 'submitted_at')::timestamptz, c.d ->> 'routing_tier')) AS claim_rank,
                         max(c.chain_seq) AS chain_seq, (array_agg(c.chain_hash ORDER BY c.chain_seq DESC))[1] AS chain_head
                  FROM chained c GROUP BY c.partition_key) AS s
            WHERE p.partition_key = s.partition_key
        )
        SELECT j.n, j.outcome, coalesce(w.id, j.old_id), j.detail
        FROM judged j LEFT JOIN written w ON w.n = j.n;
    END LOOP;

    SELECT array_agg(DISTINCT d ->> 'partition_key') INTO v_touched FROM unnest(v_docs) AS d;
    UPDATE countersign.partition p SET shut_out = s.shut_out
    FROM (SELECT q.partition_key, countersign.shut_out(q.partition_key, q.head_seq) AS shut_out
          FROM countersign.partition q WHERE q.partition_key = ANY (v_touched)) AS s
    WHERE p.partition_key = s.partition_key AND p.shut_out <> s.shut_out;
END $$;

-- Keeps what passed no gate. The same original is one dead letter, however often it comes.
CREATE FUNCTION countersign.dead_letter(
    p_original bytea[], p_original_hash bytea[], p_original_size bigint[], p_origin text[], p_line bigint[], p_code text[], p_class text[],
    p_field text[], p_reason text[], p_idempotency_key text[]
) RETURNS TABLE (ordinal integer, fresh boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_fresh bytea[];
BEGIN
    WITH item AS (
        SELECT DISTINCT ON (i.hash) i.*
        FROM unnest(p_original, p_original_hash, p_original_size, p_origin, p_line, p_code, p_class, p_field, p_reason, p_idempotency_key)
             WITH ORDINALITY AS i (original, hash, size, origin, line, code, class, field, reason, key, n)
        ORDER BY i.hash, i.n
    ), kept AS (
        INSERT INTO countersign.dead_letter AS d (original, original_hash, original_size, origin, line, code, class, field, reason, idempotency_key, first_at, last_at)
        SELECT i.original, i.hash, i.size, i.origin, i.line, i.code, i.class, i.field, i.reason, i.key, v_now, v_now FROM item i ORDER BY i.hash
        ON CONFLICT (original_hash) DO UPDATE SET last_at = v_now, times = d.times + 1
        RETURNING d.original_hash, d.times
    )
    SELECT array_agg(k.original_hash) FILTER (WHERE k.times = 1) INTO v_fresh FROM kept k;
    IF v_fresh IS NOT NULL THEN
        PERFORM countersign.audit_installation('DEAD_LETTERED', NULL, NULL, d.code, jsonb_build_object(
                    'dead_letter', d.id, 'original_hash', encode(d.original_hash, 'hex'), 'origin', d.origin, 'line', d.line, 'reason', d.reason))
        FROM countersign.dead_letter d WHERE d.original_hash = ANY (v_fresh) ORDER BY d.id;
    END IF;
    RETURN QUERY
    SELECT i.n::integer, coalesce(i.hash = ANY (v_fresh), false) AND i.n = min(i.n) OVER (PARTITION BY i.hash)
    FROM unnest(p_original_hash) WITH ORDINALITY AS i (hash, n);
END $$;
