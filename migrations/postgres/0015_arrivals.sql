-- Arrivals that say, or are told, when they are due.

SET LOCAL ROLE countersign_owner;

-- The gates of an arrival that everything later relies on. countersign-admin judges each line more closely, and in words; this keeps
-- out what a producer sends past it.
CREATE OR REPLACE FUNCTION countersign.passes_gates(d jsonb, body text) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_names text[] := ARRAY['idempotency_key', 'partition_key', 'source_hash', 'ledger_entity'];
BEGIN
    RETURN jsonb_typeof(d) = 'object'
        -- A field that is there twice means one thing here and another elsewhere.
        AND (SELECT count(*) = count(DISTINCT k) FROM json_object_keys(body::json) AS k)
        AND NOT EXISTS (SELECT 1 FROM unnest(v_names) AS f WHERE (jsonb_typeof(d -> f) = 'string' AND length(d ->> f) BETWEEN 1 AND 200
                                                                  AND d ->> f !~ '[\u0001-\u001F\u007F-\u009F]' AND btrim(d ->> f) <> '') IS NOT TRUE)
        AND NOT EXISTS (SELECT 1 FROM unnest(ARRAY['group_key', 'reverses']) AS f
                        WHERE coalesce(jsonb_typeof(d -> f), 'null') <> 'null' AND (jsonb_typeof(d -> f) = 'string' AND length(d ->> f) BETWEEN 1 AND 200) IS NOT TRUE)
        AND jsonb_typeof(d -> 'currency') = 'string'
        AND jsonb_typeof(d -> 'variance_amount') = 'string' AND d ->> 'variance_amount' ~ '^-?[0-9]{1,28}([.][0-9]{1,28})?$'
        AND length(regexp_replace(d ->> 'variance_amount', '[^0-9]', '', 'g')) <= 28
        AND jsonb_typeof(d -> 'prepared_by') = 'array' AND jsonb_array_length(d -> 'prepared_by') BETWEEN 1 AND 50
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(d -> 'prepared_by') AS p
                        WHERE (jsonb_typeof(p) = 'string' AND length(p #>> '{}') BETWEEN 1 AND 200 AND countersign.folded(p #>> '{}') <> '') IS NOT TRUE)
        AND d ->> 'submitted_at' ~ '^(19[7-9]|[2-9][0-9][0-9])[0-9]-[0-9]{2}-[0-9]{2}[Tt][0-9:.]+([Zz]|[+-]00:00)$'
        AND coalesce(d ->> 'business_date', '2000-01-01') ~ '^(19[7-9]|[2-9][0-9][0-9])[0-9]-[0-9]{2}-[0-9]{2}$'
        AND coalesce(d ->> 'due_date', '2000-01-01') ~ '^(19[7-9]|[2-9][0-9][0-9])[0-9]-[0-9]{2}-[0-9]{2}$'
        AND jsonb_typeof(d -> 'counterparty') = 'string' AND length(d ->> 'counterparty') <= 1000;
END $$;

-- Takes arrivals in, set-based, with an answer for each:
--   ENQUEUED    new;
--   DUPLICATE   the key is known with this source hash, or this very content: a redelivery, nothing happens;
--   CORRECTED   the key is known with another source hash and still pending: a new version. A first approval lapses, and who sent it
--               counts as a preparer;
--   CONFLICT    the key is known with another source hash, and decided or in another partition; or it reverses what cannot be
--               reversed: nothing happens.
-- A body is the arrival as JSON text; its exact bytes are what a sign-off binds. A reversal names in `reverses` the key of the
-- approved and resolved exception that it undoes; it is in the same partition, with the opposite amount.
-- Without a `due_date` the policy in force says when it is due; a correction is due anew.
CREATE OR REPLACE FUNCTION countersign.enqueue(p_bodies text[])
RETURNS TABLE (ordinal integer, outcome text, exception_id bigint, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' SET timezone = 'UTC' AS $$
#variable_conflict use_column
DECLARE
    v_docs jsonb[];
    v_now timestamptz;
    v_rounds integer;
    v_touched text[];
    v_key countersign.audit_key;
    v_policy jsonb := (countersign.policy()).document;
    v_bad bigint;
BEGIN
    PERFORM countersign.read_committed();
    IF cardinality(p_bodies) > 5000 THEN
        RAISE EXCEPTION 'enqueue takes at most 5000 arrivals a call, not %', cardinality(p_bodies) USING ERRCODE = 'program_limit_exceeded';
    END IF;
    SELECT array_agg(b::jsonb ORDER BY n) INTO v_docs FROM unnest(p_bodies) WITH ORDINALITY AS i (b, n);

    SELECT min(i.n) INTO v_bad FROM unnest(v_docs, p_bodies) WITH ORDINALITY AS i (d, body, n) WHERE countersign.passes_gates(i.d, i.body) IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'enqueue: arrival % of the call does not have the shape of an arrival', v_bad
            USING ERRCODE = 'invalid_parameter_value', HINT = 'countersign-admin enqueue says what is wrong with it, and keeps it as a dead letter.';
    END IF;

    INSERT INTO countersign.partition (partition_key, kinds, tiers, ledger_entity)
    SELECT d ->> 'partition_key', 0, 0, min(d ->> 'ledger_entity') FROM unnest(v_docs) AS d GROUP BY 1 ORDER BY 1
    ON CONFLICT DO NOTHING;
    PERFORM 1 FROM countersign.partition p
    WHERE p.partition_key IN (
        SELECT d ->> 'partition_key' FROM unnest(v_docs) AS d
        UNION
        SELECT e.partition_key FROM unnest(v_docs) AS d JOIN countersign.exception e ON e.idempotency_key = d ->> 'idempotency_key')
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    v_key := countersign.sealing_key();
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
                   row_number() OVER (PARTITION BY i.d ->> 'idempotency_key' ORDER BY i.n) AS nth,
                   row_number() OVER (PARTITION BY i.d ->> 'reverses' ORDER BY i.n) AS nth_reversal
            FROM unnest(v_docs, p_bodies) WITH ORDINALITY AS i (d, body, n)
        ), judged AS MATERIALIZED (
            SELECT i.*, e.id AS old_id, e.version AS old_version, e.content_hash AS old_hash, e.prepared_by AS old_prepared_by, o.id AS reverses,
                   e.first_by AS old_first_by, e.first_names AS old_first_names, e.barred AS old_barred,
                   CASE WHEN e.id IS NULL AND i.d ->> 'reverses' IS NOT NULL AND (
                                i.nth_reversal = 1 AND o.state = 'RESOLVED' AND o.decision = 'APPROVE' AND o.partition_key = i.partition_key
                                AND o.kind = i.d ->> 'kind' AND o.ledger_entity = i.d ->> 'ledger_entity' AND o.currency = i.d ->> 'currency'
                                AND o.variance_amount = -(i.d ->> 'variance_amount')::numeric
                                AND NOT EXISTS (SELECT 1 FROM countersign.exception r WHERE r.reverses = o.id)) IS NOT TRUE THEN 'CONFLICT'
                        WHEN e.id IS NULL THEN 'ENQUEUED'
                        WHEN e.source_hash = i.source_hash THEN 'DUPLICATE'
                        -- A late delivery of an earlier version must not undo its correction.
                        WHEN EXISTS (SELECT 1 FROM countersign.exception_content c
                                     WHERE c.exception_id = e.id AND c.content_hash = i.content_hash) THEN 'DUPLICATE'
                        -- What is reversed stays what it is: only the words around it can be corrected.
                        WHEN e.reverses IS NOT NULL AND (e.reverses = o.id AND e.variance_amount = (i.d ->> 'variance_amount')::numeric
                                                         AND e.currency = i.d ->> 'currency' AND e.ledger_entity = i.d ->> 'ledger_entity') IS NOT TRUE THEN 'CONFLICT'
                        WHEN e.reverses IS NULL AND i.d ->> 'reverses' IS NOT NULL THEN 'CONFLICT'
                        WHEN e.state = 'PENDING' AND e.partition_key = i.partition_key THEN 'CORRECTED'
                        ELSE 'CONFLICT' END AS outcome,
                   CASE WHEN e.id IS NULL AND i.d ->> 'reverses' IS NOT NULL
                            THEN 'a reversal is of an approved and resolved exception of the same partition, kind, entity and currency, with the opposite amount, and there is one at most'
                        WHEN e.source_hash = i.source_hash AND e.content_hash <> i.content_hash
                            THEN 'same source hash, other content: the first content stands'
                        WHEN e.source_hash <> i.source_hash AND e.partition_key <> i.partition_key
                            THEN 'the key is known in partition ' || e.partition_key
                        WHEN e.source_hash <> i.source_hash AND e.state <> 'PENDING'
                            THEN 'already ' || lower(e.state) || ' by ' || coalesce(e.decided_by, '?')
                        WHEN e.source_hash <> i.source_hash AND (e.reverses IS NOT NULL OR i.d ->> 'reverses' IS NOT NULL)
                            THEN 'what a reversal undoes cannot be corrected' END AS detail
            FROM item i LEFT JOIN countersign.exception e ON e.idempotency_key = i.key
                        LEFT JOIN countersign.exception o ON o.idempotency_key = i.d ->> 'reverses'
            WHERE i.nth = v_round
        ), person AS MATERIALIZED (
            -- Who is barred: the preparers, whoever sends it, and for a reversal all who signed what it reverses.
            -- Who approved an earlier version first may sign the new one.
            SELECT j.n, ARRAY(
                SELECT countersign.folded(x) FROM unnest(j.prepared_by) AS x
                UNION SELECT countersign.folded(session_user)
                UNION SELECT unnest(countersign.names_of(s.reviewer)) FROM countersign.sign_off s WHERE s.exception_id = j.reverses
                UNION SELECT b FROM unnest(j.old_barred) AS b WHERE NOT b = ANY (coalesce(j.old_first_names, '{}'))
                ORDER BY 1) AS barred
            FROM judged j WHERE j.outcome IN ('ENQUEUED', 'CORRECTED')
        ), fresh AS MATERIALIZED (
            SELECT j.*, p.next_seq + row_number() OVER (PARTITION BY j.partition_key ORDER BY j.n) - 1 AS seq
            FROM judged j JOIN countersign.partition p ON p.partition_key = j.partition_key
            WHERE j.outcome = 'ENQUEUED'
        ), inserted AS (
            INSERT INTO countersign.exception (partition_key, seq, idempotency_key, kind, match_decision, routing_tier, ledger_entity,
                currency, variance_amount, prepared_by, group_key, trace_id, correlation_id, source_hash, submitted_at, arrived_at, content_hash,
                business_date, barred, reverses, counterparty, due_on)
            SELECT f.partition_key, f.seq, f.key, f.d ->> 'kind', f.d ->> 'match_decision', f.d ->> 'routing_tier', f.d ->> 'ledger_entity',
                   f.d ->> 'currency', (f.d ->> 'variance_amount')::numeric, f.prepared_by, f.d ->> 'group_key', (f.d ->> 'trace_id')::uuid,
                   (f.d ->> 'correlation_id')::uuid, f.source_hash, (f.d ->> 'submitted_at')::timestamptz, v_now, f.content_hash,
                   coalesce((f.d ->> 'business_date')::date, ((f.d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date), w.barred, f.reverses,
                   f.d ->> 'counterparty', coalesce((f.d ->> 'due_date')::date, coalesce((f.d ->> 'business_date')::date, ((f.d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date)
                       + countersign.due_days(v_policy, f.d ->> 'routing_tier'))
            FROM fresh f JOIN person w ON w.n = f.n ORDER BY f.partition_key, f.seq
            RETURNING id, idempotency_key
        ), corrected AS (
            UPDATE countersign.exception e SET
                version = j.old_version + 1, content_hash = j.content_hash, source_hash = j.source_hash, kind = j.d ->> 'kind',
                match_decision = j.d ->> 'match_decision', routing_tier = j.d ->> 'routing_tier', ledger_entity = j.d ->> 'ledger_entity',
                currency = j.d ->> 'currency', variance_amount = (j.d ->> 'variance_amount')::numeric, group_key = j.d ->> 'group_key',
                trace_id = (j.d ->> 'trace_id')::uuid, correlation_id = (j.d ->> 'correlation_id')::uuid,
                submitted_at = (j.d ->> 'submitted_at')::timestamptz,
                business_date = coalesce((j.d ->> 'business_date')::date, ((j.d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date),
                prepared_by = ARRAY(SELECT DISTINCT x FROM unnest(j.old_prepared_by || j.prepared_by) AS x ORDER BY x),
                counterparty = j.d ->> 'counterparty', due_on = coalesce((j.d ->> 'due_date')::date, coalesce((j.d ->> 'business_date')::date, ((j.d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date)
                    + countersign.due_days(v_policy, j.d ->> 'routing_tier')),
                barred = w.barred, first_by = NULL, first_names = NULL
            FROM judged j JOIN person w ON w.n = j.n WHERE j.outcome = 'CORRECTED' AND e.id = j.old_id
            RETURNING e.id, e.idempotency_key
        ), lapsed AS (
            -- What a first approval took from its reviewer's limit is given back with it.
            SELECT s.reviewer, s.period, s.currency, sum(abs(s.amount)) AS amount
            FROM judged j JOIN countersign.sign_off s ON s.exception_id = j.old_id AND s.version = j.old_version AND s.outcome = 'AWAITING_SECOND'
            WHERE j.outcome = 'CORRECTED' AND j.old_first_by IS NOT NULL AND s.period IS NOT NULL
            GROUP BY s.reviewer, s.period, s.currency
        ), given_back AS (
            UPDATE countersign.reviewer_usage u SET approved = greatest(u.approved - l.amount, 0)
            FROM lapsed l WHERE u.reviewer = l.reviewer AND u.period = l.period AND u.currency = l.currency
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
                   CASE w.outcome WHEN 'ENQUEUED' THEN 'ARRIVED' ELSE 'CORRECTED' END AS event,
                   CASE WHEN w.reverses IS NOT NULL THEN jsonb_build_object('reverses', w.reverses, 'version', w.version)
                        WHEN w.old_first_by IS NOT NULL THEN jsonb_build_object('version', w.version, 'lapsed', w.old_first_by)
                        ELSE jsonb_build_object('version', w.version) END AS record_detail
            FROM written w JOIN countersign.partition p ON p.partition_key = w.partition_key
        ), chained AS MATERIALIZED (
            SELECT r.*, countersign.chain(CASE WHEN r.place = 1 THEN r.chain_head ELSE '' END || countersign.audit_record(r.partition_key,
                       r.chain_seq, v_now, r.event, session_user, NULL, r.id, (r.d ->> 'trace_id')::uuid, r.source_hash,
                       r.d ->> 'match_decision', r.content_hash, NULL, r.record_detail))
                       OVER (PARTITION BY r.partition_key ORDER BY r.chain_seq) AS chain_hash
            FROM record r
        ), audited AS (
            INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, exception_id, trace_id, source_hash,
                match_decision, content_hash, detail, chain_hash, key_id, mac)
            SELECT c.partition_key, c.chain_seq, v_now, c.event, session_user, c.id, (c.d ->> 'trace_id')::uuid, c.source_hash,
                   c.d ->> 'match_decision', c.content_hash, c.record_detail, c.chain_hash, v_key.id,
                   countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
            FROM chained c
        ), moved AS (
            UPDATE countersign.partition p SET
                next_seq = p.next_seq + s.fresh, pending = p.pending + s.fresh, claim_rank = least(p.claim_rank, s.claim_rank),
                chain_seq = s.chain_seq, chain_head = s.chain_head, passed_by = '{}',
                -- What is done no longer counts: an empty partition is described anew.
                kinds = CASE WHEN p.pending = 0 THEN 0 ELSE p.kinds END | s.kinds, tiers = CASE WHEN p.pending = 0 THEN 0 ELSE p.tiers END | s.tiers,
                ledger_entity = CASE WHEN s.entities = 1 AND (p.pending = 0 OR p.ledger_entity = s.ledger_entity) THEN s.ledger_entity ELSE '' END
            FROM (SELECT c.partition_key, count(*) FILTER (WHERE c.outcome = 'ENQUEUED') AS fresh,
                         min(countersign.claim_rank((c.d ->> 'submitted_at')::timestamptz, c.d ->> 'routing_tier')) AS claim_rank,
                         bit_or(countersign.kind_bit(c.d ->> 'kind'))::smallint AS kinds, bit_or(countersign.tier_bit(c.d ->> 'routing_tier'))::smallint AS tiers,
                         min(c.d ->> 'ledger_entity') AS ledger_entity, count(DISTINCT c.d ->> 'ledger_entity') AS entities,
                         max(c.chain_seq) AS chain_seq, (array_agg(c.chain_hash ORDER BY c.chain_seq DESC))[1] AS chain_head
                  FROM chained c GROUP BY c.partition_key) AS s
            WHERE p.partition_key = s.partition_key
        )
        SELECT j.n, j.outcome, coalesce(w.id, j.old_id), CASE WHEN j.outcome IN ('DUPLICATE', 'CONFLICT') THEN j.detail END
        FROM judged j LEFT JOIN written w ON w.n = j.n;
    END LOOP;

    SELECT array_agg(DISTINCT d ->> 'partition_key') INTO v_touched FROM unnest(v_docs) AS d;
    UPDATE countersign.partition p SET shut_out = s.shut_out
    FROM (SELECT q.partition_key, countersign.shut_out(q.partition_key, q.head_seq) AS shut_out
          FROM countersign.partition q WHERE q.partition_key = ANY (v_touched)) AS s
    WHERE p.partition_key = s.partition_key AND p.shut_out <> s.shut_out;
END $$;

RESET ROLE;
